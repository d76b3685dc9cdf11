/* Attention of bfloat16 by AMX: both products of a tile as _brain_tiles.h has them, what lies
   between them in float. The powers are rounded to bfloat16 for the second one. */

#include "_brain_product.h"
#include "_brain_tiles.h"

#define BLOCK_Q 64
#define BLOCK_K 256
#define FULL(n) (((n) + TILE_DEPTH - 1) / TILE_DEPTH * TILE_DEPTH) /* a panel is as broad as deep */

#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#pragma GCC target("avx512bf16,amx-tile,amx-bf16")

typedef struct {
    uint16_t *keys, *values; /* packed, (d, nk) and (nk, dv) */
    uint16_t *q, *p;         /* rows of a tile, filled up; their powers */
    float *s, *sum;
} tiles_t;

/* out (rows, cols) = or += a (rows, depth) @ panels of b, `next` apart. */
static void tile_product(const int added, long rows, long depth, long cols, const uint16_t *a,
                         long ai, const uint16_t *b, long next, float *out, long ld)
{
    for (long i = 0; i < rows; i += 2 * TILE, a += 2 * TILE * ai, out += 2 * TILE * ld) {
        const long n = rows - i < 2 * TILE ? rows - i : 2 * TILE;
        const uint16_t *panel = b;
        shape_tiles(n < TILE ? n : TILE, n < TILE ? 0 : n - TILE);
        for (long j = 0; j < cols; j += BRAIN_COLUMNS, panel += next)
            if (n > TILE)
                tile_rows(1, added, depth, a, ai, panel, out + j, ld);
            else
                tile_rows(0, added, depth, a, ai, panel, out + j, ld);
        WRITTEN;
    }
}

/* n floats as bfloat16, with zeros up to `full`. */
INLINE void as_brains(const float *from, long n, long full, uint16_t *to)
{
    for (long j = 0; j < full; j += 16) {
        const long left = n - j < 0 ? 0 : n - j < 16 ? n - j : 16;
        const __mmask16 mask = (__mmask16)((1u << left) - 1), whole = full - j < 16 ? mask : 0xffff;
        const __m512 x = _mm512_maskz_loadu_ps(mask, from + j);
        _mm256_mask_storeu_epi16(to + j, whole, (__m256i)_mm512_cvtneps_pbh(x));
    }
}

static void tile_queries(const attention_t *a, long head, long q0, long rows, const tiles_t *t)
{
    const uint16_t *q = (const uint16_t *)a->q + head * a->q_head + q0 * a->q_row;
    uint16_t *out = (uint16_t *)a->out + head * a->out_head + q0 * a->out_row;
    float *lse = (float *)a->lse + head * a->nq + q0;
    _Alignas(64) float most[BLOCK_Q], under[BLOCK_Q];
    const long end = visible_float_v4(a, q0, rows);
    const long d = FULL(a->d), dv = FULL(a->dv), nk = FULL(a->nk);
    long q_row = a->q_row;
    if (d > a->d) {
        for (long i = 0; i < rows; i++)
            memcpy(t->q + i * d, q + i * q_row, a->d * sizeof *q);
        q = t->q, q_row = d;
    }
    for (long i = 0; i < rows; i++)
        most[i] = -INFINITY, under[i] = 0;
    memset(t->sum, 0, rows * dv * sizeof(float));
    for (long k0 = 0; k0 < end; k0 += BLOCK_K) {
        const long n = end - k0 < BLOCK_K ? end - k0 : BLOCK_K;
        tile_product(0, rows, d, n, q, q_row, t->keys + k0 * d, d * BRAIN_COLUMNS, t->s, BLOCK_K);
        for (long i = 0; i < rows; i++) {
            float *line = t->s + i * BLOCK_K;
            scaled_float_v4(line, n, (float)a->scale);
            masked_float_v4(a, head, q0 + i, k0, n, line);
            const float now = largest_float_v4(line, n);
            if (now > most[i]) {
                const float shrink = v_expf(most[i] - now);
                under[i] *= shrink;
                if (k0)
                    scaled_float_v4(t->sum + i * dv, dv, shrink);
                most[i] = now;
            }
            under[i] += powers_float_v4(line, n, most[i] == -INFINITY ? 0 : most[i]);
            as_brains(line, n, FULL(n), t->p + i * BLOCK_K);
        }
        tile_product(1, rows, FULL(n), dv, t->p, BLOCK_K, t->values + k0 * BRAIN_COLUMNS,
                     nk * BRAIN_COLUMNS, t->sum, dv);
    }
    for (long i = 0; i < rows; i++) {
        scaled_float_v4(t->sum + i * dv, dv, under[i] == 0 ? 0 : 1 / under[i]);
        as_brains(t->sum + i * dv, a->dv, a->dv, out + i * a->out_row);
        lse[i] = under[i] == 0 ? 0 : most[i] + (float)log((double)under[i]);
    }
}

static int tile_forward(const attention_t *a)
{
    const long d = FULL(a->d), dv = FULL(a->dv), nk = FULL(a->nk);
    const long of_numbers = nk * (d + dv) + BLOCK_Q * (d + BLOCK_K);
    tiles_t t;
    t.s = malloc(BLOCK_Q * (BLOCK_K + dv) * sizeof(float) + of_numbers * sizeof(uint16_t));
    if (!t.s)
        return -1;
    t.sum = t.s + BLOCK_Q * BLOCK_K;
    t.keys = (uint16_t *)(t.sum + BLOCK_Q * dv);
    t.values = t.keys + nk * d;
    t.q = t.values + nk * dv;
    t.p = t.q + BLOCK_Q * d;
    memset(t.q, 0, BLOCK_Q * d * sizeof *t.q);
    for (long j = 0; j < a->nk; j += BRAIN_COLUMNS)
        brain_pack(a->d, d, a->nk - j < BRAIN_COLUMNS ? a->nk - j : BRAIN_COLUMNS,
                   (const uint16_t *)a->k + j * a->k_row, 1, a->k_row, t.keys + j * d);
    for (long j = 0; j < a->dv; j += BRAIN_COLUMNS)
        brain_pack(a->nk, nk, a->dv - j < BRAIN_COLUMNS ? a->dv - j : BRAIN_COLUMNS,
                   (const uint16_t *)a->v + j, a->v_row, 1, t.values + j * nk);
    for (long head = 0; head < a->group; head++)
        for (long q0 = 0; q0 < a->nq; q0 += BLOCK_Q)
            tile_queries(a, head, q0, a->nq - q0 < BLOCK_Q ? a->nq - q0 : BLOCK_Q, &t);
    _tile_release();
    free(t.s);
    return 0;
}
#pragma GCC pop_options
