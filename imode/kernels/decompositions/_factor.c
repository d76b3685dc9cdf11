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

void imode_lu(int wide, long count, long m, long n, void *a, int32_t *pivots, int32_t *info)
{
    if (wide)
        PICK(lu_stack, double)(count, m, n, a, pivots, info);
    else
        PICK(lu_stack, float)(count, m, n, a, pivots, info);
}

void imode_inverse(int wide, long count, long n, void *a, int32_t *info)
{
    if (wide)
        PICK(inverse_stack, double)(count, n, a, info);
    else
        PICK(inverse_stack, float)(count, n, a, info);
}

void imode_solve_lu(int wide, long count, long n, long k, const void *a, const int32_t *pivots, void *b)
{
    if (wide)
        PICK(solve_stack, double)(count, n, k, a, pivots, b);
    else
        PICK(solve_stack, float)(count, n, k, a, pivots, b);
}
