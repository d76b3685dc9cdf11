/* Sums of rows of a table. */
#ifndef IMODE_EMBEDDING_BAG_H
#define IMODE_EMBEDDING_BAG_H

/* Add n rows to `to` in order; where it is `fresh`, to zeros. */
void imode_add_rows_f(const float **rows, long n, long columns, int fresh, float *to);
void imode_add_rows_d(const double **rows, long n, long columns, int fresh, double *to);

#endif
