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

/* Defines NAME_run(x, n): the sum of TERM, an expression of the element `v`. */
#define RUN_OF(NAME, T, TERM)                                                                  \
    V_CLONES static double NAME##_run(const T* x, ptrdiff_t n) {                               \
        double total = 0;                                                                      \
        for (ptrdiff_t start = 0; start < n; start += BLOCK) {                                 \
            ptrdiff_t i = start, end = n - start < BLOCK ? n : start + BLOCK;                  \
            T acc[WIDTH] = {0};                                                                \
            for (; i + WIDTH <= end; i += WIDTH)                                               \
                for (int j = 0; j < WIDTH; j++) {                                              \
                    T v = x[i + j];                                                            \
                    acc[j] += TERM;                                                            \
                }                                                                              \
            for (int j = 0; j < WIDTH; j++) total += acc[j];                                   \
            for (; i < end; i++) {                                                             \
                T v = x[i];                                                                    \
                total += TERM;                                                                 \
            }                                                                                  \
        }                                                                                      \
        return total;                                                                          \
    }

#endif
