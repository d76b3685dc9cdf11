/* Numbers of distributions from the words of a generator, as floats, a block at a time.
 *
 * They are defined by the libm of single doubles. Its vector forms give other last digits, but
 * hardly ever another float: where all doubles within a bound of their error are rounded to one
 * float, it is the result; for the few others the definition is computed. */
#ifndef IMODE_LAWS_H
#define IMODE_LAWS_H

#include "../pointwise/vdouble.h"
#include "boxmuller.h"
#include "mt19937.h"

/* As in distributions.pxd. */
enum { LAW_EXPONENTIAL, LAW_CAUCHY, LAW_LOG_NORMAL, LAW_GEOMETRIC, LAW_NORMAL };

#define LAW_BLOCK 64
#define LAW_LANES 4
#define LAW_ERROR 0x1p-46 /* relative, of all that is computed below: many times what it can be */
#define LAW_PI 3.141592653589793238462643383279

static inline double law_unit(mt_state *mt) {
    return (double)(mt_next64(mt) & 0x1FFFFFFFFFFFFFULL) * 0x1p-53;
}

/* The definitions. */
static inline double law_one(int law, double unit, double a, double b) {
    if (law == LAW_EXPONENTIAL)
        return -1.0 / a * log1p(-unit);
    if (law == LAW_CAUCHY)
        return fma(b, tan(LAW_PI * (unit - 0.5)), a);
    return ceil(log(unit) / log1p(-a));
}
static inline double law_normal(int law, double x, double mean, double std) {
    return law == LAW_NORMAL ? fma(x, std, mean) : exp(fma(x, std, mean));
}
static inline void law_pair(double angle, double unit, double *pair) {
    const double turn = BM_TWO_PI * angle, radius = sqrt(-2.0 * log1p(-unit));
    pair[0] = radius * cos(turn);
    pair[1] = radius * sin(turn);
}

static inline int law_whole(int n) { return (n + LAW_LANES - 1) & -LAW_LANES; }

/* Whole vectors: the compiler sees that n is a multiple of LAW_LANES. */
#define LAW_EACH(NAME, VALUE)                                                                      \
    BM_CLONES static void NAME(double *restrict x, double *restrict y, int n) {                    \
        (void)y;                                                                                   \
        n = law_whole(n);                                                                          \
        V_IVDEP for (int k = 0; k < n; k++) VALUE;                                                 \
    }
LAW_EACH(law_logs, x[k] = v_log1p(-x[k]))
LAW_EACH(law_tans, x[k] = v_tan(LAW_PI *(x[k] - 0.5)))
LAW_EACH(law_exps, x[k] = v_exp(x[k]))
LAW_EACH(law_turns, (y[k] = v_sin(BM_TWO_PI * x[k]), x[k] = v_cos(BM_TWO_PI * x[k])))

/* Whether all doubles that far from x are rounded to one float. */
static inline int law_settles(double x, double error, float *to) {
    *to = (float)(x - error);
    return *to == (float)(x + error);
}

static void law_floats(mt_state *mt, float *out, int64_t n, int law, double a, double b) {
    _Alignas(64) double units[LAW_BLOCK], x[LAW_BLOCK];
    const double by = law == LAW_EXPONENTIAL ? -1.0 / a : 1.0 / log1p(-a);
    for (; n > 0; n -= LAW_BLOCK, out += LAW_BLOCK) {
        const int m = n < LAW_BLOCK ? (int)n : LAW_BLOCK;
        for (int i = 0; i < law_whole(m); i++) {
            units[i] = i < m ? law_unit(mt) : 0.5;
            x[i] = law == LAW_GEOMETRIC ? 1.0 - units[i] : units[i]; /* exact */
        }
        (law == LAW_CAUCHY ? law_tans : law_logs)(x, NULL, law_whole(m));
        for (int i = 0; i < m; i++) {
            double value = law == LAW_CAUCHY ? b * x[i] : by * x[i], error = fabs(value);
            value += law == LAW_CAUCHY ? a : 0;
            error = (error + fabs(value)) * LAW_ERROR;
            if (law == LAW_GEOMETRIC) {
                out[i] = (float)ceil(value);
                if (ceil(value - error) == ceil(value + error))
                    continue;
            } else if (law_settles(value, error, out + i))
                continue;
            out[i] = (float)law_one(law, units[i], a, b);
        }
    }
}

/* Pairs of normal numbers, or of those whose logarithms they are. */
static void law_pairs(mt_state *mt, float *out, int64_t pairs, int law, double mean, double std) {
    _Alignas(64) double angles[LAW_BLOCK], units[LAW_BLOCK], r[LAW_BLOCK];
    _Alignas(64) double x[LAW_BLOCK], y[LAW_BLOCK];
    for (; pairs > 0; pairs -= LAW_BLOCK / 2, out += LAW_BLOCK) {
        const int m = pairs < LAW_BLOCK / 2 ? (int)pairs : LAW_BLOCK / 2, whole = law_whole(m);
        for (int i = 0; i < whole; i++) {
            angles[i] = x[i] = i < m ? law_unit(mt) : 0.5;
            units[i] = r[i] = i < m ? law_unit(mt) : 0.5;
        }
        law_logs(r, NULL, whole);
        law_turns(x, y, whole);
        for (int i = whole - 1; i >= 0; i--) {
            const double radius = sqrt(-2.0 * r[i]) * std, sine = radius * y[i];
            r[2 * i] = radius * x[i];
            r[2 * i + 1] = sine;
        }
        for (int i = 0; i < 2 * whole; i++) {
            x[i] = r[i] + mean;
            r[i] = fabs(r[i]) + fabs(x[i]);
        }
        if (law == LAW_LOG_NORMAL) {
            law_exps(x, NULL, 2 * whole);
            for (int i = 0; i < 2 * m; i++)
                r[i] = (r[i] + 1) * x[i];
        }
        for (int i = 0; i < 2 * m; i++)
            if (!law_settles(x[i], r[i] * LAW_ERROR, out + i)) {
                double pair[2];
                law_pair(angles[i / 2], units[i / 2], pair);
                out[i] = (float)law_normal(law, pair[i % 2], mean, std);
            }
    }
}

#endif
