/* Special functions as tables of loops for NumPy; see elementwise.h. */

#include "elementwise.h"

#include "bessel.h"
#include "incomplete_gamma.h"
#include "normal.h"

/* ---- gamma ---- */

/* In double, by whole vectors: a few elements cost as much as one vector of them, and the libm of
   single numbers is not called. */
#define LANES 8
#define WHOLE(n) (((n) + LANES - 1) / LANES * LANES)
#define LANES_OF(TO, VALUE)                                                                        \
    for (npy_intp i = 0; i < m; i += LANES)                                                        \
        V_IVDEP for (npy_intp k = i; k < i + LANES; k++) (TO)[k] = VALUE;
#define WIDEN(TO, FROM)                                                                            \
    for (npy_intp i = 0; i < WHOLE(m); i++)                                                        \
        (TO)[i] = (double)(FROM)[i < m ? i : m - 1];

/* Blocks without elements below LEAST are spared the reflection. */
#define REFLECTED_LOOP(NAME, T, LEAST, ABOVE, ANYWHERE)                                            \
    V_CLONES static void NAME(char *const *p, npy_intp n) {                                        \
        const T *a = (const T *)p[0];                                                              \
        T *out = (T *)p[1];                                                                        \
        for (; n > 0; n -= BLOCK, a += BLOCK, out += BLOCK) {                                      \
            const npy_intp m = n < BLOCK ? n : BLOCK;                                              \
            _Alignas(64) double x[BLOCK];                                                          \
            int above = 1;                                                                         \
            WIDEN(x, a)                                                                            \
            for (npy_intp i = 0; i < m; i++)                                                       \
                above &= !(x[i] < LEAST);                                                          \
            if (above) {                                                                           \
                LANES_OF(x, ABOVE(x[k]))                                                           \
            } else {                                                                               \
                LANES_OF(x, ANYWHERE(x[k]))                                                        \
            }                                                                                      \
            for (npy_intp i = 0; i < m; i++)                                                       \
                out[i] = (T)x[i];                                                                  \
        }                                                                                          \
    }
#define REFLECTED(NAME, LEAST, ABOVE, ANYWHERE)                                                    \
    REFLECTED_LOOP(NAME##_f, float, LEAST, ABOVE, ANYWHERE)                                        \
    REFLECTED_LOOP(NAME##_d, double, LEAST, ABOVE, ANYWHERE)
REFLECTED(lgamma, 0, lgamma_above, lgamma_anywhere)
FLOAT_TABLE(1, lgamma)
REFLECTED(trigamma, 0.5, trigamma_above, trigamma_anywhere)
REFLECTED(digamma, 1e-300, digamma_above, digamma_anywhere)
FLOAT_TABLE(1, digamma)

/* Loops over what branches: compiled once. The limit is where sums may end in the type. */
#define EACH2(NAME, T, LIMIT, VALUE)                                                               \
    static void NAME(char *const *p, npy_intp n) {                                                 \
        const T *a = (const T *)p[0], *b = (const T *)p[1];                                        \
        T *out = (T *)p[2];                                                                        \
        const double limit = LIMIT;                                                                \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            const double x = (double)a[i], y = (double)b[i];                                       \
            out[i] = (T)(VALUE);                                                                   \
        }                                                                                          \
    }
#define FLOATS_EACH2(NAME, VALUE)                                                                  \
    EACH2(NAME##_f, float, 0x1p-30, VALUE) EACH2(NAME##_d, double, 0x1p-54, VALUE)                 \
    FLOAT_TABLE(2, NAME)
FLOATS_EACH2(zeta, zeta_of(x, y, limit))
/* In float the density of a block is a loop of its own, which vectorises; its logarithms lose
   digits that only double has. */
V_CLONES static void densities(const float *a, const float *x, double *out, npy_intp m) {
    _Alignas(64) double order[BLOCK];
    WIDEN(order, a)
    WIDEN(out, x)
    LANES_OF(out, v_exp(order[k] * v_log(out[k]) - out[k] - lgamma_above(order[k] + 1)))
}
#define INCOMPLETE(NAME, UPPER)                                                                    \
    static void NAME##_f(char *const *p, npy_intp n) {                                             \
        const float *a = (const float *)p[0], *x = (const float *)p[1];                            \
        float *out = (float *)p[2];                                                                \
        _Alignas(64) double factors[BLOCK];                                                        \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            if (i % BLOCK == 0)                                                                    \
                densities(a + i, x + i, factors, n - i < BLOCK ? n - i : BLOCK);                   \
            out[i] = (float)incomplete_gamma(a[i], x[i], UPPER, 0x1p-30, factors + i % BLOCK);     \
        }                                                                                          \
    }                                                                                              \
    EACH2(NAME##_d, double, 0x1p-54, incomplete_gamma(x, y, UPPER, limit, NULL))                   \
    FLOAT_TABLE(2, NAME)
INCOMPLETE(igamma, 0)
INCOMPLETE(igammac, 1)

/* n, one for all elements; x */
EACH2(polygamma_from_2_f, float, 0x1p-30, polygamma_of(x, y, limit))
EACH2(polygamma_from_2_d, double, 0x1p-54, polygamma_of(x, y, limit))
#define POLYGAMMA(S, T)                                                                            \
    static void polygamma_##S(char *const *p, npy_intp n) {                                        \
        const T order = n ? *(const T *)p[0] : 0;                                                  \
        if (order == 0)                                                                            \
            digamma_##S(p + 1, n);                                                                 \
        else if (order == 1)                                                                       \
            trigamma_##S(p + 1, n);                                                                \
        else                                                                                       \
            polygamma_from_2_##S(p, n);                                                            \
    }
POLYGAMMA(f, float)
POLYGAMMA(d, double)
FLOAT_TABLE(2, polygamma)

/* x; p, one for all elements: the sum of lgamma(x - k/2) for k below p, and a constant */
#define MVLGAMMA(S, T)                                                                             \
    V_CLONES static void mvlgamma_##S(char *const *p, npy_intp n) {                                \
        const T *a = (const T *)p[0];                                                              \
        T *out = (T *)p[2];                                                                        \
        const double order = n ? (double)*(const T *)p[1] : 0;                                     \
        _Alignas(64) double x[BLOCK], sums[BLOCK];                                                 \
        for (; n > 0; n -= BLOCK, a += BLOCK, out += BLOCK) {                                      \
            const npy_intp m = n < BLOCK ? n : BLOCK;                                              \
            WIDEN(x, a)                                                                            \
            LANES_OF(sums, 0.25 * G_LOG_PI * order * (order - 1))                                  \
            for (double less = 0; less < order; less++)                                            \
                LANES_OF(sums, sums[k] + lgamma_anywhere(x[k] - 0.5 * less))                       \
            for (npy_intp i = 0; i < m; i++)                                                       \
                out[i] = (T)sums[i];                                                               \
        }                                                                                          \
    }
MVLGAMMA(f, float)
MVLGAMMA(d, double)
FLOAT_TABLE(2, mvlgamma)

/* ---- Bessel ---- */

FLOATS(1, i0e, i0_scaled_f(x, 1), i0_scaled_d(x, 1))
FLOATS(1, i1e, i1_scaled_f(x, 1), i1_scaled_d(x, 1))
FLOATS(1, i0, i0_scaled_f(x, v_expf(fabsf(x))), i0_scaled_d(x, v_exp(fabs(x))))
FLOATS(1, i1, i1_scaled_f(x, v_expf(fabsf(x))), i1_scaled_d(x, v_exp(fabs(x))))
V_INLINE double spherical_j0(double x) {
    double y = pick(fabs(x) == INFINITY, 0, x);
    return pick(x == y, pick(x == 0, 1, v_sin(y) / y), pick(x == x, 0, x));
}
FLOATS_SAME(1, spherical_bessel_j0, spherical_j0((double)x))

/* ---- the normal distribution, entropy ---- */

FLOATS(1, erfcx, erfcx_of_f(x), erfcx_of_d(x))
FLOATS(1, log_ndtr, log_ndtr_of_f(x), log_ndtr_of_d(x))
FLOATS(1, ndtri, NDTRI(f, float), NDTRI(d, double))
/* Most of what is at hand is near 0. What is not is collected, for the branch with a logarithm. In
   float, with fused multiply-add, another formula takes less. */
#define ERFINV_BLOCKS(LEVELS, NAME, T, S, ABS)                                                     \
    MAP1_AS(LEVELS, V_IVDEP, erfinv_anywhere_##S, T, T, ERFINV(S, T, ABS))                         \
    LEVELS static void NAME(char *const *p, npy_intp n) {                                          \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const T *a = (const T *)p[0] + start;                                                  \
            T *out = (T *)p[1] + start, far[BLOCK];                                                \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            uint8_t place[BLOCK];                                                                  \
            npy_intp count = 0;                                                                    \
            for (npy_intp i = 0; i < m; i++) {                                                     \
                far[count] = a[i];                                                                 \
                place[count] = (uint8_t)i;                                                         \
                count += !(ABS(a[i]) <= (T)ERFINV_NEAR);                                           \
            }                                                                                      \
            if (count > m / 2) {                                                                   \
                erfinv_anywhere_##S((char *[]){(char *)a, (char *)out}, m);                        \
                continue;                                                                          \
            }                                                                                      \
            V_IVDEP for (npy_intp i = 0; i < m; i++) out[i] = erfinv_near_##S(a[i]);               \
            erfinv_anywhere_##S((char *[]){(char *)far, (char *)far}, count);                      \
            for (npy_intp i = 0; i < count; i++)                                                   \
                out[place[i]] = far[i];                                                            \
        }                                                                                          \
    }
ERFINV_BLOCKS(, erfinv_low, float, f, fabsf)
ERFINV_BLOCKS(V_CLONES, erfinv_d, double, d, fabs)
MAP1(erfinv_high, float, float, erfinv_of_f(x))
BY_LEVEL(erfinv)
FLOAT_TABLE(1, erfinv)
FLOATS(1, entr, x > 0 ? -x * v_logf(x) : x == 0 ? 0 : x < 0 ? -INFINITY : x,
       pick(x > 0, -x *v_log(pick(x > 0, x, 1)), pick(x == 0, 0, pick(x < 0, -INFINITY, x))))

const imode_ufunc imode_special[] = {
    ROW(1, lgamma), ROW(1, digamma), ROW(2, polygamma), ROW(2, mvlgamma), ROW(2, zeta),
    ROW(2, igamma), ROW(2, igammac), ROW(1, i0), ROW(1, i0e), ROW(1, i1), ROW(1, i1e),
    ROW(1, spherical_bessel_j0), ROW(1, erfcx), ROW(1, log_ndtr), ROW(1, ndtri), ROW(1, erfinv),
    ROW(1, entr), {NULL, NULL, 0, 0, NULL, NULL, NULL},
};
