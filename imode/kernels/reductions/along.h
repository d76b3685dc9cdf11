/* Inner loops of operators along one dimension that NumPy lacks or does slowly. See _along.c. */
#ifndef IMODE_ALONG_H
#define IMODE_ALONG_H

#include <stddef.h>

#include "scan.h"

/* Those declared like this are gufunc loops: dims = {lanes, n}, steps = {bytes from lane to lane
   of each argument, then from element to element of each}. */
#define IMODE_ALONG(name) \
    void name(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);

/* (n),(n)->(n): grad, result -> gradient of the input. */
IMODE_ALONG(imode_softmax_backward_f)
IMODE_ALONG(imode_softmax_backward_d)
IMODE_ALONG(imode_log_softmax_backward_f)
IMODE_ALONG(imode_log_softmax_backward_d)


/* Running sums and products. */
imode_scan imode_cumsum_f, imode_cumsum_d, imode_cumsum_l;
imode_scan imode_cumprod_f, imode_cumprod_d, imode_cumprod_l;
imode_scan imode_logcumsumexp_f, imode_logcumsumexp_d;

#endif
