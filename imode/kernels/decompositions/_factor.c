/* Elimination of few rows and columns: the loops for each element type and instruction set. */

/* No fused multiplication and addition: see _elimination.h. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

#include "factor.h"

#define LOOPS "_elimination.h"
#include "_instances.h"

int imode_lu(int wide, long m, long n, void *a, int32_t *pivots)
{
    return wide ? PICK(lu, double)(m, n, a, pivots) : PICK(lu, float)(m, n, a, pivots);
}

int imode_inverse(int wide, long n, void *a)
{
    return wide ? PICK(inverse, double)(n, a) : PICK(inverse, float)(n, a);
}

void imode_solve_lu(int wide, long n, long k, const void *a, const int32_t *pivots, void *b, long ldb)
{
    if (wide)
        PICK(solve_lu, double)(n, k, a, pivots, b, ldb);
    else
        PICK(solve_lu, float)(n, k, a, pivots, b, ldb);
}
