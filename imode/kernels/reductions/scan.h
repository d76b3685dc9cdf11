/* Loops over lanes side by side: of running sums and of softmax. */
#ifndef IMODE_SCAN_H
#define IMODE_SCAN_H

#include <stddef.h>

/* A run along the middle of (outer, n, inner), for the first `width` of inner; both arrays lie
   alike: n * inner elements from one of outer to the next. */
typedef void imode_scan(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner,
                        ptrdiff_t width);

#endif
