"""How tensors print: `tensor_str` gives the text of `repr(tensor)`, `set_printoptions` its options.

Layout, precision, the choice of scientific notation and summarising are exactly PyTorch's. All
functions work on ndarrays; what is known only of the tensor is passed by keyword.
"""

import contextlib
import math

import numpy as np

from imode._core import library_name

__all__ = ["get_printoptions", "printoptions", "set_printoptions"]

_PROFILES = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": math.inf, "edgeitems": 3, "linewidth": 80},
}
_options = {**_PROFILES["default"], "sci_mode": None}


def set_printoptions(
    precision=None, threshold=None, edgeitems=None, linewidth=None, profile=None, sci_mode=None
):
    """Set how tensors print, from now on; options that are not given keep their values.

    precision: digits after the decimal point (4). threshold: tensors with more elements are
    summarised (1000). edgeitems: elements shown at each end of a summarised dimension (3).
    linewidth: columns before a line is broken (80). profile: "default", "short" or "full", applied
    before the other options. sci_mode: True forces, False forbids scientific notation; None, or no
    value, chooses by the elements.

    >>> imode.set_printoptions(precision=2)
    >>> imode.tensor([1.12345])
    tensor([1.12])
    >>> imode.set_printoptions(profile="default")
    """
    _options.update(_PROFILES.get(profile, {}))
    given = {
        "precision": precision,
        "threshold": threshold,
        "edgeitems": edgeitems,
        "linewidth": linewidth,
    }
    _options.update({name: value for name, value in given.items() if value is not None})
    _options["sci_mode"] = sci_mode


def get_printoptions():
    """Return the current options, as keywords for `set_printoptions`."""
    return dict(_options)


@contextlib.contextmanager
def printoptions(**options):
    """Set print options for a `with` block; the options are those of `set_printoptions`.

    >>> from imode._tensor.printing import printoptions
    >>> with printoptions(precision=1):
    ...     print(imode.tensor([1.25, 2.0]))
    tensor([1.2, 2.0])
    """
    before = get_printoptions()
    set_printoptions(**options)
    try:
        yield
    finally:
        set_printoptions(**before)


def tensor_str(
    array,
    *,
    requires_grad=False,
    grad_fn_name=None,
    dtype=None,
    is_parameter=False,
    default_dtype=np.float32,
    device=None,
    meta=False,
):
    """Return the `repr` of a tensor whose values are `array`.

    dtype: shown if the values do not imply it (None: "imode." and NumPy's name). default_dtype: the
    floating dtype that is not shown. device: shown unless None. meta: the tensor has a shape but no
    values.
    """
    default = np.dtype(default_dtype)
    if dtype is None:
        dtype = f"{library_name.name}.{array.dtype}"
    unmentioned = _unmentioned(default)

    prefix = "tensor("
    suffixes = [] if device is None else [f"device='{device}'"]
    shape = f"size={tuple(array.shape)}"
    if meta or array.size == 0:
        contents = "..." if meta else "[]"
        if meta or array.ndim != 1:
            suffixes.append(shape)
        # An empty tensor does not even imply int64, so all but the default dtype are shown.
        if array.dtype != default:
            suffixes.append(f"dtype={dtype}")
    else:
        contents = _contents(array, len(prefix))
        if not _options["edgeitems"]:
            suffixes.append(shape)
        if array.dtype not in unmentioned:
            suffixes.append(f"dtype={dtype}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif requires_grad:
        suffixes.append("requires_grad=True")
    text = _with_suffixes(prefix + contents, suffixes, len(prefix))
    return f"Parameter containing:\n{text}" if is_parameter else text


def format_tensor(array, spec, text, item):
    """Return `format(tensor, spec)`: a 0-dim tensor formats as its number, `item()`, others as
    `text()`.

    >>> f"{imode.tensor(0.25):.1%}"
    '25.0%'
    """
    if array.ndim == 0:
        return format(item(), spec)
    if spec:
        raise TypeError("unsupported format string passed to Tensor.__format__")
    return text()


def show(tensor):
    """Return `repr(tensor)`."""
    from imode._core.dtype import get_default_dtype
    from imode._core.elsewhere import elements_of
    from imode._core.internals import array_of, is_parameter
    from imode._core.sparse import is_sparse

    if getattr(tensor, "_lazy", None) is not None:
        return f"<{tensor._lazy}>"
    try:
        node = tensor.grad_fn
        name = None if node is None else type(node).name(node).rpartition("::")[2]
    except RuntimeError:  # a view, written to under no_grad, whose history cannot be renewed
        name = "Invalid"
    if is_sparse(tensor):
        return _show_sparse(tensor, name)
    return tensor_str(
        elements_of(tensor) if tensor.device.type != "meta" else array_of(tensor),
        requires_grad=tensor.requires_grad,
        grad_fn_name=name,
        dtype=tensor.dtype,
        is_parameter=is_parameter(tensor),
        default_dtype=get_default_dtype().numpy,
        device=None if tensor.is_cpu else tensor.device,
        meta=tensor.is_meta,
    )


def _unmentioned(default):
    """The dtypes that are not shown, by the default one: a number's looks tell them."""
    of_complex = np.dtype(np.complex128 if default == np.float64 else np.complex64)
    return {default, np.dtype(np.int64), np.dtype(np.bool_), of_complex}


def _show_sparse(tensor, grad_fn_name):
    """Return `repr(tensor)` of a sparse tensor: what it is made of."""
    from imode._core.dtype import get_default_dtype
    from imode._core.internals import is_parameter
    from imode._core.sparse import parts

    found, prefix = parts(tensor), "tensor("
    suffixes = [f"size={tuple(tensor.shape)}", f"nnz={found.indices.shape[1]}"]
    if found.values.dtype not in _unmentioned(np.dtype(get_default_dtype().numpy)):
        suffixes.append(f"dtype={tensor.dtype}")
    suffixes.append(f"layout={tensor.layout}")
    if grad_fn_name is not None:
        suffixes.append(f"grad_fn=<{grad_fn_name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    lines = []
    for name, array in (("indices", found.indices), ("values", found.values)):
        text = f"{name}=tensor("
        if array.size:
            shown = _contents(array, len(prefix) + len(text))
        else:
            shown = "[]" + f", size={array.shape}"
        lines.append(text + shown + "),\n" + " " * len(prefix))
    first, text = suffixes[0], prefix + "".join(lines)
    text = _with_suffixes(text + first, suffixes[1:], len(prefix))
    return f"Parameter containing:\n{text}" if is_parameter(tensor) else text


# ---- the parts -----------------------------------------------------------------------------------


def _with_suffixes(text, suffixes, indent):
    """Append `, suffix` for each suffix, on a new line if the last line would become too long."""
    used = len(text) - text.rfind("\n") + 1
    for suffix in suffixes:
        if used + len(suffix) + 2 > _options["linewidth"]:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _contents(array, indent):
    summarise = array.size > _options["threshold"]
    if array.dtype.isbuiltin == 2:  # a dtype that NumPy has no functions for
        array = array.astype(np.float32)
    shown = _edges(array) if summarise else array
    if array.dtype.kind == "c":
        real, imag = _Number(shown.real), _Number(shown.imag)

        def form(value):
            second = (imag(value.imag) + "j").lstrip()
            return real(value.real) + ("" if second[0] in "+-" else "+") + second

        width = real.width + imag.width + 1
    else:
        form = _Number(shown)
        width = form.width
    return _block(array, indent, summarise, form, width + 2)


def _edges(array):
    """The elements that a summary shows, which decide the width and notation."""
    edge = _options["edgeitems"]
    if not edge:
        return array if array.ndim == 1 else array[:0]
    kept = [[*range(edge), *range(n - edge, n)] if n > 2 * edge else range(n) for n in array.shape]
    return array[np.ix_(*kept)]  # at once: an expanded tensor is larger than the memory


class _Number:
    """Formats numbers to a common width, chosen from all that are shown."""

    def __init__(self, shown):
        self.floating = shown.dtype.kind == "f"
        self.whole = True  # all values are whole numbers: "1." instead of "1.0000"
        self.scientific = False
        self.width = 1
        flat = shown.reshape(-1)
        if self.floating:
            flat = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
            if not flat.size:
                return
            magnitude = np.abs(flat)
            low, high = float(magnitude.min()), float(magnitude.max())
            self.whole = bool((flat == np.ceil(flat)).all())
            self.scientific = _options["sci_mode"]
            if self.scientific is None:
                # In this order, because for a denormal `low` the quotient is infinite.
                self.scientific = high > 1.0e8 or low < 1.0e-4 or high / low > 1000.0
        self.width = max((len(self._plain(value)) for value in flat.tolist()), default=1)

    def _plain(self, value):
        if not self.floating:
            return f"{value}"
        digits = _options["precision"]
        if self.scientific:
            return f"{value:.{digits}e}"
        if not self.whole:
            return f"{value:.{digits}f}"
        return f"{value:.0f}" + ("." if math.isfinite(value) else "")

    def __call__(self, value):
        return self._plain(value).rjust(self.width)


def _block(array, indent, summarise, form, element_width):
    """Nested brackets: one row per line, and one more blank line per outer dimension."""
    if array.ndim == 0:
        return form(array.item())
    edge = _options["edgeitems"]
    cut = summarise and len(array) > 2 * edge
    if array.ndim == 1:
        if cut:
            last = array[len(array) - edge :]
            parts = [form(value) for value in array[:edge].tolist()]
            parts += [" ..." if edge else "..."] + [form(value) for value in last.tolist()]
        else:
            parts = [form(value) for value in array.tolist()]
        per_line = max(1, (_options["linewidth"] - indent) // element_width)
        rows = [", ".join(parts[i : i + per_line]) for i in range(0, len(parts), per_line)]
        return "[" + (",\n" + " " * (indent + 1)).join(rows) + "]"
    count = len(array)
    shown = [*range(edge), None, *range(count - edge, count)] if cut else range(count)
    blocks = [
        "..." if i is None else _block(array[i], indent + 1, summarise, form, element_width)
        for i in shown
    ]
    return "[" + ("," + "\n" * (array.ndim - 1) + " " * (indent + 1)).join(blocks) + "]"
