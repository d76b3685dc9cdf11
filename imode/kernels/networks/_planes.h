/* The C interface of the normalisation loops. Arrays are (outer, channels, inner); sums are per
   channel over outer and inner. `wide`: doubles, not floats. */

#ifndef IMODE_PLANES_H
#define IMODE_PLANES_H

typedef struct {
    long outer, channels, inner;
    long step; /* elements from one of `outer` to the next: more than channels * inner for some */
} plane_t;

/* mean and biased variance of every channel; -1: no memory */
int norm_stats(const plane_t *p, int wide, const void *x, void *mean, void *var);
/* out = x * scale[c] + shift[c] */
void norm_affine(const plane_t *p, int wide, const void *x, const void *scale, const void *shift,
                 void *out);
/* The same of contiguous float16 or bfloat16, outer being 1 where inner is not, with
   factors in float; 0: this CPU has no loops for it. */
int norm_affine_narrow(const plane_t *p, int brain, const void *x, const float *scale,
                       const float *shift, void *out);
/* total[c] = sum of grad, dot[c] = sum of grad * (x - mean[c]); -1: no memory */
int norm_sums(const plane_t *p, int wide, const void *grad, const void *x, const void *mean,
              void *total, void *dot);
/* out = grad * a[c] + x * b[c] + shift[c] */
void norm_combine(const plane_t *p, int wide, const void *grad, const void *x, const void *a,
                  const void *b, const void *shift, void *out);
/* rows: out = (x - mean[row]) * rstd[row] * weight + bias; weight and bias may be NULL */
void norm_rows(long rows, long size, int wide, const void *x, const void *mean, const void *rstd,
               const void *weight, const void *bias, void *out);
/* the gradient of x */
void norm_rows_backward(long rows, long size, int wide, const void *grad, const void *x,
                        const void *mean, const void *rstd, const void *weight, void *grad_x);
/* add the rows' part of the gradients of weight and bias for some columns; either may be NULL */
void norm_rows_weights(long rows, long size, int wide, long columns, const void *grad,
                       const void *x, const void *mean, const void *rstd, void *grad_weight,
                       void *grad_bias);

#endif
