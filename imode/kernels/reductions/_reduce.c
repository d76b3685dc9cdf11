/* Inner loops of the reductions that NumPy lacks or does slowly. */
#include "reduce.h"

#include <math.h>
#include <stdint.h>

#include "runs.h"

/* ---- sums of a term of each element ---- */

#define SUM_OF(NAME, T, TERM, FINISH)                                                          \
    RUN_OF(NAME, T, TERM)                                                                      \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        (void)data;                                                                            \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            double total = 0;                                                                  \
            if (steps[2] == sizeof(T) && dims[1] >= WIDTH) {                                   \
                total = NAME##_run((const T*)in, dims[1]);                                     \
            } else {                                                                           \
                for (ptrdiff_t i = 0; i < dims[1]; i++) {                                      \
                    T v = *(const T*)(in + i * steps[2]);                                      \
                    total += TERM;                                                             \
                }                                                                              \
            }                                                                                  \
            *(T*)(args[1] + lane * steps[1]) = (T)FINISH(total);                               \
        }                                                                                      \
    }

#define SAME(x) (x)
SUM_OF(imode_nansum_f, float, (v == v ? v : 0), SAME)
SUM_OF(imode_nansum_d, double, (v == v ? v : 0), SAME)
SUM_OF(imode_norm1_f, float, fabsf(v), SAME)
SUM_OF(imode_norm1_d, double, fabs(v), SAME)
SUM_OF(norm2_narrow, float, v* v, SAME)
SUM_OF(imode_norm2_d, double, v* v, sqrt)

/* Products, as WIDTH independent partial products. */
#define PRODUCT_OF(NAME, T)                                                                    \
    V_CLONES static T NAME##_run(const T* x, ptrdiff_t n) {                                    \
        T acc[WIDTH], total = 1;                                                               \
        ptrdiff_t i = 0;                                                                       \
        for (int j = 0; j < WIDTH; j++) acc[j] = 1;                                            \
        for (; i + WIDTH <= n; i += WIDTH)                                                     \
            for (int j = 0; j < WIDTH; j++) acc[j] *= x[i + j];                                \
        for (int j = 0; j < WIDTH; j++) total *= acc[j];                                       \
        for (; i < n; i++) total *= x[i];                                                      \
        return total;                                                                          \
    }                                                                                          \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        (void)data;                                                                            \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            T total = 1;                                                                       \
            if (steps[2] == sizeof(T) && dims[1] >= WIDTH)                                     \
                total = NAME##_run((const T*)in, dims[1]);                                     \
            else                                                                               \
                for (ptrdiff_t i = 0; i < dims[1]; i++) total *= *(const T*)(in + i * steps[2]); \
            *(T*)(args[1] + lane * steps[1]) = total;                                          \
        }                                                                                      \
    }
PRODUCT_OF(imode_prod_f, float)
PRODUCT_OF(imode_prod_d, double)

/* The last NaN of x, which has one. */
#define LAST_ODD(NAME, T)                                                                      \
    static T NAME(const T* x, ptrdiff_t n) {                                                   \
        while (n-- > 1 && x[n] == x[n]) {}                                                     \
        return x[n];                                                                           \
    }
LAST_ODD(last_odd_f, float)
LAST_ODD(last_odd_d, double)

/* The largest, or the smallest; NaN, the last one, where there is any. */
#define TILE 1024
#define EXTREMUM_OF(NAME, T, I, SIGN, LAST)                                                    \
    V_CLONES static T NAME##_run(const T* x, ptrdiff_t n) {                                    \
        T acc[WIDTH], best = x[0];                                                             \
        I odds[WIDTH / 2], odd = x[0] != x[0] ? -1 : 0;                                        \
        ptrdiff_t i = 0;                                                                       \
        for (int j = 0; j < WIDTH; j++) acc[j] = x[0];                                         \
        for (int j = 0; j < WIDTH / 2; j++) odds[j] = odd;                                     \
        for (; i + WIDTH <= n; i += WIDTH) {                                                   \
            for (int j = 0; j < WIDTH / 2; j++) {                                              \
                const T a = x[i + j], b = x[i + j + WIDTH / 2];                                \
                acc[j] = a SIGN acc[j] ? a : acc[j];                                           \
                acc[j + WIDTH / 2] = b SIGN acc[j + WIDTH / 2] ? b : acc[j + WIDTH / 2];       \
                odds[j] |= isunordered(a, b) ? -1 : 0;                               \
            }                                                                                  \
        }                                                                                      \
        for (; i < n; i++) {                                                                   \
            best = x[i] SIGN best ? x[i] : best;                                               \
            odd |= x[i] != x[i];                                                               \
        }                                                                                      \
        FOLD_HALVES                                                                            \
        for (int w = WIDTH / 2; w; w /= 2)                                                     \
            for (int j = 0; j < w; j++)                                                        \
                acc[j] = acc[j + w] SIGN acc[j] ? acc[j + w] : acc[j];                         \
        FOLD_HALVES                                                                            \
        for (int w = WIDTH / 4; w; w /= 2)                                                     \
            for (int j = 0; j < w; j++) odds[j] |= odds[j + w];                                \
        best = acc[0] SIGN best ? acc[0] : best;                                               \
        return odd | odds[0] ? LAST(x, n) : best;                                              \
    }                                                                                          \
    /* Of columns side by side, four rows at a time; again, if there was any NaN. */           \
    V_CLONES static void NAME##_columns(const char* in, ptrdiff_t step, ptrdiff_t n, T* out,   \
                                        ptrdiff_t width) {                                     \
        I odd = 0;                                                                             \
        ptrdiff_t i = 1;                                                                       \
        memcpy(out, in, width * sizeof *out);                                                  \
        for (; i + 4 <= n && !odd; i += 4) {                                                   \
            const T *a = (const T*)(in + i * step), *b = (const T*)(in + (i + 1) * step);      \
            const T *c = (const T*)(in + (i + 2) * step), *d = (const T*)(in + (i + 3) * step); \
            for (ptrdiff_t j = 0; j < width; j++) {                                            \
                const T e = a[j] SIGN b[j] ? a[j] : b[j], f = c[j] SIGN d[j] ? c[j] : d[j];    \
                const T g = e SIGN f ? e : f;                                                  \
                odd |= (isunordered(a[j], b[j]) ? -1 : 0) | (isunordered(c[j], d[j]) ? -1 : 0); \
                out[j] = g SIGN out[j] ? g : out[j];                                           \
            }                                                                                  \
        }                                                                                      \
        if (odd) {                                                                             \
            memcpy(out, in, width * sizeof *out);                                              \
            i = 1;                                                                             \
        }                                                                                      \
        for (; i < n; i++) {                                                                   \
            const T* a = (const T*)(in + i * step);                                            \
            for (ptrdiff_t j = 0; j < width; j++)                                              \
                out[j] = a[j] SIGN out[j] || a[j] != a[j] ? a[j] : out[j];                     \
        }                                                                                      \
    }                                                                                          \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        const ptrdiff_t size = sizeof(T);                                                      \
        (void)data;                                                                            \
        if (dims[0] >= 8 && steps[0] == size && steps[1] == size && steps[2] != size) {        \
            for (ptrdiff_t lane = 0; lane < dims[0]; lane += TILE)                             \
                NAME##_columns(args[0] + lane * size, steps[2], dims[1],                       \
                               (T*)args[1] + lane,                                             \
                               dims[0] - lane < TILE ? dims[0] - lane : TILE);                 \
            return;                                                                            \
        }                                                                                      \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            T best = *(const T*)in;                                                            \
            if (steps[2] == sizeof(T) && dims[1] >= WIDTH)                                     \
                best = NAME##_run((const T*)in, dims[1]);                                      \
            else                                                                               \
                for (ptrdiff_t i = 1; i < dims[1]; i++) {                                      \
                    const T v = *(const T*)(in + i * steps[2]);                                \
                    best = v SIGN best || v != v ? v : best;                                   \
                }                                                                              \
            *(T*)(args[1] + lane * steps[1]) = best;                                           \
        }                                                                                      \
    }
EXTREMUM_OF(imode_max_f, float, int32_t, >, last_odd_f)
EXTREMUM_OF(imode_max_d, double, int64_t, >, last_odd_d)
EXTREMUM_OF(imode_min_f, float, int32_t, <, last_odd_f)
EXTREMUM_OF(imode_min_d, double, int64_t, <, last_odd_d)

/* Squares of large or tiny float32 leave its range: then the lane is summed again in double. */
void imode_norm2_f(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {
    norm2_narrow(args, dims, steps, data);
    for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {
        float* out = (float*)(args[1] + lane * steps[1]);
        if (isfinite(*out) && *out > 1e-30f) {
            *out = sqrtf(*out);
            continue;
        }
        const char* in = args[0] + lane * steps[0];
        double total = 0;
        for (ptrdiff_t i = 0; i < dims[1]; i++) {
            double v = *(const float*)(in + i * steps[2]);
            total += v * v;
        }
        *out = (float)sqrt(total);
    }
}

#define COUNT(NAME, T)                                                                         \
    V_CLONES void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) { \
        (void)data;                                                                            \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            int64_t total = 0;                                                                 \
            if (steps[2] == sizeof(T))                                                         \
                for (ptrdiff_t i = 0; i < dims[1]; i++) total += ((const T*)in)[i] != 0;       \
            else                                                                               \
                for (ptrdiff_t i = 0; i < dims[1]; i++)                                        \
                    total += *(const T*)(in + i * steps[2]) != 0;                              \
            *(int64_t*)(args[1] + lane * steps[1]) = total;                                    \
        }                                                                                      \
    }
COUNT(imode_count_b, char)
COUNT(imode_count_f, float)
COUNT(imode_count_d, double)
COUNT(imode_count_l, int64_t)

/* ---- any and all: searched in blocks, so that the search vectorises and still ends early ---- */

#define TRUTH(NAME, T, STOP)                                                                   \
    V_CLONES static char NAME##_run(const T* x, ptrdiff_t n) {                                 \
        ptrdiff_t i = 0;                                                                       \
        for (; i + 256 <= n; i += 256) {                                                       \
            int found = 0;                                                                     \
            for (int j = 0; j < 256; j++) found |= (x[i + j] != 0) == STOP;                    \
            if (found) return STOP;                                                            \
        }                                                                                      \
        for (; i < n; i++)                                                                     \
            if ((x[i] != 0) == STOP) return STOP;                                              \
        return !STOP;                                                                          \
    }                                                                                          \
    /* Of columns side by side, until all are found, which is seen after a few rows. */        \
    V_CLONES static void NAME##_columns(const char* in, ptrdiff_t step, ptrdiff_t n,           \
                                        char* out, ptrdiff_t width) {                          \
        int open = 1;                                                                          \
        memset(out, !STOP, width);                                                             \
        for (ptrdiff_t i = 0; i < n && open; in += step) {                                     \
            const T* a = (const T*)in;                                                         \
            for (ptrdiff_t j = 0; j < width; j++)                                              \
                out[j] = STOP ? out[j] | (a[j] != 0) : out[j] & (a[j] != 0);                   \
            if (++i % 16 == 0) {                                                               \
                open = 0;                                                                      \
                for (ptrdiff_t j = 0; j < width; j++) open |= out[j] != STOP;                  \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        const ptrdiff_t size = sizeof(T);                                                      \
        (void)data;                                                                            \
        if (dims[0] >= 8 && steps[0] == size && steps[1] == 1 && steps[2] != size) {           \
            for (ptrdiff_t lane = 0; lane < dims[0]; lane += TILE)                             \
                NAME##_columns(args[0] + lane * size, steps[2], dims[1], args[1] + lane,       \
                               dims[0] - lane < TILE ? dims[0] - lane : TILE);                 \
            return;                                                                            \
        }                                                                                      \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* in = args[0] + lane * steps[0];                                        \
            char* out = args[1] + lane * steps[1];                                             \
            if (steps[2] == sizeof(T)) {                                                       \
                *out = NAME##_run((const T*)in, dims[1]);                                      \
                continue;                                                                      \
            }                                                                                  \
            *out = !STOP;                                                                      \
            for (ptrdiff_t i = 0; i < dims[1] && *out != STOP; i++)                            \
                *out = *(const T*)(in + i * steps[2]) != 0;                                    \
        }                                                                                      \
    }
TRUTH(imode_any_f, float, 1)
TRUTH(imode_any_d, double, 1)
TRUTH(imode_any_l, int64_t, 1)
TRUTH(imode_all_f, float, 0)
TRUTH(imode_all_d, double, 0)
TRUTH(imode_all_l, int64_t, 0)
