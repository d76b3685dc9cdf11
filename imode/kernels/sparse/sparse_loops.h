/* Loops over coordinates; see loops.pyx for what they compute. Arrays are in rows. */
#ifndef IMODE_SPARSE_LOOPS_H
#define IMODE_SPARSE_LOOPS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    void (*sum_runs)(const void *values, const int64_t *order, const int64_t *runs, void *out,
                     ptrdiff_t n, ptrdiff_t width);
    void (*times_matrix)(const int64_t *rows, const int64_t *columns, const void *values,
                         const void *matrix, void *out, ptrdiff_t n, ptrdiff_t width);
    void (*products_at)(const int64_t *rows, const int64_t *columns, const void *a, const void *b,
                        void *out, ptrdiff_t n, ptrdiff_t width);
} sparse_loops;

/* Those of NumPy's type number; NULL: there are none. */
const sparse_loops *imode_sparse_loops(int typenum);

#endif
