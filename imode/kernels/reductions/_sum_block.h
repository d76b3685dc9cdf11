/* The sum of a contiguous block, for one element type and level: in eight vectors of the machine's
   size, then in one, and what does not fill that one by one. */

/* Sums are kept at their natural alignment: one that the compiler puts on the stack across two pages
   costs more than the row. In memory they lie at any element. */
#if LANES > 1
typedef T NAME(sums) __attribute__((vector_size(LANES * sizeof(T))));
typedef NAME(sums) NAME(anywhere) __attribute__((aligned(sizeof(T)), may_alias));
#else
typedef T NAME(sums);
typedef T NAME(anywhere);
#endif

/* keep: 1, or 2 for the sums of every other number, from the first on and from the second on. */
INLINE void NAME(sums_of)(const T *a, ptrdiff_t n, const int keep, T *total)
{
    T rest[2] = {0};
    ptrdiff_t i = 0;
    for (int k = 0; k < keep; k++)
        total[k] = 0;
    if (n >= LANES && keep <= LANES) {
        NAME(sums) sum[8], last = (NAME(sums)){0};
        T part[LANES] __attribute__((aligned(sizeof(NAME(sums)))));
        UNROLL
        for (int k = 0; k < 8; k++)
            sum[k] = (NAME(sums)){0};
        for (; i + 8 * LANES <= n; i += 8 * LANES) {
            UNROLL
            for (int k = 0; k < 8; k++)
                sum[k] += *(const NAME(anywhere) *)(a + i + k * LANES);
        }
        for (; i + LANES <= n; i += LANES)
            last += *(const NAME(anywhere) *)(a + i);
        UNROLL
        for (int k = 1; k < 8; k *= 2) {
            UNROLL
            for (int j = 0; j < 8; j += 2 * k)
                sum[j] += sum[j + k];
        }
        sum[0] += last;
        memcpy(part, &sum[0], sizeof part);
        UNROLL
        for (int w = LANES / 2; w >= keep; w /= 2)
            UNROLL
            for (int j = 0; j < w; j++)
                part[j] += part[j + w];
        for (int k = 0; k < keep; k++)
            total[k] = part[k];
    }
    for (; i < n; i += keep)
        for (int k = 0; k < keep; k++)
            rest[k] += a[i + k];
    for (int k = 0; k < keep; k++)
        total[k] += rest[k];
}

static T NAME(sum_block)(const void *data, ptrdiff_t n)
{
    T total;
    NAME(sums_of)(data, n, 1, &total);
    return total;
}

static void NAME(sum_pairs)(const void *data, ptrdiff_t n, void *total)
{
    NAME(sums_of)(data, n, 2, total);
}
