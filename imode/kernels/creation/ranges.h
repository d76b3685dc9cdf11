/* Numbers at equal steps, rounded as ranges.pyx says. */
#ifndef IMODE_RANGES_H
#define IMODE_RANGES_H

#include <stdint.h>

/* out[begin] to out[end - 1]: both are multiples of a vector, of 8 floats or 4 doubles. */
void imode_range_float(float *out, int64_t begin, int64_t end, double start, double step);
void imode_range_double(double *out, int64_t begin, int64_t end, double start, double step);
void imode_range_int64(int64_t *out, int64_t begin, int64_t end, int64_t start, int64_t step);

/* out[i] = from + step * (first + by * i) for n numbers, each rounded once; by: 1 or -1. */
void imode_span_float(float *out, int64_t n, int64_t first, int by, double from, double step);
void imode_span_double(double *out, int64_t n, int64_t first, int by, double from, double step);

#endif
