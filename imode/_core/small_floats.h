/* bfloat16, float8_e4m3fn and float8_e5m2, as their bits, to and from float: nearest even. */
#ifndef IMODE_SMALL_FLOATS_H
#define IMODE_SMALL_FLOATS_H

#include "half.h"

V_INLINE float v_from_brain(uint16_t b) { return v_float((uint32_t)b << 16); }

V_INLINE uint16_t v_to_brain(float x) {
    uint32_t bits = v_bits(x);
    uint32_t rounded = (bits + 0x7FFFu + (bits >> 16 & 1)) >> 16;
    return (uint16_t)((bits & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : rounded);
}

/* A number of which `low` bits of float's mantissa are cut off; `bias`: float's exponent less its
 * own; below `least` it is subnormal, from `most` on it is `beyond`. */
V_INLINE uint8_t v_to_eight(float x, int low, uint32_t bias, uint32_t most, uint8_t beyond,
                            uint8_t nan) {
    uint32_t bits = v_bits(x), rest = bits & 0x7FFFFFFFu;
    uint32_t magic = (bias + 24 - low + (uint32_t)low * 2 - 23) << 23, eight;
    if (rest >= most)
        eight = rest > 0x7F800000u ? nan : beyond;
    else if (rest < (bias + 1) << 23)
        eight = v_bits(v_float(rest) + v_float(magic)) - magic; /* the adder rounds */
    else
        eight = (rest - (bias << 23) + ((1u << (low - 1)) - 1) + (rest >> low & 1)) >> low;
    return (uint8_t)(eight | bits >> 31 << 7);
}

V_INLINE uint8_t v_to_e4m3fn(float x) {
    return v_to_eight(x, 20, 120, 0x43E80000u /* 464 */, 0x7E, 0x7F);
}

V_INLINE uint8_t v_to_e5m2(float x) {
    return v_to_eight(x, 21, 112, 0x47800000u /* 65536 */, 0x7C, 0x7F);
}

V_INLINE float v_from_e5m2(uint8_t b) { return v_from_half((uint16_t)(b << 8)); }

V_INLINE float v_from_e4m3fn(uint8_t b) {
    uint32_t rest = b & 0x7Fu, sign = (uint32_t)(b & 0x80u) << 24;
    float magnitude = v_float(rest << 20) * 0x1p+120f; /* subnormals, too */
    return v_float((rest == 0x7Fu ? 0x7FC00000u : v_bits(magnitude)) | sign);
}

#endif
