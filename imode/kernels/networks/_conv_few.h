/* The gradients of convolutions with many channels and few places, where to read and write the
   weight takes most of the time: it is met where it lies, and once. Included by _conv_tile.h, under
   the same names. */

/* Of some places of s's images, what each meets at the taps (rows of at) from `first` on: panels
   of `cols` columns in all. place: where the places are. */
static void NAME(unfold)(const NAME(dense_t) *s, const T *x, const long *place, long places,
                         long first, long cols, T *to)
{
    enum { SIDE = PANEL < 8 ? PANEL : 8 }; /* columns at once */
    const long *at = s->at + first;
    for (long j = 0; j < UP_TO(cols, PANEL); j += SIDE) {
        T *line = to + j / PANEL * PANEL * places + j % PANEL;
        for (long i = 0; i < places; i++, line += PANEL) {
            const T *from = x + place[i];
            if (j + SIDE <= cols)
                for (int q = 0; q < SIDE; q++)
                    line[q] = from[at[j + q]];
            else
                for (long q = 0; q < SIDE; q++) /* no chance numbers: subnormal ones are slow */
                    line[q] = j + q < cols ? from[at[j + q]] : (T)0;
        }
    }
}

/* Some panels for all rows: of a so many that they and their part of the result stay in a cache. */
static void NAME(unfolded_block)(long rows, long depth, long cols, const T *a, long lda,
                                 const T *b, T *out, long ldo, int add)
{
    const long block = 4 * ROWS;
    for (long i = 0; i < rows; i += block)
        for (long j = 0; j < cols; j += PANEL) {
            const long n = least(block, rows - i);
            if (cols - j >= PANEL)
                NAME(packed_strip)(n, depth, a + i * lda, lda, b + j * depth, out + i * ldo + j,
                                   ldo, NULL, add);
            else
                NAME(part_of_strip)(cols - j, n, depth, a + i * lda, lda, b + j * depth,
                                    out + i * ldo + j, ldo, NULL, add);
        }
}

/* Whether the weight's gradient is that of unfolded images: these are small beside the weight, or
   the columns for a line of the kernel fill no vectors. */
static int NAME(is_unfolded)(const conv_t *p)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups;
    return p->n * p->od * p->oh * p->ow <= 8 * og || (cg * p->kw < PANEL && og >= PANEL);
}

/* The weight's gradient as the product of grad and the unfolded images, which lies as the result
   does. A block of their columns stays in the second-level cache. */
static int NAME(unfolded_weight)(const conv_t *of, const T *grad, const T *x, T *out, long parts,
                                 long begin, long end)
{
    NAME(dense_t) dense = {.p = *of}, *s = &dense;
    if (NAME(prepare)(s))
        return -1;
    const conv_t *p = &s->p;
    const long cg = p->c / p->groups, og = p->oc / p->groups, area = s->columns;
    const long places = s->images * area, most = least(places, DEEP), step = p->oc * p->od * area;
    const long width = least((1 + (1 << 16) / most / PANEL) * PANEL, UP_TO(s->depth, PANEL));
    T *mem = malloc((size_t)(width * most) * sizeof(T) + (size_t)places * sizeof(long));
    if (!mem) {
        free(s->at);
        return -1;
    }
    long *place = (long *)(mem + width * most);
    for (long i = 0; i < places; i++)
        place[i] = i / area * s->image + i % area / p->ow * s->width + i % p->ow;
    for (; begin < end; begin++) {
        const long g = begin / parts, o0 = UP_TO(og * (begin % parts) / parts, ROWS);
        const long o1 = least(UP_TO(og * (begin % parts + 1) / parts, ROWS), og);
        for (long n = 0; n < p->n; n += s->images) {
            const long images = least(s->images, p->n - n), all = images * area;
            const T *image = NULL;
            for (long i = images - 1; i >= 0; i--)
                image = NAME(laid)(s, x + ((n + i) * p->groups + g) * cg * p->d * p->h * p->w, i);
            for (long z = 0; z < p->od; z++) {
                const T *left = grad + ((n * p->groups + g) * og * p->od + z) * area;
                long lda = p->od * area;
                for (long o = o0; o < o1 && s->images > 1; o++)
                    for (long i = 0; i < images; i++)
                        memcpy(s->result + o * all + i * area, left + i * step + o * lda,
                               (size_t)area * sizeof(T));
                if (s->images > 1)
                    left = s->result, lda = all;
                for (long k = 0; k < all; k += most)
                    for (long j = 0; j < s->depth; j += width) {
                        const long cols = least(width, s->depth - j), deep = least(most, all - k);
                        NAME(unfold)(s, image + z * p->sd * s->slice, place + k, deep, j, cols,
                                     mem);
                        NAME(unfolded_block)(o1 - o0, deep, cols, left + o0 * lda + k, lda, mem,
                                             out + (g * og + o0) * s->depth + j, s->depth,
                                             n + z + k > 0);
                    }
            }
        }
    }
    free(mem);
    free(s->at);
    return 0;
}

/* Whether the gradient of the input reads the weight in its place: all images are side by side. */
static int NAME(reads_weight)(const conv_t *p, const conv_plan_t *plan)
{
    for (long i = 0; i < plan->parts; i++) {
        conv_t q = plan->part[i].q;
        q.n = p->n;
        if (p->c / p->groups < TURNED || is_depthwise(&q) || q.n * q.oh * q.ow > 256 ||
            (q.n > 1 && (!is_gathered(&q) || NAME(is_stacked)(&q))))
            return 0;
    }
    return 1;
}

APART static void NAME(met_half)(long rows, long depth, const T *a, long lda, const long *met,
                                 const T *b, T *out, long ldo)
{
    NAME(strip)(1, rows, depth, a, lda, met, b, NULL, LANES, out, ldo, NULL, 1);
}

/* As product, added to sums that have room for whole panels. */
static void NAME(met_product)(long rows, long cols, long depth, const T *a, long lda,
                              const long *met, const T *b, const long *at,
                              const NAME(lines_t) *lines, T *sums, long wide)
{
    T packed[DEEP * PANEL + LANES] ALIGNED;
    const long block = (1 << 17) / DEEP / ROWS * ROWS;
    for (long k = 0; k < depth; k += DEEP) {
        const long deep = least(DEEP, depth - k);
        for (long r = 0; r < rows; r += block)
            for (long j = 0; j < cols; j += PANEL) {
                const long n = least(block, rows - r);
                NAME(pack)(least(PANEL, cols - j), deep, b, at + k, lines, j, packed);
                if (cols - j <= LANES)
                    NAME(met_half)(n, deep, a + r * lda, lda, met + k, packed,
                                   sums + r * wide + j, wide);
                else
                    NAME(met_strip)(n, deep, a + r * lda, lda, met + k, packed,
                                    sums + r * wide + j, wide);
            }
    }
}

/* The results of a plan's parts, `apart` elements from each other, for some blocks of channels. */
static int NAME(grad_input)(const conv_t *p, const conv_plan_t *plan, const T *grad, const T *w,
                            T *out, long apart, long begin, long end)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups, all = p->kd * p->kh * p->kw;
    const long size = og * p->od * p->oh * p->ow;
    /* of several parts, so many blocks of the weight stay in the second-level cache */
    const long fit = plan->parts > 1 ? (1 << 18) / (og * all) / TURNED : blocks(p);
    const long turns = fit > 1 ? (blocks(p) + fit - 1) / fit : blocks(p);
    const long most = (blocks(p) + turns - 1) / turns;
    long wide = 0;
    for (long i = 0; i < plan->parts; i++) {
        const conv_t *q = &plan->part[i].q;
        const long columns = UP_TO(p->n * q->od * q->oh * q->ow, PANEL);
        wide = wide > columns ? wide : columns;
    }
    const size_t count = plan->parts > 1 ? (size_t)plan->parts : 1;
    NAME(dense_t) *parts = calloc(count, sizeof *parts);
    long *met = malloc((size_t)(og * all) * sizeof(long) +
                       (size_t)(most * TURNED * wide) * sizeof(T));
    T *sums = (T *)(met + og * all);
    int failed = !parts || !met;
    for (long i = 0; i < plan->parts && !failed; i++) {
        parts[i].p = plan->part[i].q, parts[i].p.n = p->n;
        failed = parts[i].p.kd * parts[i].p.kh * parts[i].p.kw > 0 && NAME(prepare)(parts + i);
    }
    const long *tap = plan->tap;
    for (long i = 0, k = 0; i < plan->parts && !failed; i++)
        for (long r = 0; r < plan->part[i].q.oc / p->c; r++, tap += parts[i].taps)
            for (long o = 0; o < og; o++)
                for (long t = 0; t < parts[i].taps; t++)
                    met[k++] = o * cg * all + tap[t];
    for (long u = begin, next; u < end && !failed; u = next) {
        const long g = u / blocks(p), c = u % blocks(p) * TURNED;
        next = least(u + most, least(end, (g + 1) * blocks(p)));
        const long rows = least((next - u) * TURNED, cg - c);
        const T *left = w + (g * og * cg + c) * all;
        const long *now = met;
        for (long i = 0; i < plan->parts; i++) {
            const conv_part_t *part = plan->part + i;
            NAME(dense_t) *s = parts + i;
            const long rests = part->q.oc / p->c, volume = part->q.od * part->q.oh * part->q.ow;
            const T *image = grad + g * size;
            for (long n = s->taps && (u == begin || !c) ? p->n - 1 : -1; n >= 0; n--)
                NAME(laid)(s, grad + (n * p->groups + g) * size, n);
            image = s->copied ? s->copy : image;
            for (long r = 0; r < rests; r++, now += s->depth) {
                T *to = out + i * apart + ((g * rests + r) * cg + c) * volume;
                for (long n = 0; n < p->n && !s->taps; n++)
                    memset(to + n * part->q.oc * volume, 0, (size_t)(rows * volume) * sizeof(T));
                for (long z = 0; z < s->p.od && s->taps; z++, to += s->columns) {
                    memset(sums, 0, (size_t)(rows * wide) * sizeof(T));
                    NAME(met_product)(rows, p->n * s->columns, s->depth, left, all, now,
                                      image + z * s->slice, s->at, s->copied ? &s->lines : NULL,
                                      sums, wide);
                    for (long o = 0; o < rows; o++)
                        for (long n = 0; n < p->n; n++)
                            memcpy(to + n * part->q.oc * volume + o * volume,
                                   sums + o * wide + n * s->columns,
                                   (size_t)s->columns * sizeof(T));
                }
            }
        }
    }
    for (long i = 0; i < plan->parts && parts; i++)
        free(parts[i].at);
    free(parts);
    free(met);
    return failed ? -1 : 0;
}
