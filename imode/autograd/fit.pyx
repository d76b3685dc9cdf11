"""Gradients made to look like the tensors they belong to: shape, dtype, device."""
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.dispatch cimport call1, operator
from imode._core.dtype cimport code_of, dtype_from_typenum, is_complex
from imode._core.tensor cimport Tensor, storage, typenum
from imode.autograd.node cimport (
    Node, OutputMeta, input_nrs, meta_shape, next_nodes, outputs_of)
from numpy cimport import_array, npy_intp


import_array()

cdef Tensor fit_root(Node node, int number, Tensor gradient, int i):
    """Fit a gradient to a root whose shape changed after it was recorded, or raise."""
    cdef OutputMeta* meta = &outputs_of(node)[number]
    cdef npy_intp* shape = meta_shape(meta)
    cdef int d, lead = storage(gradient).ndim - meta.nd
    cdef bint fits = lead >= 0
    cdef bint same = lead == 0
    for d in range(meta.nd if fits else 0):
        same = same and shape[d] == storage(gradient).shape[d + lead]
        fits = fits and (shape[d] == 1 or shape[d] == storage(gradient).shape[d + lead])
    if not fits and meta.typenum >= 0:
        raise RuntimeError(
            f"invalid gradient at index {i} - got {list(gradient.shape)} but expected shape "
            f"compatible with {[shape[d] for d in range(meta.nd)]}")
    if not same and meta.typenum >= 0:
        gradient = _sum_to(node, i, gradient, meta)
    return _convert(gradient, meta.typenum) if meta.typenum >= 0 else gradient


cdef inline bint _is_wider(Tensor gradient, int wanted) noexcept:
    """Whether the gradient is complex and what it belongs to is real."""
    return is_complex(code_of[typenum(gradient)]) and not is_complex(code_of[wanted])


cdef Tensor _convert(Tensor gradient, int wanted):
    """The gradient in the dtype of what it belongs to."""
    if _is_wider(gradient, wanted):
        gradient = call1(operator("real"), gradient)
    if typenum(gradient) == wanted:
        return gradient
    return operator("_to_copy")(gradient, dtype=dtype_from_typenum(wanted))


cdef int fit_all(Node node, PyObject** out) except -1:
    """Make each gradient look like the tensor it belongs to: take the real part for a real tensor,
    sum over broadcast dimensions, convert the dtype."""
    cdef OutputMeta* meta
    cdef Node target
    cdef Tensor gradient
    cdef npy_intp* shape
    cdef int i, d
    cdef bint same
    for i in range(node.n_edges):
        if out[i] == NULL or next_nodes(node)[i] == NULL:
            continue
        target = <Node>next_nodes(node)[i]
        meta = &outputs_of(target)[input_nrs(node)[i]]
        if meta.typenum < 0:
            continue
        gradient = <Tensor>out[i]
        if _is_wider(gradient, meta.typenum):
            fitted = call1(operator("real"), gradient)
            Py_INCREF(fitted)
            out[i] = <PyObject*>fitted
            Py_DECREF(gradient)
            gradient = fitted
        shape = meta_shape(meta)
        same = storage(gradient).ndim == meta.nd
        if same:
            for d in range(meta.nd):
                if storage(gradient).shape[d] != shape[d]:
                    same = False
        if not same:
            fitted = _sum_to(node, i, gradient, meta)
            Py_DECREF(gradient)
            Py_INCREF(fitted)
            out[i] = <PyObject*>fitted
            gradient = fitted
        if typenum(gradient) != meta.typenum:
            fitted = _convert(gradient, meta.typenum)
            Py_INCREF(fitted)
            out[i] = <PyObject*>fitted
            Py_DECREF(gradient)
    return 0


cdef Tensor _sum_to(Node node, int i, Tensor gradient, OutputMeta* meta):
    cdef npy_intp* shape = meta_shape(meta)
    cdef int lead = storage(gradient).ndim - meta.nd
    cdef int d
    wanted = tuple([shape[d] for d in range(meta.nd)])
    got = tuple([storage(gradient).shape[d] for d in range(storage(gradient).ndim)])
    if lead < 0 or any([w != 1 and w != g for w, g in zip(wanted, got[lead:])]):
        raise RuntimeError(
            f"Function {node.label()} returned an invalid gradient at index {i} - got "
            f"{list(got)} but expected shape compatible with {list(wanted)}")
    if meta.nd == 0:
        return operator("sum")(gradient)
    dims = tuple([d for d in range(len(got)) if d < lead or (wanted[d - lead] == 1 != got[d])])
    if dims:
        gradient = operator("sum.dim")(gradient, dims, True)
    if lead:
        gradient = operator("view")(gradient, wanted)
    return gradient
