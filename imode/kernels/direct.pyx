"""Kernels of networks' layers, called from C: of a call on few elements, half is the call.

The functions over ndarrays are those of `norm`, `pool`, `conv`, `embedding` and `loss`; out= goes
through the adapter, as for any other function.
"""
from cpython.object cimport PyObject
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.making cimport wrap
from imode._core.tensor cimport Tensor, storage
from imode.kernels.conv cimport convolve
from imode.kernels.embedding cimport embedding
from imode.kernels.loss cimport nll, squared
from imode.kernels.norm cimport batch_norm, group_norm, layer_norm
from imode.kernels.plain cimport _fall_back
from imode.kernels.pool cimport avg_pool2d, max_pool2d
from numpy cimport ndarray

cdef extern from "Python.h":
    double PyFloat_AsDouble(PyObject*) except? -1
    long PyLong_AsLong(PyObject*) except? -1


cdef inline ndarray _of(PyObject* tensor):
    return storage(<Tensor>tensor)


cdef inline object _or_none(PyObject* tensor):
    return None if tensor == <PyObject*>None else storage(<Tensor>tensor)


cdef object _results(Operator op, tuple arrays):
    cdef tuple tensors = tuple([wrap(<ndarray>a) for a in arrays])
    return tensors if op.result_type is None else op.result_type(tensors)


# ---- norms ----

cdef object _batch_norm(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return _results(op, batch_norm(
        _of(args[0]), _or_none(args[1]), _or_none(args[2]), _or_none(args[3]), _or_none(args[4]),
        <object>args[5] is True, PyFloat_AsDouble(args[6]), PyFloat_AsDouble(args[7])))


cdef object _layer_norm(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return _results(op, layer_norm(
        _of(args[0]), <tuple>args[1], _or_none(args[2]), _or_none(args[3]),
        PyFloat_AsDouble(args[4])))


cdef object _group_norm(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return _results(op, group_norm(
        _of(args[0]), _or_none(args[1]), _or_none(args[2]), PyLong_AsLong(args[3]),
        PyFloat_AsDouble(args[4])))


# ---- windows ----

cdef object _max_pool2d(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return _results(op, max_pool2d(
        _of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <tuple>args[4],
        <object>args[5] is True))


cdef object _avg_pool2d(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return wrap(avg_pool2d(
        _of(args[0]), <tuple>args[1], <tuple>args[2], <tuple>args[3], <object>args[4] is True,
        <object>args[5] is True, <object>args[6]))


cdef object _convolution(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return wrap(convolve(
        _of(args[0]), _of(args[1]), _or_none(args[2]), <tuple>args[3], <tuple>args[4],
        <tuple>args[5], PyLong_AsLong(args[6])))


# ---- rows and losses ----

cdef object _embedding(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return wrap(embedding(_of(args[0]), _of(args[1])))


cdef object _nll_loss(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return _results(op, nll(_of(args[0]), _of(args[1]), _or_none(args[2]), PyLong_AsLong(args[3]),
                            PyLong_AsLong(args[4])))


cdef object _mse_loss(Operator op, keyset_t keys, PyObject** args):
    if args[op.nargs] != NULL:
        return _fall_back(op, keys, args)
    return wrap(squared(_of(args[0]), _of(args[1]), PyLong_AsLong(args[2])))


def compiled(name, function):
    """The CKernel of an operator; `function` is the one over ndarrays that it calls."""
    where = f"compiled {name.lstrip('_')}"
    if name == "_native_batch_norm":
        return CKernel.new(_batch_norm, function, where, True)
    if name == "_native_layer_norm":
        return CKernel.new(_layer_norm, function, where, True)
    if name == "_native_group_norm":
        return CKernel.new(_group_norm, function, where, True)
    if name == "max_pool2d_with_indices":
        return CKernel.new(_max_pool2d, function, where, True)
    if name == "avg_pool2d":
        return CKernel.new(_avg_pool2d, function, where, True)
    if name == "_convolution":
        return CKernel.new(_convolution, function, where, True)
    if name == "embedding":
        return CKernel.new(_embedding, function, where, True)
    if name == "_nll_loss":
        return CKernel.new(_nll_loss, function, where, True)
    if name == "_mse_loss":
        return CKernel.new(_mse_loss, function, where, True)
    raise KeyError(name)
