/* Steps of recurrent layers for one element type and level. Gates lie in PyTorch's order: input,
   forget, cell, output; or reset, update, new. */

#include "_product_tile.h"

static long NAME(panel)(void)
{
    return PANEL;
}

static long NAME(packed_size)(long depth, long cols)
{
    return PACKED(depth, cols);
}

/* Of one row: some panels side by side, as the sums of one would wait for each other. */
#define BESIDE 4
static long NAME(row_product)(long cols, long depth, const T *a, const T *b, T *out, int add)
{
    long j = 0;
    for (; j + BESIDE * PANEL <= cols; j += BESIDE * PANEL, b += BESIDE * PANEL * depth) {
        VEC sum[BESIDE][2];
        UNROLL
        for (int p = 0; p < BESIDE; p++) {
            UNROLL
            for (int q = 0; q < 2; q++)
                sum[p][q] = add ? *(const VEC *)(out + j + p * PANEL + q * LANES) : (VEC){0};
        }
        for (long k = 0; k < depth; k++) {
            const T left = a[k];
            UNROLL
            for (int p = 0; p < BESIDE; p++) {
                UNROLL
                for (int q = 0; q < 2; q++)
                    sum[p][q] += left * *(const VEC *)(b + (p * depth + k) * PANEL + q * LANES);
            }
        }
        UNROLL
        for (int p = 0; p < BESIDE; p++) {
            UNROLL
            for (int q = 0; q < 2; q++)
                *(VEC *)(out + j + p * PANEL + q * LANES) = sum[p][q];
        }
    }
    return j;
}

static void NAME(state_product)(long rows, long cols, long depth, const T *a, const T *b, T *out,
                                long ldo, int add)
{
    const long done = rows == 1 ? NAME(row_product)(cols, depth, a, b, out, add) : 0;
    cols -= done, b += done * depth, out += done;
    NAME(packed)(rows, cols, depth, a, depth, 1, ROWS * depth, b, out, ldo, add);
}

/* Each takes n units of one row: in s the gates lie n elements apart, elsewhere w. */

static void NAME(rectified)(long n, const T *x, const T *s, const T *bias, T *out)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T v = x[j] + (s[j] + bias[j]);
        out[j] = v < 0 ? (T)0 : v;
    }
}

static void NAME(tangent)(long n, const T *x, const T *s, const T *bias, T *out)
{
    V_IVDEP
    for (long j = 0; j < n; j++)
        out[j] = TANH(x[j] + (s[j] + bias[j]));
}

static void NAME(lstm)(long n, long w, const T *x, const T *s, const T *bias, T *c, T *out, T *g,
                       T *cells)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T i = SIGMOID(x[j] + s[j] + bias[j]);
        const T f = SIGMOID(x[w + j] + s[n + j] + bias[w + j]);
        const T t = TANH(x[2 * w + j] + s[2 * n + j] + bias[2 * w + j]);
        const T o = SIGMOID(x[3 * w + j] + s[3 * n + j] + bias[3 * w + j]);
        const T cell = f * c[j] + i * t;
        g[j] = i, g[w + j] = f, g[2 * w + j] = t, g[3 * w + j] = o;
        c[j] = cell, cells[j] = cell;
        out[j] = o * TANH(cell);
    }
}

static void NAME(gru)(long n, long w, const T *x, const T *s, const T *bias, const T *h, T *out,
                      T *g, T *inner)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T r = SIGMOID(x[j] + s[j] + bias[j]);
        const T z = SIGMOID(x[w + j] + s[n + j] + bias[w + j]);
        const T from = s[2 * n + j] + bias[2 * w + j];
        const T t = TANH(x[2 * w + j] + r * from);
        g[j] = r, g[w + j] = z, g[2 * w + j] = t, inner[j] = from;
        out[j] = (h[j] - t) * z + t;
    }
}

/* `gates` and `extra` move on by `keep` rows for each row: 0 where they are not kept. */
static void NAME(step)(int cell, long rows, long hidden, long first, long n, const T *x,
                       const T *s, const T *bias, const T *h, T *c, T *out, T *gates, T *extra,
                       int keep)
{
    const long w = hidden, count = cell == CELL_LSTM ? 4 : cell == CELL_GRU ? 3 : 1;
    for (long i = 0; i < rows; i++) {
        const long at = i * w + first, wide = i * count * w + first;
        T *g = gates + keep * i * count * w + first, *e = extra + keep * i * w + first;
        const T *part = s + i * count * n;
        if (cell == CELL_LSTM)
            NAME(lstm)(n, w, x + wide, part, bias + first, c + at, out + at, g, e);
        else if (cell == CELL_GRU)
            NAME(gru)(n, w, x + wide, part, bias + first, h + at, out + at, g, e);
        else if (cell == CELL_TANH)
            NAME(tangent)(n, x + wide, part, bias + first, out + at);
        else
            NAME(rectified)(n, x + wide, part, bias + first, out + at);
    }
}

static void NAME(lstm_back)(long n, long w, const T *g, const T *cells, const T *now, T *dh,
                            T *dc, T *dx)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T i = g[j], f = g[w + j], t = g[2 * w + j], o = g[3 * w + j];
        const T u = TANH(now[j]), d = dh[j];
        const T e = dc[j] + d * o * ((T)1 - u * u);
        dx[j] = e * t * i * ((T)1 - i);
        dx[w + j] = e * cells[j] * f * ((T)1 - f);
        dx[2 * w + j] = e * i * ((T)1 - t * t);
        dx[3 * w + j] = d * u * o * ((T)1 - o);
        dc[j] = e * f;
        dh[j] = 0;
    }
}

static void NAME(gru_back)(long n, long w, const T *g, const T *inner, const T *before, T *dh,
                           T *dx, T *ds)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T r = g[j], z = g[w + j], t = g[2 * w + j], d = dh[j];
        const T dt = d * ((T)1 - z) * ((T)1 - t * t);
        const T dr = dt * inner[j] * r * ((T)1 - r);
        const T dz = d * (before[j] - t) * z * ((T)1 - z);
        dx[j] = dr, dx[w + j] = dz, dx[2 * w + j] = dt;
        ds[j] = dr, ds[w + j] = dz, ds[2 * w + j] = dt * r;
        dh[j] = d * z;
    }
}

static void NAME(simple_back)(int cell, long n, const T *out, T *dh, T *dx)
{
    for (long j = 0; j < n; j++) {
        const T v = out[j];
        dx[j] = cell == CELL_RELU ? (v <= 0 ? (T)0 : dh[j]) : dh[j] * ((T)1 - v * v);
        dh[j] = 0;
    }
}

static void NAME(step_back)(int cell, long rows, long hidden, long first, long n, const T *grad,
                            const T *out, const T *before, const T *cells, const T *gates,
                            const T *extra, T *dh, T *dc, T *dx, T *ds)
{
    const long w = hidden, count = cell == CELL_LSTM ? 4 : cell == CELL_GRU ? 3 : 1;
    for (long i = 0; i < rows; i++) {
        const long at = i * w + first, wide = i * count * w + first;
        T *d = dh + at;
        if (grad)
            for (long j = 0; j < n; j++)
                d[j] += grad[at + j];
        if (cell == CELL_LSTM)
            NAME(lstm_back)(n, w, gates + wide, cells + at, extra + at, d, dc + at, dx + wide);
        else if (cell == CELL_GRU)
            NAME(gru_back)(n, w, gates + wide, extra + at, before + at, d, dx + wide, ds + wide);
        else
            NAME(simple_back)(cell, n, out + at, d, dx + wide);
    }
}

#undef VEC
#undef BESIDE
#undef PANEL
#undef PACKED
#undef DEEP
