/* Copies shapes and strides into a recycled array. */
#ifndef IMODE_ALLOCATOR_H
#define IMODE_ALLOCATOR_H
#include <numpy/ndarraytypes.h>

/* For a few numbers: gcc would turn the loop into a call of memcpy, which costs more. */
static inline void imode_copy_dims(npy_intp *to, const npy_intp *from, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
#ifdef __GNUC__
        __asm__ volatile("" ::: "memory");
#endif
    }
}
#endif
