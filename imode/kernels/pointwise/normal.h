/* The normal distribution's functions: erfcx, the logarithm of its distribution, its quantiles.

   Sources: the form of erfcx is that of M. M. Shepherd and J. G. Laframboise, "Chebyshev
   approximation of (1 + 2x) exp(x^2) erfc x in 0 <= x < inf" (1981), its coefficients were computed
   with 60 digits; quantiles by M. J. Wichura, "Algorithm AS 241" (1988). */
#ifndef IMODE_NORMAL_H
#define IMODE_NORMAL_H

#include "vlog.h"

/* (1 + 2x) erfcx(x) in (x - k) / (x + k); k = 2 in float, 4 in double */
static const float erfcx_f_terms[] = {
    1.27697839f, -9.2763082e-2f, -1.66031096e-1f, 1.6403584e-1f, -5.42119585e-2f,
    -7.9427217e-3f, 8.68915966e-3f, 1.04314458e-3f, -1.39570695e-3f, -1.83654437e-4f,
    1.60803582e-4f};
static const double erfcx_d_terms[] = {
    1.2329951186255525, -1.3962111684056229e-1, 1.5379652102619604e-2, 6.8097054254669088e-2,
    -1.0103906603630055e-1, 9.3732834999094408e-2, -6.6330365812186977e-2, 3.716751552655567e-2,
    -1.6197734059799266e-2, 5.0319700676574889e-3, -7.5777326137309563e-4,
    -1.9925714661091188e-4, 1.5062149001240472e-4, -2.4397746422436416e-5,
    -1.1221287012353485e-5, 5.7066044148957335e-6, 2.9197333779630121e-7, -8.210939042560568e-7,
    7.7469927270179419e-8, 1.0633855618594884e-7, -2.0560649275699202e-8,
    -1.2346866043823529e-8, 3.1695881915648172e-9, 9.3117449782325728e-10,
    -2.6595996902426894e-10};
V_INLINE float high_f(float x) { return v_float(v_bits(x) & 0xFFFFF000u); }
V_INLINE double high_d(double x) { return (double)(float)x; }

#define PICK_f(condition, a, b) ((condition) ? (a) : (b))
#define PICK_d pick

/* erfcx_above: of what is not negative. exp_square: exp(scale * x^2), the square of twice the
   digits: a high part, whose square is exact, and the rest. */
#define NORMAL(S, T, K, MOST, EXP, LOG1P, ABS)                                                     \
    V_INLINE T erfcx_above_##S(T x) {                                                              \
        T y = x > MOST ? MOST : x, q = (y - K) / (y + K);                                          \
        T result = POLY(S, erfcx_##S##_terms, q) / (1 + 2 * y);                                    \
        return PICK_##S(x == INFINITY, 0, result);                                                 \
    }                                                                                              \
    V_INLINE T exp_square_##S(T x, T scale) {                                                      \
        T high = high_##S(x), square = high * high, rest = (x - high) * (x + high);                \
        T result = EXP(scale * square) * EXP(scale * rest);                                        \
        return PICK_##S(ABS(x) > 5 * sizeof(T), EXP(scale * x * x), result);                               \
    }                                                                                              \
    V_INLINE T erfcx_of_##S(T x) {                                                                 \
        T above = erfcx_above_##S(ABS(x));                                                         \
        return PICK_##S(x < 0, 2 * exp_square_##S(x, 1) - above, above);                           \
    }                                                                                              \
    V_INLINE T log_ndtr_of_##S(T x) {                                                              \
        T part = (T)0.5 * erfcx_above_##S(ABS(x) * (T)0.70710678118654752440);                     \
        /* 1, but for the part so small that x * x / 2 is all: the logarithm stays finite */       \
        const T LEAST = 1 - (T)(sizeof(T) == 4 ? 0x1p-24 : 0x1p-53);                               \
        T tail = -part * exp_square_##S(x, (T)-0.5);                                               \
        T result = LOG1P(PICK_##S(x < 0, part - LEAST, tail));                                        \
        return result - PICK_##S(x < 0, (T)0.5 * x * x, 0);                                        \
    }
NORMAL(f, float, 2.0f, 1e30f, v_expf, v_log1pf, fabsf)
NORMAL(d, double, 4.0, 1e300, v_exp, v_log1p, fabs)

/* ---- quantiles ---- */

static const double near_d[] = {
    3.3871328727963666080e0, 1.3314166789178437745e+2, 1.9715909503065514427e+3,
    1.3731693765509461125e+4, 4.5921953931549871457e+4, 6.7265770927008700853e+4,
    3.3430575583588128105e+4, 2.5090809287301226727e+3};
static const double near_over_d[] = {
    1, 4.2313330701600911252e+1, 6.8718700749205790830e+2, 5.3941960214247511077e+3,
    2.1213794301586595867e+4, 3.9307895800092710610e+4, 2.8729085735721942674e+4,
    5.2264952788528545610e+3};
static const double middle_d[] = {
    1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0,
    3.64784832476320460504e0, 1.27045825245236838258e0, 2.41780725177450611770e-1,
    2.27238449892691845833e-2, 7.74545014278341407640e-4};
static const double middle_over_d[] = {
    1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
    1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4,
    1.05075007164441684324e-9};
static const double far_d[] = {
    6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0,
    2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
    2.71155556874348757815e-5, 2.01033439929228813265e-7};
static const double far_over_d[] = {
    1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
    7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7,
    2.04426310338993978564e-15};
static const float near_f[] = {3.3871327179e0f, 5.0434271938e1f, 1.5929113202e2f,
                               5.9109374720e1f};
static const float near_over_f[] = {1, 1.7895169469e1f, 7.8757757664e1f, 6.7187563600e1f};
static const float middle_f[] = {1.4234372777e0f, 2.7568153900e0f, 1.3067284816e0f,
                                 1.7023821103e-1f};
static const float middle_over_f[] = {1, 7.3700164250e-1f, 1.2021132975e-1f, 0};
static const float far_f[] = {6.6579051150e0f, 3.0812263860e0f, 4.2868294337e-1f,
                              1.7337203997e-2f};
static const float far_over_f[] = {1, 2.4197894225e-1f, 1.2258202635e-2f, 0};

/* The normal quantile of p, given q = p - 1/2 and the smaller of p and 1 - p, the tail. */
#define QUANTILE(S, T, LOG, SQRT, COPYSIGN, ABS)                                                   \
    V_INLINE T quantile_##S(T q, T tail) {                                                         \
        int near = ABS(q) <= (T)0.425;                                                             \
        T r = SQRT(-LOG(near ? 1 : tail)), s = (T)0.180625 - q * q;                                \
        int far = r > 5;                                                                           \
        s = near ? s : far ? r - 5 : r - (T)1.6;                                                   \
        T up = 0, down = 0;                                                                        \
        const int degree = sizeof near_##S / sizeof(T) - 1;                                        \
        _Pragma("GCC unroll 8") for (int k = degree; k >= 0; k--) {                                \
            T a = near ? near_##S[k] : far ? far_##S[k] : middle_##S[k];                           \
            T b = near ? near_over_##S[k] : far ? far_over_##S[k] : middle_over_##S[k];            \
            up = up * s + a;                                                                       \
            down = down * s + b;                                                                   \
        }                                                                                          \
        T result = near ? q * (up / down) : COPYSIGN(up / down, q);                                \
        return tail == 0 ? COPYSIGN((T)INFINITY, q) : result;                                      \
    }
QUANTILE(f, float, v_logf, sqrtf, copysignf, fabsf)
QUANTILE(d, double, v_log, sqrt, copysign, fabs)

#define NDTRI(S, T) quantile_##S(x - (T)0.5, x < (T)0.5 ? x : 1 - x)
#define ERFINV(S, T, ABS) quantile_##S(x * (T)0.5, (1 - ABS(x)) * (T)0.5) * (T)0.70710678118654752440
/* ERFINV of what is near 0, as the quantile has it. */
#define ERFINV_NEAR 0.85
#define NEAR_0(S, T)                                                                               \
    V_INLINE T erfinv_near_##S(T x) {                                                              \
        const T q = x * (T)0.5, s = (T)0.180625 - q * q;                                           \
        return q * (POLY(S, near_##S, s) / POLY(S, near_over_##S, s)) * (T)0.70710678118654752440; \
    }
NEAR_0(f, float)
NEAR_0(d, double)

/* With fused multiply-add: (erfinv(x) / x - sqrt(pi) / 2) / w in w - 6, where -w is the logarithm
   of 1 - x^2, for w in [0, 16]. */
static const float erfinv_terms[] = {
    0.233366251f,     -0.00560612883f,  -0.000173452674f, 7.14969574e-05f, -9.55646738e-06f,
    7.23674191e-07f,  -2.23583463e-09f, -8.84936568e-09f, 1.45312118e-09f, -9.55396179e-11f,
    -5.87019365e-12f, 1.61112302e-12f,  -9.29639734e-14f, -2.47979039e-15f, 4.65677221e-16f,
    -1.39213273e-17f};
V_INLINE float erfinv_of_f(float x) {
    const float a = fabsf(x), w = -v_log_split((1.0f - a) * (1.0f + a), 0.0f, 0);
    const float r = (HALVES(f, erfinv_terms, w - 6.0f) * w + 0.886226925f) * x;
    return a < 1 ? r : a == 1 ? copysignf(INFINITY, x) : NAN;
}

#endif
