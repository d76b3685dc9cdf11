/* Inner loops of variance and mean. See _variance.c. */
#ifndef IMODE_VARIANCE_H
#define IMODE_VARIANCE_H

#include <stddef.h>

/* gufunc loops (n)->(),(): variance and mean. dims = {lanes, n}, steps = {bytes from lane to lane of
   each argument, then from element to element of the first}; data: the correction, a double. */
void imode_moments_f(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);
void imode_moments_d(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);

#endif
