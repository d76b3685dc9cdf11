/* Each element of the windows in turn, for all windows of a row: the order in each window is that of
   a loop over it, and the vector registers hold windows. A row of the plane is split beforehand by
   what its positions are modulo the stride, with what surrounds the plane: so the same element of
   windows that are neighbours lies side by side. */

#include "pool.h"

#include <math.h>

#include "half.h"

#define AT_ONCE 128 /* windows, whose results so far stay in the cache of the first level */
#define LANES 16
#define PART (AT_ONCE + POOL_WIDEST)

#if defined(__GNUC__)
#define APART __attribute__((noinline))
#else
#define APART
#endif

#define POOL(T, INTEGER)                                                                           \
    typedef T vec_##T                                                                              \
        __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));            \
                                                                                                   \
    /* part[p * PART + q] = x[q * stride + p + first], or `around`, for q from `begin` to `end` */ \
    V_INLINE void edge_##T(const pool_row_t *r, const T *x, T around, long first, long begin,      \
                           long end, T *part) {                                                    \
        for (long q = begin; q < end; q++)                                                         \
            for (long p = 0; p < r->stride; p++) {                                                 \
                const long at = q * r->stride + p + first;                                         \
                part[p * PART + q] = at >= 0 && at < r->width ? x[at] : around;                    \
            }                                                                                      \
    }                                                                                              \
                                                                                                   \
    /* one copy for all levels: it only moves numbers */                                            \
    APART static void split_##T(const pool_row_t *r, const T *x, T around, long first, long n,     \
                                T *part) {                                                         \
        const long s = r->stride, left = first < 0 ? (-first + s - 1) / s : 0;                     \
        const long right = r->width > first ? (r->width - first) / s : 0;                          \
        const long begin = left < n ? left : n;                                                    \
        const long end = right < begin ? begin : right < n ? right : n;                            \
        edge_##T(r, x, around, first, 0, begin, part);                                             \
        edge_##T(r, x, around, first, end, n, part);                                               \
        x += begin * s + first;                                                                    \
        part += begin;                                                                             \
        if (s == 1)                                                                                \
            memcpy(part, x, (size_t)(end - begin) * sizeof(T));                                    \
        else if (s == 2)                                                                           \
            for (long q = 0; q < end - begin; q++) {                                               \
                part[q] = x[2 * q];                                                                \
                part[PART + q] = x[2 * q + 1];                                                     \
            }                                                                                      \
        else                                                                                       \
            for (long q = 0; q < end - begin; q++)                                                 \
                for (long p = 0; p < s; p++)                                                       \
                    part[p * PART + q] = x[q * s + p];                                             \
    }                                                                                              \
                                                                                                   \
    V_CLONES void pool_max_##T(const pool_row_t *r, const T *x, T *out, int64_t *at) {             \
        const long s = r->stride, reach = (r->kernel - 1) * r->dilation;                           \
        T part[POOL_STRIDES * PART], top[AT_ONCE];                                                 \
        INTEGER where[AT_ONCE];                                                                    \
        for (long done = 0; done < r->count; done += AT_ONCE) {                                    \
            const long n = r->count - done < AT_ONCE ? r->count - done : AT_ONCE;                  \
            const long whole = (n + LANES - 1) / LANES * LANES, first = done * s - r->padding;     \
            for (long j = 0; j < whole; j++) {                                                     \
                top[j] = -(T)INFINITY;                                                             \
                where[j] = (INTEGER)(r->y0 * r->width + first + j * s);                            \
            }                                                                                      \
            for (long j = 0; j < n && first + j * s < 0; j++) {                                    \
                const long outside = (r->dilation - 1 - first - j * s) / r->dilation;              \
                where[j] += (INTEGER)(outside * r->dilation);                                      \
            }                                                                                      \
            for (long y = r->y0; y < r->y1; y += r->down) {                                        \
                split_##T(r, x + y * r->width, -(T)INFINITY, first, whole + reach / s + 1, part);  \
                for (long c = 0, p = 0, q = 0; c <= reach; c += r->dilation) {                     \
                    const T *from = part + p * PART + q;                                           \
                    const INTEGER place = (INTEGER)(y * r->width + first + c);                     \
                    for (long j = 0; j < whole; j++) {                                             \
                        const T value = from[j], best = top[j];                                    \
                        const INTEGER found = where[j], here = place + (INTEGER)(j * s);           \
                        const int more = (value > best) | (value != value); /* the last NaN wins */\
                        top[j] = more ? value : best;                                              \
                        where[j] = more ? here : found;                                            \
                    }                                                                              \
                    for (p += r->dilation; p >= s; p -= s)                                         \
                        q++;                                                                       \
                }                                                                                  \
            }                                                                                      \
            for (long j = 0; j < n; j++) {                                                         \
                out[done + j] = top[j];                                                            \
                at[done + j] = where[j];                                                           \
            }                                                                                      \
        }                                                                                          \
    }                                                                                              \
                                                                                                   \
    V_CLONES void pool_sum_##T(const pool_row_t *r, const T *x, T *out) {                          \
        const long s = r->stride, reach = (r->kernel - 1) * r->dilation;                           \
        T part[POOL_STRIDES * PART], total[AT_ONCE];                                               \
        for (long done = 0; done < r->count; done += AT_ONCE) {                                    \
            const long n = r->count - done < AT_ONCE ? r->count - done : AT_ONCE;                  \
            const long whole = (n + LANES - 1) / LANES * LANES, first = done * s - r->padding;     \
            for (long j = 0; j < whole; j++)                                                       \
                total[j] = 0;                                                                      \
            for (long y = r->y0; y < r->y1; y += r->down) {                                        \
                split_##T(r, x + y * r->width, 0, first, whole + reach / s + 1, part);             \
                for (long j = 0; j < whole; j += LANES) {                                          \
                    vec_##T sum = *(vec_##T *)(total + j);                                         \
                    for (long c = 0, p = 0, q = 0; c <= reach; c += r->dilation) {                 \
                        sum += *(vec_##T *)(part + p * PART + q + j);                              \
                        for (p += r->dilation; p >= s; p -= s)                                     \
                            q++;                                                                   \
                    }                                                                              \
                    *(vec_##T *)(total + j) = sum;                                                 \
                }                                                                                  \
            }                                                                                      \
            memcpy(out + done, total, (size_t)n * sizeof(T));                                      \
        }                                                                                          \
    }

POOL(float, int32_t)
POOL(double, int64_t)
