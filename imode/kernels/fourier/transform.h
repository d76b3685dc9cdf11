/* Fourier transforms of lines of numbers. A plan has the tables for one length and one type; it does
   not change, and any number of threads may use it. */
#ifndef IMODE_TRANSFORM_H
#define IMODE_TRANSFORM_H

#include <stddef.h>

enum { IMODE_C2C, IMODE_R2C, IMODE_C2R };
enum { IMODE_LINES = 64 }; /* most lines of one call */

typedef struct imode_plan imode_plan;

/* Of complex transforms of length n, or of real ones (from or to n real numbers); `wide`: float64.
   NULL: no memory. */
imode_plan *imode_plan_new(long n, int wide, int real);
void imode_plan_free(imode_plan *plan);
size_t imode_plan_bytes(const imode_plan *plan); /* that it holds */
/* Bytes that a call needs, aligned to 64; steps: between the elements of a line. */
size_t imode_plan_work(const imode_plan *plan, int kind, ptrdiff_t src_step, ptrdiff_t dst_step);

/* Transform up to IMODE_LINES lines, those of the source that begin at src + src_at[i], with steps
   between their elements in bytes. inverse: with the other sign. both: of R2C, the second half of
   the result, too. Source and target may be the same lines. */
void imode_transform(const imode_plan *plan, int kind, int inverse, int both, double scale,
                     const char *src, const ptrdiff_t *src_at, ptrdiff_t src_step, char *dst,
                     const ptrdiff_t *dst_at, ptrdiff_t dst_step, int lines, void *work);
/* How many lines are best given at once. unit: threads divide the lines between multiples of so many,
   or the result would depend on where: those beside each other are added up otherwise than one alone. */
int imode_lines(const imode_plan *plan, int kind, ptrdiff_t src_step, ptrdiff_t dst_step, int *unit);

#endif
