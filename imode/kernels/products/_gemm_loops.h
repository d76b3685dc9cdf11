/* A block of columns of a large product, for one element type and level. See _gemm.c. */

#ifdef SPREAD
#define LEFT NAME(vec)
#define TIMES LANES /* that each element of a panel of a is written */
#else
#define TIMES 1
#endif
#include "_product_tile.h"

#define BESIDE 4 /* panels of a that are written at the same time */
#define SOON 8   /* columns of a from now, which are fetched */
#define SOME 64  /* columns of a that are in the first cache together */
/* Rows of a that meet a block of b before the next do: a multiple of ROWS. */
#define HIGH (384 / (long)sizeof(T) / TIMES)
/* Whether a is read where it lies. */
#define LYING (TIMES == 1 && ak == 1)

/* The elements of the buffer for `cols` columns. */
static long NAME(buffer)(long rows, long cols, long depth, long ak)
{
    const long deep = depth < DEPTH ? depth : DEPTH;
    const long high = rows < HIGH ? (rows + ROWS - 1) / ROWS * ROWS : HIGH;
    return PACKED(deep, cols) + (LYING ? 0 : deep * high * TIMES);
}

#ifdef SPREAD
/* Rows of a as panels of ROWS rows: column after column, each element LANES times. */
static void NAME(turn)(long rows, long depth, const T *a, long ai, long ak, T *to)
{
    for (long i = 0; i < rows; i += ROWS, a += ROWS * ai, to += ROWS * LANES * depth) {
        const long n = rows - i < ROWS ? rows - i : ROWS;
#define WRITE(r, k)                                                                               \
    *(VEC *)(to + ((k) * ROWS + (r)) * LANES) = a[(r) * ai + (k) * ak] - (VEC){0}
        if (ak > ai && n == ROWS) { /* a line of the cache holds elements of one column */
            for (long k = 0; k < depth; k++) {
                UNROLL
                for (int r = 0; r < ROWS; r++)
                    WRITE(r, k);
            }
            continue;
        }
        for (long first = 0; first < depth; first += SOME) {
            const long last = depth - first < SOME ? depth : first + SOME;
            for (long r = 0; r < n; r++)
                for (long k = first; k < last; k++)
                    WRITE(r, k);
        }
    }
}
#undef WRITE
#else
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
#endif

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
            if (LYING) {
                NAME(packed)(n, cols, d, left, ai, 1, ROWS * ai, buffer, out + i * ldo, ldo, add);
                continue;
            }
            NAME(turn)(n, d, left, ai, ak, turned);
            NAME(packed)(n, cols, d, turned, TIMES, ROWS * TIMES, ROWS * TIMES * d, buffer,
                         out + i * ldo, ldo, add);
        }
    }
}
#undef TIMES
