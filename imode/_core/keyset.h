/* Sets of dispatch keys. */
#ifndef IMODE_KEYSET_H
#define IMODE_KEYSET_H

static inline int imode_highest_key(unsigned long long keys) {
    return 63 - __builtin_clzll(keys);
}
#endif
