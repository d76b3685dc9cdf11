"""Channels as pixels and the reverse, for contiguous arrays of elements of up to 8 bytes."""

cimport numpy as cnp
from cpython.object cimport PyObject
from imode._core.adapter cimport deliver, run_general
from imode._core.allocator cimport Fields, empty
from imode._core.channels cimport is_channels_last
from imode._core.dispatch cimport CKernel, Operator
from imode._core.keyset cimport keyset_t
from imode._core.parallel cimport skipping
from imode.kernels.fast_guards cimport _array, _count, _integer, _row_major, array_of
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cnp.import_array()

cdef enum:
    GIL_FREE = 4096               # from so many elements on, the GIL is released

ctypedef fused item:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef struct blocks_t:
    long planes                   # images times their channels, where these are fewer
    long height, width            # where the channels are more
    long factor


cdef void _walk(const blocks_t* p, item* pixels, item* channels, bint back) noexcept nogil:
    """Copy channels to pixels: (planes, factor, factor, height, width) to
    (planes, height, factor, width, factor). back: the reverse."""
    cdef long _, y, a, x, b, area = p.height * p.width, step = p.factor
    cdef item* at
    for _ in range(p.planes):
        for y in range(p.height):
            for a in range(step):
                at = channels + a * step * area + y * p.width
                for b in range(step):
                    if back:
                        for x in range(p.width):
                            at[x] = pixels[x * step + b]
                    else:
                        for x in range(p.width):
                            pixels[x * step + b] = at[x]
                    at += area
                pixels += step * p.width
        channels += step * step * area


cdef void _walk_sized(int size, const blocks_t* p, void* pixels, void* channels,
                      bint back) noexcept nogil:
    if size == 4:
        _walk(p, <uint32_t*>pixels, <uint32_t*>channels, back)
    elif size == 8:
        _walk(p, <uint64_t*>pixels, <uint64_t*>channels, back)
    elif size == 2:
        _walk(p, <uint16_t*>pixels, <uint16_t*>channels, back)
    else:
        _walk(p, <uint8_t*>pixels, <uint8_t*>channels, back)


cdef object _shuffled(Operator op, keyset_t keys, PyObject** args, bint back):
    cdef Fields* x = _array(args[0])
    cdef cnp.ndarray array = array_of(args[0]), out
    cdef int size = cnp.PyArray_ITEMSIZE(array), nd = x.nd, d
    cdef cnp.npy_intp[64] dims
    cdef int64_t factor
    cdef blocks_t p
    cdef void* pixels
    cdef void* channels
    if nd < 3 or not _row_major(x) or size > 8 or not _integer(args[1], &factor, 1 << 16) or (
            factor <= 0 or skipping() or _count(x, 0, nd) == 0 or is_channels_last(array)):
        return run_general(op, keys, args)
    for d in range(nd):
        dims[d] = x.dimensions[d]
    if back:
        if dims[nd - 2] % factor or dims[nd - 1] % factor:
            return run_general(op, keys, args)
        p.planes = _count(x, 0, nd - 2)
        dims[nd - 3] *= factor * factor
        dims[nd - 2] //= factor
        dims[nd - 1] //= factor
        p.height, p.width = dims[nd - 2], dims[nd - 1]
    else:
        if dims[nd - 3] % (factor * factor):
            return run_general(op, keys, args)
        p.height, p.width = dims[nd - 2], dims[nd - 1]
        dims[nd - 3] //= factor * factor
        p.planes = 1
        for d in range(nd - 2):
            p.planes *= dims[d]
        dims[nd - 2] *= factor
        dims[nd - 1] *= factor
    p.factor = factor
    out = empty(x.descr.type_num, nd, dims)
    pixels = x.data if back else cnp.PyArray_DATA(out)
    channels = cnp.PyArray_DATA(out) if back else x.data
    if cnp.PyArray_SIZE(out) < GIL_FREE:
        _walk_sized(size, &p, pixels, channels, back)
    else:
        with nogil:
            _walk_sized(size, &p, pixels, channels, back)
    return deliver(op, out, args)


cdef object _pixel_shuffle(Operator op, keyset_t keys, PyObject** args):
    return _shuffled(op, keys, args, False)


cdef object _pixel_unshuffle(Operator op, keyset_t keys, PyObject** args):
    return _shuffled(op, keys, args, True)


pixel_shuffle = CKernel.new(_pixel_shuffle)
pixel_unshuffle = CKernel.new(_pixel_unshuffle)
