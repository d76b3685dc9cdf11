/* Of the gradient of the input, for one element type: see _conv.h. */

/* The weight's taps go where the parts of a plan want them, of some blocks of channels. */
static void NAME(turn)(const conv_t *p, const conv_plan_t *plan, const T *w, T *turned, long begin,
                       long end)
{
    const long cg = p->c / p->groups, og = p->oc / p->groups, all = p->kd * p->kh * p->kw;
    for (long u = begin; u < end; u++) {
        const long g = u / blocks(p), first = u % blocks(p) * TURNED;
        const long last = least(first + TURNED, cg);
        for (long c = first; c < last; c++) {
            const long *tap = plan->tap;
            for (const conv_part_t *part = plan->part; part < plan->part + plan->parts; part++) {
                const long taps = part->q.kd * part->q.kh * part->q.kw;
                const long rests = part->rests[0] * part->rests[1] * part->rests[2];
                for (long r = 0; r < rests; r++, tap += taps) {
                    const T *from = w + (g * og * cg + c) * all;
                    T *to = turned + part->weight + ((g * rests + r) * cg + c) * og * taps;
                    for (long o = 0; o < og; o++, from += cg * all)
                        for (long t = 0; t < taps; t++)
                            *to++ = from[tap[t]];
                }
            }
        }
    }
}

/* A line from those of its rests, `apart` from each other. */
static void NAME(place_line)(const T *from, long apart, long rests, long stride, long n, T *to)
{
    if (stride == 2 && rests == 2) {
        const T *odd = from + apart;
        for (long i = 0; i < n / 2; i++)
            to[2 * i] = from[i], to[2 * i + 1] = odd[i];
        if (n % 2)
            to[n - 1] = from[n / 2];
        return;
    }
    for (long r = 0; r < rests; r++, from += apart) {
        const T *next = from;
        for (long i = r; i < n; i += stride)
            to[i] = *next++;
    }
}

static void NAME(place)(const conv_t *p, const conv_plan_t *plan, const conv_part_t *part,
                        const T *result, long apart, T *out, long begin, long end)
{
    const conv_t *q = &part->q;
    const long cg = p->c / p->groups, size = q->oh * q->ow, volume = q->od * size;
    const long nz = part->rests[0], ny = part->rests[1], merged = part->rests[2];
    const long nx = merged > 1 ? merged : plan->across, step = merged > 1 ? cg * volume : apart;
    for (long u = begin; u < end; u++)
        for (long r = 0; r < nz * ny; r++) {
            const T *slice = result + ((u / cg * nz * ny + r) * merged * cg + u % cg) * volume;
            long z = part->first[0] + r / ny;
            for (; z < p->d; z += part->stride[0], slice += size) {
                const T *from = slice;
                long y = part->first[1] + r % ny;
                for (; y < p->h; y += part->stride[1], from += q->ow)
                    NAME(place_line)(from, step, nx, part->stride[2], p->w,
                                     out + ((u * p->d + z) * p->h + y) * p->w);
            }
        }
}
