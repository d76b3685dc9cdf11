/* The dtypes that NumPy lacks, registered with it: what copies, views and casts need of them. */
#include <Python.h>
#include <numpy/arrayobject.h>
#include <stddef.h>

#include "small_floats.h"

typedef struct {
    PyObject_HEAD
    uint64_t bits; /* as many as the dtype has */
} scalar;

/* Any number to a float: as C converts, complex numbers without their imaginary part. */
static int float_of(PyObject *value, float *result) {
    PyObject *number;
    if (PyComplex_Check(value)) {
        *result = (float)PyComplex_RealAsDouble(value);
        return 0;
    }
    number = PyNumber_Float(value);
    if (number == NULL)
        return -1;
    *result = (float)PyFloat_AS_DOUBLE(number);
    Py_DECREF(number);
    return 0;
}

#define CAST(NAME, BITS, TYPE, KIND, FROM, TO)                                                     \
    static void KIND##_to_##NAME(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const TYPE *x = from;                                                                      \
        BITS *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO((float)x[i]);                                                                \
    }                                                                                              \
    static void NAME##_to_##KIND(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const BITS *x = from;                                                                      \
        TYPE *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = (TYPE)FROM(x[i]);                                                               \
    }

/* Complex numbers: pairs, of which the first is the real part. */
#define CAST_PAIR(NAME, BITS, TYPE, KIND, FROM, TO)                                                \
    static void KIND##_to_##NAME(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const TYPE *x = from;                                                                      \
        BITS *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO((float)x[2 * i]);                                                            \
    }                                                                                              \
    static void NAME##_to_##KIND(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const BITS *x = from;                                                                      \
        TYPE *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++) {                                                         \
            y[2 * i] = FROM(x[i]);                                                                 \
            y[2 * i + 1] = 0;                                                                      \
        }                                                                                          \
    }

#define CAST_HALF(NAME, BITS, FROM, TO)                                                            \
    static void half_to_##NAME(void *from, void *to, npy_intp n, void *a, void *b) {               \
        const uint16_t *x = from;                                                                  \
        BITS *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO(v_from_half(x[i]));                                                          \
    }                                                                                              \
    static void NAME##_to_half(void *from, void *to, npy_intp n, void *a, void *b) {               \
        const BITS *x = from;                                                                      \
        uint16_t *y = to;                                                                          \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = v_to_half(FROM(x[i]));                                                          \
    }

#define CAST_BOOL(NAME, BITS, FROM, TO)                                                            \
    static void bool_to_##NAME(void *from, void *to, npy_intp n, void *a, void *b) {               \
        const npy_bool *x = from;                                                                  \
        BITS *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO(x[i] != 0);                                                                  \
    }                                                                                              \
    static void NAME##_to_bool(void *from, void *to, npy_intp n, void *a, void *b) {               \
        const BITS *x = from;                                                                      \
        npy_bool *y = to;                                                                          \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = FROM(x[i]) != 0;                                                                \
    }

/* Small signed integers: by way of int, as unsigned ones, so that what is out of range wraps. */
#define CAST_SMALL(NAME, BITS, TYPE, KIND, FROM, TO)                                               \
    static void KIND##_to_##NAME(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const TYPE *x = from;                                                                      \
        BITS *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO((float)x[i]);                                                                \
    }                                                                                              \
    static void NAME##_to_##KIND(void *from, void *to, npy_intp n, void *a, void *b) {             \
        const BITS *x = from;                                                                      \
        TYPE *y = to;                                                                              \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = (TYPE)(npy_int)FROM(x[i]);                                                      \
    }

#define KINDS(DO, NAME)                                                                            \
    DO(NAME, bool, NPY_BOOL) DO(NAME, byte, NPY_BYTE) DO(NAME, ubyte, NPY_UBYTE)                   \
    DO(NAME, short, NPY_SHORT) DO(NAME, ushort, NPY_USHORT) DO(NAME, int, NPY_INT)                 \
    DO(NAME, uint, NPY_UINT) DO(NAME, long, NPY_LONG) DO(NAME, ulong, NPY_ULONG)                   \
    DO(NAME, longlong, NPY_LONGLONG) DO(NAME, ulonglong, NPY_ULONGLONG) DO(NAME, half, NPY_HALF)   \
    DO(NAME, float, NPY_FLOAT) DO(NAME, double, NPY_DOUBLE)                                        \
    DO(NAME, longdouble, NPY_LONGDOUBLE) DO(NAME, cfloat, NPY_CFLOAT)                              \
    DO(NAME, cdouble, NPY_CDOUBLE) DO(NAME, clongdouble, NPY_CLONGDOUBLE)

#define REGISTER(NAME, KIND, NUMBER)                                                               \
    other = PyArray_DescrFromType(NUMBER);                                                         \
    if (PyArray_RegisterCastFunc(NAME##_descr, NUMBER, NAME##_to_##KIND) < 0 ||                    \
        PyArray_RegisterCastFunc(other, NAME##_num, KIND##_to_##NAME) < 0)                         \
        return -1;                                                                                 \
    Py_DECREF(other);

#define SMALL_FLOAT(NAME, BITS, LETTER, FROM, TO)                                                  \
    static PyArray_Descr *NAME##_descr;                                                            \
    static int NAME##_num = -1;                                                                    \
    CAST_BOOL(NAME, BITS, FROM, TO)                                                                \
    CAST_SMALL(NAME, BITS, npy_byte, byte, FROM, TO)                                               \
    CAST_SMALL(NAME, BITS, npy_ubyte, ubyte, FROM, TO)                                             \
    CAST_SMALL(NAME, BITS, npy_short, short, FROM, TO)                                             \
    CAST_SMALL(NAME, BITS, npy_ushort, ushort, FROM, TO)                                           \
    CAST(NAME, BITS, npy_int, int, FROM, TO)                                                       \
    CAST(NAME, BITS, npy_uint, uint, FROM, TO)                                                     \
    CAST(NAME, BITS, npy_long, long, FROM, TO)                                                     \
    CAST(NAME, BITS, npy_ulong, ulong, FROM, TO)                                                   \
    CAST(NAME, BITS, npy_longlong, longlong, FROM, TO)                                             \
    CAST(NAME, BITS, npy_ulonglong, ulonglong, FROM, TO)                                           \
    CAST_HALF(NAME, BITS, FROM, TO)                                                                \
    CAST(NAME, BITS, npy_float, float, FROM, TO)                                                   \
    CAST(NAME, BITS, npy_double, double, FROM, TO)                                                 \
    CAST(NAME, BITS, npy_longdouble, longdouble, FROM, TO)                                         \
    CAST_PAIR(NAME, BITS, npy_float, cfloat, FROM, TO)                                             \
    CAST_PAIR(NAME, BITS, npy_double, cdouble, FROM, TO)                                           \
    CAST_PAIR(NAME, BITS, npy_longdouble, clongdouble, FROM, TO)                                   \
    static PyObject *NAME##_getitem(void *data, void *array) {                                     \
        BITS x;                                                                                    \
        (void)array;                                                                               \
        memcpy(&x, data, sizeof x);                                                                \
        return PyFloat_FromDouble(FROM(x));                                                        \
    }                                                                                              \
    static int NAME##_setitem(PyObject *value, void *data, void *array) {                          \
        BITS x;                                                                                    \
        float number;                                                                              \
        (void)array;                                                                               \
        if (float_of(value, &number) < 0)                                                          \
            return -1;                                                                             \
        x = TO(number);                                                                            \
        memcpy(data, &x, sizeof x);                                                                \
        return 0;                                                                                  \
    }                                                                                              \
    static int NAME##_compare(const void *a, const void *b, void *array) {                         \
        float x = FROM(*(const BITS *)a), y = FROM(*(const BITS *)b);                              \
        (void)array;                                                                               \
        if (x != x || y != y) /* NaN comes last */                                                 \
            return (x != x) - (y != y);                                                            \
        return (x > y) - (x < y);                                                                  \
    }                                                                                              \
    static npy_bool NAME##_nonzero(void *data, void *array) {                                      \
        BITS x;                                                                                    \
        (void)array;                                                                               \
        memcpy(&x, data, sizeof x);                                                                \
        return FROM(x) != 0;                                                                       \
    }                                                                                              \
    static void NAME##_copyswap(void *to, void *from, int swap, void *array) {                     \
        (void)array;                                                                               \
        if (from != NULL)                                                                          \
            memcpy(to, from, sizeof(BITS));                                                        \
        if (swap && sizeof(BITS) == 2) {                                                           \
            char *b = to, first = b[0];                                                            \
            b[0] = b[1], b[1] = first;                                                             \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_copyswapn(void *to, npy_intp to_step, void *from, npy_intp from_step,       \
                                 npy_intp n, int swap, void *array) {                              \
        for (npy_intp i = 0; i < n; i++)                                                           \
            NAME##_copyswap((char *)to + i * to_step,                                              \
                            from == NULL ? NULL : (char *)from + i * from_step, swap, array);      \
    }                                                                                              \
    static PyTypeObject NAME##_type = {                                                            \
        PyVarObject_HEAD_INIT(NULL, 0).tp_name = "imode._core.elements." #NAME,                                   \
        .tp_basicsize = sizeof(scalar),                                                            \
        .tp_flags = Py_TPFLAGS_DEFAULT,                                                            \
    };                                                                                             \
    static PyArray_ArrFuncs NAME##_functions;                                                      \
    static PyArray_DescrProto NAME##_proto = {                                                     \
        .kind = 'f',                                                                               \
        .type = LETTER,                                                                            \
        .byteorder = '=',                                                                          \
        .elsize = sizeof(BITS),                                                                    \
        .alignment = sizeof(BITS),                                                                 \
        .f = &NAME##_functions,                                                                    \
        .hash = -1,                                                                                \
    };                                                                                             \
    static int NAME##_make(void) {                                                                 \
        PyArray_ArrFuncs *f = &NAME##_functions;                                                   \
        PyArray_Descr *other;                                                                      \
        NAME##_type.tp_base = &PyGenericArrType_Type;                                              \
        if (PyType_Ready(&NAME##_type) < 0)                                                        \
            return -1;                                                                             \
        PyArray_InitArrFuncs(f);                                                                   \
        f->getitem = NAME##_getitem, f->setitem = NAME##_setitem;                                  \
        f->compare = NAME##_compare, f->nonzero = NAME##_nonzero;                                  \
        f->copyswap = NAME##_copyswap, f->copyswapn = NAME##_copyswapn;                            \
        Py_SET_TYPE(&NAME##_proto, &PyArrayDescr_Type);                                            \
        NAME##_proto.typeobj = &NAME##_type;                                                       \
        NAME##_num = PyArray_RegisterDataType(&NAME##_proto);                                      \
        if (NAME##_num < 0)                                                                        \
            return -1;                                                                             \
        NAME##_descr = PyArray_DescrFromType(NAME##_num);                                          \
        if (PyObject_SetAttrString((PyObject *)&NAME##_type, "dtype", (PyObject *)NAME##_descr))   \
            PyErr_Clear(); /* the class is immutable; its dtype is found by number */              \
        KINDS(REGISTER, NAME)                                                                      \
        return 0;                                                                                  \
    }

SMALL_FLOAT(bfloat16, uint16_t, 'E', v_from_brain, v_to_brain)
SMALL_FLOAT(float8_e4m3fn, uint8_t, '4', v_from_e4m3fn, v_to_e4m3fn)
SMALL_FLOAT(float8_e5m2, uint8_t, '5', v_from_e5m2, v_to_e5m2)

/* Between two of them: by way of float. */
#define BETWEEN(A, ABITS, FROM, B, BBITS, TO)                                                      \
    static void A##_to_##B(void *from, void *to, npy_intp n, void *a, void *b) {                   \
        const ABITS *x = from;                                                                     \
        BBITS *y = to;                                                                             \
        (void)a, (void)b;                                                                          \
        for (npy_intp i = 0; i < n; i++)                                                           \
            y[i] = TO(FROM(x[i]));                                                                 \
    }

BETWEEN(bfloat16, uint16_t, v_from_brain, float8_e4m3fn, uint8_t, v_to_e4m3fn)
BETWEEN(bfloat16, uint16_t, v_from_brain, float8_e5m2, uint8_t, v_to_e5m2)
BETWEEN(float8_e4m3fn, uint8_t, v_from_e4m3fn, bfloat16, uint16_t, v_to_brain)
BETWEEN(float8_e4m3fn, uint8_t, v_from_e4m3fn, float8_e5m2, uint8_t, v_to_e5m2)
BETWEEN(float8_e5m2, uint8_t, v_from_e5m2, bfloat16, uint16_t, v_to_brain)
BETWEEN(float8_e5m2, uint8_t, v_from_e5m2, float8_e4m3fn, uint8_t, v_to_e4m3fn)

#define CONNECT(A, B) PyArray_RegisterCastFunc(A##_descr, B##_num, A##_to_##B) < 0

int imode_register_small_floats(int *typenums) {
    if (PyArray_ImportNumPyAPI() < 0)
        return -1;
    if (bfloat16_make() < 0 || float8_e4m3fn_make() < 0 || float8_e5m2_make() < 0)
        return -1;
    if (CONNECT(bfloat16, float8_e4m3fn) || CONNECT(bfloat16, float8_e5m2) ||
        CONNECT(float8_e4m3fn, bfloat16) || CONNECT(float8_e4m3fn, float8_e5m2) ||
        CONNECT(float8_e5m2, bfloat16) || CONNECT(float8_e5m2, float8_e4m3fn))
        return -1;
    typenums[0] = bfloat16_num, typenums[1] = float8_e4m3fn_num, typenums[2] = float8_e5m2_num;
    return 0;
}
