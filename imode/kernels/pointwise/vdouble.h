/* exp of double as straight-line code in the way of vmath.h, and its vector forms.

   Loops call them as they call those of libmvec, by the names that the compiler gives them: one
   copy for a module takes a tenth of the room of a copy in each loop, and a seventh longer. What is
   left at a loop's end goes through shorter forms of the same results. Without fused multiply-add
   libmvec is the faster, and does it. */
#ifndef IMODE_VDOUBLE_H
#define IMODE_VDOUBLE_H

#include "vmath.h"

/* exp(x) = 2^k * exp(r), |r| <= ln2 / 2. Below 0.95 ulp, without fused multiply-add 1.2. */
#define V_LN2_HI_D 0x1.62e42fefap-1 /* 36 bits: k * V_LN2_HI_D is exact for every exponent k */
#define V_LN2_LO_D 0x1.cf79abc9e3b3ap-40
/* (exp(r) - 1 - r) / r^2 */
static const double v_exp_terms[] = {
    0.500000000000001,     0.16666666666666416,   0.04166666666653508,  0.0083333333334936,
    0.0013888888942529163, 0.0001984126950589734, 2.480149409450459e-5, 2.755758852549669e-6,
    2.7629933227702135e-7, 2.4999038809331994e-8};
/* exp(r) for x; `shifted` ends in the bits of k */
V_INLINE double v_exp_rest(double x, double *shifted) {
    *shifted = x * 1.44269504088896340736 + V_ROUND_D;
    const double k = *shifted - V_ROUND_D, r = (x - k * V_LN2_HI_D) - k * V_LN2_LO_D;
    return (HALVES(d, v_exp_terms, r) * r + 1.0) * r + 1.0;
}
/* 2^k is two factors, since the result may be subnormal. */
V_INLINE double exp_of_d(double x) {
    x = x > 710.0 ? 710.0 : x;
    x = x < -746.0 ? -746.0 : x;
    double shifted, p = v_exp_rest(x, &shifted);
    const double half = (shifted - V_ROUND_D) * 0.5 + V_ROUND_D;
    const uint64_t one = 1023ull << 52;
    return p * v_double((v_bits_d(half) << 52) + one) *
           v_double(((v_bits_d(shifted) - v_bits_d(half)) << 52) + one);
}
/* The same for |x| up to EXP_NEAR_D, where neither x nor the power of two leaves the range. */
#define EXP_NEAR_D 708.0
V_INLINE double v_exp_near(double x) {
    double shifted, p = v_exp_rest(x, &shifted);
    return v_double(v_bits_d(p) + (v_bits_d(shifted) << 52));
}

/* ---- vector forms ---- */

#if defined(V_SIMD) && IMODE_LEVELS
#define V_WEAK __attribute__((weak))
typedef double v_lanes_1 __attribute__((may_alias));
typedef double v_lanes_2 __attribute__((vector_size(16), may_alias));
typedef double v_lanes_4 __attribute__((vector_size(32), may_alias));
typedef double v_lanes_8 __attribute__((vector_size(64), may_alias));
/* No array remains of the lanes: the loop becomes operations of the vector. */
#define V_FORM(HOW, FORM, LANES, LEVEL, VALUE)                                                     \
    HOW __attribute__((target("arch=x86-64-" LEVEL)))                                              \
    v_lanes_##LANES FORM(v_lanes_##LANES vector) {                                                 \
        _Alignas(8 * LANES) double lanes[LANES];                                                   \
        *(v_lanes_##LANES *)lanes = vector;                                                        \
        for (int i = 0; i < LANES; i++)                                                            \
            lanes[i] = VALUE(lanes[i]);                                                            \
        return *(v_lanes_##LANES *)lanes;                                                          \
    }
/* v_NAME by VALUE, under names of the compiler's. Weak: several files of a module may have it. */
#define V_FORMS(NAME, VALUE)                                                                       \
    V_FORM(static, NAME##_fused_1, 1, "v3", VALUE)                                                 \
    V_FORM(static, NAME##_fused_2, 2, "v3", VALUE)                                                 \
    v_lanes_2 _ZGVbN2v_##NAME(v_lanes_2);                                                          \
    V_WEAK double imode_##NAME(double x) { return V_LOW ? NAME(x) : NAME##_fused_1(x); }           \
    V_WEAK v_lanes_2 _ZGVbN2v_imode_##NAME(v_lanes_2 x) {                                          \
        return V_LOW ? _ZGVbN2v_##NAME(x) : NAME##_fused_2(x);                                     \
    }                                                                                              \
    V_FORM(V_WEAK, _ZGVdN4v_imode_##NAME, 4, "v3", VALUE)                                          \
    V_FORM(V_WEAK, _ZGVeN8v_imode_##NAME, 8, "v4", VALUE)                                          \
    V_SIMD double v_##NAME(double) __asm__("imode_" #NAME);
#else
#define V_FORMS(NAME, VALUE)                                                                       \
    V_INLINE double v_##NAME(double x) { return VALUE(x); }
#endif
V_FORMS(exp, exp_of_d)

#endif
