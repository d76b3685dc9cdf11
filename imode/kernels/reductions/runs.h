/* The sum of a term of each element of a contiguous run.

   It has WIDTH independent partial sums, which vectorise without reordering additions, over blocks
   of BLOCK elements, whose sums are added in double: the sum of a million float32 elements is as
   accurate as that of a few thousand. */
#ifndef IMODE_RUNS_H
#define IMODE_RUNS_H

#include <stddef.h>

#include "vmath.h"

#define WIDTH 32
#define BLOCK 4096

#if defined(__GNUC__)
#define FOLD_HALVES _Pragma("GCC unroll 8") /* the vectors of which are known to the compiler */
#else
#define FOLD_HALVES
#endif

/* Adds the WIDTH partial sums of T, as double, by halves. */
#define FOLD_PARTS(TOTAL, ACC)                                                                 \
    {                                                                                          \
        double part[WIDTH / 2];                                                                \
        for (int j = 0; j < WIDTH / 2; j++) part[j] = (double)ACC[j] + ACC[j + WIDTH / 2];     \
        FOLD_HALVES                                                                            \
        for (int w = WIDTH / 4; w; w /= 2)                                                     \
            for (int j = 0; j < w; j++) part[j] += part[j + w];                                \
        TOTAL += part[0];                                                                      \
    }

/* Defines NAME_run ARGUMENTS, of which n is the length: the sum of TERM, an expression of `v`, which
   is ELEMENT, an expression of the index `at`. */
#define RUN_OVER(NAME, T, ARGUMENTS, ELEMENT, TERM)                                            \
    V_CLONES static double NAME##_run ARGUMENTS {                                              \
        double total = 0;                                                                      \
        for (ptrdiff_t start = 0; start < n; start += BLOCK) {                                 \
            ptrdiff_t i = start, end = n - start < BLOCK ? n : start + BLOCK;                  \
            T acc[WIDTH] = {0};                                                                \
            for (; i + WIDTH <= end; i += WIDTH)                                               \
                for (int j = 0; j < WIDTH; j++) {                                              \
                    const ptrdiff_t at = i + j;                                                \
                    const T v = ELEMENT;                                                       \
                    acc[j] += TERM;                                                            \
                }                                                                              \
            FOLD_PARTS(total, acc)                                                             \
            for (; i < end; i++) {                                                             \
                const ptrdiff_t at = i;                                                        \
                const T v = ELEMENT;                                                           \
                total += TERM;                                                                 \
            }                                                                                  \
        }                                                                                      \
        return total;                                                                          \
    }

/* NAME_run(x, n): of the elements of an array. */
#define RUN_OF(NAME, T, TERM) RUN_OVER(NAME, T, (const T* x, ptrdiff_t n), x[at], TERM)

#endif
