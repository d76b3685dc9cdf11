#include "ranges.h"

#include <math.h>

#include "half.h"

#define RANGE(NAME, T, VECTOR)                                                                     \
    V_CLONES void imode_range_##NAME(T *out, int64_t begin, int64_t end, double start,             \
                                     double step) {                                                \
        for (int64_t first = begin; first < end; first += VECTOR) {                                \
            const double base = (T)fma(step, (double)first, start);                                \
            for (int k = 0; k < VECTOR; k++)                                                       \
                out[first + k] = (T)fma((double)k, step, base);                                    \
        }                                                                                          \
    }
RANGE(float, float, 8)
RANGE(double, double, 4)

V_CLONES void imode_range_int64(int64_t *out, int64_t begin, int64_t end, int64_t start,
                                int64_t step) {
    for (int64_t i = begin; i < end; i++)
        out[i] = start + step * i;
}
