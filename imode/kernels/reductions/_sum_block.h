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

static T NAME(sum_block)(const void *data, ptrdiff_t n)
{
    const T *a = data;
    T total = 0, rest = 0;
    ptrdiff_t i = 0;
    if (n >= LANES) {
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
        for (int w = LANES / 2; w > 0; w /= 2)
            UNROLL
            for (int j = 0; j < w; j++)
                part[j] += part[j + w];
        total = part[0];
    }
    for (; i < n; i++)
        rest += a[i];
    return total + rest;
}
