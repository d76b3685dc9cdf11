/* A pool of worker threads that share the loops of one caller at a time. See parallel.pxd. */
#ifndef IMODE_PARALLEL_H
#define IMODE_PARALLEL_H

#include <stddef.h>

typedef void (*imode_range_body)(void *ctx, ptrdiff_t begin, ptrdiff_t end);

int imode_parallel_for(ptrdiff_t n, ptrdiff_t grain, imode_range_body body, void *ctx);
void imode_set_num_threads(int n);
int imode_get_num_threads(void);
int imode_skipping(void);
int imode_set_skipping(int on);

#endif
