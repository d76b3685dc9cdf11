/* Steps of recurrent layers for one element type and level. Gates lie in PyTorch's order: input,
   forget, cell, output; or reset, update, new. */

#include "_product_tile.h"

#define SIGMOID(v) ((T)1 / ((T)1 + EXP(-(v))))

static long NAME(packed_size)(long depth, long cols)
{
    return PACKED(depth, cols);
}

static void NAME(state_product)(long rows, long cols, long depth, const T *a, const T *b, T *out,
                                int add)
{
    NAME(packed)(rows, cols, depth, a, depth, 1, b, out, cols, add);
}

static void NAME(rectified)(long n, const T *x, const T *s, const T *bias, T *h, T *out)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T v = x[j] + (s[j] + bias[j]);
        h[j] = out[j] = v < 0 ? (T)0 : v;
    }
}

static void NAME(tangent)(long n, const T *x, const T *s, const T *bias, T *h, T *out)
{
    V_IVDEP
    for (long j = 0; j < n; j++)
        h[j] = out[j] = TANH(x[j] + (s[j] + bias[j]));
}

static void NAME(lstm)(long n, const T *x, const T *s, const T *bias, T *h, T *c, T *out, T *g,
                       T *cells)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T i = SIGMOID(x[j] + s[j] + bias[j]);
        const T f = SIGMOID(x[n + j] + s[n + j] + bias[n + j]);
        const T t = TANH(x[2 * n + j] + s[2 * n + j] + bias[2 * n + j]);
        const T o = SIGMOID(x[3 * n + j] + s[3 * n + j] + bias[3 * n + j]);
        const T cell = f * c[j] + i * t;
        const T v = o * TANH(cell);
        g[j] = i, g[n + j] = f, g[2 * n + j] = t, g[3 * n + j] = o;
        c[j] = cell, cells[j] = cell;
        h[j] = v, out[j] = v;
    }
}

static void NAME(gru)(long n, const T *x, const T *s, const T *bias, T *h, T *out, T *g,
                      T *inner)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T r = SIGMOID(x[j] + s[j] + bias[j]);
        const T z = SIGMOID(x[n + j] + s[n + j] + bias[n + j]);
        const T from = s[2 * n + j] + bias[2 * n + j];
        const T t = TANH(x[2 * n + j] + r * from);
        const T v = (h[j] - t) * z + t;
        g[j] = r, g[n + j] = z, g[2 * n + j] = t, inner[j] = from;
        h[j] = v, out[j] = v;
    }
}

/* `gates` and `extra` move on by `keep` rows for each row: 0 where they are not kept. */
static void NAME(step)(int cell, long rows, long hidden, const T *x, const T *s, const T *bias,
                       T *h, T *c, T *out, T *gates, T *extra, int keep)
{
    const long n = hidden, wide = (cell == CELL_LSTM ? 4 : cell == CELL_GRU ? 3 : 1) * n;
    for (long i = 0; i < rows; i++) {
        T *g = gates + i * wide * keep, *e = extra + i * n * keep;
        if (cell == CELL_LSTM)
            NAME(lstm)(n, x + i * wide, s + i * wide, bias, h + i * n, c + i * n, out + i * n, g,
                       e);
        else if (cell == CELL_GRU)
            NAME(gru)(n, x + i * wide, s + i * wide, bias, h + i * n, out + i * n, g, e);
        else if (cell == CELL_TANH)
            NAME(tangent)(n, x + i * n, s + i * n, bias, h + i * n, out + i * n);
        else
            NAME(rectified)(n, x + i * n, s + i * n, bias, h + i * n, out + i * n);
    }
}

static void NAME(lstm_back)(long n, const T *g, const T *cells, const T *now, T *dh, T *dc, T *dx)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T i = g[j], f = g[n + j], t = g[2 * n + j], o = g[3 * n + j];
        const T u = TANH(now[j]), d = dh[j];
        const T e = dc[j] + d * o * ((T)1 - u * u);
        dx[j] = e * t * i * ((T)1 - i);
        dx[n + j] = e * cells[j] * f * ((T)1 - f);
        dx[2 * n + j] = e * i * ((T)1 - t * t);
        dx[3 * n + j] = d * u * o * ((T)1 - o);
        dc[j] = e * f;
        dh[j] = 0;
    }
}

static void NAME(gru_back)(long n, const T *g, const T *inner, const T *before, T *dh, T *dx,
                           T *ds)
{
    V_IVDEP
    for (long j = 0; j < n; j++) {
        const T r = g[j], z = g[n + j], t = g[2 * n + j], d = dh[j];
        const T dt = d * ((T)1 - z) * ((T)1 - t * t);
        const T dr = dt * inner[j] * r * ((T)1 - r);
        const T dz = d * (before[j] - t) * z * ((T)1 - z);
        dx[j] = dr, dx[n + j] = dz, dx[2 * n + j] = dt;
        ds[j] = dr, ds[n + j] = dz, ds[2 * n + j] = dt * r;
        dh[j] = d * z;
    }
}

static void NAME(step_back)(int cell, long rows, long hidden, const T *grad, const T *out,
                            const T *before, const T *cells, const T *gates, const T *extra,
                            T *dh, T *dc, T *dx, T *ds)
{
    const long n = hidden, wide = (cell == CELL_LSTM ? 4 : cell == CELL_GRU ? 3 : 1) * n;
    if (grad)
        for (long i = 0; i < rows * n; i++)
            dh[i] += grad[i];
    for (long i = 0; i < rows; i++) {
        T *d = dh + i * n;
        if (cell == CELL_LSTM)
            NAME(lstm_back)(n, gates + i * wide, cells + i * n, extra + i * n, d, dc + i * n,
                            dx + i * wide);
        else if (cell == CELL_GRU)
            NAME(gru_back)(n, gates + i * wide, extra + i * n, before + i * n, d, dx + i * wide,
                           ds + i * wide);
        else
            for (long j = 0; j < n; j++) {
                const T v = out[i * n + j];
                dx[i * n + j] = cell == CELL_RELU ? (v <= 0 ? (T)0 : d[j]) : d[j] * ((T)1 - v * v);
                d[j] = 0;
            }
    }
}

#undef SIGMOID
#undef VEC
#undef PANEL
#undef PACKED
#undef DEEP
