/* Tiles of which b is not packed, and dot products of a few rows with those of a large matrix, which
   passes by once, for one element type and level. Each element is summed in the same order wherever
   it lies in the matrix, so that rows of this may be shared out. */

#include "_product_tile.h"

/* Vectors of 16 bytes are so many loads that few streams reach far ahead. */
#define SMALLEST (LANES * sizeof(T) <= 16)
#ifdef LOAD_PART
#define GROUP 4 /* lines at once, by the registers there are */
#else
#define GROUP 3
#endif

/* to (depth, cols) = the transposed of from (cols, depth), whose rows are contiguous */
static void NAME(turned)(long depth, long cols, const T *from, long lead, T *to)
{
    long j = 0;
    for (; j + 4 <= cols; j += 4, from += 4 * lead) {
        long k = 0;
        for (; k + 4 <= depth; k += 4)
            NAME(turn_4)(from + k, lead, to + k * cols + j, cols);
        for (; k < depth; k++)
            for (long q = 0; q < 4; q++)
                to[k * cols + j + q] = from[q * lead + k];
    }
    for (; j < cols; j++, from += lead)
        for (long k = 0; k < depth; k++)
            to[k * cols + j] = from[k];
}

/* Rows of a at once. Vectors of 64 bytes have so many registers that tiles do better from two rows on. */
#ifdef LOAD_PART
#define ABREAST 1
#else
#define ABREAST 3
#endif
#define STEPS 4    /* rows of b at once */
#define SPAN 16384 /* bytes of rows that stay near meanwhile */

/* out (rows, cols) += a (rows, steps) @ b (steps, cols) */
INLINE void NAME(add_rows)(const int rows, const int steps, long cols, const T *a, long ai, long ak,
                           const T *b, long ldb, T *out, long ldo)
{
    VEC left[ABREAST][STEPS];
    long j = 0;
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int k = 0; k < steps; k++)
            left[i][k] = a[i * ai + k * ak] - (VEC){0};
    }
#define ADD_ROWS(LOAD, STORE)                                                                     \
    VEC sum[ABREAST];                                                                             \
    UNROLL                                                                                        \
    for (int i = 0; i < rows; i++)                                                                \
        sum[i] = LOAD(out + i * ldo + j);                                                         \
    UNROLL                                                                                        \
    for (int k = 0; k < steps; k++) {                                                             \
        VEC right = LOAD(b + k * ldb + j);                                                        \
        if (rows > 1)                                                                             \
            IN_REGISTER(right);                                                                   \
        UNROLL                                                                                    \
        for (int i = 0; i < rows; i++)                                                            \
            sum[i] += left[i][k] * right;                                                         \
    }                                                                                             \
    UNROLL                                                                                        \
    for (int i = 0; i < rows; i++)                                                                \
        STORE(out + i * ldo + j, sum[i])
#define WHOLE(p) (*(const VEC *)(p))
#define PUT(p, v) (*(VEC *)(p) = v)
    for (; j + LANES <= cols; j += LANES) {
        ADD_ROWS(WHOLE, PUT);
    }
#undef WHOLE
#undef PUT
#ifdef LOAD_PART
#define PART(p) ((VEC)LOAD_PART(p, cols - j))
#define PUT_PART(p, v) STORE_PART(p, cols - j, v)
    if (j < cols) {
        ADD_ROWS(PART, PUT_PART);
    }
#undef PART
#undef PUT_PART
#else
    for (; j < cols; j++) {
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < steps; k++)
                out[i * ldo + j] += a[i * ai + k * ak] * b[k * ldb + j];
    }
#endif
#undef ADD_ROWS
}

/* The same, of any few rows. */
static void NAME(add_all)(long rows, const int steps, long cols, const T *a, long ai, long ak, const T *b,
                          long ldb, T *out, long ldo)
{
    const long most = steps > 1 ? ABREAST : 1;
    for (long groups = (rows + most - 1) / most, n; rows; rows -= n, groups--) {
        n = (rows + groups - 1) / groups;
#define ADD(N, STEPS_) NAME(add_rows)(N, STEPS_, cols, a, ai, ak, b, ldb, out, ldo)
        if (steps == 1)
            ADD(1, 1);
#if ABREAST > 1
        else if (n == 3)
            ADD(3, STEPS);
        else if (n == 2)
            ADD(2, STEPS);
#endif
        else
            ADD(1, STEPS);
#undef ADD
        a += n * ai, out += n * ldo;
    }
}

/* out (rows, cols) = a (rows, depth) @ b (depth, cols), whose rows are read to their ends, four at once.
   The sums are kept apart from out, of whose lines another thread may write a part. */
static void NAME(by_rows)(long rows, long cols, long depth, const T *a, long ai, long ak,
                          const T *b, long ldb, T *out, long ldo)
{
    enum { LINE = 64 / sizeof(T), ALL = SPAN / sizeof(T) };
    _Alignas(64) T sums[ALL];
    const long most = ALL / rows / LINE * LINE;
    for (long j = 0; j < cols; j += most) {
        const long n = cols - j < most ? cols - j : most, ld = (n + LINE - 1) / LINE * LINE;
        long k = 0;
        memset(sums, 0, rows * ld * sizeof(T));
        for (; k + STEPS <= depth; k += STEPS)
            NAME(add_all)(rows, STEPS, n, a + k * ak, ai, ak, b + k * ldb + j, ldb, sums, ld);
        for (; k < depth; k++)
            NAME(add_all)(rows, 1, n, a + k * ak, ai, ak, b + k * ldb + j, ldb, sums, ld);
        for (long i = 0; i < rows; i++)
            memcpy(out + i * ldo + j, sums + i * ld, n * sizeof(T));
    }
}

/* The sums of four vectors, side by side, each by halves. */
INLINE void NAME(totals)(const VEC *v, T *out)
{
#if LANES > 2 && (defined(__clang__) || __GNUC__ >= 12)
    typedef T four __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
    four q[4];
    UNROLL
    for (int i = 0; i < 4; i++) {
#if LANES == 16
        typedef T half __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));
        const half h = ((const half *)(v + i))[0] + ((const half *)(v + i))[1];
        q[i] = ((const four *)&h)[0] + ((const four *)&h)[1];
#elif LANES == 8
        q[i] = ((const four *)(v + i))[0] + ((const four *)(v + i))[1];
#else
        q[i] = v[i];
#endif
    }
#define FOUR(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
    const four x = FOUR(q[0], q[1], 0, 1, 4, 5) + FOUR(q[0], q[1], 2, 3, 6, 7);
    const four y = FOUR(q[2], q[3], 0, 1, 4, 5) + FOUR(q[2], q[3], 2, 3, 6, 7);
    *(four *)out = FOUR(x, y, 0, 2, 4, 6) + FOUR(x, y, 1, 3, 5, 7);
#undef FOUR
#else
    for (int i = 0; i < 4; i++) {
        _Alignas(64) T part[LANES];
        memcpy(part, v + i, sizeof part);
        for (int w = LANES / 2; w > 0; w /= 2)
            for (int j = 0; j < w; j++)
                part[j] += part[j + w];
        out[i] = part[0];
    }
#endif
}

/* out[l, i] = a[i, :] @ v[l, :] for 1 row of a or STREAMS, and so many lines, which are read once. */
INLINE void NAME(dots_of)(const int rows, const int lines, long depth, const T *a, long ai,
                          const T *v, long vi, T *out, long ldo)
{
    /* Sums of each, so that none waits for the one before. */
    const int chains = SMALLEST ? 4 / lines : lines == 1 && LANES * sizeof(T) < 64 ? 2 : 1;
    VEC sum[GROUP][4][4];
    long k = 0;
    UNROLL
    for (int l = 0; l < lines; l++) {
        UNROLL
        for (int i = 0; i < 4; i++) {
            UNROLL
            for (int j = 0; j < chains; j++)
                sum[l][i][j] = (VEC){0};
        }
    }
#define ADD_DOTS(LOAD, C)                                                                         \
    do {                                                                                          \
        VEC right[GROUP];                                                                         \
        UNROLL                                                                                    \
        for (int l = 0; l < lines; l++) {                                                         \
            right[l] = LOAD(v + l * vi + k + (C) * LANES);                                        \
            if (lines > 1)                                                                        \
                IN_REGISTER(right[l]);                                                            \
        }                                                                                         \
        UNROLL                                                                                    \
        for (int i = 0; i < rows; i++) {                                                          \
            VEC left = LOAD(a + i * ai + k + (C) * LANES);                                        \
            if (lines > 1)                                                                        \
                IN_REGISTER(left);                                                                \
            UNROLL                                                                                \
            for (int l = 0; l < lines; l++)                                                       \
                sum[l][i][C] += left * right[l];                                                  \
        }                                                                                         \
    } while (0)
#define WHOLE(p) (*(const VEC *)(p))
    for (; k + chains * LANES <= depth; k += chains * LANES) {
        UNROLL
        for (int c = 0; c < chains; c++)
            ADD_DOTS(WHOLE, c);
    }
    for (; k + LANES <= depth; k += LANES)
        ADD_DOTS(WHOLE, 0);
#ifdef LOAD_PART
#define PART(p) ((VEC)LOAD_PART(p, depth - k))
    if (k < depth) {
        ADD_DOTS(PART, 0);
        k = depth;
    }
#undef PART
#endif
#undef ADD_DOTS
#undef WHOLE
    UNROLL
    for (int l = 0; l < lines; l++) {
        VEC one[4];
        T total[4];
        UNROLL
        for (int i = 0; i < 4; i++) {
            UNROLL
            for (int w = chains / 2; w > 0; w /= 2) {
                UNROLL
                for (int c = 0; c < w; c++)
                    sum[l][i][c] += sum[l][i][c + w];
            }
            one[i] = sum[l][i][0];
        }
        NAME(totals)(one, total);
#ifndef LOAD_PART
        for (int i = 0; i < (k < depth ? rows : 0); i++) {
            T rest = 0;
            for (long r = k; r < depth; r++)
                rest += a[i * ai + r] * v[l * vi + r];
            total[i] += rest;
        }
#endif
        memcpy(out + l * ldo, total, rows * sizeof(T));
    }
}

/* out (lines, rows) = v (lines, depth) @ the transpose of a (rows, depth), both contiguous in depth */
static void NAME(dots)(long rows, long lines, long depth, const T *a, long ai, const T *v, long vi,
                       T *out, long ldo)
{
    enum { STREAMS = SMALLEST ? 2 : 4 };
    /* So many rows of a as stay near are read again, by the next lines. */
    const long near = SPAN / (depth + 1) / (long)sizeof(T) / STREAMS * STREAMS;
    const long most = lines <= GROUP ? rows : near < STREAMS ? STREAMS : near;
    for (long first = 0; first < rows; first += most) {
        const long last = rows - first < most ? rows : first + most;
        for (long l = 0; l < lines; l += GROUP) {
            const T *right = v + l * vi;
            T *to = out + l * ldo;
            long i = first;
#define LINES_OF(L)                                                                               \
    for (; i + STREAMS <= last; i += STREAMS)                                                     \
        NAME(dots_of)(STREAMS, L, depth, a + i * ai, ai, right, vi, to + i, ldo);                 \
    for (; i < last; i++)                                                                         \
        NAME(dots_of)(1, L, depth, a + i * ai, ai, right, vi, to + i, ldo);                       \
    break
            switch (lines - l) {
            case 1:
                LINES_OF(1);
            case 2:
                LINES_OF(2);
#if GROUP > 3
            case 3:
                LINES_OF(3);
#endif
            default:
                LINES_OF(GROUP);
            }
#undef LINES_OF
        }
    }
}
#undef SMALLEST
#undef GROUP
#undef STEPS
#undef ABREAST
#undef SPAN
