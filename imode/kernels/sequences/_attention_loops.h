/* Attention for one element type and level. The scores are computed in tiles of BLOCK_Q queries by
   BLOCK_K keys: each row keeps the largest score so far and the sum of exp under it, and what it
   has added up is scaled when a larger one comes. Backward computes the scores again. */

#include "_product_tile.h"

#define BLOCK_Q 64
#define BLOCK_K 256 /* whole panels */

/* Of a tile's row: scores masked, in place. */
static void NAME(masked)(const attention_t *a, long head, long i, long first, long n, T *s)
{
    const long step = a->mask_column, at = head * a->mask_head + i * a->mask_row + first * step;
    if (a->mask && a->boolean) {
        const char *m = (const char *)a->mask + at;
        if (step == 1)
            for (long j = 0; j < n; j++)
                s[j] = m[j] ? s[j] : -(T)INFINITY;
        else
            for (long j = 0; j < n; j++)
                s[j] = m[j * step] ? s[j] : -(T)INFINITY;
    } else if (a->mask) {
        const T *m = (const T *)a->mask + at;
        if (step == 1)
            for (long j = 0; j < n; j++)
                s[j] += m[j];
        else
            for (long j = 0; j < n; j++)
                s[j] += m[j * step];
    }
    if (a->causal)
        for (long j = i + 1 > first ? i + 1 - first : 0; j < n; j++)
            s[j] = -(T)INFINITY;
}

/* The largest of 16, and their sum, by halves. */
INLINE T NAME(largest_of)(T *part)
{
    UNROLL
    for (int half = 8; half; half /= 2)
        UNROLL
        for (int w = 0; w < half; w++)
            part[w] = part[w + half] > part[w] ? part[w + half] : part[w];
    return part[0];
}

INLINE T NAME(sum_of)(T *part)
{
    UNROLL
    for (int half = 8; half; half /= 2)
        UNROLL
        for (int w = 0; w < half; w++)
            part[w] += part[w + half];
    return part[0];
}

INLINE T NAME(largest)(const T *s, long n)
{
    T part[16], most = -(T)INFINITY;
    long j = 0;
    for (int w = 0; w < 16; w++)
        part[w] = most;
    for (; j + 16 <= n; j += 16)
        for (int w = 0; w < 16; w++)
            part[w] = s[j + w] > part[w] ? s[j + w] : part[w];
    most = NAME(largest_of)(part);
    for (; j < n; j++)
        most = s[j] > most ? s[j] : most;
    return most;
}

INLINE T NAME(dot)(const T *s, const T *by, long n)
{
    T part[16] = {0}, sum;
    long j = 0;
    for (; j + 16 <= n; j += 16)
        for (int w = 0; w < 16; w++)
            part[w] += s[j + w] * by[j + w];
    sum = NAME(sum_of)(part);
    for (; j < n; j++)
        sum += s[j] * by[j];
    return sum;
}

/* s = exp(s - less); returns the sum. */
static T NAME(powers)(T *s, long n, T less)
{
    T part[16] = {0}, sum;
    long j = 0;
    for (; j + 16 <= n; j += 16)
        for (int w = 0; w < 16; w++) {
            const T power = POWER(s[j + w] - less);
            s[j + w] = power;
            part[w] += power;
        }
    sum = NAME(sum_of)(part);
    for (; j < n; j++)
        sum += s[j] = POWER(s[j] - less);
    return sum;
}

static void NAME(scaled)(T *s, long n, T by)
{
    V_IVDEP
    for (long j = 0; j < n; j++)
        s[j] *= by;
}

INLINE long NAME(visible)(const attention_t *a, long q0, long rows)
{
    return a->causal && q0 + rows < a->nk ? q0 + rows : a->nk;
}

/* scores of a tile: (rows, n), each row BLOCK_K apart */
static void NAME(scores)(const attention_t *a, const T *q, const T *keys, long rows, long k0,
                         long n, T *s)
{
    NAME(packed)(rows, n, a->d, q, a->q_row, 1, ROWS * a->q_row, keys + k0 * a->d, s, BLOCK_K, 0);
}

/* sum (rows, cols) += s (rows, n) @ rows k0 to k0 + n of a packed (nk, cols) */
static void NAME(gather)(const attention_t *a, const T *s, const T *right, long cols, long rows,
                         long k0, long n, T *sum, long ldo)
{
    for (long j = 0; j < cols; j += PANEL, right += a->nk * PANEL)
        NAME(product)(rows, cols - j < PANEL ? cols - j : PANEL, n, s, BLOCK_K, 1,
                      right + k0 * PANEL, PANEL, sum + j, ldo, 1);
}

static void NAME(queries)(const attention_t *a, long head, long q0, long rows, const T *keys,
                          const T *values, T *s, T *sum)
{
    const T *q = (const T *)a->q + head * a->q_head + q0 * a->q_row;
    T *out = (T *)a->out + head * a->out_head + q0 * a->out_row;
    T *lse = (T *)a->lse + head * a->nq + q0;
    _Alignas(64) T most[BLOCK_Q], under[BLOCK_Q];
    const long end = NAME(visible)(a, q0, rows);
    for (long i = 0; i < rows; i++)
        most[i] = -(T)INFINITY, under[i] = 0;
    memset(sum, 0, rows * a->dv * sizeof(T));
    for (long k0 = 0; k0 < end; k0 += BLOCK_K) {
        const long n = end - k0 < BLOCK_K ? end - k0 : BLOCK_K;
        NAME(scores)(a, q, keys, rows, k0, n, s);
        for (long i = 0; i < rows; i++) {
            T *line = s + i * BLOCK_K;
            NAME(masked)(a, head, q0 + i, k0, n, line);
            T now = NAME(largest)(line, n);
            if (now > most[i]) {
                const T shrink = EXP(most[i] - now);
                under[i] *= shrink;
                if (k0)
                    NAME(scaled)(sum + i * a->dv, a->dv, shrink);
                most[i] = now;
            }
            under[i] += NAME(powers)(line, n, most[i] == -(T)INFINITY ? (T)0 : most[i]);
        }
        NAME(gather)(a, s, values, a->dv, rows, k0, n, sum, a->dv);
    }
    for (long i = 0; i < rows; i++) {
        const T by = under[i] == 0 ? (T)0 : (T)1 / under[i];
        for (long j = 0; j < a->dv; j++)
            out[i * a->out_row + j] = sum[i * a->dv + j] * by;
        lse[i] = under[i] == 0 ? (T)0 : most[i] + (T)log((double)under[i]);
    }
}

static int NAME(forward)(const attention_t *a)
{
    const long of_keys = PACKED(a->d, a->nk), of_values = PACKED(a->nk, a->dv);
    T *keys = malloc((of_keys + of_values + BLOCK_Q * (BLOCK_K + a->dv)) * sizeof(T));
    if (!keys)
        return -1;
    T *values = keys + of_keys, *s = values + of_values, *sum = s + BLOCK_Q * BLOCK_K;
    NAME(pack)(a->d, a->nk, a->k, 1, a->k_row, keys);
    NAME(scaled)(keys, of_keys, (T)a->scale); /* and so the scores */
    NAME(pack)(a->nk, a->dv, a->v, a->v_row, 1, values);
    for (long head = 0; head < a->group; head++)
        for (long q0 = 0; q0 < a->nq; q0 += BLOCK_Q)
            NAME(queries)(a, head, q0, a->nq - q0 < BLOCK_Q ? a->nq - q0 : BLOCK_Q, keys, values,
                          s, sum);
    free(keys);
    return 0;
}

/* ---- backward ---- */

typedef struct {
    const T *turned_keys, *turned_values; /* packed, (d, nk) and (dv, nk) */
    const T *keys;                        /* packed, (nk, d) */
    T *s, *ds, *dq;
} NAME(room_t);

/* The probabilities of a tile, and the gradient of its scores but for the scale. */
static void NAME(tile_back)(const attention_t *a, const NAME(room_t) *room, long head, long q0,
                            long rows, long k0, long n, const T *delta)
{
    const T *q = (const T *)a->q + head * a->q_head + q0 * a->q_row;
    const T *grad = (const T *)a->grad + (head * a->nq + q0) * a->dv;
    const T *lse = (const T *)a->lse + head * a->nq + q0;
    const T scale = (T)a->scale;
    NAME(scores)(a, q, room->turned_keys, rows, k0, n, room->s);
    NAME(packed)(rows, n, a->dv, grad, a->dv, 1, ROWS * a->dv,
                 room->turned_values + k0 * a->dv, room->ds, BLOCK_K, 0);
    for (long i = 0; i < rows; i++) {
        T *s = room->s + i * BLOCK_K, *ds = room->ds + i * BLOCK_K;
        const T less = delta[i];
        NAME(scaled)(s, n, scale);
        NAME(masked)(a, head, q0 + i, k0, n, s);
        NAME(powers)(s, n, lse[i]);
        V_IVDEP
        for (long j = 0; j < n; j++)
            ds[j] = s[j] * (ds[j] - less) * scale;
    }
}

static void NAME(queries_back)(const attention_t *a, const NAME(room_t) *room, long head, long q0,
                               long rows)
{
    const T *q = (const T *)a->q + head * a->q_head + q0 * a->q_row;
    const T *out = (const T *)a->out + head * a->out_head + q0 * a->out_row;
    const T *grad = (const T *)a->grad + (head * a->nq + q0) * a->dv;
    T *to = (T *)a->grad_q + head * a->grad_q_head + q0 * a->grad_q_row;
    _Alignas(64) T delta[BLOCK_Q];
    const long end = NAME(visible)(a, q0, rows);
    for (long i = 0; i < rows; i++)
        delta[i] = NAME(dot)(grad + i * a->dv, out + i * a->out_row, a->dv);
    memset(room->dq, 0, rows * a->d * sizeof(T));
    for (long k0 = 0; k0 < end; k0 += BLOCK_K) {
        const long n = end - k0 < BLOCK_K ? end - k0 : BLOCK_K;
        NAME(tile_back)(a, room, head, q0, rows, k0, n, delta);
        NAME(gather)(a, room->ds, room->keys, a->d, rows, k0, n, room->dq, a->d);
        NAME(product)(n, a->dv, rows, room->s, 1, BLOCK_K, grad, a->dv,
                      (T *)a->grad_v + k0 * a->grad_v_row, a->grad_v_row, 1);
        NAME(product)(n, a->d, rows, room->ds, 1, BLOCK_K, q, a->q_row,
                      (T *)a->grad_k + k0 * a->grad_k_row, a->grad_k_row, 1);
    }
    for (long i = 0; i < rows; i++)
        memcpy(to + i * a->grad_q_row, room->dq + i * a->d, a->d * sizeof(T));
}

static int NAME(backward)(const attention_t *a)
{
    const long of_keys = PACKED(a->d, a->nk), of_values = PACKED(a->dv, a->nk);
    const long of_rows = PACKED(a->nk, a->d);
    T *turned = malloc((of_keys + of_values + of_rows + BLOCK_Q * (2 * BLOCK_K + a->d)) *
                       sizeof(T));
    if (!turned)
        return -1;
    T *values = turned + of_keys, *keys = values + of_values, *s = keys + of_rows;
    const NAME(room_t) room = {turned, values, keys, s, s + BLOCK_Q * BLOCK_K,
                               s + 2 * BLOCK_Q * BLOCK_K};
    NAME(pack)(a->d, a->nk, a->k, 1, a->k_row, turned);
    NAME(pack)(a->dv, a->nk, a->v, 1, a->v_row, values);
    NAME(pack)(a->nk, a->d, a->k, a->k_row, 1, keys);
    for (long head = 0; head < a->group; head++)
        for (long q0 = 0; q0 < a->nq; q0 += BLOCK_Q)
            NAME(queries_back)(a, &room, head, q0, a->nq - q0 < BLOCK_Q ? a->nq - q0 : BLOCK_Q);
    free(turned);
    return 0;
}

#undef BLOCK_Q
#undef BLOCK_K
#undef VEC
#undef PANEL
#undef PACKED
#undef DEEP
