/* Copies of shapes and strides: what a recycled array is given. */
#ifndef IMODE_ALLOCATOR_H
#define IMODE_ALLOCATOR_H
#include <numpy/ndarraytypes.h>

/* A few numbers: gcc would make it a call of memcpy, which costs more than they do. */
static inline void imode_copy_dims(npy_intp *to, const npy_intp *from, int n) {
    for (int i = 0; i < n; i++) {
        to[i] = from[i];
#ifdef __GNUC__
        __asm__ volatile("" ::: "memory");
#endif
    }
}
#endif
