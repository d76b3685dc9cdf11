/* Inner loops of operators along one dimension that NumPy lacks or does slowly. */
#include "along.h"

#include <math.h>
#include <stdint.h>

#include "vmath.h"

#define WIDTH 32 /* independent partial sums, which vectorise without reordering additions */

/* ---- running sums and products, for float32 in double, as in PyTorch ---- */

#define SCAN(NAME, T, WIDE, START, OP)                                                         \
    V_CLONES void NAME(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n,                \
                       ptrdiff_t inner, ptrdiff_t width) {                                     \
        const T* x = (const T*)in;                                                             \
        T* y = (T*)out;                                                                        \
        for (ptrdiff_t o = 0; o < outer; o++, x += n * inner, y += n * inner) {                \
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
SCAN(imode_cumsum_l, uint64_t, uint64_t, 0, +)
SCAN(imode_cumprod_f, float, double, 1, *)
SCAN(imode_cumprod_d, double, double, 1, *)
SCAN(imode_cumprod_l, uint64_t, uint64_t, 1, *)

/* ---- softmax of columns: TILE of them side by side; the sums in blocks of BLOCK rows ----
   Exponentials are computed twice, not stored: the row stored and the next row loaded would often
   be 4 KiB apart, which a processor mistakes for the same address, and waits. */


#define TILE 64
#define BLOCK 64
#define COLUMNS(NAME, T, EXP, LOG, IS_LOG)                                                     \
    V_CLONES static void NAME##_tile(const T* x, T* y, ptrdiff_t n, ptrdiff_t step,            \
                                     int width) {                                              \
        T top[TILE], sum[TILE], part[TILE];                                                    \
        for (int j = 0; j < width; j++) {                                                      \
            top[j] = x[j];                                                                     \
            sum[j] = 0;                                                                        \
        }                                                                                      \
        for (ptrdiff_t k = 1; k < n; k++)                                                      \
            for (int j = 0; j < width; j++)                                                    \
                top[j] = x[k * step + j] > top[j] ? x[k * step + j] : top[j];                  \
        for (ptrdiff_t first = 0; first < n; first += BLOCK) {                                 \
            ptrdiff_t end = n - first < BLOCK ? n : first + BLOCK;                             \
            for (int j = 0; j < width; j++) part[j] = 0;                                       \
            for (ptrdiff_t k = first; k < end; k++) {                                          \
                const T* row = x + k * step;                                                   \
                for (int j = 0; j < width; j++) part[j] += EXP(row[j] - top[j]);               \
            }                                                                                  \
            for (int j = 0; j < width; j++) sum[j] += part[j];                                 \
        }                                                                                      \
        for (int j = 0; j < width; j++) sum[j] = IS_LOG ? LOG(sum[j]) : 1 / sum[j];            \
        for (ptrdiff_t k = 0; k < n; k++) {                                                    \
            const T* row = x + k * step;                                                       \
            T* to = y + k * step;                                                              \
            V_IVDEP for (int j = 0; j < width; j++)                                            \
                to[j] = IS_LOG ? row[j] - top[j] - sum[j] : EXP(row[j] - top[j]) * sum[j];     \
        }                                                                                      \
    }                                                                                          \
    void NAME(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner,        \
              ptrdiff_t width) {                                                               \
        const T* x = (const T*)in;                                                             \
        T* y = (T*)out;                                                                        \
        for (ptrdiff_t o = 0; o < outer; o++, x += n * inner, y += n * inner)                  \
            for (ptrdiff_t first = 0; first < width; first += TILE)                            \
                NAME##_tile(x + first, y + first, n, inner,                                    \
                            width - first < TILE ? (int)(width - first) : TILE);               \
    }
COLUMNS(imode_softmax_f, float, v_expf, logf, 0)
COLUMNS(imode_softmax_d, double, v_exp, log, 0)
COLUMNS(imode_log_softmax_f, float, v_expf, logf, 1)
COLUMNS(imode_log_softmax_d, double, v_exp, log, 1)

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
