/* Parts of LU and of triangular systems of real matrices, which lie column by column. `wide`: float64. */
#ifndef IMODE_HALVES_H
#define IMODE_HALVES_H

#include <stdint.h>

/* Columns are `ldb` and `lda` apart. From a triangle of a few rows, with strides `ar` and
   `ac`, the solutions in the place of k right-hand sides. `unit`: as if its diagonal were ones. */
void imode_triangle(int wide, int lower, int unit, long n, long k, const void *a, long ar, long ac, void *b, long ldb);
/* The same of any number of rows and one right-hand side. */
void imode_triangle_vector(int wide, int lower, int unit, long n, const void *a, long lda, void *x);
/* LU of at least as many rows as columns. Returns `info`. */
int imode_lu_panel(int wide, long m, long n, void *a, long lda, int32_t *pivots);
/* The exchanges of n rows of k columns that the pivots say, or their inverse. */
void imode_exchange(int wide, long n, long k, void *b, long ldb, const int32_t *pivots, int back);

#endif
