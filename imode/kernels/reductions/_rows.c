/* Functions of a row of n numbers: sum, softmax, log_softmax, logsumexp.

   A row is summed in blocks of BLOCK elements, each in vectors side by side (_sum_block.h); the sums
   of blocks are added pairwise. The error grows with the logarithm of n. Rows with a stride are
   first copied to a buffer; but if corresponding elements of many rows are adjacent (a sum over the
   leading dimension), the rows are summed side by side, column by column. */

#include <stddef.h>
#include <string.h>

#include "_loops.h"
#include "vmath.h"
#include "wide.h"

#define BLOCK 2048
#define TILE 512 /* columns summed side by side: two levels of sums fit into the L1 cache */

/* ---- sum: one block of a contiguous row ---- */

#define LOOPS "_sum_block.h"
#include "_levels.h"

static float sum_f_block(float *a, npy_intp n)
{
    enum { wide = 0 };
    PICK(sum_block, (a, n))
}

static double sum_d_block(double *a, npy_intp n)
{
    enum { wide = 1 };
    PICK(sum_block, (a, n))
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

/* ---- sum: rows of any stride and of complex and half numbers, through a buffer ---- */

#define COPY(IN)                                                                                   \
    for (npy_intp i = 0; i < n; i++)                                                               \
        buffer[i] = ((const IN *)(a + i * stride))[k];
#define WIDEN(IN) from_half(buffer, a, stride, n);
/* PARTS: 1, or 2 for complex numbers, whose parts are summed separately. */
#define SUM_STRIDED(NAME, SUM, IN, T, PARTS, FILL)                                                 \
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
        T buffer[BLOCK];                                                                           \
        for (int k = 0; k < PARTS; k++) {                                                          \
            FILL(IN)                                                                               \
            total[k] = SUM##_block(buffer, n);                                                     \
        }                                                                                          \
    }
SUM_STRIDED(sum_f, sum_f, float, float, 1, COPY)
SUM_STRIDED(sum_d, sum_d, double, double, 1, COPY)
SUM_STRIDED(sum_e, sum_f, uint16_t, float, 1, WIDEN)
SUM_STRIDED(sum_cf, sum_f, float, float, 2, COPY)
SUM_STRIDED(sum_cd, sum_d, double, double, 2, COPY)

/* ---- sum: columns side by side ---- */

#define SUM_COLUMNS(NAME, T)                                                                       \
    V_CLONES static void NAME##_columns(const char *a, npy_intp stride, npy_intp n, T *out,        \
                                        npy_intp width) {                                          \
        T levels[3][TILE]; /* of all rows, of the last 4096, of the last 64: partial sums */ \
        for (int k = 0; k < 3; k++)                                                                \
            for (npy_intp j = 0; j < width; j++)                                                   \
                levels[k][j] = 0;                                                                  \
        for (npy_intp start = 0; start < n; start += 64) {                                         \
            npy_intp end = n - start < 64 ? n : start + 64;                                        \
            for (npy_intp i = start; i < end; i++) {                                               \
                const T *row = (const T *)(a + i * stride);                                        \
                for (npy_intp j = 0; j < width; j++)                                               \
                    levels[2][j] += row[j];                                                        \
            }                                                                                      \
            for (int k = 1; k >= (end % 4096 == 0 || end == n ? 0 : 1); k--)                       \
                for (npy_intp j = 0; j < width; j++) {                                             \
                    levels[k][j] += levels[k + 1][j];                                              \
                    levels[k + 1][j] = 0;                                                          \
                }                                                                                  \
        }                                                                                          \
        for (npy_intp j = 0; j < width; j++)                                                       \
            out[j] = levels[0][j];                                                                 \
    }
SUM_COLUMNS(sum_f, float)
SUM_COLUMNS(sum_d, double)

/* The loops: dims = rows, n; steps = from row to row in and out, within a row. */
#define EACH_ROW npy_intp rows = dims[0], n = dims[1], next = steps[0], stride = steps[2]
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

static void sum_e_loop(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {
    (void)d;
    EACH_ROW;
    for (npy_intp r = 0; r < rows; r++) {
        float total;
        sum_e_strided(args[0] + r * next, stride, n, &total);
        *(uint16_t *)(args[1] + r * steps[1]) = v_to_half(total);
    }
}

/* Integers add exactly in any order; narrow integers and bool add up to int64. */
#define SUM_INTEGERS(NAME, T)                                                                      \
    V_CLONES static void NAME##_loop(char **args, const npy_intp *dims, const npy_intp *steps,     \
                                     void *d) {                                                    \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        for (npy_intp r = 0; r < rows; r++) {                                                      \
            const char *a = args[0] + r * next;                                                    \
            uint64_t total = 0; /* unsigned: it wraps around, as int64 does in NumPy */            \
            if (stride == sizeof(T))                                                               \
                for (npy_intp i = 0; i < n; i++)                                                   \
                    total += (uint64_t)((const T *)a)[i];                                          \
            else                                                                                   \
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

/* The largest element. A NaN may be skipped: the exponentials give NaN again. */
#define MAX_ROW(NAME, T)                                                                           \
    V_CLONES static T NAME(const T *a, npy_intp n) {                                               \
        enum { W = 128 / sizeof(T) };                                                              \
        T top = (T)-INFINITY, tops[W];                                                             \
        npy_intp i = 0;                                                                            \
        if (n >= W) {                                                                              \
            for (int j = 0; j < W; j++)                                                            \
                tops[j] = a[j];                                                                    \
            for (i = W; i + W <= n; i += W)                                                        \
                for (int j = 0; j < W; j++)                                                        \
                    tops[j] = a[i + j] > tops[j] ? a[i + j] : tops[j];                             \
            for (int j = 0; j < W; j++)                                                            \
                top = tops[j] > top ? tops[j] : top;                                               \
        }                                                                                          \
        for (; i < n; i++)                                                                         \
            top = a[i] > top ? a[i] : top;                                                         \
        return top;                                                                                \
    }
MAX_ROW(max_f, float)
MAX_ROW(max_d, double)

#define EXP_ROW(NAME, T, EXP)                                                                      \
    V_CLONES static void NAME(const T *a, T shift, T *out, npy_intp n) {                           \
        V_IVDEP for (npy_intp i = 0; i < n; i++) out[i] = EXP(a[i] - shift);                       \
    }
EXP_ROW(exp_f, float, v_expf)
EXP_ROW(exp_d, double, v_exp)

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
        T buffer[BLOCK];                                                                           \
        exp_##S(a, shift, buffer, n);                                                              \
        return sum_##S##_block(buffer, n);                                                         \
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

/* Rows: used directly if contiguous; else copied to a buffer and back, several at once if their
   corresponding elements are adjacent (a softmax over the leading dimension). */
#define READ(x) (x)
#define HALF(x) v_from_half(x)
#define HALF_BACK(x) v_to_half(x)
#define SIDE_BY_SIDE 16
#define ROW_LOOP(NAME, KERNEL, IN, T, CONVERT, BACK, IS_T, OUT_N, OUT_STRIDE)                      \
    static void NAME(char **args, const npy_intp *dims, const npy_intp *steps, void *d) {          \
        (void)d;                                                                                   \
        EACH_ROW;                                                                                  \
        npy_intp out_stride = OUT_STRIDE, size = (npy_intp)sizeof(T);                              \
        if (IS_T && stride == size && (out_stride == size || OUT_N == 1)) {                        \
            for (npy_intp r = 0; r < rows; r++)                                                    \
                KERNEL((const T *)(args[0] + r * next), (T *)(args[1] + r * steps[1]), n);         \
            return;                                                                                \
        }                                                                                          \
        npy_intp width = rows < SIDE_BY_SIDE ? rows : SIDE_BY_SIDE;                                \
        if (next != (npy_intp)sizeof(IN) || n > 1 << 16)                                           \
            width = 1;                                                                             \
        T small[BLOCK], *buffer = small;                                                           \
        if (2 * n * width > BLOCK) {                                                               \
            buffer = malloc(2 * (size_t)(n * width) * sizeof(T));                                  \
            if (buffer == NULL) {                                                                  \
                PyGILState_STATE state = PyGILState_Ensure();                                      \
                PyErr_NoMemory();                                                                  \
                PyGILState_Release(state);                                                         \
                return;                                                                            \
            }                                                                                      \
        }                                                                                          \
        T *result = buffer + n * width;                                                            \
        for (npy_intp r = 0; r < rows; r += width) {                                               \
            const char *a = args[0] + r * next;                                                    \
            char *out = args[1] + r * steps[1];                                                    \
            npy_intp w = rows - r < width ? rows - r : width;                                      \
            for (npy_intp i = 0; i < n; i++)                                                       \
                for (npy_intp k = 0; k < w; k++)                                                   \
                    buffer[k * n + i] = CONVERT(*(const IN *)(a + i * stride + k * next));         \
            for (npy_intp k = 0; k < w; k++)                                                       \
                KERNEL(buffer + k * n, result + k * OUT_N, n);                                     \
            for (npy_intp i = 0; i < OUT_N; i++)                                                   \
                for (npy_intp k = 0; k < w; k++)                                                   \
                    *(IN *)(out + i * out_stride + k * steps[1]) = BACK(result[k * OUT_N + i]);    \
        }                                                                                          \
        if (buffer != small)                                                                       \
            free(buffer);                                                                          \
    }
#define ROW_LOOPS(NAME, OUT_N, OUT_STRIDE)                                                         \
    ROW_LOOP(NAME##_loop_e, NAME##_f, uint16_t, float, HALF, HALF_BACK, 0, OUT_N, OUT_STRIDE)      \
    ROW_LOOP(NAME##_loop_f, NAME##_f, float, float, READ, READ, 1, OUT_N, OUT_STRIDE)              \
    ROW_LOOP(NAME##_loop_d, NAME##_d, double, double, READ, READ, 1, OUT_N, OUT_STRIDE)            \
    static imode_loop NAME##_loops[] = {NAME##_loop_e, NAME##_loop_f, NAME##_loop_d};
ROW_LOOPS(softmax, n, steps[3])
ROW_LOOPS(log_softmax, n, steps[3])
ROW_LOOPS(logsumexp, 1, 0)

static imode_loop sum_loops[] = {sum_u1_loop, sum_u1_loop, sum_i1_loop, sum_i2_loop,
                                 sum_i4_loop, sum_i8_loop, sum_e_loop,  sum_f_loop,
                                 sum_d_loop,  sum_cf_loop, sum_cd_loop};
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
