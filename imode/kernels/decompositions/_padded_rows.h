/* Loops over rows of matrices for one element type and one instruction set.

   No include guard: a C file includes this once per combination, after defining
     T          element type           LANES   elements of a vector
     NAME(x)    x with a suffix for the combination
   Rows are padded to a whole number of vectors; what is beyond a row's end is 0, or never read. */

typedef T NAME(vec) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));

#define V NAME(vec)
#define AT(x, j) (*(V *)((x) + (j)))
#define READ(x, j) (*(const V *)((x) + (j)))
#define DOWN(j) ((j) / LANES * LANES)      /* where the vector of an element begins */
#define UP(n) (((n) + LANES - 1) / LANES * LANES)

INLINE T NAME(total)(V v)
{
    T s[LANES];
    memcpy(s, &v, sizeof(s));
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            s[i] += s[i + half];
    return s[0];
}

/* The sum of x[j] * y[j] from `begin` to `end`, whole vectors. */
INLINE T NAME(dot)(const T *x, const T *y, long begin, long end)
{
    V a = {0}, b = {0};
    long j = begin;
    for (; j + 2 * LANES <= end; j += 2 * LANES) {
        a += READ(x, j) * READ(y, j);
        b += READ(x, j + LANES) * READ(y, j + LANES);
    }
    if (j < end)
        a += READ(x, j) * READ(y, j);
    return NAME(total)(a + b);
}

INLINE void NAME(add_times)(T *x, const T *y, T factor, long begin, long end)
{
    for (long j = begin; j < end; j += LANES)
        AT(x, j) += READ(y, j) * factor;
}

/* The sum of x[i] times row i, for the rows from `first` to `last`: columns from `begin` to `end`. */
static inline void NAME(combine)(T *sum, const T *x, const T *rows, long ld, long first, long last, long begin,
                          long end)
{
    long j = begin;
    for (; j + 4 * LANES <= end; j += 4 * LANES) {
        V a = {0}, b = {0}, c = {0}, d = {0};
        for (long i = first; i < last; i++) {
            const T *row = rows + i * ld + j;
            a += READ(row, 0) * x[i];
            b += READ(row, LANES) * x[i];
            c += READ(row, 2 * LANES) * x[i];
            d += READ(row, 3 * LANES) * x[i];
        }
        AT(sum, j) = a;
        AT(sum, j + LANES) = b;
        AT(sum, j + 2 * LANES) = c;
        AT(sum, j + 3 * LANES) = d;
    }
    for (; j < end; j += LANES) {
        V a = {0}, b = {0};
        long i = first;
        for (; i + 2 <= last; i += 2) {
            a += READ(rows, i * ld + j) * x[i];
            b += READ(rows, (i + 1) * ld + j) * x[i + 1];
        }
        if (i < last)
            a += READ(rows, i * ld + j) * x[i];
        AT(sum, j) = a + b;
    }
}

/* The reflection I - tau v v^T that takes x[begin .. n) to (beta, 0, ..., 0): v in the place of x, with a
   first element of 1 and zeros before, where its vector begins. Returns tau, 0 for no reflection. */
static inline T NAME(reflection)(T *x, long begin, long n, T *beta)
{
    const T alpha = x[begin];
    double squares, scale = 1;
    for (long j = DOWN(begin); j <= begin; j++)
        x[j] = 0;
    squares = NAME(dot)(x, x, DOWN(begin), UP(n));
    if (!(squares > SMALL_SQUARE)) { /* of tiny numbers: once more, larger */
        scale = LARGE_FACTOR;
        squares = 0;
        for (long j = begin + 1; j < n; j++)
            squares += (x[j] * scale) * (x[j] * scale);
    }
    x[begin] = 1;
    *beta = alpha;
    if (squares == 0)
        return 0;
    const double a = alpha * scale;
    const double b = -copysign(sqrt(a * a + squares), a);
    const double factor = 1 / (a - b);
    const T small = (T)factor;
    for (long j = begin + 1; j < n; j++)
        x[j] = scale == 1 ? x[j] * small : (T)(x[j] * scale * factor);
    *beta = (T)(b / scale);
    return (T)((b - a) / b);
}

/* rows := (I - tau v v^T) rows, rows from `first` to `last`; `w` is room for a row. */
static inline void NAME(reflect_rows)(T *rows, long ld, const T *v, T tau, long first, long last, long begin,
                               long end, T *w)
{
    NAME(combine)(w, v, rows, ld, first, last, begin, end);
    for (long i = first; i < last; i++)
        NAME(add_times)(rows + i * ld, w, -tau * v[i], begin, end);
}

/* The largest absolute value of n numbers, or infinity if one of them is not finite. */
static inline double NAME(largest)(const T *x, long n)
{
    T most = 0, apart = 0;
    for (long i = 0; i < n; i++) {
        const T size = x[i] < 0 ? -x[i] : x[i];
        most = size > most ? size : most;
        apart += x[i] - x[i];
    }
    return apart == 0 ? (double)most : (double)INFINITY;
}
