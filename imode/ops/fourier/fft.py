"""The transforms of `imode.fft`, by PyTorch's names: compositions of three operators."""

from imode import errors, ops
from imode._core.dtype import get_default_dtype
from imode._core.type_names import scalar_name
from imode.kernels.shapes.views import wrap_dim
from imode.ops.fourier import composites_fast as fast
from imode.ops.schema import Out, composite

# ---- arguments ----------------------------------------------------------------------------------

_BACKWARD = {None: 2, "backward": 2, "ortho": 1, "forward": 0}
_FORWARD = {None: 0, "backward": 0, "ortho": 1, "forward": 2}


def _normalization(norm, forward):
    found = (_FORWARD if forward else _BACKWARD).get(norm)
    if found is None:
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return found


def _floating(tensor):
    """The tensor, integers in the default float dtype."""
    dtype = tensor.dtype
    if dtype.numpy.kind in "biu":
        return tensor.to(get_default_dtype())
    if dtype.name in ("float16", "bfloat16"):
        raise RuntimeError(f"Unsupported dtype {scalar_name(dtype)}")
    return tensor


def _complex(tensor):
    tensor = _floating(tensor)
    if tensor.is_complex():
        return tensor
    return ops._to_copy(tensor, dtype=(tensor.dtype.to_complex()))


def _real(name, tensor, sentence="expects a real input tensor"):
    if tensor.is_complex():
        raise RuntimeError(f"{name} {sentence}, but got {scalar_name(tensor.dtype)}")
    return _floating(tensor)


def _axis(tensor, dim):
    if tensor.dim() == 0:
        raise errors.shapes.no_dimensions(dim)
    return wrap_dim(dim, tensor.dim())


def _points(n):
    if n < 1:
        raise errors.shapes.no_points(n)
    return n


def _fitted(tensor, dims, sizes):
    """The tensor with these sizes: cut off at the end, or zeros after it."""
    pad = [0] * (2 * tensor.dim())
    for dim, size in zip(dims, sizes, strict=True):
        if size < tensor.shape[dim]:
            tensor = ops.slice(tensor, dim, 0, size)
        pad[2 * (tensor.dim() - 1 - dim) + 1] = max(size - tensor.shape[dim], 0)
    return ops.constant_pad_nd(tensor, pad) if any(pad) else tensor


def _shape_and_dims(tensor, s, dims):
    """The dimensions that are transformed, from the front, and their sizes, -1 as it is."""
    ndim = tensor.dim()
    if dims is not None:
        dims = [wrap_dim(dim, ndim) if ndim else _axis(tensor, dim) for dim in dims]
        if len(set(dims)) < len(dims):
            raise errors.shapes.repeated_axis()
        if s is not None and len(s) != len(dims):
            raise RuntimeError("When given, dim and shape arguments must have the same length")
    elif s is not None:
        if len(s) > ndim:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {ndim} dimensions."
            )
        dims = list(range(ndim - len(s), ndim))
    else:
        dims = list(range(ndim))
    sizes = [
        _points(tensor.shape[dim] if s is None or s[i] == -1 else s[i])
        for i, dim in enumerate(dims)
    ]
    return sizes, dims


def _real_shape_and_dims(name, tensor, s, dims):
    """The same of a transform to real numbers: the last size is that of the result."""
    if not (tensor.dim() if dims is None and s is None else len(s if dims is None else dims)):
        raise errors.shapes.no_axis(name)
    last = None if s is None or s[-1] == -1 else s[-1]
    halves = None if s is None else [*s[:-1], -1 if last is None else last // 2 + 1]
    if last is not None and dims is not None and len(s) == len(dims):
        _points(last)
    sizes, dims = _shape_and_dims(tensor, halves, dims)
    last = _points(2 * (tensor.shape[dims[-1]] - 1) if last is None else last)
    return sizes, dims, last


# ---- one dimension ------------------------------------------------------------------------------


_OUT = Out(layout="rows")
_CONJUGATED = Out("same", "Found dtype {Found} but expected {Wanted}")


def _check_out(name, out, kind):
    """Refuse an out= that is not complex or, for the kind "f", not of floating point."""
    if out is not None and out.dtype.numpy.kind != kind:
        wanted = "complex" if kind == "c" else "floating point"
        raise RuntimeError(
            f"{name} expects a {wanted} output tensor, but got {scalar_name(out.dtype)}"
        )


def _conjugated(name, found, out):
    """The conjugate, in out= if that is given."""
    found = ops._conj(found)
    return found if out is None else _CONJUGATED.write(found, out, name)


def _one(name, doc):
    """Declare a transform along one dimension: a decorator."""
    return composite(
        f"fft_{name}(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor",
        fast=getattr(fast, name),
        variants="function out",
        out=_OUT,
        doc=doc,
    )


def _along(name, tensor, n, dim, norm, forward, out):
    """A transform to as many complex numbers."""
    _check_out(name, out, "c")
    tensor = _floating(tensor)
    dim = _axis(tensor, dim)
    if n is not None:
        _points(n)
        tensor = _fitted(tensor, [dim], [n])
    else:
        _points(tensor.shape[dim])
    scale = _normalization(norm, forward)
    if tensor.is_complex():
        return ops._fft_c2c(tensor, (dim,), scale, forward, out=out)
    if forward:
        return ops._fft_r2c(tensor, (dim,), scale, False, out=out)
    return _conjugated(name, ops._fft_r2c(tensor, (dim,), scale, False), out)


def _half(name, tensor, n, dim, norm, forward, out):
    """A transform of real numbers, without the half that is conjugate to the other."""
    tensor = _real(name, tensor)
    _check_out(name, out, "c")
    dim = _axis(tensor, dim)
    tensor = _fitted(tensor, [dim], [_points(tensor.shape[dim] if n is None else n)])
    scale = _normalization(norm, forward)
    if forward:
        return ops._fft_r2c(tensor, (dim,), scale, True, out=out)
    return _conjugated(name, ops._fft_r2c(tensor, (dim,), scale, True), out)


def _whole(name, tensor, n, dim, norm, forward, out):
    """A transform of such a half back to real numbers."""
    _check_out(name, out, "f")
    tensor = _complex(tensor)
    dim = _axis(tensor, dim)
    n = _points(2 * (tensor.shape[dim] - 1) if n is None else n)
    tensor = _fitted(tensor, [dim], [n // 2 + 1])
    if forward:
        tensor = ops._conj(tensor)
    return ops._fft_c2r(tensor, (dim,), _normalization(norm, forward), n, out=out)


_MORE = """

    n: the length that is transformed, of more zeros or of fewer numbers. norm: "backward", the
    inverse divides by n; "forward", this one does; "ortho", both by its root. Raises RuntimeError
    for float16 and where there is no number.
"""


@_one(
    "fft",
    f"""Return the discrete Fourier transform along a dimension.{_MORE}
    >>> imode.fft.fft(imode.tensor([1.0, 2.0, 3.0, 2.0]))
    tensor([ 8.+0.j, -2.+0.j,  0.+0.j, -2.-0.j])
    """,
)
def fft_fft(self, n, dim, norm, out=None):
    return _along("fft", self, n, dim, norm, True, out)


@_one(
    "ifft",
    f"""Return the inverse of `fft`.{_MORE}
    >>> imode.fft.ifft(imode.tensor([8.0, -2.0, 0.0, -2.0])).real
    tensor([1., 2., 3., 2.])
    """,
)
def fft_ifft(self, n, dim, norm, out=None):
    return _along("ifft", self, n, dim, norm, False, out)


@_one(
    "rfft",
    f"""Return the transform of real numbers: n // 2 + 1, to which the rest is conjugate.{_MORE}
    >>> imode.fft.rfft(imode.tensor([1.0, 2.0, 3.0, 2.0]))
    tensor([ 8.+0.j, -2.+0.j,  0.+0.j])
    """,
)
def fft_rfft(self, n, dim, norm, out=None):
    return _half("rfft", self, n, dim, norm, True, out)


@_one(
    "irfft",
    f"""Return the inverse of `rfft`: n real numbers, or 2 * (m - 1) of m.{_MORE}
    >>> imode.fft.irfft(imode.tensor([8.0, -2.0, 0.0]))
    tensor([1., 2., 3., 2.])
    """,
)
def fft_irfft(self, n, dim, norm, out=None):
    return _whole("irfft", self, n, dim, norm, False, out)


@_one(
    "hfft",
    f"""Return the transform, of real numbers, of what is conjugate to its second half.{_MORE}
    >>> imode.fft.hfft(imode.tensor([1.0, 2.0, 3.0]))
    tensor([ 8., -2.,  0., -2.])
    """,
)
def fft_hfft(self, n, dim, norm, out=None):
    return _whole("hfft", self, n, dim, norm, True, out)


@_one(
    "ihfft",
    f"""Return the inverse of `hfft`.{_MORE}
    >>> imode.fft.ihfft(imode.tensor([8.0, -2.0, 0.0, -2.0])).real
    tensor([1., 2., 3.])
    """,
)
def fft_ihfft(self, n, dim, norm, out=None):
    return _half("ihfft", self, n, dim, norm, False, out)


# ---- two dimensions, or more --------------------------------------------------------------------


def _several(tensor, s, dim, norm, forward, out):
    _check_out("fftn", out, "c")
    tensor = _complex(tensor)
    sizes, dims = _shape_and_dims(tensor, s, dim)
    if not dims:
        return ops._fft_c2c(tensor, (), 0, forward, out=out)
    tensor = _fitted(tensor, dims, sizes)
    return ops._fft_c2c(tensor, tuple(dims), _normalization(norm, forward), forward, out=out)


def _some(name, tensor, s, dim):
    sizes, dims = _shape_and_dims(tensor, s, dim)
    if not dims:
        raise errors.shapes.no_axis(name)
    return _fitted(tensor, dims, sizes), dims


def fftn(self, s, dim, norm, out=None):
    return _several(self, s, dim, norm, True, out)


def ifftn(self, s, dim, norm, out=None):
    return _several(self, s, dim, norm, False, out)


def rfftn(self, s, dim, norm, out=None):
    _check_out("rfftn", out, "c")
    tensor = _real("rfftn", self, "expects a real-valued input tensor")
    tensor, dims = _some("rfftn", tensor, s, dim)
    return ops._fft_r2c(tensor, tuple(dims), _normalization(norm, True), True, out=out)


def irfftn(self, s, dim, norm, out=None):
    _check_out("irfftn", out, "f")
    tensor = _complex(self)
    sizes, dims, last = _real_shape_and_dims("irfftn", tensor, s, dim)
    tensor = _fitted(tensor, dims, sizes)
    return ops._fft_c2r(tensor, tuple(dims), _normalization(norm, False), last, out=out)


def hfftn(self, s, dim, norm, out=None):
    _check_out("hfftn", out, "f")
    tensor = _complex(self)
    sizes, dims, last = _real_shape_and_dims("hfftn", tensor, s, dim)
    tensor = _fitted(tensor, dims, sizes)
    scale = _normalization(norm, True)
    if len(dims) > 1:
        tensor = ops._fft_c2c(tensor, tuple(dims[:-1]), scale, True)
    return ops._fft_c2r(ops._conj(tensor), (dims[-1],), scale, last, out=out)


def ihfftn(self, s, dim, norm, out=None):
    _check_out("ihfftn", out, "c")
    tensor = _floating(self)
    if tensor.is_complex():
        raise RuntimeError(
            f"Only supports floating-point dtypes, but found: {scalar_name(tensor.dtype)}"
        )
    tensor, dims = _some("ihfftn", tensor, s, dim)
    scale = _normalization(norm, False)
    found = ops._fft_r2c(tensor, (dims[-1],), scale, True)
    if len(dims) == 1:
        return _conjugated("ihfftn", found, out)
    return ops._fft_c2c(ops._conj_physical(found), tuple(dims[:-1]), scale, False, out=out)


_SEVERAL = {
    "fft": (fftn, "Return the discrete Fourier transform along"),
    "ifft": (ifftn, "Return the inverse of `fft{}`, along"),
    "rfft": (rfftn, "Return the transform of real numbers, half of the last, along"),
    "irfft": (irfftn, "Return the inverse of `rfft{}`, to real numbers, along"),
    "hfft": (hfftn, "Return the transform, of real numbers, of half a conjugate line, along"),
    "ihfft": (ihfftn, "Return the inverse of `hfft{}`, along"),
}
for _name, (_function, _doc) in _SEVERAL.items():
    for _form, _dim, _which in (
        ("2", "int[1] dim=(-2, -1)", "two dimensions"),
        ("n", "int[1]? dim=None", "all dimensions, or those of `dim`"),
    ):
        composite(
            f"fft_{_name}{_form}(Tensor self, int[1]? s=None, {_dim}, str? norm=None) -> Tensor",
            fast=getattr(fast, f"{_name}n"),
            variants="function out",
            out=_OUT,
            doc=f"""{_doc.format(_form)} {_which}.

    s: the sizes that are transformed, -1 as it is, of more zeros or of fewer numbers. norm:
    "backward", the inverse divides by their product; "forward", this one does; "ortho", both by
    its root. Raises RuntimeError for float16 and where there is no number.

    >>> imode.fft.{_name}{_form}(imode.ones(4, 4)).shape == imode.Size({
                (_name == "rfft" and [4, 3])
                or (_name == "ihfft" and [4, 3])
                or (_name in ("irfft", "hfft") and [4, 6])
                or [4, 4]
            })
    True
    """,
        )(_function)
