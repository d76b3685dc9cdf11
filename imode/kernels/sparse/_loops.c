/* Loops over coordinates, for each dtype by NumPy's type number. */
#include "sparse_loops.h"

#include <complex.h>
#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarraytypes.h>

typedef ptrdiff_t at_t;
typedef const int64_t *at_list;

#define LOOPS(SUFFIX, T)                                                                       \
    static void sum_runs_##SUFFIX(const void *values, at_list order, at_list runs, void *out,  \
                                  at_t n, at_t width) {                                        \
        for (at_t i = 0; i < n; i++) {                                                         \
            const T *from = (const T *)values + order[i] * width;                              \
            T *to = (T *)out + runs[i] * width;                                                \
            for (at_t j = 0; j < width; j++) to[j] = to[j] + from[j];                          \
        }                                                                                      \
    }                                                                                          \
    static void times_matrix_##SUFFIX(at_list rows, at_list columns, const void *values,       \
                                      const void *matrix, void *out, at_t n, at_t width) {     \
        for (at_t k = 0; k < n; k++) {                                                         \
            T factor = ((const T *)values)[k];                                                 \
            const T *from = (const T *)matrix + columns[k] * width;                            \
            T *to = (T *)out + rows[k] * width;                                                \
            for (at_t j = 0; j < width; j++) to[j] = to[j] + factor * from[j];                 \
        }                                                                                      \
    }                                                                                          \
    static void products_at_##SUFFIX(at_list rows, at_list columns, const void *a,             \
                                     const void *b, void *out, at_t n, at_t width) {           \
        for (at_t k = 0; k < n; k++) {                                                         \
            const T *left = (const T *)a + rows[k] * width;                                    \
            const T *right = (const T *)b + columns[k] * width;                                \
            T total = 0;                                                                       \
            for (at_t j = 0; j < width; j++) total = total + left[j] * right[j];               \
            ((T *)out)[k] = total;                                                             \
        }                                                                                      \
    }
#define EACH(DO)                                                                               \
    DO(FLOAT, float)                                                                           \
    DO(DOUBLE, double)                                                                         \
    DO(CFLOAT, float complex)                                                                  \
    DO(CDOUBLE, double complex)                                                                \
    DO(BYTE, int8_t)                                                                           \
    DO(UBYTE, uint8_t)                                                                         \
    DO(SHORT, int16_t)                                                                         \
    DO(INT, int32_t)                                                                           \
    DO(INT64, int64_t)

EACH(LOOPS)

#define ENTRY(SUFFIX, T)                                                                       \
    case NPY_##SUFFIX: {                                                                       \
        static const sparse_loops found = {sum_runs_##SUFFIX, times_matrix_##SUFFIX,           \
                                           products_at_##SUFFIX};                              \
        return &found;                                                                         \
    }

const sparse_loops *imode_sparse_loops(int typenum) {
    switch (typenum) { EACH(ENTRY) }
    return NULL;
}
