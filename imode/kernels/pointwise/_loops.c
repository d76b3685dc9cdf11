/* The elementwise functions, as tables of loops for NumPy; see elementwise.h. */

/* Complex products by the textbook formula, without special care for NaN and infinities. */
#if defined(__clang__)
#pragma STDC CX_LIMITED_RANGE ON
#elif defined(__GNUC__)
#pragma GCC optimize("cx-fortran-rules")
#endif

#include "elementwise.h"
#include "elementary.h"
#include "elementary_low.h"
#include "operations.h"
#include "roots.h"
#include "whole_numbers.h"

#include <complex.h>
#include <float.h>

/* exponentials and the like */
MAP1(exp_anywhere, float, float, v_expf(x))
QUICK1(exp_near, v_expf_near(x))
V_CLONES BLOCKS(exp_f, ABOVE(EXP_NEAR, x), exp_near, exp_anywhere)
MAP1(exp_anywhere_d, double, double, v_exp(x))
QUICK1_D(exp_near_d, v_exp_near(x))
V_CLONES BLOCKS_D(exp_high_d, ABOVE_D(EXP_NEAR_D, x), exp_near_d, exp_anywhere_d)
static void exp_d(char *const *p, npy_intp n) { (V_LOW ? exp_anywhere_d : exp_high_d)(p, n); }
FLOAT_TABLE(1, exp)
FLOATS(1, expm1, v_expm1f(x), v_expm1(x))
MAP1(log_anywhere, float, float, v_logf(x))
QUICK1(log_near, v_logf_near(x))
V_CLONES BLOCKS(log_f, LOG_FAR(x), log_near, log_anywhere)
#define LOG_BY_LEVEL_D(NAME, VALUE, NEAR)                                                          \
    MAP1(NAME##_anywhere_d, double, double, VALUE)                                                 \
    QUICK1_D(NAME##_quick_d, NEAR)                                                                 \
    V_CLONES BLOCKS_D(NAME##_high_d, LOG_FAR_D(x), NAME##_quick_d, NAME##_anywhere_d)              \
    LOG_LOW_D(NAME)                                                                                \
    BY_LEVEL_D(NAME)                                                                               \
    FLOAT_TABLE(1, NAME)
LOG_BY_LEVEL_D(log, v_log(x), v_log_near(x))
#define LOG_BY_LEVEL(NAME)                                                                         \
    MAP1(NAME##_anywhere, float, float, v_log_ends(x, NAME##_split(x, 1)))                         \
    QUICK1(NAME##_near, NAME##_split(x, 0))                                                        \
    V_CLONES BLOCKS(NAME##_high, LOG_FAR(x), NAME##_near, NAME##_anywhere)                         \
    LOG_LOW(NAME)                                                                                  \
    BY_LEVEL(NAME)
LOG_BY_LEVEL(log2)
DOUBLES(1, log2, v_log2(x))
LOG_BY_LEVEL(log10)
/* whole for powers of ten, which libmvec's need not be */
LOG_BY_LEVEL_D(log10, log10_of_d(x), log10_near_d(x))
FLOATS(1, exp2, exp2_of_f(x), v_exp2(x))
FLOATS(1, log1p, v_log1pf(x), v_log1p(x))
QUICK1(tanh_quick, v_tanhf(x))
V_CLONES IN_BLOCKS(tanh_f, tanh_quick)
V_INLINE double tanh_of_d(double x) { /* 1 from 20 on; an error of a large e hardly counts */
    const double size = fabs(x), e = v_expm1(2 * pick(size > 20, 20, size));
    return copysign(e / (e + 2), x);
}
DOUBLES(1, tanh, tanh_of_d(x))
MAP1(erf_high, float, float, v_erff(x))
static void erf_low(char *const *p, npy_intp n) {
    for (npy_intp i = 0; i < n; i += BLOCK)
        erf_stages((const float *)p[0] + i, (float *)p[1] + i, n - i < BLOCK ? n - i : BLOCK);
}
BY_LEVEL(erf)
DOUBLES(1, erf, v_erf(x))
FLOATS(1, sigmoid, v_sigmoidf(x), 1.0 / (1.0 + v_exp(-x)))
/* float16 is rounded after each step here, as in PyTorch */
#define AS_HALF(x) v_as_half(x)
MAP1(logit_e, float, float, v_logf(AS_HALF(x / AS_HALF(1.0f - x))))
MAP1(logit_anywhere, float, float, v_logf(x / (1.0f - x)))
V_INLINE void logit_near(const float *a, float *out, npy_intp n) {
    _Alignas(64) float odds[BLOCK];
    for (npy_intp i = 0; i < n; i++)
        odds[i] = a[i] / (1.0f - a[i]);
    log_near(odds, out, n);
}
/* from the least normal number to what is below 1 */
V_CLONES BLOCKS(logit_f, (x - 0x800000u) | (0x3F7FFFFFu - x), logit_near, logit_anywhere)
MAP1(logit_d, double, double, v_log(x / (1.0 - x)))
/* grad, self, eps; the slope is 0 outside of [eps, 1 - eps]. A negative eps stands for None: then
   the slope is NaN outside of [0, 1], and infinite at 0 and 1. The absolute value is for -0. */
#define LOGIT_SLOPE(NAME, T, ROUND, ABS)                                                           \
    V_INLINE T NAME##_of(T x, T y, T z) {                                                          \
        T slope = x / ABS(ROUND(y * ROUND(1 - y))), low = z < 0 ? 0 : z;                           \
        T high = z < 0 ? 1 : ROUND(1 - z), outside = z < 0 ? (T)NAN : 0;                           \
        return ((y < low) | (y > high)) ? outside : slope;                                         \
    }                                                                                              \
    MAP3(NAME, T, T, NAME##_of(x, y, z))
#define AS_IS(x) (x)
LOGIT_SLOPE(logit_backward_e, float, AS_HALF, fabsf)
LOGIT_SLOPE(logit_backward_f, float, AS_IS, fabsf)
LOGIT_SLOPE(logit_backward_d, double, AS_IS, fabs)
#define STEPWISE(NIN, NAME)                                                                        \
    static loop_info NAME##_info[] = {INFO(NIN, NAME##_e, float, float),                           \
                                      INFO(NIN, NAME##_f, float, float),                           \
                                      INFO(NIN, NAME##_d, double, double)};                        \
    static imode_loop NAME##_loops[] = {run_half, run_same, run_same};                             \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[1], &NAME##_info[2]};              \
    static const char NAME##_types[] = {TYPES_##NIN(NPY_HALF, NPY_HALF),                           \
                                        TYPES_##NIN(NPY_FLOAT, NPY_FLOAT),                         \
                                        TYPES_##NIN(NPY_DOUBLE, NPY_DOUBLE)};
STEPWISE(1, logit)
ROOT_MAP(sqrt, f, float, sqrtf(x))
ROOT_MAP(sqrt, d, double, sqrt(x))
FLOAT_TABLE(1, sqrt)
/* float16: elements beyond the last two full vectors of PyTorch's are rounded after each step, the
   others once. */
#define WHOLE(n) ((n) - (n) % 32)
V_CLONES static void rsqrt_e(char *const *p, npy_intp n) {
    const float *x = (const float *)p[0];
    float *out = (float *)p[1];
    for (npy_intp i = 0; i < WHOLE(n); i++)
        out[i] = 1.0f / sqrtf(x[i]);
    for (npy_intp i = WHOLE(n); i < n; i++)
        out[i] = 1.0f / AS_HALF(sqrtf(x[i]));
}
ROOT_MAP(rsqrt, f, float, 1.0f / sqrtf(x))
ROOT_MAP(rsqrt, d, double, 1.0 / sqrt(x))
STEPWISE(1, rsqrt)
static int rsqrt_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                        int brain) {
    const intptr_t whole = brain ? n : WHOLE(n);
    char *rest[2] = {args[0], args[1]};
    npy_intp left = n;
    if (over_root_narrow(args, whole, steps, halves, brain)) {
        rest[0] += whole * steps[0], rest[1] += whole * steps[1];
        left = n - whole;
    } else if (brain || halves != 3)
        return 0;
    if (left)
        run_half(rest, &left, steps, &rsqrt_info[0]);
    return 1;
}
STEPWISE(3, logit_backward)
/* grad, self; PyTorch saves exp(-|x|), for float16 in float16 */
#define SIGMOID_AWAY(NAME, T, ROUND, EXP, ABS)                                                     \
    V_INLINE T NAME##_of(T x, T y) {                                                               \
        T power = ROUND(EXP(-ABS(y))), part = power / (1 + power);                                 \
        return (y < 0 ? 1 - part : part) * x;                                                      \
    }                                                                                              \
    MAP2(NAME, T, T, NAME##_of(x, y))
SIGMOID_AWAY(log_sigmoid_backward_e, float, AS_HALF, v_expf, fabsf)
SIGMOID_AWAY(log_sigmoid_backward_f, float, AS_IS, v_expf, fabsf)
SIGMOID_AWAY(log_sigmoid_backward_d, double, AS_IS, v_exp, fabs)
STEPWISE(2, log_sigmoid_backward)
FLOATS(1, log_sigmoid, (x < 0 ? x : 0) - v_log1pf(v_expf(-fabsf(x))),
       (x < 0 ? x : 0) - v_log1p(v_exp(-fabs(x))))

/* activations */
#define SQRT_HALF 0.70710678118654752440
#define GELU_BETA 0.79788456080286535588 /* sqrt(2 / pi) */
#define GELU_KAPPA 0.044715
FLOATS(1, silu, x / (1.0f + v_expf(-x)), x / (1.0 + v_exp(-x)))
FLOATS(2, glu, x / (1.0f + v_expf(-y)), x / (1.0 + v_exp(-y)))
FLOATS(1, gelu, x * 0.5f * v_erf_above(x * (float)SQRT_HALF),
       x * 0.5 * (1.0 + v_erf(x * SQRT_HALF)))
FLOATS(1, gelu_tanh,
       0.5f * x * (1.0f + v_tanhf((float)GELU_BETA * (x + (float)GELU_KAPPA * x * x * x))),
       0.5 * x * (1.0 + v_tanh(GELU_BETA * (x + GELU_KAPPA * x * x * x))))
FLOATS(1, mish, x * v_tanhf(v_log1pf(v_expf(x))), x * v_tanh(v_log1p(v_exp(x))))
FLOATS(3, softplus, x * y > z ? x : v_log1pf(v_expf(x * y)) / y,
       pick(x * y > z, x, v_log1p(v_exp(x * y > z ? z : x * y)) / y))
/* x, alpha, scale, input_scale */
FLOATS(4, elu, x < 0 ? v_expm1f(x * w) * (y * z) : x * z,
       pick(x < 0, v_expm1((x < 0 ? x : 0) * w) * (y * z), x * z))
FLOATS_SAME(2, leaky_relu, x > 0 ? x : x * y)
/* One after the other: nested, compilers for AVX-512 take four comparisons. */
#define RELU6_OF(T)                                                                                \
    V_INLINE T relu6_of_##T(T x) {                                                                 \
        x = x < 0 ? 0 : x;                                                                         \
        return x > 6 ? 6 : x;                                                                      \
    }
RELU6_OF(float)
RELU6_OF(double)
FLOATS(1, hardsigmoid, relu6_of_float(x + 3.0f) / 6.0f, relu6_of_double(x + 3.0) / 6.0)
FLOATS(1, hardswish, x * relu6_of_float(x + 3.0f) / 6.0f, x * relu6_of_double(x + 3.0) / 6.0)
FLOATS_SAME(2, hardshrink, x >= -y && x <= y ? 0 : x)
/* x less what of it is between -y and y, whose sign is not negative: +0 there, and NaN for NaN */
#define CUT(x, y) ((x) > (y) ? (y) : (x))
FLOATS_SAME(2, softshrink, x - (CUT(x, y) < -y ? -y : CUT(x, y)))

/* gradients of the above: operands are in PyTorch's order, which decides the result's layout: the
   incoming gradient comes first, except in two */
FLOATS_SAME(2, sigmoid_backward, x * (1 - y) * y)
FLOATS_SAME(2, tanh_backward, x * (1 - y * y))
V_INLINE float silu_slope_f(float x) {
    float s = 1.0f / (1.0f + v_expf(-x));
    return s * (1.0f + x * (1.0f - s));
}
V_INLINE double silu_slope_d(double x) {
    double s = 1.0 / (1.0 + v_exp(-x));
    return s * (1.0 + x * (1.0 - s));
}
FLOATS(2, silu_backward, x * silu_slope_f(y), x * silu_slope_d(y))
#define GELU_PDF 0.39894228040143267794 /* 1 / sqrt(2 pi) */
FLOATS(2, gelu_backward,
       x * (0.5f * v_erf_above(y * (float)SQRT_HALF) +
            y * (float)GELU_PDF * v_expf(-0.5f * y * y)),
       x * (0.5 * (1.0 + v_erf(y * SQRT_HALF)) + y * GELU_PDF * v_exp(-0.5 * y * y)))
#define GELU_TANH_SLOPE(T, TANH, y)                                                                \
    T t = TANH((T)GELU_BETA * (y + (T)GELU_KAPPA * y * y * y));                                    \
    return (T)0.5 * (1 + t) +                                                                      \
           (T)0.5 * y * (1 - t * t) * (T)GELU_BETA * (1 + 3 * (T)GELU_KAPPA * y * y)
V_INLINE float gelu_tanh_slope_f(float y) { GELU_TANH_SLOPE(float, v_tanhf, y); }
V_INLINE double gelu_tanh_slope_d(double y) { GELU_TANH_SLOPE(double, v_tanh, y); }
FLOATS(2, gelu_tanh_backward, x * gelu_tanh_slope_f(y), x * gelu_tanh_slope_d(y))
FLOATS(4, softplus_backward, y * z > w ? x : x * (1.0f / (1.0f + v_expf(-y * z))),
       pick(y * z > w, x, x * (1.0 / (1.0 + v_exp(-y * z)))))
FLOATS_SAME(3, leaky_relu_backward, x > 0 ? y : y * z)
/* self, grad: what reaches prelu's weight */
FLOATS_SAME(2, prelu_weight, x > 0 ? 0 : x * y)
/* gate, first half, grad: what reaches the second half */
FLOATS_SAME(3, glu_gate, (1 - x) * x * y * z)
/* grad, self, alpha * scale, scale */
FLOATS(4, elu_backward, y <= 0 ? x * z * v_expf(y) : x * w,
       pick(y <= 0, x *z *v_exp(y <= 0 ? y : 0), x *w))
/* grad, self, alpha * input_scale, input_scale */
FLOATS(4, celu_backward, y <= 0 ? x * z * v_expf(y * w) : x,
       pick(y <= 0, x *z *v_exp((y <= 0 ? y : 0) * w), x))
/* grad, self, min, max */
FLOATS_SAME(4, hardtanh_backward, y <= z || y >= w ? 0 : x)
FLOATS_SAME(3, shrink_backward, y >= -z && y <= z ? 0 : x)
LIGHT_FLOATS(2, hardsigmoid_backward, y > -3 && y < 3 ? x * (1.0f / 6.0f) : 0,
       y > -3 && y < 3 ? x * (1.0f / 6.0f) : 0) /* as in PyTorch, the factor is a float */
LIGHT_FLOATS(2, hardswish_backward, y <= -3 ? 0 : y < 3 ? x * (y / 3.0f + 0.5f) : x,
       y <= -3 ? 0 : y < 3 ? x * (y / 3.0 + 0.5) : x)

/* arithmetic where NumPy's own loops are slow */
FLOATS(1, reciprocal, 1 / x, 1 / x)
LIGHT_FLOATS(2, copysign, copysignf(x, y), copysign(x, y))
#define NAN_TO_NUM(S, T, MAX)                                                                      \
    V_INLINE T nan_to_num_of_##S(T x) {                                                            \
        T y = x > MAX ? MAX : x;                                                                   \
        y = y < -MAX ? -MAX : y;                                                                   \
        return x == x ? y : 0;                                                                     \
    }
NAN_TO_NUM(f, float, 3.40282346638528859812e38f)
NAN_TO_NUM(d, double, 1.79769313486231570815e308)
LIGHT1(nan_to_num_e, uint16_t, uint16_t,
       (x & 0x7FFF) > 0x7C00 ? 0 : (x & 0x7FFF) == 0x7C00 ? x - 1 : x) /* the bits of a float16 */
LIGHT1(nan_to_num_f, float, float, nan_to_num_of_f(x))
LIGHT1(nan_to_num_d, double, double, nan_to_num_of_d(x))
static loop_info nan_to_num_info[] = {INFO(1, nan_to_num_e, uint16_t, uint16_t),
                                      INFO(1, nan_to_num_f, float, float),
                                      INFO(1, nan_to_num_d, double, double)};
static imode_loop nan_to_num_loops[] = {run_same, run_same, run_same};
static void *nan_to_num_data[] = {&nan_to_num_info[0], &nan_to_num_info[1], &nan_to_num_info[2]};
static const char nan_to_num_types[] = {TYPES_1(NPY_HALF, NPY_HALF), TYPES_1(NPY_FLOAT, NPY_FLOAT),
                                        TYPES_1(NPY_DOUBLE, NPY_DOUBLE)};
FLOATS(2, trunc_divide, truncf(x / y), trunc(x / y))
LIGHT_FLOATS(1, frac, x - truncf(x), x - trunc(x))
V_INLINE double hypot_of_d(double x, double y) {
    double a = fabs(x), b = fabs(y), high = a > b ? a : b, low = a > b ? b : a, r = low / high;
    double h = high * sqrt(1.0 + r * r);
    h = low == 0 ? high : h;
    h = x != x || y != y ? x + y : h;
    return a == INFINITY || b == INFINITY ? INFINITY : h;
}
V_INLINE float hypot_of_f(float x, float y) {
    float h = (float)sqrt((double)x * x + (double)y * y);
    return fabsf(x) == INFINITY || fabsf(y) == INFINITY ? INFINITY : h;
}
MAP2(xlogy_e, float, float, y != y ? y : x == 0 ? 0 : x * AS_HALF(v_logf(y)))
MAP2(xlogy_f, float, float, y != y ? y : x == 0 ? 0 : x * v_logf(y))
MAP2(xlogy_d, double, double, pick(y != y, y, pick(x == 0, 0, x *v_log(y))))
STEPWISE(2, xlogy)
MAP2(xlog1py_e, float, float, y != y ? y : x == 0 ? 0 : x * AS_HALF(v_log1pf(y)))
MAP2(xlog1py_f, float, float, y != y ? y : x == 0 ? 0 : x * v_log1pf(y))
MAP2(xlog1py_d, double, double, pick(y != y, y, pick(x == 0, 0, x *v_log1p(y))))
STEPWISE(2, xlog1py)
/* x * 2^y: exact for a whole y. Its power is three factors, so that none leaves the range. */
#define LN2 0.69314718055994530942
#define LDEXP(S, T, I, EXP, RINT, MOST, BIAS, SHIFT)                                               \
    V_INLINE T power_##S(T n) {                                                                    \
        const I bits = ((I)n + BIAS) << SHIFT;                                                     \
        T power;                                                                                   \
        memcpy(&power, &bits, sizeof power);                                                       \
        return power;                                                                              \
    }                                                                                              \
    V_INLINE T ldexp_of_##S(T x, T y) {                                                            \
        T z = y > 3 * MOST ? 3 * MOST : y < -3 * MOST ? -3 * MOST : y;                             \
        T n = RINT(z), third = RINT(n / 3), rest = n - third, half = RINT(rest / 2);               \
        n = z == z ? n : 0, third = z == z ? third : 0, half = z == z ? half : 0;                  \
        rest = n - third - half;                                                                   \
        return x * EXP((z - n) * (T)LN2) * power_##S(third) * power_##S(half) * power_##S(rest);   \
    }
LDEXP(f, float, int32_t, v_expf, rintf, 120, 127, 23)
LDEXP(d, double, int64_t, v_exp, rint, 1000, 1023, 52)
FLOATS(2, ldexp, ldexp_of_f(x, y), ldexp_of_d(x, y))
FLOATS(2, atan2, atan2_of_f(x, y), atan2_of_d(x, y))
FLOATS(2, hypot, hypot_of_f(x, y), hypot_of_d(x, y))

FLOATS(1, asin, asin_of_f(x), v_asin(x))
FLOATS(1, acos, acos_of_f(x), v_acos(x))
FLOATS(1, atan, atan_of_f(x), v_atan(x))
FLOATS(1, sinh, sinh_of_f(x), v_sinh(x))
FLOATS(1, cosh, cosh_of_f(x), v_cosh(x))
FLOATS(1, asinh, asinh_of_f(x), v_asinh(x))
FLOATS(1, acosh, acosh_of_f(x), v_acosh(x))
FLOATS(1, atanh, atanh_of_f(x), v_atanh(x))
/* A block with a large number uses libm. */
#define BY_LIBM(NAME, LIMIT)                                                                       \
    static void NAME##_libm(char *const *p, npy_intp n) {                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            ((float *)p[1])[i] = NAME##f(((const float *)p[0])[i]);                                \
    }                                                                                              \
    QUICK1(NAME##_quick, NAME##_near(x))                                                           \
    V_CLONES BLOCKS(NAME##_high, ABOVE(LIMIT, x), NAME##_quick, NAME##_libm)
BY_LIBM(sin, SIN_LIMIT)
BY_LIBM(cos, SIN_LIMIT)
BY_LIBM(tan, TAN_LIMIT)
#define SINE_LOW(NAME)                                                                             \
    QUICK1(NAME##_short, NAME##_of_short(x))                                                       \
    QUICK1(NAME##_wide_quick, NAME##_wide_near(x))                                                 \
    BLOCKS(NAME##_wide, ABOVE(SIN_LIMIT, x), NAME##_wide_quick, NAME##_libm)                       \
    BLOCKS(NAME##_low, ABOVE(SHORT_LIMIT, x), NAME##_short, NAME##_wide)
SINE_LOW(sin)
SINE_LOW(cos)
BLOCKS(tan_low, ABOVE(TAN_LIMIT, x), tan_stages, tan_libm)
BY_LEVEL(sin)
BY_LEVEL(cos)
BY_LEVEL(tan)
MAP1_AS(, , sin_exact, double, double, sin(x))
MAP1_AS(, , cos_exact, double, double, cos(x))
QUICK1_D(sin_quick_d, sin_near_d(x))
QUICK1_D(cos_quick_d, cos_near_d(x))
V_CLONES BLOCKS_D(sin_high_d, ABOVE_D(SIN_LIMIT_D, x), sin_quick_d, sin_exact)
V_CLONES BLOCKS_D(cos_high_d, ABOVE_D(SIN_LIMIT_D, x), cos_quick_d, cos_exact)
BLOCKS_D(sin_low_d, ABOVE_D(SIN_LIMIT_D, x), sin_stages_d, sin_exact)
BLOCKS_D(cos_low_d, ABOVE_D(SIN_LIMIT_D, x), cos_stages_d, cos_exact)
BY_LEVEL_D(sin)
BY_LEVEL_D(cos)
FLOAT_TABLE(1, sin)
FLOAT_TABLE(1, cos)
MAP1(tan_d, double, double, v_tan(x))
FLOAT_TABLE(1, tan)

#define PI 3.14159265358979323846
LIGHT_FLOATS(1, deg2rad, x *(float)(PI / 180), x *(PI / 180))
LIGHT_FLOATS(1, rad2deg, x *(float)(180 / PI), x *(180 / PI))
/* Not for every level: instructions that gather take longer, on some processors by far. */
static __attribute__((noinline)) void erfc_look_up(const uint32_t *index, erfc_point *to, int n) {
    _Pragma("GCC unroll 4") for (int i = 0; i < n; i++) to[i] = erfc_points[index[i]];
}
V_CLONES static void erfc_f(char *const *p, npy_intp n) {
    erfc_prepare();
    for (npy_intp start = 0; start < n; start += BLOCK) {
        const float *a = (const float *)p[0] + start;
        float *out = (float *)p[1] + start;
        const int m = n - start < BLOCK ? (int)(n - start) : BLOCK;
        uint32_t index[BLOCK];
        erfc_point at[BLOCK];
        READ_AHEAD
        for (int i = 0; i < m; i++)
            index[i] = erfc_index(a[i]);
        erfc_look_up(index, at, m);
        V_IVDEP for (int i = 0; i < m; i++) out[i] = erfc_beside(a[i], at[i]);
    }
}
DOUBLES(1, erfc, v_erfc(x))
#define SINC(S, T)                                                                                 \
    static void sinc_##S(char *const *p, npy_intp n) {                                             \
        _Alignas(64) T angles[BLOCK], sines[BLOCK];                                                \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const T *a = (const T *)p[0] + start;                                                  \
            T *out = (T *)p[1] + start;                                                            \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            for (npy_intp i = 0; i < m; i++)                                                       \
                angles[i] = a[i] * (T)PI;                                                          \
            sin_##S((char *[]){(char *)angles, (char *)sines}, m);                                 \
            for (npy_intp i = 0; i < m; i++)                                                       \
                out[i] = angles[i] == 0 ? 1 : sines[i] / angles[i];                                \
        }                                                                                          \
    }
SINC(f, float)
SINC(d, double)
FLOAT_TABLE(1, sinc)

/* The next number after x towards y, of the bits of both: SIGN is their sign's, INF infinity's. */
#define NEXT(NAME, T, I, SIGN, INF)                                                                \
    V_INLINE T NAME##_of(T x, T y) {                                                               \
        const T sign = (T)(SIGN), size = x & (T)~sign, size_of_y = y & (T)~sign;                   \
        I from = x & sign ? -(I)size : (I)size, to = y & sign ? -(I)size_of_y : (I)size_of_y;      \
        T next = (from < to) == !(x & sign) ? x + 1 : x - 1;                                       \
        next = size ? next : (T)((y & sign) | 1);                                                  \
        next = from == to ? y : next;                                                              \
        return size > (INF) || size_of_y > (INF) ? (T)((INF) | (INF) >> 1) : next;                 \
    }                                                                                              \
    MAP2(NAME, T, T, NAME##_of(x, y))
NEXT(nextafter_e, uint16_t, int16_t, 1u << 15, 0x7C00u)
NEXT(nextafter_f, uint32_t, int32_t, 1u << 31, 0x7F800000u)
NEXT(nextafter_d, uint64_t, int64_t, 1ull << 63, 0x7FF0000000000000ull)
static loop_info nextafter_info[] = {INFO(2, nextafter_e, uint16_t, uint16_t),
                                     INFO(2, nextafter_f, float, float),
                                     INFO(2, nextafter_d, double, double)};
static imode_loop nextafter_loops[] = {run_same, run_same, run_same};
static void *nextafter_data[] = {&nextafter_info[0], &nextafter_info[1], &nextafter_info[2]};
static const char nextafter_types[] = {TYPES_2(NPY_HALF, NPY_HALF), TYPES_2(NPY_FLOAT, NPY_FLOAT),
                                       TYPES_2(NPY_DOUBLE, NPY_DOUBLE)};

/* tests of floats, to bool */
#define TEST(NIN, NAME, VALUE)                                                                     \
    MAP##NIN(NAME##_f, float, uint8_t, VALUE) MAP##NIN(NAME##_d, double, uint8_t, VALUE)           \
    static loop_info NAME##_info[] = {INFO(NIN, NAME##_f, float, uint8_t),                         \
                                      INFO(NIN, NAME##_d, double, uint8_t)};                       \
    static imode_loop NAME##_loops[] = {run_half, run_same, run_same};                             \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[0], &NAME##_info[1]};              \
    static const char NAME##_types[] = {TYPES_##NIN(NPY_HALF, NPY_BOOL),                           \
                                        TYPES_##NIN(NPY_FLOAT, NPY_BOOL),                          \
                                        TYPES_##NIN(NPY_DOUBLE, NPY_BOOL)};
TEST(1, isposinf, x == INFINITY)
TEST(1, isneginf, x == -INFINITY)
TEST(1, is_zero, x == 0)
TEST(2, both, (x != 0) & (y != 0))
TEST(2, either, (x != 0) | (y != 0))
TEST(2, one_of_two, (x != 0) ^ (y != 0))

/* ---- remainders: exact, C's fmod and Python's remainder and floor division ---- */

/* One step in double: a quotient below 2^29 is correct to within one, so x - q * y is exact; for
   others the caller uses libm. */
#define QUOTIENT_LIMIT 536870912.0
V_INLINE float fmod_small(float x, float y) {
    double a = fabs((double)x), b = fabs((double)y);
    double r = a - (double)(int32_t)(a / b) * b;
    r = r < 0 ? r + b : r;
    r = r >= b ? r - b : r;
    return copysignf((float)r, x);
}
V_INLINE int is_small_quotient(float x, float y) {
    return fabs((double)x) < QUOTIENT_LIMIT * fabs((double)y) && fabsf(y) <= 3.40282347e38f;
}

#define REMAINDER(m, y) ((m) != 0 && ((y) < 0) != ((m) < 0) ? (m) + (y) : (m))
V_INLINE float floor_of_f(float x, float y, float m) {
    float q = (x - m) / y;
    q = m != 0 && (y < 0) != (m < 0) ? q - 1.0f : q;
    float f = floorf(q);
    f = q - f > 0.5f ? f + 1.0f : f;
    f = q != 0 ? f : copysignf(0.0f, x / y);
    return y == 0 ? x / y : f;
}
V_INLINE double floor_of_d(double x, double y, double m) {
    double q = (x - m) / y;
    q = m != 0 && (y < 0) != (m < 0) ? q - 1.0 : q;
    double f = floor(q);
    f = q - f > 0.5 ? f + 1.0 : f;
    f = q != 0 ? f : copysign(0.0, x / y);
    return y == 0 ? x / y : f;
}

/* The same for doubles: a quotient below 2^52 is correct to within one, and a fused x - q * y is
   exact. */
V_INLINE double fmod_near(double x, double y) {
    double r = fma(-trunc(x / y), y, x);
    r = r != 0 && (r < 0) != (x < 0) ? r + copysign(y, x) : r;
    return copysign(r, x);
}
V_INLINE int is_near_quotient(double x, double y) {
    return fabs(x) < 4503599627370496.0 * fabs(y) && fabs(y) <= DBL_MAX;
}

/* A block whose quotients all FIT takes the fast way, which vectorises; other blocks use libm. */
#define BY_FMOD_OF(NAME, T, FITS, QUICK, EXACT, VALUE)                                             \
    V_CLONES static void NAME(char *const *p, npy_intp n) {                                        \
        const T *a = (const T *)p[0], *b = (const T *)p[1];                                        \
        T *out = (T *)p[2];                                                                        \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            npy_intp end = n - start < BLOCK ? n : start + BLOCK;                                  \
            int fit = 1;                                                                           \
            for (npy_intp i = start; i < end; i++)                                                 \
                fit &= FITS(a[i], b[i]);                                                           \
            if (fit) {                                                                             \
                V_IVDEP for (npy_intp i = start; i < end; i++) {                                   \
                    const T x = a[i], y = b[i], m = QUICK(x, y);                                   \
                    out[i] = VALUE;                                                                \
                }                                                                                  \
            } else {                                                                               \
                for (npy_intp i = start; i < end; i++) {                                           \
                    const T x = a[i], y = b[i], m = EXACT(x, y);                                   \
                    out[i] = VALUE;                                                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }
#define BY_FMOD(NAME, VALUE_F, VALUE_D)                                                            \
    BY_FMOD_OF(NAME##_f, float, is_small_quotient, fmod_small, fmodf, VALUE_F)                     \
    BY_FMOD_OF(NAME##_d, double, is_near_quotient, fmod_near, fmod, VALUE_D)
BY_FMOD(fmod, m, m)
FLOAT_TABLE(2, fmod)
BY_FMOD(remainder, REMAINDER(m, y), REMAINDER(m, y))
FLOAT_TABLE(2, remainder)
BY_FMOD(floor_divide, floor_of_f(x, y, m), floor_of_d(x, y, m))
FLOAT_TABLE(2, floor_divide)

/* int64 by way of double. Both operands are below 2^51 in size, and so their quotient, if it is no
   whole number, is farther from one than double's rounding: floor is exact, and so is x - q * y. A
   block with others divides as C does. */
V_INLINE int64_t floor_quick(int64_t x, int64_t y) {
    return whole_of(floor(double_of(x) / double_of(y)));
}
V_INLINE int64_t remainder_quick(int64_t x, int64_t y) {
    const double a = double_of(x), b = double_of(y);
    return whole_of(a - floor(a / b) * b);
}
/* As NumPy has it: 0 for a divisor 0, which the operators refuse; the least by -1 is the least. */
V_INLINE int64_t floor_exact(int64_t x, int64_t y) {
    if (y == 0 || y == -1)
        return y ? (int64_t)-(uint64_t)x : 0;
    return x / y - (x % y != 0 && (x < 0) != (y < 0));
}
V_INLINE int64_t remainder_exact(int64_t x, int64_t y) {
    const int64_t m = y == 0 || y == -1 ? 0 : x % y;
    return m != 0 && (m < 0) != (y < 0) ? m + y : m;
}
#define WHOLE_DIVISION(NAME, QUICK, EXACT)                                                         \
    V_CLONES static void NAME(char *const *p, npy_intp n) {                                        \
        const int64_t *a = (const int64_t *)p[0], *b = (const int64_t *)p[1];                      \
        int64_t *out = (int64_t *)p[2];                                                            \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            npy_intp end = n - start < BLOCK ? n : start + BLOCK;                                  \
            uint64_t above = 0, none = 0;                                                          \
            for (npy_intp i = start; i < end; i++) {                                               \
                above |= ((uint64_t)a[i] + WHOLE_LIMIT) | ((uint64_t)b[i] + WHOLE_LIMIT);          \
                none |= b[i] == 0;                                                                 \
            }                                                                                      \
            if (above < 2 * WHOLE_LIMIT && !none)                                                  \
                V_IVDEP for (npy_intp i = start; i < end; i++) out[i] = QUICK(a[i], b[i]);         \
            else                                                                                   \
                for (npy_intp i = start; i < end; i++)                                             \
                    out[i] = EXACT(a[i], b[i]);                                                    \
        }                                                                                          \
    }                                                                                              \
    static loop_info NAME##_info[] = {INFO(2, NAME, int64_t, int64_t)};                            \
    static imode_loop NAME##_loops[] = {run_same};                                                 \
    static void *NAME##_data[] = {&NAME##_info[0]};                                                \
    static const char NAME##_types[] = {TYPES_2(NPY_INT64, NPY_INT64)};
WHOLE_DIVISION(whole_floor_divide, floor_quick, floor_exact)
WHOLE_DIVISION(whole_remainder, remainder_quick, remainder_exact)

/* ---- operators of every real type: one formula, though no unsigned x is below 0 ---- */

#ifdef __GNUC__
#pragma GCC diagnostic ignored "-Wtype-limits"
#endif

#define INTEGERS(NIN, NAME, VALUE)                                                                 \
    LIGHT##NIN(NAME##_u1, uint8_t, uint8_t, VALUE) LIGHT##NIN(NAME##_i1, int8_t, int8_t, VALUE)    \
    LIGHT##NIN(NAME##_i2, int16_t, int16_t, VALUE) LIGHT##NIN(NAME##_i4, int32_t, int32_t, VALUE)  \
    LIGHT##NIN(NAME##_i8, int64_t, int64_t, VALUE)
#define INTEGER_INFO(NIN, NAME)                                                                    \
    INFO(NIN, NAME##_u1, uint8_t, uint8_t), INFO(NIN, NAME##_i1, int8_t, int8_t),                  \
        INFO(NIN, NAME##_i2, int16_t, int16_t), INFO(NIN, NAME##_i4, int32_t, int32_t),            \
        INFO(NIN, NAME##_i8, int64_t, int64_t)
#define REALS(NIN, NAME, VALUE_FLOAT, VALUE_INT)                                                   \
    INTEGERS(NIN, NAME, VALUE_INT)                                                                 \
    LIGHT##NIN(NAME##_f, float, float, VALUE_FLOAT)                                                \
    LIGHT##NIN(NAME##_d, double, double, VALUE_FLOAT)                                              \
    static loop_info NAME##_info[] = {INTEGER_INFO(NIN, NAME),                                     \
                                      INFO(NIN, NAME##_f, float, float),                           \
                                      INFO(NIN, NAME##_d, double, double)};                        \
    static __attribute__((unused)) imode_loop NAME##_loops[] = {                                   \
        run_same, run_same, run_same, run_same, run_same, run_half, run_same, run_same};           \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[1], &NAME##_info[2],               \
                                  &NAME##_info[3], &NAME##_info[4], &NAME##_info[5],               \
                                  &NAME##_info[5], &NAME##_info[6]};                               \
    static const char NAME##_types[] = {                                                           \
        TYPES_##NIN(NPY_UINT8, NPY_UINT8),   TYPES_##NIN(NPY_INT8, NPY_INT8),                      \
        TYPES_##NIN(NPY_INT16, NPY_INT16),   TYPES_##NIN(NPY_INT32, NPY_INT32),                    \
        TYPES_##NIN(NPY_INT64, NPY_INT64),   TYPES_##NIN(NPY_HALF, NPY_HALF),                      \
        TYPES_##NIN(NPY_FLOAT, NPY_FLOAT),   TYPES_##NIN(NPY_DOUBLE, NPY_DOUBLE)};

#define REALS_SAME(NIN, NAME, VALUE) REALS(NIN, NAME, VALUE, VALUE)

/* The comparisons are such that a NaN in x is passed on. */
REALS_SAME(1, relu, x < 0 ? 0 : x)
REALS_SAME(1, relu6, x < 0 ? 0 : x > 6 ? 6 : x)
REALS(1, sign, (__typeof__(x))(x > 0) - (__typeof__(x))(x < 0), (x > 0) - (x < 0))
REALS_SAME(2, heaviside, x == 0 ? y : x > 0)
REALS_SAME(3, threshold, x <= y ? z : x)
REALS_SAME(3, threshold_backward, x <= z ? 0 : y)
#define AT_LEAST(x, y) ((x) < (y) || (y) != (y) ? (y) : (x))
#define AT_MOST(x, y) ((x) > (y) || (y) != (y) ? (y) : (x))
REALS(2, clamp_min, AT_LEAST(x, y), x < y ? y : x)
REALS(2, clamp_max, AT_MOST(x, y), x > y ? y : x)
/* max wins where min > max; NaN in a bound wins over all */
REALS(3, clamp, AT_MOST(AT_LEAST(x, y), z), x < y ? (y > z ? z : y) : x > z ? z : x)

/* clamp of contiguous numbers between two scalars, the usual call */
#define CLAMP_BETWEEN(NAME, T)                                                                     \
    V_LIGHT static void between_##NAME(const T *a, T *out, npy_intp n, T low, T high) {            \
        V_SEVERAL for (npy_intp i = 0; i < n; i++) {                                                 \
            T x = a[i] < low ? low : a[i];                                                         \
            out[i] = x > high ? high : x;                                                          \
        }                                                                                          \
    }                                                                                              \
    static void clamp_loop_##NAME(char **args, const npy_intp *dims, const npy_intp *steps,        \
                                  void *data) {                                                    \
        const npy_intp size = sizeof(T);                                                           \
        if (steps[0] == size && steps[1] == 0 && steps[2] == 0 && steps[3] == size &&              \
            dims[0] > 0) {                                                                         \
            T low = *(T *)args[1], high = *(T *)args[2];                                           \
            if (low == low && high == high) {                                                      \
                between_##NAME((T *)args[0], (T *)args[3], dims[0], low < high ? low : high,       \
                               high);                                                              \
                return;                                                                            \
            }                                                                                      \
        }                                                                                          \
        run_same(args, dims, steps, data);                                                         \
    }
CLAMP_BETWEEN(f, float)
CLAMP_BETWEEN(d, double)
CLAMP_BETWEEN(i8, int64_t)
static imode_loop clamp_between_loops[] = {run_same,      run_same, run_same,     run_same,
                                           clamp_loop_i8, run_half, clamp_loop_f, clamp_loop_d};

/* ---- operators of complex types, too ---- */

typedef float _Complex cfloat;
typedef double _Complex cdouble;
#define ALL_FLOATS(NIN, NAME, VALUE)                                                               \
    LIGHT##NIN(NAME##_f, float, float, VALUE) LIGHT##NIN(NAME##_d, double, double, VALUE)          \
    MAP##NIN(NAME##_cf, cfloat, cfloat, VALUE) MAP##NIN(NAME##_cd, cdouble, cdouble, VALUE)
#define FLOAT_INFO(NIN, NAME)                                                                      \
    INFO(NIN, NAME##_f, float, float), INFO(NIN, NAME##_d, double, double),                        \
        INFO(NIN, NAME##_cf, cfloat, cfloat), INFO(NIN, NAME##_cd, cdouble, cdouble)
#define FLOAT_TYPES(NIN)                                                                           \
    TYPES_##NIN(NPY_HALF, NPY_HALF), TYPES_##NIN(NPY_FLOAT, NPY_FLOAT),                            \
        TYPES_##NIN(NPY_DOUBLE, NPY_DOUBLE), TYPES_##NIN(NPY_CFLOAT, NPY_CFLOAT),                  \
        TYPES_##NIN(NPY_CDOUBLE, NPY_CDOUBLE)
#define WITH_COMPLEX(NIN, NAME, VALUE)                                                             \
    ALL_FLOATS(NIN, NAME, VALUE)                                                                   \
    static loop_info NAME##_info[] = {FLOAT_INFO(NIN, NAME)};                                      \
    static imode_loop NAME##_loops[] = {run_half, run_same, run_same, run_same, run_same};         \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[0], &NAME##_info[1],               \
                                  &NAME##_info[2], &NAME##_info[3]};                               \
    static const char NAME##_types[] = {FLOAT_TYPES(NIN)};

/* start, end, weight: computed from the nearer end, so that weights 0 and 1 are exact */
#define LERP(x, y, z, size) ((size) < 0.5 ? (x) + (z) * ((y) - (x)) : (y) - ((y) - (x)) * (1 - (z)))
V_INLINE float lerp_of_f(float x, float y, float z) { return LERP(x, y, z, fabsf(z)); }
V_INLINE double lerp_of_d(double x, double y, double z) { return LERP(x, y, z, fabs(z)); }
V_INLINE cfloat lerp_of_cf(cfloat x, cfloat y, cfloat z) { return LERP(x, y, z, cabsf(z)); }
V_INLINE cdouble lerp_of_cd(cdouble x, cdouble y, cdouble z) { return LERP(x, y, z, cabs(z)); }
WITH_COMPLEX(3, lerp,
             _Generic(x, float: lerp_of_f, double: lerp_of_d,
                      cfloat: lerp_of_cf, cdouble: lerp_of_cd)(x, y, z))
/* As NumPy's division and PyTorch's: what is not 0 over 0 is infinite. */
#define QUOTIENT(T, REAL, FABS, NAME)                                                              \
    V_INLINE T NAME(T x, T y) {                                                                    \
        REAL a = __real__ x, b = __imag__ x, c = __real__ y, d = __imag__ y;                       \
        REAL ratio, scale;                                                                         \
        T made;                                                                                    \
        if (c == 0 && d == 0) {                                                                    \
            __real__ made = a / FABS(c);                                                           \
            __imag__ made = b / FABS(c);                                                           \
        } else if (FABS(c) >= FABS(d)) {                                                           \
            ratio = d / c;                                                                         \
            scale = 1 / (c + d * ratio);                                                           \
            __real__ made = (a + b * ratio) * scale;                                               \
            __imag__ made = (b - a * ratio) * scale;                                               \
        } else {                                                                                   \
            ratio = c / d;                                                                         \
            scale = 1 / (d + c * ratio);                                                           \
            __real__ made = (a * ratio + b) * scale;                                               \
            __imag__ made = (b * ratio - a) * scale;                                               \
        }                                                                                          \
        return made;                                                                               \
    }
QUOTIENT(cfloat, float, fabsf, quotient_cf)
QUOTIENT(cdouble, double, fabs, quotient_cd)
V_INLINE float quotient_f(float x, float y) { return x / y; }
V_INLINE double quotient_d(double x, double y) { return x / y; }
#define DIVIDED(x, y)                                                                              \
    _Generic(x, float: quotient_f, double: quotient_d, cfloat: quotient_cf,                        \
             cdouble: quotient_cd)(x, y)
/* self, tensor1, tensor2, value */
WITH_COMPLEX(4, addcdiv, x + DIVIDED(w * y, z))
/* self, other, alpha */
#define SCALED(NAME, SIGN)                                                                         \
    V_CLONES static void NAME##_e(char *const *p, npy_intp n) {                                    \
        const float *x = (const float *)p[0], *y = (const float *)p[1], *z = (const float *)p[2];  \
        float *out = (float *)p[3];                                                                \
        for (npy_intp i = 0; i < WHOLE(n); i++)                                                    \
            out[i] = x[i] SIGN y[i] * z[i];                                                        \
        for (npy_intp i = WHOLE(n); i < n; i++)                                                    \
            out[i] = x[i] SIGN AS_HALF(y[i] * z[i]);                                               \
    }                                                                                              \
    ALL_FLOATS(3, NAME, x SIGN y *z)                                                               \
    static loop_info NAME##_info[] = {FLOAT_INFO(3, NAME), INFO(3, NAME##_e, float, float)};       \
    static imode_loop NAME##_loops[] = {run_half, run_same, run_same, run_same, run_same};         \
    static void *NAME##_data[] = {&NAME##_info[4], &NAME##_info[0], &NAME##_info[1],               \
                                  &NAME##_info[2], &NAME##_info[3]};                               \
    static const char NAME##_types[] = {FLOAT_TYPES(3)};
SCALED(add_scaled, +)
SCALED(sub_scaled, -)
/* A complex sum multiplies the second operand by 1 + 0i, a difference by -1 + 0i: if one part is
   infinite or NaN, the other part becomes NaN. */
#define ADD_COMPLEX(NAME, T, FIRST, FACTOR)                                                        \
    V_CLONES static void NAME(char *const *p, npy_intp n) {                                        \
        const T *a = (const T *)p[FIRST], *b = (const T *)p[1 - FIRST];                            \
        T *out = (T *)p[2];                                                                        \
        V_IVDEP for (npy_intp i = 0; i < 2 * n; i += 2) {                                          \
            const T re = b[i], im = b[i + 1];                                                      \
            out[i] = a[i] + (re * FACTOR - im * 0);                                                \
            out[i + 1] = a[i + 1] + (im * FACTOR + re * 0);                                        \
        }                                                                                          \
    }
ADD_COMPLEX(add_complex_f, float, 0, 1)
ADD_COMPLEX(add_complex_d, double, 0, 1)
ADD_COMPLEX(sub_complex_f, float, 0, -1)
ADD_COMPLEX(sub_complex_d, double, 0, -1)
ADD_COMPLEX(rsub_complex_f, float, 1, -1)
ADD_COMPLEX(rsub_complex_d, double, 1, -1)
MAP2(pow_complex_f, cfloat, cfloat, cpowf(x, y))
MAP2(pow_complex_d, cdouble, cdouble, cpow(x, y))
#define COMPLEX(NIN, NAME)                                                                         \
    static loop_info NAME##_info[] = {INFO(NIN, NAME##_f, cfloat, cfloat),                         \
                                      INFO(NIN, NAME##_d, cdouble, cdouble)};                      \
    static imode_loop NAME##_loops[] = {run_same, run_same};                                       \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[1]};                               \
    static const char NAME##_types[] = {TYPES_##NIN(NPY_CFLOAT, NPY_CFLOAT),                       \
                                        TYPES_##NIN(NPY_CDOUBLE, NPY_CDOUBLE)};
#define SGN_COMPLEX(S, T)                                                                          \
    V_CLONES static void sgn_complex_##S(char *const *p, npy_intp n) {                             \
        const T *a = (const T *)p[0];                                                              \
        T *out = (T *)p[1];                                                                        \
        V_IVDEP for (npy_intp i = 0; i < 2 * n; i += 2) {                                          \
            const T re = a[i], im = a[i + 1], size = hypot_of_##S(re, im);                         \
            out[i] = size == 0 ? 0 : re / size;                                                    \
            out[i + 1] = size == 0 ? 0 : im / size;                                                \
        }                                                                                          \
    }
SGN_COMPLEX(f, float)
SGN_COMPLEX(d, double)
COMPLEX(1, sgn_complex)
COMPLEX(2, add_complex)
COMPLEX(2, sub_complex)
COMPLEX(2, rsub_complex)
COMPLEX(2, pow_complex)

/* operators of every type but bool */
#define NUMBERS(NIN, NAME, VALUE)                                                                  \
    ALL_FLOATS(NIN, NAME, VALUE) INTEGERS(NIN, NAME, VALUE)                                        \
    static loop_info NAME##_info[] = {FLOAT_INFO(NIN, NAME), INTEGER_INFO(NIN, NAME)};             \
    static imode_loop NAME##_loops[] = {run_same, run_same, run_same, run_same, run_same,          \
                                        run_half, run_same, run_same, run_same, run_same};         \
    static void *NAME##_data[] = {&NAME##_info[4], &NAME##_info[5], &NAME##_info[6],               \
                                  &NAME##_info[7], &NAME##_info[8], &NAME##_info[0],               \
                                  &NAME##_info[0], &NAME##_info[1], &NAME##_info[2],               \
                                  &NAME##_info[3]};                                                \
    static const char NAME##_types[] = {                                                           \
        TYPES_##NIN(NPY_UINT8, NPY_UINT8), TYPES_##NIN(NPY_INT8, NPY_INT8),                        \
        TYPES_##NIN(NPY_INT16, NPY_INT16), TYPES_##NIN(NPY_INT32, NPY_INT32),                      \
        TYPES_##NIN(NPY_INT64, NPY_INT64), FLOAT_TYPES(NIN)};
NUMBERS(2, rsub, y - x)
NUMBERS(1, square, x *x)
/* NumPy 2.4's negative is wrong in place with a stride of four float or int32 */
NUMBERS(1, negative, -x)
/* where: the condition is bytes, the choices are of any type of that size */
#define WHERE(NAME, T)                                                                             \
    V_CLONES static void NAME(char **args, const npy_intp *dims, const npy_intp *steps,            \
                              void *data) {                                                        \
        (void)data;                                                                                \
        npy_intp n = dims[0];                                                                      \
        const char *c = args[0], *a = args[1], *b = args[2];                                       \
        char *out = args[3];                                                                       \
        const npy_intp size = sizeof(T);                                                           \
        if (steps[0] == 1 && steps[1] == size && steps[2] == size && steps[3] == size)             \
            V_IVDEP for (npy_intp i = 0; i < n; i++)((T *)out)[i] =                                \
                CHOOSE_##T(c[i], ((const T *)a)[i], ((const T *)b)[i]);                            \
        else                                                                                       \
            for (npy_intp i = 0; i < n; i++)                                                       \
                *(T *)(out + i * steps[3]) = c[i * steps[0]] ? *(const T *)(a + i * steps[1])      \
                                                             : *(const T *)(b + i * steps[2]);     \
    }
#define CHOOSE(T, c, a, b) (((a) & (T)-((c) != 0)) | ((b) & (T)~(T)-((c) != 0)))
#define CHOOSE_uint8_t(c, a, b) CHOOSE(uint8_t, c, a, b)
#define CHOOSE_uint16_t(c, a, b) CHOOSE(uint16_t, c, a, b)
#define CHOOSE_uint32_t(c, a, b) CHOOSE(uint32_t, c, a, b)
#define CHOOSE_uint64_t(c, a, b) CHOOSE(uint64_t, c, a, b)
#define CHOOSE_pair64(c, a, b) ((c) ? (a) : (b))
WHERE(where_1, uint8_t)
WHERE(where_2, uint16_t)
WHERE(where_4, uint32_t)
WHERE(where_8, uint64_t)
WHERE(where_16, pair64)
#define CHOICE(TYPE) NPY_BOOL, TYPE, TYPE, TYPE
static imode_loop where_loops[] = {where_1, where_1, where_1, where_2, where_4, where_8,
                                   where_2, where_4, where_8, where_8, where_16};
static void *where_data[11];
static const char where_types[] = {
    CHOICE(NPY_BOOL),  CHOICE(NPY_UINT8),  CHOICE(NPY_INT8),   CHOICE(NPY_INT16),
    CHOICE(NPY_INT32), CHOICE(NPY_INT64),  CHOICE(NPY_HALF),   CHOICE(NPY_FLOAT),
    CHOICE(NPY_DOUBLE), CHOICE(NPY_CFLOAT), CHOICE(NPY_CDOUBLE)};
NUMBERS(4, addcmul, x + w * y * z)

/* ---- pow: scalar exponents for which a product or a root is better ---- */

LIGHT1(same_f, float, float, x) LIGHT1(same_d, double, double, x)
LIGHT1(cube_f, float, float, x *x *x) LIGHT1(cube_d, double, double, x *x *x)

LIGHT1(over_square_f, float, float, 1 / (x * x)) LIGHT1(over_square_d, double, double, 1 / (x * x))
/* Of what is negative `size` is the power of its size: this has its sign, or is NaN. */
#define SIGNED_POWER(S, T, RINT, COPYSIGN)                                                         \
    V_INLINE T signed_power_##S(T x, T y, T size) {                                                \
        const T half = y * (T)0.5;                                                                 \
        const int whole = RINT(y) == y, odd = whole & (RINT(half) != half);                        \
        const T turned = odd ? COPYSIGN(size, x) : size;                                           \
        return !whole & (x < 0) & (x > -INFINITY) ? (T)NAN : turned;                               \
    }
SIGNED_POWER(f, float, rintf, copysignf)
SIGNED_POWER(d, double, rint, copysign)
/* In stages, which takes a fifth to a third less. */
V_CLONES static void pow_f(char *const *p, npy_intp n) {
    const float *a = (const float *)p[0], *b = (const float *)p[1];
    float *out = (float *)p[2];
    for (npy_intp start = 0; start < n; start += BLOCK, a += BLOCK, b += BLOCK, out += BLOCK) {
        const int m = n - start < BLOCK ? (int)(n - start) : BLOCK;
        double exponents[BLOCK];
        float sizes[BLOCK], *to = out;
        uint32_t far = 0;
        for (int i = 0; i < m; i++)
            far |= LOG_FAR(v_bits(a[i])) | (0x7F7FFFFFu - (v_bits(b[i]) & 0x7FFFFFFFu));
        if (far >> 31) {
            to = sizes;
            for (int i = 0; i < m; i++)
                exponents[i] = exponent_of(fabsf(a[i]), (double)b[i], 1);
        } else
            for (int i = 0; i < m; i++)
                exponents[i] = exponent_of(a[i], (double)b[i], 0);
        for (int i = 0; i < m; i++)
            to[i] = two_to_d(exponents[i]);
        if (far >> 31)
            V_IVDEP for (int i = 0; i < m; i++) out[i] = signed_power_f(a[i], b[i], sizes[i]);
    }
}
/* libmvec leaves the vector for what is negative: what has none is spared the sign. */
MAP2(signed_pow_d, double, double, signed_power_d(x, y, v_pow(fabs(x), y)))
MAP2(plain_pow_d, double, double, v_pow(x, y))
static void pow_d(char *const *p, npy_intp n) {
    const double *a = (const double *)p[0];
    uint64_t signs = 0;
    for (npy_intp i = 0; i < n; i++)
        signs |= v_bits_d(a[i]);
    (signs >> 63 ? signed_pow_d : plain_pow_d)(p, n);
}
static const struct {
    double exponent;
    loop_info info[2]; /* float, double */
} powers[] = {
    {1, {INFO(1, same_f, float, float), INFO(1, same_d, double, double)}},
    {2, {INFO(1, square_f, float, float), INFO(1, square_d, double, double)}},
    {3, {INFO(1, cube_f, float, float), INFO(1, cube_d, double, double)}},
    {0.5, {INFO(1, sqrt_f, float, float), INFO(1, sqrt_d, double, double)}},
    {-1, {INFO(1, reciprocal_f, float, float), INFO(1, reciprocal_d, double, double)}},
    {-2, {INFO(1, over_square_f, float, float), INFO(1, over_square_d, double, double)}},
    {-0.5, {INFO(1, rsqrt_f, float, float), INFO(1, rsqrt_d, double, double)}},
};
static void run_pow(char **args, const npy_intp *dims, const npy_intp *steps, void *data) {
    const loop_info *info = data;
    int is_half = info->in_size == 2, is_double = info->in_size == 8;
    loop_info general = {is_double ? pow_d : pow_f, 2, is_double ? 8 : 4, is_double ? 8 : 4};
    if (steps[1] == 0 && dims[0] > 0) {
        double exponent = is_double ? *(double *)args[1]
                          : is_half ? v_from_half(*(uint16_t *)args[1])
                                    : *(float *)args[1];
        for (size_t k = 0; k < sizeof powers / sizeof *powers; k++)
            if (exponent == powers[k].exponent) {
                char *two[] = {args[0], args[2]};
                npy_intp two_steps[] = {steps[0], steps[2]};
                (is_half ? run_half : run_same)(two, dims, two_steps,
                                                (void *)&powers[k].info[is_double]);
                return;
            }
    }
    (is_half ? run_half : run_same)(args, dims, steps, &general);
}
/* Whole numbers, by squares: as many steps as the largest exponent of TOGETHER has bits. To a
   negative power, 1 and -1 are what they are to its parity, and all others 0, which is 0 to 1. */
#define TOGETHER 32
#define WHOLE_POW(NAME, T)                                                                         \
    V_CLONES static void NAME(char *const *p, npy_intp n) {                                        \
        const u##T *a = (const u##T *)p[0], *b = (const u##T *)p[1];                               \
        for (npy_intp start = 0; start < n; start += TOGETHER) {                                   \
            const npy_intp m = n - start < TOGETHER ? n - start : TOGETHER;                        \
            u##T x[TOGETHER] = {0}, y[TOGETHER] = {0}, power[TOGETHER], left = 0;                  \
            memcpy(x, a + start, m * sizeof *x);                                                   \
            memcpy(y, b + start, m * sizeof *y);                                                   \
            for (int i = 0; i < TOGETHER; i++) {                                                   \
                const u##T below = -(y[i] >> (8 * sizeof(T) - 1));                                 \
                const u##T other = -(u##T)((u##T)(x[i] + 1) > 2 || x[i] == 0);                     \
                x[i] &= ~(below & other);                                                          \
                y[i] = (y[i] & (~below | 1)) | (below & other & 1);                                \
                power[i] = 1;                                                                      \
                left |= y[i];                                                                      \
            }                                                                                      \
            for (; left; left >>= 1)                                                               \
                for (int i = 0; i < TOGETHER; i++) {                                               \
                    power[i] *= ((x[i] - 1) & -(y[i] & 1)) + 1;                                    \
                    x[i] *= x[i];                                                                  \
                    y[i] >>= 1;                                                                    \
                }                                                                                  \
            memcpy(p[2] + start * sizeof *x, power, m * sizeof *x);                                \
        }                                                                                          \
    }
WHOLE_POW(pow_i4, int32_t) WHOLE_POW(pow_i8, int64_t)

static loop_info pow_info[] = {{NULL, 2, 2, 2}, {NULL, 2, 4, 4}, {NULL, 2, 8, 8},
                               INFO(2, pow_i4, int32_t, int32_t),
                               INFO(2, pow_i8, int64_t, int64_t)};
static imode_loop pow_loops[] = {run_pow, run_pow, run_pow, run_same, run_same};
static void *pow_data[] = {&pow_info[0], &pow_info[1], &pow_info[2], &pow_info[3], &pow_info[4]};
static const char pow_types[] = {TYPES_2(NPY_HALF, NPY_HALF), TYPES_2(NPY_FLOAT, NPY_FLOAT),
                                 TYPES_2(NPY_DOUBLE, NPY_DOUBLE), TYPES_2(NPY_INT32, NPY_INT32),
                                 TYPES_2(NPY_INT64, NPY_INT64)};

/* log(exp(x) + exp(y)); for equal infinities the result is the same infinity */
V_INLINE double logaddexp_of(double x, double y, double base) { /* base: its logarithm */
    double sum = pick(x > y, x, y) + v_log1p(v_exp(-fabs(x - y) * base)) / base;
    return pick((x == y) & (fabs(x) == INFINITY), x, sum);
}
FLOATS(2, logaddexp,
       x == y && fabsf(x) == INFINITY ? x : (x > y ? x : y) + v_log1pf(v_expf(-fabsf(x - y))),
       logaddexp_of(x, y, 1))
FLOATS(2, logaddexp2,
       x == y && fabsf(x) == INFINITY
           ? x
           : (x > y ? x : y) + v_log1pf(v_expf(-fabsf(x - y) * (float)LN2)) * (float)(1 / LN2),
       logaddexp_of(x, y, LN2))

/* angle: 0, pi or NaN for real numbers; any for complex numbers */
MAP1(angle_f, float, float, x != x ? x : (x < 0 ? (float)PI : 0))
MAP1(angle_d, double, double, x != x ? x : (x < 0 ? PI : 0))
#define ANGLE(S, T)                                                                                \
    V_CLONES static void angle_c##S(char *const *p, npy_intp n) {                                  \
        const T *a = (const T *)p[0];                                                              \
        T *out = (T *)p[1];                                                                        \
        V_IVDEP for (npy_intp i = 0; i < n; i++)                                                   \
            out[i] = atan2_of_##S(a[2 * i + 1], a[2 * i]);                                         \
    }
ANGLE(f, float)
ANGLE(d, double)
static loop_info angle_info[] = {INFO(1, angle_f, float, float), INFO(1, angle_d, double, double),
                                 INFO(1, angle_cf, float complex, float),
                                 INFO(1, angle_cd, double complex, double)};
static imode_loop angle_loops[] = {run_half, run_same, run_same, run_same, run_same};
static void *angle_data[] = {&angle_info[0], &angle_info[0], &angle_info[1], &angle_info[2],
                             &angle_info[3]};
static const char angle_types[] = {NPY_HALF, NPY_HALF, NPY_FLOAT, NPY_FLOAT, NPY_DOUBLE,
                                   NPY_DOUBLE, NPY_CFLOAT, NPY_FLOAT, NPY_CDOUBLE, NPY_DOUBLE};

/* bool: NumPy's loops are for any processor */
LIGHT1(flip_b, uint8_t, uint8_t, x == 0)
static loop_info flip_info[] = {INFO(1, flip_b, uint8_t, uint8_t)};
static imode_loop flip_loops[] = {run_same};
static void *flip_data[] = {&flip_info[0]};
static const char flip_types[] = {NPY_BOOL, NPY_BOOL};

const imode_ufunc imode_pointwise[] = {
    ROW(1, exp), ROW(1, expm1), ROW(1, log), ROW(1, log10), ROW(1, log1p), ROW(1, tanh),
    ROW(1, log2), ROW(1, exp2), ROW(1, sin), ROW(1, cos), ROW(1, tan), ROW(1, asin), ROW(1, acos), ROW(1, atan), ROW(1, sinh),
    ROW(1, cosh), ROW(1, asinh), ROW(1, acosh), ROW(1, atanh),
    ROW(1, erf), ROW(1, sqrt), ROW(1, rsqrt), ROW(1, sigmoid), ROW(1, logit), ROW(1, log_sigmoid), ROW(2, pow),
    ROW(1, reciprocal), ROW(1, frac), ROW(1, nan_to_num), ROW(1, deg2rad), ROW(1, rad2deg),
    ROW(1, erfc), ROW(1, sinc), ROW(1, angle), ROW(1, isposinf), ROW(1, isneginf), ROW(1, is_zero),
    ROW(2, both), ROW(2, either), ROW(2, one_of_two),
    ROW(2, hypot), ROW(2, copysign),
    ROW(2, atan2), ROW(2, logaddexp), ROW(2, xlogy), ROW(2, fmod), ROW(2, remainder), ROW(2, floor_divide),
    ROW(2, whole_floor_divide), ROW(2, whole_remainder),
    ROW(1, silu), ROW(2, glu), ROW(1, gelu), ROW(1, gelu_tanh), ROW(1, mish), ROW(3, softplus), ROW(4, elu),
    ROW(2, leaky_relu), ROW(1, hardsigmoid), ROW(1, hardswish), ROW(2, hardshrink),
    ROW(2, softshrink), ROW(2, sigmoid_backward), ROW(2, tanh_backward), ROW(2, silu_backward),
    ROW(2, gelu_backward), ROW(2, gelu_tanh_backward), ROW(4, softplus_backward),
    ROW(3, leaky_relu_backward), ROW(4, elu_backward), ROW(4, celu_backward),
    ROW(4, hardtanh_backward), ROW(3, shrink_backward), ROW(2, hardsigmoid_backward),
    ROW(2, hardswish_backward), ROW(1, relu), ROW(1, relu6), ROW(1, sign), ROW(3, threshold),
    ROW(3, threshold_backward), ROW(2, clamp_min), ROW(2, clamp_max),
    {"clamp", NULL, 3, 8, clamp_types, clamp_between_loops, clamp_data}, ROW(3, lerp), ROW(2, rsub),
    ROW(1, square), ROW(1, negative), ROW(3, where), ROW(4, addcmul), ROW(4, addcdiv),
    ROW(3, add_scaled), ROW(3, sub_scaled), ROW(2, add_complex), ROW(2, sub_complex),
    ROW(2, rsub_complex), ROW(2, pow_complex), ROW(3, logit_backward), ROW(2, log_sigmoid_backward),
    ROW(2, prelu_weight), ROW(3, glu_gate), ROW(1, flip), ROW(1, sgn_complex),
    ROW(2, xlog1py), ROW(2, ldexp), ROW(2, logaddexp2), ROW(2, heaviside), ROW(2, nextafter),
    ROW(2, trunc_divide),
    {NULL, NULL, 0, 0, NULL, NULL, NULL},
};

/* Of numbers of 16 bits, beside the functions here and NumPy's. */
imode_narrow imode_narrow_loops[] = {
    {"relu", NARROW_OF(relu)},           {"square", NARROW_OF(square)},
    {"pow", NARROW_OF(pow)},             {"rsqrt", rsqrt_narrow},
    {"addcmul", NARROW_OF(addcmul)},     {"addcdiv", NARROW_OF(addcdiv)},
    {"lerp", NARROW_OF(lerp)},           {"leaky_relu", NARROW_OF(leaky_relu)},
    {"sqrt", NARROW_OF(sqrt)},           {"reciprocal", NARROW_OF(reciprocal)},
    {"floor", NARROW_OF(floor)},         {"ceil", NARROW_OF(ceil)},
    {"trunc", NARROW_OF(trunc)},         {"rint", NARROW_OF(rint)},
    {"maximum", NARROW_OF(maximum)},     {"minimum", NARROW_OF(minimum)},
    {"clamp_min", NARROW_OF(clamp_min)}, {"clamp_max", NARROW_OF(clamp_max)},
    {"clamp", NARROW_OF(clamp)},         {"threshold", NARROW_OF(threshold)},
    {"negative", negative_narrow},       {"absolute", absolute_narrow},
    {"copysign", copysign_narrow},       {"nan_to_num", nan_to_num_narrow},
    {"hardswish", NARROW_OF(hardswish)}, {"hardsigmoid", NARROW_OF(hardsigmoid)},
    {NULL, NULL},
};
