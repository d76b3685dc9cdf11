/* Rows of windows of planes, pooled side by side: the loops of pool.pyx for fixed windows. */
#ifndef IMODE_POOL_H
#define IMODE_POOL_H

#include <stdint.h>

#define POOL_STRIDES 4 /* the longest stride of windows in a row */
#define POOL_WIDEST 64 /* how far their last element may be from the first, in strides */

typedef struct {
    long width;                     /* of the plane */
    long y0, y1, down;              /* the windows' rows inside of it, and the step between them */
    long count;                     /* how many windows */
    long kernel, stride, padding, dilation;
} pool_row_t;

/* The largest elements, and their positions in the plane, which are below 2**31. */
void pool_max_float(const pool_row_t *r, const float *x, float *out, int64_t *at);
void pool_max_double(const pool_row_t *r, const double *x, double *out, int64_t *at);
/* The sums, each in row order. */
void pool_sum_float(const pool_row_t *r, const float *x, float *out);
void pool_sum_double(const pool_row_t *r, const double *x, double *out);

#endif
