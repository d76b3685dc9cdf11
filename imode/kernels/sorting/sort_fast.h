/* Lines sorted by the digits of their elements: see _sort_fast.c. */
#ifndef IMODE_SORT_FAST_H
#define IMODE_SORT_FAST_H

#include <stddef.h>
#include <stdint.h>

/* Sort a line of n < 2**32 elements, `step` elements apart, here and in values and indices; equal
   ones keep their order, NaN counts as the largest. Nonzero: there is no memory for it. */
typedef int imode_sort_line(const void *x, ptrdiff_t n, ptrdiff_t step, int falling, void *values,
                            int64_t *indices);

imode_sort_line imode_sort_float, imode_sort_double, imode_sort_int32, imode_sort_int64;

#endif
