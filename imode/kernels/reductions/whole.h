/* Reductions of a whole contiguous array of which a piece gives two numbers. See _whole.c. */
#ifndef IMODE_WHOLE_H
#define IMODE_WHOLE_H

#include <stddef.h>

/* y: a second array, or NULL. */
typedef void imode_piece(const void* x, const void* y, ptrdiff_t n, double* found);

imode_piece imode_apart1_f, imode_apart1_d; /* the sum of |x - y|, 0 */
imode_piece imode_apart2_f, imode_apart2_d; /* the sum of (x - y) * (x - y), 0 */
imode_piece imode_ends_f, imode_ends_d;     /* the least, the largest: NaN if there is one */

#endif
