/* Least squares of tall or square real matrices of a few rows and columns, which lie column by column. */
#ifndef IMODE_ORTHOGONAL_H
#define IMODE_ORTHOGONAL_H

enum { IMODE_FEW = 32 }; /* most rows, and most columns of both sides */

/* min |A x - b|, m >= n: x in the place of the first n rows of b, whose columns are ldb apart, and what is
   left in the others. With pivots, the rank is decided as LAPACK's gelsy does. Returns 1, or 0 with all
   as it was: where the matrix is not of full rank, or holds numbers that are very large or very small. */
int imode_least_squares(int wide, long m, long n, long k, const void *a, void *b, long ldb, int pivots,
                        double rcond);

#endif
