/* Parts of LU and of triangular systems: the loops for each element type and instruction set. */

#include "factor.h"
#include "halves.h"

#define LOOPS "_halves.h"
#include "_instances.h"

void imode_triangle(int wide, int lower, int unit, long n, long k, const void *a, long ar, long ac, void *b, long ldb)
{
    if (wide)
        PICK(triangle, double)(lower, unit, n, k, a, ar, ac, b, ldb);
    else
        PICK(triangle, float)(lower, unit, n, k, a, ar, ac, b, ldb);
}

void imode_triangle_vector(int wide, int lower, int unit, long n, const void *a, long lda, void *x)
{
    if (wide)
        PICK(vector, double)(lower, unit, n, a, lda, x);
    else
        PICK(vector, float)(lower, unit, n, a, lda, x);
}

int imode_lu_panel(int wide, long m, long n, void *a, long lda, int32_t *pivots)
{
    if (wide)
        return PICK(panel, double)(m, n, a, lda, pivots);
    return PICK(panel, float)(m, n, a, lda, pivots);
}

void imode_exchange(int wide, long n, long k, void *b, long ldb, const int32_t *pivots, int back)
{
    if (wide)
        PICK(exchange, double)(n, k, b, ldb, pivots, back);
    else
        PICK(exchange, float)(n, k, b, ldb, pivots, back);
}
