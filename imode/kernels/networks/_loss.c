/* Squared and other differences, binary cross entropy of probabilities and of logits, and sums of
   losses: loops for the compiler to vectorise. */
#include "loss.h"
#include "vlog.h"

#define LANES 16

/* Logarithms end at -100, as PyTorch's do. */
#define CUT(L) ((L) > -100 ? (L) : -100)

#define LOOPS(T, S, LOG, LOG1P, EXP, FABS)                                                     \
    V_CLONES void imode_squared_##S(const T* x, const T* y, long n, T* out) {                  \
        for (long i = 0; i < n; i++) out[i] = (x[i] - y[i]) * (x[i] - y[i]);                   \
    }                                                                                          \
    V_CLONES void imode_smooth_##S(const T* x, const T* y, long n, T beta, T* out) {           \
        for (long i = 0; i < n; i++) {                                                         \
            const T z = FABS(x[i] - y[i]), square = (T)0.5 * z * z / beta;                     \
            out[i] = z < beta ? square : z - (T)0.5 * beta;                                    \
        }                                                                                      \
    }                                                                                          \
    V_CLONES void imode_huber_##S(const T* x, const T* y, long n, T delta, T* out) {           \
        for (long i = 0; i < n; i++) {                                                         \
            const T z = FABS(x[i] - y[i]), square = (T)0.5 * z * z;                            \
            out[i] = z <= delta ? square : delta * (z - (T)0.5 * delta);                       \
        }                                                                                      \
    }                                                                                          \
    V_CLONES void imode_entropy_##S(const T* x, const T* y, long n, T* out) {                  \
        for (long i = 0; i < n; i++) {                                                         \
            const T other = LOG1P(-x[i]), own = LOG(x[i]);                                     \
            out[i] = (y[i] - 1) * CUT(other) - y[i] * CUT(own);                                \
        }                                                                                      \
    }                                                                                          \
    V_CLONES void imode_logits_##S(const T* x, const T* y, long n, T* out) {                   \
        for (long i = 0; i < n; i++) {                                                         \
            const T low = x[i] < 0 ? x[i] : 0;                                                 \
            out[i] = (1 - y[i]) * x[i] - (low - LOG1P(EXP(-FABS(x[i]))));                      \
        }                                                                                      \
    }                                                                                          \
    V_CLONES double imode_total_##S(const T* x, long n) {                                      \
        double lanes[LANES] = {0}, total = 0;                                                  \
        long i = 0;                                                                            \
        for (; i + LANES <= n; i += LANES)                                                     \
            for (int k = 0; k < LANES; k++) lanes[k] += x[i + k];                              \
        for (int k = 0; k < LANES; k++) total += lanes[k];                                     \
        for (; i < n; i++) total += x[i];                                                      \
        return total;                                                                          \
    }

LOOPS(float, f, v_logf, v_log1pf, v_expf, fabsf)
LOOPS(double, d, v_log, v_log1p, v_exp, fabs)
