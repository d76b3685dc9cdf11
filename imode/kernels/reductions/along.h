/* Inner loops of operators along one dimension that NumPy lacks or does slowly. See _along.c. */
#ifndef IMODE_ALONG_H
#define IMODE_ALONG_H

#include <stddef.h>

/* Those declared like this are gufunc loops: dims = {lanes, n}, steps = {bytes from lane to lane
   of each argument, then from element to element of each}. */
#define IMODE_ALONG(name) \
    void name(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);

/* (n),(n)->(n): grad, result -> gradient of the input. */
IMODE_ALONG(imode_softmax_backward_f)
IMODE_ALONG(imode_softmax_backward_d)
IMODE_ALONG(imode_log_softmax_backward_f)
IMODE_ALONG(imode_log_softmax_backward_d)


/* Running sums and products along the middle of (outer, n, inner), both arrays contiguous. */
typedef void (*imode_scan)(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n,
                           ptrdiff_t inner);
void imode_cumsum_f(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_cumsum_d(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_cumsum_l(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_cumprod_f(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_cumprod_d(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_cumprod_l(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);

/* The same for softmax and its logarithm: for lanes side by side, without a copy. */
void imode_softmax_f(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_softmax_d(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_log_softmax_f(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);
void imode_log_softmax_d(const char* in, char* out, ptrdiff_t outer, ptrdiff_t n, ptrdiff_t inner);

#endif
