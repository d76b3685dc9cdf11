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

#define SPAN(NAME, T)                                                                              \
    V_CLONES void imode_span_##NAME(T *out, int64_t n, int64_t first, int by, double from,         \
                                    double step) {                                                 \
        int64_t i = 0;                                                                             \
        for (; i + 8 <= n; i += 8) {                                                               \
            const double base = (double)(first + by * i);                                          \
            for (int k = 0; k < 8; k++)                                                            \
                out[i + k] = (T)fma(step, base + by * k, from);                                    \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            out[i] = (T)fma(step, (double)(first + by * i), from);                                 \
    }
SPAN(float, float)
SPAN(double, double)

V_CLONES void imode_range_int64(int64_t *out, int64_t begin, int64_t end, int64_t start,
                                int64_t step) {
    for (int64_t i = begin; i < end; i++)
        out[i] = start + step * i;
}
