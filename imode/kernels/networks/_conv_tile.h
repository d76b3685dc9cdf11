/* The convolution kernels for one element type and one instruction set.

   No include guard: _conv.c includes this once per combination, after defining
     T       element type            LANES   elements of a vector (1: no vectors)
     ROWS    rows of a register tile NAME(x) x with a suffix for the combination

   Everything but groups of one input channel (_conv_depthwise.h) rests on one matrix product whose
   right-hand rows may start anywhere (_conv_product.h). Row k = (channel, ky, kx) of an unfolded
   image is the padded image itself from an offset on, so nothing is unfolded. With strides that
   holds of each phase, an image of the elements whose rows and columns leave the same rests. The
   columns of the product are the lines of the output; of small images, those of several, or
   (_conv_stacked.h) vectors of one place of each. Gradients with few places beside their channels
   have loops of their own (_conv_few.h). Volumes are worked on slice by slice of the output, the
   rows (channel, kz, ky, kx) starting in the slices of the input that they need. */

#include "_conv_product.h"
#include "_conv_depthwise.h"
#include "_conv_stacked.h"

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

/* Whether a tap of a kernel's side begins at this phase of the stride. */
static int NAME(is_met)(long phase, long taps, long dilation, long stride)
{
    for (long k = 0; k < taps; k++)
        if (k * dilation % stride == phase)
            return 1;
    return 0;
}

/* How many phases of a stride the taps of a kernel's side can meet. */
static long NAME(phases)(long taps, long dilation, long stride)
{
    return (taps - 1) * dilation + 1 < stride ? (taps - 1) * dilation + 1 : stride;
}

/* The first number from `least` on that leaves `phase` when divided by `stride`. */
static long NAME(first_in)(long phase, long stride, long least)
{
    return least + (phase + stride - least % stride) % stride;
}

/* Copy channels of (depth, height, width) into zeroed images of `rows` and `columns`, one for each
   phase of the strides: element (y, x) of the padded image goes to (y / sh, x / sw) of phase
   (y % sh, x % sw), unless nothing meets that. */
static void NAME(split)(const conv_t *p, const T *x, long channels, long rows, long columns, T *to)
{
    const long dp = p->d + p->front + p->back;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    const long low = p->h + p->top < hp ? p->h + p->top : hp;
    const long right = p->w + p->left < wp ? p->w + p->left : wp, area = rows * columns;
    const long across = NAME(phases)(p->kw, p->dw, p->sw);
    const long all = NAME(phases)(p->kh, p->dh, p->sh) * across;
    const int pair = p->sw == 2 && across == 2 && p->dw % 2; /* both phases of a row at once */
    const long first = p->left < 0 ? 0 : p->left;
    for (long phase = 0; phase < all; phase += pair ? 2 : 1) {
        const long dy = phase / across, dx = phase % across;
        const long y0 = NAME(first_in)(dy, p->sh, p->top < 0 ? 0 : p->top);
        const long x0 = NAME(first_in)(dx, p->sw, first), n = (right - x0 + p->sw - 1) / p->sw;
        if (!NAME(is_met)(dy, p->kh, p->dh, p->sh) || !NAME(is_met)(dx, p->kw, p->dw, p->sw))
            continue;
        for (long slice = 0; slice < channels * p->d; slice++) {
            const long c = slice / p->d, z = slice % p->d + p->front;
            const T *from = x + (slice * p->h + y0 - p->top) * p->w - p->left;
            T *line = to + ((c * dp + z) * all + phase) * area + y0 / p->sh * columns;
            if (z < 0 || z >= dp)
                continue;
            for (long y = y0; y < low; y += p->sh, from += p->sh * p->w, line += columns)
                if (pair && first < right)
                    NAME(to_two)(first, right, from + first, line, line + area);
                else
                    for (long i = 0; i < n; i++)
                        line[x0 / p->sw + i] = from[x0 + i * p->sw];
        }
    }
}

/* What a call of forward works with: images or copies of them, `images` side by side. */
typedef struct {
    conv_t p;
    long images, columns; /* of a slice of the output, of one image */
    long depth, taps;
    long height, width, slice, image; /* of an image, or of each phase; of all phases' slice */
    int split, copied, pointwise, forward, few, pitched;
    long across; /* columns of the product: as many as a slice has, or, pitched, up to its last, */
    long at_once; /* and of these, how many before the lines are closed up */
    const T *w, *b;
    long *at;
    T *copy, *result;
    NAME(lines_t) lines;
} NAME(dense_t);

/* Fill in s, and allocate its buffers. Few rows meet each panel: where the lines of the output are
   little shorter than those of the images, it takes less to compute what is between them, too, than
   to lay the panel out (`pitched`). */
APART static int NAME(prepare)(NAME(dense_t) *s)
{
    conv_t *p = &s->p;
    s->images = is_gathered(p) ? gathered_images(p) : 1;
    s->taps = p->kd * p->kh * p->kw;
    s->depth = p->c / p->groups * s->taps;
    s->split = p->sh > 1 || p->sw > 1;
    s->pointwise = s->taps == 1 && p->sd == 1 && !s->split && is_unpadded(p) && s->images == 1;
    if (s->pointwise) { /* a slice of one row */
        p->w *= p->d * p->h, p->ow *= p->od * p->oh;
        p->d = p->h = p->od = p->oh = 1;
    }
    const long dp = p->d + p->front + p->back, og = p->oc / p->groups;
    const long hp = p->h + p->top + p->bottom, wp = p->w + p->left + p->right;
    s->columns = p->oh * p->ow;
    p->sh = p->sh < hp ? p->sh : hp, p->sw = p->sw < wp ? p->sw : wp; /* no longer steps fit */
    s->height = (hp + p->sh - 1) / p->sh, s->width = (wp + p->sw - 1) / p->sw;
    const int apart = s->width != p->ow && p->oh > 1;
    s->few = og <= FEW_ROWS && s->taps > 1 && p->ow >= LANES;
    const int direct = p->ow % LANES == 0 && og <= UNPACKED; /* no panel is laid out */
    s->pitched = s->forward && apart && !s->few && s->images == 1 && og <= 4 * ROWS &&
                 8 * p->ow >= 7 * s->width && !direct;
    s->across = s->pitched ? (p->oh - 1) * s->width + p->ow : s->columns;
    s->copied = s->split || !is_unpadded(p) || (apart && !s->pitched) || s->images > 1;
    const long area = s->height * s->width, across = NAME(phases)(p->kw, p->dw, p->sw);
    s->slice = NAME(phases)(p->kh, p->dh, p->sh) * across * area;
    s->image = p->c / p->groups * dp * s->slice;
    s->lines = (NAME(lines_t)){p->ow, p->oh, s->width, s->image};
    const long copied = s->copied ? s->images * s->image + LANES : 0;
    s->at_once = least(s->across, UP_TO((1 << 16) / (og + 1), PANEL) + PANEL);
    const long results = s->images > 1 ? og * s->images * s->columns :
                         s->pitched ? og * s->at_once : 0;
    s->at = malloc((size_t)s->depth * sizeof(long) + (size_t)(copied + results) * sizeof(T) + 1);
    if (!s->at)
        return -1;
    s->copy = (T *)(s->at + s->depth), s->result = s->copy + copied;
    memset(s->copy, 0, (size_t)copied * sizeof(T));
    for (long k = 0; k < s->taps; k++) {
        const long z = k / (p->kh * p->kw) * p->dd, y = k / p->kw % p->kh * p->dh;
        const long x = k % p->kw * p->dw, phase = y % p->sh * across + x % p->sw;
        s->at[k] = z * s->slice + phase * area + y / p->sh * s->width + x / p->sw;
    }
    for (long k = s->taps; k < s->depth; k++)
        s->at[k] = s->at[k - s->taps] + dp * s->slice;
    return 0;
}

/* The i-th of the images beside each other as the product takes it. */
static const T *NAME(laid)(const NAME(dense_t) *s, const T *x, long i)
{
    T *copy = s->copy + i * s->image;
    if (!s->copied)
        return x;
    if (s->split)
        NAME(split)(&s->p, x, s->p.c / s->p.groups, s->height, s->width, copy);
    else
        NAME(pad)(&s->p, x, s->p.c / s->p.groups, 0, copy);
    return copy;
}

/* From some elements, from `first` up to `last`, of lines that are `pitch` apart: the `n` of each line
   to where they lie one behind the other. */
static void NAME(close_up)(const T *from, long first, long last, long pitch, long n, T *to)
{
    for (long y = first / pitch; y * pitch < last; y++) {
        const long begin = y * pitch < first ? first - y * pitch : 0;
        const long end = least(n, last - y * pitch);
        for (long i = begin; i < end; i++)
            to[y * n + i] = from[y * pitch + i - first];
    }
}

/* Parts `begin` to `end` of all groups' outputs, each of `parts` parts: of its columns, if there
   are many, or of its channels. */
static int NAME(dense)(NAME(dense_t) *s, const T *x, T *out, long parts, long begin, long end)
{
    const conv_t *p = &s->p;
    const long cg = p->c / p->groups, og = p->oc / p->groups, size = p->d * p->h * p->w;
    const long panels = (s->across + PANEL - 1) / PANEL, ldo = p->od * s->columns;
    const int few = s->few, pitched = s->pitched;
    const int by_column = panels >= 6 * parts;
    while (begin < end) {
        const long u = begin / parts, first = begin % parts, g = u % p->groups;
        const long last = parts < first + end - begin ? parts : first + end - begin;
        const T *image = NAME(laid)(s, x + u * cg * size, 0);
        const long j0 = by_column ? panels * first / parts * PANEL : 0;
        const long j1 = by_column && last < parts ? panels * last / parts * PANEL : s->across;
        const long o0 = by_column ? 0 : UP_TO(og * first / parts, ROWS);
        const long o1 = by_column || last == parts ? og : UP_TO(og * last / parts, ROWS);
        const long y0 = p->oh * first / parts, y1 = p->oh * last / parts;
        for (long i = 0; few && i < og * p->od; i++)
            NAME(plane)(y1 - y0, p->ow, s->depth, s->w + (g * og + i / p->od) * s->depth,
                        image + i % p->od * p->sd * s->slice + y0 * s->width, s->at, s->width,
                        out + (u * og + i / p->od) * ldo + i % p->od * s->columns + y0 * p->ow,
                        s->b ? s->b[g * og + i / p->od] : (T)0);
        const long rows = (o1 < og ? o1 : og) - o0;
        const long step = pitched ? s->at_once : j1 - j0, ld = pitched ? step : ldo;
        const NAME(lines_t) *lines = s->copied && s->width != p->ow && p->oh > 1 ? &s->lines : NULL;
        for (long z = 0; z < p->od && rows > 0 && !few; z++) {
            T *to = out + (u * og + o0) * ldo + z * s->columns;
            for (long j = j0, n; j < j1; j += n) {
                n = least(step, j1 - j);
                NAME(product)(rows, j, n, s->depth, s->w + (g * og + o0) * s->depth, s->depth,
                              image + z * p->sd * s->slice, s->at, pitched ? NULL : lines,
                              pitched ? s->result : to + j, ld,
                              s->b ? s->b + g * og + o0 : NULL, 0, s->pointwise);
                for (long o = 0; o < rows && pitched; o++)
                    NAME(close_up)(s->result + o * ld, j, j + n, s->width, p->ow, to + o * ldo);
            }
        }
        begin += last - first;
    }
    return 0;
}

/* Small images: several of them side by side, so that the weight is read once for all. Parts
   `begin` to `end` of all groups' images, each of `parts` parts. */
static int NAME(gathered)(NAME(dense_t) *s, const T *x, T *out, long parts, long begin, long end)
{
    const conv_t *p = &s->p;
    const long cg = p->c / p->groups, og = p->oc / p->groups, area = s->columns;
    for (long u = begin; u < end; u++) {
        const long g = u / parts, last = p->n * (u % parts + 1) / parts;
        for (long first = p->n * (u % parts) / parts, next; first < last; first = next) {
            next = first + s->images < last ? first + s->images : last;
            const long cols = (next - first) * area;
            for (long i = first; i < next; i++)
                NAME(laid)(s, x + (i * p->groups + g) * cg * p->d * p->h * p->w, i - first);
            for (long z = 0; z < p->od; z++) {
                NAME(product)(og, 0, cols, s->depth, s->w + g * og * s->depth, s->depth,
                              s->copy + z * p->sd * s->slice, s->at, &s->lines, s->result, cols,
                              s->b ? s->b + g * og : NULL, 0, 0);
                for (long o = 0; o < og; o++)
                    for (long i = first; i < next; i++)
                        memcpy(out + ((i * p->oc + g * og + o) * p->od + z) * area,
                               s->result + o * cols + (i - first) * area, (size_t)area * sizeof(T));
            }
        }
    }
    return 0;
}

static int NAME(forward)(const conv_t *p, const void *x, const void *w, const void *b, void *out,
                         long parts, long begin, long end)
{
    NAME(dense_t) s = {.p = *p, .forward = 1, .w = w, .b = b};
    if (is_depthwise(p))
        return NAME(depthwise)(p, x, w, b, out, begin, end);
    if (NAME(is_stacked)(p))
        return NAME(stacked)(p, x, w, b, out, parts, begin, end);
    if (NAME(prepare)(&s))
        return -1;
    const int failed = is_gathered(p) ? NAME(gathered)(&s, x, out, parts, begin, end)
                                      : NAME(dense)(&s, x, out, parts, begin, end);
    free(s.at);
    return failed;
}

#include "_conv_few.h"

/* grad_weight[o, (kz, ky, kx, c)] sums, over positions s, grad[o, s] * padded[s at (kz, ky, kx),
   c]. With the channels last, the products for one kz and ky (and one kx, if dilated) are adjacent
   columns. Of the parts from `begin` to `end` of all groups' output channels, each group's in
   `parts`. */
static int NAME(grad_weight)(const conv_t *p, const void *grad_, const void *x_, void *out_,
                             long parts, long begin, long end)
{
    const T *grad = grad_, *x = x_;
    T *out = out_;
    if (is_depthwise(p))
        return NAME(depthwise_weight)(p, grad, x, out, begin, end);
    if (NAME(is_unfolded)(p))
        return NAME(unfolded_weight)(p, grad, x, out, parts, begin, end);
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
    T *padded = (T *)(at + images * area), *sums = padded + images * padsize;
    T *pack = sums + og * runs * wide;
    for (long i = 0; i < images * area; i++)
        at[i] = i / area * padsize + (i % area / p->ow * p->sh * wp + i % p->ow * p->sw) * cg;
    memset(padded, 0, (size_t)(images * padsize) * sizeof(T));

    while (begin < end) {
        const long g = begin / parts, first = begin % parts;
        const long last = parts < first + end - begin ? parts : first + end - begin;
        const long o0 = UP_TO(og * first / parts, ROWS);
        const long o1 = last == parts ? og : UP_TO(og * last / parts, ROWS);
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
                    NAME(product)(rows, 0, cols, depth, packed ? pack : from,
                                  packed ? depth : p->od * area,
                                  padded + (row * wp + kx * p->dw) * cg, at, NULL, sums + r * wide,
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
#undef UNPACKED
#undef TALL
#undef ROUND
