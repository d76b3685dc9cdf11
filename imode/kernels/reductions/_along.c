/* Inner loops of operators along one dimension that NumPy lacks or does slowly. */
#include "along.h"

#include <math.h>
#include <stdint.h>

#include "vlog.h"

#define WIDTH 32 /* independent partial sums, which vectorise without reordering additions */

#define NEAR 8192 /* bytes of a row of which several are read at once */

/* ---- running sums and products, for float32 in double, as in PyTorch ---- */

#define SCAN(NAME, T, WIDE, START, OP)                                                         \
    V_CLONES void NAME(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n,                \
                       ptrdiff_t inner, ptrdiff_t width) {                                     \
        const T* x = (const T*)in;                                                             \
        T* y = (T*)out;                                                                        \
        ptrdiff_t o = 0;                                                                       \
        const int near = inner == 1 && n * sizeof(T) <= NEAR;                                  \
        for (; near && o + 4 <= outer; o += 4, x += 4 * n, y += 4 * n) {                       \
            WIDE a = START, b = START, c = START, d = START; /* none waits for another */      \
            for (ptrdiff_t k = 0; k < n; k++) {                                                \
                y[k] = (T)(a = a OP x[k]);                                                     \
                y[n + k] = (T)(b = b OP x[n + k]);                                             \
                y[2 * n + k] = (T)(c = c OP x[2 * n + k]);                                     \
                y[3 * n + k] = (T)(d = d OP x[3 * n + k]);                                     \
            }                                                                                  \
        }                                                                                      \
        for (; o < outer; o++, x += n * inner, y += n * inner) {                               \
            if (inner == 1) {                                                                  \
                WIDE acc = START;                                                              \
                for (ptrdiff_t k = 0; k < n; k++) y[k] = (T)(acc = acc OP x[k]);               \
                continue;                                                                      \
            }                                                                                  \
            for (ptrdiff_t first = 0; first < width; first += 64) {                            \
                int count = width - first < 64 ? (int)(width - first) : 64;                    \
                WIDE acc[64];                                                                  \
                for (int j = 0; j < count; j++) acc[j] = START;                                \
                for (ptrdiff_t k = 0; k < n; k++) {                                            \
                    const T* row = x + k * inner + first;                                      \
                    T* to = y + k * inner + first;                                             \
                    for (int j = 0; j < count; j++) {                                          \
                        acc[j] = acc[j] OP row[j];                                             \
                        to[j] = (T)acc[j];                                                     \
                    }                                                                          \
                }                                                                              \
            }                                                                                  \
        }                                                                                      \
    }
/* Unsigned: overflow is defined, and wraps around as in PyTorch. */
SCAN(imode_cumsum_f, float, double, 0, +)
SCAN(imode_cumsum_d, double, double, 0, +)
static imode_scan sums_across;
SCAN(sums_across, uint64_t, uint64_t, 0, +)
SCAN(imode_cumprod_f, float, double, 1, *)
SCAN(imode_cumprod_d, double, double, 1, *)
SCAN(imode_cumprod_l, uint64_t, uint64_t, 1, *)

/* Whole numbers are added in any order: along rows, four at a time, of which only the sum before them
   has to be waited for, where vectors hold four. */
typedef uint64_t quad __attribute__((vector_size(32)));
V_CLONES void imode_cumsum_l(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n,
                             ptrdiff_t inner, ptrdiff_t width) {
    const quad none = {0, 0, 0, 0};
    const uint64_t* x = (const uint64_t*)in;
    uint64_t* y = (uint64_t*)out;
    if (inner != 1 || V_LOW) {
        sums_across(in, out, outer, n, inner, width);
        return;
    }
    for (ptrdiff_t o = 0; o < outer; o++, x += n, y += n) {
        quad before = none;
        uint64_t sum;
        ptrdiff_t k = 0;
        for (; k + 4 <= n; k += 4) {
            quad sums;
            memcpy(&sums, x + k, sizeof sums);
            sums += __builtin_shufflevector(sums, none, 4, 0, 1, 2);
            sums += __builtin_shufflevector(sums, none, 4, 5, 0, 1);
            const quad all = __builtin_shufflevector(sums, sums, 3, 3, 3, 3);
            sums += before;
            memcpy(y + k, &sums, sizeof sums);
            before += all;
        }
        for (sum = before[0]; k < n; k++)
            y[k] = sum += x[k];
    }
}

/* ---- running sums of exponentials: log(sum) + top, where the sum is of exp(x - top), and top an
   element so far that no other exceeds by more than MARGIN. The recurrence
   sum * exp(top before - top) + exp(x - top), whose first factor is mostly 1, is left with two
   operations a step: exponentials are computed in blocks before it, logarithms after. ---- */

#define AT_ONCE 256
#define MARGIN 4
#define LOG_SUMS(NAME, T, EXP, LOG)                                                            \
    V_CLONES static void NAME##_lane(const T* x, T* y, ptrdiff_t n) {                          \
        T top = -INFINITY, tops[AT_ONCE], less[AT_ONCE], more[AT_ONCE];                        \
        double sum = 0;                                                                        \
        for (ptrdiff_t first = 0; first < n; first += AT_ONCE, x += AT_ONCE, y += AT_ONCE) {   \
            const int count = n - first < AT_ONCE ? (int)(n - first) : AT_ONCE;                \
            for (int i = 0; i < count; i++) {                                                  \
                less[i] = x[i] > top + MARGIN ? top - x[i] : 0;                                \
                tops[i] = top = x[i] > top + MARGIN ? x[i] : top;                              \
            }                                                                                  \
            for (int i = 0; i < count; i++) {                                                  \
                tops[i] = tops[i] - tops[i] == 0 ? tops[i] : 0;                                \
                more[i] = EXP(x[i] - tops[i]);                                                 \
                less[i] = EXP(less[i]);                                                        \
            }                                                                                  \
            for (int i = 0; i < count; i++) more[i] = (T)(sum = sum * less[i] + more[i]);      \
            V_IVDEP for (int i = 0; i < count; i++) y[i] = LOG(more[i]) + tops[i];             \
        }                                                                                      \
    }                                                                                          \
    V_CLONES static void NAME##_tile(const T* x, T* y, ptrdiff_t n, ptrdiff_t step,            \
                                     int width) {                                              \
        _Alignas(64) T top[64];                                                                \
        _Alignas(64) double sum[64];                                                           \
        for (int j = 0; j < width; j++) top[j] = -INFINITY, sum[j] = 0;                        \
        for (ptrdiff_t k = 0; k < n; k++)                                                      \
            V_IVDEP for (int j = 0; j < width; j++) {                                          \
                const T v = x[k * step + j], less = v > top[j] + MARGIN ? top[j] - v : 0;      \
                top[j] = v > top[j] + MARGIN ? v : top[j];                                     \
                const T shift = top[j] - top[j] == 0 ? top[j] : 0;                             \
                sum[j] = sum[j] * EXP(less) + EXP(v - shift);                                  \
                y[k * step + j] = LOG((T)sum[j]) + shift;                                      \
            }                                                                                  \
    }                                                                                          \
    void NAME(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner,        \
              ptrdiff_t width) {                                                               \
        const T* x = (const T*)in;                                                             \
        T* y = (T*)out;                                                                        \
        for (ptrdiff_t o = 0; o < outer; o++, x += n * inner, y += n * inner)                  \
            if (inner == 1)                                                                    \
                NAME##_lane(x, y, n);                                                          \
            else                                                                               \
                for (ptrdiff_t first = 0; first < width; first += 64)                          \
                    NAME##_tile(x + first, y + first, n, inner,                                \
                                width - first < 64 ? (int)(width - first) : 64);               \
    }
LOG_SUMS(imode_logcumsumexp_f, float, v_expf, v_logf)
LOG_SUMS(imode_logcumsumexp_d, double, v_exp, v_log)

/* ---- the gradient of softmax: y * (g - sum(g * y)); of its logarithm: g - exp(y) * sum(g) ---- */

#define BACKWARD(NAME, T, TERM, VALUE)                                                         \
    V_CLONES static void NAME##_run(const T* g, const T* y, T* out, ptrdiff_t n) {             \
        T acc[WIDTH] = {0}, s = 0;                                                             \
        ptrdiff_t i = 0;                                                                       \
        if (n >= WIDTH) {                                                                      \
            for (; i + WIDTH <= n; i += WIDTH)                                                 \
                for (int j = 0; j < WIDTH; j++) acc[j] += TERM(g[i + j], y[i + j]);            \
            for (int j = 0; j < WIDTH; j++) s += acc[j];                                       \
        }                                                                                      \
        for (; i < n; i++) s += TERM(g[i], y[i]);                                              \
        for (i = 0; i < n; i++) out[i] = VALUE(g[i], y[i], s);                                 \
    }                                                                                          \
    void NAME(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data) {        \
        (void)data;                                                                            \
        for (ptrdiff_t lane = 0; lane < dims[0]; lane++) {                                     \
            const char* g = args[0] + lane * steps[0];                                         \
            const char* y = args[1] + lane * steps[1];                                         \
            char* out = args[2] + lane * steps[2];                                             \
            if (steps[3] == sizeof(T) && steps[4] == sizeof(T) && steps[5] == sizeof(T)) {     \
                NAME##_run((const T*)g, (const T*)y, (T*)out, dims[1]);                        \
                continue;                                                                      \
            }                                                                                  \
            T s = 0;                                                                           \
            for (ptrdiff_t i = 0; i < dims[1]; i++)                                            \
                s += TERM(*(const T*)(g + i * steps[3]), *(const T*)(y + i * steps[4]));       \
            for (ptrdiff_t i = 0; i < dims[1]; i++)                                            \
                *(T*)(out + i * steps[5]) =                                                    \
                    VALUE(*(const T*)(g + i * steps[3]), *(const T*)(y + i * steps[4]), s);    \
        }                                                                                      \
    }
#define PRODUCT(g, y) ((g) * (y))
#define GRAD(g, y) (g)
#define SOFTMAX(g, y, s) ((y) * ((g) - (s)))
#define LOG_SOFTMAX_F(g, y, s) ((g) - v_expf(y) * (s))
#define LOG_SOFTMAX_D(g, y, s) ((g) - v_exp(y) * (s))
BACKWARD(imode_softmax_backward_f, float, PRODUCT, SOFTMAX)
BACKWARD(imode_softmax_backward_d, double, PRODUCT, SOFTMAX)
BACKWARD(imode_log_softmax_backward_f, float, GRAD, LOG_SOFTMAX_F)
BACKWARD(imode_log_softmax_backward_d, double, GRAD, LOG_SOFTMAX_D)
