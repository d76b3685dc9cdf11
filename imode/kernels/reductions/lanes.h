/* Copies lanes that lie side by side one after the other, and back.

   The `n` elements of a lane have a stride of `stride` bytes, adjacent lanes of `lane_stride`. With
   a dozen lanes at a time, all of each cache line is used. */
#ifndef IMODE_LANES_H
#define IMODE_LANES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IMODE_COPY_LANES(T, TO, FROM)                                        \
    for (ptrdiff_t k = 0; k < n; k++)                                        \
        for (ptrdiff_t j = 0; j < lanes; j++) {                              \
            char* scattered = (char*)data + k * stride + j * lane_stride;          \
            char* gathered = (char*)rows + (j * n + k) * (ptrdiff_t)sizeof(T); \
            memcpy(TO, FROM, sizeof(T));                                     \
        }                                                                    \
    return;

#define IMODE_BY_SIZE(TO, FROM)                                              \
    switch (item) {                                                          \
        case 1: IMODE_COPY_LANES(uint8_t, TO, FROM)                          \
        case 2: IMODE_COPY_LANES(uint16_t, TO, FROM)                         \
        case 4: IMODE_COPY_LANES(uint32_t, TO, FROM)                         \
        default: IMODE_COPY_LANES(uint64_t, TO, FROM)                        \
    }

/* Elements of up to 8 bytes. */
static inline void imode_gather(char* rows, const char* data, ptrdiff_t n, ptrdiff_t stride,
                                ptrdiff_t lanes, ptrdiff_t lane_stride, ptrdiff_t item) {
    IMODE_BY_SIZE(gathered, scattered)
}

static inline void imode_scatter(const char* rows, char* data, ptrdiff_t n, ptrdiff_t stride,
                                 ptrdiff_t lanes, ptrdiff_t lane_stride, ptrdiff_t item) {
    IMODE_BY_SIZE(scattered, gathered)
}

#endif
