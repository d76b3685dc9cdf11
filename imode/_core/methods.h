/* A method descriptor's C function gets `self` but not which method it is. So each method takes one
 * of the 768 C functions of this table, which passes on the operator assigned to it. */
#ifndef IMODE_METHODS_H
#define IMODE_METHODS_H
#include <Python.h>
#define IMODE_N_METHODS 768

typedef PyObject *(*imode_entry)(PyObject *op, PyObject *self, PyObject **args, Py_ssize_t nargs,
                                 PyObject *kwnames);
static PyObject *imode_method_ops[IMODE_N_METHODS];      /* each one's operator or Alias, owned */
static imode_entry imode_method_entries[IMODE_N_METHODS]; /* binds the arguments and calls it */

#define M(n)                                                                              \
    static PyObject *imode_method_##n(PyObject *self, PyObject *const *args, Py_ssize_t k, \
                                      PyObject *names) {                                  \
        return imode_method_entries[n](imode_method_ops[n], self, (PyObject **)args, k,    \
                                       names);                                            \
    }
#define N(n) (PyCFunction)(void (*)(void))imode_method_##n,
#define R(X, h) X(h##0) X(h##1) X(h##2) X(h##3) X(h##4) X(h##5) X(h##6) X(h##7) \
                X(h##8) X(h##9) X(h##a) X(h##b) X(h##c) X(h##d) X(h##e) X(h##f)
#define B(X, h) R(X, h##0) R(X, h##1) R(X, h##2) R(X, h##3) R(X, h##4) R(X, h##5) R(X, h##6) \
                R(X, h##7) R(X, h##8) R(X, h##9) R(X, h##a) R(X, h##b) R(X, h##c) R(X, h##d) \
                R(X, h##e) R(X, h##f)
B(M, 0x0) B(M, 0x1) B(M, 0x2)
static PyCFunction imode_method_table[IMODE_N_METHODS] = {B(N, 0x0) B(N, 0x1) B(N, 0x2)};
#undef M
#undef N
#undef R
#undef B

/* A call of Tensor.add(x, ...): CPython refuses an `x` that is no tensor, but its class may have
 * __torch_function__. CPython calls methods of tensors themselves without this function. */
static PyObject *(*imode_method_of_other)(PyObject *method, PyObject **args, Py_ssize_t n,
                                          PyObject *kwnames);
static vectorcallfunc imode_method_vectorcall; /* CPython's */
static PyObject *imode_call_method(PyObject *method, PyObject *const *args, size_t flagged,
                                   PyObject *names) {
    Py_ssize_t n = PyVectorcall_NARGS(flagged);
    if (n && Py_IS_TYPE(args[0], ((PyDescrObject *)method)->d_type))
        return ((_PyCFunctionFastWithKeywords)(void (*)(void))((PyMethodDescrObject *)method)
                    ->d_method->ml_meth)(args[0], args + 1, n - 1, names);
    if (n) return imode_method_of_other(method, (PyObject **)args, n, names);
    return imode_method_vectorcall(method, args, flagged, names);
}
static PyObject *imode_new_method(PyObject *type, PyMethodDef *def, int index) {
    def->ml_meth = imode_method_table[index];
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    PyObject *method = PyDescr_NewMethod((PyTypeObject *)type, def);
    if (method != NULL) {
        imode_method_vectorcall = ((PyMethodDescrObject *)method)->vectorcall;
        ((PyMethodDescrObject *)method)->vectorcall = imode_call_method;
    }
    return method;
}
static PyObject *imode_new_function(PyMethodDef *def, imode_entry entry, PyObject *op,
                                    PyObject *module) {
    def->ml_meth = (PyCFunction)(void (*)(void))entry;
    def->ml_flags = METH_FASTCALL | METH_KEYWORDS;
    return PyCFunction_NewEx(def, op, module);
}

/* Have a function call `seen` instead (NULL: itself again). Its C function stays, for a dict finds
 * functions by it; the flag, which means nothing here, keeps CPython from calling that directly. */
static vectorcallfunc imode_function_vectorcall; /* CPython's */
static void imode_see_function(PyObject *function, void *seen) {
    PyCFunctionObject *f = (PyCFunctionObject *)function;
    if (imode_function_vectorcall == NULL) imode_function_vectorcall = f->vectorcall;
    f->vectorcall = seen == NULL ? imode_function_vectorcall : (vectorcallfunc)seen;
    if (seen == NULL) f->m_ml->ml_flags &= ~METH_COEXIST;
    else f->m_ml->ml_flags |= METH_COEXIST;
}
#endif
