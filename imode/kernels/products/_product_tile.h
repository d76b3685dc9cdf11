/* out (rows, cols) = or += a (rows, depth) @ b (depth, cols), for one element type and level.

   a has any strides; the rows of b and out are contiguous. A panel of b at a time is held by a
   register tile: VECS vectors at most, but no single one where two will do, which would wait for
   what it reads. The fastest b is packed: panel after panel, the rows of each without gaps. */

#if LANES > 1
typedef T NAME(vec) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
#else
typedef T NAME(vec);
#endif

#define VEC NAME(vec)
#ifdef LOAD_PART
#define VECS 3 /* 24 of 32 registers hold sums */
#else
#define VECS 2
#endif
#ifndef LEFT
#define LEFT T   /* what the tile reads of a for each of its elements */
#endif
#define PANEL (2 * LANES)
/* Bits of `add`: to what is in out; the next panel of b is fetched, which no processor foresees. */
#define ADDS 1
#define FETCHES 2
#define DEEP 512 /* rows of b that a tail of columns is copied of, at once */
#define AHEAD 16 /* columns of a from now, which are fetched */
#define FAR 64   /* rows of b that take as long as a part of out from memory */

/* Of the last vector of a row, `part` elements are there, if it is `cut`. */
#ifdef LOAD_PART
#define LOAD(p, j) (cut && (j) == vecs - 1 ? (VEC)LOAD_PART(p, part) : *(const VEC *)(p))
#define STORE(p, j, v)                                                                            \
    if (cut && (j) == vecs - 1)                                                                   \
        STORE_PART(p, part, v);                                                                   \
    else                                                                                          \
        *(VEC *)(p) = v
#else
#define LOAD(p, j) (*(const VEC *)(p))
#define STORE(p, j, v) *(VEC *)(p) = v
#endif

/* The last rows may be `back` ones too many: then the ones from the fourth on are rows before them,
   which come out the same twice. */
INLINE void NAME(tile)(const int rows, const int vecs, const int cut, long back, long part,
                       long depth, const T *a, long ai, long ak, const T *b, long ldb, T *out,
                       long ldo, int add)
{
    VEC sum[ROWS][VECS];
    /* Two pointers and four steps, where eight would not fit. */
    const T *lower = a + (4 - back) * ai;
    (void)cut, (void)part;
#define OUT_OF(i) (out + (i) * ldo - ((i) < 4 ? 0 : back * ldo))
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            sum[i][j] = add & ADDS ? LOAD(OUT_OF(i) + j * LANES, j) : (VEC){0};
    }
    for (long k = 0; k < depth; k++) {
        VEC right[VECS];
#ifdef UNPACKED
        if (__builtin_expect(add & FETCHES, 0)) {
            UNROLL
            for (int j = 0; j < vecs * LANES; j += 64 / sizeof(T))
                __builtin_prefetch(b + k * ldb + vecs * LANES + j);
        }
#else
        if (ROWS * sizeof(T) >= 64) /* a column of a panel is a line of the cache */
            __builtin_prefetch(a + (k + AHEAD) * ak);
#endif
        UNROLL
        for (int j = 0; j < vecs; j++) {
            right[j] = LOAD(b + k * ldb + j * LANES, j);
            if (rows > 1)
                IN_REGISTER(right[j]);
        }
        UNROLL
        for (int i = 0; i < rows; i++) {
            const LEFT left = *(const LEFT *)&(i < 4 ? a : lower)[i % 4 * ai + k * ak];
            UNROLL
            for (int j = 0; j < vecs; j++)
                ADD_TO(sum[i][j], left * right[j]);
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++) {
            STORE(OUT_OF(i) + j * LANES, j, sum[i][j]);
        }
    }
}
#undef LOAD
#undef STORE
#undef OUT_OF

/* A tile of all ROWS, with the registers to itself. */
NOINLINE void NAME(whole_tile)(int vecs, int cut, long back, long part, long depth, const T *a,
                               long ai, long ak, const T *b, long ldb, T *out, long ldo, int add)
{
#if LANES > 1
    /* The next tile's part of out comes from memory meanwhile. */
    for (int i = ROWS; i < (depth < FAR ? 0 : 2 * ROWS); i++) {
        for (int j = 0; j < VECS; j++)
            __builtin_prefetch(out + i * ldo + j * LANES, 1);
    }
#endif
#define OF(V, CUT) NAME(tile)(ROWS, V, CUT, back, part, depth, a, ai, ak, b, ldb, out, ldo, add)
#ifdef LOAD_PART
    if (vecs == 3)
        cut ? OF(3, 1) : OF(3, 0);
    else
        vecs == 2 ? OF(2, 1) : OF(1, 1);
#else
    if (vecs == 2)
        OF(2, 0);
    else
        OF(1, 0);
#endif
#undef OF
    (void)cut;
}

/* `next`: from a tile's first row of a to the next one's. */
INLINE void NAME(strip)(const int vecs, const int cut, long part, long rows, long depth,
                        const T *a, long ai, long ak, long next, const T *b, long ldb, T *out,
                        long ldo, int add)
{
    long left = rows;
#define REST part, depth, a, ai, ak, b, ldb, out, ldo, add
#if ROWS > 4
    for (; left > 4; left -= ROWS, a += next, out += ROWS * ldo)
        NAME(whole_tile)(vecs, cut, left < ROWS ? ROWS - left : 0, REST);
#endif
#if ROWS > 4
#define FOUR_ROWS NAME(tile)(4, vecs, cut, 0, REST)
#else
#define FOUR_ROWS NAME(whole_tile)(vecs, cut, 0, REST)
#endif
    for (; left >= 4; left -= 4, a += ROWS == 4 ? next : 4 * ai, out += 4 * ldo)
        FOUR_ROWS;
    if (left == 3)
        NAME(tile)(3, vecs, cut, 0, REST);
    else if (left == 2)
        NAME(tile)(2, vecs, cut, 0, REST);
    else if (left == 1)
        NAME(tile)(1, vecs, cut, 0, REST);
#undef FOUR_ROWS
#undef REST
}

#ifdef LOAD_PART
/* The vectors of a panel, of `left` ones. */
INLINE int NAME(broad)(long left)
{
    return left > 4 || left == VECS ? VECS : left < 2 ? 1 : 2;
}

/* One panel of b after the other. */
static void NAME(panels)(int packed, long rows, long cols, long depth, const T *a, long ai,
                         long ak, long next, const T *b, long ldb, T *out, long ldo, int add)
{
    for (long j = 0; j < cols;) {
        const int vecs = NAME(broad)((cols - j + LANES - 1) / LANES);
        const long wide = vecs * LANES, lead = packed ? wide : ldb;
        const long part = cols - j < wide ? cols - j - wide + LANES : LANES;
        /* Numbers that the compiler knows; a part may be the whole of a vector, too. */
#define PANEL_OF(V, CUT)                                                                          \
    NAME(strip)(V, CUT, part, rows, depth, a, ai, ak, next, b, lead, out + j, ldo, add)
        if (vecs == VECS && part == LANES)
            PANEL_OF(VECS, 0);
        else if (vecs == VECS)
            PANEL_OF(VECS, 1);
        else if (vecs == 2)
            PANEL_OF(2, 1);
        else
            PANEL_OF(1, 1);
#undef PANEL_OF
        j += wide;
        b += packed ? depth * wide : wide;
    }
}

static inline void NAME(product)(long rows, long cols, long depth, const T *a, long ai, long ak,
                                 const T *b, long ldb, T *out, long ldo, int add)
{
    NAME(panels)(0, rows, cols, depth, a, ai, ak, ROWS * ai, b, ldb, out, ldo, add);
}
#else
/* Fewer columns than a vector has: b and out by way of buffers that are one vector wide. */
static inline void NAME(tail)(long rows, long cols, long depth, const T *a, long ai, long ak,
                              const T *b, long ldb, T *out, long ldo, int add)
{
    T right[DEEP * LANES], result[ROWS * LANES];
    memset(result, 0, sizeof result);
    for (long start = 0; start < depth || start == 0; start += DEEP, add = ADDS) {
        const long n = depth - start < DEEP ? depth - start : DEEP;
        memset(right, 0, n * LANES * sizeof(T));
        for (long k = 0; k < n; k++)
            for (long j = 0; j < cols; j++)
                right[k * LANES + j] = b[(start + k) * ldb + j];
        for (long i = 0; i < rows; i += ROWS) {
            const long m = rows - i < ROWS ? rows - i : ROWS;
            for (long r = 0; add & ADDS && r < m; r++)
                for (long j = 0; j < cols; j++)
                    result[r * LANES + j] = out[(i + r) * ldo + j];
            NAME(strip)(1, 0, 0, m, n, a + i * ai + start * ak, ai, ak, ROWS * ai, right, LANES,
                        result, LANES, add);
            for (long r = 0; r < m; r++)
                for (long j = 0; j < cols; j++)
                    out[(i + r) * ldo + j] = result[r * LANES + j];
        }
    }
}

static inline void NAME(product)(long rows, long cols, long depth, const T *a, long ai, long ak,
                                 const T *b, long ldb, T *out, long ldo, int add)
{
#define COLUMNS(vecs, cut, part, at)                                                              \
    NAME(strip)(vecs, cut, part, rows, depth, a, ai, ak, ROWS * ai, b + (at), ldb, out + (at),    \
                ldo, add)
    long j = 0;
    /* The last columns, too few for a vector, together with some before them. */
    for (; j + LANES < cols && (j + PANEL <= cols || (!(add & ADDS) && cols >= PANEL)); j += PANEL)
        COLUMNS(2, 0, 0, j + PANEL <= cols ? j : cols - PANEL);
    for (; j < cols && (j + LANES <= cols || (!(add & ADDS) && cols >= LANES)); j += LANES)
        COLUMNS(1, 0, 0, j + LANES <= cols ? j : cols - LANES);
    if (j < cols)
        NAME(tail)(rows, cols - j, depth, a, ai, ak, b + j, ldb, out + j, ldo, add);
#undef COLUMNS
}
#endif

/* The transposed of 4 by 4 elements: to[k, p] = from[p, k]. */
INLINE void NAME(turn_4)(const T *from, long lead, T *to, long ldt)
{
#if LANES > 1 && (defined(__clang__) || __GNUC__ >= 12)
    typedef T four __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
    const four a = *(const four *)from, b = *(const four *)(from + lead);
    const four c = *(const four *)(from + 2 * lead), d = *(const four *)(from + 3 * lead);
    const four e = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    const four f = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const four g = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    const four h = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(four *)to = __builtin_shufflevector(e, g, 0, 1, 4, 5);
    *(four *)(to + ldt) = __builtin_shufflevector(e, g, 2, 3, 6, 7);
    *(four *)(to + 2 * ldt) = __builtin_shufflevector(f, h, 0, 1, 4, 5);
    *(four *)(to + 3 * ldt) = __builtin_shufflevector(f, h, 2, 3, 6, 7);
#else
    for (int p = 0; p < 4; p++)
        for (int k = 0; k < 4; k++)
            to[k * ldt + p] = from[p * lead + k];
#endif
}

#ifndef UNPACKED
/* The size in elements of b (depth, cols), packed: columns are filled up to whole panels. */
#undef PACKED
#ifdef LOAD_PART
#define PACKED(depth, cols) (((cols) + LANES - 1) / LANES * LANES * (depth))
#else
#define PACKED(depth, cols) (((cols) + PANEL - 1) / PANEL * PANEL * (depth))
#endif

/* b[k, j] = from[k * sk + j * sj], as panels, the last filled up with zeros. */
static void NAME(pack)(long depth, long cols, const T *from, long sk, long sj, T *to)
{
    long wide = PANEL;
    for (long j = 0; j < cols; j += wide, to += depth * wide) {
#ifdef LOAD_PART
        wide = NAME(broad)((cols - j + LANES - 1) / LANES) * LANES;
#endif
        const long n = cols - j < wide ? cols - j : wide;
        const T *source = from + j * sj;
        if (n < wide)
            memset(to, 0, depth * wide * sizeof(T));
        if (sj == 1) {
            for (long k = 0; k < depth; k++)
                for (long p = 0; p < n; p++)
                    to[k * wide + p] = source[k * sk + p];
            continue;
        }
        for (long k0 = 0; k0 < depth; k0 += 16) {
            const long last = k0 + 16 < depth ? k0 + 16 : depth;
            long p = 0;
            for (; sk == 1 && p + 4 <= n; p += 4) {
                long k = k0;
                for (; k + 4 <= last; k += 4)
                    NAME(turn_4)(source + p * sj + k, sj, to + k * wide + p, wide);
                for (; k < last; k++)
                    for (long q = p; q < p + 4; q++)
                        to[k * wide + q] = source[q * sj + k];
            }
            for (; p < n; p++)
                for (long k = k0; k < last; k++)
                    to[k * wide + p] = source[p * sj + k * sk];
        }
    }
}

#ifndef LOAD_PART
/* Fewer columns than a panel: out by way of a buffer, a panel wide. */
static void NAME(edge)(long rows, long cols, long depth, const T *a, long ai, long ak, long next,
                       const T *b, T *out, long ldo, int add)
{
    T part[ROWS * PANEL];
    memset(part, 0, sizeof part);
    for (long i = 0; i < rows; i += ROWS, a += next, out += ROWS * ldo) {
        const long n = rows - i < ROWS ? rows - i : ROWS;
        for (long r = 0; add && r < n; r++)
            for (long j = 0; j < cols; j++)
                part[r * PANEL + j] = out[r * ldo + j];
        if (cols > LANES)
            NAME(strip)(2, 0, 0, n, depth, a, ai, ak, next, b, PANEL, part, PANEL, add);
        else
            NAME(strip)(1, 0, 0, n, depth, a, ai, ak, next, b, PANEL, part, PANEL, add);
        for (long r = 0; r < n; r++)
            for (long j = 0; j < cols; j++)
                out[r * ldo + j] = part[r * PANEL + j];
    }
}
#endif

/* The product with a packed b; see `strip` for `next`. Rows of out must hold `cols` elements. */
static void NAME(packed)(long rows, long cols, long depth, const T *a, long ai, long ak, long next,
                         const T *b, T *out, long ldo, int add)
{
#ifdef LOAD_PART
    NAME(panels)(1, rows, cols, depth, a, ai, ak, next, b, 0, out, ldo, add);
#else
    long j = 0;
#define COLUMNS(vecs)                                                                             \
    NAME(strip)(vecs, 0, 0, rows, depth, a, ai, ak, next, b, PANEL, out + j, ldo, add)
    for (; j + PANEL <= cols; j += PANEL, b += depth * PANEL)
        COLUMNS(2);
    if (j < cols && cols - j == LANES)
        COLUMNS(1);
    else if (j < cols)
        NAME(edge)(rows, cols - j, depth, a, ai, ak, next, b, out + j, ldo, add);
#undef COLUMNS
#endif
}
#endif
#undef LEFT
#undef VECS
