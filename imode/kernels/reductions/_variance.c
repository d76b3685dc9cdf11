/* Inner loops of variance and mean: first the mean, then the squares of the differences.

   A lane of equal numbers has exactly that number as its mean, and no variance: the rounded
   quotient of sum and length would leave differences, and a tiny variance has a huge gradient of
   its square root. */
#include "variance.h"

#include "runs.h"

RUN_OF(sum_f, float, v)
RUN_OF(sum_d, double, v)

#define MOMENTS(NAME, T, SUM)                                                                  \
    V_CLONES static double NAME##_squares(const T* x, ptrdiff_t n, T mean) {                   \
        double total = 0;                                                                      \
        for (ptrdiff_t start = 0; start < n; start += BLOCK) {                                 \
            ptrdiff_t i = start, end = n - start < BLOCK ? n : start + BLOCK;                  \
            T acc[WIDTH] = {0};                                                                \
            for (; i + WIDTH <= end; i += WIDTH)                                               \
                for (int j = 0; j < WIDTH; j++) {                                              \
                    T away = x[i + j] - mean;                                                  \
                    acc[j] += away * away;                                                     \
                }                                                                              \
            FOLD_PARTS(total, acc)                                                             \
            for (; i < end; i++) total += (double)(x[i] - mean) * (x[i] - mean);               \
        }                                                                                      \
        return total;                                                                          \
    }                                                                                          \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        ptrdiff_t n = dims[1];                                                                 \
        double freedom = (double)n - *(const double*)data;                                     \
        freedom = freedom > 0 ? freedom : 0;                                                   \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            double total = 0, mean;                                                            \
            ptrdiff_t same = 0;                                                                \
            while (same < n && *(const T*)(in + same * steps[3]) == *(const T*)in) same++;     \
            if (n > 0 && same == n) {                                                          \
                mean = *(const T*)in;                                                          \
                total = mean - mean; /* NaN if it is infinite */                               \
            } else if (steps[3] == sizeof(T) && n >= WIDTH) {                                  \
                mean = SUM##_run((const T*)in, n) / n;                                         \
                total = NAME##_squares((const T*)in, n, (T)mean);                              \
            } else {                                                                           \
                for (ptrdiff_t i = 0; i < n; i++) total += *(const T*)(in + i * steps[3]);     \
                mean = total / n;                                                              \
                total = 0;                                                                     \
                for (ptrdiff_t i = 0; i < n; i++) {                                            \
                    double away = *(const T*)(in + i * steps[3]) - mean;                       \
                    total += away * away;                                                      \
                }                                                                              \
            }                                                                                  \
            *(T*)(args[1] + lane * steps[1]) = (T)(total / freedom);                           \
            *(T*)(args[2] + lane * steps[2]) = (T)mean;                                        \
        }                                                                                      \
    }
MOMENTS(imode_moments_f, float, sum_f)
MOMENTS(imode_moments_d, double, sum_d)
