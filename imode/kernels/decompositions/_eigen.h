/* The loops of _spectral.c. */
#include "_tridiagonal.h"

#include "_symmetric_eigen.h"

#include "_hessenberg.h"

#include "_general_eigen.h"

#include "_singular_values.h"
