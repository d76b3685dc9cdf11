/* Trigonometric and hyperbolic functions, their inverses, powers, logarithms and erfc of float, as
   in vmath.h: no branches, below 2.5 ulp. The polynomials were fitted to the least relative
   error. */
#ifndef IMODE_ELEMENTARY_H
#define IMODE_ELEMENTARY_H

#include "normal.h"

#define HALF_PI_HI 1.57079637f
#define HALF_PI_LO -4.37113883e-8f /* the rest: subtracted first from what HALF_PI_HI minus is */

/* ---- trigonometry ---- */

/* x less whole quarters of a turn, in two parts, as long as float counts the quarters; `shifted`
   ends in their bits. With a fused multiply-add the first difference is exact. */
#define SIN_LIMIT 1e5f
#define TAN_LIMIT 1e6f
V_INLINE float quarter_rest(float x, float *shifted, float *less) {
    *shifted = fmaf(x, 0.636619772f, V_ROUND);
    const float q = *shifted - V_ROUND, whole = fmaf(-q, HALF_PI_HI, x), second = q * HALF_PI_LO;
    const float third = fmaf(q, -1.71512450e-15f, fmaf(q, HALF_PI_LO, -second)), r = whole - second;
    *less = ((whole - r) - second) - third;
    return r;
}

/* The tangent is t + more; its reciprocal is corrected by what it leaves of 1. */
static const float tan_terms[] = {0.333333671f,   0.133320764f,     0.0541257784f, 0.020946499f,
                                  0.0116933053f, -0.00098026148f, 0.00489502866f};
V_INLINE float tan_near(float x) {
    float shifted, less, r = quarter_rest(x, &shifted, &less);
    const float z = r * r, c = (r * POLY(f, tan_terms, z) + 1.6f * less) * z + less;
    const float t = r + c, more = (r - t) + c, over = -1.0f / t;
    const float turned = over * fmaf(over, more, fmaf(over, t, 1.0f)) + over;
    const float result = v_bits(shifted) & 1 ? turned : t;
    return x == 0 ? x : result; /* keeps -0 */
}

/* The sine of r less `behind` and the quarters before, with the sign turned by `sign`; `along` is
   -r * behind. */
static const float sin_terms[] = {-1.66666654e-1f, 8.33216087e-3f, -1.95152959e-4f};
static const float cos_terms[] = {4.16666456e-2f, -1.38873162e-3f, 2.44331571e-5f};
V_INLINE float quarter_sine(float r, float behind, float along, uint32_t quarter, uint32_t sign) {
    const float z = r * r;
    const float s = (r * z * POLY(f, sin_terms, z) - behind) + r;
    const float c = 1.0f - (0.5f * z - (z * z * POLY(f, cos_terms, z) - along));
    return v_float(v_bits(quarter & 1 ? c : s) ^ (quarter & 2) << 30 ^ sign);
}
V_INLINE float sin_turned(float x, uint32_t more, uint32_t sign) {
    float shifted, less, r = quarter_rest(fabsf(x), &shifted, &less);
    return quarter_sine(r, -less, r * less, v_bits(shifted) + more, sign);
}
V_INLINE float sin_near(float x) { return sin_turned(x, 0, v_bits(x) & 0x80000000u); }
V_INLINE float cos_near(float x) { return sin_turned(x, 1, 0); }

/* The same in double; polynomials and parts as in fdlibm: the first three parts of half of pi have
   33 bits, so that their products are exact up to the limit, fused or not. Below 0.9 ulp. */
#define SIN_LIMIT_D 1e6
static const double sin_d_terms[] = {
    -1.66666666666666324348e-1, 8.33333333332248946124e-3,  -1.98412698298579493134e-4,
    2.75573137070700676789e-6,  -2.50507602534068634195e-8, 1.58969099521155010221e-10};
static const double cos_d_terms[] = {
    4.16666666666666019037e-2,  -1.38888888888741095749e-3, 2.48015872894767294178e-5,
    -2.75573143513906633035e-7, 2.08757232129817482790e-9,  -1.13596475577881948265e-11};
V_INLINE double quarter_rest_d(double x, double *shifted, double *less) {
    *shifted = x * 0.63661977236758134308 + V_ROUND_D;
    const double q = *shifted - V_ROUND_D, second = q * 6.07710050630396597660e-11;
    const double third = q * 2.02226624871116645580e-21, whole = x - q * 1.57079632673412561417;
    const double left = whole - second, r = left - third, lost = (whole - left) - second;
    *less = (lost + ((left - r) - third)) - q * 8.47842766036889956997e-32;
    return r;
}
V_INLINE double sine_d(double r, double less) {
    const double z = r * r;
    return (z * (r * POLY(d, sin_d_terms, z) - 0.5 * less) + less) + r;
}
V_INLINE double cosine_d(double r, double less) {
    const double z = r * r, half = 0.5 * z, near_1 = 1.0 - half;
    const double rest = z * z * POLY(d, cos_d_terms, z) - r * less;
    return near_1 + (((1.0 - near_1) - half) + rest);
}
/* The sine s or the cosine c, by the quarter. */
V_INLINE double turned_d(double s, double c, uint64_t quarter, uint64_t sign) {
    const uint64_t odd = -(quarter & 1);
    return v_double(((v_bits_d(c) & odd) | (v_bits_d(s) & ~odd)) ^ (quarter & 2) << 62 ^ sign);
}
#define SIGN_D(x) (v_bits_d(x) & ~(~0ull >> 1))
V_INLINE double sin_turned_d(double x, uint64_t more, uint64_t sign) {
    double shifted, less, r = quarter_rest_d(fabs(x), &shifted, &less);
    return turned_d(sine_d(r, less), cosine_d(r, less), v_bits_d(shifted) + more, sign);
}
V_INLINE double sin_near_d(double x) { return sin_turned_d(x, 0, SIGN_D(x)); }
V_INLINE double cos_near_d(double x) { return sin_turned_d(x, 1, 0); }

/* atan(t) for t in [0, 1] */
V_INLINE float atan_below(float t) {
    const float z = t * t;
    float r = -1.7437229e-3f;
    r = r * z + 1.0680852e-2f;
    r = r * z - 3.0717833e-2f;
    r = r * z + 5.7463976e-2f;
    r = r * z - 8.3720953e-2f;
    r = r * z + 1.0940213e-1f;
    r = r * z - 1.4261577e-1f;
    r = r * z + 1.9998231e-1f;
    r = r * z - 3.3333282e-1f;
    return (r * z) * t + t;
}
V_INLINE float atan_of_f(float x) {
    const float a = fabsf(x);
    const int above = a > 1.0f;
    const float r = atan_below((above ? 1.0f : a) / (above ? a : 1.0f));
    return copysignf(above ? HALF_PI_HI - (r - HALF_PI_LO) : r, x);
}
/* The angle below 45 degrees; then the octant. */
V_INLINE float atan2_of_f(float y, float x) {
    const float up = fabsf(y), along = fabsf(x);
    const float low = up < along ? up : along, high = up < along ? along : up;
    float t = low / high;
    t = high == 0 ? 0 : t;
    t = low == INFINITY ? 1 : t;
    float r = atan_below(t);
    r = up > along ? HALF_PI_HI - r + HALF_PI_LO : r;
    r = v_bits(x) >> 31 ? 2 * HALF_PI_HI - r + 2 * HALF_PI_LO : r;
    return copysignf(x != x || y != y ? x + y : r, y);
}

/* (atan(t) / t - 1) / t^2 in t^2, for t in [0, 1] */
static const double atan_terms[] = {
    -0.3333333333333307,    0.1999999999995147,    -0.14285714282575665,   0.11111111007041134,
    -0.09090907003236601,   0.07692279841967431,   -0.06666404078181432,   0.058805279311847224,
    -0.05253519050149127,   0.04722323844619395,   -0.04219183090168355,   0.0366419928617888,
    -0.029903985338659917,  0.02198500600690397,   -0.01390070136924527,   0.007196601740922783,
    -0.0028849685544594457, 0.0008313393527883665, -0.00015216462270524906,
    1.3225448915220177e-05};
#define HALF_PI_D 1.57079632679489661923
#define HALF_PI_LESS 6.12323399573676588614e-17 /* what that lacks */
/* A whole number of right angles, plus or minus the angle whose tangent is t; what their sum loses
   is added to the small rest. Below 1.5 ulp, half of it the quotient's. */
V_INLINE double atan2_of_d(double y, double x) {
    const double up = fabs(y), along = fabs(x);
    const double low = up < along ? up : along, high = up < along ? along : up;
    double t = low / high;
    t = high == 0 ? 0 : t;
    t = low == INFINITY ? 1 : t;
    const double z = t * t, rest = POLY(d, atan_terms, z) * z * t;
    const uint64_t left = -(v_bits_d(x) >> 63), steep = -(uint64_t)(up > along);
    const uint64_t turned = (left ^ steep) << 63;
    const double turns = pick(up > along, 1, v_double(v_bits_d(2) & left)); /* quarters */
    const double from = turns * HALF_PI_D, by = v_double(v_bits_d(t) ^ turned), sum = from + by;
    const double lost = (from - sum) + by + turns * HALF_PI_LESS;
    const double r = (v_double(v_bits_d(rest) ^ turned) + lost) + sum;
    return copysign(pick((x != x) | (y != y), x + y, r), y);
}

/* asin(s) - s: for |x| up to 1/2 s is |x|; above it is sqrt((1 - |x|) / 2), the sine of half of the
   arc cosine. */
static const float asin_terms[] = {1.66667521e-1f, 7.49531016e-2f, 4.54690233e-2f, 2.41854675e-2f,
                                   4.21570949e-2f};
V_INLINE float asin_less_s(float a, float *s) {
    const float z = a > 0.5f ? (1.0f - a) * 0.5f : a * a;
    *s = a > 0.5f ? sqrtf(z) : a;
    return *s * z * POLY(f, asin_terms, z);
}
V_INLINE float asin_of_f(float x) {
    float a = fabsf(x), s, r = asin_less_s(a, &s);
    const float above = (HALF_PI_HI - 2.0f * s) - (2.0f * r - HALF_PI_LO);
    return copysignf(a > 0.5f ? above : r + s, x);
}
V_INLINE float acos_of_f(float x) {
    float a = fabsf(x), s, r = asin_less_s(a, &s);
    r = r + s;
    const float far = x > 0 ? 2.0f * r : 2.0f * HALF_PI_HI - (2.0f * r - 2.0f * HALF_PI_LO);
    return a > 0.5f ? far : HALF_PI_HI - (copysignf(r, x) - HALF_PI_LO);
}

/* ---- hyperbolic functions ---- */

/* half: exp(|x|) / 2 */
static const float sinh_terms[] = {1.66667163e-1f, 8.33027437e-3f, 2.03728327e-4f};
V_INLINE float sinh_of_f(float x) {
    const float a = fabsf(x), z = x * x, half = v_exp_shifted(a, 0.0f, -1);
    const float large = copysignf(half - 0.25f / half, x);
    return a > 1.0f ? large : x * z * POLY(f, sinh_terms, z) + x;
}
V_INLINE float cosh_of_f(float x) {
    const float half = v_exp_shifted(fabsf(x), 0.0f, -1);
    return half + 0.25f / half;
}

/* Above HUGE_F a square may overflow, and x is all that counts. */
#define HUGE_F 1e9f
#define LN2_F 0.693147182f
static const float asinh_terms[] = {-1.66666433e-1f, 7.49864355e-2f, -4.4383578e-2f,
                                    2.81649567e-2f, -1.32310325e-2f};
V_INLINE float asinh_of_f(float x) {
    const float a = fabsf(x), z = x * x;
    const float u = a > HUGE_F ? a : a + z / (1.0f + sqrtf(z + 1.0f));
    const float large = v_log1pf(u) + (a > HUGE_F ? LN2_F : 0.0f);
    return copysignf(a > 0.5f ? large : a * z * POLY(f, asinh_terms, z) + a, x);
}
/* (acosh(1 + t) / sqrt(2t) - 1) / t */
static const float acosh_terms[] = {-8.33332166e-2f, 1.87466145e-2f, -5.5479994e-3f,
                                    1.76046148e-3f, -4.1360976e-4f};
V_INLINE float acosh_of_f(float x) {
    const float t = x - 1.0f, u = x > HUGE_F ? x : t + sqrtf(t * (t + 2.0f));
    const float r = v_log1pf(u) + (x > HUGE_F ? LN2_F : 0.0f), w = sqrtf(t + t);
    const float near = w * t * POLY(f, acosh_terms, t) + w;
    return x < 1.0f ? NAN : x < 1.5f ? near : r;
}
static const float atanh_terms[] = {3.33333015e-1f, 2.000245e-1f, 1.42238632e-1f,
                                    1.18156746e-1f, 5.16320765e-2f, 1.76339507e-1f};
V_INLINE float atanh_of_f(float x) {
    const float a = fabsf(x), z = x * x;
    const float large = 0.5f * v_log1pf((a + a) / (1.0f - a));
    return a > 0.5f ? copysignf(large, x) : x * z * POLY(f, atanh_terms, z) + x;
}

/* ---- powers and logarithms of 2 and 10, erfc ---- */

/* (2^r - 1) / r */
static const float exp2_terms[] = {6.93147182e-1f, 2.40226552e-1f, 5.5503577e-2f,
                                   9.6175652e-3f, 1.33918086e-3f, 1.55932168e-4f};
V_INLINE float exp2_of_f(float x) {
    x = x > 130.0f ? 130.0f : x;
    x = x < -152.0f ? -152.0f : x;
    const float shifted = x + V_ROUND, r = x - (shifted - V_ROUND);
    const int32_t k = (int32_t)(v_bits(shifted) - v_bits(V_ROUND));
    return v_scaled(POLY(f, exp2_terms, r) * r + 1.0f, k);
}

/* x^y = 2^(y log2(x)) in double: below 0.54 ulp. x is not negative; `all`: it may also be 0,
   subnormal, infinite or NaN, and y may be no number, too. The mantissa is 1 + f, between the roots
   of 1/2 and 2; its logarithm is a function of s = f / (2 + f). */
static const double log2_d_terms[] = {2.88539008179008, 0.9617966733499708, 0.5770835832788399,
                                      0.41167282654648973, 0.34072801236222766};
V_INLINE double exponent_of(float x, double y, int all) {
    const int small = all & (x < 1.17549435e-38f);
    const uint32_t bits = v_bits(small ? x * 8388608.0f : x);
    const int32_t exponent = (int32_t)(bits - 0x3F3504F3u) >> 23; /* the root of 1/2 */
    const double f = (double)(v_float(bits - ((uint32_t)exponent << 23)) - 1.0f);
    const double s = f / (2.0 + f);
    float e = (float)exponent;
    if (all) {
        e = small ? e - 23.0f : e;
        e = x <= 3.40282347e38f ? e : x;
        e = x == 0 ? -INFINITY : e;
    }
    const double log2 = (double)e + s * HALVES(d, log2_d_terms, s * s);
    return all && (log2 == 0) | (y == 0) ? 0 : y * log2; /* whatever the other one is */
}
static const double two_d_terms[] = {
    1.0000000005538028,   0.6931472057384902,    0.2402264689202162,  0.05550328774733698,
    0.009618488851102138, 0.0013399931948617262, 1.53458347826973e-4};
V_INLINE float two_to_d(double w) {
    w = w > 160.0 ? 160.0 : w;
    w = w < -160.0 ? -160.0 : w;
    const double shifted = w + V_ROUND_D, r = w - (shifted - V_ROUND_D);
    return (float)v_double(v_bits_d(HALVES(d, two_d_terms, r)) + (v_bits_d(shifted) << 52));
}

/* e * OF_2 + log(1 + f) * OF_E: the products of e and of f's first 12 bits are exact, and what is
   lost in their sum is added to the rest, which is small. So logarithms of powers of the base are
   whole numbers. */
#define LOG_TO_BASE(NAME, OF_2, OF_2_LESS, OF_E, OF_E_LESS)                                        \
    V_INLINE float NAME##_of_parts(float e, float f, float tail) {                                 \
        const float high = high_f(f), of_e = e * OF_2, of_f = high * OF_E, sum = of_e + of_f;      \
        const float lost = of_f - (sum - of_e), low = f * f * tail + (f - high);                   \
        return (low * (OF_E + OF_E_LESS) + (high * OF_E_LESS + (e * OF_2_LESS + lost))) + sum;     \
    }                                                                                              \
    V_INLINE float NAME##_split(float x, int subnormals) {                                         \
        float e, f = v_mantissa(x, subnormals, &e);                                                \
        return NAME##_of_parts(e, f, v_log_tail(f) * f - 0.5f);                                    \
    }
LOG_TO_BASE(log2, 1.0f, 0.0f, 1.44287109375f, -1.7605285393e-4f)
LOG_TO_BASE(log10, 3.0102920532e-1f, 7.9034151668e-7f, 4.3432617188e-1f, -3.1689971365e-5f)

/* The same to base 10 in double. */
V_INLINE double log10_split_d(double f, double e) {
    const double half = 0.5 * f * f, high = v_double(v_bits_d(f - half) & 0xFFFFFFFF00000000u);
    const double low = ((f - high) - half) + v_log_rest(f, half);
    const double of_e = e * 3.01029995663611771306e-1, of_f = high * 4.34294481878168880939e-1;
    const double sum = of_e + of_f, lost = of_f - (sum - of_e);
    const double rest = e * 3.69423907715893078616e-13 + (low + high) * 2.50829467116452752298e-11;
    return sum + (rest + (low * 4.34294481878168880939e-1 + lost));
}
V_INLINE double log10_of_d(double x) {
    double e, f = v_mantissa_small_d(x, &e);
    return v_log_ends_d(x, log10_split_d(f, e));
}
V_INLINE double log10_near_d(double x) {
    double e, f = v_mantissa_d(x, &e);
    return log10_split_d(f, e);
}

/* erfc(r + d) = erfc(r) - s (d - r d^2 + ...), s the slope at r, for r in steps of 1 / 128; below
   1.7 ulp. The numbers are 2^30 times as large, since results may be subnormal. Those for r are
   computed once: threads that come at the same time all write the same. */
#define ERFC_MOST 10.1f /* above, the result is 0 or 2 */
#define ERFC_ROUND 98304.0f /* 1.5 * 2^23 / 128 */
#define ERFC_POINTS 2048 /* more than there are, so that the bits of a NaN find one, too */
typedef struct {
    float value, slope;
} erfc_point;
static erfc_point erfc_points[ERFC_POINTS];
static __attribute__((noinline)) void erfc_prepare(void) {
    static int done;
    if (__atomic_load_n(&done, __ATOMIC_ACQUIRE))
        return;
    for (int k = 0; k <= (int)(ERFC_MOST * 128); k++) {
        const double r = k / 128.0;
        erfc_points[k].value = (float)(erfc(r) * 0x1p30);
        erfc_points[k].slope = (float)(exp(-r * r) * 0x1p30 * 1.12837916709551257390);
    }
    __atomic_store_n(&done, 1, __ATOMIC_RELEASE);
}
V_INLINE float erfc_size(float x) { return fabsf(x) > ERFC_MOST ? ERFC_MOST : fabsf(x); }
V_INLINE uint32_t erfc_index(float x) {
    return v_bits(erfc_size(x) + ERFC_ROUND) & (ERFC_POINTS - 1);
}
V_INLINE float erfc_beside(float x, erfc_point at) {
    const float y = erfc_size(x), d = y - ((y + ERFC_ROUND) - ERFC_ROUND);
    const float u = (y - d) * d, third = 0.333333333f;
    const float less = u * (1.0f - u * (2 * third - u * third)) + d * d * (third - 0.5f * u);
    const float tail = (at.value - at.slope * d * (1.0f - less)) * 0x1p-30f;
    return x < 0 ? 2.0f - tail : tail;
}

#endif
