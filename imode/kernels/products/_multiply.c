/* Products of small matrices, and adding to a product.

   Where rows of b are contiguous, and long enough for a vector of the machine, a tile of sums stays
   in registers (_product_tile.h). Columns of b are transposed into a buffer first, where that pays.
   Shorter rows, and where the machine has vectors of 64 bytes one to three rows of a and dot products
   of few, hold their sums in such vectors. */
#include "multiply.h"

#include <string.h>

#define WIDEST
#define LOOPS "_product_tile.h"
#define UNPACKED
#include "_levels.h"

#define TURNED 8192 /* elements of a transposed b */
#define WINDOW 4096 /* bytes after which lines share a place in the first cache, for 8 or more */
#define PACKS 48    /* rows of a from which on packing b pays */
#define SHALLOW 32  /* rows of b for which a dot product does not pay, nor to fill them up */

/* By rows of b, in tiles: as long as b stays near, but for a large product that is not `alone`,
   which several threads can share; by rows of b, for fewer rows than a tile: up to 40 000
   multiplications, 512 for one row. By dot products, for few rows: as long as b stays in the
   cache. Where the first lines of too many rows share a place there, it does not stay near. */
int imode_small_product(int alone, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, ptrdiff_t bm,
                        ptrdiff_t row) {
#if defined(__GNUC__)
    ptrdiff_t near = 20000;
#if CHOOSE
    if (level() == 0) near = 6000; /* what packs it spreads a, too */
#endif
    const ptrdiff_t apart = row % WINDOW ? row & -row : WINDOW; /* the places where rows begin */
    if (bm == 1 && n >= PACKS && k * apart > 8 * WINDOW) return 0;
    if (bm == 1 && n >= 4) return k * m <= near && n * k * m <= (alone ? 4000000 : 1000000);
    if (bm == 1) return n * k * m <= (n == 1 ? 512 : 40000);
    if (n > 1 && k < SHALLOW) return n * k * m <= 300000;
    return n * k * m <= (n <= 4 && k >= SHALLOW ? 1000000 : n <= 8 && k >= 64 ? 500000 : 8192);
#else
    (void)alone, (void)row;
    return n * k * m <= 64;
#endif
}

/* c (n, m) = a (n, k) @ b (k, m), the rows of b and c contiguous; of double if `wide`. */
static void tiles(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                  ptrdiff_t ak, const void* b, ptrdiff_t bk, void* c, ptrdiff_t cn) {
    PICK(product, (n, m, k, a, an, ak, b, bk, c, cn, 0))
}

void imode_dots(int wide, ptrdiff_t n, ptrdiff_t k, const void* a, ptrdiff_t an, const void* v,
                void* out) {
    PICK(dots, (n, k, a, an, v, out))
}

/* Fewer columns are not for tiles: at most levels those that don't fill a vector. */
static int lanes(int wide) {
    static const int of[2][3] = {{4, 8, 2}, {2, 4, 2}};
#if CHOOSE
    return of[wide][level()];
#else
    return of[wide][0];
#endif
}

/* Whether vectors of 64 bytes stay whole. Elsewhere they go through memory, ten times as slowly. */
static int whole_vectors(void) {
#if CHOOSE
    return level() == 2;
#else
    return 0;
#endif
}

#if defined(__GNUC__)

/* From four vectors of 16 bytes to the sum of each. */
#if defined(__clang__) || __GNUC__ >= 12
#define ACROSS_f(q, out)                                                                       \
    quarter_f x = __builtin_shufflevector(q[0], q[1], 0, 4, 2, 6) +                            \
                  __builtin_shufflevector(q[0], q[1], 1, 5, 3, 7);                             \
    quarter_f y = __builtin_shufflevector(q[2], q[3], 0, 4, 2, 6) +                            \
                  __builtin_shufflevector(q[2], q[3], 1, 5, 3, 7);                             \
    quarter_f r = __builtin_shufflevector(x, y, 0, 1, 4, 5) +                                  \
                  __builtin_shufflevector(x, y, 2, 3, 6, 7);                                   \
    memcpy(out, &r, sizeof r);
#else
#define ACROSS_f(q, out)                                                                       \
    for (int i = 0; i < 4; i++) out[i] = (q[i][0] + q[i][1]) + (q[i][2] + q[i][3]);
#endif
#define ACROSS_d(q, out)                                                                       \
    for (int i = 0; i < 4; i++) out[i] = q[i][0] + q[i][1];

#define SMALL(T, S)                                                                            \
    typedef T vec_##S __attribute__((vector_size(64), aligned(__alignof__(T)), may_alias));    \
    typedef T half_##S __attribute__((vector_size(32), aligned(__alignof__(T)), may_alias));   \
    typedef T quarter_##S __attribute__((vector_size(16), aligned(__alignof__(T)), may_alias));\
    enum { WIDE_##S = 64 / sizeof(T) };                                                        \
                                                                                               \
    V_INLINE T total_##S(const vec_##S* v) {                                                   \
        half_##S h = ((const half_##S*)v)[0] + ((const half_##S*)v)[1];                        \
        quarter_##S q = ((const quarter_##S*)&h)[0] + ((const quarter_##S*)&h)[1];             \
        T sum = q[0] + q[1];                                                                   \
        for (int j = 2; j < WIDE_##S / 4; j++) sum += q[j];                                    \
        return sum;                                                                            \
    }                                                                                          \
    /* The totals of four vectors, side by side. */                                            \
    V_INLINE void totals_##S(const vec_##S* a, const vec_##S* b, const vec_##S* c,             \
                             const vec_##S* d, T* out) {                                       \
        quarter_##S q[4];                                                                      \
        const vec_##S* v[4] = {a, b, c, d};                                                    \
        for (int i = 0; i < 4; i++) {                                                          \
            half_##S h = ((const half_##S*)v[i])[0] + ((const half_##S*)v[i])[1];              \
            q[i] = ((const quarter_##S*)&h)[0] + ((const quarter_##S*)&h)[1];                  \
        }                                                                                      \
        ACROSS_##S(q, out)                                                                     \
    }                                                                                          \
                                                                                               \
    /* Rows of b are contiguous: each element of a times a row of b. */                        \
    V_CLONES static void rows_##S(const T* a, ptrdiff_t an, ptrdiff_t ak, const T* b,          \
                                  ptrdiff_t bk, T* c, ptrdiff_t n, ptrdiff_t k,                \
                                  ptrdiff_t m) {                                               \
        for (ptrdiff_t i = 0; i < n; i++, a += an, c += m) {                                   \
            ptrdiff_t j = 0;                                                                   \
            for (; j + 4 * WIDE_##S <= m; j += 4 * WIDE_##S) {                                 \
                vec_##S s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                                \
                const vec_##S* row;                                                            \
                for (ptrdiff_t p = 0; p < k; p++) {                                            \
                    T factor = a[p * ak];                                                      \
                    row = (const vec_##S*)(b + p * bk + j);                                    \
                    s0 += factor * row[0];                                                     \
                    s1 += factor * row[1];                                                     \
                    s2 += factor * row[2];                                                     \
                    s3 += factor * row[3];                                                     \
                }                                                                              \
                vec_##S* out = (vec_##S*)(c + j);                                              \
                out[0] = s0, out[1] = s1, out[2] = s2, out[3] = s3;                            \
            }                                                                                  \
            for (; j + WIDE_##S <= m; j += WIDE_##S) {                                         \
                vec_##S sum = {0};                                                             \
                for (ptrdiff_t p = 0; p < k; p++)                                              \
                    sum += a[p * ak] * *(const vec_##S*)(b + p * bk + j);                      \
                *(vec_##S*)(c + j) = sum;                                                      \
            }                                                                                  \
            for (; j + WIDE_##S / 2 <= m; j += WIDE_##S / 2) {                                 \
                half_##S sum = {0};                                                            \
                for (ptrdiff_t p = 0; p < k; p++)                                              \
                    sum += a[p * ak] * *(const half_##S*)(b + p * bk + j);                     \
                *(half_##S*)(c + j) = sum;                                                     \
            }                                                                                  \
            for (; j + WIDE_##S / 4 <= m; j += WIDE_##S / 4) {                                 \
                quarter_##S sum = {0};                                                         \
                for (ptrdiff_t p = 0; p < k; p++)                                              \
                    sum += a[p * ak] * *(const quarter_##S*)(b + p * bk + j);                  \
                *(quarter_##S*)(c + j) = sum;                                                  \
            }                                                                                  \
            for (; j < m; j++) {                                                               \
                T sum = 0;                                                                     \
                for (ptrdiff_t p = 0; p < k; p++) sum += a[p * ak] * b[p * bk + j];            \
                c[j] = sum;                                                                    \
            }                                                                                  \
        }                                                                                      \
    }                                                                                          \
                                                                                               \
    /* Rows of a and columns of b are contiguous: dot products, four at a time. */             \
    V_CLONES static void dots_##S(const T* a, ptrdiff_t an, const T* b, ptrdiff_t bm, T* c,    \
                                  ptrdiff_t n, ptrdiff_t k, ptrdiff_t m) {                     \
        for (ptrdiff_t i = 0; i < n; i++, a += an, c += m) {                                   \
            ptrdiff_t j = 0;                                                                   \
            for (; j + 4 <= m; j += 4) {                                                       \
                const T* col = b + j * bm;                                                     \
                ptrdiff_t p = 0;                                                               \
                T t0 = 0, t1 = 0, t2 = 0, t3 = 0;                                              \
                if (k >= WIDE_##S) {                                                           \
                    vec_##S s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};                            \
                    for (; p + WIDE_##S <= k; p += WIDE_##S) {                                 \
                        vec_##S factor = *(const vec_##S*)(a + p);                             \
                        s0 += factor * *(const vec_##S*)(col + p);                             \
                        s1 += factor * *(const vec_##S*)(col + bm + p);                        \
                        s2 += factor * *(const vec_##S*)(col + 2 * bm + p);                    \
                        s3 += factor * *(const vec_##S*)(col + 3 * bm + p);                    \
                    }                                                                          \
                    T t[4];                                                                    \
                    totals_##S(&s0, &s1, &s2, &s3, t);                                         \
                    t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3];                                \
                }                                                                              \
                for (; p < k; p++) {                                                           \
                    t0 += a[p] * col[p];                                                       \
                    t1 += a[p] * col[bm + p];                                                  \
                    t2 += a[p] * col[2 * bm + p];                                              \
                    t3 += a[p] * col[3 * bm + p];                                              \
                }                                                                              \
                c[j] = t0, c[j + 1] = t1, c[j + 2] = t2, c[j + 3] = t3;                        \
            }                                                                                  \
            for (; j < m; j++) {                                                               \
                const T* col = b + j * bm;                                                     \
                ptrdiff_t p = 0;                                                               \
                T sum = 0;                                                                     \
                if (k >= WIDE_##S) {                                                           \
                    vec_##S wide = {0};                                                        \
                    for (; p + WIDE_##S <= k; p += WIDE_##S)                                   \
                        wide += *(const vec_##S*)(a + p) * *(const vec_##S*)(col + p);         \
                    sum = total_##S(&wide);                                                    \
                }                                                                              \
                for (; p < k; p++) sum += a[p] * col[p];                                       \
                c[j] = sum;                                                                    \
            }                                                                                  \
        }                                                                                      \
    }
SMALL(float, f)
SMALL(double, d)
#endif

#define MATMUL(T, S, SPECIAL)                                                                  \
    void imode_small_matmul_##S(const T* a, ptrdiff_t an, ptrdiff_t ak, const T* b,            \
                                ptrdiff_t bk, ptrdiff_t bm, T* c, ptrdiff_t n, ptrdiff_t k,    \
                                ptrdiff_t m) {                                                 \
        SPECIAL                                                                                \
        for (ptrdiff_t i = 0; i < n; i++)                                                      \
            for (ptrdiff_t j = 0; j < m; j++) {                                                \
                T sum = 0;                                                                     \
                for (ptrdiff_t p = 0; p < k; p++)                                              \
                    sum += a[i * an + p * ak] * b[p * bk + j * bm];                            \
                c[i * m + j] = sum;                                                            \
            }                                                                                  \
    }

#if defined(__GNUC__)
#define BY_LAYOUT(T, S, WIDE)                                                                  \
    if (n * k * m > 64) {                                                                      \
        if (bm == 1 && m > 1) {                                                                \
            if (n >= (m >= 4 * WIDE_##S && whole_vectors() ? 4 : 2) &&                         \
                (m >= lanes(WIDE) || k >= SHALLOW))                                             \
                tiles(WIDE, n, k, m, a, an, ak, b, bk, c, m);                                     \
            else                                                                               \
                rows_##S(a, an, ak, b, bk, c, n, k, m);                                        \
            return;                                                                            \
        }                                                                                      \
        if (bk == 1 && m >= lanes(WIDE) && (k < SHALLOW ? n >= 2 : n >= 8 && k * m <= TURNED)) { \
            _Alignas(64) T turned[TURNED];                                                     \
            const ptrdiff_t most = k * m <= TURNED ? m : TURNED / k;                           \
            for (ptrdiff_t first = 0; first < m; first += most, b += most * bm, c += most) {   \
                const ptrdiff_t some = m - first < most ? m - first : most;                    \
                for (ptrdiff_t j = 0; j < some; j++)                                           \
                    for (ptrdiff_t p = 0; p < k; p++) turned[p * some + j] = b[j * bm + p];    \
                tiles(WIDE, n, k, some, a, an, ak, turned, some, c, m);                        \
            }                                                                                  \
            return;                                                                            \
        }                                                                                      \
        if (bk == 1 && ak == 1) {                                                              \
            if (m == 1)                                                                        \
                imode_dots(WIDE, n, k, a, an, b, c);                                           \
            else if (k >= 4 * WIDE_##S && whole_vectors())                                     \
                dots_##S(a, an, b, bm, c, n, k, m);                                            \
            else                                                                               \
                for (ptrdiff_t i = 0; i < n; i++)                                              \
                    imode_dots(WIDE, m, k, b, bm, a + i * an, c + i * m);                      \
            return;                                                                            \
        }                                                                                      \
    }
#else
#define BY_LAYOUT(T, S, WIDE)
#endif
MATMUL(float, f, BY_LAYOUT(float, f, 0))
MATMUL(double, d, BY_LAYOUT(double, d, 1))

#define ADD_SCALED(T, S)                                                                       \
    V_CLONES void imode_add_scaled_##S(T* c, ptrdiff_t n, ptrdiff_t m, const T* addend,        \
                                       ptrdiff_t rows, ptrdiff_t columns, double beta,         \
                                       double alpha) {                                         \
        T x = (T)alpha, y = (T)beta;                                                           \
        for (ptrdiff_t i = 0; i < n; i++, c += m, addend += rows) {                            \
            if (columns == 1 && x == 1 && y == 1)                                              \
                for (ptrdiff_t j = 0; j < m; j++) c[j] += addend[j];                           \
            else                                                                               \
                for (ptrdiff_t j = 0; j < m; j++) c[j] = x * c[j] + y * addend[j * columns];   \
        }                                                                                      \
    }
ADD_SCALED(float, f)
ADD_SCALED(double, d)
