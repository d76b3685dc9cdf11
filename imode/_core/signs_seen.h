/* Signs and brackets that function modes see: while a mode is on in any thread, the slots of Tensor
 * hold the functions of this file; else its own. See callables.pyx. */
#ifndef IMODE_SIGNS_SEEN_H
#define IMODE_SIGNS_SEEN_H
#include <Python.h>

/* slot of PyNumberMethods, method of a tensor on the left, method of one on the right */
#define IMODE_BINARY(X)                                                                       \
    X(nb_add, "add", "add") X(nb_subtract, "sub", "__rsub__") X(nb_multiply, "mul", "mul")    \
    X(nb_true_divide, "div", "__rtruediv__") X(nb_floor_divide, "__floordiv__", "__rfloordiv__") \
    X(nb_remainder, "remainder", "__rmod__") X(nb_matrix_multiply, "matmul", "matmul")        \
    X(nb_and, "__and__", "__rand__") X(nb_or, "__or__", "__ror__")                            \
    X(nb_xor, "__xor__", "__rxor__") X(nb_lshift, "__lshift__", "__rlshift__")                \
    X(nb_rshift, "__rshift__", "__rrshift__") X(nb_inplace_add, "add_", NULL)                 \
    X(nb_inplace_subtract, "sub_", NULL) X(nb_inplace_multiply, "mul_", NULL)                 \
    X(nb_inplace_true_divide, "div_", NULL) X(nb_inplace_floor_divide, "__ifloordiv__", NULL) \
    X(nb_inplace_remainder, "__imod__", NULL) X(nb_inplace_and, "__iand__", NULL)             \
    X(nb_inplace_or, "__ior__", NULL) X(nb_inplace_xor, "__ixor__", NULL)                     \
    X(nb_inplace_lshift, "__ilshift__", NULL) X(nb_inplace_rshift, "__irshift__", NULL)
#define IMODE_UNARY(X) \
    X(nb_negative, "neg") X(nb_absolute, "abs") X(nb_invert, "__invert__") \
    X(nb_float, "__float__") X(nb_int, "__int__") X(nb_index, "__index__")

static _Thread_local int imode_modes_on; /* function modes that are on in this thread */
static PyTypeObject *imode_tensor_type;
/* Calls the innermost mode for Tensor.<name> of one to three arguments, of which any but the first
 * may be NULL. */
static PyObject *(*imode_sign_seen)(const char *name, PyObject *, PyObject *, PyObject *);
static PyNumberMethods imode_own_numbers; /* the slots as they were */
static PyMappingMethods imode_own_mapping;
static PySequenceMethods imode_own_sequence;
static reprfunc imode_own_repr;
static richcmpfunc imode_own_compare;

#define B(slot, left, right)                                                        \
    static PyObject *imode_seen_##slot(PyObject *a, PyObject *b) {                  \
        if (!imode_modes_on) return imode_own_numbers.slot(a, b);                   \
        if (Py_IS_TYPE(a, imode_tensor_type) || right == NULL)                      \
            return imode_sign_seen(left, a, b, NULL);                               \
        return imode_sign_seen(right, b, a, NULL);                                  \
    }
IMODE_BINARY(B)
#undef B
#define U(slot, name)                                              \
    static PyObject *imode_seen_##slot(PyObject *a) {              \
        if (!imode_modes_on) return imode_own_numbers.slot(a);     \
        return imode_sign_seen(name, a, NULL, NULL);               \
    }
IMODE_UNARY(U)
#undef U
static PyObject *imode_seen_power(PyObject *a, PyObject *b, PyObject *modulo) {
    if (!imode_modes_on || modulo != Py_None) return imode_own_numbers.nb_power(a, b, modulo);
    if (Py_IS_TYPE(a, imode_tensor_type)) return imode_sign_seen("__pow__", a, b, NULL);
    return imode_sign_seen("__rpow__", b, a, NULL);
}
static PyObject *imode_seen_inplace_power(PyObject *a, PyObject *b, PyObject *modulo) {
    if (!imode_modes_on) return imode_own_numbers.nb_inplace_power(a, b, modulo);
    return imode_sign_seen("__ipow__", a, b, NULL);
}
static PyObject *imode_seen_subscript(PyObject *a, PyObject *index) {
    if (!imode_modes_on) return imode_own_mapping.mp_subscript(a, index);
    return imode_sign_seen("__getitem__", a, index, NULL);
}
static int imode_seen_ass_subscript(PyObject *a, PyObject *index, PyObject *value) {
    PyObject *result;
    if (!imode_modes_on || value == NULL)
        return imode_own_mapping.mp_ass_subscript(a, index, value);
    result = imode_sign_seen("__setitem__", a, index, value);
    if (result == NULL) return -1;
    Py_DECREF(result);
    return 0;
}
static PyObject *imode_seen_compare(PyObject *a, PyObject *b, int op) {
    static const char *const names[] = {"lt", "le", "eq", "ne", "gt", "ge"}; /* Py_LT, ... */
    if (!imode_modes_on) return imode_own_compare(a, b, op);
    return imode_sign_seen(op == Py_EQ ? "__eq__" : names[op], a, b, NULL);
}

static int imode_seen_bool(PyObject *a) {
    PyObject *result;
    int value;
    if (!imode_modes_on) return imode_own_numbers.nb_bool(a);
    if ((result = imode_sign_seen("__bool__", a, NULL, NULL)) == NULL) return -1;
    value = PyObject_IsTrue(result);
    Py_DECREF(result);
    return value;
}
static Py_ssize_t imode_seen_length(PyObject *a) {
    PyObject *result;
    Py_ssize_t value;
    if (!imode_modes_on) return imode_own_mapping.mp_length(a);
    if ((result = imode_sign_seen("__len__", a, NULL, NULL)) == NULL) return -1;
    value = PyNumber_AsSsize_t(result, PyExc_OverflowError);
    Py_DECREF(result);
    return value;
}
static int imode_seen_contains(PyObject *a, PyObject *item) {
    PyObject *result;
    int value;
    if (!imode_modes_on) return imode_own_sequence.sq_contains(a, item);
    if ((result = imode_sign_seen("__contains__", a, item, NULL)) == NULL) return -1;
    value = PyObject_IsTrue(result);
    Py_DECREF(result);
    return value;
}
static PyObject *imode_seen_repr(PyObject *a) {
    if (!imode_modes_on) return imode_own_repr(a);
    return imode_sign_seen("__repr__", a, NULL, NULL);
}

/* Put the functions above into the slots of Tensor, or its own back. */
static void imode_see_signs(int seen) {
    PyNumberMethods *numbers = imode_tensor_type->tp_as_number;
    PyMappingMethods *mapping = imode_tensor_type->tp_as_mapping;
    PySequenceMethods *sequence = imode_tensor_type->tp_as_sequence;
    if (!seen) {
        *numbers = imode_own_numbers;
        *mapping = imode_own_mapping;
        *sequence = imode_own_sequence;
        imode_tensor_type->tp_repr = imode_own_repr;
        imode_tensor_type->tp_richcompare = imode_own_compare;
        return;
    }
    imode_own_numbers = *numbers;
    imode_own_mapping = *mapping;
    imode_own_sequence = *sequence;
    imode_own_repr = imode_tensor_type->tp_repr;
    imode_own_compare = imode_tensor_type->tp_richcompare;
#define B(slot, left, right) numbers->slot = imode_seen_##slot;
    IMODE_BINARY(B)
#undef B
#define U(slot, name) numbers->slot = imode_seen_##slot;
    IMODE_UNARY(U)
#undef U
    numbers->nb_power = imode_seen_power;
    numbers->nb_inplace_power = imode_seen_inplace_power;
    numbers->nb_bool = imode_seen_bool;
    mapping->mp_length = sequence->sq_length = imode_seen_length;
    sequence->sq_contains = imode_seen_contains;
    imode_tensor_type->tp_repr = imode_seen_repr;
    mapping->mp_subscript = imode_seen_subscript;
    mapping->mp_ass_subscript = imode_seen_ass_subscript;
    imode_tensor_type->tp_richcompare = imode_seen_compare;
}
#endif
