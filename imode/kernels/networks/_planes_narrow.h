/* x * scale + shift of float16 and bfloat16, in registers: the bits are those of float's loops. */
#include "wide.h"

#ifdef V_NARROW_INLINE
/* 16 numbers; `step`: 1 where each has its own scale and shift, 0 where all have the same. */
V_NARROW_INLINE void affine_of_16(const uint16_t *x, const float *scale, const float *shift, int step,
                                  uint16_t *out, int brain)
{
    __m256 values[2];
    for (int k = 0; k < 2; k++) {
        const __m256 s = step ? _mm256_loadu_ps(scale + 8 * k) : _mm256_set1_ps(*scale);
        const __m256 t = step ? _mm256_loadu_ps(shift + 8 * k) : _mm256_set1_ps(*shift);
        values[k] = _mm256_add_ps(_mm256_mul_ps(widened(x + 8 * k, brain), s), t);
    }
    put_narrowed(out, values[0], values[1], brain);
}

V_NARROW_INLINE void affine_of_row(const uint16_t *x, const float *scale, const float *shift, int step,
                                   uint16_t *out, long n, int brain)
{
    long i = 0;
    for (; i + 16 <= n; i += 16)
        affine_of_16(x + i, scale + step * i, shift + step * i, step, out + i, brain);
    if (i < n) {
        const size_t rest = (size_t)(n - i), factors = step ? rest : 1;
        uint16_t from[16] = {0}, to[16];
        float s[16] = {0}, t[16] = {0};
        memcpy(from, x + i, rest * sizeof *from);
        memcpy(s, scale + step * i, factors * sizeof *s);
        memcpy(t, shift + step * i, factors * sizeof *t);
        affine_of_16(from, s, t, step, to, brain);
        memcpy(out + i, to, rest * sizeof *to);
    }
}

#define AFFINE_ROWS(NAME, STEP, BRAIN)                                                            \
    __attribute__((target("avx2,f16c"))) static void NAME(                                        \
        const plane_t *p, const uint16_t *x, const float *scale, const float *shift, uint16_t *out) \
    {                                                                                             \
        const long rows = STEP ? p->outer : p->channels, each = STEP ? p->channels : p->inner;    \
        for (long r = 0; r < rows; r++)                                                           \
            affine_of_row(x + r * each, STEP ? scale : scale + r, STEP ? shift : shift + r, STEP, \
                          out + r * each, each, BRAIN);                                           \
    }
AFFINE_ROWS(rows_of_half, 0, 0)
AFFINE_ROWS(rows_of_brain, 0, 1)
AFFINE_ROWS(columns_of_half, 1, 0)
AFFINE_ROWS(columns_of_brain, 1, 1)

int norm_affine_narrow(const plane_t *p, int brain, const void *x, const float *scale,
                       const float *shift, void *out)
{
    if (!V_HAS_AVX2 || !V_HAS_F16C)
        return 0;
    const unsigned said = _mm_getcsr(); /* NumPy would warn of what is said of numbers too large */
    if (p->inner == 1)
        (brain ? columns_of_brain : columns_of_half)(p, x, scale, shift, out);
    else
        (brain ? rows_of_brain : rows_of_half)(p, x, scale, shift, out);
    _mm_setcsr(said);
    return 1;
}
#else
int norm_affine_narrow(const plane_t *p, int brain, const void *x, const float *scale,
                       const float *shift, void *out)
{
    (void)p, (void)brain, (void)x, (void)scale, (void)shift, (void)out;
    return 0;
}
#endif
