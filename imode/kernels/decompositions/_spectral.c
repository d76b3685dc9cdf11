/* Eigenvalues and singular values of small real matrices: the loops for each element type and instruction set. */

#include "spectral.h"

#define LOOPS "_eigen.h"
#include "_instances.h"

static size_t padded(long n) { return (size_t)(n + 7) / 8 * 8; }

size_t imode_eigh_work(int wide, long n)
{
    return 2 * padded(n) * (sizeof(double) + (n + 1) * (wide ? 8 : 4)) + 64;
}

size_t imode_eig_work(int wide, long n)
{
    return padded(n) * (3 * sizeof(double) + (2 * n + 4) * (wide ? 8 : 4)) + 64;
}

static void *aligned(void *work) { return (void *)(((size_t)work + 63) & ~(size_t)63); }

int imode_eigh(int wide, long n, void *a, int upper, int vectors, void *values, void *work)
{
    return wide ? PICK(eigh, double)(n, a, upper, vectors, values, aligned(work))
                : PICK(eigh, float)(n, a, upper, vectors, values, aligned(work));
}

int imode_eig(int wide, long n, const void *a, void *values, void *vectors, void *work)
{
    return wide ? PICK(eig, double)(n, a, values, vectors, aligned(work))
                : PICK(eig, float)(n, a, values, vectors, aligned(work));
}

int imode_singular_values(int wide, long count, long m, long n, const void *a, void *values)
{
    return wide ? PICK(singular_values, double)(count, m, n, a, values)
                : PICK(singular_values, float)(count, m, n, a, values);
}
