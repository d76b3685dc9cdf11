/* The convolution kernels for one element type and one instruction set.

   No include guard: _conv.c includes this once per combination, after defining
     T       element type            LANES   elements of a vector (1: no vectors)
     ROWS    rows of a register tile NAME(x) x with a suffix for the combination

   Everything rests on one matrix product whose right-hand rows may start anywhere:

     out[i, j] = start[i, j] + sum over k of a[i * lda + k] * b[at[k] + j]

   With stride 1, row k = (channel, ky, kx) of the unfolded image is the padded image itself from
   an offset on, so nothing is unfolded; the columns that wrap around the end of an image row are
   computed and dropped. Columns are processed LANES at a time: b must be readable, and out
   writable, up to the next multiple of LANES. Volumes are worked on slice by slice of the output,
   the rows (channel, kz, ky, kx) starting in the slices of the input that it needs. */

#if LANES > 1
typedef T NAME(vec) __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias));
#else
typedef T NAME(vec);
#endif

#define VEC NAME(vec)

INLINE void NAME(tile)(const int rows, const int vecs, long depth, const T *a, long lda,
                       const T *b, const long *at, T *out, long ldo, const T *bias, int add)
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
        const T *row = b + at[k];
        VEC right[2];
        UNROLL
        for (int j = 0; j < vecs; j++)
            right[j] = *(const VEC *)(row + j * LANES);
        UNROLL
        for (int i = 0; i < rows; i++) {
            const T left = a[i * lda + k];
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
INLINE void NAME(strip)(const int vecs, long rows, long depth, const T *a, long lda, const T *b,
                        const long *at, T *out, long ldo, const T *bias, int add)
{
#define STEP(R)                                                                                   \
    NAME(tile)(R, vecs, depth, a, lda, b, at, out, ldo, bias, add);                               \
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
    if (rows >= 2) {
        STEP(2)
    }
    if (rows >= 1) {
        STEP(1)
    }
#undef STEP
}

static void NAME(product)(long rows, long cols, long depth, const T *a, long lda, const T *b,
                          const long *at, T *out, long ldo, const T *bias, int add)
{
    /* so many rows of a stay in the second-level cache while the columns are processed */
    long block = 131072 / (depth + 1) / ROWS * ROWS;
    if (block < ROWS)
        block = ROWS;
    for (long r = 0; r < rows; r += block) {
        const long n = rows - r < block ? rows - r : block;
        const T *part = a + r * lda;
        const T *start = bias ? bias + r : bias;
        T *to = out + r * ldo;
        long j = 0;
        for (; j + LANES < cols; j += 2 * LANES)
            NAME(strip)(2, n, depth, part, lda, b + j, at, to + j, ldo, start, add);
        if (j < cols)
            NAME(strip)(1, n, depth, part, lda, b + j, at, to + j, ldo, start, add);
    }
}

#define ROUND(n) (((n) + LANES - 1) / LANES * LANES)

/* Copy channels of (depth, height, width) into a zeroed buffer of padded size, in the layout
   channel first (inner = 0) or channel last (inner = number of channels). */
static void NAME(pad)(const conv_t *p, const T *x, long channels, long inner, T *to)
{
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long first = p->left < 0 ? -p->left : 0;
    const long last = p->right < 0 ? p->w + p->right : p->w;
    const long step = p->d * p->h * p->w;
    for (long zy = 0; zy < p->d * p->h; zy++) {
        const long slice = zy / p->h + p->front, row = zy % p->h + p->top;
        if (slice < 0 || slice >= dp || row < 0 || row >= hp)
            continue;
        const T *from = x + zy * p->w;
        if (!inner) {
            for (long c = 0; c < channels; c++) {
                T *line = to + ((c * dp + slice) * hp + row) * wp + p->left;
                for (long i = first; i < last; i++)
                    line[i] = from[c * step + i];
            }
            continue;
        }
        T *line = to + ((slice * hp + row) * wp + p->left) * inner;
        long c = 0;
        for (; c + 8 <= channels; c += 8)
            for (long i = first; i < last; i++)
                for (int q = 0; q < 8; q++)
                    line[i * inner + c + q] = from[(c + q) * step + i];
        for (; c < channels; c++)
            for (long i = first; i < last; i++)
                line[i * inner + c] = from[c * step + i];
    }
}

/* Rows (channel, kz, ky, kx) of the unfolded padded input for one slice of the output, each `pitch`
   long; `image` begins at the first slice that it needs. */
static void NAME(unfold)(const conv_t *p, const T *image, long channels, T *to, long pitch)
{
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    for (long c = 0; c < channels; c++)
        for (long kz = 0; kz < p->kd; kz++)
            for (long ky = 0; ky < p->kh; ky++)
                for (long kx = 0; kx < p->kw; kx++, to += pitch)
                    for (long y = 0; y < p->oh; y++) {
                        const long row = (c * dp + kz * p->dd) * hp + y * p->sh + ky * p->dh;
                        const T *from = image + row * wp + kx * p->dw;
                        T *line = to + y * p->ow;
                        for (long i = 0; i < p->ow; i++)
                            line[i] = from[i * p->sw];
                    }
}

static int NAME(forward)(const conv_t *p, const void *x_, const void *w_, const void *b_,
                         void *out_)
{
    const T *x = x_, *w = w_, *b = b_;
    T *out = out_;
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long cg = p->c / p->groups, og = p->oc / p->groups;
    const long taps = p->kd * p->kh * p->kw, depth = cg * taps;
    const long size = p->d * p->h * p->w, area = p->oh * p->ow, slice = p->sd * hp * wp;
    const int flat = p->sh == 1 && p->sw == 1;
    const long pitch = flat ? wp : p->ow;
    const long cols = flat ? (p->oh - 1) * wp + p->ow : area, wide = ROUND(cols);
    const int unpadded = dp == p->d && hp == p->h && wp == p->w && p->front == 0 &&
                         p->top == 0 && p->left == 0;
    const int inplace = flat && unpadded && cols == wide;          /* x is used without a copy */
    const int direct = pitch == p->ow && cols == wide;             /* out is written directly */
    const long padsize = inplace || (unpadded && !flat) ? 0 : cg * dp * hp * wp + 2 * LANES;
    const long unfolded = flat ? 0 : depth * wide, results = direct ? 0 : og * wide;

    T *mem = malloc((size_t)(padsize + unfolded + results) * sizeof(T) +
                    (size_t)depth * sizeof(long));
    if (!mem)
        return -1;
    long *at = (long *)mem;
    T *padded = (T *)(at + depth), *rows = padded + padsize, *result = rows + unfolded;
    if (padsize)
        memset(padded, 0, (size_t)padsize * sizeof(T));
    if (unfolded)
        memset(rows, 0, (size_t)unfolded * sizeof(T));
    for (long k = 0; k < depth; k++) {
        const long kz = k / (p->kh * p->kw) % p->kd, ky = k / p->kw % p->kh, kx = k % p->kw;
        at[k] = flat ? ((k / taps * dp + kz * p->dd) * hp + ky * p->dh) * wp + kx * p->dw
                     : k * wide;
    }

    for (long n = 0; n < p->n; n++)
        for (long g = 0; g < p->groups; g++) {
            const T *image = x + (n * p->groups + g) * cg * size;
            if (padsize) {
                NAME(pad)(p, image, cg, 0, padded);
                image = padded;
            }
            for (long z = 0; z < p->od; z++, image += slice) {
                T *to = out + ((n * p->groups + g) * og * p->od + z) * area;
                if (unfolded)
                    NAME(unfold)(p, image, cg, rows, wide);
                NAME(product)(og, cols, depth, w + g * og * depth, depth, unfolded ? rows : image,
                              at, direct ? to : result, direct ? p->od * area : wide,
                              b ? b + g * og : b, 0);
                if (direct)
                    continue;
                for (long o = 0; o < og; o++)
                    for (long y = 0; y < p->oh; y++) {
                        const T *from = result + o * wide + y * pitch;
                        T *line = to + o * p->od * area + y * p->ow;
                        for (long i = 0; i < p->ow; i++)
                            line[i] = from[i];
                    }
            }
        }
    free(mem);
    return 0;
}

/* With stride 1 the gradient is the convolution of grad with the flipped, transposed weight. */
static int NAME(grad_input_flat)(const conv_t *p, const T *grad, const T *w, T *out)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups, taps = p->kd * p->kh * p->kw;
    conv_t q = *p;
    q.c = p->oc, q.oc = p->c;
    q.d = p->od, q.h = p->oh, q.w = p->ow, q.od = p->d, q.oh = p->h, q.ow = p->w;
    q.front = p->dd * (p->kd - 1) - p->front, q.back = p->dd * (p->kd - 1) - p->back;
    q.top = p->dh * (p->kh - 1) - p->top, q.bottom = p->dh * (p->kh - 1) - p->bottom;
    q.left = p->dw * (p->kw - 1) - p->left, q.right = p->dw * (p->kw - 1) - p->right;

    T *flipped = malloc((size_t)(p->oc * cg * taps) * sizeof(T) + 1);
    if (!flipped)
        return -1;
    for (long g = 0; g < p->groups; g++)
        for (long o = 0; o < og; o++)
            for (long c = 0; c < cg; c++)
                for (long t = 0; t < taps; t++)
                    flipped[((g * cg + c) * og + o) * taps + taps - 1 - t] =
                        w[((g * og + o) * cg + c) * taps + t];
    const int rc = NAME(forward)(&q, grad, flipped, NULL, out);
    free(flipped);
    return rc;
}

/* Add the unfolded rows of a slice of grad, each `pitch` long, to where forward took them from. */
static void NAME(fold)(const conv_t *p, const T *rows, long pitch, long z, long channels, T *out)
{
    for (long c = 0; c < channels; c++)
        for (long kz = 0; kz < p->kd; kz++)
            for (long ky = 0; ky < p->kh; ky++)
                for (long kx = 0; kx < p->kw; kx++, rows += pitch) {
                    const long slice = z * p->sd + kz * p->dd - p->front;
                    const long shift = kx * p->dw - p->left, room = p->w - 1 - shift;
                    const long first = shift < 0 ? (-shift + p->sw - 1) / p->sw : 0;
                    const long last = room < 0 ? -1 : room / p->sw;
                    const long end = last < p->ow - 1 ? last + 1 : p->ow;
                    if (slice < 0 || slice >= p->d)
                        continue;
                    for (long y = 0; y < p->oh; y++) {
                        const long row = y * p->sh + ky * p->dh - p->top;
                        if (row < 0 || row >= p->h)
                            continue;
                        const T *from = rows + y * p->ow;
                        T *line = out + ((c * p->d + slice) * p->h + row) * p->w + shift;
                        for (long i = first; i < end; i++)
                            line[i * p->sw] += from[i];
                    }
                }
}

/* Otherwise: rows = weight' @ grad, and each row is added to where forward took it from. */
static int NAME(grad_input)(const conv_t *p, const void *grad_, const void *w_, void *out_)
{
    const T *grad = grad_, *w = w_;
    T *out = out_;
    if (p->sd == 1 && p->sh == 1 && p->sw == 1)
        return NAME(grad_input_flat)(p, grad, w, out);
    const long cg = p->c / p->groups, og = p->oc / p->groups;
    const long depth = cg * p->kd * p->kh * p->kw, size = p->d * p->h * p->w;
    const long cols = p->oh * p->ow, wide = ROUND(cols), copied = cols == wide ? 0 : og * wide;

    T *mem = malloc((size_t)(depth * wide + depth * og + copied) * sizeof(T) +
                    (size_t)og * sizeof(long));
    if (!mem)
        return -1;
    long *at = (long *)mem;
    T *rows = (T *)(at + og), *turned = rows + depth * wide, *lines = turned + depth * og;
    for (long o = 0; o < og; o++)
        at[o] = o * (copied ? wide : p->od * cols);
    if (copied)
        memset(lines, 0, (size_t)copied * sizeof(T));
    memset(out, 0, (size_t)(p->n * p->c * size) * sizeof(T));

    for (long g = 0; g < p->groups; g++) {
        for (long k = 0; k < depth; k++)
            for (long o = 0; o < og; o++)
                turned[k * og + o] = w[(g * og + o) * depth + k];
        for (long n = 0; n < p->n; n++)
            for (long z = 0; z < p->od; z++) {
                const T *from = grad + ((n * p->groups + g) * og * p->od + z) * cols;
                if (copied) {
                    for (long o = 0; o < og; o++)
                        for (long i = 0; i < cols; i++)
                            lines[o * wide + i] = from[o * p->od * cols + i];
                    from = lines;
                }
                NAME(product)(depth, cols, og, turned, og, from, at, rows, wide, NULL, 0);
                NAME(fold)(p, rows, wide, z, cg, out + (n * p->groups + g) * cg * size);
            }
    }
    free(mem);
    return 0;
}

/* grad_weight[o, (kz, ky, kx, c)] sums, over positions s, grad[o, s] * padded[s at (kz, ky, kx), c].
   With the channels last, the products for one kz and ky (and one kx, if dilated) are adjacent
   columns. */
static int NAME(grad_weight)(const conv_t *p, const void *grad_, const void *x_, void *out_)
{
    const T *grad = grad_, *x = x_;
    T *out = out_;
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long cg = p->c / p->groups, og = p->oc / p->groups, area = p->oh * p->ow;
    const int joined = p->dw == 1;
    const long cols = joined ? p->kw * cg : cg, runs = p->kd * p->kh * (joined ? 1 : p->kw);
    const long wide = ROUND(cols), padsize = dp * hp * wp * cg + 2 * LANES;

    T *mem = malloc((size_t)(padsize + og * runs * wide) * sizeof(T) +
                    (size_t)area * sizeof(long));
    if (!mem)
        return -1;
    long *at = (long *)mem;
    T *padded = (T *)(at + area), *sums = padded + padsize;
    for (long y = 0; y < p->oh; y++)
        for (long i = 0; i < p->ow; i++)
            at[y * p->ow + i] = (y * p->sh * wp + i * p->sw) * cg;
    memset(padded, 0, (size_t)padsize * sizeof(T));

    for (long g = 0; g < p->groups; g++) {
        memset(sums, 0, (size_t)(og * runs * wide) * sizeof(T));
        for (long n = 0; n < p->n; n++) {
            const T *from = grad + (n * p->groups + g) * og * p->od * area;
            NAME(pad)(p, x + (n * p->groups + g) * cg * p->d * p->h * p->w, cg, cg, padded);
            for (long z = 0; z < p->od; z++, from += area)
                for (long r = 0; r < runs; r++) {
                    const long kx = joined ? 0 : r % p->kw, rest = joined ? r : r / p->kw;
                    const long kz = rest / p->kh, ky = rest % p->kh;
                    const long row = (z * p->sd + kz * p->dd) * hp + ky * p->dh;
                    NAME(product)(og, cols, area, from, p->od * area,
                                  padded + (row * wp + kx * p->dw) * cg, at, sums + r * wide,
                                  runs * wide, NULL, 1);
                }
        }
        for (long o = 0; o < og; o++)
            for (long c = 0; c < cg; c++)
                for (long k = 0; k < p->kd * p->kh; k++)
                    for (long kx = 0; kx < p->kw; kx++) {
                        const long r = joined ? k : k * p->kw + kx;
                        const long col = joined ? kx * cg + c : c;
                        *out++ = sums[(o * runs + r) * wide + col];
                    }
    }
    free(mem);
    return 0;
}

#undef VEC
#undef ROUND
