"""Recycled small ndarrays: creating and freeing one is most of the cost of a small operator.

# Note [Recycled arrays]
An array made by `empty`, with at most MAX_DIMS dimensions and no more bytes than the largest class,
owns a block of exactly its class's size, whatever its shape; a private bit in its flags and the
class number beside it say so. When a tensor dies as the sole owner of such an array (one reference,
no weak reference, no base), the array goes to the free list of its dtype, number of dimensions and
class, and the next `empty` of that kind only writes the shape, the strides and the flags. A shape
never needs more than its class's bytes, so it is always right to free the array through NumPy, too.
Headers of views are recycled in the same way; they own no memory.

A list keeps its first DEPTH arrays. A long graph that dies leaves many more, of up to 256 bytes,
which the next long graph needs: up to WAITING_BYTES of them wait as well. A full garbage collection
drops all that waits here, just as it drops the interpreter's own free lists.

# Note [Kept arrays]
The system hands out large memory in pages that it clears when they are first touched, and while it
does, the threads of the process wait for each other: for a pointwise operator that takes as long as
the operator itself. So the last arrays of LARGE to LARGEST bytes that died are kept, up to KEPT of
them and KEPT_BYTES in all, and used again for arrays of the same size in bytes and number of
dimensions.

glibc gives blocks above a threshold back to the system as soon as they are freed, and up to 32 MB
the threshold follows the largest block that was. A product whose work space is larger than what
came before would be slowed by fresh pages call after call, so the threshold is raised at import:
up to 64 MB of what was freed stay with the process, as they do wherever one large array has died.

Thread rule: the free lists and the kept arrays are used with the GIL held.
"""
import gc

import numpy as np
cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from imode._core.dtype cimport N_DTYPES, NO_DTYPE, code_of, typenum_of
from imode._core.slab cimport drop_spare_slabs
from numpy cimport ndarray, npy_intp

cnp.import_array()

cdef extern from "Python.h":
    Py_ssize_t PY_SSIZE_T_MAX
    Py_ssize_t Py_REFCNT(PyObject*) noexcept
    int PyArray_CheckExact "PyArray_CheckExact"(PyObject*) noexcept

cdef extern from *:
    """
    static inline PyObject* imode_new_array(PyArray_Descr* descr, int nd, npy_intp* dims) {
        Py_INCREF(descr);
        return PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, NULL, NULL, 0, NULL);
    }
    static inline PyObject* imode_new_view(PyArray_Descr* descr, int nd, npy_intp* dims,
                                           npy_intp* strides, char* data, int flags) {
        Py_INCREF(descr);
        return PyArray_NewFromDescr(&PyArray_Type, descr, nd, dims, strides, data, flags, NULL);
    }
    /* What the caller owns, as an object. */
    #define IMODE_OWNED(o) (o)
    /* The class of a block of n bytes: 24 (the C library's least), 64, 256, 1 Ki, 4 Ki, 16 Ki. */
    static inline int imode_size_class(npy_intp n) {
        if (n <= 256) return n <= 24 ? 0 : n <= 64 ? 1 : 2;
        return n <= 1024 ? 3 : n <= 4096 ? 4 : n <= 16384 ? 5 : -1;
    }
    static inline void imode_raise_threshold(void) {
    #ifdef __GLIBC__
        /* volatile: the pair is not left out */
        void* volatile block = malloc((32 << 20) - 65536);
        free(block);
    #endif
    }
    """
    Descr* descr_from_type "PyArray_DescrFromType"(int typenum)
    ndarray _owned "IMODE_OWNED"(PyObject*)
    object new_array "imode_new_array"(Descr*, int, npy_intp*)
    object new_view "imode_new_view"(Descr*, int, npy_intp*, npy_intp*, char*, int)
    int size_class "imode_size_class"(npy_intp n) noexcept nogil
    void raise_threshold "imode_raise_threshold"() noexcept

cdef extern from "aligned.h":
    object new_aligned "imode_new_aligned"(Descr*, int, npy_intp*, size_t, bint zeros)

cdef enum:
    MAX_DIMS = 5              # arrays of more dimensions are not recycled
    N_CLASSES = 6
    DEPTH = 32                # arrays that a list always keeps
    DEEPEST = 2               # the largest class whose lists keep more
    WAITING_BYTES = 1 << 28   # in all lists together
    HEADER_BYTES = 144        # of an array, without its block
    # NumPy uses bits up to 14, and from 27 up (WAS_PYTHON_INT etc., which views inherit).
    RECYCLED = 1 << 18        # flags bit: the block has its class's size
    VIEW = 1 << 19            # flags bit: a header made by `view`
    CLASS_SHIFT = 20          # flags bits 20..22: the class
    ONE_ELEMENT = 7           # the class of a 0-d array: its block is one element, not 24 bytes
    CONTIGUOUS = 0x1 | 0x2    # NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_F_CONTIGUOUS
    C_CONTIGUOUS = 0x1
    F_CONTIGUOUS = 0x2
    OWNDATA = 0x4
    ALIGNED_WRITEABLE = 0x100 | 0x400
    WRITEABLE = 0x400
    KEEPABLE = 0x1 | 0x4 | 0x100 | 0x400      # contiguous, owned, aligned, writeable

ctypedef struct FreeList:     # of dead arrays, chained by their field `base`
    PyObject* first           # owned
    int n

cdef enum:
    ALIGNED = 1 << 12         # bytes: from here on, arrays begin at a cache line
    LARGE = 1 << 18
    LARGEST = 1 << 25
    KEPT = 16
    KEPT_BYTES = 1 << 26

cdef PyObject* _kept[KEPT]                # oldest first
cdef npy_intp _kept_sizes[KEPT]
cdef npy_intp _kept_bytes = 0
cdef int _n_kept = 0

cdef FreeList _arrays[N_DTYPES][MAX_DIMS + 1][N_CLASSES]
cdef FreeList _views[N_DTYPES][MAX_DIMS + 1]
cdef npy_intp _waiting_bytes = 0          # of all lists
cdef npy_intp[6] _class_bytes = [24, 64, 256, 1024, 4096, 16384]
cdef Descr* _descrs[N_DTYPES]             # the native descriptor of each Code
cdef npy_intp[N_DTYPES] _itemsize
cdef npy_intp[N_DTYPES] _alignment

raise_threshold()

cdef int _i
for _i in range(N_DTYPES):
    _descrs[_i] = descr_from_type(typenum_of[_i])
    _itemsize[_i] = (<object><PyObject*>_descrs[_i]).itemsize
    _alignment[_i] = (<object><PyObject*>_descrs[_i]).alignment


cdef inline PyObject* _take(FreeList* free, npy_intp nbytes) noexcept:
    """The array that died last, with the list's reference and without a base."""
    global _waiting_bytes
    cdef PyObject* array = free.first
    free.first = fields(array).base
    free.n -= 1
    _waiting_bytes -= nbytes
    fields(array).base = NULL
    return array


cdef inline void _put(FreeList* free, PyObject* array, npy_intp nbytes) noexcept:
    global _waiting_bytes
    fields(array).base = free.first
    free.first = array
    free.n += 1
    _waiting_bytes += nbytes


cdef inline bint _has_room(FreeList* free, int kind) noexcept:
    return free.n < DEPTH or (kind <= DEEPEST and _waiting_bytes < WAITING_BYTES)


cdef ndarray empty(int typenum, int nd, npy_intp* dims):
    cdef int code = code_of[typenum]
    cdef npy_intp nbytes = _itemsize[code]
    cdef int kind
    cdef int i
    cdef FreeList* free
    cdef PyObject* array
    if nd <= MAX_DIMS:
        for i in range(nd):
            if dims[i] > 16384:
                return _new_unrecycled(code, nd, dims)
            nbytes *= dims[i]
        kind = size_class(nbytes)
        if kind >= 0:
            free = &_arrays[code][nd][kind]
            if free.first != NULL:
                array = _take(free, HEADER_BYTES + _class_bytes[kind])
                _shape(fields(array), nd, dims, nbytes, code)
                fields(array).flags |= RECYCLED | (kind if nd else ONE_ELEMENT) << CLASS_SHIFT
                return _owned(array)
            return _new_recyclable(code, nd, dims, nbytes, kind)
    return _new_unrecycled(code, nd, dims)


cdef ndarray _new_unrecycled(int code, int nd, npy_intp* dims):
    """An array that is not recycled. (Strides of empty arrays are PyTorch's, not NumPy's zeros.)"""
    cdef npy_intp nbytes = _bytes(code, nd, dims)
    cdef ndarray array
    cdef npy_intp stride = _itemsize[code]
    cdef int i
    for i in range(_n_kept - 1, -1, -1):
        if _kept_sizes[i] == nbytes and fields(_kept[i]).nd == nd:
            array = <ndarray>_kept[i]
            _forget(i)
            _set_dtype(fields(<PyObject*>array), code)
            _shape(fields(<PyObject*>array), nd, dims, nbytes, code)
            return array
    if nbytes >= ALIGNED:
        return <ndarray>new_aligned(_descrs[code], nd, dims, nbytes, False)
    array = <ndarray>new_array(_descrs[code], nd, dims)
    if cnp.PyArray_SIZE(array) == 0:
        for i in range(nd - 1, -1, -1):
            fields(<PyObject*>array).strides[i] = stride
            stride *= dims[i] if dims[i] else 1
    return array


cdef inline void _set_dtype(Fields* array, int code) noexcept:
    cdef PyObject* before = <PyObject*>array.descr
    Py_INCREF(<object><PyObject*>_descrs[code])
    array.descr = _descrs[code]
    Py_DECREF(<object>before)


cdef npy_intp _bytes(int code, int nd, npy_intp* dims) noexcept:
    """The size of an array in bytes; 0 where it is empty, or larger than any may be."""
    cdef npy_intp nbytes = _itemsize[code]
    cdef double size = nbytes
    cdef int i
    for i in range(nd):
        if dims[i] <= 0:
            return 0
        size *= dims[i]
        if size > 2.0 ** 62:
            return 0
        nbytes *= dims[i]
    return nbytes


cdef int _read_shape(object shape, npy_intp* dims) except -2:
    """The number of dimensions; -1: for NumPy to read, whose errors are raised."""
    cdef int i, nd
    if not isinstance(shape, (tuple, list)) or len(shape) > MAX_DIMS:
        return -1
    nd = len(shape)
    for i in range(nd):
        size = shape[i]
        if type(size) is not int or not 0 < size <= 1 << 48:
            return -1
        dims[i] = size
    return nd


def allocated(shape, dtype):
    """As `np.empty`, for the dtypes of tensors."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int code = code_of[(<cnp.dtype?>dtype).type_num]
    cdef int nd = -1 if code == NO_DTYPE else _read_shape(shape, dims)
    return np.empty(shape, dtype) if nd < 0 else empty(typenum_of[code], nd, dims)


def cleared(shape, dtype):
    """As `np.zeros`, likewise; the pages of large arrays are cleared when they are used."""
    cdef npy_intp dims[MAX_DIMS]
    cdef int code = code_of[(<cnp.dtype?>dtype).type_num]
    cdef int nd = -1 if code == NO_DTYPE else _read_shape(shape, dims)
    cdef npy_intp nbytes = 0 if nd < 0 else _bytes(code, nd, dims)
    if nbytes < ALIGNED:
        return np.zeros(shape, dtype)
    return new_aligned(_descrs[code], nd, dims, nbytes, True)


cdef void _forget(int which) noexcept:
    """Remove a kept array and drop the reference to it; a caller that uses it has its own."""
    global _n_kept, _kept_bytes
    cdef PyObject* array = _kept[which]
    cdef int i
    _kept_bytes -= _kept_sizes[which]
    _n_kept -= 1
    for i in range(which, _n_kept):
        _kept[i], _kept_sizes[i] = _kept[i + 1], _kept_sizes[i + 1]
    Py_DECREF(<object>array)


cdef bint _keep(PyObject* array) noexcept:
    """Keep a dying array that begins at a cache line; False if it is not of the kind."""
    global _n_kept, _kept_bytes
    cdef Fields* header = fields(array)
    cdef int code = code_of[header.descr.type_num]
    cdef npy_intp nbytes
    if header.base != NULL or header.weakreflist != NULL or header.descr != _descrs[code] or (
            header.flags & KEEPABLE) != KEEPABLE or <size_t>header.data % 64 or (
            not PyArray_CheckExact(array)):
        return False
    nbytes = _bytes(code, header.nd, header.dimensions)
    if not LARGE <= nbytes <= LARGEST:
        return False
    while _n_kept == KEPT or _kept_bytes + nbytes > KEPT_BYTES:
        _forget(0)
    _kept[_n_kept], _kept_sizes[_n_kept] = array, nbytes
    _n_kept += 1
    _kept_bytes += nbytes
    return True


cdef void _shape(Fields* array, int nd, npy_intp* dims, npy_intp nbytes, int code) noexcept:
    """Give a recycled array its dimensions, C-contiguous strides and flags."""
    cdef npy_intp stride = _itemsize[code]
    cdef int i
    cdef int long_dims = 0
    for i in range(nd - 1, -1, -1):
        array.dimensions[i] = dims[i]
        array.strides[i] = stride
        long_dims += dims[i] != 1
        stride *= dims[i] + (dims[i] == 0)
    array.flags = OWNDATA | ALIGNED_WRITEABLE | (
        CONTIGUOUS if long_dims <= 1 or nbytes == 0 else C_CONTIGUOUS)


cdef ndarray _new_recyclable(int code, int nd, npy_intp* dims, npy_intp nbytes, int kind):
    cdef npy_intp capacity[MAX_DIMS]
    cdef ndarray array
    cdef int i
    if nd == 0:
        array = <ndarray>new_array(_descrs[code], 0, NULL)
        kind = ONE_ELEMENT
    else:
        for i in range(nd):
            capacity[i] = 1
        capacity[nd - 1] = _class_bytes[kind] // _itemsize[code]
        if _class_bytes[kind] < ALIGNED:
            array = <ndarray>new_array(_descrs[code], nd, capacity)
        else:
            array = <ndarray>new_aligned(_descrs[code], nd, capacity, _class_bytes[kind],
                                         False)
        _shape(fields(<PyObject*>array), nd, dims, nbytes, code)
    fields(<PyObject*>array).flags |= RECYCLED | kind << CLASS_SHIFT
    return array


cdef ndarray view(ndarray source, int nd, npy_intp* dims, npy_intp* strides, char* data):
    return _owned(take_view(
        <PyObject*>source, fields(<PyObject*>source).descr.type_num, nd, dims, strides, data))


cdef ndarray view_on(ndarray source, PyObject* base, int nd, npy_intp* dims, npy_intp* strides,
                     char* data):
    cdef int typenum = fields(<PyObject*>source).descr.type_num
    return _owned(_take_view_on(<PyObject*>source, base, typenum, nd, dims, strides, data))


cdef PyObject* take_view(PyObject* source, int typenum, int nd, npy_intp* dims,
                         npy_intp* strides, char* data) except NULL:
    return _take_view_on(source, root(source), typenum, nd, dims, strides, data)


cdef inline PyObject* _take_view_on(PyObject* source, PyObject* base, int typenum, int nd,
                                    npy_intp* dims, npy_intp* strides, char* data) except NULL:
    cdef Fields* header
    cdef PyObject* array
    cdef FreeList* free
    cdef int code = code_of[typenum]
    cdef int flags = fields(source).flags & ALIGNED_WRITEABLE
    if fields(source).descr.type_num != typenum and not _aligned(code, nd, strides, data):
        flags &= WRITEABLE
    if nd > MAX_DIMS:
        new = new_view(_descrs[code], nd, dims, strides, data, flags)
        array = <PyObject*>new
        Py_INCREF(new)
        header = fields(array)
    else:
        free = &_views[code][nd]
        if free.first != NULL:
            array = _take(free, HEADER_BYTES)
            header = fields(array)
            copy_dims(header.dimensions, dims, nd)
            copy_dims(header.strides, strides, nd)
            header.data = data
        else:
            new = new_view(_descrs[code], nd, dims, strides, data, flags)
            array = <PyObject*>new
            Py_INCREF(new)
            header = fields(array)
        header.flags = flags | VIEW | _contiguity(_itemsize[code], nd, dims, strides)
    header.base = base
    Py_INCREF(<object>base)
    return array


cdef int _contiguity(npy_intp item, int nd, npy_intp* dims, npy_intp* strides) noexcept:
    """NumPy's two flags; a dimension of length 1 may have any stride, an empty array any."""
    cdef npy_intp expected = item
    cdef bint is_c = True
    cdef int long_dims = 0
    cdef int i
    for i in range(nd - 1, -1, -1):
        if dims[i] != 1:
            if dims[i] == 0:
                return CONTIGUOUS
            is_c = is_c and strides[i] == expected
            expected *= dims[i]
            long_dims += 1
    if is_c:
        return CONTIGUOUS if long_dims <= 1 else C_CONTIGUOUS
    if long_dims <= 1:
        return 0
    expected = item
    for i in range(nd):
        if dims[i] != 1:
            if strides[i] != expected:
                return 0
            expected *= dims[i]
    return F_CONTIGUOUS


cdef bint _aligned(int code, int nd, npy_intp* strides, char* data) noexcept:
    cdef npy_intp mixed = <npy_intp>data
    cdef int i
    for i in range(nd):
        mixed |= strides[i]
    return mixed % _alignment[code] == 0


cdef void release(PyObject* array) noexcept:
    cdef Fields* header
    cdef FreeList* free
    cdef PyObject* base
    cdef int flags
    cdef int code
    cdef int kind
    if array == NULL:
        return
    if Py_REFCNT(array) > 1:
        Py_DECREF(<object>array)
        return
    header = fields(array)
    flags = header.flags
    if (flags & (RECYCLED | VIEW) and header.weakreflist == NULL
            and header.nd <= MAX_DIMS):
        code = code_of[header.descr.type_num]
        if header.descr != _descrs[code]:
            pass                  # its dtype was changed in place
        elif flags & RECYCLED:
            kind = flags >> CLASS_SHIFT & 7
            if header.base == NULL and (kind == ONE_ELEMENT) == (header.nd == 0):
                kind = 0 if kind == ONE_ELEMENT else kind
                free = &_arrays[code][header.nd][kind]
                if _has_room(free, kind):
                    _put(free, array, HEADER_BYTES + _class_bytes[kind])
                    return
        elif flags & VIEW:
            free = &_views[code][header.nd]
            if _has_room(free, 0):
                base = header.base
                _put(free, array, HEADER_BYTES)
                if PyArray_CheckExact(base):
                    release(base)
                else:
                    Py_DECREF(<object>base)
                return
    elif _keep(array):
        return
    Py_DECREF(<object>array)


cdef PyObject* root(PyObject* array) noexcept:
    # NumPy collapses chains of views, and so does `view`: the owner is one step away.
    cdef PyObject* base = fields(array).base
    while base != NULL and PyArray_CheckExact(base):
        array = base
        base = fields(array).base
    return array


cdef void _drop(FreeList* free, npy_intp nbytes) noexcept:
    while free.first != NULL:
        Py_DECREF(<object>_take(free, nbytes))


def collected(phase, info):
    """For `gc.callbacks`: a full collection releases all memory that waits for reuse."""
    cdef int code, nd, kind
    if phase != "stop" or info["generation"] != 2:
        return
    for code in range(N_DTYPES):
        for nd in range(MAX_DIMS + 1):
            _drop(&_views[code][nd], HEADER_BYTES)
            for kind in range(N_CLASSES):
                _drop(&_arrays[code][nd][kind], HEADER_BYTES + _class_bytes[kind])
    while _n_kept:
        _forget(0)
    drop_spare_slabs()


gc.callbacks.append(collected)


def free_lists():
    """How many arrays and view headers wait for reuse: a pair of ints."""
    cdef int code, nd, kind
    cdef Py_ssize_t arrays = 0
    cdef Py_ssize_t views = 0
    for code in range(N_DTYPES):
        for nd in range(MAX_DIMS + 1):
            views += _views[code][nd].n
            for kind in range(N_CLASSES):
                arrays += _arrays[code][nd][kind].n
    return arrays, views
