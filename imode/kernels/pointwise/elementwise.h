/* Elementwise kernels: the functions that call them for operands of any stride, and the macros that
   define them.

   A kernel is a simple loop over contiguous arrays, which the compiler vectorises. `run_same` gives
   it contiguous operands directly; others are copied to a buffer a block at a time, and so are
   float16 operands in `run_half`, which computes in float32. A scalar operand (stride 0) fills its
   buffer once. `run_rows` does what `run_same` does for many rows. */
#ifndef IMODE_ELEMENTWISE_H
#define IMODE_ELEMENTWISE_H

#include "_loops.h"
#include "vmath.h"
#include "wide.h"

#define BLOCK 256
#define BLOCK_BYTES 2048 /* of each operand, where it is copied: more leave too little of the L1 */
#define AHEAD_FROM (1 << 20) /* bytes of an operand that is not in a near cache: worth fetching */
#define MAX_OPERANDS 5

typedef struct {
    imode_kernel kernel;
    int nin, in_size, out_size; /* sizes of an element in bytes; all operands have the same type */
    int ahead; /* whether to fetch what comes next: see `run_ahead` */
} loop_info;

/* ---- from NumPy's loop convention to contiguous kernels ---- */

#define GATHER(T)                                                                                  \
    if (step == 0) {                                                                               \
        const T x = *(const T *)from;                                                              \
        for (npy_intp i = 0; i < n; i++)                                                           \
            ((T *)to)[i] = x;                                                                      \
    } else if (step == 2 * sizeof(T)) /* every other one, by vectors */                            \
        for (npy_intp i = 0; i < n; i++)                                                           \
            ((T *)to)[i] = ((const T *)from)[2 * i];                                               \
    else                                                                                           \
        for (npy_intp i = 0; i < n; i++)                                                           \
            ((T *)to)[i] = *(const T *)(from + i * step)
#define SCATTER(T)                                                                                 \
    for (npy_intp i = 0; i < n; i++)                                                               \
    *(T *)(to + i * step) = ((const T *)from)[i]

typedef struct {
    uint64_t a, b;
} pair64;

static void gather(char *to, const char *from, npy_intp step, npy_intp n, int size) {
    switch (size) {
    case 1: GATHER(uint8_t); break;
    case 2: GATHER(uint16_t); break;
    case 4: GATHER(uint32_t); break;
    case 8: GATHER(uint64_t); break;
    default: GATHER(pair64);
    }
}

static void scatter(char *to, const char *from, npy_intp step, npy_intp n, int size) {
    switch (size) {
    case 1: SCATTER(uint8_t); break;
    case 2: SCATTER(uint16_t); break;
    case 4: SCATTER(uint32_t); break;
    case 8: SCATTER(uint64_t); break;
    default: SCATTER(pair64);
    }
}

/* `by`: the steps from row to row. */
static void run_blocks(char **args, npy_intp n, npy_intp rows, const npy_intp *steps,
                       const npy_intp *by, const loop_info *info) {
    _Alignas(64) char buffer[MAX_OPERANDS][BLOCK_BYTES];
    char *p[MAX_OPERANDS];
    const int nin = info->nin, in = info->in_size, out = info->out_size;
    npy_intp most = BLOCK_BYTES; /* elements of a block */
    for (int size = in > out ? in : out; size > 1; size /= 2)
        most /= 2;
    for (npy_intp row = 0; row < rows; row++) {
        for (int k = 0; k < nin; k++)
            if (steps[k] == 0 && (row == 0 || by[k]))
                gather(buffer[k], args[k] + row * by[k], 0, n < most ? n : most, in);
        for (npy_intp done = 0; done < n; done += most) {
            npy_intp m = n - done < most ? n - done : most;
            for (int k = 0; k < nin; k++) {
                char *from = args[k] + row * by[k] + done * steps[k];
                p[k] = steps[k] == in ? from : buffer[k];
                if (steps[k] != in && steps[k] != 0)
                    gather(buffer[k], from, steps[k], m, in);
            }
            char *to = args[nin] + row * by[nin] + done * steps[nin];
            p[nin] = steps[nin] == out ? to : buffer[nin];
            info->kernel(p, m);
            if (p[nin] != to)
                scatter(to, buffer[nin], steps[nin], m, out);
        }
    }
}

/* A kernel that computes long for each element: what comes next is fetched while a block goes
   through it. Of several operands from memory, the processor by itself may come too late: logaddexp
   took twice as long for some arrays. For one operand it does well. */
static void run_ahead(char *const *args, npy_intp n, const loop_info *info) {
    char *p[MAX_OPERANDS];
    for (npy_intp start = 0; start < n; start += BLOCK) {
        const npy_intp m = n - start < BLOCK ? n - start : BLOCK;
        for (int k = 0; k <= info->nin; k++) {
            const int size = k < info->nin ? info->in_size : info->out_size;
            p[k] = args[k] + start * size;
            for (int byte = 0; n - start > 2 * BLOCK && byte < BLOCK * size; byte += 64)
                __builtin_prefetch(p[k] + BLOCK * size + byte);
        }
        info->kernel(p, m);
    }
}

static int lie_side_by_side(const npy_intp *steps, const loop_info *info) {
    int beside = steps[info->nin] == info->out_size;
    for (int k = 0; k < info->nin; k++)
        beside &= steps[k] == info->in_size;
    return beside;
}

static void run_same(char **args, const npy_intp *dims, const npy_intp *steps, void *data) {
    static const npy_intp none[MAX_OPERANDS];
    const loop_info *info = data;
    if (dims[0] != 1 && !lie_side_by_side(steps, info))
        run_blocks(args, dims[0], 1, steps, none, info);
    else if (info->ahead && dims[0] * info->in_size >= AHEAD_FROM)
        run_ahead(args, dims[0], info);
    else
        info->kernel(args, dims[0]);
}

/* The same for dims[1] rows, whose steps follow those of the elements. */
__attribute__((unused)) static void run_rows(char **args, const npy_intp *dims,
                                             const npy_intp *steps, void *data) {
    const loop_info *info = data;
    const npy_intp *by = steps + info->nin + 1;
    char *p[MAX_OPERANDS];
    if (!lie_side_by_side(steps, info)) {
        run_blocks(args, dims[0], dims[1], steps, by, info);
        return;
    }
    for (int k = 0; k <= info->nin; k++)
        p[k] = args[k];
    for (npy_intp row = 0; row < dims[1]; row++) {
        info->kernel(p, dims[0]);
        for (int k = 0; k <= info->nin; k++)
            p[k] += by[k];
    }
}

/* float16: the float32 kernel, a block at a time. */
static void run_half(char **args, const npy_intp *dims, const npy_intp *steps, void *data) {
    const loop_info *info = data;
    _Alignas(64) float buffer[MAX_OPERANDS][WIDE_BLOCK];
    char *p[MAX_OPERANDS];
    const int nin = info->nin;
    for (int k = 0; k <= nin; k++)
        p[k] = (char *)buffer[k];
    for (npy_intp done = 0; done < dims[0]; done += WIDE_BLOCK) {
        npy_intp m = dims[0] - done < WIDE_BLOCK ? dims[0] - done : WIDE_BLOCK;
        for (int k = 0; k < nin; k++)
            if (steps[k] || !done)
                from_half(buffer[k], args[k] + done * steps[k], steps[k], m);
        info->kernel(p, m);
        char *to = args[nin] + done * steps[nin];
        if (info->out_size == 1)
            scatter(to, p[nin], steps[nin], m, 1);
        else
            to_half(to, buffer[nin], steps[nin], m);
    }
}

/* ---- kernels: MAP<operands>(name, type, operand type, result type, value of x, y, z, w) ---- */

#define MAP1_AS(LEVELS, BEFORE, NAME, T, R, VALUE)                                                 \
    LEVELS static void NAME(char *const *p, npy_intp n) {                                          \
        const T *a = (const T *)p[0];                                                              \
        R *out = (R *)p[1];                                                                        \
        BEFORE for (npy_intp i = 0; i < n; i++) {                                                  \
            const T x = a[i];                                                                      \
            out[i] = (R)(VALUE);                                                                   \
        }                                                                                          \
    }
/* Long loops wait less for memory if what comes next is fetched while a block is computed. What was
   gathered from far apart is short, and nothing lies behind it. */
#define READ_AHEAD                                                                                 \
    if (n - start > 2 * BLOCK)                                                                     \
        for (npy_intp i = 0; i < m; i += 64 / (npy_intp)sizeof *a)                                 \
            __builtin_prefetch(a + i + 2 * BLOCK);
/* A loop over blocks of floats by a function QUICK, of (in, out, n). */
#define IN_BLOCKS(NAME, QUICK)                                                                     \
    static void NAME(char *const *p, npy_intp n) {                                                 \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const float *a = (const float *)p[0] + start;                                          \
            float *out = (float *)p[1] + start;                                                    \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            READ_AHEAD                                                                             \
            QUICK(a, out, m);                                                                      \
        }                                                                                          \
    }
/* The same where FAR says in its highest bit whether the bits x of a number are too much for QUICK:
   then the block goes through the kernel REST. */
#define BLOCKS_OF(T, BITS, BITS_OF, NAME, FAR, QUICK, REST)                                        \
    static void NAME(char *const *p, npy_intp n) {                                                 \
        for (npy_intp start = 0; start < n; start += BLOCK) {                                      \
            const T *a = (const T *)p[0] + start;                                                  \
            T *out = (T *)p[1] + start;                                                            \
            const npy_intp m = n - start < BLOCK ? n - start : BLOCK;                              \
            BITS far = 0;                                                                          \
            _Pragma("GCC unroll 4") for (npy_intp i = 0; i < m; i++) {                             \
                const BITS x = BITS_OF(a[i]);                                                      \
                far |= FAR;                                                                        \
            }                                                                                      \
            READ_AHEAD                                                                             \
            if (far >> (8 * sizeof far - 1))                                                       \
                REST((char *[]){(char *)a, (char *)out}, m);                                       \
            else                                                                                   \
                QUICK(a, out, m);                                                                  \
        }                                                                                          \
    }
#define BLOCKS(...) BLOCKS_OF(float, uint32_t, v_bits, __VA_ARGS__)
#define BLOCKS_D(...) BLOCKS_OF(double, uint64_t, v_bits_d, __VA_ARGS__)
#define ABOVE(LIMIT, x) (v_bits(LIMIT) - ((x) & 0x7FFFFFFFu)) /* |x|, or a NaN */
#define ABOVE_D(LIMIT, x) (v_bits_d(LIMIT) - ((x) & 0x7FFFFFFFFFFFFFFFu))
#define QUICK1_OF(T, NAME, VALUE)                                                                  \
    V_INLINE void NAME(const T *a, T *out, npy_intp n) {                                           \
        V_IVDEP for (npy_intp i = 0; i < n; i++) {                                                 \
            const T x = a[i];                                                                      \
            out[i] = VALUE;                                                                        \
        }                                                                                          \
    }
#define QUICK1(...) QUICK1_OF(float, __VA_ARGS__)
#define QUICK1_D(...) QUICK1_OF(double, __VA_ARGS__)
#define MAP2_AS(LEVELS, BEFORE, NAME, T, R, VALUE)                                                 \
    LEVELS static void NAME(char *const *p, npy_intp n) {                                          \
        const T *a = (const T *)p[0], *b = (const T *)p[1];                                        \
        R *out = (R *)p[2];                                                                        \
        BEFORE for (npy_intp i = 0; i < n; i++) {                                                  \
            const T x = a[i], y = b[i];                                                            \
            out[i] = (R)(VALUE);                                                                   \
        }                                                                                          \
    }
#define MAP3_AS(LEVELS, BEFORE, NAME, T, R, VALUE)                                                 \
    LEVELS static void NAME(char *const *p, npy_intp n) {                                          \
        const T *a = (const T *)p[0], *b = (const T *)p[1], *c = (const T *)p[2];                  \
        R *out = (R *)p[3];                                                                        \
        BEFORE for (npy_intp i = 0; i < n; i++) {                                                  \
            const T x = a[i], y = b[i], z = c[i];                                                  \
            out[i] = (R)(VALUE);                                                                   \
        }                                                                                          \
    }
#define MAP4_AS(LEVELS, BEFORE, NAME, T, R, VALUE)                                                 \
    LEVELS static void NAME(char *const *p, npy_intp n) {                                          \
        const T *a = (const T *)p[0], *b = (const T *)p[1], *c = (const T *)p[2];                  \
        const T *d = (const T *)p[3];                                                              \
        R *out = (R *)p[4];                                                                        \
        BEFORE for (npy_intp i = 0; i < n; i++) {                                                  \
            const T x = a[i], y = b[i], z = c[i], w = d[i];                                        \
            out[i] = (R)(VALUE);                                                                   \
        }                                                                                          \
    }
#define MAP1(...) MAP1_AS(V_CLONES, V_IVDEP, __VA_ARGS__)
#define MAP2(...) MAP2_AS(V_CLONES, V_IVDEP, __VA_ARGS__)
#define MAP3(...) MAP3_AS(V_CLONES, V_IVDEP, __VA_ARGS__)
#define MAP4(...) MAP4_AS(V_CLONES, V_IVDEP, __VA_ARGS__)

/* LIGHT<operands>: of few instructions, which wait for the memory. Vectors of 512 bits make them
   slower; and where a loop is so short, it depends on its address how fast it runs: up to a half,
   unless it does several vectors at once. */
#if defined(__GNUC__) && !defined(__clang__)
#define V_SEVERAL V_IVDEP _Pragma("GCC unroll 4")
#else
#define V_SEVERAL V_IVDEP
#endif
#if IMODE_LEVELS && defined(__GLIBC__) && !defined(IMODE_DEBUG)
#define V_LIGHT __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define V_LIGHT
#endif
#define LIGHT1(...) MAP1_AS(V_LIGHT, V_SEVERAL, __VA_ARGS__)
#define LIGHT2(...) MAP2_AS(V_LIGHT, V_SEVERAL, __VA_ARGS__)
#define LIGHT3(...) MAP3_AS(V_LIGHT, V_SEVERAL, __VA_ARGS__)
#define LIGHT4(...) MAP4_AS(V_LIGHT, V_SEVERAL, __VA_ARGS__)

#define INFO(NIN, KERNEL, IN, OUT) {KERNEL, NIN, sizeof(IN), sizeof(OUT), 0}
#define LONG_INFO(NIN, KERNEL, IN, OUT) {KERNEL, NIN, sizeof(IN), sizeof(OUT), (NIN) > 1}
#define TYPES_1(IN, OUT) IN, OUT
#define TYPES_2(IN, OUT) IN, IN, OUT
#define TYPES_3(IN, OUT) IN, IN, IN, OUT
#define TYPES_4(IN, OUT) IN, IN, IN, IN, OUT

/* The table of a function NAME_f, NAME_d of NIN floats, for float16, float32 and float64; OF: INFO
   or LONG_INFO. */
#define FLOAT_TABLE_OF(NIN, NAME, OF)                                                              \
    static loop_info NAME##_info[] = {OF(NIN, NAME##_f, float, float),                             \
                                      OF(NIN, NAME##_d, double, double)};                          \
    static imode_loop NAME##_loops[] = {run_half, run_same, run_same};                             \
    static void *NAME##_data[] = {&NAME##_info[0], &NAME##_info[0], &NAME##_info[1]};              \
    static const char NAME##_types[] = {TYPES_##NIN(NPY_HALF, NPY_HALF),                           \
                                        TYPES_##NIN(NPY_FLOAT, NPY_FLOAT),                         \
                                        TYPES_##NIN(NPY_DOUBLE, NPY_DOUBLE)};
#define FLOAT_TABLE(NIN, NAME) FLOAT_TABLE_OF(NIN, NAME, INFO)
#define FLOATS(NIN, NAME, VALUE_F, VALUE_D)                                                        \
    MAP##NIN(NAME##_f, float, float, VALUE_F) MAP##NIN(NAME##_d, double, double, VALUE_D)          \
    FLOAT_TABLE_OF(NIN, NAME, LONG_INFO)
#define LIGHT_FLOATS(NIN, NAME, VALUE_F, VALUE_D)                                                  \
    LIGHT##NIN(NAME##_f, float, float, VALUE_F) LIGHT##NIN(NAME##_d, double, double, VALUE_D)      \
    FLOAT_TABLE(NIN, NAME)
#define FLOATS_SAME(NIN, NAME, VALUE) LIGHT_FLOATS(NIN, NAME, VALUE, VALUE)
/* Where float has a loop of its own, NAME_f. */
#define DOUBLES(NIN, NAME, VALUE_D)                                                                \
    MAP##NIN(NAME##_d, double, double, VALUE_D) FLOAT_TABLE(NIN, NAME)
/* NAME_f, NAME_d: a loop for processors without fused multiply-add, and one for the others. */
#define BY_LEVEL(NAME)                                                                             \
    static void NAME##_f(char *const *p, npy_intp n) {                                             \
        V_LOW ? NAME##_low(p, n) : NAME##_high(p, n);                                              \
    }
#define BY_LEVEL_D(NAME)                                                                           \
    static void NAME##_d(char *const *p, npy_intp n) {                                             \
        V_LOW ? NAME##_low_d(p, n) : NAME##_high_d(p, n);                                          \
    }
#define ROW(NIN, NAME)                                                                             \
    {#NAME, NULL, NIN, sizeof(NAME##_data) / sizeof(void *), NAME##_types, NAME##_loops, NAME##_data}

#endif
