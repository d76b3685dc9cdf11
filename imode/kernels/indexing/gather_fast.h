/* Loops of gather and scatter: see _gather_fast.c. */
#ifndef IMODE_GATHER_FAST_H
#define IMODE_GATHER_FAST_H

#include <stddef.h>
#include <stdint.h>

/* Whether 0 <= index < size for all n. */
int imode_all_inside(const int64_t *index, ptrdiff_t n, int64_t size);

/* Numbers of float16 to float, and back. */
void imode_widen(float *to, const uint16_t *from, ptrdiff_t n);
void imode_narrow(uint16_t *to, const float *from, ptrdiff_t n);

#endif
