/* The convolution kernels for one element type and one instruction set.

   No include guard: _conv.c includes this once per combination, after defining
     T       element type            LANES   elements of a vector (1: no vectors)
     ROWS    rows of a register tile NAME(x) x with a suffix for the combination

   Everything but groups of one input channel (_conv_depthwise.h) rests on one matrix product whose
   right-hand rows may start anywhere (_conv_product.h). Small images are unfolded, several at
   once. Of others, with stride 1, row k = (channel, ky, kx) of the unfolded image is the padded
   image itself from an offset on, so nothing is unfolded; the columns that wrap
   around the end of an image row are computed and dropped. Volumes are worked on slice by slice of
   the output, the rows (channel, kz, ky, kx) starting in the slices of the input that they need. */

#include "_conv_product.h"
#include "_conv_depthwise.h"

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

/* Rows (channel, kz, ky, kx) of the unfolded padded input for some lines of a slice of the output,
   each `pitch` long; `image` begins at the first line that it needs. */
static void NAME(unfold)(const conv_t *p, const T *image, long channels, long lines, T *to,
                         long pitch)
{
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    for (long c = 0; c < channels; c++)
        for (long kz = 0; kz < p->kd; kz++)
            for (long ky = 0; ky < p->kh; ky++)
                for (long kx = 0; kx < p->kw; kx++, to += pitch)
                    for (long y = 0; y < lines; y++) {
                        const long row = (c * dp + kz * p->dd) * hp + y * p->sh + ky * p->dh;
                        const T *from = image + row * wp + kx * p->dw;
                        T *line = to + y * p->ow;
                        for (long i = 0; i < p->ow; i++)
                            line[i] = from[i * p->sw];
                    }
}

/* What a call of forward works with: see dense. */
typedef struct {
    conv_t p;
    long lines, pitch; /* of the output's slices, as the product sees them */
    long depth, taps, block;
    int flat, padded, pointwise, direct;
    const T *w, *b;
    long *at;
    T *copy, *rows, *result;
} NAME(dense_t);

/* Lines y0 to y1 and channels o0 to o1 of a slice of a group g's output, from an image that begins
   at the first slice that it needs. */
static void NAME(slice)(const NAME(dense_t) *s, const T *image, long g, long y0, long y1, long o0,
                        long o1, T *out)
{
    const conv_t *p = &s->p;
    const long og = p->oc / p->groups, all = p->oh * p->ow, ldo = p->od * all;
    const T *bias = s->b ? s->b + g * og + o0 : NULL, *w = s->w + (g * og + o0) * s->depth;
    out += o0 * ldo;
    for (long y = y0; y < y1; y += s->block) {
        const long n = y1 - y < s->block ? y1 - y : s->block, first = y * s->pitch;
        const T *from = image + first;
        long cols = n * s->pitch;
        if (s->direct)
            cols = all - first < cols ? all - first : cols;
        else
            cols -= s->pitch - p->ow;
        if (!s->flat) {
            NAME(unfold)(p, image + y * p->sh * (p->w + p->left + p->right),
                         p->c / p->groups, n, s->rows, s->block * p->ow);
            from = s->rows;
        }
        if (s->direct) {
            NAME(product)(o1 - o0, cols, s->depth, w, s->depth, from, s->at, out + first, ldo,
                          bias, 0, s->pointwise);
            continue;
        }
        NAME(product)(o1 - o0, cols, s->depth, w, s->depth, from, s->at, s->result, cols, bias, 0,
                      0);
        for (long o = 0; o < o1 - o0; o++)
            for (long i = 0; i < n; i++)
                memcpy(out + o * ldo + (y + i) * p->ow, s->result + o * cols + i * s->pitch,
                       (size_t)p->ow * sizeof(T));
    }
}

/* Fill in s, and allocate its buffers. */
static int NAME(prepare)(NAME(dense_t) *s)
{
    conv_t *p = &s->p;
    s->taps = p->kd * p->kh * p->kw;
    s->depth = p->c / p->groups * s->taps;
    s->padded = !is_unpadded(p);
    s->flat = p->sh == 1 && p->sw == 1;
    s->pointwise = s->taps == 1 && s->flat && p->sd == 1 && !s->padded;
    s->lines = p->oh;
    if (s->pointwise) { /* a slice of one row, in lines of a panel each */
        p->w *= p->d * p->h, p->ow *= p->od * p->oh;
        p->d = p->h = p->od = p->oh = 1;
        s->lines = (p->ow + PANEL - 1) / PANEL;
    }
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long og = p->oc / p->groups;
    s->pitch = s->pointwise ? PANEL : s->flat ? wp : p->ow;
    s->direct = s->pointwise || s->pitch == p->ow;
    const long line = (s->flat ? 0 : s->depth * p->ow) + (s->direct ? 0 : og * s->pitch);
    const long fit = line ? (1 << 18) / (long)sizeof(T) / line : s->lines;
    s->block = fit < 1 ? 1 : fit < s->lines ? fit : s->lines;
    const long copied = s->padded ? p->c / p->groups * dp * hp * wp : 0;
    const long unfolded = s->flat ? 0 : s->depth * s->block * p->ow;
    const long results = s->direct ? 0 : og * s->block * s->pitch;
    s->at = malloc((size_t)s->depth * sizeof(long) +
                   (size_t)(copied + unfolded + results) * sizeof(T) + 1);
    if (!s->at)
        return -1;
    s->copy = (T *)(s->at + s->depth), s->rows = s->copy + copied;
    s->result = s->rows + unfolded;
    memset(s->copy, 0, (size_t)copied * sizeof(T));
    for (long k = 0; k < s->depth; k++) {
        const long kz = k / (p->kh * p->kw) % p->kd, ky = k / p->kw % p->kh, kx = k % p->kw;
        s->at[k] = s->flat ? ((k / s->taps * dp + kz * p->dd) * hp + ky * p->dh) * wp + kx * p->dw
                           : k * s->block * p->ow;
    }
    return 0;
}

/* Parts `begin` to `end` of all groups' outputs, each of `parts` parts: of its lines, if there are
   many, or of its channels. */
static int NAME(dense)(const conv_t *q, const T *x, const T *w, const T *b, T *out, long parts,
                       long begin, long end)
{
    NAME(dense_t) s = {.p = *q, .w = w, .b = b};
    if (NAME(prepare)(&s))
        return -1;
    const conv_t *p = &s.p;
    const long cg = p->c / p->groups, og = p->oc / p->groups, size = p->d * p->h * p->w;
    const long slice = p->sd * (p->h + p->top + p->bottom) * (p->w + p->left + p->right);
    const int by_line = s.lines >= 6 * parts;
    while (begin < end) {
        const long u = begin / parts, first = begin % parts;
        const long last = parts < first + end - begin ? parts : first + end - begin;
        const T *image = x + u * cg * size;
        T *to = out + u * og * p->od * p->oh * p->ow;
        const long y0 = by_line ? s.lines * first / parts : 0;
        const long y1 = by_line ? s.lines * last / parts : s.lines;
        const long o0 = by_line ? 0 : UP_TO(og * first / parts, ROWS);
        const long o1 = by_line || last == parts ? og : UP_TO(og * last / parts, ROWS);
        if (s.padded) {
            NAME(pad)(p, image, cg, 0, s.copy);
            image = s.copy;
        }
        for (long z = 0; z < p->od; z++)
            NAME(slice)(&s, image + z * slice, u % p->groups, y0, y1, o0 < og ? o0 : og,
                        o1 < og ? o1 : og, to + z * p->oh * p->ow);
        begin += last - first;
    }
    free(s.at);
    return 0;
}

/* Small images: several of them are unfolded side by side, so that the weight is read once for all. Parts
   `begin` to `end` of all groups' images, each of `parts` parts. */
static int NAME(gathered)(const conv_t *p, const T *x, const T *w, const T *b, T *out, long parts,
                          long begin, long end)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups, area = p->oh * p->ow;
    const long depth = cg * p->kd * p->kh * p->kw, size = p->d * p->h * p->w;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long images = gathered_images(p), pitch = images * area;
    const long copied = is_unpadded(p) ? 0 : cg * (p->d + p->front + p->back) * hp * wp;
    long *at = malloc((size_t)depth * sizeof(long) +
                      (size_t)(copied + depth * pitch + og * pitch + PANEL) * sizeof(T));
    if (!at)
        return -1;
    T *copy = (T *)(at + depth), *rows = copy + copied, *result = rows + depth * pitch + PANEL;
    memset(copy, 0, (size_t)copied * sizeof(T));
    for (long k = 0; k < depth; k++)
        at[k] = k * pitch;
    for (long u = begin; u < end; u++) {
        const long g = u / parts, last = p->n * (u % parts + 1) / parts;
        for (long first = p->n * (u % parts) / parts, next; first < last; first = next) {
            next = first + images < last ? first + images : last;
            const long cols = (next - first) * area;
            for (long z = 0; z < p->od; z++) {
                for (long i = first; i < next; i++) {
                    const T *image = x + (i * p->groups + g) * cg * size;
                    if (copied) {
                        NAME(pad)(p, image, cg, 0, copy);
                        image = copy;
                    }
                    NAME(unfold)(p, image + z * p->sd * hp * wp, cg, p->oh, rows + (i - first) * area, pitch);
                }
                NAME(product)(og, cols, depth, w + g * og * depth, depth, rows, at, result, cols,
                              b ? b + g * og : NULL, 0, 0);
                for (long o = 0; o < og; o++)
                    for (long i = first; i < next; i++)
                        memcpy(out + ((i * p->oc + g * og + o) * p->od + z) * area,
                               result + o * cols + (i - first) * area, (size_t)area * sizeof(T));
            }
        }
    }
    free(at);
    return 0;
}

static int NAME(forward)(const conv_t *p, const void *x, const void *w, const void *b, void *out,
                         long parts, long begin, long end)
{
    if (is_depthwise(p))
        return NAME(depthwise)(p, x, w, b, out, begin, end);
    if (is_gathered(p))
        return NAME(gathered)(p, x, w, b, out, parts, begin, end);
    return NAME(dense)(p, x, w, b, out, parts, begin, end);
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

/* The gradient of the input: rows = weight' @ grad, and each row is added to where forward took it from. */
static int NAME(grad_input)(const conv_t *p, const void *grad_, const void *w_, void *out_)
{
    const T *grad = grad_, *w = w_;
    T *out = out_;
    if (p->c == p->groups && p->oc == p->c)
        return NAME(depthwise_input)(p, grad, w, out);
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
                NAME(product)(depth, cols, og, turned, og, from, at, rows, wide, NULL, 0, 0);
                NAME(fold)(p, rows, wide, z, cg, out + (n * p->groups + g) * cg * size);
            }
    }
    free(mem);
    return 0;
}

/* grad_weight[o, (kz, ky, kx, c)] sums, over positions s, grad[o, s] * padded[s at (kz, ky, kx), c].
   With the channels last, the products for one kz and ky (and one kx, if dilated) are adjacent
   columns. Of the parts from `begin` to `end` of all groups' output channels, each group's in `parts`. */
static int NAME(grad_weight)(const conv_t *p, const void *grad_, const void *x_, void *out_, long parts,
                             long begin, long end)
{
    const T *grad = grad_, *x = x_;
    T *out = out_;
    if (is_depthwise(p))
        return NAME(depthwise_weight)(p, grad, x, out, begin, end);
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long cg = p->c / p->groups, og = p->oc / p->groups, area = p->oh * p->ow;
    const int joined = p->dw == 1;
    const long cols = joined ? p->kw * cg : cg, runs = p->kd * p->kh * (joined ? 1 : p->kw);
    const long wide = ROUND(cols), padsize = dp * hp * wp * cg + 2 * LANES;
    const long images = is_gathered(p) ? gathered_images(p) : 1; /* at once */
    const long packed = images > 1 ? og * images * area : 0;

    T *mem = malloc((size_t)(images * padsize + og * runs * wide + packed) * sizeof(T) +
                    (size_t)(images * area) * sizeof(long));
    if (!mem)
        return -1;
    long *at = (long *)mem;
    T *padded = (T *)(at + images * area), *sums = padded + images * padsize, *pack = sums + og * runs * wide;
    for (long i = 0; i < images * area; i++)
        at[i] = i / area * padsize + (i % area / p->ow * p->sh * wp + i % p->ow * p->sw) * cg;
    memset(padded, 0, (size_t)(images * padsize) * sizeof(T));

    while (begin < end) {
        const long g = begin / parts, first = begin % parts;
        const long last = parts < first + end - begin ? parts : first + end - begin;
        const long o0 = UP_TO(og * first / parts, ROWS), o1 = last == parts ? og : UP_TO(og * last / parts, ROWS);
        const long rows = o1 < og ? o1 - o0 : og - o0;
        begin += last - first;
        if (rows <= 0)
            continue;
        memset(sums, 0, (size_t)(rows * runs * wide) * sizeof(T));
        for (long n = 0, next; n < p->n; n = next) {
            next = n + images < p->n ? n + images : p->n;
            const T *from = grad + ((n * p->groups + g) * og + o0) * p->od * area;
            for (long i = n; i < next; i++)
                NAME(pad)(p, x + (i * p->groups + g) * cg * p->d * p->h * p->w, cg, cg,
                          padded + (i - n) * padsize);
            for (long z = 0; z < p->od; z++, from += area) {
                const long depth = (next - n) * area, step = p->groups * og * p->od * area;
                for (long o = 0; o < (packed ? rows : 0); o++)
                    for (long i = 0; i < next - n; i++)
                        memcpy(pack + o * depth + i * area, from + i * step + o * p->od * area,
                               (size_t)area * sizeof(T));
                for (long r = 0; r < runs; r++) {
                    const long kx = joined ? 0 : r % p->kw, rest = joined ? r : r / p->kw;
                    const long kz = rest / p->kh, ky = rest % p->kh;
                    const long row = (z * p->sd + kz * p->dd) * hp + ky * p->dh;
                    NAME(product)(rows, cols, depth, packed ? pack : from,
                                  packed ? depth : p->od * area,
                                  padded + (row * wp + kx * p->dw) * cg, at, sums + r * wide,
                                  runs * wide, NULL, 1, 0);
                }
            }
        }
        T *to = out + (g * og + o0) * cg * p->kd * p->kh * p->kw;
        for (long o = 0; o < rows; o++)
            for (long c = 0; c < cg; c++)
                for (long k = 0; k < p->kd * p->kh; k++)
                    for (long kx = 0; kx < p->kw; kx++) {
                        const long r = joined ? k : k * p->kw + kx;
                        const long col = joined ? kx * cg + c : c;
                        *to++ = sums[(o * runs + r) * wide + col];
                    }
    }
    free(mem);
    return 0;
}

#undef VEC
#undef PANEL
#undef DEEP
#undef FEW
#undef TALL
#undef ROUND
