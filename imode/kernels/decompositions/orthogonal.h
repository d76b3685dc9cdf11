/* Least squares of tall or square real matrices of a few rows and columns, which lie column by column. */
#ifndef IMODE_ORTHOGONAL_H
#define IMODE_ORTHOGONAL_H

enum {
    IMODE_FEW = 32,  /* most rows, and most columns of both sides, of least squares */
    IMODE_PANEL = 8, /* columns that are reduced one after another */
};

/* min |A x - b|, m >= n: x in the place of the first n rows of b, whose columns are ldb apart, and what is
   left in the others. With pivots, the rank is decided as LAPACK's gelsy does. Returns 1, or 0 with all
   as it was: where the matrix is not of full rank, or holds numbers that are very large or very small. */
int imode_least_squares(int wide, long m, long n, long k, const void *a, void *b, long ldb, int pivots,
                        double rcond);

/* Reflections I - tau x x^T that make R of n columns of m rows, n <= IMODE_PANEL, n <= m: the vectors x in
   their place, with zeros and ones, or all zeros where tau is 0; R, whose columns are ldr apart; and the
   triangle s for which their product, the first one first, is I - V s^-1 V^T. There are IMODE_PANEL columns,
   the last of zeros, and zeros beyond m, up to a multiple of 8. */
void imode_reflect(int wide, long m, long n, void *v, long ldv, void *r, long ldr, void *tau, void *s,
                   long lds);
/* n columns of m elements, one after the other, are added to those of `to`. */
void imode_add_columns(int wide, long m, long n, const void *a, void *to, long ld);
/* The first m rows of n columns as m columns of n elements, one after the other. */
void imode_turn(int wide, long m, long n, const void *a, long lda, void *to);
/* Whether that suits a matrix: its numbers are finite, and the sum of their squares neither very large nor
   very small; and LAPACK is not faster, as it is for few columns of many rows at the lowest level. */
int imode_reflects(int wide, long m, long n, const void *a);

#endif
