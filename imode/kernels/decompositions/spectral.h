/* Eigenvalues and vectors, and singular values, of real matrices of a few rows, which lie column by column. `wide`: float64.
   What returns -1 has left its matrix as it was: it is not finite, or the iteration does not end. */
#ifndef IMODE_SPECTRAL_H
#define IMODE_SPECTRAL_H

#include <stddef.h>

enum { IMODE_VERY_FEW = 8 }; /* most rows and columns of matrices whose singular values are wanted */

/* Bytes of workspace, aligned to 64, for n rows. */
size_t imode_eigh_work(int wide, long n);
size_t imode_eig_work(int wide, long n);
/* Of a symmetric matrix of which one triangle is read: the eigenvalues, the least first, and the
   eigenvectors in its place. */
int imode_eigh(int wide, long n, void *a, int upper, int vectors, void *values, void *work);
/* Of any matrix: complex eigenvalues, and eigenvectors of length 1 if `vectors` is not NULL. */
int imode_eig(int wide, long n, const void *a, void *values, void *vectors, void *work);
/* Of a stack of matrices, one behind the other: the singular values of each, the largest first. */
int imode_singular_values(int wide, long count, long m, long n, const void *a, void *values);

#endif
