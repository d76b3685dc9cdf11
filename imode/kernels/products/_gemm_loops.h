/* A block of columns of a large product, for one element type and level. See _gemm.c. */

#include "_product_tile.h"

#define DEPTH (1536 / (long)sizeof(T)) /* rows of b in a block: a panel of them lies in L1 */
#define LINE (64 / (long)sizeof(T))    /* rows of a that share a line of the cache */
#define HIGH 96                        /* rows of a that meet a block of b before the next do */

/* The elements of the buffer for `cols` columns. */
static long NAME(buffer)(long rows, long cols, long depth, long ak)
{
    const long deep = depth < DEPTH ? depth : DEPTH;
    return PACKED(deep, cols) + (ak == 1 ? 0 : deep * (rows < HIGH ? rows : HIGH));
}

/* to[i, k] = a[i, k], contiguous; the rows of a lie closer than its columns. */
static void NAME(turn)(long rows, long depth, const T *a, long ai, long ak, T *to)
{
    const long fours = ai == 1 ? depth / 4 * 4 : 0;
    for (long i0 = 0; i0 < rows; i0 += LINE) {
        const long last = rows - i0 < LINE ? rows - i0 : LINE;
        const T *from = a + i0 * ai;
        T *line = to + i0 * depth;
        const long even = last / 4 * 4;
        for (long k = 0; k < fours; k += 4)
            for (long i = 0; i < even; i += 4)
                NAME(turn_4)(from + i + k * ak, ak, line + i * depth + k, depth);
        for (long i = 0; i < last; i++)
            for (long k = i < even ? fours : 0; k < depth; k++)
                line[i * depth + k] = from[i * ai + k * ak];
    }
}

static void NAME(gemm)(long rows, long cols, long depth, const T *a, long ai, long ak, const T *b,
                       long bk, long bj, T *out, long ldo, T *buffer)
{
    /* As deep as each other, so that none is left with a few rows. */
    const long blocks = (depth + DEPTH - 1) / DEPTH, deep = (depth + blocks - 1) / blocks;
    T *turned = buffer + PACKED(deep, cols);
    for (long k = 0; k < depth; k += deep) {
        const long d = depth - k < deep ? depth - k : deep;
        NAME(pack)(d, cols, b + k * bk, bk, bj, buffer);
        for (long i = 0; i < rows; i += HIGH) {
            const long n = rows - i < HIGH ? rows - i : HIGH;
            const T *left = a + i * ai + k * ak;
            if (ak != 1)
                NAME(turn)(n, d, left, ai, ak, turned);
            NAME(packed)(n, cols, d, ak == 1 ? left : turned, ak == 1 ? ai : d, 1, buffer,
                         out + i * ldo, ldo, k > 0);
        }
    }
}
