/* Functions of a row of n numbers: sum, softmax, log_softmax, logsumexp.

   A row is summed in blocks of BLOCK elements, each in vectors side by side (_sum_block.h); the sums
   of blocks are added pairwise. The error grows with the logarithm of n. Rows with a stride are
   first copied to a buffer; but if corresponding elements of many rows are adjacent (a sum over the
   leading dimension), the rows are summed side by side, column by column. Numbers of 16 bits are
   computed with in float, a block or a row at a time. */

#include <stddef.h>
#include <string.h>

#include "_loops.h"
#include "rows.h"
#include "vdouble.h"
#include "wide.h"

#define BLOCK 2048
#define TILE 512 /* columns summed side by side: two levels of sums fit into the L1 cache */

/* The loops: dims = rows, n; steps = from row to row in and out, within a row. */
#define EACH_ROW npy_intp rows = dims[0], n = dims[1], next = steps[0], stride = steps[2]

/* ---- sum: one block of a contiguous row ---- */

#define LOOPS "_sum_block.h"
#include "_levels.h"

/* Not in vectors of AVX-512: reading memory is no faster by them, where rows do not begin at a
   cache line it is slower, and so is adding up their lanes. */
static float sum_f_block(float *a, npy_intp n)
{
#if CHOOSE
    return level() ? sum_block_float_v3(a, n) : sum_block_float_any(a, n);
#else
    return sum_block_float_any(a, n);
#endif
}

static double sum_d_block(double *a, npy_intp n)
{
    enum { wide = 1 };
    PICK(sum_block, (a, n))
}

/* Of complex numbers, n of whose parts lie side by side. */
static void sum_f_pairs(const char *a, npy_intp n, float *total)
{
#if CHOOSE
    if (level()) {
        sum_pairs_float_v3(a, n, total);
        return;
    }
#endif
    sum_pairs_float_any(a, n, total);
}

static void sum_d_pairs(const char *a, npy_intp n, double *total)
{
    enum { wide = 1 };
    PICK(sum_pairs, (a, n, total))
}

/* Sum of a contiguous row: halves, quarters, ... blocks. */
#define SUM_ROW(NAME, T)                                                                           \
    static T NAME##_row(T *a, npy_intp n) {                                                        \
        if (n <= BLOCK)                                                                            \
            return NAME##_block(a, n);                                                             \
        npy_intp half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;                                       \
        return NAME##_row(a, half) + NAME##_row(a + half, n - half);                               \
    }
SUM_ROW(sum_f, float)
SUM_ROW(sum_d, double)

/* ---- sum: rows of any stride and of complex numbers, through a buffer ---- */

#define COPY(IN, EVERY)                                                                            \
    for (npy_intp i = 0; i < n; i++)                                                               \
        buffer[i] = ((const IN *)(a + i * (EVERY)))[k];
/* PARTS: 1, or 2 for complex numbers, whose parts are summed separately. */
#define SUM_STRIDED(NAME, SUM, T, PARTS)                                                           \
    static void NAME##_strided(const char *a, npy_intp stride, npy_intp n, T *total) {             \
        if (n > BLOCK) {                                                                           \
            npy_intp half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;                                   \
            T left[PARTS], right[PARTS];                                                           \
            NAME##_strided(a, stride, half, left);                                                 \
            NAME##_strided(a + half * stride, stride, n - half, right);                            \
            for (int k = 0; k < PARTS; k++)                                                        \
                total[k] = left[k] + right[k];                                                     \
            return;                                                                                \
        }                                                                                          \
        if (PARTS == 2 && stride == 2 * sizeof(T)) {                                               \
            SUM##_pairs(a, 2 * n, total);                                                          \
            return;                                                                                \
        }                                                                                          \
        _Alignas(64) T buffer[BLOCK];                                                              \
        for (int k = 0; k < PARTS; k++) {                                                          \
            if (stride == 2 * sizeof(T)) /* known to the compiler, it vectorises */                \
                COPY(T, 2 * sizeof(T))                                                             \
            else                                                                                   \
                COPY(T, stride)                                                                    \
            total[k] = SUM##_block(buffer, n);                                                     \
        }                                                                                          \
    }
SUM_STRIDED(sum_f, sum_f, float, 1)
SUM_STRIDED(sum_d, sum_d, double, 1)
SUM_STRIDED(sum_cf, sum_f, float, 2)
SUM_STRIDED(sum_cd, sum_d, double, 2)

/* ---- sum: rows of 16 bits ---- */

#if defined(__GNUC__) && defined(__x86_64__)
static float sum_of_eight(const float *part) {
    return ((part[0] + part[4]) + (part[2] + part[6])) +
           ((part[1] + part[5]) + (part[3] + part[7]));
}

#define SQUARE(x) ((x) * (x))
/* Of bfloat16, two numbers at a time: one is the upper half of a float, and so is the other, moved
   up. */
#define NARROW_RUNS(NAME, TERM)                                                                    \
    V_F16C float f16c_##NAME(const uint16_t *a, npy_intp n) {                                      \
        const unsigned said = _mm_getcsr();                                                        \
        __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),            \
                         _mm256_setzero_ps()};                                                     \
        float part[8], rest = 0;                                                                   \
        npy_intp i = 0;                                                                            \
        for (; i + 32 <= n; i += 32)                                                               \
            UNROLL                                                                                 \
            for (int k = 0; k < 4; k++) {                                                          \
                const __m256 x = WIDENED(a + i + 8 * k);                                           \
                sum[k] = _mm256_add_ps(sum[k], TERM(x));                                           \
            }                                                                                      \
        _mm256_storeu_ps(part, _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]),                        \
                                             _mm256_add_ps(sum[2], sum[3])));                      \
        for (; i < n; i++)                                                                         \
            rest += TERM(v_from_half(a[i]));                                                       \
        _mm_setcsr(said);                                                                          \
        return sum_of_eight(part) + rest;                                                          \
    }                                                                                              \
    V_AVX2 float avx2_brain_##NAME(const uint16_t *a, npy_intp n) {                                \
        const __m256i upper = _mm256_set1_epi32((int)0xFFFF0000u);                                 \
        __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),            \
                         _mm256_setzero_ps()};                                                     \
        float part[8], rest = 0;                                                                   \
        npy_intp i = 0;                                                                            \
        for (; i + 32 <= n; i += 32)                                                               \
            UNROLL                                                                                 \
            for (int k = 0; k < 2; k++) {                                                          \
                const __m256i two = _mm256_loadu_si256((const __m256i *)(a + i + 16 * k));         \
                const __m256 one = _mm256_castsi256_ps(_mm256_slli_epi32(two, 16));                \
                const __m256 other = _mm256_castsi256_ps(_mm256_and_si256(two, upper));            \
                sum[2 * k] = _mm256_add_ps(sum[2 * k], TERM(one));                                 \
                sum[2 * k + 1] = _mm256_add_ps(sum[2 * k + 1], TERM(other));                       \
            }                                                                                      \
        _mm256_storeu_ps(part, _mm256_add_ps(_mm256_add_ps(sum[0], sum[1]),                        \
                                             _mm256_add_ps(sum[2], sum[3])));                      \
        for (; i < n; i++)                                                                         \
            rest += TERM(v_from_brain(a[i]));                                                      \
        return sum_of_eight(part) + rest;                                                          \
    }
NARROW_RUNS(sum, )
NARROW_RUNS(squares, SQUARE)
#else
#define f16c_sum(a, n) 0.0f
#define avx2_brain_sum(a, n) 0.0f
#define f16c_squares(a, n) 0.0f
#define avx2_brain_squares(a, n) 0.0f
#endif


#define SUM_NARROW(NAME, FILL, FITS, DIRECT, TERM)                                                 \
    static float NAME##_row(const char *a, npy_intp stride, npy_intp n) {                          \
        if (n > BLOCK) {                                                                           \
            npy_intp half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;                                   \
            return NAME##_row(a, stride, half) + NAME##_row(a + half * stride, stride, n - half);  \
        }                                                                                          \
        if (stride == 2 && n >= 32 && FITS)                                                        \
            return DIRECT((const uint16_t *)a, n);                                                 \
        _Alignas(64) float buffer[BLOCK];                                                          \
        FILL(buffer, a, stride, n);                                                                \
        for (npy_intp i = 0; i < n; i++)                                                           \
            buffer[i] = TERM(buffer[i]);                                                           \
        return sum_f_block(buffer, n);                                                             \
    }
SUM_NARROW(sum_e, from_half, V_HAS_F16C, f16c_sum, )
SUM_NARROW(sum_b, from_brain, V_HAS_AVX2, avx2_brain_sum, )
SUM_NARROW(squares_e, from_half, V_HAS_F16C, f16c_squares, SQUARE)
SUM_NARROW(squares_b, from_brain, V_HAS_AVX2, avx2_brain_squares, SQUARE)

/* The root of a sum of squares, which is summed again in double where it left the range. */
#define NORM_NARROW(LOOP, NAME, FROM)                                                              \
    void LOOP(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {                 \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        for (npy_intp r = 0; r < rows; r++) {                                                      \
            const char *a = args[0] + r * next;                                                    \
            double total = NAME##_row(a, stride, n);                                               \
            if (!(total > 1e-30 && total < INFINITY)) {                                            \
                total = 0;                                                                         \
                for (npy_intp i = 0; i < n; i++)                                                   \
                    total += SQUARE((double)FROM(*(const uint16_t *)(a + i * stride)));            \
            }                                                                                      \
            *(float *)(args[1] + r * steps[1]) = (float)sqrt(total);                               \
        }                                                                                          \
    }
NORM_NARROW(imode_norm2_e_to_f, squares_e, v_from_half)
NORM_NARROW(imode_norm2_b_to_f, squares_b, v_from_brain)

/* ---- sum: columns side by side ---- */

/* ADD adds the rows from `start` to `end` to levels[2], where zeros are. */
#define SUM_COLUMNS(CLONES, NAME, T, ADD)                                                          \
    CLONES static void NAME##_columns(const char *a, npy_intp stride, npy_intp n, T *out,          \
                                      npy_intp width) {                                            \
        _Alignas(64) T levels[3][TILE]; /* sums of all rows, of the last 4096, of the last 64 */   \
        for (int k = 0; k < 3; k++)                                                                \
            for (npy_intp j = 0; j < width; j++)                                                   \
                levels[k][j] = 0;                                                                  \
        for (npy_intp start = 0; start < n; start += 64) {                                         \
            npy_intp end = n - start < 64 ? n : start + 64;                                        \
            ADD                                                                                    \
            for (int k = 1; k >= (end % 4096 == 0 || end == n ? 0 : 1); k--)                       \
                for (npy_intp j = 0; j < width; j++) {                                             \
                    levels[k][j] += levels[k + 1][j];                                              \
                    levels[k + 1][j] = 0;                                                          \
                }                                                                                  \
        }                                                                                          \
        for (npy_intp j = 0; j < width; j++)                                                       \
            out[j] = levels[0][j];                                                                 \
    }
#define ADD_ROWS(T)                                                                                \
    for (npy_intp i = start; i < end; i++) {                                                       \
        const T *row = (const T *)(a + i * stride);                                                \
        for (npy_intp j = 0; j < width; j++)                                                       \
            levels[2][j] += row[j];                                                                \
    }
SUM_COLUMNS(V_CLONES, sum_f, float, ADD_ROWS(float))
SUM_COLUMNS(V_CLONES, sum_d, double, ADD_ROWS(double))

/* Of 16 bits, in the same order. In registers, 64 columns at a time, then eight, the last of which
   may have been there already. */
#define ADD_CONVERTED(FILL)                                                                        \
    for (npy_intp i = start; i < end; i++) {                                                       \
        _Alignas(64) float row[TILE];                                                              \
        FILL(row, a + i * stride, 2, width);                                                       \
        for (npy_intp j = 0; j < width; j++)                                                       \
            levels[2][j] += row[j];                                                                \
    }
#if defined(__GNUC__) && defined(__x86_64__)
V_NARROW_INLINE void sum_vectors(const char *a, npy_intp stride, npy_intp n, float *out,
                                 int vectors, int brain) {
    __m256 sum[8];
    UNROLL
    for (int k = 0; k < vectors; k++)
        sum[k] = _mm256_setzero_ps();
    for (npy_intp i = 0; i < n; i++, a += stride)
        UNROLL
        for (int k = 0; k < vectors; k++)
            sum[k] = _mm256_add_ps(sum[k], widened((const uint16_t *)a + 8 * k, brain));
    UNROLL
    for (int k = 0; k < vectors; k++)
        _mm256_storeu_ps(out + 8 * k, sum[k]);
}
#define SUM_16(NAME, BRAIN)                                                                        \
    __attribute__((target("avx2,f16c"))) static void NAME(                                         \
        const char *a, npy_intp stride, npy_intp n, float *out, npy_intp width) {                  \
        const unsigned said = _mm_getcsr();                                                        \
        npy_intp j = 0;                                                                            \
        for (; j + 64 <= width; j += 64)                                                           \
            sum_vectors(a + 2 * j, stride, n, out + j, 8, BRAIN);                                  \
        for (; j < width; j += 8) {                                                                \
            const npy_intp at = width - j < 8 ? width - 8 : j;                                     \
            sum_vectors(a + 2 * at, stride, n, out + at, 1, BRAIN);                                \
        }                                                                                          \
        _mm_setcsr(said);                                                                          \
    }
SUM_16(sum_16_half, 0)
SUM_16(sum_16_brain, 1)
#define ADD_16(DIRECT, FILL)                                                                       \
    if (V_HAS_AVX2 && V_HAS_F16C) {                                                                \
        DIRECT(a + start * stride, stride, end - start, levels[2], width);                         \
    } else {                                                                                       \
        ADD_CONVERTED(FILL)                                                                        \
    }
#else
#define ADD_16(DIRECT, FILL) ADD_CONVERTED(FILL)
#endif
SUM_COLUMNS(, sum_e, float, ADD_16(sum_16_half, from_half))
SUM_COLUMNS(, sum_b, float, ADD_16(sum_16_brain, from_brain))

#define SUM_LOOP(NAME, T)                                                                          \
    static void NAME##_loop(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {   \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        char *a = args[0], *out = args[1];                                                         \
        if (rows >= 8 && next == sizeof(T) && steps[1] == sizeof(T) && stride != sizeof(T)) {      \
            for (npy_intp j = 0; j < rows; j += TILE)                                              \
                NAME##_columns(a + j * sizeof(T), stride, n, (T *)out + j,                         \
                               rows - j < TILE ? rows - j : TILE);                                 \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp r = 0; r < rows; r++, a += next, out += steps[1]) {                          \
            if (stride == sizeof(T))                                                               \
                *(T *)out = NAME##_row((T *)a, n);                                                 \
            else                                                                                   \
                NAME##_strided(a, stride, n, (T *)out);                                            \
        }                                                                                          \
    }
SUM_LOOP(sum_f, float)
SUM_LOOP(sum_d, double)

#define SUM_LOOP_STRIDED(NAME)                                                                     \
    static void NAME##_loop(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {   \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        for (npy_intp r = 0; r < rows; r++)                                                        \
            NAME##_strided(args[0] + r * next, stride, n, (void *)(args[1] + r * steps[1]));       \
    }
SUM_LOOP_STRIDED(sum_cf)
SUM_LOOP_STRIDED(sum_cd)

#define SUM_LOOP_NARROW(LOOP, NAME, OUT, BACK)                                                     \
    LOOP(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {                      \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        for (npy_intp r = 0; r < rows; r++)                                                        \
            *(OUT *)(args[1] + r * steps[1]) = BACK(NAME##_row(args[0] + r * next, stride, n));    \
    }
SUM_LOOP_NARROW(static void sum_e_loop, sum_e, uint16_t, v_to_half)
SUM_LOOP_NARROW(void imode_sum_b, sum_b, uint16_t, v_to_brain)
SUM_LOOP_NARROW(static void sum_e_rows, sum_e, float, )
SUM_LOOP_NARROW(static void sum_b_rows, sum_b, float, )

/* With results in float: rows, or columns side by side. */
#define SUM_LOOP_WIDE(LOOP, NAME)                                                                  \
    void LOOP(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {                 \
        EACH_ROW;                                                                                  \
        if (rows < 8 || next != 2 || steps[1] != sizeof(float) || stride == 2) {                   \
            NAME##_rows(args, dims, steps, d);                                                     \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp j = 0; j < rows; j += TILE) {                                                \
            const npy_intp from = rows - j < 8 ? rows - 8 : j; /* eight at least */                \
            NAME##_columns(args[0] + 2 * from, stride, n, (float *)args[1] + from,                 \
                           rows - from < TILE ? rows - from : TILE);                               \
        }                                                                                          \
    }
SUM_LOOP_WIDE(imode_sum_e_to_f, sum_e)
SUM_LOOP_WIDE(imode_sum_b_to_f, sum_b)

/* Integers add exactly in any order; narrow integers and bool add up to int64. The totals are
   unsigned: they wrap around, as int64 does in NumPy. */
#define SUMS 16 /* sums of a row, side by side */
#define SUM_INTEGERS(NAME, T)                                                                      \
    V_CLONES static void NAME##_columns(const char *a, npy_intp stride, npy_intp n, uint64_t *out, \
                                        npy_intp width) {                                          \
        uint64_t total[TILE];                                                                      \
        for (npy_intp j = 0; j < width; j++)                                                       \
            total[j] = 0;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            for (npy_intp j = 0; j < width; j++)                                                   \
                total[j] += (uint64_t)((const T *)(a + i * stride))[j];                            \
        memcpy(out, total, width * sizeof *out);                                                   \
    }                                                                                              \
    V_CLONES static void NAME##_loop(char **args, const npy_intp *dims, const npy_intp *steps,     \
                                     void *d) {                                                    \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        if (rows >= 8 && next == sizeof(T) && stride != next && steps[1] == sizeof(uint64_t)) {    \
            for (npy_intp r = 0; r < rows; r += TILE)                                              \
                NAME##_columns(args[0] + r * next, stride, n, (uint64_t *)args[1] + r,             \
                               rows - r < TILE ? rows - r : TILE);                                 \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp r = 0; r < rows; r++) {                                                      \
            const char *a = args[0] + r * next;                                                    \
            uint64_t total = 0;                                                                    \
            if (stride == sizeof(T)) {                                                             \
                const T *x = (const T *)a;                                                         \
                npy_intp i = 0;                                                                    \
                if (n >= SUMS) {                                                                   \
                    uint64_t sum[SUMS] = {0};                                                      \
                    for (; i + SUMS <= n; i += SUMS)                                               \
                        for (int j = 0; j < SUMS; j++)                                             \
                            sum[j] += (uint64_t)x[i + j];                                          \
                    for (int j = 0; j < SUMS; j++)                                                 \
                        total += sum[j];                                                           \
                }                                                                                  \
                for (; i < n; i++)                                                                 \
                    total += (uint64_t)x[i];                                                       \
            } else                                                                                 \
                for (npy_intp i = 0; i < n; i++)                                                   \
                    total += (uint64_t)(*(const T *)(a + i * stride));                             \
            *(uint64_t *)(args[1] + r * steps[1]) = total;                                         \
        }                                                                                          \
    }
SUM_INTEGERS(sum_u1, uint8_t)
SUM_INTEGERS(sum_i1, int8_t)
SUM_INTEGERS(sum_i2, int16_t)
SUM_INTEGERS(sum_i4, int32_t)
SUM_INTEGERS(sum_i8, int64_t)

/* ---- softmax, log_softmax, logsumexp: of a contiguous row ---- */

/* What does not fill a whole number of vectors is not computed one by one: the last vector, of 32
   bytes, begins before the end of the one before it. Shorter rows are filled up. */

/* The largest element. A NaN may be skipped: the exponentials give NaN again. */
#define KEEP_MOST(FROM, TO, N)                                                                     \
    for (int j = 0; j < N; j++)                                                                    \
        TO[j] = (FROM)[j] > TO[j] ? (FROM)[j] : TO[j];
#define MAX_ROW(NAME, T)                                                                           \
    V_CLONES static T NAME(const T *a, npy_intp n) {                                               \
        enum { W = 128 / sizeof(T), L = 32 / sizeof(T) };                                          \
        T tops[W];                                                                                 \
        npy_intp i = L;                                                                            \
        if (n < L) {                                                                               \
            T top = (T)-INFINITY;                                                                  \
            for (i = 0; i < n; i++)                                                                \
                top = a[i] > top ? a[i] : top;                                                     \
            return top;                                                                            \
        }                                                                                          \
        if (n >= W) {                                                                              \
            for (int j = 0; j < W; j++)                                                            \
                tops[j] = a[j];                                                                    \
            for (i = W; i + W <= n; i += W)                                                        \
                KEEP_MOST(a + i, tops, W)                                                          \
            UNROLL                                                                                 \
            for (int w = W / 2; w >= L; w /= 2)                                                    \
                KEEP_MOST(tops + w, tops, w)                                                       \
        } else                                                                                     \
            for (int j = 0; j < L; j++)                                                            \
                tops[j] = a[j];                                                                    \
        for (; i + L <= n; i += L)                                                                 \
            KEEP_MOST(a + i, tops, L)                                                              \
        KEEP_MOST(a + n - L, tops, L)                                                              \
        UNROLL                                                                                     \
        for (int w = L / 2; w; w /= 2)                                                             \
            KEEP_MOST(tops + w, tops, w)                                                           \
        return tops[0];                                                                            \
    }
MAX_ROW(max_f, float)
MAX_ROW(max_d, double)

/* Most rows have no number far below the largest: its exponential takes twice as long. */
#define FEW 256
#define AT_LEAST 8
V_INLINE int exp_is_near(const float *a, float shift, npy_intp n) {
    const float *last = a + n - AT_LEAST;
    uint32_t far = 0; /* in its highest bit */
    for (npy_intp i = 0; i < n / AT_LEAST * AT_LEAST; i++)
        far |= v_bits(EXP_NEAR) - (v_bits(a[i] - shift) & 0x7FFFFFFF);
    for (int j = 0; j < AT_LEAST; j++)
        far |= v_bits(EXP_NEAR) - (v_bits(last[j] - shift) & 0x7FFFFFFF);
    return far >> 31 == 0;
}
V_INLINE void exp_f_by(float (*exp_of)(float), const float *a, float shift, float *out, npy_intp n) {
    float last[AT_LEAST];
    for (int j = 0; j < AT_LEAST; j++) /* first, as `out` may be `a` */
        last[j] = exp_of(a[n - AT_LEAST + j] - shift);
    V_IVDEP for (npy_intp i = 0; i < n / AT_LEAST * AT_LEAST; i++) out[i] = exp_of(a[i] - shift);
    memcpy(out + n - AT_LEAST, last, sizeof last);
}
/* Fewer than a vector. */
V_INLINE void exp_short(const float *a, float shift, npy_intp n, float *found) {
    for (int j = 0; j < AT_LEAST; j++)
        found[j] = 0;
    for (npy_intp j = 0; j < n; j++)
        found[j] = a[j] - shift;
    for (int j = 0; j < AT_LEAST; j++)
        found[j] = v_expf(found[j]);
}
V_CLONES static void exp_f(const float *a, float shift, float *out, npy_intp n) {
    while (n >= AT_LEAST) {
        const npy_intp m = n >= FEW + AT_LEAST ? FEW : n;
        if (exp_is_near(a, shift, m))
            exp_f_by(v_expf_near, a, shift, out, m);
        else
            exp_f_by(v_expf, a, shift, out, m);
        a += m, out += m, n -= m;
    }
    if (n) {
        float found[AT_LEAST];
        exp_short(a, shift, n, found);
        memcpy(out, found, n * sizeof *out);
    }
}
V_CLONES static void exp_d(const double *a, double shift, double *out, npy_intp n) {
    if (V_LOW) /* else a call takes a fifth longer than what it calls */
        V_IVDEP for (npy_intp i = 0; i < n; i++) out[i] = v_exp(a[i] - shift);
    else
        V_IVDEP for (npy_intp i = 0; i < n; i++) out[i] = exp_of_d(a[i] - shift);
}

/* The sum of a block. */
V_INLINE float exp_sum_f_by(float (*exp_of)(float), const float *a, float shift, npy_intp n) {
    enum { W = 32 };
    const int left = n % AT_LEAST;
    float sum[W] = {0};
    npy_intp i = 0;
    for (; i + W <= n; i += W)
        for (int j = 0; j < W; j++)
            sum[j] += exp_of(a[i + j] - shift);
    for (; i + AT_LEAST <= n; i += AT_LEAST)
        for (int j = 0; j < AT_LEAST; j++)
            sum[j] += exp_of(a[i + j] - shift);
    if (left)
        for (int j = 0; j < AT_LEAST; j++) {
            const float found = exp_of(a[n - AT_LEAST + j] - shift);
            sum[j] += j >= AT_LEAST - left ? found : 0;
        }
    UNROLL
    for (int w = W / 2; w; w /= 2)
        for (int j = 0; j < w; j++)
            sum[j] += sum[j + w];
    return sum[0];
}
V_CLONES static float exp_sum_f_block(const float *a, float shift, npy_intp n) {
    if (n < AT_LEAST) {
        float total = 0, found[AT_LEAST];
        exp_short(a, shift, n, found);
        for (npy_intp j = 0; j < n; j++)
            total += found[j];
        return total;
    }
    return exp_is_near(a, shift, n) ? exp_sum_f_by(v_expf_near, a, shift, n)
                                    : exp_sum_f_by(v_expf, a, shift, n);
}
static double exp_sum_d_block(const double *a, double shift, npy_intp n) {
    _Alignas(64) double buffer[BLOCK];
    exp_d(a, shift, buffer, n);
    return sum_d_block(buffer, n);
}

#define SCALE_ROW(NAME, T)                                                                         \
    V_CLONES static void NAME##_scale(T *a, T factor, npy_intp n) {                                \
        for (npy_intp i = 0; i < n; i++)                                                           \
            a[i] *= factor;                                                                        \
    }                                                                                              \
    V_CLONES static void NAME##_shift(const T *a, T shift, T tail, T *out, npy_intp n) {           \
        V_IVDEP for (npy_intp i = 0; i < n; i++) out[i] = a[i] - shift - tail;                     \
    }
SCALE_ROW(row_f, float)
SCALE_ROW(row_d, double)

#define SOFTMAX_ROW(S, T, LOG)                                                                     \
    static void softmax_##S(const T *a, T *out, npy_intp n) {                                      \
        exp_##S(a, max_##S(a, n), out, n);                                                         \
        row_##S##_scale(out, 1 / sum_##S##_row(out, n), n);                                        \
    }                                                                                              \
    static T exp_sum_##S(const T *a, T shift, npy_intp n) {                                        \
        if (n > BLOCK) {                                                                           \
            npy_intp half = (n / 2 + BLOCK - 1) / BLOCK * BLOCK;                                   \
            return exp_sum_##S(a, shift, half) + exp_sum_##S(a + half, shift, n - half);           \
        }                                                                                          \
        return exp_sum_##S##_block(a, shift, n);                                                   \
    }                                                                                              \
    static void log_softmax_##S(const T *a, T *out, npy_intp n) {                                  \
        T top = max_##S(a, n);                                                                     \
        row_##S##_shift(a, top, LOG(exp_sum_##S(a, top, n)), out, n);                              \
    }                                                                                              \
    static void logsumexp_##S(const T *a, T *out, npy_intp n) {                                    \
        T top = max_##S(a, n);                                                                     \
        T shift = top - top == 0 ? top : 0; /* infinite or NaN: exp(x) without a shift is right */ \
        *out = LOG(exp_sum_##S(a, shift, n)) + shift;                                              \
    }
SOFTMAX_ROW(f, float, logf)
SOFTMAX_ROW(d, double, log)

#define MOVES(S, T)                                                                                \
    static void take_##S(T *to, const char *from, npy_intp step, npy_intp n) {                     \
        for (npy_intp i = 0; i < n; i++)                                                           \
            to[i] = *(const T *)(from + i * step);                                                 \
    }                                                                                              \
    static void put_##S(char *to, const T *from, npy_intp step, npy_intp n) {                      \
        for (npy_intp i = 0; i < n; i++)                                                           \
            *(T *)(to + i * step) = from[i];                                                       \
    }
MOVES(f, float)
MOVES(d, double)
#define take_e from_half
#define put_e to_half
#define take_b from_brain
#define put_b to_brain

/* Rows: used directly if contiguous; else copied to where the result will be, or to a buffer, several
   at once if their corresponding elements are adjacent (a softmax over the leading dimension of a
   matrix stored column by column), or if they are of 16 bits and lie one behind the other. IS_T: the rows are of T, not of 16 bits. IMODE_ROOM bytes of rows
   need no memory but the stack. */
#define SIDE_BY_SIDE 16
#define DENSE 4096 /* elements of dense rows of 16 bits that are converted in one go */
#define LINES 32
#define ROW_LOOP(LOOP, KERNEL, S, IN, T, IS_T, IN_PLACE, OUT_STRIDE)                               \
    LOOP(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {                      \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        const npy_intp out_stride = OUT_STRIDE, size = (npy_intp)sizeof(T);                        \
        const int placed = IS_T && IN_PLACE && out_stride == size;                                 \
        if (IS_T && stride == size && (placed || !IN_PLACE)) {                                     \
            for (npy_intp r = 0; r < rows; r++)                                                    \
                KERNEL((const T *)(args[0] + r * next), (T *)(args[1] + r * steps[1]), n);         \
            return;                                                                                \
        }                                                                                          \
        const int dense = !IS_T && stride == (npy_intp)sizeof(IN) && next == n * stride &&         \
                          (!IN_PLACE || (out_stride == stride && steps[1] == next));               \
        npy_intp width = rows < SIDE_BY_SIDE ? rows : SIDE_BY_SIDE;                                \
        if (dense)                                                                                 \
            width = n * width <= DENSE ? width : n < DENSE ? DENSE / n : 1;                        \
        else if (next != (npy_intp)sizeof(IN) || n > 1 << 16)                                      \
            width = 1;                                                                             \
        T small[IMODE_ROOM / sizeof(T)], *buffer = small, one[SIDE_BY_SIDE];                       \
        if (!placed && n * width * size > IMODE_ROOM) {                                            \
            buffer = malloc((size_t)(n * width * size));                                           \
            if (buffer == NULL) {                                                                  \
                PyGILState_STATE state = PyGILState_Ensure();                                      \
                PyErr_NoMemory();                                                                  \
                PyGILState_Release(state);                                                         \
                return;                                                                            \
            }                                                                                      \
        }                                                                                          \
        for (npy_intp r = 0; r < rows; r += width) {                                               \
            const char *a = args[0] + r * next;                                                    \
            char *out = args[1] + r * steps[1];                                                    \
            const npy_intp w = rows - r < width ? rows - r : width;                                \
            T *at[SIDE_BY_SIDE];                                                                   \
            for (npy_intp k = 0; k < w; k++)                                                       \
                at[k] = placed ? (T *)(out + k * steps[1]) : buffer + k * n;                       \
            if (dense || w == 1)                                                                   \
                take_##S(at[0], a, stride, n * w);                                                 \
            else                                                                                   \
                for (npy_intp i = 0; i < n; i += LINES) { /* all of a cache line, once */          \
                    const npy_intp lines = n - i < LINES ? n - i : LINES;                          \
                    _Alignas(64) T tile[LINES][SIDE_BY_SIDE];                                      \
                    for (npy_intp l = 0; l < lines; l++)                                           \
                        take_##S(tile[l], a + (i + l) * stride, next, w);                          \
                    for (npy_intp k = 0; k < w; k++)                                               \
                        for (npy_intp l = 0; l < lines; l++)                                       \
                            at[k][i + l] = tile[l][k];                                             \
                }                                                                                  \
            for (npy_intp k = 0; k < w; k++)                                                       \
                KERNEL(at[k], IN_PLACE ? at[k] : one + k, n);                                      \
            if (!IN_PLACE)                                                                         \
                put_##S(out, one, steps[1], w);                                                    \
            else if (dense)                                                                        \
                put_##S(out, buffer, out_stride, n * w);                                           \
            else if (!placed)                                                                      \
                for (npy_intp k = 0; k < w; k++)                                                   \
                    put_##S(out + k * steps[1], at[k], out_stride, n);                             \
        }                                                                                          \
        if (buffer != small)                                                                       \
            free(buffer);                                                                          \
    }
#define ROW_LOOPS(NAME, IN_PLACE, OUT_STRIDE)                                                      \
    ROW_LOOP(static void NAME##_loop_e, NAME##_f, e, uint16_t, float, 0, IN_PLACE, OUT_STRIDE)     \
    ROW_LOOP(static void NAME##_loop_f, NAME##_f, f, float, float, 1, IN_PLACE, OUT_STRIDE)        \
    ROW_LOOP(static void NAME##_loop_d, NAME##_d, d, double, double, 1, IN_PLACE, OUT_STRIDE)      \
    ROW_LOOP(void imode_##NAME##_b, NAME##_f, b, uint16_t, float, 0, IN_PLACE, OUT_STRIDE)
ROW_LOOPS(softmax, 1, steps[3])
ROW_LOOPS(log_softmax, 1, steps[3])
ROW_LOOPS(logsumexp, 0, 0)

/* ---- softmax of columns: ABREAST of them side by side; the sums in blocks of RUN rows ----
   Exponentials are computed twice, not stored: the row stored and the next row loaded would often
   be 4 KiB apart, which a processor mistakes for the same address, and waits. */

#define ABREAST 64
#define RUN 64
/* The largest element of each column, and the sum of exponentials less that; of infinities, where
   `finite`, less 0. */
#define EXPONENTIALS(NAME, T, EXP)                                                                 \
    V_CLONES static void NAME##_sums(const T *x, npy_intp n, npy_intp step, int width,             \
                                     int finite, T *top, T *sum) {                                 \
        _Alignas(64) T part[ABREAST];                                                              \
        for (int j = 0; j < width; j++) {                                                          \
            top[j] = x[j];                                                                         \
            sum[j] = 0;                                                                            \
        }                                                                                          \
        for (npy_intp k = 1; k < n; k++)                                                           \
            for (int j = 0; j < width; j++)                                                        \
                top[j] = x[k * step + j] > top[j] ? x[k * step + j] : top[j];                      \
        if (finite)                                                                                \
            for (int j = 0; j < width; j++) top[j] = top[j] - top[j] == 0 ? top[j] : 0;            \
        for (npy_intp first = 0; first < n; first += RUN) {                                        \
            npy_intp end = n - first < RUN ? n : first + RUN;                                      \
            for (int j = 0; j < width; j++) part[j] = 0;                                           \
            for (npy_intp k = first; k < end; k++) {                                               \
                const T *row = x + k * step;                                                       \
                for (int j = 0; j < width; j++) part[j] += EXP(row[j] - top[j]);                   \
            }                                                                                      \
            for (int j = 0; j < width; j++) sum[j] += part[j];                                     \
        }                                                                                          \
    }
EXPONENTIALS(exps_f, float, v_expf)
EXPONENTIALS(exps_d, double, v_exp)

#define COLUMNS(NAME, T, EXPS, EXP, LOG, IS_LOG)                                                   \
    V_CLONES static void NAME##_tile(const T *x, T *y, npy_intp n, npy_intp step,                  \
                                     int width) {                                                  \
        _Alignas(64) T top[ABREAST], sum[ABREAST];                                                 \
        EXPS##_sums(x, n, step, width, 0, top, sum);                                               \
        for (int j = 0; j < width; j++) sum[j] = IS_LOG ? LOG(sum[j]) : 1 / sum[j];                \
        for (npy_intp k = 0; k < n; k++) {                                                         \
            const T *row = x + k * step;                                                           \
            T *to = y + k * step;                                                                  \
            V_IVDEP for (int j = 0; j < width; j++)                                                \
                to[j] = IS_LOG ? row[j] - top[j] - sum[j] : EXP(row[j] - top[j]) * sum[j];         \
        }                                                                                          \
    }                                                                                              \
    void NAME(const char *in, char *out, npy_intp outer, npy_intp n, npy_intp inner,               \
              npy_intp width) {                                                                    \
        const T *x = (const T*)in;                                                                 \
        T *y = (T*)out;                                                                            \
        for (npy_intp o = 0; o < outer; o++, x += n * inner, y += n * inner)                       \
            for (npy_intp first = 0; first < width; first += ABREAST)                              \
                NAME##_tile(x + first, y + first, n, inner,                                        \
                            width - first < ABREAST ? (int)(width - first) : ABREAST);             \
    }
COLUMNS(imode_softmax_f, float, exps_f, v_expf, logf, 0)
COLUMNS(imode_softmax_d, double, exps_d, v_exp, log, 0)
COLUMNS(imode_log_softmax_f, float, exps_f, v_expf, logf, 1)
COLUMNS(imode_log_softmax_d, double, exps_d, v_exp, log, 1)

/* Of 16 bits: columns whose floats lie side by side, as many as there is room for; to them and back
   in registers where their number is one of whole vectors. */
#ifdef V_NARROW_INLINE
#define HAS_TILES (V_HAS_AVX2 && V_HAS_F16C)
#define V_TILE __attribute__((target("avx2,f16c"))) static
V_TILE void tile_in(float *to, const char *in, npy_intp n, npy_intp inner, npy_intp w, int brain) {
    const uint16_t *from = (const uint16_t *)in;
    for (; n > 0; n--, from += inner, to += w)
        for (npy_intp j = 0; j < w; j += 8)
            _mm256_storeu_ps(to + j, widened(from + j, brain));
}
V_TILE void tile_out(char *out, const float *from, npy_intp n, npy_intp inner, npy_intp w,
                     int brain) {
    uint16_t *to = (uint16_t *)out;
    const unsigned said = _mm_getcsr();
    for (; n > 0; n--, from += w, to += inner)
        for (npy_intp j = 0; j < w; j += 16)
            put_narrowed(to + j, _mm256_loadu_ps(from + j), _mm256_loadu_ps(from + j + 8), brain);
    _mm_setcsr(said);
}
#else
#define HAS_TILES 0
#define tile_in(to, in, n, inner, w, brain)
#define tile_out(out, from, n, inner, w, brain)
#endif
#define NARROW_COLUMNS(NAME, OF_FLOATS, FROM, TO, BRAIN)                                           \
    void NAME(const char *in, char *out, npy_intp outer, npy_intp n, npy_intp inner,               \
              npy_intp width) {                                                                    \
        _Alignas(64) float tile[16 * IMODE_COLUMN];                                                \
        const npy_intp room = IMODE_COLUMN / n * 16, most = room < ABREAST ? room : ABREAST;       \
        for (npy_intp o = 0; o < outer; o++, in += 2 * n * inner, out += 2 * n * inner)            \
            for (npy_intp first = 0, w; first < width; first += w) {                               \
                w = width - first < most ? width - first : most;                                   \
                const int fast = HAS_TILES && w % 16 == 0;                                         \
                if (fast)                                                                          \
                    tile_in(tile, in + 2 * first, n, inner, w, BRAIN);                             \
                for (npy_intp k = fast ? n : 0; k < n; k++)                                        \
                    FROM(tile + k * w, in + 2 * (k * inner + first), 2, w);                        \
                OF_FLOATS##_tile(tile, tile, n, w, (int)w);                                        \
                if (fast)                                                                          \
                    tile_out(out + 2 * first, tile, n, inner, w, BRAIN);                           \
                for (npy_intp k = fast ? n : 0; k < n; k++)                                        \
                    TO(out + 2 * (k * inner + first), tile + k * w, 2, w);                         \
            }                                                                                      \
    }
NARROW_COLUMNS(imode_softmax_e, imode_softmax_f, from_half, to_half, 0)
NARROW_COLUMNS(imode_softmax_of_brains, imode_softmax_f, from_brain, to_brain, 1)
NARROW_COLUMNS(imode_log_softmax_e, imode_log_softmax_f, from_half, to_half, 0)
NARROW_COLUMNS(imode_log_softmax_of_brains, imode_log_softmax_f, from_brain, to_brain, 1)

/* Of lanes side by side, as the results are; else row by row. */
#define LOGSUMEXP(S, T, LOG)                                                                       \
    static void logsumexp_any_##S(char **args, const npy_intp *dims, const npy_intp *steps,        \
                                  void *d) {                                                       \
        EACH_ROW;                                                                                  \
        const npy_intp size = (npy_intp)sizeof(T);                                                 \
        if (rows < SIDE_BY_SIDE || next != size || steps[1] != size || stride == size) {           \
            logsumexp_loop_##S(args, dims, steps, d);                                              \
            return;                                                                                \
        }                                                                                          \
        for (npy_intp r = 0; r < rows; r += ABREAST) {                                             \
            const int width = rows - r < ABREAST ? (int)(rows - r) : ABREAST;                      \
            _Alignas(64) T top[ABREAST], sum[ABREAST], *out = (T *)args[1] + r;                    \
            exps_##S##_sums((const T *)args[0] + r, n, stride / size, width, 1, top, sum);         \
            for (int j = 0; j < width; j++)                                                        \
                out[j] = LOG(sum[j]) + top[j];                                                     \
        }                                                                                          \
    }
LOGSUMEXP(f, float, logf)
LOGSUMEXP(d, double, log)

static imode_loop sum_loops[] = {sum_u1_loop, sum_u1_loop, sum_i1_loop, sum_i2_loop,
                                 sum_i4_loop, sum_i8_loop, sum_e_loop,  sum_f_loop,
                                 sum_d_loop,  sum_cf_loop, sum_cd_loop};
static imode_loop softmax_loops[] = {softmax_loop_e, softmax_loop_f, softmax_loop_d};
static imode_loop log_softmax_loops[] = {log_softmax_loop_e, log_softmax_loop_f,
                                         log_softmax_loop_d};
static imode_loop logsumexp_loops[] = {logsumexp_loop_e, logsumexp_any_f, logsumexp_any_d};
static const char sum_types[] = {
    NPY_BOOL,  NPY_INT64,  NPY_UINT8, NPY_INT64, NPY_INT8,   NPY_INT64,  NPY_INT16,   NPY_INT64,
    NPY_INT32, NPY_INT64,  NPY_INT64, NPY_INT64, NPY_HALF,   NPY_HALF,   NPY_FLOAT,   NPY_FLOAT,
    NPY_DOUBLE, NPY_DOUBLE, NPY_CFLOAT, NPY_CFLOAT, NPY_CDOUBLE, NPY_CDOUBLE};
static const char float_types[] = {NPY_HALF,  NPY_HALF,   NPY_FLOAT,
                                   NPY_FLOAT, NPY_DOUBLE, NPY_DOUBLE};
static void *no_data[11];

const imode_ufunc imode_rows[] = {
    {"sum", "(n)->()", 1, 11, sum_types, sum_loops, no_data},
    {"softmax", "(n)->(n)", 1, 3, float_types, softmax_loops, no_data},
    {"log_softmax", "(n)->(n)", 1, 3, float_types, log_softmax_loops, no_data},
    {"logsumexp", "(n)->()", 1, 3, float_types, logsumexp_loops, no_data},
    {NULL, NULL, 0, 0, NULL, NULL, NULL},
};
