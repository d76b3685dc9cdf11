/* Groups of one input channel, forward and backward: sums over the taps of a plane, with nothing unfolded.

   A plane is read in place, or from a padded copy whose rows lie in `sw` phases, one after another:
   phase f holds the columns f, f + sw, f + 2 * sw ... So what neighbours in a row of the output
   take from one tap always lies side by side. */

#define TALL 4 /* rows of the output at once */

/* `rows` rows and `vecs` vectors of the output. If only `cols` columns are wanted, what is written
   after them is overwritten with the next row, and nothing at or after `end` is touched. */
INLINE void NAME(taps)(const int rows, const int vecs, long cols, long count, const T *w,
                       const T *from, const long *at, long step, T *out, long ldo,
                       const T *end, T start)
{
    VEC sum[TALL][2];
    UNROLL
    for (int i = 0; i < rows; i++) {
        UNROLL
        for (int j = 0; j < vecs; j++)
            sum[i][j] = (VEC){0} + start;
    }
    for (long k = 0; k < count; k++) {
        const T *row = from + at[k];
        const T left = w[k];
        UNROLL
        for (int i = 0; i < rows; i++) {
            UNROLL
            for (int j = 0; j < vecs; j++)
                sum[i][j] += left * *(const VEC *)(row + i * step + j * LANES);
        }
    }
    UNROLL
    for (int i = 0; i < rows; i++) {
        T *to = out + i * ldo;
        if (vecs == 1 && end - to < LANES) {
            T part[LANES] ALIGNED;
            memcpy(part, &sum[i][0], sizeof part);
            for (long j = 0; j < cols; j++)
                to[j] = part[j];
            continue;
        }
        UNROLL
        for (int j = 0; j < vecs; j++)
            *(VEC *)(to + j * LANES) = sum[i][j];
    }
}

/* `rows` rows of the output. The last tile is moved back to end with them: some elements are
   computed twice. */
INLINE void NAME(lines)(const int rows, long ow, long count, const T *w, const T *from,
                        const long *at, long step, T *out, const T *end, T start)
{
    for (long i = 0; i < ow;) {
        if (ow >= PANEL && i + LANES < ow) {
            const long j = i + PANEL < ow ? i : ow - PANEL;
            NAME(taps)(rows, 2, PANEL, count, w, from + j, at, step, out + j, ow, end, start);
            i += PANEL;
        } else {
            const long j = i + LANES < ow ? i : ow < LANES ? 0 : ow - LANES;
            NAME(taps)(rows, 1, ow, count, w, from + j, at, step, out + j, ow, end, start);
            i += LANES;
        }
    }
}

static void NAME(plane)(long oh, long ow, long count, const T *w, const T *from, const long *at,
                        long step, T *out, T start)
{
    const T *end = out + oh * ow;
    if (oh < TALL)
        for (long y = 0; y < oh; y++)
            NAME(lines)(1, ow, count, w, from + y * step, at, step, out + y * ow, end, start);
    else
        for (long i = 0; i < oh; i += TALL) {
            const long y = i + TALL < oh ? i : oh - TALL;
            NAME(lines)(TALL, ow, count, w, from + y * step, at, step, out + y * ow, end, start);
        }
}

/* Columns `first` to `last` of a padded row, which begin at x, to its phases. */
INLINE void NAME(to_two)(long first, long last, const T *x, T *even, T *odd)
{
    T *one = first % 2 ? odd + first / 2 : even + first / 2; /* where x begins, so that lines of */
    T *two = first % 2 ? even + first / 2 + 1 : odd + first / 2; /* whole vectors have no rest */
    const long n = last > first ? last - first : 0;
    for (long j = 0; j < n / 2; j++)
        one[j] = x[2 * j], two[j] = x[2 * j + 1];
    if (n % 2)
        one[n / 2] = x[n - 1];
}

/* The padded copy: a channel into a zeroed buffer, rows of `sw` phases, each `phase` long. */
static void NAME(to_phases)(const conv_t *p, const T *x, long phase, T *copy)
{
    const long dp = p->d + p->front + p->back, hp = p->h + p->top + p->bottom, sw = p->sw;
    const long first = p->left < 0 ? 0 : p->left; /* columns of the copy that x fills */
    const long last = p->right < 0 ? p->left + p->w + p->right : p->left + p->w;
    x += first - p->left;
    for (long slice = p->front; slice < p->d + p->front; slice++)
        for (long row = p->top; row < p->h + p->top; row++, x += p->w) {
            T *line = copy + (slice * hp + row) * sw * phase;
            if (slice < 0 || slice >= dp || row < 0 || row >= hp || first >= last)
                continue;
            if (sw == 1)
                memcpy(line + first, x, (size_t)(last - first) * sizeof(T));
            else if (sw == 2)
                NAME(to_two)(first, last, x, line, line + phase);
            else
                for (long i = first; i < last; i++)
                    line[i % sw * phase + i / sw] = x[i - first];
        }
}

/* How the planes of a call lie once they have been copied, and where its taps begin in them. */
typedef struct {
    long taps, phase, pitch, slice; /* elements of a phase, of a row, of a slice of the copy */
    long size;                      /* of all of it */
    long *at;
    T *copy;
} NAME(planes);

static int NAME(lay_out)(const conv_t *p, NAME(planes) *s)
{
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    s->taps = p->kd * p->kh * p->kw;
    s->phase = (wp + p->sw - 1) / p->sw, s->pitch = p->sw * s->phase;
    s->slice = hp * s->pitch;
    s->size = (p->d + p->front + p->back) * s->slice + LANES;
    s->at = calloc(1, (size_t)s->taps * sizeof(long) + (size_t)s->size * sizeof(T));
    if (!s->at)
        return -1;
    s->copy = (T *)(s->at + s->taps);
    for (long k = 0; k < s->taps; k++) {
        const long kz = k / (p->kh * p->kw);
        const long row = k / p->kw % p->kh * p->dh, col = k % p->kw * p->dw;
        s->at[k] = (kz * p->dd * hp + row) * s->pitch + col % p->sw * s->phase + col / p->sw;
    }
    return 0;
}

/* A plane as `s` says it lies: itself, or its copy. Vectors may be read that begin at any element. */
static const T *NAME(laid_out)(const conv_t *p, const NAME(planes) *s, const T *plane, int last)
{
    if (p->sw == 1 && is_unpadded(p) && !last)
        return plane;
    NAME(to_phases)(p, plane, s->phase, s->copy);
    return s->copy;
}

/* Channels `begin` to `end` of all images' channels. */
static int NAME(depthwise)(const conv_t *p, const T *x, const T *w, const T *b, T *out, long begin,
                           long end)
{
    const long og = p->oc / p->groups, size = p->d * p->h * p->w, area = p->oh * p->ow;
    NAME(planes) s;
    if (NAME(lay_out)(p, &s))
        return -1;
    for (long u = begin; u < end; u++) {
        const int last = p->ow < LANES && (p->n * p->c - u - 1) * size < LANES;
        const T *from = NAME(laid_out)(p, &s, x + u * size, last);
        for (long o = u % p->groups * og; o < (u % p->groups + 1) * og; o++)
            for (long z = 0; z < p->od; z++) {
                T *to = out + ((u / p->groups * p->oc + o) * p->od + z) * area;
                NAME(plane)(p->oh, p->ow, s.taps, w + o * s.taps, from + z * p->sd * s.slice, s.at,
                            p->sh * s.pitch, to, b ? b[o] : (T)0);
            }
    }
    free(s.at);
    return 0;
}

#if LANES > 1
/* The first `rest` elements of a vector, then zeros. */
INLINE VEC NAME(first_of)(VEC x, long rest)
{
    static const char bits[2 * 64] = {[0 ... 63] = -1};
    typedef int words __attribute__((vector_size(sizeof(VEC)), aligned(1), may_alias));
    return (VEC)((words)x & *(const words *)(bits + 64 - rest * (long)sizeof(T)));
}
#else
INLINE VEC NAME(first_of)(VEC x, long rest) { return x; }
#endif

/* The last `rest` elements of a row, then any, but none from `last` on. */
INLINE VEC NAME(end_of)(const T *from, long rest, const T *last)
{
    T part[LANES] ALIGNED = {0};
    if (last - from >= LANES)
        return *(const VEC *)from;
    for (long i = 0; i < rest; i++)
        part[i] = from[i];
    return *(const VEC *)part;
}

/* ---- the gradient of the weight: products of a plane of grad with one from each tap on ---- */

INLINE void NAME(weigh)(const int taps, long oh, long ow, const T *grad, const T *last, const T *from,
                        const long *at, long step, VEC *sums)
{
    const long whole = ow / LANES * LANES, rest = ow - whole;
    VEC sum[9];
    UNROLL_9
    for (int k = 0; k < taps; k++)
        sum[k] = sums[k];
    for (long y = 0; y < oh; y++, grad += ow, from += step) {
        for (long i = 0; i < whole; i += LANES) {
            const VEC of_grad = *(const VEC *)(grad + i);
            UNROLL_9
            for (int k = 0; k < taps; k++)
                sum[k] += of_grad * *(const VEC *)(from + at[k] + i);
        }
        if (rest) {
            const VEC of_grad = NAME(first_of)(NAME(end_of)(grad + whole, rest, last), rest);
            UNROLL_9
            for (int k = 0; k < taps; k++)
                sum[k] += of_grad * NAME(first_of)(*(const VEC *)(from + at[k] + whole), rest);
        }
    }
    UNROLL_9
    for (int k = 0; k < taps; k++)
        sums[k] = sum[k];
}

static void NAME(weigh_plane)(long count, long oh, long ow, const T *grad, const T *last, const T *from,
                              const long *at, long step, VEC *sums)
{
    long k = 0;
    for (; k + 9 <= count; k += 9)
        NAME(weigh)(9, oh, ow, grad, last, from, at + k, step, sums + k);
    for (; k + 3 <= count; k += 3)
        NAME(weigh)(3, oh, ow, grad, last, from, at + k, step, sums + k);
    for (; k < count; k++)
        NAME(weigh)(1, oh, ow, grad, last, from, at + k, step, sums + k);
}

/* Of the groups from `begin` to `end`: over all images. */
static int NAME(depthwise_weight)(const conv_t *p, const T *grad, const T *x, T *out, long begin, long end)
{
    const long og = p->oc / p->groups, size = p->d * p->h * p->w, area = p->oh * p->ow;
    NAME(planes) s;
    if (NAME(lay_out)(p, &s))
        return -1;
    const T *last = grad + p->n * p->oc * p->od * area;
    VEC *sums = malloc((size_t)(og * s.taps) * sizeof(VEC));
    for (long g = begin; g < (sums ? end : begin); g++) {
        memset(sums, 0, (size_t)(og * s.taps) * sizeof(VEC));
        for (long n = 0; n < p->n; n++) {
            const long u = n * p->groups + g;
            const T *from = NAME(laid_out)(p, &s, x + u * size, (p->n * p->c - u - 1) * size < LANES);
            for (long o = 0; o < og; o++)
                for (long z = 0; z < p->od; z++)
                    NAME(weigh_plane)(s.taps, p->oh, p->ow, grad + ((u * og + o) * p->od + z) * area,
                                      last, from + z * p->sd * s.slice, s.at, p->sh * s.pitch,
                                      sums + o * s.taps);
        }
        for (long k = 0; k < og * s.taps; k++) {
            const T *parts = (const T *)(sums + k);
            T total = 0;
            for (int i = 0; i < LANES; i++)
                total += parts[i];
            out[g * og * s.taps + k] = total;
        }
    }
    free(s.at);
    if (!sums)
        return -1;
    free(sums);
    return 0;
}
