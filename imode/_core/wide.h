/* A loop over float that runs on operands in float16 or bfloat16, a block at a time. */
#ifndef IMODE_WIDE_H
#define IMODE_WIDE_H

#include "small_floats.h"

/* Rows of float16, by the CPU's own instruction where it has one: compilers do not find it. It says
   that a NaN was a signalling one and that a number was too large; NumPy would warn of that. */
#if defined(__GNUC__) && defined(__x86_64__)
#include <immintrin.h>
#define V_F16C __attribute__((target("avx,f16c"), unused)) static
#ifdef __clang__ /* cannot ask for f16c before version 17; what has AVX2 has it */
#define V_HAS_F16C __builtin_cpu_supports("avx2")
#else
#define V_HAS_F16C (__builtin_cpu_supports("avx") && __builtin_cpu_supports("f16c"))
#endif

V_F16C void f16c_from_half(float *to, const uint16_t *from, intptr_t n) {
    const unsigned said = _mm_getcsr();
    intptr_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    for (; i < n; i++)
        to[i] = v_from_half(from[i]);
    _mm_setcsr(said);
}

V_F16C void f16c_to_half(uint16_t *to, const float *from, intptr_t n) {
    const unsigned said = _mm_getcsr();
    intptr_t i = 0;
    for (; i + 8 <= n; i += 8)
        _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
    for (; i < n; i++)
        to[i] = v_to_half(from[i]);
    _mm_setcsr(said);
}
#else
#define V_HAS_F16C 0
#define f16c_from_half(to, from, n)
#define f16c_to_half(to, from, n)
#endif

__attribute__((unused)) V_CLONES static void from_half(float *to, const char *from, intptr_t step,
                                                        intptr_t n) {
    if (step == 2 && n >= 8 && V_HAS_F16C)
        f16c_from_half(to, (const uint16_t *)from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_half(((const uint16_t *)from)[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_half(*(const uint16_t *)(from + i * step));
}

__attribute__((unused)) V_CLONES static void to_half(char *to, const float *from, intptr_t step,
                                                      intptr_t n) {
    if (step == 2 && n >= 8 && V_HAS_F16C)
        f16c_to_half((uint16_t *)to, from, n);
    else if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = v_to_half(from[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            *(uint16_t *)(to + i * step) = v_to_half(from[i]);
}

__attribute__((unused)) V_CLONES static void from_brain(float *to, const char *from, intptr_t step,
                                                         intptr_t n) {
    if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_brain(((const uint16_t *)from)[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            to[i] = v_from_brain(*(const uint16_t *)(from + i * step));
}

__attribute__((unused)) V_CLONES static void to_brain(char *to, const float *from, intptr_t step,
                                                       intptr_t n) {
    if (step == 2)
        for (intptr_t i = 0; i < n; i++)
            ((uint16_t *)to)[i] = v_to_brain(from[i]);
    else
        for (intptr_t i = 0; i < n; i++)
            *(uint16_t *)(to + i * step) = v_to_brain(from[i]);
}

#define WIDE_BLOCK 1024 /* three operands fill 12 KB of the L1 cache */
#define WIDE_OPERANDS 5

typedef struct {
    void (*loop)(char **args, const intptr_t *dims, const intptr_t *steps, void *data);
    void *data;
    int nin;
    unsigned halves; /* a bit for each operand of 16 bits, and for the result */
    int brain;       /* these are bfloat16, not float16 */
} wide_loop;

__attribute__((unused)) static void run_wide(char **args, const intptr_t *dims,
                                             const intptr_t *steps, void *data) {
    const wide_loop *wide = data;
    const int nin = wide->nin;
    float buffer[WIDE_OPERANDS][WIDE_BLOCK];
    char *at[WIDE_OPERANDS];
    intptr_t by[WIDE_OPERANDS];
    for (intptr_t done = 0, n; done < dims[0]; done += n) {
        n = dims[0] - done < WIDE_BLOCK ? dims[0] - done : WIDE_BLOCK;
        for (int k = 0; k <= nin; k++) {
            char *from = args[k] + done * steps[k];
            int half = wide->halves >> k & 1;
            int one = k < nin && steps[k] == 0; /* a number: the same element everywhere */
            if (half && k < nin)
                (wide->brain ? from_brain : from_half)(buffer[k], from, steps[k], one ? 1 : n);
            at[k] = half ? (char *)buffer[k] : from;
            by[k] = half && !one ? (intptr_t)sizeof(float) : steps[k];
        }
        wide->loop(at, &n, by, wide->data);
        if (wide->halves >> nin & 1)
            (wide->brain ? to_brain : to_half)(args[nin] + done * steps[nin], buffer[nin],
                                               steps[nin], n);
    }
}

#endif
