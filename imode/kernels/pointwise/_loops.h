/* Tables of compiled inner loops, from which loops.pyx makes NumPy ufuncs. */
#ifndef IMODE_LOOPS_H
#define IMODE_LOOPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <numpy/ndarraytypes.h>

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

#endif
