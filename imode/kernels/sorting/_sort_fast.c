/* Lines sorted by the digits of their elements, of eight bits, from the last to the first.

   An element becomes an unsigned number of the same order, its key; it takes its place in the line
   along. A digit that all keys share costs nothing. */
#include "sort_fast.h"

#include <stdlib.h>
#include <string.h>

#define RADIX 256

/* Both zeros have one key, and so have all NaN. */
#define KEY_OF_FLOAT(T, K, BITS)                                                                   \
    static inline K key_of_##T(T x) {                                                              \
        const K sign = (K)1 << (BITS - 1);                                                         \
        K bits;                                                                                    \
        x += 0;                                                                                    \
        memcpy(&bits, &x, sizeof x);                                                               \
        if (x != x)                                                                                \
            return ~(K)0;                                                                          \
        return bits & sign ? ~bits : bits | sign;                                                  \
    }                                                                                              \
    /* The number of a key, without a look at x where that may be: its elements lie anywhere. */   \
    static inline T value_of_##T(K key, const T *x) {                                              \
        const K sign = (K)1 << (BITS - 1), bits = key & sign ? key ^ sign : ~key;                  \
        T value;                                                                                   \
        if (key == sign || key == ~(K)0)                                                           \
            return *x;                                                                             \
        memcpy(&value, &bits, sizeof value);                                                       \
        return value;                                                                              \
    }
KEY_OF_FLOAT(float, uint32_t, 32)
KEY_OF_FLOAT(double, uint64_t, 64)

static inline uint32_t key_of_int32_t(int32_t x) { return (uint32_t)x ^ (uint32_t)1 << 31; }
static inline uint64_t key_of_int64_t(int64_t x) { return (uint64_t)x ^ (uint64_t)1 << 63; }
static inline int32_t value_of_int32_t(uint32_t key, const int32_t *x) {
    return (void)x, (int32_t)(key ^ (uint32_t)1 << 31);
}
static inline int64_t value_of_int64_t(uint64_t key, const int64_t *x) {
    return (void)x, (int64_t)(key ^ (uint64_t)1 << 63);
}

#define LINKAGE
#define SORT(NAME, T, K)                                                                           \
    typedef struct {                                                                               \
        K key;                                                                                     \
        uint32_t at;                                                                               \
    } NAME##_item;                                                                                 \
    /* Move items by a digit, given where the first of each kind goes. */                          \
    static void NAME##_pass(const NAME##_item *from, NAME##_item *to, ptrdiff_t n, int shift,      \
                            uint32_t *next) {                                                      \
        for (ptrdiff_t i = 0; i < n; i++)                                                          \
            to[next[from[i].key >> shift & (RADIX - 1)]++] = from[i];                              \
    }                                                                                              \
    LINKAGE int NAME(const void *data, ptrdiff_t n, ptrdiff_t step, int falling, void *values,     \
                     int64_t *indices) {                                                                   \
        const T *x = data;                                                                         \
        NAME##_item *from = malloc(2 * n * sizeof *from), *to = from + n, *both = from;            \
        uint32_t counts[sizeof(K)][RADIX] = {{0}};                                                 \
        if (from == NULL)                                                                          \
            return -1;                                                                             \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            from[i].key = falling ? ~key_of_##T(x[i * step]) : key_of_##T(x[i * step]);            \
            from[i].at = (uint32_t)i;                                                              \
            for (int d = 0; d < (int)sizeof(K); d++)                                               \
                counts[d][from[i].key >> 8 * d & (RADIX - 1)]++;                                   \
        }                                                                                          \
        for (int d = 0; d < (int)sizeof(K); d++) {                                                 \
            uint32_t *next = counts[d], sum = 0;                                                   \
            NAME##_item *other = to;                                                               \
            if (next[from[0].key >> 8 * d & (RADIX - 1)] == n)                                     \
                continue;                                                                          \
            for (int k = 0; k < RADIX; k++) {                                                      \
                const uint32_t count = next[k];                                                    \
                next[k] = sum;                                                                     \
                sum += count;                                                                      \
            }                                                                                      \
            NAME##_pass(from, to, n, 8 * d, next);                                                 \
            to = from, from = other;                                                               \
        }                                                                                          \
        for (ptrdiff_t i = 0; i < n; i++) {                                                        \
            const K key = falling ? ~from[i].key : from[i].key;                                    \
            ((T *)values)[i * step] = value_of_##T(key, x + from[i].at * step);                    \
            indices[i * step] = from[i].at;                                                        \
        }                                                                                          \
        free(both);                                                                                \
        return 0;                                                                                  \
    }
SORT(imode_sort_float, float, uint32_t)
SORT(imode_sort_double, double, uint64_t)
SORT(imode_sort_int32, int32_t, uint32_t)
#undef LINKAGE
#define LINKAGE static
SORT(sort_wide, int64_t, uint64_t)

#define CLOSE 65536 /* whole numbers so close together are counted: one pass instead of two */

static int sort_close(const int64_t *x, ptrdiff_t n, ptrdiff_t step, int falling, int64_t low,
                      uint64_t span, int64_t *values, int64_t *indices) {
    ptrdiff_t *next = calloc(span + 2, sizeof *next), done = 0;
    if (next == NULL)
        return -1;
#define KIND(v) (falling ? span - ((uint64_t)(v) - (uint64_t)low) : (uint64_t)(v) - (uint64_t)low)
    /* Another thread may write to x: what it puts there is looked at each time. */
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t kind = KIND(x[i * step]);
        next[kind <= span ? kind + 1 : 0]++;
    }
    next[0] = 0;
    for (uint64_t k = 0; k <= span; k++) {
        const int64_t value = (int64_t)((uint64_t)low + (falling ? span - k : k));
        const ptrdiff_t count = next[k + 1];
        for (ptrdiff_t i = 0; i < count; i++)
            values[(done + i) * step] = value;
        done += count;
        next[k + 1] = done;
    }
    for (ptrdiff_t i = 0; i < n; i++) {
        const uint64_t kind = KIND(x[i * step]);
        if (kind <= span && next[kind] < n)
            indices[next[kind]++ * step] = i;
    }
    free(next);
    return 0;
}

int imode_sort_int64(const void *data, ptrdiff_t n, ptrdiff_t step, int falling, void *values,
                     int64_t *indices) {
    const int64_t *x = data;
    int64_t low = x[0], high = x[0];
    for (ptrdiff_t i = 1; i < n; i++) {
        low = x[i * step] < low ? x[i * step] : low;
        high = x[i * step] > high ? x[i * step] : high;
    }
    const uint64_t span = (uint64_t)high - (uint64_t)low;
    if (span < CLOSE && span <= (uint64_t)n)
        return sort_close(x, n, step, falling, low, span, values, indices);
    return sort_wide(x, n, step, falling, values, indices);
}
