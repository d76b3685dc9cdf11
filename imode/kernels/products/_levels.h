/* Includes LOOPS, a header, once per element type and instruction set; a C file does so once.

   The header sees
     T      element type             LANES  elements of a vector (1: no vectors)
     ROWS   rows of a register tile  NAME(x)  x with a suffix for the combination
     EXP, TANH, SIGMOID  functions of one element
     IN_REGISTER(v)  keeps what was read there
     ADD_TO(sum, v)  adds to a vector, in its register
     SPREAD  if no instruction reads one element into all of a vector
   and where the file defines WIDEST, AVX-512 for double, too, and at this level
     LOAD_PART(p, n), STORE_PART(p, n, v)  the first n elements of a vector
   PICK(kernel, args) then returns the widest that the machine runs, for `wide` double, else float. */

#include "levels.h"
#include "vmath.h"
#if CHOOSE && defined(WIDEST)
#include <immintrin.h>
#endif

#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

/* Left to itself, GCC reads a vector from memory again for each use. */
#if CHOOSE
#define IN_REGISTER(v) __asm__("" : "+v"(v))
#else
#define IN_REGISTER(v) (void)(v)
#endif

/* Left to itself, GCC adds into another register and copies that back: SSE has no third operand. */
#if CHOOSE
#define SSE_ADD(add, sum, v) __asm__(add " %1, %0" : "+x"(sum) : "x"(v))
#endif
#if CHOOSE && defined(WIDEST) && !defined(UNPACKED)
#define LOW_ROWS 6
#else
#define LOW_ROWS 4
#endif

#define ROWS LOW_ROWS
#define T float
#define EXP v_expf
#define TANH v_tanhf
#define SIGMOID v_sigmoidf
#define LANES (BYTES ? BYTES / 4 : 1)
#define SUFFIX float_any
#if CHOOSE
#define SPREAD
#define ADD_TO(sum, v) SSE_ADD("addps", sum, v)
#else
#define ADD_TO(sum, v) sum += v
#endif
#include LOOPS
#undef ADD_TO
#undef LANES
#undef SUFFIX
#if CHOOSE
#undef SPREAD
#undef ROWS
#define ADD_TO(sum, v) sum += v
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define ROWS 6
#define LANES 8
#define SUFFIX float_v3
#include LOOPS
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#undef ROWS
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define ROWS 8
#define LANES 16
#define SUFFIX float_v4
#ifdef WIDEST
#define LOAD_PART(p, n) _mm512_maskz_loadu_ps((__mmask16)((1u << (n)) - 1), p)
#define STORE_PART(p, n, v) _mm512_mask_storeu_ps(p, (__mmask16)((1u << (n)) - 1), (__m512)(v))
#endif
#include LOOPS
#undef LOAD_PART
#undef STORE_PART
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#undef ROWS
#undef ADD_TO
#define ROWS LOW_ROWS
#endif
#undef T
#undef EXP
#undef TANH
#undef SIGMOID

#define T double
#define EXP v_exp
#define TANH v_tanh
#define SIGMOID(v) (1 / (1 + v_exp(-(v))))
#define LANES (BYTES ? BYTES / 8 : 1)
#define SUFFIX double_any
#if CHOOSE
#define ADD_TO(sum, v) SSE_ADD("addpd", sum, v)
#else
#define ADD_TO(sum, v) sum += v
#endif
#include LOOPS
#undef LANES
#undef SUFFIX
#if CHOOSE
#undef ROWS
#undef ADD_TO
#define ADD_TO(sum, v) sum += v
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define ROWS 6
#define LANES 4
#define SUFFIX double_v3
#include LOOPS
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#undef ROWS
#ifdef WIDEST
#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define ROWS 8
#define LANES 8
#define SUFFIX double_v4
#define LOAD_PART(p, n) _mm512_maskz_loadu_pd((__mmask8)((1u << (n)) - 1), p)
#define STORE_PART(p, n, v) _mm512_mask_storeu_pd(p, (__mmask8)((1u << (n)) - 1), (__m512d)(v))
#include LOOPS
#undef LOAD_PART
#undef STORE_PART
#undef LANES
#undef SUFFIX
#pragma GCC pop_options
#undef ROWS
#endif
#define ROWS 4
#endif
#undef LOW_ROWS
#undef ADD_TO

#if CHOOSE
#ifdef WIDEST
#define WIDEST_DOUBLE(kernel, args)                                                               \
    if (level() == 2)                                                                             \
        return kernel##_double_v4 args;
#else
#define WIDEST_DOUBLE(kernel, args)
#endif
#define PICK(kernel, args)                                                                        \
    if (wide) {                                                                                   \
        WIDEST_DOUBLE(kernel, args)                                                               \
        return level() ? kernel##_double_v3 args : kernel##_double_any args;                      \
    }                                                                                             \
    switch (level()) {                                                                            \
    case 2:                                                                                       \
        return kernel##_float_v4 args;                                                            \
    case 1:                                                                                       \
        return kernel##_float_v3 args;                                                            \
    default:                                                                                      \
        return kernel##_float_any args;                                                           \
    }
#else
#define PICK(kernel, args) return wide ? kernel##_double_any args : kernel##_float_any args;
#endif
