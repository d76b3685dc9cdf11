/* Sums of rows of a table, by level of the machine. */
#include <string.h>

#include "embedding_bag.h"

#define LOOPS "_add_rows.h"
#include "_levels.h"

void imode_add_rows_f(const float **rows, long n, long columns, int fresh, float *to) {
    enum { wide = 0 };
    PICK(add_rows, (rows, n, columns, fresh, to))
}

void imode_add_rows_d(const double **rows, long n, long columns, int fresh, double *to) {
    enum { wide = 1 };
    PICK(add_rows, (rows, n, columns, fresh, to))
}
