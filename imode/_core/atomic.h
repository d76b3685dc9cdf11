/* C atomics on 64-bit counters and flags; the memory order is in the name, or what a lock needs. */
#ifndef IMODE_ATOMIC_H
#define IMODE_ATOMIC_H
#include <Python.h>
#include <stdint.h>

static inline uint64_t imode_add_relaxed(uint64_t *counter, uint64_t n) {
    return __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}
/* A counter that changes only with the GIL held, so that no locked instruction is needed. */
static inline void imode_add_with_gil(uint64_t *counter, uint64_t n) {
#ifdef Py_GIL_DISABLED
    __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
#else
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
#endif
}
static inline uint64_t imode_load_relaxed(const uint64_t *counter) {
    return __atomic_load_n(counter, __ATOMIC_RELAXED);
}
static inline void imode_store_relaxed(uint64_t *counter, uint64_t n) {
    __atomic_store_n(counter, n, __ATOMIC_RELAXED);
}
static inline int imode_claim(uint64_t *flag) {
    uint64_t none = 0;
    return __atomic_compare_exchange_n(flag, &none, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}
static inline uint64_t imode_swap(uint64_t *flag, uint64_t n) {
    return __atomic_exchange_n(flag, n, __ATOMIC_ACQ_REL);
}
#endif
