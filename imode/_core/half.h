/* float16, as its bits, to and from float; and the levels that loops are compiled for. */
#ifndef IMODE_HALF_H
#define IMODE_HALF_H

#include <stdint.h>
#include <string.h>

#include "cpu_level.h"

#define V_INLINE static inline __attribute__((always_inline, unused))

/* Compile a function for three levels of x86-64, of which the loader picks one. Elsewhere: once.
   V_LOW: whether what is picked has no fused multiply-add, and vectors of 16 bytes. */
#if IMODE_LEVELS && defined(__GLIBC__) && !defined(IMODE_DEBUG)
#define V_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#define V_LOW (!__builtin_cpu_supports("avx2"))
#else
#define V_CLONES
#if defined(__x86_64__) && !defined(__FMA__)
#define V_LOW 1
#else
#define V_LOW 0
#endif
#endif

V_INLINE float v_float(uint32_t u) {
    float x;
    memcpy(&x, &u, 4);
    return x;
}

V_INLINE uint32_t v_bits(float x) {
    uint32_t u;
    memcpy(&u, &x, 4);
    return u;
}

V_INLINE float v_from_half(uint16_t h) {
    uint32_t rest = h & 0x7FFFu, sign = (uint32_t)(h ^ rest) << 16;
    /* After the shift the exponent is 112 too low; the product corrects it, also in subnormals. */
    uint32_t bits = v_bits(v_float(rest << 13) * 0x1p+112f);
    bits |= rest > 0x7BFFu ? 0x7F800000u : 0;
    bits |= rest > 0x7C00u ? 0x400000u : 0; /* a NaN becomes a quiet one */
    return v_float(bits | sign);
}

V_INLINE uint16_t v_to_half(float x) {
    uint32_t bits = v_bits(x), sign = bits >> 31 << 15, rest = bits & 0x7FFFFFFFu;
    uint32_t odd = rest >> 13 & 1;
    uint32_t normal = (rest + 0xFFFu + odd - 0x38000000u) >> 13;           /* rounds half to even */
    uint32_t tiny = v_bits(v_float(rest) + 0.5f) - 0x3F000000u; /* the adder rounds */
    uint32_t half = rest < 0x38800000u ? tiny : normal;
    half = rest >= 0x477FF000u ? 0x7C00u : half;
    half = rest > 0x7F800000u ? 0x7E00u | (rest >> 13 & 0x1FFu) : half;
    return (uint16_t)(half | sign);
}

/* x as float16 has it: v_from_half(v_to_half(x)), in a third of the instructions */
V_INLINE float v_as_half(float x) {
    uint32_t rest = v_bits(x) & 0x7FFFFFFFu, odd = rest >> 13 & 1;
    uint32_t tiny = v_bits((v_float(rest) + 0.5f) - 0.5f); /* the adder rounds */
    uint32_t normal = (rest + 0xFFFu + odd) & ~0x1FFFu;
    uint32_t half = rest < 0x38800000u ? tiny : normal;
    half = rest >= 0x477FF000u ? 0x7F800000u : half;
    half = rest > 0x7F800000u ? rest : half;
    return v_float(half | (v_bits(x) ^ rest));
}

#endif
