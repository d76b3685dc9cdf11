/* LU, by elimination, of real matrices of a few rows and columns, which lie column by column. `wide`:
   float64. Pivots are counted from 1, as LAPACK's. */
#ifndef IMODE_FACTOR_H
#define IMODE_FACTOR_H

#include <stdint.h>

enum { IMODE_FEW = 32 }; /* most rows and columns */

/* In the place of the matrix. Returns 0, or the number of the first pivot that is 0. */
int imode_lu(int wide, long m, long n, void *a, int32_t *pivots);
/* The inverse in the place of the matrix, which is lost where the result is not 0. */
int imode_inverse(int wide, long n, void *a);
/* From LU the solutions, in the place of k right-hand sides. */
void imode_solve_lu(int wide, long n, long k, const void *a, const int32_t *pivots, void *b, long ldb);

#endif
