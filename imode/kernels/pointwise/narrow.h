/* The four operations and a few functions of float16 and bfloat16: to float and back in registers. */
#ifndef IMODE_NARROW_H
#define IMODE_NARROW_H

#include "vmath.h"
#include "wide.h"

/* Functions of the bits, the same of both dtypes. */
#define OF_BITS(NAME, NIN, VALUE)                                                                  \
    static int NAME##_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,      \
                             int brain) {                                                          \
        const uint16_t *a = (const uint16_t *)args[0], *b = (const uint16_t *)args[NIN - 1];       \
        uint16_t *out = (uint16_t *)args[NIN];                                                     \
        (void)brain;                                                                               \
        if (halves != (2u << NIN) - 1 || steps[0] != 2 || steps[NIN - 1] != 2 || steps[NIN] != 2)  \
            return 0;                                                                              \
        V_IVDEP for (intptr_t i = 0; i < n; i++) {                                                 \
            const unsigned x = a[i], y = b[i];                                                     \
            out[i] = (uint16_t)(VALUE);                                                            \
        }                                                                                          \
        return 1;                                                                                  \
    }
OF_BITS(negative, 1, ((void)y, x ^ 0x8000))
OF_BITS(absolute, 1, ((void)y, x & 0x7FFF))
OF_BITS(copysign, 2, (x & 0x7FFF) | (y & 0x8000))

/* NaN becomes 0, infinity the greatest number, whose bits come before it. Serves all steps: in
   float32 the greatest would be another. */
static int nan_to_num_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                             int brain) {
    const uint16_t infinity = brain ? 0x7F80 : 0x7C00;
    const uint16_t *a = (const uint16_t *)args[0];
    uint16_t *out = (uint16_t *)args[1];
    (void)halves;
#define NUMBER(x) ((uint16_t)((x & 0x7FFF) < infinity ? x : (x & 0x7FFF) > infinity ? 0 : x - 1))
    if (steps[0] == 2 && steps[1] == 2)
        V_IVDEP for (intptr_t i = 0; i < n; i++)
            out[i] = NUMBER(a[i]);
    else
        for (intptr_t i = 0; i < n; i++) {
            const uint16_t x = *(const uint16_t *)(args[0] + i * steps[0]);
            *(uint16_t *)(args[1] + i * steps[1]) = NUMBER(x);
        }
    return 1;
}

#ifdef V_NARROW_INLINE
#define V_NARROW __attribute__((target("avx2,f16c"))) static

enum { ARRAYS, LEFT, RIGHT }; /* which operand is a number, if one is */

/* Whether operands and result lie side by side, but for one operand that may be a number. */
static int narrow_fits(int nin, const intptr_t *steps, unsigned halves, int *number) {
    *number = ARRAYS;
    for (int k = 0; k < nin; k++)
        if (steps[k] == 0 && nin == 2 && *number == ARRAYS)
            *number = LEFT + k;
        else if (steps[k] != 2 || !(halves >> k & 1))
            return 0;
    return steps[nin] == 2 && halves >> nin & 1 && V_HAS_AVX2 && V_HAS_F16C;
}

#define VALUE_AT(k, i) (number == LEFT + k ? _mm256_set1_ps(constant) : widened(in[k] + (i), brain))
#define NARROW(NAME, NIN, VALUE)                                                                   \
    V_NARROW_INLINE void NAME##_of_16(uint16_t *to, const uint16_t *const *in, float constant,     \
                                      intptr_t n, int number, int brain) {                         \
        for (intptr_t i = 0; i + 16 <= n; i += 16) {                                               \
            __m256 values[2];                                                                      \
            for (int half = 0; half < 2; half++) {                                                 \
                const __m256 x = VALUE_AT(0, i + 8 * half);                                        \
                const __m256 y = NIN == 1 ? x : VALUE_AT(NIN - 1, i + 8 * half);                   \
                values[half] = VALUE(x, y);                                                        \
            }                                                                                      \
            put_narrowed(to + i, values[0], values[1], brain);                                     \
        }                                                                                          \
    }                                                                                              \
    V_NARROW void NAME##_by_16(uint16_t *to, const uint16_t *const *in, float constant,            \
                               intptr_t n, int number, int brain) {                                \
        if (number == ARRAYS && brain)                                                             \
            NAME##_of_16(to, in, constant, n, ARRAYS, 1);                                          \
        else if (number == ARRAYS || NIN == 1)                                                     \
            NAME##_of_16(to, in, constant, n, ARRAYS, 0);                                          \
        else if (number == LEFT && brain)                                                          \
            NAME##_of_16(to, in, constant, n, LEFT, 1);                                            \
        else if (number == LEFT)                                                                   \
            NAME##_of_16(to, in, constant, n, LEFT, 0);                                            \
        else if (brain)                                                                            \
            NAME##_of_16(to, in, constant, n, RIGHT, 1);                                           \
        else                                                                                       \
            NAME##_of_16(to, in, constant, n, RIGHT, 0);                                           \
    }                                                                                              \
    static int NAME##_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,      \
                             int brain) {                                                          \
        return operate_on_16(NAME##_by_16, NIN, args, n, steps, halves, brain);                    \
    }

typedef void (*by_16)(uint16_t *to, const uint16_t *const *in, float constant, intptr_t n,
                      int number, int brain);
static int operate_on_16(by_16 run, int nin, char **args, intptr_t n, const intptr_t *steps,
                         unsigned halves, int brain) {
    const uint16_t *in[2] = {(const uint16_t *)args[0], (const uint16_t *)args[nin - 1]};
    uint16_t *to = (uint16_t *)args[nin], ends[3][16] = {{0}};
    const intptr_t whole = n - n % 16;
    unsigned said;
    float constant = 0;
    int number;
    if (!narrow_fits(nin, steps, halves, &number))
        return 0;
    if (number != ARRAYS) {
        const uint16_t *at = in[number - LEFT];
        if (!(halves >> (number - LEFT) & 1))
            memcpy(&constant, at, sizeof constant);
        else
            constant = brain ? v_from_brain(*at) : v_from_half(*at);
    }
    said = _mm_getcsr(); /* NumPy would warn of what is said of numbers too large */
    run(to, in, constant, whole, number, brain);
    if (whole < n) {
        const uint16_t *rest[2] = {ends[0], ends[nin - 1]};
        for (int k = 0; k < nin; k++)
            if (number != LEFT + k)
                memcpy(ends[k], in[k] + whole, (n - whole) * sizeof *to);
        run(ends[2], rest, constant, 16, number, brain);
        memcpy(to + whole, ends[2], (n - whole) * sizeof *to);
    }
    _mm_setcsr(said);
    return 1;
}

#define PLUS(x, y) ((x) + (y))
#define MINUS(x, y) ((x) - (y))
#define TIMES(x, y) ((x) * (y))
#define OVER(x, y) ((x) / (y))
#define ABOVE_0(x, y) ((void)(y), _mm256_max_ps(_mm256_setzero_ps(), x)) /* x if it is NaN, -0 */
NARROW(sum, 2, PLUS)
NARROW(difference, 2, MINUS)
NARROW(product, 2, TIMES)
NARROW(quotient, 2, OVER)
NARROW(relu, 1, ABOVE_0)
NARROW(square, 1, TIMES)
#define LEAKY(x, y)                                                                                \
    _mm256_blendv_ps((x) * (y), x, _mm256_cmp_ps(x, _mm256_setzero_ps(), _CMP_GT_OQ))
NARROW(leaky_relu, 2, LEAKY)
#define IS_NAN(x) _mm256_cmp_ps(x, x, _CMP_UNORD_Q)
#define GREATER(x, y) _mm256_blendv_ps(_mm256_max_ps(x, y), x, IS_NAN(x)) /* y if either is NaN */
#define LESS(x, y) _mm256_blendv_ps(_mm256_min_ps(x, y), x, IS_NAN(x))
NARROW(maximum, 2, GREATER)
NARROW(minimum, 2, LESS)
#define NOT_BELOW(x, y) GREATER(y, x)
#define NOT_ABOVE(x, y) LESS(y, x)
NARROW(clamp_min, 2, NOT_BELOW)
NARROW(clamp_max, 2, NOT_ABOVE)
#define FLOOR(x, y) ((void)(y), _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC))
#define CEIL(x, y) ((void)(y), _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC))
#define TRUNC(x, y) ((void)(y), _mm256_round_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC))
#define RINT(x, y) ((void)(y), _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC))
NARROW(floor, 1, FLOOR)
NARROW(ceil, 1, CEIL)
NARROW(trunc, 1, TRUNC)
NARROW(rint, 1, RINT)
#define INVERSE(x, y) ((void)(y), _mm256_div_ps(_mm256_set1_ps(1), x))
NARROW(reciprocal, 1, INVERSE)
#define ROOT(x, y) ((void)(y), _mm256_sqrt_ps(x))
#define OVER_ROOT(x, y) ((void)(y), _mm256_div_ps(_mm256_set1_ps(1), _mm256_sqrt_ps(x)))
NARROW(sqrt, 1, ROOT)
NARROW(over_root, 1, OVER_ROOT)

/* A NaN is the second operand of both, which they give then. */
#define RELU6(x) _mm256_min_ps(_mm256_set1_ps(6), ABOVE_0(x, x))
#define HARDSIGMOID(x, y) ((void)(y), RELU6((x) + 3.0f) / 6.0f)
#define HARDSWISH(x, y) ((void)(y), (x) * RELU6((x) + 3.0f) / 6.0f)
NARROW(hardsigmoid, 1, HARDSIGMOID)
NARROW(hardswish, 1, HARDSWISH)

static int pow_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves, int brain) {
    char *both[2] = {args[0], args[2]};
    const intptr_t own[2] = {steps[0], steps[2]};
    float exponent = 0;
    if (steps[1] == 0 && halves & 2)
        exponent = (brain ? v_from_brain : v_from_half)(*(const uint16_t *)args[1]);
    else if (steps[1] == 0)
        memcpy(&exponent, args[1], sizeof exponent);
    halves = (halves & 1) | (halves >> 1 & 2);
    return exponent == 2     ? square_narrow(both, n, own, halves, brain)
           : exponent == 0.5 ? sqrt_narrow(both, n, own, halves, brain)
                             : 0;
}

/* Of several arrays and a number after them, as float's loops where they fuse x + y * z. */
#define V_FUSED __attribute__((target("avx2,f16c,fma")))
#define NARROW_WITH(NAME, NARRAYS, VALUE)                                                          \
    V_FUSED static void NAME##_by_16(uint16_t *to, const uint16_t *const *in, float number,        \
                                     intptr_t n, int brain) {                                      \
        const __m256 w = _mm256_set1_ps(number);                                                   \
        for (intptr_t i = 0; i < n; i += 16) {                                                     \
            __m256 values[2];                                                                      \
            for (int half = 0; half < 2; half++) {                                                 \
                const __m256 x = widened(in[0] + i + 8 * half, brain);                             \
                const __m256 y = widened(in[1] + i + 8 * half, brain);                             \
                const __m256 z = widened(in[NARRAYS - 1] + i + 8 * half, brain);                   \
                values[half] = VALUE(x, y, z, w);                                                  \
            }                                                                                      \
            put_narrowed(to + i, values[0], values[1], brain);                                     \
        }                                                                                          \
    }                                                                                              \
    static int NAME##_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,      \
                             int brain) {                                                          \
        return operate_with_number(NAME##_by_16, NARRAYS, args, n, steps, halves, brain);          \
    }

typedef void (*with_number)(uint16_t *to, const uint16_t *const *in, float number, intptr_t n,
                            int brain);
static int operate_with_number(with_number run, int narrays, char **args, intptr_t n,
                               const intptr_t *steps, unsigned halves, int brain) {
    const uint16_t *in[3], *rest[3];
    uint16_t ends[4][16] = {{0}}, *to = (uint16_t *)args[narrays + 1];
    const intptr_t whole = n - n % 16;
    unsigned said;
    float number;
    for (int k = 0; k < narrays + 2; k++)
        if (k != narrays && (steps[k] != 2 || !(halves >> k & 1)))
            return 0;
    if (steps[narrays] || halves >> narrays & 1 || !V_HAS_AVX2 || !V_HAS_F16C ||
        !__builtin_cpu_supports("fma"))
        return 0;
    memcpy(&number, args[narrays], sizeof number);
    said = _mm_getcsr();
    for (int k = 0; k < narrays; k++) {
        in[k] = (const uint16_t *)args[k];
        rest[k] = memcpy(ends[k], in[k] + whole, (size_t)(n - whole) * sizeof *to);
    }
    run(to, in, number, whole, brain);
    if (whole < n) {
        run(ends[3], rest, number, 16, brain);
        memcpy(to + whole, ends[3], (size_t)(n - whole) * sizeof *to);
    }
    _mm_setcsr(said);
    return 1;
}

#define PLUS_PRODUCT(x, y, z, w) _mm256_fmadd_ps(_mm256_mul_ps(w, y), z, x)
#define PLUS_QUOTIENT(x, y, z, w) ((x) + _mm256_mul_ps(w, y) / (z))
V_FUSED static inline __m256 between_of(__m256 x, __m256 y, __m256 w) {
    const __m256 one = _mm256_set1_ps(1), apart = _mm256_sub_ps(y, x);
    const __m256 size = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), w);
    const __m256 near = _mm256_fmadd_ps(w, apart, x);
    const __m256 far = _mm256_fnmadd_ps(apart, _mm256_sub_ps(one, w), y);
    return _mm256_blendv_ps(far, near, _mm256_cmp_ps(size, _mm256_set1_ps(0.5f), _CMP_LT_OQ));
}
#define BETWEEN(x, y, z, w) ((void)(z), between_of(x, y, w))
NARROW_WITH(addcmul, 3, PLUS_PRODUCT)
NARROW_WITH(addcdiv, 3, PLUS_QUOTIENT)
NARROW_WITH(lerp, 2, BETWEEN)

/* Of an array and two numbers. */
V_NARROW_INLINE void between_of_16(uint16_t *to, const uint16_t *a, float low, float high,
                                   intptr_t n, int brain, int replaces) {
    const __m256 y = _mm256_set1_ps(low), z = _mm256_set1_ps(high);
    for (intptr_t i = 0; i + 16 <= n; i += 16) {
        __m256 values[2];
        for (int half = 0; half < 2; half++) {
            const __m256 x = widened(a + i + 8 * half, brain);
            values[half] = replaces ? _mm256_blendv_ps(x, z, _mm256_cmp_ps(x, y, _CMP_LE_OQ))
                                    : _mm256_min_ps(z, _mm256_max_ps(y, x)); /* x if it is NaN */
        }
        put_narrowed(to + i, values[0], values[1], brain);
    }
}

V_NARROW void between_by_16(uint16_t *to, const uint16_t *a, float low, float high, intptr_t n,
                            int brain, int replaces) {
    if (brain)
        between_of_16(to, a, low, high, n, 1, replaces);
    else
        between_of_16(to, a, low, high, n, 0, replaces);
}

static int between_numbers(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                           int brain, int replaces) {
    const uint16_t *a = (const uint16_t *)args[0];
    uint16_t *to = (uint16_t *)args[3], ends[2][16] = {{0}};
    const intptr_t whole = n - n % 16;
    unsigned said;
    float number[2];
    if (steps[0] != 2 || steps[1] || steps[2] || steps[3] != 2 || (halves & 9) != 9 ||
        !V_HAS_AVX2 || !V_HAS_F16C)
        return 0;
    for (int k = 0; k < 2; k++)
        if (halves >> (k + 1) & 1)
            number[k] = (brain ? v_from_brain : v_from_half)(*(const uint16_t *)args[k + 1]);
        else
            memcpy(&number[k], args[k + 1], sizeof *number);
    if (!replaces) {
        if (number[0] != number[0] || number[1] != number[1])
            return 0;
        number[0] = number[0] < number[1] ? number[0] : number[1];
    }
    said = _mm_getcsr();
    between_by_16(to, a, number[0], number[1], whole, brain, replaces);
    if (whole < n) {
        memcpy(ends[0], a + whole, (size_t)(n - whole) * sizeof *to);
        between_by_16(ends[1], ends[0], number[0], number[1], 16, brain, replaces);
        memcpy(to + whole, ends[1], (size_t)(n - whole) * sizeof *to);
    }
    _mm_setcsr(said);
    return 1;
}

static int clamp_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                        int brain) {
    return between_numbers(args, n, steps, halves, brain, 0);
}

static int threshold_narrow(char **args, intptr_t n, const intptr_t *steps, unsigned halves,
                            int brain) {
    return between_numbers(args, n, steps, halves, brain, 1);
}
#define NARROW_OF(NAME) NAME##_narrow
#else
#define over_root_narrow(args, n, steps, halves, brain) 0
#define NARROW_OF(NAME) NULL
#endif

#endif
