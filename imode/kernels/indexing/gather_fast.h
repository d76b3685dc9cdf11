/* Loops of gather and scatter: see _gather_fast.c. */
#ifndef IMODE_GATHER_FAST_H
#define IMODE_GATHER_FAST_H

#include <stddef.h>
#include <stdint.h>

/* Whether 0 <= index < size for all n. */
int imode_all_inside(const int64_t *index, ptrdiff_t n, int64_t size);

#endif
