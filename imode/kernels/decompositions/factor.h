/* LU, by elimination, of stacks of real matrices of a few rows and columns, which lie column by column, one behind
   the other. `wide`: float64. Pivots are counted from 1, as LAPACK's. */
#ifndef IMODE_FACTOR_H
#define IMODE_FACTOR_H

#include <stdint.h>

enum {
    IMODE_FEW = 32,    /* most rows and columns */
    IMODE_VERY_FEW = 8 /* most of those of which several are factored at once */
};

/* In the place of the matrices. `info`: 0, or the number of the first pivot that is 0. */
void imode_lu(int wide, long count, long m, long n, void *a, int32_t *pivots, int32_t *info);
/* The inverses in the place of the matrices, NaN where `info` is not 0. */
void imode_inverse(int wide, long count, long n, void *a, int32_t *info);
/* From LU the solutions, in the place of k right-hand sides of each matrix. */
void imode_solve_lu(int wide, long count, long n, long k, const void *a, const int32_t *pivots, void *b);

#endif
