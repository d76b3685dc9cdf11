#include "convert.h"

#include "whole_numbers.h"
#include "wide.h"

#define BLOCK 256
#define INT_LIMIT ((uint64_t)1 << 31)

void imode_half_to_float(char *to, const char *from, ptrdiff_t n) {
    from_half((float *)to, from, 2, n);
}

void imode_float_to_half(char *to, const char *from, ptrdiff_t n) {
    to_half(to, (const float *)from, 2, n);
}

void imode_brain_to_float(char *to, const char *from, ptrdiff_t n) {
    from_brain((float *)to, from, 2, n);
}

void imode_float_to_brain(char *to, const char *from, ptrdiff_t n) {
    to_brain(to, (const float *)from, 2, n);
}

typedef uint8_t truth, byte;
typedef int32_t int32;
typedef int64_t int64;

#define CONVERT(A, B, TO, BY)                                                                      \
    V_CLONES void imode_##A##_to_##B(char *to, const char *from, ptrdiff_t n) {                    \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            ((TO *)to)[i] = (TO)(BY)((const A *)from)[i];                                          \
    }

CONVERT(float, byte, uint8_t, int32_t)
CONVERT(double, byte, uint8_t, int32_t)
CONVERT(float, int32, int32_t, int32_t)
CONVERT(double, int32, int32_t, int32_t)
CONVERT(double, int64, int64_t, int64_t)
CONVERT(float, double, double, double)
CONVERT(byte, float, float, uint8_t)
CONVERT(byte, double, double, uint8_t)
CONVERT(byte, int64, int64_t, uint8_t)
CONVERT(int32, float, float, int32_t)
CONVERT(double, float, float, float)
/* No instruction before AVX-512 makes int64 of them: a block of what int32 holds goes by way of
   that. Of others, NaN among them, the bits of |x| are more. */
V_CLONES void imode_float_to_int64(char *to, const char *from, ptrdiff_t n) {
    const uint32_t most = 0x4EFFFFFFu; /* the largest float below 2^31 */
    for (ptrdiff_t start = 0; start < n; start += BLOCK) {
        const ptrdiff_t size = n - start < BLOCK ? n - start : BLOCK;
        const float *x = (const float *)from + start;
        int64_t *out = (int64_t *)to + start;
        uint32_t above = 0;
        for (ptrdiff_t i = 0; i < size; i++)
            above |= most - (v_bits(x[i]) & 0x7FFFFFFFu);
        if (above >> 31)
            for (ptrdiff_t i = 0; i < size; i++)
                out[i] = (int64_t)x[i];
        else
            for (ptrdiff_t i = 0; i < size; i++)
                out[i] = (int32_t)x[i];
    }
}
/* A block whose numbers int32 holds (to double its loop is no faster), or double; another one by
   one. */
#define CONVERT_WHOLE(B, TO)                                                                       \
    V_CLONES void imode_int64_to_##B(char *to, const char *from, ptrdiff_t n) {                    \
        const int64_t *x = (const int64_t *)from;                                                  \
        TO *out = (TO *)to;                                                                        \
        for (ptrdiff_t start = 0; start < n; start += BLOCK) {                                     \
            const ptrdiff_t end = n - start < BLOCK ? n : start + BLOCK;                           \
            uint64_t above = 0;                                                                    \
            if (sizeof(TO) == 4) {                                                                 \
                _Pragma("GCC unroll 4") for (ptrdiff_t i = start; i < end; i++)                    \
                    above |= (uint64_t)x[i] + INT_LIMIT;                                           \
                if (above < 2 * INT_LIMIT) {                                                       \
                    _Pragma("GCC unroll 2") for (ptrdiff_t i = start; i < end; i++)                \
                        out[i] = (TO)(int32_t)x[i];                                                \
                    continue;                                                                      \
                }                                                                                  \
                above = 0;                                                                         \
            }                                                                                      \
            for (ptrdiff_t i = start; i < end; i++)                                                \
                above |= (uint64_t)x[i] + WHOLE_LIMIT;                                             \
            if (above < 2 * WHOLE_LIMIT)                                                           \
                for (ptrdiff_t i = start; i < end; i++)                                            \
                    out[i] = (TO)double_of(x[i]);                                                  \
            else                                                                                   \
                for (ptrdiff_t i = start; i < end; i++)                                            \
                    out[i] = (TO)x[i];                                                             \
        }                                                                                          \
    }
CONVERT_WHOLE(float, float)
CONVERT_WHOLE(double, double)
CONVERT(truth, float, float, _Bool)
CONVERT(truth, int64, int64_t, _Bool)
CONVERT(float, truth, uint8_t, _Bool)
CONVERT(double, truth, uint8_t, _Bool)
CONVERT(int64, truth, uint8_t, _Bool)

/* Numbers of 16 bits, through blocks of float. */
#define THROUGH_FLOAT(A, B, TO)                                                                    \
    void imode_##A##_to_##B(char *to, const char *from, ptrdiff_t n) {                             \
        _Alignas(64) float block[WIDE_BLOCK];                                                      \
        for (ptrdiff_t i = 0; i < n; i += WIDE_BLOCK) {                                            \
            const ptrdiff_t m = n - i < WIDE_BLOCK ? n - i : WIDE_BLOCK;                           \
            from_##A(block, from + 2 * i, 2, m);                                                   \
            imode_float_to_##B((char *)((TO *)to + i), (const char *)block, m);                    \
        }                                                                                          \
    }
#define THROUGH_FLOATS(B, TO) THROUGH_FLOAT(half, B, TO) THROUGH_FLOAT(brain, B, TO)
THROUGH_FLOATS(double, double)
THROUGH_FLOATS(byte, uint8_t)
THROUGH_FLOATS(int32, int32_t)
THROUGH_FLOATS(int64, int64_t)
THROUGH_FLOAT(half, brain, uint16_t)
THROUGH_FLOAT(brain, half, uint16_t)

#define BY_FLOAT(A, B, FROM)                                                                       \
    void imode_##A##_to_##B(char *to, const char *from, ptrdiff_t n) {                             \
        _Alignas(64) float block[WIDE_BLOCK];                                                      \
        for (ptrdiff_t i = 0; i < n; i += WIDE_BLOCK) {                                            \
            const ptrdiff_t m = n - i < WIDE_BLOCK ? n - i : WIDE_BLOCK;                           \
            imode_##A##_to_float((char *)block, (const char *)((const FROM *)from + i), m);        \
            to_##B(to + 2 * i, block, 2, m);                                                       \
        }                                                                                          \
    }
#define BY_FLOATS(A, FROM) BY_FLOAT(A, half, FROM) BY_FLOAT(A, brain, FROM)
BY_FLOATS(double, double)
BY_FLOATS(truth, uint8_t)
BY_FLOATS(byte, uint8_t)
BY_FLOATS(int32, int32_t)
BY_FLOATS(int64, int64_t)

V_CLONES void imode_narrow_to_truth(char *to, const char *from, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (((const uint16_t *)from)[i] & 0x7FFF) != 0;
}
