/* The matrix product below the convolution kernels: its right-hand rows may start anywhere.

     out[i, j] = start[i, j] + sum over k of a[i * lda + k] * b[at[k] + place(j)]

   place(j) is j where there are no `lines`. With them, the columns are those of the lines of
   images, which lie apart.

   A tile of ROWS rows and two vectors of columns stays in registers. A panel of b, two vectors of
   columns and DEEP rows, is copied first, so that it lies in the first-level cache without gaps
   while all rows of a meet it. Every element is summed in the same order wherever its tile begins,
   so the work may be shared out by rows and by columns; with `dots`, which allows the last columns
   to be summed otherwise, by whole panels of columns. */

#if LANES > 1
typedef T NAME(vec) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
#else
typedef T NAME(vec);
#endif

#define VEC NAME(vec)
#define PANEL (2 * LANES)
#define DEEP (1536 / (int)sizeof(T))
#define UNPACKED 16     /* rows that whole vectors of b meet where they lie */
#define FEW (LANES / 2) /* columns at the end for which dot products are faster than a vector */

/* at: NULL where b is packed; apart: from its first vector to its second. met: which columns of a
   the rows of b meet; NULL: all in turn. */
INLINE void NAME(tile)(const int rows, const int vecs, long depth, const T *a, long lda,
                       const long *met, const T *b, const long *at, long apart, T *out, long ldo,
                       const T *bias, int add)
{
    VEC sum[ROWS][2];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            if (add)
                sum[i][j] = *(const VEC *)(out + i * ldo + j * LANES);
            else
                sum[i][j] = (VEC){0} + (bias ? bias[i] : (T)0);
        }
    }
    for (long k = 0; k < depth; k++) {
        const T *row = b + (at ? at[k] : k * PANEL);
        VEC right[2];
        UNROLL
        for (int j = 0; j < vecs; j++)
            right[j] = *(const VEC *)(row + j * apart);
        UNROLL
        for (int i = 0; i < rows; i++) {
            const T left = a[i * lda + (met ? met[k] : k)];
            UNROLL
            for (int j = 0; j < vecs; j++)
                sum[i][j] += left * right[j];
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            *(VEC *)(out + i * ldo + j * LANES) = sum[i][j];
    }
}

/* One strip of `vecs` vectors of columns, for all rows of a. */
INLINE void NAME(strip)(const int vecs, long rows, long depth, const T *a, long lda,
                        const long *met, const T *b, const long *at, long apart, T *out, long ldo,
                        const T *bias, int add)
{
#define STEP(R)                                                                                   \
    NAME(tile)(R, vecs, depth, a, lda, met, b, at, apart, out, ldo, bias, add);                   \
    a += (R) * lda;                                                                               \
    out += (R) * ldo;                                                                             \
    bias = bias ? bias + (R) : bias;                                                              \
    rows -= (R);
    while (rows >= ROWS) {
        STEP(ROWS)
    }
#if ROWS > 4
    if (rows >= 4) {
        STEP(4)
    }
#endif
    if (rows >= 2) {
        STEP(2)
    }
    if (rows >= 1) {
        STEP(1)
    }
#undef STEP
}

/* A strip of a packed panel. Among others in one function, the compiler would move the sums about. */
APART static void NAME(packed_strip)(long rows, long depth, const T *a, long lda, const T *b,
                                     T *out, long ldo, const T *bias, int add)
{
    NAME(strip)(2, rows, depth, a, lda, NULL, b, NULL, LANES, out, ldo, bias, add);
}

APART static void NAME(packed_half)(long rows, long depth, const T *a, long lda, const T *b, T *out,
                                    long ldo, const T *bias, int add)
{
    NAME(strip)(1, rows, depth, a, lda, NULL, b, NULL, LANES, out, ldo, bias, add);
}

/* The same, where only `cols` columns of out may be written. */
static void NAME(part_of_strip)(long cols, long rows, long depth, const T *a, long lda, const T *b,
                                T *out, long ldo, const T *bias, int add)
{
    T part[ROWS * PANEL];
    for (long i = 0; i < rows; i += ROWS, out += ROWS * ldo) {
        const long n = rows - i < ROWS ? rows - i : ROWS;
        memset(part, 0, sizeof part);
        for (long r = 0; add && r < n; r++)
            for (long j = 0; j < cols; j++)
                part[r * PANEL + j] = out[r * ldo + j];
        const T *start = bias ? bias + i : bias;
        if (cols <= LANES)
            NAME(packed_half)(n, depth, a + i * lda, lda, b, part, PANEL, start, add);
        else
            NAME(packed_strip)(n, depth, a + i * lda, lda, b, part, PANEL, start, add);
        for (long r = 0; r < n; r++)
            for (long j = 0; j < cols; j++)
                out[r * ldo + j] = part[r * PANEL + j];
    }
}

/* A column of out, or two: dot products of rows of a with v, and with v + DEEP. */
INLINE void NAME(dots)(const int rows, const int cols, long depth, const T *a, long lda,
                       const T *v, T *out, long ldo, const T *bias, int add)
{
    VEC sum[4][2];
    T part[LANES] ALIGNED;
    long k = 0;
    memset(sum, 0, sizeof sum);
    for (; k + LANES <= depth; k += LANES) {
        UNROLL
        for (int i = 0; i < rows; i++) {
            UNROLL
            for (int j = 0; j < cols; j++)
                sum[i][j] += *(const VEC *)(a + i * lda + k) * *(const VEC *)(v + j * DEEP + k);
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < cols; j++) {
            T rest = add ? out[i * ldo + j] : bias ? bias[i] : (T)0;
            memcpy(part, &sum[i][j], sizeof part);
            for (int w = LANES / 2; w > 0; w /= 2)
                for (int q = 0; q < w; q++)
                    part[q] += part[q + w];
            for (long r = k; r < depth; r++)
                rest += a[i * lda + r] * v[j * DEEP + r];
            out[i * ldo + j] = rest + part[0];
        }
    }
}

static void NAME(columns)(long cols, long rows, long depth, const T *a, long lda, const T *b,
                          T *out, long ldo, const T *bias, int add)
{
    T v[2 * DEEP];
    for (long j = 0; j < cols; j += 2, b += 2) {
        const int two = j + 1 < cols;
        for (long k = 0; k < depth; k++) {
            v[k] = b[k * PANEL];
            v[DEEP + k] = b[k * PANEL + 1];
        }
        for (long i = 0; i < rows;) {
            const int n = rows - i < 4 ? 1 : 4;
            const T *left = a + i * lda, *start = bias ? bias + i : bias;
            T *to = out + i * ldo + j;
            if (n == 4 && two)
                NAME(dots)(4, 2, depth, left, lda, v, to, ldo, start, add);
            else if (n == 4)
                NAME(dots)(4, 1, depth, left, lda, v, to, ldo, start, add);
            else if (two)
                NAME(dots)(1, 2, depth, left, lda, v, to, ldo, start, add);
            else
                NAME(dots)(1, 1, depth, left, lda, v, to, ldo, start, add);
            i += n;
        }
    }
}

/* The columns of a product as lines of images: how many columns a line has and how many lines an
   image, and how far apart both begin. LANES elements behind the last can be read. */
typedef struct {
    long width, height, pitch, image;
} NAME(lines_t);

/* Where a column is in b. */
static long NAME(place_of)(const NAME(lines_t) *lines, long column)
{
    const long y = column / lines->width, x = column % lines->width;
    return y / lines->height * lines->image + y % lines->height * lines->pitch + x;
}

/* A vector of b, and where in a panel it belongs; what is too much, the next one covers. */
typedef struct {
    long from, to;
} NAME(piece_t);

/* The pieces of `cols` columns from `first` on. */
static long NAME(pieces)(const NAME(lines_t) *lines, long first, long cols, NAME(piece_t) *pieces)
{
    long n = 0, y = first / lines->width, x = first % lines->width;
    for (long to = 0; to < cols; y++, x = 0) {
        const long from = NAME(place_of)(lines, y * lines->width + x);
        const long size = lines->width - x < cols - to ? lines->width - x : cols - to;
        for (long j = 0; j < size; j += LANES)
            pieces[n++] = (NAME(piece_t)){from + j, to + j};
        to += size;
    }
    return n;
}

/* Copy a panel of `cols` columns and `depth` rows of b; the other columns may get any numbers. */
static void NAME(pack)(long cols, long depth, const T *b, const long *at,
                       const NAME(lines_t) *lines, long first, T *to)
{
    NAME(piece_t) pieces[PANEL];
    const long n = lines ? NAME(pieces)(lines, first, cols, pieces) : 0;
    for (long k = 0; k < depth; k++, to += PANEL) {
        const T *from = b + at[k];
        if (!lines && cols == PANEL) {
            ((VEC *)to)[0] = *(const VEC *)(from + first);
            ((VEC *)to)[1] = *(const VEC *)(from + first + LANES);
            continue;
        }
        for (long j = cols < PANEL ? 0 : PANEL; j < PANEL; j++)
            to[j] = lines || j >= cols ? (T)0 : from[first + j];
        for (long r = 0; r < n; r++)
            *(VEC *)(to + pieces[r].to) = *(const VEC *)(from + pieces[r].from);
    }
}

/* Up to PANEL columns for all rows, and up to DEEP rows of b; `to` holds a panel and a vector. */
static void NAME(panel)(long cols, long rows, long depth, const T *a, long lda, const T *b,
                        const long *at, const NAME(lines_t) *lines, long first, T *to, T *out,
                        long ldo, const T *bias, int add, int dots)
{
    const long whole = cols / LANES * LANES, few = cols - whole;
    /* vectors without gaps that few rows meet; fewer, where rows of b share no cache lines */
    if (cols == PANEL && rows <= (dots ? ROWS : UNPACKED) && (!lines || lines->width % LANES == 0)) {
        const long from = lines ? NAME(place_of)(lines, first) : first;
        const long apart = lines ? NAME(place_of)(lines, first + LANES) - from : LANES;
        NAME(strip)(2, rows, depth, a, lda, NULL, b + from, at, apart, out, ldo, bias, add);
        return;
    }
    NAME(pack)(cols, depth, b, at, lines, first, to);
    if (cols == PANEL)
        NAME(packed_strip)(rows, depth, a, lda, to, out, ldo, bias, add);
    else if (few && (!dots || few > FEW || depth < 4 * LANES))
        NAME(part_of_strip)(cols, rows, depth, a, lda, to, out, ldo, bias, add);
    else {
        if (whole)
            NAME(packed_half)(rows, depth, a, lda, to, out, ldo, bias, add);
        if (few)
            NAME(columns)(few, rows, depth, a, lda, to + whole, out + whole, ldo, bias, add);
    }
}

/* Of the columns from `first` on, to out. */
static void NAME(product)(long rows, long first, long cols, long depth, const T *a, long lda,
                          const T *b, const long *at, const NAME(lines_t) *lines, T *out, long ldo,
                          const T *bias, int add, int dots)
{
    T packed[DEEP * PANEL + LANES] ALIGNED;
    const long turns = depth > DEEP ? (depth + DEEP - 1) / DEEP : 1;
    for (long t = 0; t < turns; t++) {
        const long k = depth * t / turns, deep = depth * (t + 1) / turns - k;
        /* so many rows of a stay in the second-level cache while the columns are processed */
        const long fit = (1 << 19) / (long)sizeof(T) / (deep + 1) / ROWS * ROWS;
        const long blocks = fit < ROWS ? (rows + ROWS - 1) / ROWS : (rows + fit - 1) / fit;
        const long block = blocks ? UP_TO((rows + blocks - 1) / blocks, ROWS) : ROWS;
        for (long r = 0; r < rows; r += block)
            for (long j = 0; j < cols; j += PANEL)
                NAME(panel)(cols - j < PANEL ? cols - j : PANEL,
                            rows - r < block ? rows - r : block, deep, a + r * lda + k, lda, b,
                            at + k, lines, first + j, packed, out + r * ldo + j, ldo,
                            bias && !t ? bias + r : NULL, add || t, dots);
    }
}
