/* Attention: one set of loops per element type and level, chosen when called. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "_attention.h"
#include "vdouble.h"

/* exp(x) of scores less the largest of their row: no more than 0, but for rounding. As v_expf, but
   below -87, where float holds few digits, 0: half of the instructions. NaN stays NaN. */
V_INLINE float exp_of_score(float x)
{
    const float shifted = x * 1.44269504f + V_ROUND;
    const float kf = shifted - V_ROUND;
    const float r = x - kf * V_LN2_HI - kf * V_LN2_LO;
    const uint32_t scale = (v_bits(shifted) - v_bits(V_ROUND) + 127u) << 23;
    return v_float(v_bits(v_exp_reduced(r) * v_float(scale)) & -(uint32_t)!(x < -87.0f));
}

/* For either element type. */
#define POWER(x) (sizeof(T) == sizeof(float) ? (T)exp_of_score((float)(x)) : EXP(x))

#define LOOPS "_attention_loops.h"
#include "_levels.h"

#if CHOOSE
#include "_attention_tiles.h"

int attention_takes_brains(void) { return has_tiles(); }

int attention_of_brains(const attention_t *a) { return tile_forward(a); }
#else
int attention_takes_brains(void) { return 0; }

int attention_of_brains(const attention_t *a) { return (void)a, -1; }
#endif

int attention_forward(int wide, const attention_t *a)
{
    PICK(forward, (a))
}

int attention_backward(int wide, const attention_t *a)
{
    PICK(backward, (a))
}
