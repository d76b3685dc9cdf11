/* Inner loops of the reductions that NumPy lacks or does slowly. See _reduce.c. */
#ifndef IMODE_REDUCE_H
#define IMODE_REDUCE_H

#include <stddef.h>

/* Those declared like this are gufunc loops: dims = {lanes, n}, steps = {bytes from lane to lane
   of each argument, then from element to element of each that has lanes}. */
#define IMODE_LANES(name) \
    void name(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);

/* (n)->(): sums of a term of each element, products, extrema; the norm's square root is taken. */
IMODE_LANES(imode_nansum_f)
IMODE_LANES(imode_nansum_d)
IMODE_LANES(imode_prod_f)
IMODE_LANES(imode_prod_d)
IMODE_LANES(imode_max_f)
IMODE_LANES(imode_max_d)
IMODE_LANES(imode_min_f)
IMODE_LANES(imode_min_d)
IMODE_LANES(imode_norm1_f)
IMODE_LANES(imode_norm1_d)
IMODE_LANES(imode_norm2_f)
IMODE_LANES(imode_norm2_d)
IMODE_LANES(imode_count_b)
IMODE_LANES(imode_count_f)
IMODE_LANES(imode_count_d)
IMODE_LANES(imode_count_l)
IMODE_LANES(imode_any_f)
IMODE_LANES(imode_any_d)
IMODE_LANES(imode_any_l)
IMODE_LANES(imode_all_f)
IMODE_LANES(imode_all_d)
IMODE_LANES(imode_all_l)

#endif
