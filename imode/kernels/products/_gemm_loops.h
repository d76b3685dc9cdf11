/* A block of columns of a large product, for one element type and level. See _gemm.c. */

#include "_product_tile.h"

#define DEPTH (1536 / (long)sizeof(T)) /* rows of b in a block: a panel of them lies in L1 */
#define HIGH 96 /* rows of a that meet a block of b before the next do: a multiple of ROWS */

/* The elements of the buffer for `cols` columns. */
static long NAME(buffer)(long rows, long cols, long depth, long ak)
{
    const long deep = depth < DEPTH ? depth : DEPTH;
    const long high = rows < HIGH ? (rows + ROWS - 1) / ROWS * ROWS : HIGH;
    return PACKED(deep, cols) + (ak == 1 ? 0 : deep * high);
}

/* a, whose rows lie closer than its columns, as panels of ROWS rows: column after column. */
static void NAME(turn)(long rows, long depth, const T *a, long ai, long ak, T *to)
{
    for (long k = 0; k < depth; k++, a += ak)
        for (long i = 0; i < rows; i += ROWS) {
            T *panel = to + i * depth + k * ROWS;
            const long n = rows - i < ROWS ? rows - i : ROWS;
            if (ai == 1 && n == ROWS)
                memcpy(panel, a + i, ROWS * sizeof(T));
            else
                for (long r = 0; r < n; r++)
                    panel[r] = a[(i + r) * ai];
        }
}

static void NAME(gemm)(long rows, long cols, long depth, const T *a, long ai, long ak, const T *b,
                       long bk, long bj, T *out, long ldo, int minus, T *buffer)
{
    /* As deep as each other, so that none is left with a few rows. */
    const long blocks = (depth + DEPTH - 1) / DEPTH, deep = (depth + blocks - 1) / blocks;
    T *turned = buffer + PACKED(deep, cols);
    for (long k = 0; k < depth; k += deep) {
        const long d = depth - k < deep ? depth - k : deep;
        const int add = minus || k > 0;
        NAME(pack)(d, cols, b + k * bk, bk, bj, buffer);
        for (long e = 0; e < (minus ? PACKED(d, cols) : 0); e++)
            buffer[e] = -buffer[e];
        for (long i = 0; i < rows; i += HIGH) {
            const long n = rows - i < HIGH ? rows - i : HIGH;
            const T *left = a + i * ai + k * ak;
            if (ak == 1) {
                NAME(packed)(n, cols, d, left, ai, 1, ROWS * ai, buffer, out + i * ldo, ldo, add);
                continue;
            }
            NAME(turn)(n, d, left, ai, ak, turned);
            NAME(packed)(n, cols, d, turned, 1, ROWS, ROWS * d, buffer, out + i * ldo, ldo, add);
        }
    }
}
