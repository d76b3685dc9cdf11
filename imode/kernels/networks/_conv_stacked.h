/* Small images with padding, LANES of them at once: a vector holds one place of each, so what a place
   meets of the padding is known before and left out. Of 3×3 images with a border of one that is two
   fifths of the work, of 6×6 a fifth. Included by _conv_tile.h, under the same names. */

#define TAPS 64 /* most of a kernel */

/* Two places of the output, and the taps of the kernel that meet something at the one or the other. */
typedef struct {
    int place[2], taps; /* place: -1, none */
    int tap[TAPS];
    int from[TAPS][2]; /* the place of the input, -1: padding */
} NAME(pair_t);

static int NAME(is_stacked)(const conv_t *p)
{
    return LANES > 1 && is_gathered(p) && !is_unpadded(p) && p->n % LANES == 0 && p->kd == 1 &&
           p->d == 1 && p->od == 1 && !p->front && p->kh * p->kw <= TAPS;
}

/* Where a tap of a place of the output is in the input, or -1. */
static int NAME(met_at)(const conv_t *p, int place, int tap)
{
    const long y = place / p->ow * p->sh + tap / p->kw * p->dh - p->top;
    const long x = place % p->ow * p->sw + tap % p->kw * p->dw - p->left;
    return place < 0 || y < 0 || y >= p->h || x < 0 || x >= p->w ? -1 : (int)(y * p->w + x);
}

/* Pair each place with the one that meets the fewest taps together with it; return how many pairs. */
static int NAME(paired)(const conv_t *p, NAME(pair_t) *pairs)
{
    const int places = (int)(p->oh * p->ow), taps = (int)(p->kh * p->kw);
    unsigned long long meets[SMALL];
    int paired[SMALL] = {0}, n = 0;
    for (int i = 0; i < places; i++) {
        meets[i] = 0;
        for (int t = 0; t < taps; t++)
            meets[i] |= (unsigned long long)(NAME(met_at)(p, i, t) >= 0) << t;
    }
    for (int i = 0; i < places; i++) {
        NAME(pair_t) *pair = pairs + n;
        int other = -1, least = taps + 1;
        if (paired[i])
            continue;
        for (int j = i + 1; j < places; j++) {
            const int together = paired[j] ? taps + 1 : __builtin_popcountll(meets[i] | meets[j]);
            if (together < least)
                least = together, other = j;
        }
        if (other >= 0)
            paired[other] = 1;
        pair->place[0] = i, pair->place[1] = other, pair->taps = 0;
        for (int t = 0; t < taps; t++) {
            const int one = NAME(met_at)(p, i, t), two = NAME(met_at)(p, other, t);
            if (one < 0 && two < 0)
                continue;
            pair->tap[pair->taps] = t;
            pair->from[pair->taps][0] = one, pair->from[pair->taps++][1] = two;
        }
        n++;
    }
    return n;
}

/* Copy what a pair meets of some channels to a panel; return its rows. met: their columns of the weight. */
static long NAME(pack_pair)(const NAME(pair_t) *pair, const T *images, long channels, long size,
                            long taps, T *to, long *met)
{
    const VEC nothing = {0};
    long k = 0;
    for (long c = 0; c < channels; c++, images += size * LANES)
        for (int t = 0; t < pair->taps; t++, k++) {
            met[k] = c * taps + pair->tap[t];
            for (int j = 0; j < 2; j++) {
                const int from = pair->from[t][j];
                ((VEC *)(to + k * PANEL))[j] =
                    from < 0 ? nothing : *(const VEC *)(images + from * LANES);
            }
        }
    return k;
}

APART static void NAME(met_strip)(long rows, long depth, const T *a, long lda, const long *met,
                                  const T *b, T *out, long ldo)
{
    NAME(strip)(2, rows, depth, a, lda, met, b, NULL, LANES, out, ldo, NULL, 1);
}

/* Images side by side, their places apart: to[e][i] = x[i][e], blocks of both in the cache at once. */
static void NAME(stack)(const T *x, long step, long n, T *to)
{
    for (long e0 = 0; e0 < n; e0 += LANES)
        for (int i = 0; i < LANES; i++)
            for (long e = e0; e < n && e < e0 + LANES; e++)
                to[e * LANES + i] = x[i * step + e];
}

/* Parts `begin` to `end` of all groups' output channels, each group's in `parts`. */
static int NAME(stacked)(const conv_t *p, const T *x, const T *w, const T *b, T *out, long parts,
                         long begin, long end)
{
    T packed[DEEP * PANEL] ALIGNED;
    long met[DEEP];
    const long cg = p->c / p->groups, og = p->oc / p->groups, size = p->h * p->w, area = p->oh * p->ow;
    const long taps = p->kh * p->kw, depth = cg * taps, turns = (cg + DEEP / taps - 1) / (DEEP / taps);
    NAME(pair_t) pairs[SMALL];
    const int n = NAME(paired)(p, pairs);
    const long wide = n * PANEL;
    T *images = malloc((size_t)(cg * size * LANES + og * wide) * sizeof(T));
    T *sums = images + cg * size * LANES;
    if (!images)
        return -1;
    for (long u = begin; u < end; u++) {
        const long g = u / parts, o0 = UP_TO(og * (u % parts) / parts, ROWS);
        const long to = u % parts == parts - 1 ? og : UP_TO(og * (u % parts + 1) / parts, ROWS);
        const long rows = (to < og ? to : og) - o0;
        const T *weight = w + (g * og + o0) * depth;
        for (long first = 0; first < p->n && rows > 0; first += LANES) {
            NAME(stack)(x + (first * p->c + g * cg) * size, p->c * size, cg * size, images);
            for (long o = 0; o < rows; o++)
                for (long j = 0; j < wide; j++)
                    sums[o * wide + j] = b ? b[g * og + o0 + o] : (T)0;
            for (long t = 0; t < turns; t++) {
                const long c0 = cg * t / turns, c1 = cg * (t + 1) / turns;
                /* so many rows of the weight stay in the second-level cache */
                const long fit = (1 << 19) / (long)sizeof(T) / ((c1 - c0) * taps + 1) / ROWS * ROWS;
                const long block = fit < ROWS ? ROWS : fit;
                for (long r = 0; r < rows; r += block)
                    for (int q = 0; q < n; q++) {
                        const long k = NAME(pack_pair)(pairs + q, images + c0 * size * LANES,
                                                       c1 - c0, size, taps, packed, met);
                        NAME(met_strip)(rows - r < block ? rows - r : block, k,
                                        weight + r * depth + c0 * taps, depth, met, packed,
                                        sums + r * wide + q * PANEL, wide);
                    }
            }
            for (long o = 0; o < rows; o++)
                for (int q = 0; q < n; q++)
                    for (int j = 0; j < 2 && pairs[q].place[j] >= 0; j++)
                        for (int i = 0; i < LANES; i++)
                            out[((first + i) * p->oc + g * og + o0 + o) * area + pairs[q].place[j]] =
                                sums[o * wide + q * PANEL + j * LANES + i];
        }
    }
    free(images);
    return 0;
}

#undef TAPS
