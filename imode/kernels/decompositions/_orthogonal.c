/* Reflections, and least squares of few rows and columns: the loops for each element type and
   instruction set. */

#include "orthogonal.h"

#define LOOPS "_orthogonal_loops.h"
#include "_instances.h"

int imode_least_squares(int wide, long m, long n, long k, const void *a, void *b, long ldb, int pivots,
                        double rcond)
{
    return wide ? PICK(least_squares, double)(m, n, k, a, b, ldb, pivots, rcond)
                : PICK(least_squares, float)(m, n, k, a, b, ldb, pivots, rcond);
}

void imode_reflect(int wide, long m, long n, void *v, long ldv, void *r, long ldr, void *tau, void *s,
                   long lds)
{
    (wide ? PICK(reflect, double) : PICK(reflect, float))(m, n, v, ldv, r, ldr, tau, s, lds);
}

void imode_add_columns(int wide, long m, long n, const void *a, void *to, long ld)
{
    (wide ? add_columns_double_any : add_columns_float_any)(m, n, a, to, ld);
}

void imode_turn(int wide, long m, long n, const void *a, long lda, void *to)
{
    (wide ? turn_double_any : turn_float_any)(m, n, a, lda, to);
}

int imode_reflects(int wide, long m, long n, const void *a)
{
#if CHOOSE
    if (!level() && m > 16 && n <= 64)
        return 0;
#endif
    return (wide ? moderate_double_any : moderate_float_any)(a, m * n);
}
