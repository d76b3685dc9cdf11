/* Products of small matrices, and adding to a product.

   Where rows of b are contiguous, and long enough for a vector of the machine, a tile of sums stays
   in registers (_product_tile.h). Columns of b are transposed into a buffer first, where that pays;
   else they are multiplied as they lie, by dot products (_few_rows.h). */
#include "multiply.h"

#include <string.h>

#define WIDEST
#define LOOPS "_few_rows.h"
#define UNPACKED
#include "_levels.h"

#define TURNED 8192 /* elements of a transposed b */
#define WINDOW 4096 /* bytes after which lines share a place in the first cache, for 8 or more */
#define SUMS 16384  /* bytes of a part of a product of a few rows */
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

ptrdiff_t imode_dot_rows(void) {
#if CHOOSE
    if (level() == 0) return PACKS - 1; /* what packs spreads a, too, or waits for each element */
#endif
    return 12;
}

/* c (n, m) = or += a (n, k) @ b (k, m), the rows of b and c contiguous; of double if `wide`. */
static void tiles(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                  ptrdiff_t ak, const void* b, ptrdiff_t bk, void* c, ptrdiff_t cn, int add) {
    PICK(product, (n, m, k, a, an, ak, b, bk, c, cn, add))
}

/* to (k, m) = b, whose columns are contiguous */
static void rows_of(int wide, ptrdiff_t k, ptrdiff_t m, const void* b, ptrdiff_t bm, void* to) {
    PICK(turned, (k, m, b, bm, to))
}

static void by_rows(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                    ptrdiff_t ak, const void* b, ptrdiff_t bk, void* c, ptrdiff_t cn) {
    PICK(by_rows, (n, m, k, a, an, ak, b, bk, c, cn))
}

/* Up to so many rows of a, those of b are read to their ends, else by tiles. */
static ptrdiff_t most_by_rows(void) {
    static const ptrdiff_t most[3] = {PACKS, 3, 1};
#if CHOOSE
    return most[level()];
#else
    return most[0];
#endif
}

void imode_few_rows(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                    ptrdiff_t ak, const void* b, ptrdiff_t bk, void* c, ptrdiff_t cn) {
    /* What is fetched ahead stays in the first cache, and its pages are known. */
    const ptrdiff_t item = wide ? 8 : 4, deep = n < 4 ? 16 : bk * item < WINDOW ? 128 : 32;
    _Alignas(64) char apart[SUMS];
    if (n <= most_by_rows()) {
        by_rows(wide, n, k, m, a, an, ak, b, bk, c, cn);
        return;
    }
    /* Of part of c, another thread writes the rest: lines of both would go to and fro. */
    const ptrdiff_t line = (m * item + 63) / 64 * 64;
    const int copied = m < cn && n * line <= SUMS;
    for (ptrdiff_t p = 0; p < k; p += deep)
        tiles(wide, n, k - p < deep ? k - p : deep, m, (const char*)a + p * ak * item, an, ak,
              (const char*)b + p * bk * item, bk, copied ? apart : c, copied ? line / item : cn,
              FETCHES | (p > 0 ? ADDS : 0));
    for (ptrdiff_t i = 0; copied && i < n; i++)
        memcpy((char*)c + i * cn * item, apart + i * line, m * item);
}

void imode_dots(int wide, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m, const void* a, ptrdiff_t an,
                const void* b, ptrdiff_t bm, void* c, ptrdiff_t cn) {
    PICK(dots, (m, n, k, b, bm, a, an, c, cn))
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

#if defined(__GNUC__)

/* Rows of b are contiguous, and shorter than a vector of the machine. */
#define NARROW(T, S)                                                                           \
    typedef T vec_##S __attribute__((vector_size(16), aligned(__alignof__(T)), may_alias));    \
    enum { WIDE_##S = 16 / sizeof(T) };                                                        \
                                                                                               \
    static void narrow_##S(const T* a, ptrdiff_t an, ptrdiff_t ak, const T* b, ptrdiff_t bk,   \
                           T* c, ptrdiff_t n, ptrdiff_t k, ptrdiff_t m) {                      \
        for (ptrdiff_t i = 0; i < n; i++, a += an, c += m) {                                   \
            ptrdiff_t j = 0;                                                                   \
            for (; j + WIDE_##S <= m; j += WIDE_##S) {                                         \
                vec_##S sum = {0};                                                             \
                for (ptrdiff_t p = 0; p < k; p++)                                              \
                    sum += a[p * ak] * *(const vec_##S*)(b + p * bk + j);                      \
                *(vec_##S*)(c + j) = sum;                                                      \
            }                                                                                  \
            for (; j < m; j++) {                                                               \
                T sum = 0;                                                                     \
                for (ptrdiff_t p = 0; p < k; p++) sum += a[p * ak] * b[p * bk + j];            \
                c[j] = sum;                                                                    \
            }                                                                                  \
        }                                                                                      \
    }
NARROW(float, f)
NARROW(double, d)
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
            if (m >= lanes(WIDE) || (n > 1 && k >= SHALLOW))                                   \
                tiles(WIDE, n, k, m, a, an, ak, b, bk, c, m, 0);                               \
            else                                                                               \
                narrow_##S(a, an, ak, b, bk, c, n, k, m);                                      \
            return;                                                                            \
        }                                                                                      \
        if (bk == 1 && m >= lanes(WIDE) && (k < SHALLOW ? n >= 2 : n >= 8 && k * m <= TURNED)) { \
            _Alignas(64) T turned[TURNED];                                                     \
            const ptrdiff_t most = k * m <= TURNED ? m : TURNED / k;                           \
            for (ptrdiff_t first = 0; first < m; first += most, b += most * bm, c += most) {   \
                const ptrdiff_t some = m - first < most ? m - first : most;                    \
                rows_of(WIDE, k, some, b, bm, turned);                                         \
                tiles(WIDE, n, k, some, a, an, ak, turned, some, c, m, 0);                     \
            }                                                                                  \
            return;                                                                            \
        }                                                                                      \
        if (bk == 1 && ak == 1) {                                                              \
            if (m == 1)                                                                        \
                imode_dots(WIDE, 1, k, n, b, 0, a, an, c, 0);                                  \
            else                                                                               \
                imode_dots(WIDE, n, k, m, a, an, b, bm, c, m);                                 \
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
