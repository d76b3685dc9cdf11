/* Whole numbers below 2^51 in size to double and back, by additions: processors below x86-64-v4
   convert no vectors of int64. An integer becomes a double by the bits of 1.5 * 2^52 plus it. */
#ifndef IMODE_WHOLE_NUMBERS_H
#define IMODE_WHOLE_NUMBERS_H

#include "half.h"

#define WHOLE_LIMIT ((uint64_t)1 << 51) /* whole: (uint64_t)x + WHOLE_LIMIT < 2 * WHOLE_LIMIT */
#define TO_DOUBLE 6755399441055744.0
V_INLINE double double_of(int64_t x) {
    const uint64_t bits = (uint64_t)x + 0x4338000000000000u;
    double y;
    memcpy(&y, &bits, sizeof y);
    return y - TO_DOUBLE;
}
V_INLINE int64_t whole_of(double x) {
    uint64_t bits;
    x += TO_DOUBLE;
    memcpy(&bits, &x, sizeof bits);
    return (int64_t)(bits - 0x4338000000000000u);
}

#endif
