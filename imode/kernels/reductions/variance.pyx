"""Variance and standard deviation, and both with the mean, as compiled kernels.

var.correction(self, dim, *, correction, keepdim) and its kin. A tensor whose lanes are one strided
run each is read where it is, by the plan of `reduce`; any other is copied into rows. What no loop
serves is left to the operator's Python function over ndarrays, which defines all rules.
"""
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from imode._core.parallel cimport parallel_for, skipping
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport empty, release
from imode._core.dispatch cimport CKernel, Operator
from imode._core.dtype cimport FLOAT32, FLOAT64, code_of, typenum_of
from imode._core.keyset cimport highest_key, keyset_t
from imode._core.loops cimport loop_t
from imode._core.tensor cimport Tensor, storage
from imode.kernels.reductions.reduce cimport (
    BAD, COPY, GIL_FREE, NDIM, Plan, axes_of, lanes_last, long_of, make_plan)
from libc.math cimport sqrt
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    PyObject* Py_True
    int PyLong_CheckExact(PyObject*) noexcept
    int PyFloat_CheckExact(PyObject*) noexcept
    double PyFloat_AsDouble(PyObject*) except? -1

cdef extern from "variance.h" nogil:
    void imode_moments_f(char**, const npy_intp*, const npy_intp*, void*) noexcept
    void imode_moments_d(char**, const npy_intp*, const npy_intp*, void*) noexcept


cdef enum:
    GRAIN = 16384                 # fewest elements per thread

ctypedef struct Job:              # lanes, whole ones for each thread
    loop_t loop
    npy_intp n                    # the length of a lane
    char* args[3]
    npy_intp steps[4]
    double correction


cdef void _some_lanes(void* context, Py_ssize_t begin, Py_ssize_t end) noexcept nogil:
    cdef Job* job = <Job*>context
    cdef npy_intp[2] dims = [end - begin, job.n]
    cdef char* args[3]
    cdef int i
    for i in range(3):
        args[i] = job.args[i] + begin * job.steps[i]
    job.loop(args, dims, job.steps, &job.correction)


cdef class _Moments:
    cdef bint root                # std: take the square root
    cdef bint with_mean           # return the mean as a second result


cdef CKernel _moments(bint root, bint with_mean):
    cdef _Moments self = _Moments()
    self.root, self.with_mean = root, with_mean
    return CKernel.new(_moments_kernel, self)


cdef object _moments_kernel(Operator op, keyset_t keys, PyObject** args):
    cdef _Moments self = <_Moments>(<CKernel>op.kernels[highest_key(keys)]).config
    cdef ndarray x = storage(<Tensor>args[0])
    cdef int code = code_of[cnp.PyArray_TYPE(x)]
    cdef bint keepdim = args[3] == Py_True
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(x)
    cdef double correction = 1
    cdef long long axes
    cdef Plan plan
    cdef ndarray var
    cdef ndarray mean
    cdef PyObject* unused
    if x.ndim > NDIM or cnp.PyArray_SIZE(x) == 0 or not (
            code == FLOAT32 or code == FLOAT64):
        return run_general(op, keys, args)
    axes = axes_of(args[1], x.ndim)
    if axes == BAD:
        return run_general(op, keys, args)
    if PyLong_CheckExact(args[2]):
        correction = long_of(args[2])
    elif PyFloat_CheckExact(args[2]):
        correction = PyFloat_AsDouble(args[2])
    elif args[2] != <PyObject*>None:
        return run_general(op, keys, args)
    make_plan(x, axes, keepdim, &plan)
    var = empty(typenum_of[code], plan.nd, plan.dims)
    if cnp.PyArray_SIZE(x) <= correction * cnp.PyArray_SIZE(var):
        return run_general(op, keys, args)       # warns
    mean = empty(typenum_of[code], plan.nd, plan.dims)
    if plan.lane.n > 1 or plan.kept.n > 1 or (
            plan.lane.stride[0] != item and cnp.PyArray_SIZE(x) >= COPY):
        x = lanes_last(x, axes)
        plan.lane.size[0] = cnp.PyArray_SIZE(x) // cnp.PyArray_SIZE(var)
        plan.lane.stride[0] = item
        plan.kept.size[0] = cnp.PyArray_SIZE(var)
        plan.kept.stride[0] = plan.lane.size[0] * item
    _run_moments(code, &plan, x, var, mean, correction, self.root)
    if self.with_mean:
        return deliver(op, (var, mean), args)
    unused = <PyObject*>mean
    Py_INCREF(mean)
    mean = None
    release(unused)               # to be used again
    return deliver(op, var, args)


cdef void _run_moments(int code, Plan* plan, ndarray x, ndarray var, ndarray mean,
                       double correction, bint root) noexcept:
    cdef npy_intp lanes = plan.kept.size[0]
    cdef npy_intp item = cnp.PyArray_ITEMSIZE(x)
    cdef float* narrow = <float*>cnp.PyArray_DATA(var)
    cdef double* wide = <double*>cnp.PyArray_DATA(var)
    cdef npy_intp i
    cdef Job job
    job.loop = imode_moments_f if code == FLOAT32 else imode_moments_d
    job.n, job.correction = plan.lane.size[0], correction
    job.steps = [plan.kept.stride[0], item, item, plan.lane.stride[0]]
    job.args = [<char*>cnp.PyArray_DATA(x), <char*>cnp.PyArray_DATA(var),
                <char*>cnp.PyArray_DATA(mean)]
    if lanes * job.n < GIL_FREE:
        _some_lanes(&job, 0, lanes)
    elif not skipping():
        with nogil:
            parallel_for(lanes, GRAIN // (job.n + 1) + 1, _some_lanes, &job)
    if root:
        for i in range(lanes):
            if code == FLOAT32:
                narrow[i] = <float>sqrt(narrow[i])
            else:
                wide[i] = sqrt(wide[i])


var = _moments(False, False)
std = _moments(True, False)
var_mean = _moments(False, True)
std_mean = _moments(True, True)
