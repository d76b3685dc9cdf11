/* Forward for groups of one input channel: sums over the taps of a plane, with nothing unfolded.

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
            T part[LANES];
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

/* Every `step`th of n elements. */
INLINE void NAME(every)(const long step, long n, const T *from, T *to)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i * step];
}

/* The padded copy: a channel into a zeroed buffer, rows of `sw` phases, each `phase` long. */
static void NAME(to_phases)(const conv_t *p, const T *x, long phase, T *to)
{
    const long dp = p->d + p->front + p->back, hp = p->h + p->top + p->bottom, sw = p->sw;
    const long first = p->left < 0 ? 0 : p->left; /* columns of the copy that x fills */
    const long last = p->right < 0 ? p->left + p->w + p->right : p->left + p->w;
    for (long zy = 0; zy < p->d * p->h; zy++) {
        const long slice = zy / p->h + p->front, row = zy % p->h + p->top;
        if (slice < 0 || slice >= dp || row < 0 || row >= hp)
            continue;
        for (long f = 0; f < sw; f++) {
            const long q = (first - f + sw - 1) / sw, n = (last - f + sw - 1) / sw - q;
            const T *from = x + zy * p->w + q * sw + f - p->left;
            T *line = to + ((slice * hp + row) * sw + f) * phase + q;
            if (sw == 1)
                NAME(every)(1, n, from, line);
            else if (sw == 2)
                NAME(every)(2, n, from, line);
            else
                NAME(every)(sw, n, from, line);
        }
    }
}

/* Channels `begin` to `end` of all images' channels. */
static int NAME(depthwise)(const conv_t *p, const T *x, const T *w, const T *b, T *out, long begin,
                           long end)
{
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long taps = p->kd * p->kh * p->kw, og = p->oc / p->groups;
    const long size = p->d * p->h * p->w, area = p->oh * p->ow;
    const long phase = (wp + p->sw - 1) / p->sw, pitch = p->sw * phase;
    const long copied = (p->d + p->front + p->back) * hp * pitch + LANES;
    const T *last = x + p->n * p->c * size;
    T *mem = calloc(1, (size_t)taps * sizeof(long) + (size_t)copied * sizeof(T));
    if (!mem)
        return -1;
    long *at = (long *)mem;
    T *copy = (T *)(at + taps);
    for (long k = 0; k < taps; k++) {
        const long kz = k / (p->kh * p->kw);
        const long row = k / p->kw % p->kh * p->dh, col = k % p->kw * p->dw;
        at[k] = (kz * p->dd * hp + row) * pitch + col % p->sw * phase + col / p->sw;
    }
    for (long u = begin; u < end; u++) {
        const T *from = x + u * size;
        if (p->sw > 1 || !is_unpadded(p) || (p->ow < LANES && last - from < size + LANES)) {
            NAME(to_phases)(p, from, phase, copy);
            from = copy;
        }
        for (long o = u % p->groups * og; o < (u % p->groups + 1) * og; o++)
            for (long z = 0; z < p->od; z++) {
                T *to = out + ((u / p->groups * p->oc + o) * p->od + z) * area;
                NAME(plane)(p->oh, p->ow, taps, w + o * taps, from + z * p->sd * hp * pitch, at,
                            p->sh * pitch, to, b ? b[o] : (T)0);
            }
    }
    free(mem);
    return 0;
}
