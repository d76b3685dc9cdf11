/* Reductions of a whole contiguous array of which a piece gives two numbers. */
#include "whole.h"

#include <math.h>

#include "runs.h"

#define APART(NAME, T, TERM)                                                                   \
    RUN_OVER(NAME, T, (const T* x, const T* y, ptrdiff_t n), x[at] - y[at], TERM)              \
    void NAME(const void* x, const void* y, ptrdiff_t n, double* found) {                      \
        found[0] = NAME##_run(x, y, n);                                                        \
        found[1] = 0;                                                                          \
    }
APART(imode_apart1_f, float, fabsf(v))
APART(imode_apart1_d, double, fabs(v))
APART(imode_apart2_f, float, v* v)
APART(imode_apart2_d, double, v* v)

/* Of an element that is NaN no comparison holds: it is noted apart. */
#define ENDS(NAME, T)                                                                          \
    V_CLONES void NAME(const void* array, const void* none, ptrdiff_t n, double* found) {      \
        const T* x = array;                                                                    \
        T low[WIDTH], high[WIDTH], least = x[0], most = x[0], odd = 0, odds[WIDTH] = {0};      \
        ptrdiff_t i = 0;                                                                       \
        (void)none;                                                                            \
        for (int j = 0; j < WIDTH; j++) low[j] = high[j] = x[0];                               \
        for (; i + WIDTH <= n; i += WIDTH)                                                     \
            for (int j = 0; j < WIDTH; j++) {                                                  \
                const T v = x[i + j];                                                          \
                low[j] = v < low[j] ? v : low[j];                                              \
                high[j] = v > high[j] ? v : high[j];                                           \
                odds[j] = v == v ? odds[j] : v;                                                \
            }                                                                                  \
        for (; i < n; i++) {                                                                   \
            least = x[i] < least ? x[i] : least;                                               \
            most = x[i] > most ? x[i] : most;                                                  \
            odd = x[i] == x[i] ? odd : x[i];                                                   \
        }                                                                                      \
        for (int j = 0; j < WIDTH; j++) {                                                      \
            least = low[j] < least ? low[j] : least;                                           \
            most = high[j] > most ? high[j] : most;                                            \
            odd = odds[j] == odds[j] ? odd : odds[j];                                          \
        }                                                                                      \
        found[0] = odd == odd ? least : odd;                                                   \
        found[1] = odd == odd ? most : odd;                                                    \
    }
ENDS(imode_ends_f, float)
ENDS(imode_ends_d, double)
