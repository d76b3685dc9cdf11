"""What a call would do: `imode.ops.add.explain(a, b)`.

The arguments are bound and the keys are computed as in a call. Nothing is run on the arguments, and
nothing is written. Whether a fast case serves is found out in one of two ways, and the explanation
says in which: a ufunc's kernel states its own tests (`why_general` in loops.pyx, which the tests
hold against runs); the other kernels are run on copies of the arguments.
"""

import ctypes
import os
import sys

import numpy as np

from imode._core.adapter import count_runs
from imode._core.bind import bind_call
from imode._core.dispatch import (
    Kind,
    Role,
    excluded_keys,
    fast_case,
    function_of,
    included_keys,
    is_grad_enabled,
    keys_of_call,
    mask_of,
    try_fast,
    unseen,
)
from imode._core.guard import why_not_recording
from imode._core.internals import array_of, wrap_array
from imode._core.keyset import DispatchKey, DispatchKeySet
from imode._core.loops import copies_made, loops_of, why_general
from imode._core.provenance import location
from imode._core.tensor import Tensor

_MOST_BYTES = 1 << 24  # arguments of more are not copied to try a fast case
_USUAL = ("float32", "float64", "int64", "bool")


class Argument:
    """An argument of a call: `name`, `value` (in short) and `keys`, a DispatchKeySet or None."""

    def __init__(self, name, value, keys):
        self.name, self.value, self.keys = name, value, keys


class Step:
    """A kernel that a call enters: its `key`, `file` and `line` (None: unknown), what it `does`."""

    def __init__(self, key, file, line, does):
        self.key, self.file, self.line, self.does = key, file, line, does

    @property
    def place(self):
        """``"file:line"``."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


class FastCase:
    """Whether the compiled case for plain arguments serves.

    `applies`: True, False, or None if that is not known; `why`: a sentence; `by`: "its tests",
    "a run on copies" or "nothing".
    """

    def __init__(self, applies, why, by):
        self.applies, self.why, self.by = applies, why, by


class Explanation:
    """What a call would do. Its text is what `explain` prints.

    `operator`: the overload that fits; `arguments`: a list of Argument; `given`: the keys of all
    arguments; `included`, `excluded`, `mask`: DispatchKeySets; `keys`: what is left of them;
    `kernels`: a list of Step, in the order in which they are entered; `fast`: a FastCase, or None
    if there is no such case; `copies`: a list of sentences, or None if that is not known.
    """

    def __init__(self, op, values, target):
        each, self.given = keys_of_call(op, values, target)
        self.operator = op
        self.arguments = [
            Argument(name, _short(value), each.get(i))
            for i, (name, value) in enumerate(zip(op.names, values, strict=True))
        ]
        if "out" in each:
            self.arguments.append(Argument("out", _short(target), each["out"]))
        self.included, self.excluded, self.mask = included_keys(), excluded_keys(), mask_of(op)
        self.guard = why_not_recording()
        self.keys = (self.given | self.included) - self.excluded
        if op.is_composite:
            self.kernels = [Step(None, *_source(function_of(op)), "calls other operators")]
        else:
            self.keys &= self.mask
            self.kernels = [_step(op, key, values) for key in _descending(self.keys)]
        self.fast = _fast(op, self.keys, values, target)
        self.copies = _copies(op, self.keys, self.fast, values, target)

    def __str__(self):
        lines = [self.operator.schema, *_table("arguments", self._arguments())]
        lines += _table("keys", self._keys())
        steps = []
        for i, step in enumerate(self.kernels, 1):
            key = "function" if step.key is None else step.key.name
            steps.append((f"{i}. {key}", f"{step.place}: {step.does}"))
        lines += _table("kernels", steps or [("none", "the call raises: none serves its keys")])
        if self.fast is not None:
            words = {True: "serves", False: "does not serve", None: "not known"}
            lines.append(f"fast case: {words[self.fast.applies]}; {self.fast.why} ({self.fast.by})")
        else:
            lines.append("fast case: there is none")
        if self.copies is None:
            lines.append("copies: not known; the kernel is a function of its own")
        else:
            lines.append(f"copies: {'; '.join(self.copies) or 'none'}")
        return "\n".join(lines)

    def _arguments(self):
        width = max([len(a.value) for a in self.arguments if a.keys is not None], default=0)
        for argument in self.arguments:
            keys = "" if argument.keys is None else f"  {_names(argument.keys)}"
            yield argument.name, f"{argument.value:<{width * bool(keys)}}{keys}"

    def _keys(self):
        yield "arguments", _names(self.given)
        yield "+ included", _names(self.included)
        because = ""
        if self.guard is not None and self.excluded:
            at = location(self.guard[1])
            because = f"  by {self.guard[0]}" + (f" (entered at {at})" if at else "")
        yield "- excluded", _names(self.excluded) + because
        if not self.operator.is_composite:
            yield "& mask", _names(self.mask)
        yield "= left", _names(self.keys)

    __repr__ = __str__


def explain(op, args, kwargs):
    """Print and return the Explanation of a call; raises what binding its arguments would."""
    op, values, target = bind_call(op, args, kwargs)
    explanation = Explanation(op, values, target)
    print(explanation)
    return explanation


# ---- words ----


def _names(keys):
    return ", ".join(key.name for key in _descending(keys)) or "none"


def _descending(keys):
    return sorted(keys, key=int, reverse=True)


def _table(title, rows):
    rows = list(rows)
    width = max([len(name) for name, _ in rows], default=0)
    return [f"{title}:", *[f"  {name:<{width}}  {text}" for name, text in rows]]


def _short(value):
    """A value in a line."""
    if isinstance(value, Tensor):
        text = f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
        for said, holds in (
            ("not contiguous", not value.is_contiguous()),
            ("requires grad", value.requires_grad),
            ("inference", value.is_inference()),
        ):
            text += f", {said}" * holds
        return text
    if type(value) in (tuple, list) and any(isinstance(item, Tensor) for item in value):
        few = ", ".join(_short(item) for item in value[:3])
        return f"[{few}{f', ... {len(value)} in all' if len(value) > 3 else ''}]"
    if isinstance(value, (bool, int, float, complex, str, type(None), tuple)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    return type(value).__name__


# ---- files and lines ----


def _step(op, key, values):
    kernel = op.kernel_of(key)
    function = function_of(kernel)
    if function is not None:
        does = "a kernel that was registered; the next ones, if it hands the call on"
        backend = key in DispatchKeySet("CPU") | DispatchKeySet("Meta")
        return Step(key, *_source(function), "a kernel that was registered" if backend else does)
    return Step(key, *_place(kernel.where), _does(op, key, kernel, values))


def _does(op, key, kernel, values):
    if key == DispatchKey.Autograd:
        if not is_grad_enabled():
            return "records nothing: grad mode is off"
        if not any(_requires_grad(value) for value in values):
            return "records nothing: no argument requires grad"
        return "checks and records the call for backward"
    if key == DispatchKey.ADInplaceOrView:
        return "records the view" if op.is_view else "counts the write: the version goes up"
    if kernel.outside is not None:
        return f"a library's kernel for {kernel.outside.key}"
    ufunc = loops_of(kernel)
    if ufunc is not None:
        file, line = _place("imode._core.loops:ufunc_kernel")
        at = file if line is None else f"{file}:{line}"
        return f"the loops of {ufunc.__name__}, run by {at}"
    general = kernel.general
    if callable(general):
        file, line = _source(general)
        if line is not None:
            return f"declared here; its general case is {file}:{line}"
    return "declared here; compiled"


def _requires_grad(value):
    if isinstance(value, (tuple, list)):
        return any(_requires_grad(item) for item in value)
    return isinstance(value, Tensor) and value.requires_grad


def _source(function):
    """(file, line) of a Python function; of another callable, its module."""
    seen = set()
    while id(function) not in seen:
        seen.add(id(function))
        function = getattr(function, "__wrapped__", getattr(function, "func", function))
    code = getattr(function, "__code__", None)
    if code is not None:
        return _relative(code.co_filename), code.co_firstlineno
    return getattr(function, "__module__", None) or type(function).__module__, None


def _relative(path):
    """A path of the package as ``imode/...``, others as they are."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
    return os.path.relpath(path, package) if path.startswith(package + os.sep + "imode") else path


def _place(where):
    """(file, line) of what a CKernel says of where it is from: module, :line or :function."""
    module, _, rest = where.partition(":")
    if rest.isdigit():
        file = getattr(sys.modules.get(module), "__file__", None)
        return (_relative(file) if file else module), int(rest)
    if module not in sys.modules:
        return where, None
    # A compiled module: its source is there in a checkout, and not in a wheel.
    folder = os.path.dirname(sys.modules[module].__file__)
    path = os.path.join(folder, module.rpartition(".")[2] + ".pyx")
    line = None
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            begins = f"cdef object {rest}("
            line = next((n for n, text in enumerate(file, 1) if text.startswith(begins)), None)
    return _relative(path), line


# ---- the fast case ----


def _fast(op, keys, values, target):
    """The FastCase of a call, or None."""
    if op.is_composite:
        if fast_case(op) is None:
            return None
        return _tried(op, values, target)
    if DispatchKey.CPU not in keys:
        return None
    kernel = op.kernel_of("CPU")
    if function_of(kernel) is not None:
        return None
    why = why_general(op, values, target)
    if why is not None:
        if not why:
            return FastCase(True, "one dtype, contiguous", "its tests")
        which, what = why
        name = f"{op.names[which]} " if which >= 0 else ""
        return FastCase(False, name + what, "its tests")
    if op.entry.fast is None and not hasattr(op.entry.kernel, "where"):
        return None
    return _tried(op, values, target)


def _tried(op, values, target):
    """Run a fast case on copies of the arguments, unseen."""
    size = sum(a.nbytes for a in map(array_of, _tensors([*values, target])))
    if size > _MOST_BYTES:
        return FastCase(None, f"{size} bytes of arguments are not copied to try it", "nothing")
    kinds = zip(op.kinds, values, strict=True)
    if any(kind == Kind.ANY and not _plain(value) for kind, value in kinds):
        return FastCase(None, "an argument is an object that may run code", "nothing")
    generators = _generators(values)
    states = [generator.get_state() for generator in generators]
    with unseen():
        try:
            *copies, out = _copied([*values, target])
            if op.is_composite:
                served = try_fast(op, copies)
            else:
                before = count_runs()
                named = dict(zip(op.names, copies, strict=True))
                if op.role == Role.OUT:
                    named["out"] = out
                op.redispatch(DispatchKeySet("CPU"), **named)
                served = count_runs() == before
        except Exception as error:
            text = str(error).partition("\n")[0]
            return FastCase(None, f"it raises {type(error).__name__}: {text}", "a run on copies")
        finally:
            for generator, state in zip(generators, states, strict=True):
                generator.set_state(state)
    return FastCase(served, _unusual(values, target, served), "a run on copies")


def _tensors(value):
    """The tensors in an argument, or in several."""
    if isinstance(value, (tuple, list)):
        return [tensor for item in value for tensor in _tensors(item)]
    return [value] if isinstance(value, Tensor) else []


def _plain(value):
    """Whether looking at a value runs no code of a user's."""
    if type(value) in (list, tuple):
        return all(map(_plain, value))
    return type(value) in (bool, int, float, complex, str, type(None), Tensor)


def _generators(values):
    """The generators of random numbers that a run might use."""
    default = sys.modules["imode"].default_generator  # of a layer above this one
    return [default, *[value for value in values if isinstance(value, type(default))]]


def _copied(values):
    """The values with each tensor copied: its memory, strides, and what shares memory with what."""
    tensors = _tensors(values)
    spans = sorted({np.lib.array_utils.byte_bounds(array_of(t)) for t in tensors})
    blocks = []  # (low, high) of memory that tensors share, merged; and its copy
    for low, high in spans:
        if blocks and low < blocks[-1][1]:
            blocks[-1][1] = max(high, blocks[-1][1])
        else:
            blocks.append([low, high])
    copies = []
    for low, high in blocks:
        room = np.empty(high - low + 64, np.uint8)
        start = (low - room.ctypes.data) % 64
        room[start : start + high - low] = np.frombuffer(
            (ctypes.c_char * (high - low)).from_address(low), np.uint8
        )
        copies.append((low, high, room, start))
    made = {}
    for tensor in tensors:
        array = array_of(tensor)
        first = array.__array_interface__["data"][0]
        low, _, room, start = next(
            copy for copy in copies if copy[0] <= first <= copy[1] or not array.size
        )
        view = np.ndarray(
            array.shape, array.dtype, room, start + first - low if array.size else 0, array.strides
        )
        view.flags.writeable = array.flags.writeable
        made[id(tensor)] = copy = wrap_array(view)
        if tensor.requires_grad and not copy.is_inference():
            copy.requires_grad_()
    return _replaced(values, made)


def _replaced(value, made):
    if isinstance(value, (tuple, list)):
        return type(value)(_replaced(item, made) for item in value)
    return made[id(value)] if isinstance(value, Tensor) else value


def _unusual(values, target, served):
    """What about the arguments may keep a fast case from serving: by rules of most of them."""
    if served:
        return "it took them"
    tensors = _tensors([*values, target])
    dtypes = sorted({str(t.dtype).rpartition(".")[2] for t in tensors})
    found = [
        "a tensor is not contiguous" * any(not t.is_contiguous() for t in tensors),
        f"dtypes differ ({', '.join(dtypes)})" * (len(dtypes) > 1),
        *[f"the dtype is {name}" for name in dtypes if len(dtypes) == 1 and name not in _USUAL],
        "there are many elements" * any(t.numel() > 1024 for t in tensors),
        "out= is given" * (target is not None),
        "an argument requires grad" * (is_grad_enabled() and _requires_grad(values)),
    ]
    return f"perhaps because {' and '.join(filter(None, found)) or 'of values, or of an option'}"


# ---- copies ----


def _copies(op, keys, fast, values, target):
    """Sentences on the copies that a call makes; None if that is not known."""
    if fast is not None and fast.applies and fast.by == "its tests":
        return []
    if op.is_composite or DispatchKey.CPU not in keys or loops_of(op.kernel_of("CPU")) is None:
        return None
    made = copies_made(op, values, target)
    if made is None:
        return None
    names = [*op.names, "the result"]
    return [f"{names[which]}: {why}, {size} bytes" for which, why, size in made]
