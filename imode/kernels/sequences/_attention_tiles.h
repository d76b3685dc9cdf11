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

INLINE void as_brains(const float *from, long n, uint16_t *to)
{
    for (long j = 0; j < n; j += 16) {
        const __mmask16 mask = n - j < 16 ? (__mmask16)((1u << (n - j)) - 1) : 0xffff;
        const __m512 x = _mm512_maskz_loadu_ps(mask, from + j);
        _mm256_mask_storeu_epi16(to + j, mask, (__m256i)_mm512_cvtneps_pbh(x));
    }
}

/* As exp_of_score, of 16 numbers; 0 where `wanted` is not set. */
INLINE __m512 powers_of_16(__m512 x, __mmask16 wanted)
{
    const __m512 round = _mm512_set1_ps(V_ROUND);
    const __m512 k = _mm512_sub_ps(_mm512_fmadd_ps(x, _mm512_set1_ps(1.44269504f), round), round);
    __m512 r = _mm512_fnmadd_ps(k, _mm512_set1_ps(V_LN2_HI), x);
    r = _mm512_fnmadd_ps(k, _mm512_set1_ps(V_LN2_LO), r);
    const float terms[] = V_EXP_TERMS;
    __m512 p = _mm512_set1_ps(terms[4]);
    UNROLL
    for (int i = 3; i >= 0; i--)
        p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(terms[i]));
    p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1));
    wanted = _mm512_mask_cmp_ps_mask(wanted, x, _mm512_set1_ps(-87), _CMP_NLT_UQ);
    return _mm512_maskz_scalef_ps(wanted, p, k);
}

/* exp(s * scale - less) of n numbers as bfloat16, with zeros up to `full`; returns their sum before
   they are rounded. */
static float tile_powers(const float *s, long n, long full, float scale, float less, uint16_t *to)
{
    const __m512 by = _mm512_set1_ps(scale), down = _mm512_set1_ps(less);
    __m512 sum[2] = {_mm512_setzero_ps(), _mm512_setzero_ps()}, power[2];
    for (long j = 0; j < full; j += 32) {
        UNROLL
        for (int i = 0; i < 2; i++) {
            const long left = n - j - 16 * i;
            const __mmask16 wanted = left >= 16 ? 0xffff : left > 0 ? (__mmask16)((1u << left) - 1) : 0;
            const __m512 x = _mm512_maskz_loadu_ps(wanted, s + j + 16 * i);
            power[i] = powers_of_16(_mm512_fmsub_ps(x, by, down), wanted);
            sum[i] = _mm512_add_ps(sum[i], power[i]);
        }
        _mm512_storeu_si512(to + j, (__m512i)_mm512_cvtne2ps_pbh(power[1], power[0]));
    }
    return _mm512_reduce_add_ps(_mm512_add_ps(sum[0], sum[1]));
}

static void tile_queries(const attention_t *a, long head, long q0, long rows, const tiles_t *t)
{
    const uint16_t *q = (const uint16_t *)a->q + head * a->q_head + q0 * a->q_row;
    uint16_t *out = (uint16_t *)a->out + head * a->out_head + q0 * a->out_row;
    float *lse = (float *)a->lse + head * a->nq + q0;
    _Alignas(64) float most[BLOCK_Q], under[BLOCK_Q];
    const long end = visible_float_v4(a, q0, rows);
    const long d = FULL(a->d), dv = FULL(a->dv), nk = FULL(a->nk);
    /* Without a mask the scores are scaled where their powers are taken. */
    const int bare = !a->mask && !a->causal && a->scale > 0;
    const float scale = bare ? (float)a->scale : 1;
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
            if (!bare) {
                scaled_float_v4(line, n, (float)a->scale);
                masked_float_v4(a, head, q0 + i, k0, n, line);
            }
            const float now = largest_float_v4(line, n) * scale;
            if (now > most[i]) {
                const float shrink = v_expf(most[i] - now);
                under[i] *= shrink;
                if (k0)
                    scaled_float_v4(t->sum + i * dv, dv, shrink);
                most[i] = now;
            }
            under[i] += tile_powers(line, n, FULL(n), scale, most[i] == -INFINITY ? 0 : most[i],
                                    t->p + i * BLOCK_K);
        }
        tile_product(1, rows, FULL(n), dv, t->p, BLOCK_K, t->values + k0 * BRAIN_COLUMNS,
                     nk * BRAIN_COLUMNS, t->sum, dv);
    }
    for (long i = 0; i < rows; i++) {
        scaled_float_v4(t->sum + i * dv, dv, under[i] == 0 ? 0 : 1 / under[i]);
        as_brains(t->sum + i * dv, a->dv, out + i * a->out_row);
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
