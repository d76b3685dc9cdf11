/* Loops over rows that are no gufuncs: of bfloat16, a dtype that NumPy lacks, and of columns. See
   _rows.c. */
#ifndef IMODE_ROWS_H
#define IMODE_ROWS_H

#include <stddef.h>

#include "scan.h"

#define IMODE_ROOM 32768 /* bytes of a row, in float, that softmax and its kin put on the stack */

/* gufunc loops: dims = {rows, n}, steps = {bytes from row to row of each argument, then from element
   to element of each that has rows}. */
#define IMODE_OF_ROWS(name) \
    void name(char** args, const ptrdiff_t* dims, const ptrdiff_t* steps, void* data);

/* (n)->(): of bfloat16; of float16 and bfloat16 to float, for sums of sums and norms of norms. */
IMODE_OF_ROWS(imode_sum_b)
IMODE_OF_ROWS(imode_sum_e_to_f)
IMODE_OF_ROWS(imode_sum_b_to_f)
IMODE_OF_ROWS(imode_norm2_e_to_f)
IMODE_OF_ROWS(imode_norm2_b_to_f)
IMODE_OF_ROWS(imode_logsumexp_b)

/* (n)->(n): of bfloat16. */
IMODE_OF_ROWS(imode_softmax_b)
IMODE_OF_ROWS(imode_log_softmax_b)

/* softmax and its logarithm, for lanes side by side, without a copy. */
imode_scan imode_softmax_f, imode_softmax_d, imode_log_softmax_f, imode_log_softmax_d;
/* and of 16 bits, at most IMODE_COLUMN rows */
enum { IMODE_COLUMN = 2048 };
imode_scan imode_softmax_e, imode_softmax_of_brains, imode_log_softmax_e,
    imode_log_softmax_of_brains;

#endif
