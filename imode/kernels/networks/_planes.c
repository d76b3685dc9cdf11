/* Normalisation loops for float and double. */

#include <stdlib.h>
#include <string.h>

#include "_planes.h"
#include "half.h"

/* No fused multiply-add: x * scale - mean * scale must be 0 where x is the mean. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#endif

#if defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define NAME(x) JOIN(x, T)

#include "_planes_narrow.h"

#define T float
#include "_planes_loops.h"
#undef T
#define T double
#include "_planes_loops.h"
#undef T

int norm_stats(const plane_t *p, int wide, const void *x, void *mean, void *var)
{
    return wide ? stats_double(p, x, mean, var) : stats_float(p, x, mean, var);
}

void norm_affine(const plane_t *p, int wide, const void *x, const void *scale, const void *shift,
                 void *out)
{
    if (wide)
        affine_double(p, x, scale, shift, out);
    else
        affine_float(p, x, scale, shift, out);
}

int norm_sums(const plane_t *p, int wide, const void *grad, const void *x, const void *mean,
              void *total, void *dot)
{
    return wide ? sums_double(p, grad, x, mean, total, dot)
                : sums_float(p, grad, x, mean, total, dot);
}

void norm_combine(const plane_t *p, int wide, const void *grad, const void *x, const void *a,
                  const void *b, const void *shift, void *out)
{
    if (wide)
        combine_double(p, grad, x, a, b, shift, out);
    else
        combine_float(p, grad, x, a, b, shift, out);
}

void norm_rows(long rows, long size, int wide, const void *x, const void *mean, const void *rstd,
               const void *weight, const void *bias, void *out)
{
    if (wide)
        rows_double(rows, size, x, mean, rstd, weight, bias, out);
    else
        rows_float(rows, size, x, mean, rstd, weight, bias, out);
}

void norm_rows_backward(long rows, long size, int wide, const void *grad, const void *x,
                        const void *mean, const void *rstd, const void *weight, void *grad_x)
{
    if (wide)
        rows_backward_double(rows, size, grad, x, mean, rstd, weight, grad_x);
    else
        rows_backward_float(rows, size, grad, x, mean, rstd, weight, grad_x);
}

void norm_rows_weights(long rows, long size, int wide, long columns, const void *grad,
                       const void *x, const void *mean, const void *rstd, void *grad_weight,
                       void *grad_bias)
{
    if (wide)
        rows_weights_double(rows, size, columns, grad, x, mean, rstd, grad_weight, grad_bias);
    else
        rows_weights_float(rows, size, columns, grad, x, mean, rstd, grad_weight, grad_bias);
}
