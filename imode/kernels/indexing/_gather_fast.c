/* What gather and scatter do with indices as many as elements. */
#include "gather_fast.h"

#include "half.h"

/* Without a branch: the highest bit of either difference is set where an index is outside. */
V_CLONES int imode_all_inside(const int64_t *index, ptrdiff_t n, int64_t size) {
    uint64_t outside = 0;
    for (ptrdiff_t i = 0; i < n; i++)
        outside |= (uint64_t)index[i] | ((uint64_t)size - 1 - (uint64_t)index[i]);
    return outside >> 63 == 0;
}
