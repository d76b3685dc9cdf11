/* Least squares of few rows and columns: the loops for each element type and instruction set. */

#include "orthogonal.h"

#define LOOPS "_least_squares.h"
#include "_instances.h"

int imode_least_squares(int wide, long m, long n, long k, const void *a, void *b, long ldb, int pivots,
                        double rcond)
{
    return wide ? PICK(least_squares, double)(m, n, k, a, b, ldb, pivots, rcond)
                : PICK(least_squares, float)(m, n, k, a, b, ldb, pivots, rcond);
}
