/* Tables of compiled inner loops, from which loops.pyx makes NumPy ufuncs. */
#ifndef IMODE_LOOPS_H
#define IMODE_LOOPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <numpy/ndarraytypes.h>

#include "wide.h"

/* An inner loop in NumPy's calling convention: pointers, counts, byte strides, loop data. */
typedef void (*imode_loop)(char **args, const npy_intp *dims, const npy_intp *steps, void *data);

typedef struct {
    const char *name;
    const char *signature; /* of a gufunc; NULL for an elementwise one */
    int nin, ntypes;       /* the number of outputs is always 1 */
    const char *types;     /* ntypes rows of nin + 1 type numbers */
    imode_loop *loops;     /* one per row */
    void **data;           /* one per row */
} imode_ufunc;

extern const imode_ufunc imode_pointwise[], imode_rows[], imode_special[]; /* end with a NULL name */

/* A kernel over contiguous arrays: pointers to the operands and then to the result, all n long.
   The result may be one of the operands, but must not partly overlap one. */
typedef void (*imode_kernel)(char *const *p, npy_intp n);

/* The kernels of an operation on rows of two operands; see operations.h. */
typedef struct {
    imode_kernel both, right, left; /* of two rows; of a row and a number; of a number and a row */
    npy_intp size;                  /* of an element */
    imode_loop plain;               /* NumPy's, for elements that do not lie side by side, */
    void *data;                     /* and its data */
} imode_rows_info;

typedef struct {
    const char *ufunc; /* of NumPy's */
    int type;
    imode_rows_info rows;
    narrow_loop narrow; /* or NULL */
} imode_operation;

extern imode_operation imode_operations[]; /* ends with a NULL name */

/* The loop of most of the functions, the same over rows, and the one of operations over rows. */
extern const imode_loop imode_run_same, imode_run_rows, imode_operate_on_rows;
typedef struct {
    const char *ufunc;
    narrow_loop narrow;
} imode_narrow;
extern imode_narrow imode_narrow_loops[];

#endif
