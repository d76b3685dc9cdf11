/* Sums of rows of a table, for one element type and level: in four vectors of columns, which stay
   in registers, then in one, then one by one. */

#if LANES > 1
#define OF_BYTES vector_size(LANES * sizeof(T))
typedef T NAME(columns) __attribute__((OF_BYTES, aligned(sizeof(T)), may_alias));
#undef OF_BYTES
#else
typedef T NAME(columns);
#endif

#define COLUMNS(V, COUNT)                                                                      \
    for (const long each = COUNT * (long)(sizeof(V) / sizeof(T)); at + each <= columns;        \
         at += each) {                                                                         \
        V *out = (V *)(to + at), sum[COUNT];                                                   \
        UNROLL                                                                                 \
        for (int j = 0; j < COUNT; j++) sum[j] = fresh ? (V){0} : out[j];                      \
        for (long i = 0; i < n; i++) {                                                         \
            const V *row = (const V *)(rows[i] + at);                                          \
            UNROLL                                                                             \
            for (int j = 0; j < COUNT; j++) sum[j] += row[j];                                  \
        }                                                                                      \
        UNROLL                                                                                 \
        for (int j = 0; j < COUNT; j++) out[j] = sum[j];                                       \
    }

static void NAME(add_rows)(const void *of, long n, long columns, int fresh, void *result)
{
    const T *const *rows = of;
    T *to = result;
    long at = 0;
    COLUMNS(NAME(columns), 4)
    COLUMNS(NAME(columns), 1)
    COLUMNS(T, 1)
}
#undef COLUMNS
