/* What the loops of all element types and instruction sets share: the plan. */
#ifndef IMODE_TRANSFORM_PLAN_H
#define IMODE_TRANSFORM_PLAN_H

#include "transform.h"

enum {
    MAX_RADIX = 127,     /* larger prime factors: by Bluestein's way */
    LANES_MOST = 524288, /* bytes of a vector's lines, twice in the L2 cache; longer lines are
                            transformed one by one, in two steps */
    SHORT = 2048,        /* numbers of a line that leave room in the caches for another one */
    ALONE = 256,         /* from so many on, vectors of 32 bytes don't take lines beside each other */
    GROUPS = 4           /* of vectors' lines that are read and written together */
};

/* Lengths without large prime factors are transformed by Stockham's passes, many lines at once
   beside each other in vectors. One line of n = n1 * n2 is such a bundle of n2 lines of length n1,
   then of n1 lines of length n2, with a turn of each number between: so are lines transformed that
   are few or long, and all whose steps fill vectors of 64 bytes, where 16 of these, in registers,
   are a step of 16; of 32 bytes, only float32 of more than a few hundred numbers. */
struct imode_plan {
    long n;             /* complex numbers of a line: half of them in real ones of even length */
    long real;          /* real numbers of a line; 0: complex */
    int wide;
    int radices[64];    /* of the passes, 0 at the end; the first is 0: no passes */
    void *twiddles;     /* of the passes: pairs, in the order they are used */
    void *roots;        /* of the passes with odd radices from 7 on: cos, sin of each k / radix */
    long n1, n2;        /* of the two steps; n1 is 0: there are none */
    int whole;          /* each step fills vectors of 32 or 64 bytes */
    imode_plan *first;  /* of length n1 */
    imode_plan *second; /* of length n2 */
    void *turns;        /* [k1][re, im][j2, rounded up to lanes] */
    void *half_turns;   /* of real lines of even length: re of each k < n + LANES, then im */
    imode_plan *around; /* of Bluestein's way: the longer plan, or NULL */
    void *chirp;        /* pairs, n */
    void *kernel;       /* pairs, around->n: its transform, scaled */
    size_t bytes, work; /* work: of what lies side by side */
};

typedef struct {
    int lanes;
    void (*run)(const imode_plan *, int, int, int, double, const char *, const ptrdiff_t *,
                ptrdiff_t, char *, const ptrdiff_t *, ptrdiff_t, int, void *);
    void (*line)(const imode_plan *, const void *, void *, int, double, void *);
} transform_set;

/* Whether the elements of the lines do not lie side by side. */
static inline int imode_strided(const imode_plan *plan, int kind, ptrdiff_t src_step, ptrdiff_t dst_step)
{
    const ptrdiff_t real = plan->wide ? 8 : 4;
    return src_step != (kind == IMODE_R2C ? real : 2 * real) ||
           dst_step != (kind == IMODE_C2R ? real : 2 * real);
}

/* Whether lines are transformed beside each other, `lanes` of them. */
static inline int imode_bundled(const imode_plan *plan, int kind, int lanes, int strided)
{
    const size_t pack = 2 * lanes * (plan->wide ? 8 : 4);
    const int long_enough = plan->n >= (kind == IMODE_C2C ? ALONE : 2 * ALONE);
    const int alone = plan->whole && (pack == 128 || (!plan->wide && kind != IMODE_C2R && long_enough));
    return plan->radices[0] && plan->n * pack <= LANES_MOST && (strided || !alone);
}

#endif
