/* The Mersenne twister of Matsumoto and Nishimura (1998), 32 bits, period 2^19937 - 1.
 *
 * The state is twisted 624 words at a time; reading a word tempers it. `mt_fill` reads many words
 * at once, which the compiler vectorises. */
#ifndef IMODE_MT19937_H
#define IMODE_MT19937_H

#include <stdint.h>

#define MT_N 624
#define MT_M 397

typedef struct {
    uint32_t key[MT_N]; /* the state vector */
    uint64_t seed;      /* the seed that was set */
    int next;           /* the next word to read; MT_N: twist first */
    int unread;         /* nothing was read since seeding */
} mt_state;

static inline void mt_seed(mt_state *mt, uint64_t seed) {
    mt->seed = seed;
    mt->key[0] = (uint32_t)seed;
    for (int i = 1; i < MT_N; i++)
        mt->key[i] = 1812433253u * (mt->key[i - 1] ^ (mt->key[i - 1] >> 30)) + (uint32_t)i;
    mt->next = MT_N;
    mt->unread = 1;
}

static inline uint32_t mt_mix(uint32_t upper, uint32_t lower, uint32_t far_word) {
    uint32_t y = (upper & 0x80000000u) | (lower & 0x7fffffffu);
    return far_word ^ (y >> 1) ^ (0x9908b0dfu & (0u - (lower & 1u)));
}

static inline void mt_twist(mt_state *mt) {
    uint32_t *k = mt->key;
    int i = 0;
    for (; i < MT_N - MT_M; i++) k[i] = mt_mix(k[i], k[i + 1], k[i + MT_M]);
    for (; i < MT_N - 1; i++) k[i] = mt_mix(k[i], k[i + 1], k[i + MT_M - MT_N]);
    k[MT_N - 1] = mt_mix(k[MT_N - 1], k[0], k[MT_M - 1]);
    mt->next = 0;
    mt->unread = 0;
}

static inline uint32_t mt_temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
}

static inline uint32_t mt_next(mt_state *mt) {
    if (mt->next >= MT_N) mt_twist(mt);
    return mt_temper(mt->key[mt->next++]);
}

static inline uint64_t mt_next64(mt_state *mt) {
    uint64_t high = mt_next(mt);
    return (high << 32) | mt_next(mt);
}

static inline void mt_fill(mt_state *mt, uint32_t *out, int64_t n) {
    while (n > 0) {
        if (mt->next >= MT_N) mt_twist(mt);
        int64_t take = MT_N - mt->next < n ? MT_N - mt->next : n;
        const uint32_t *key = mt->key + mt->next;
        for (int64_t i = 0; i < take; i++) out[i] = mt_temper(key[i]);
        mt->next += (int)take;
        out += take;
        n -= take;
    }
}

#endif
