/* What runs beside NumPy's loops of the four operations: over rows, where operands are broadcast or
   have gaps between rows, and over numbers of 16 bits. */
#ifndef IMODE_OPERATIONS_H
#define IMODE_OPERATIONS_H

#include "elementwise.h"
#include "narrow.h"

/* As a loop of NumPy's, but over dims[1] rows, whose steps follow those of the elements. */
static void operate_on_rows(char **args, const npy_intp *dims, const npy_intp *steps, void *data) {
    const imode_rows_info *info = data;
    const npy_intp size = info->size, *by = steps + 3;
    char *p[] = {args[0], args[1], args[2]};
    imode_kernel kernel = NULL;
    if (steps[2] == size && steps[0] == size)
        kernel = steps[1] == size ? info->both : steps[1] == 0 ? info->right : NULL;
    else if (steps[2] == size && steps[0] == 0 && steps[1] == size)
        kernel = info->left;
    for (npy_intp row = 0; row < dims[1]; row++) {
        if (kernel)
            kernel(p, dims[0]);
        else
            info->plain(p, dims, steps, info->data);
        p[0] += by[0], p[1] += by[1], p[2] += by[2];
    }
}

#define OPERATION(NAME, T, SIGN)                                                                   \
    LIGHT2(NAME##_both, T, T, x SIGN y)                                                            \
    V_LIGHT static void NAME##_right(char *const *p, npy_intp n) {                                 \
        const T *a = (const T *)p[0], y = *(const T *)p[1];                                        \
        T *out = (T *)p[2];                                                                        \
        V_SEVERAL for (npy_intp i = 0; i < n; i++) out[i] = a[i] SIGN y;                           \
    }                                                                                              \
    V_LIGHT static void NAME##_left(char *const *p, npy_intp n) {                                  \
        const T x = *(const T *)p[0], *b = (const T *)p[1];                                        \
        T *out = (T *)p[2];                                                                        \
        V_SEVERAL for (npy_intp i = 0; i < n; i++) out[i] = x SIGN b[i];                           \
    }
#define OPERATIONS(NAME, SIGN)                                                                     \
    OPERATION(NAME##_f, float, SIGN) OPERATION(NAME##_d, double, SIGN)
OPERATIONS(sum, +)
OPERATIONS(difference, -)
OPERATIONS(product, *)
OPERATIONS(quotient, /)
OPERATION(sum_q, uint64_t, +)
OPERATION(difference_q, uint64_t, -)
OPERATION(product_q, uint64_t, *)

#define ROWS(NAME, T) {NAME##_both, NAME##_right, NAME##_left, sizeof(T), NULL, NULL}
#define OF_FLOATS(UFUNC, NAME)                                                                     \
    {#UFUNC, NPY_FLOAT, ROWS(NAME##_f, float), NARROW_OF(NAME)},                                   \
        {#UFUNC, NPY_DOUBLE, ROWS(NAME##_d, double), NULL}
#define OF_INT64(UFUNC, NAME) {#UFUNC, NPY_INT64, ROWS(NAME##_q, uint64_t), NULL}
imode_operation imode_operations[] = {
    OF_FLOATS(add, sum), OF_FLOATS(subtract, difference), OF_FLOATS(multiply, product),
    OF_FLOATS(true_divide, quotient), OF_INT64(add, sum), OF_INT64(subtract, difference),
    OF_INT64(multiply, product), {NULL, 0, {NULL, NULL, NULL, 0, NULL, NULL}, NULL},
};
const imode_loop imode_run_same = run_same, imode_run_rows = run_rows;
const imode_loop imode_operate_on_rows = operate_on_rows;

#endif
