/* A block of columns of a large product, for one element type and level. See _gemm.c. */

#include "_product_tile.h"

#define BESIDE 4 /* panels of a that are written at the same time */
#define SOON 8   /* columns of a from now, which are fetched */
/* Rows of a that meet a block of b before the next do: a multiple of ROWS. */
#define HIGH (384 / (long)sizeof(T))

/* The elements of the buffer for `cols` columns. */
static long NAME(buffer)(long rows, long cols, long depth, long ak)
{
    const long deep = depth < DEPTH ? depth : DEPTH;
    const long high = rows < HIGH ? (rows + ROWS - 1) / ROWS * ROWS : HIGH;
    return PACKED(deep, cols) + (ak == 1 ? 0 : deep * high);
}

/* a, whose rows lie closer than its columns, as panels of ROWS rows: column after column. Some
   panels at a time, of whose columns the next ones are fetched meanwhile. */
static void NAME(turn)(long rows, long depth, const T *a, long ai, long ak, T *to)
{
    for (long first = 0; first < rows; first += BESIDE * ROWS) {
        const long last = rows - first < BESIDE * ROWS ? rows : first + BESIDE * ROWS;
        const T *column = a + first * ai;
        for (long k = 0; k < depth; k++, column += ak) {
            const T *from = column;
            __builtin_prefetch(from + SOON * ak);
            __builtin_prefetch(from + SOON * ak + (BESIDE * ROWS - 1) * ai);
            for (long i = first; i < last; i += ROWS, from += ROWS * ai) {
                T *panel = to + i * depth + k * ROWS;
                const long n = rows - i < ROWS ? rows - i : ROWS;
                if (ai == 1 && n == ROWS)
                    memcpy(panel, from, ROWS * sizeof(T));
                else
                    for (long r = 0; r < n; r++)
                        panel[r] = from[r * ai];
            }
        }
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
