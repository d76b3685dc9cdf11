/* Squared and other differences, binary cross entropy of probabilities and of logits, and sums of
   losses: loops for the compiler to vectorise. */
#include "loss.h"
#include "vlog.h"
#include "wide.h"

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

#ifdef V_NARROW_INLINE
#define ROUNDED(x) _mm256_cvtph_ps(_mm256_cvtps_ph(x, 0))

__attribute__((target("avx2,f16c"))) static void smooth_eights(
    const uint16_t* x, const uint16_t* y, long n, float beta, float less, uint16_t* out) {
    const __m256 sign = _mm256_set1_ps(-0.0f), limit = _mm256_set1_ps(beta);
    const unsigned said = _mm_getcsr();
    for (long i = 0; i + 8 <= n; i += 8) {
        const __m256 apart = _mm256_sub_ps(widened(x + i, 0), widened(y + i, 0));
        const __m256 z = ROUNDED(_mm256_andnot_ps(sign, apart));
        const __m256 half = ROUNDED(z * 0.5f), square = ROUNDED(half * z);
        const __m256 far = z - less, small = _mm256_cmp_ps(z, limit, _CMP_LT_OQ);
        const __m256 found = _mm256_blendv_ps(far, square / limit, small);
        _mm_storeu_si128((__m128i*)(out + i), _mm256_cvtps_ph(found, 0));
    }
    _mm_setcsr(said);
}

__attribute__((target("avx2,f16c"))) static void squared_eights(
    const uint16_t* x, const uint16_t* y, long n, uint16_t* out) {
    const unsigned said = _mm_getcsr();
    for (long i = 0; i + 8 <= n; i += 8) {
        const __m256 z = ROUNDED(_mm256_sub_ps(widened(x + i, 0), widened(y + i, 0)));
        _mm_storeu_si128((__m128i*)(out + i), _mm256_cvtps_ph(z * z, 0));
    }
    _mm_setcsr(said);
}
#define HAS_EIGHTS (V_HAS_F16C && V_HAS_AVX2)
#else
#define smooth_eights(x, y, n, beta, less, out)
#define squared_eights(x, y, n, out)
#define HAS_EIGHTS 0
#endif

static void round_all(float* x, uint16_t* room, long n) {
    to_half((char*)room, x, 2, n);
    from_half(x, (const char*)room, 2, n);
}

void imode_squared_e(const uint16_t* x, const uint16_t* y, long n, uint16_t* out) {
    const long done = HAS_EIGHTS ? n - n % 8 : 0;
    float z[IMODE_LOSSES], other[IMODE_LOSSES];
    if (done) squared_eights(x, y, done, out);
    x += done, y += done, out += done, n -= done;
    from_half(z, (const char*)x, 2, n);
    from_half(other, (const char*)y, 2, n);
    for (long i = 0; i < n; i++) z[i] -= other[i];
    round_all(z, out, n);
    for (long i = 0; i < n; i++) z[i] *= z[i];
    to_half((char*)out, z, 2, n);
}

void imode_smooth_e(const uint16_t* x, const uint16_t* y, long n, float beta, float less,
                    uint16_t* out) {
    const long done = HAS_EIGHTS ? n - n % 8 : 0;
    float z[IMODE_LOSSES], square[IMODE_LOSSES];
    if (done) smooth_eights(x, y, done, beta, less, out);
    x += done, y += done, out += done, n -= done;
    from_half(z, (const char*)x, 2, n);
    from_half(square, (const char*)y, 2, n);
    for (long i = 0; i < n; i++) z[i] = fabsf(z[i] - square[i]);
    round_all(z, out, n);
    for (long i = 0; i < n; i++) square[i] = 0.5f * z[i];
    round_all(square, out, n);
    for (long i = 0; i < n; i++) square[i] *= z[i];
    round_all(square, out, n);
    for (long i = 0; i < n; i++) square[i] = z[i] < beta ? square[i] / beta : z[i] - less;
    to_half((char*)out, square, 2, n);
}
