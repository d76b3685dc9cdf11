/* Copies of elements from one layout to another.

   The dimensions are walked in the order of the target, its memory being written once, from start to
   end. Where the source's elements lie side by side along another dimension than the target's, blocks
   of a cache line are turned, so that each line of both is fetched once. */
#include "moving.h"

#include <stdint.h>

#include "half.h"

#define BLOCK 16 /* rows and columns of a block that is turned, */
#define SWATH 256 /* and columns of as many blocks as are turned before those below */
#define COLOURS 4 /* so few elements side by side are taken apart one after the other, */
#define SHORT 8  /* rows of fewer elements are copied column by column, */
#define MANY 256 /* for so many rows */

#ifdef __GNUC__
#define PREFETCH(at) __builtin_prefetch(at)
#define SEVERAL _Pragma("GCC unroll 4")
#define LOOSE __attribute__((aligned(1), may_alias))
#else
#define PREFETCH(at) ((void)0)
#define SEVERAL
#define LOOSE
#endif

/* Elements; several small ones side by side may be one of these, wherever they lie. */
typedef uint16_t half_word LOOSE;
typedef uint32_t word LOOSE;
typedef uint64_t long_word LOOSE;
typedef struct {
    long_word a, b;
} pair;

/* memcpy of LEAST to MOST bytes, where the C library's loops take up to a quarter longer. And where
   `to` lies up to NEAR bytes behind `from` by the lowest twelve bits of both, by which processors
   find out whether a read must wait for a write: forwards, each would, for the one just before, and
   the C library's copies take ten times as long. Backwards, none does. */
#define LEAST 512
#define MOST 16384
#define NEAR 512
#if defined(__GNUC__) && defined(__x86_64__)
#include <tmmintrin.h>

#define HAS_VECTORS __builtin_cpu_supports("avx2")
#define HAS_SHUFFLE __builtin_cpu_supports("ssse3")
typedef uint64_t vector __attribute__((vector_size(32), aligned(1), may_alias));
#define STRIDE (4 * (ptrdiff_t)sizeof(vector))
__attribute__((target("avx2"))) static inline void copy_stride(char *to, const char *from) {
    const vector *a = (const vector *)from;
    vector *b = (vector *)to;
    const vector w = a[0], x = a[1], y = a[2], z = a[3];
    b[0] = w, b[1] = x, b[2] = y, b[3] = z;
}

__attribute__((target("avx2"))) static void copy_vectors(char *to, const char *from, ptrdiff_t n) {
    for (; n >= STRIDE; n -= STRIDE, to += STRIDE, from += STRIDE)
        copy_stride(to, from);
    memcpy(to, from, n);
}

static void copy_back(char *to, const char *from, ptrdiff_t n) {
    for (; n >= 64; n -= 64) {
        const __m128i *a = (const __m128i *)(from + n) - 4;
        __m128i *b = (__m128i *)(to + n) - 4;
        const __m128i w = _mm_loadu_si128(a), x = _mm_loadu_si128(a + 1);
        const __m128i y = _mm_loadu_si128(a + 2), z = _mm_loadu_si128(a + 3);
        _mm_storeu_si128(b, w), _mm_storeu_si128(b + 1, x);
        _mm_storeu_si128(b + 2, y), _mm_storeu_si128(b + 3, z);
    }
    memcpy(to, from, n);
}

/* Every third of n bytes, as a colour of an image is: as many as whole vectors give, and none from
   behind the last one; returns how many. */
__attribute__((target("ssse3"))) static ptrdiff_t every_third(char *to, const char *from,
                                                              ptrdiff_t n) {
    const __m128i a = _mm_setr_epi8(0, 3, 6, 9, 12, 15, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
    const __m128i b = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, 2, 5, 8, 11, 14, -1, -1, -1, -1, -1);
    const __m128i c = _mm_setr_epi8(-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 1, 4, 7, 10, 13);
    ptrdiff_t i = 0;
    for (; i + 17 <= n; i += 16) {
        const __m128i *at = (const __m128i *)(from + 3 * i);
        const __m128i x = _mm_shuffle_epi8(_mm_loadu_si128(at), a);
        const __m128i y = _mm_shuffle_epi8(_mm_loadu_si128(at + 1), b);
        const __m128i z = _mm_shuffle_epi8(_mm_loadu_si128(at + 2), c);
        _mm_storeu_si128((__m128i *)(to + i), _mm_or_si128(_mm_or_si128(x, y), z));
    }
    return i;
}
#else
#define HAS_VECTORS 0
#define HAS_SHUFFLE 0
#define every_third(to, from, n) 0
#define copy_vectors memcpy
#define copy_back memcpy
#endif

V_INLINE void copy_row(char *to, const char *from, ptrdiff_t n) {
    const uintptr_t behind = ((uintptr_t)to - (uintptr_t)from) % 4096;
    if (n >= LEAST && behind && behind < NEAR)
        copy_back(to, from, n);
    else if (n >= LEAST && n <= MOST && HAS_VECTORS)
        copy_vectors(to, from, n);
    else
        memcpy(to, from, n);
}

/* 4 by 4 elements of 4 bytes, turned, from four lines of a block. */
#if defined(__clang__) || defined(__GNUC__) && __GNUC__ >= 12
#define HAS_TURN_4 1
typedef uint32_t four __attribute__((vector_size(16), aligned(4), may_alias));
V_INLINE void turn_4(char *to, ptrdiff_t step, const char *line) {
    const four *at = (const four *)line;
    const four a = at[0], b = at[BLOCK / 4], c = at[2 * BLOCK / 4], d = at[3 * BLOCK / 4];
    const four e = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const four f = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const four g = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(four *)to = __builtin_shufflevector(e, g, 0, 1, 4, 5);
    *(four *)(to + step) = __builtin_shufflevector(e, g, 2, 3, 6, 7);
    *(four *)(to + 2 * step) = __builtin_shufflevector(f, h, 0, 1, 4, 5);
    *(four *)(to + 3 * step) = __builtin_shufflevector(f, h, 2, 3, 6, 7);
}
#else
#define HAS_TURN_4 0
#define turn_4(to, step, line)
#endif

#define ROW_OF(T)                                                                                  \
    V_INLINE void row_##T(char *to, ptrdiff_t t, const char *from, ptrdiff_t f, ptrdiff_t n) {     \
        const ptrdiff_t size = sizeof(T);                                                          \
        if (t == size && f == size)                                                                \
            copy_row(to, from, n * size);                                                          \
        else if (t == size && f == -size)                                                          \
            SEVERAL for (ptrdiff_t i = 0; i < n; i++)                                              \
                ((T *)to)[i] = ((const T *)from)[-i];                                              \
        else if (t == size && f == 0) {                                                            \
            const T x = *(const T *)from;                                                          \
            for (ptrdiff_t i = 0; i < n; i++)                                                      \
                ((T *)to)[i] = x;                                                                  \
        }                                                                                          \
        else if (t == size && f == 2 * size) /* vectors of both halves, taken apart */             \
            for (ptrdiff_t i = 0; i < n; i++)                                                      \
                ((T *)to)[i] = ((const T *)from)[2 * i];                                           \
        else if (t == size)                                                                        \
            for (ptrdiff_t i = 0; i < n; i++)                                                      \
                ((T *)to)[i] = *(const T *)(from + i * f);                                         \
        else                                                                                       \
            for (ptrdiff_t i = 0; i < n; i++)                                                      \
                *(T *)(to + i * t) = *(const T *)(from + i * f);                                   \
    }                                                                                              \
    /* to[r, c] = from[r, c] for a block whose columns lie side by side in `from`. They pass through \
       a buffer: lines a power of two apart share a few places of the cache. */                    \
    V_INLINE void block_##T(char *to, const ptrdiff_t *t, const char *from, const ptrdiff_t *f,    \
                            ptrdiff_t rows, ptrdiff_t columns) {                                   \
        _Alignas(64) T line[BLOCK][BLOCK];                                                         \
        for (ptrdiff_t c = 0; c < columns; c++) {                                                  \
            const char *at = from + c * f[1];                                                      \
            for (ptrdiff_t b = 0; b < BLOCK * (ptrdiff_t)sizeof(T); b += 64)                       \
                PREFETCH(at + columns * f[1] + b); /* of the next block: they follow no pattern */ \
            if (f[0] == (ptrdiff_t)sizeof(T))                                                      \
                memcpy(line[c], at, rows * sizeof(T));                                             \
            else                                                                                   \
                for (ptrdiff_t r = 0; r < rows; r++)                                               \
                    line[c][r] = *(const T *)(at + r * f[0]);                                      \
        }                                                                                          \
        if (sizeof(T) == 4 && rows == BLOCK && columns % 4 == 0 && HAS_TURN_4) {                   \
            for (ptrdiff_t r = 0; r < rows; r += 4)                                                \
                for (ptrdiff_t c = 0; c < columns; c += 4)                                         \
                    turn_4(to + r * t[0] + 4 * c, t[0], (const char *)(line[c] + r));              \
            return;                                                                                \
        }                                                                                          \
        for (ptrdiff_t r = 0; r < rows; r++)                                                       \
            for (ptrdiff_t c = 0; c < columns; c++)                                                \
                *(T *)(to + r * t[0] + c * (ptrdiff_t)sizeof(T)) = line[c][r];                     \
    }
ROW_OF(uint8_t)
ROW_OF(half_word)
ROW_OF(word)
ROW_OF(long_word)
ROW_OF(pair)

#define BY_SIZE(DO)                                                                                \
    switch (item) {                                                                                \
    case 1: DO(uint8_t); break;                                                                    \
    case 2: DO(half_word); break;                                                                  \
    case 4: DO(word); break;                                                                       \
    case 8: DO(long_word); break;                                                                  \
    default: DO(pair); break;                                                                      \
    }

V_CLONES static void move_row(char *to, ptrdiff_t t, const char *from, ptrdiff_t f, ptrdiff_t n,
                              ptrdiff_t item) {
#define ROW(T) row_##T(to, t, from, f, n)
    if (item == 1 && t == 1 && f == 3 && HAS_SHUFFLE) {
        const ptrdiff_t done = every_third(to, from, n);
        to += done, from += 3 * done, n -= done;
    }
    BY_SIZE(ROW)
}

static void turn(char *to, const ptrdiff_t *t, const char *from, const ptrdiff_t *f,
                 const ptrdiff_t *dims, ptrdiff_t item) {
    for (ptrdiff_t first = 0; first < dims[1]; first += SWATH) {
        const ptrdiff_t end = dims[1] - first < SWATH ? dims[1] : first + SWATH;
        for (ptrdiff_t r = 0; r < dims[0]; r += BLOCK)
            for (ptrdiff_t c = first; c < end; c += BLOCK) {
                const ptrdiff_t rows = dims[0] - r < BLOCK ? dims[0] - r : BLOCK;
                const ptrdiff_t columns = end - c < BLOCK ? end - c : BLOCK;
                char *a = to + r * t[0] + c * t[1];
                const char *b = from + r * f[0] + c * f[1];
#define TURN(T)                                                                                    \
    if (rows == BLOCK && columns == BLOCK)                                                         \
        block_##T(a, t, b, f, BLOCK, BLOCK);                                                       \
    else if (rows == BLOCK && columns == BLOCK / 2)                                                \
        block_##T(a, t, b, f, BLOCK, BLOCK / 2);                                                   \
    else                                                                                           \
        block_##T(a, t, b, f, rows, columns)
                BY_SIZE(TURN)
            }
    }
}

static ptrdiff_t size_of(ptrdiff_t step) { return step < 0 ? -step : step; }

static void walk(char *to, const char *from, int nd, const ptrdiff_t *dims, const ptrdiff_t *t,
                 const ptrdiff_t *f, ptrdiff_t item) {
    if (nd == 0)
        memcpy(to, from, item);
    else if (nd == 1)
        move_row(to, t[0], from, f[0], dims[0], item);
    else if (nd == 2 && t[1] == item && size_of(f[0]) < size_of(f[1]) && f[0] && dims[0] > COLOURS)
        turn(to, t, from, f, dims, item);
    else if (nd == 2 && dims[1] < SHORT && dims[0] > dims[1])
        for (ptrdiff_t r = 0; r < dims[0]; r += MANY)
            for (ptrdiff_t c = 0; c < dims[1]; c++)
                move_row(to + r * t[0] + c * t[1], t[0], from + r * f[0] + c * f[1], f[0],
                         dims[0] - r < MANY ? dims[0] - r : MANY, item);
    else
        for (ptrdiff_t i = 0; i < dims[0]; i++)
            walk(to + i * t[0], from + i * f[0], nd - 1, dims + 1, t + 1, f + 1, item);
}

static void exchange(imode_move *m, int a, int b) {
    const ptrdiff_t dim = m->dims[a], to = m->to_steps[a], from = m->from_steps[a];
    m->dims[a] = m->dims[b], m->to_steps[a] = m->to_steps[b], m->from_steps[a] = m->from_steps[b];
    m->dims[b] = dim, m->to_steps[b] = to, m->from_steps[b] = from;
}

void imode_plan_move(imode_move *m) {
    int nd = 0, nearest;
    for (int d = 0; d < m->nd; d++)
        if (m->dims[d] != 1) {
            exchange(m, d, nd);
            for (int e = nd++; e && size_of(m->to_steps[e - 1]) < size_of(m->to_steps[e]); e--)
                exchange(m, e, e - 1);
        }
    m->nd = nd;
    for (int d = nd - 2; d >= 0; d--) {
        const ptrdiff_t n = m->dims[d + 1];
        if (m->to_steps[d] != n * m->to_steps[d + 1] || m->from_steps[d] != n * m->from_steps[d + 1])
            continue;
        m->dims[d + 1] *= m->dims[d]; /* they are one */
        for (int e = d; e < m->nd - 1; e++)
            exchange(m, e, e + 1);
        m->nd--;
    }
    if (m->nd < 3)
        return;
    nearest = m->nd - 1;
    for (int d = 0; d < m->nd; d++)
        if (m->from_steps[d] && size_of(m->from_steps[d]) < size_of(m->from_steps[nearest]))
            nearest = d;
    for (int d = nearest; d < m->nd - 2; d++)
        exchange(m, d, d + 1);
}

void imode_widen_move(imode_move *m) {
    const int last = m->nd - 1;
    const ptrdiff_t wide = last > 0 ? m->dims[last] * m->item : 0;
    if (wide <= (ptrdiff_t)sizeof(pair) && (wide & (wide - 1)) == 0 && wide &&
        m->to_steps[last] == m->item && m->from_steps[last] == m->item) {
        m->item = wide;
        m->nd--;
    }
}

void imode_run_move(const imode_move *m, ptrdiff_t begin, ptrdiff_t end) {
    imode_move part;
    if (m->nd == 0) {
        memcpy(m->to, m->from, m->item);
        return;
    }
    memcpy(part.dims, m->dims, m->nd * sizeof(ptrdiff_t));
    part.dims[0] = end - begin;
    walk(m->to + begin * m->to_steps[0], m->from + begin * m->from_steps[0], m->nd, part.dims,
         m->to_steps, m->from_steps, m->item);
}
