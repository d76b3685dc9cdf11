/* Products of matrices of integers, for one level, LEVEL, whose vectors have WIDTH bytes; see
   _gemm.c. Included once a level, the file includes itself once a type

     S  of the elements, without a sign: sums wrap around, and their low bits are the same
     T  of the sums: there is no multiplication of 8 bits. */

#ifndef S

#define S uint8_t
#define T uint16_t
#define SUFFIX JOIN(uint8, LEVEL)
#include "_integer_loops.h"
#define S uint16_t
#define T uint16_t
#define SUFFIX JOIN(uint16, LEVEL)
#include "_integer_loops.h"
#define S uint32_t
#define T uint32_t
#define SUFFIX JOIN(uint32, LEVEL)
#include "_integer_loops.h"
#define S uint64_t
#define T uint64_t
#define SUFFIX JOIN(uint64, LEVEL)
#define OF_64
#include "_integer_loops.h"
#undef OF_64

#else

#if WIDTH && (CHOOSE || !defined(OF_64)) /* 64 bits are no lane that any machine multiplies */
#define LANES (long)(WIDTH / sizeof(T))
typedef T NAME(vec) __attribute__((vector_size(WIDTH)));
typedef S NAME(elements)
    __attribute__((vector_size(WIDTH / sizeof(T) * sizeof(S)), aligned(sizeof(S)), may_alias));
#define LOAD(p) __builtin_convertvector(*(const NAME(elements) *)(p), NAME(vec))
#define STORE(p, v) *(NAME(elements) *)(p) = __builtin_convertvector(v, NAME(elements))
#define TIMES(x, y) ((x) * (y))
#else
#define LANES 1L
typedef T NAME(vec);
#define LOAD(p) ((T) * (p))
#define STORE(p, v) *(p) = (S)(v)
#define TIMES(x, y) (1u * (x) * (y)) /* of 16 bits: not as int, which has a sign */
#endif
#define VEC NAME(vec)

/* x * y, in two parts: of the lower halves, and of each half with the other one, whose sum belongs
   32 bits higher. The machine would need three products and shifts. */
#if defined(LOWER_HALVES) && defined(OF_64)
#define PAIRS NAME(pairs)
typedef uint32_t PAIRS __attribute__((vector_size(WIDTH)));
#define AT_ONCE 1
#define ADD(sum, crossed, x, y, turned)                                                           \
    sum += (VEC)LOWER_HALVES(x, y);                                                               \
    crossed += (PAIRS)(x) * (PAIRS)(turned)
#define TURNED(y) (VEC)TURN_HALVES(y)
#define TOTAL(sum, crossed) ((sum) + ((VEC)(crossed) << 32) + ((VEC)(crossed) >> 32 << 32))
#else
#define PAIRS VEC
#define AT_ONCE 2 /* vectors of a row of a tile */
#define ADD(sum, crossed, x, y, turned) sum += TIMES(x, y)
#define TURNED(y) (y)
#define TOTAL(sum, crossed) (sum)
#endif
#define PANEL (2 * LANES)

/* out (rows, vecs * LANES) = or += a (rows, depth) @ b, whose rows are contiguous. */
INLINE void NAME(sums)(const int rows, const int vecs, long depth, const S *a, long ai, long ak,
                       const S *b, long ldb, S *out, long ldo, int add)
{
    VEC sum[ROWS][2];
    PAIRS crossed[ROWS][2];
    const S *lower = a + 4 * ai;
    (void)crossed;
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            sum[i][j] = add ? LOAD(out + i * ldo + j * LANES) : (VEC){0};
            crossed[i][j] = (PAIRS){0};
        }
    }
    for (long k = 0; k < depth; k++, b += ldb) {
        VEC right[2], turned[2];
        UNROLL
        for (int j = 0; j < vecs; j++)
            right[j] = LOAD(b + j * LANES), turned[j] = TURNED(right[j]);
        (void)turned;
        UNROLL
        for (int i = 0; i < rows; i++) {
            const VEC left = (VEC){0} + (T)(i < 4 ? a : lower)[i % 4 * ai + k * ak];
            UNROLL
            for (int j = 0; j < vecs; j++) {
                ADD(sum[i][j], crossed[i][j], left, right[j], turned[j]);
            }
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            STORE(out + i * ldo + j * LANES, TOTAL(sum[i][j], crossed[i][j]));
    }
}

NOINLINE void NAME(tile)(long rows, int vecs, long depth, const S *a, long ai, long ak, const S *b,
                         long ldb, S *out, long ldo, int add)
{
#define TILE(R)                                                                                   \
    if (rows == (R) && vecs == AT_ONCE)                                                           \
        NAME(sums)(R, AT_ONCE, depth, a, ai, ak, b, ldb, out, ldo, add);                          \
    else if (rows == (R))                                                                         \
        for (int j = 0; j < vecs; j++)                                                            \
            NAME(sums)(R, 1, depth, a, ai, ak, b + j * LANES, ldb, out + j * LANES, ldo, add);
    TILE(ROWS)
#if ROWS > 4
    TILE(4)
#endif
    TILE(1)
#undef TILE
}

/* to[k, j] = from[k * sk + j * sj], as panels of `width` columns, the last filled up with zeros. */
NOINLINE void NAME(pack)(long depth, long cols, const S *from, long sk, long sj, long width, S *to)
{
    for (long j = 0; j < cols; j += width, from += width * sj, to += depth * width) {
        const long n = cols - j < width ? cols - j : width;
        if (n < width)
            memset(to, 0, depth * width * sizeof(S));
        if (sj == 1)
            for (long k = 0; k < depth; k++)
                memcpy(to + k * width, from + k * sk, n * sizeof(S));
        else
            for (long p = 0; p < n; p++)
                for (long k = 0; k < depth; k++)
                    to[k * width + p] = from[p * sj + k * sk];
    }
}

/* Four dot products of contiguous vectors. */
NOINLINE void NAME(dots)(long depth, const S *a, long an, const S *b, long bn, T *out)
{
    VEC sum[4];
    _Alignas(64) T part[LANES];
    long k = 0;
    UNROLL
    for (int i = 0; i < 4; i++)
        sum[i] = (VEC){0};
    for (; k + LANES <= depth; k += LANES) {
        UNROLL
        for (int i = 0; i < 4; i++)
            sum[i] += TIMES(LOAD(a + i * an + k), LOAD(b + i * bn + k));
    }
    for (int i = 0; i < 4; i++) {
        out[i] = 0;
        memcpy(part, &sum[i], sizeof part);
        for (int j = 0; j < LANES; j++)
            out[i] += part[j];
        for (long r = k; r < depth; r++)
            out[i] += 1u * a[i * an + r] * b[i * bn + r];
    }
}

/* A row times columns that are contiguous, as it is. */
static void NAME(row)(long cols, long depth, const S *a, const S *b, long bj, S *out)
{
    const long part = depth / 4;
    T sum[4], rest;
    long j = 0;
    for (; j + 4 <= cols; j += 4) {
        NAME(dots)(depth, a, 0, b + j * bj, bj, sum);
        for (int i = 0; i < 4; i++)
            out[j + i] = (S)sum[i];
    }
    for (; j < cols; j++) {
        NAME(dots)(part, a, part, b + j * bj, part, sum);
        rest = sum[0] + sum[1] + sum[2] + sum[3];
        for (long r = 4 * part; r < depth; r++)
            rest += 1u * a[r] * b[j * bj + r];
        out[j] = (S)rest;
    }
}

/* The elements of the buffer for `cols` columns. */
static long NAME(buffer)(long rows, long cols, long depth, long ak)
{
    (void)rows, (void)ak;
    return (depth < DEPTH ? depth : DEPTH) * (cols + PANEL + HIGH);
}

static void NAME(gemm)(long rows, long cols, long depth, const S *a, long ai, long ak, const S *b,
                       long bk, long bj, S *out, long ldo, int minus, S *buffer)
{
    /* For few rows, b is read where it lies, some rows of it at a time, as memory has them. */
    const long direct = rows <= ROWS && bj == 1 ? cols / PANEL * PANEL : 0;
    const long tall = rows == 1 ? 1 : ROWS;
    const long deep = !direct ? DEPTH : tall == 1 ? FLAT : 2 * FLAT;
    _Alignas(64) S part[ROWS * PANEL];
    (void)minus;
    if (rows <= 2 && ak == 1 && bk == 1 && depth >= LANES) {
        for (long i = 0; i < rows; i++)
            NAME(row)(cols, depth, a + i * ai, b, bj, out + i * ldo);
        return;
    }
    for (long k = 0; k < depth; k += deep, b += deep * bk) {
        const long d = depth - k < deep ? depth - k : deep;
        S *turned = buffer + (cols + PANEL - 1) / PANEL * PANEL * d;
        NAME(pack)(d, cols - direct, b + direct * bj, bk, bj, PANEL, buffer);
        for (long i0 = 0; i0 < rows; i0 += HIGH) {
            const long n = rows - i0 < HIGH ? rows - i0 : HIGH;
            const long lying = ak == 1 || tall == 1 ? n / tall * tall : 0;
            const S *left = a + i0 * ai + k * ak;
            NAME(pack)(d, n - lying, left + lying * ai, ak, ai, ROWS, turned);
            long i = 0, j = 0;
            while (i < n && j < cols) {
                const long m = cols - j < PANEL ? cols - j : PANEL, r = n - i < tall ? n - i : tall;
                const long high = tall > 4 && r <= 4 ? 4 : tall;
                const int whole = i < lying, cut = m % LANES || r < high;
                S *to = out + (i0 + i) * ldo + j;
                NAME(tile)(high, m > LANES ? 2 : 1, d,
                           whole ? left + i * ai : turned + (i - lying) * d, whole ? ai : 1,
                           whole ? ak : ROWS, j < direct ? b + j : buffer + (j - direct) * d,
                           j < direct ? bk : PANEL, cut ? part : to, cut ? PANEL : ldo,
                           !cut && k > 0);
                for (long p = 0; cut && p < r; p++)
                    for (long q = 0; q < m; q++)
                        to[p * ldo + q] = (S)(part[p * PANEL + q] + (k > 0 ? to[p * ldo + q] : 0));
                /* Columns first; where there is little to sum, as memory lies. */
                if (d >= FLAT && (i += tall) >= n)
                    i = 0, j += PANEL;
                else if (d < FLAT && (j += PANEL) >= cols)
                    j = 0, i += tall;
            }
        }
    }
}

#undef LANES
#undef LOAD
#undef STORE
#undef TIMES
#undef VEC
#undef PAIRS
#undef AT_ONCE
#undef ADD
#undef TURNED
#undef TOTAL
#undef PANEL
#undef S
#undef T
#undef SUFFIX
#endif
