/* Steps of recurrent layers: one set of loops per element type and level, chosen when called. */

#include <string.h>

#include "_recurrent.h"
#include "vdouble.h"

#define LOOPS "_recurrent_loops.h"
#include "_levels.h"

long recurrent_panel(int wide)
{
    PICK(panel, ())
}

long recurrent_packed(int wide, long depth, long cols)
{
    PICK(packed_size, (depth, cols))
}

void recurrent_pack(int wide, long depth, long cols, const void *from, long sk, long sj, void *to)
{
    PICK(pack, (depth, cols, from, sk, sj, to))
}

void recurrent_product(int wide, long rows, long cols, long depth, const void *a, const void *b,
                       void *out, long ldo, int add)
{
    PICK(state_product, (rows, cols, depth, a, b, out, ldo, add))
}

void recurrent_step(int wide, int cell, long rows, long hidden, long first, long n, const void *x,
                    const void *s, const void *bias, const void *h, void *c, void *out,
                    void *gates, void *extra, int keep)
{
    PICK(step,
         (cell, rows, hidden, first, n, x, s, bias, h, c, out, gates, extra, keep))
}

void recurrent_step_back(int wide, int cell, long rows, long hidden, long first, long n,
                         const void *grad, const void *out, const void *before,
                         const void *cells, const void *gates, const void *extra, void *dh,
                         void *dc, void *dx, void *ds)
{
    PICK(step_back, (cell, rows, hidden, first, n, grad, out, before, cells, gates, extra, dh, dc,
                     dx, ds))
}
