"""`Library`: what is registered in its name, and how all of it is taken back."""

import sys
import threading
import weakref
from contextlib import contextmanager
from functools import partial

from imode import errors
from imode._core.device import device, devices_from_outside
from imode._core.dispatch import CKernel, Operator, Role
from imode._core.importing import uninterrupted
from imode._core.keyset import DispatchKey
from imode._core.layers import Layer, lay, lay_fallback, layers_of, lift, lift_fallback, slot_of
from imode._core.user_frames import warn

from . import schemas
from .kernels import RECORD_OUTSIDE, WRITE_OR_VIEW
from .namespaces import (
    OpOverloadPacket,
    check_namespace,
    namespace,
    operator_of,
    publish,
    withdraw,
)
from .tags import as_tags

_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
KEYS = (*(key.name for key in DispatchKey), *_COMPOSITE)
_SAME_KEY = {"AutogradCPU": "Autograd", "": _COMPOSITE[0], "Undefined": _COMPOSITE[0]}
_DEVICE_KEYS = {"cpu": "CPU", "meta": "Meta", "privateuseone": "PrivateUse1"}
# and the names of the devices from outside.
# Devices that PyTorch knows and that have no tensors here: a kernel for them is taken, and never
# called. Library code registers such kernels without asking whether there is such a device.
_ABSENT = {
    **{name.lower(): name for name in ("CUDA", "HIP", "HPU", "IPU", "MAIA", "MPS", "MTIA", "VE")},
    **{name.lower(): name for name in ("FPGA", "Lazy", "Vulkan", "XLA", "XPU")},
}
_KINDS = ("", "Autograd", "Autocast", "Quantized", "Sparse", "SparseCsr", "NestedTensor")
_OTHERS = ("Metal", "MkldnnCPU", "NestedTensorCPU", "QuantizedCPU", "SparseCsrCPU")
_NEVER_CALLED = {f"{kind}{name}" for kind in _KINDS for name in _ABSENT.values()} | {*_OTHERS}
_OUR_FILES = __file__.rpartition("libraries.py")[0]
_definers = {}  # namespace -> (undo of the library of the kind DEF, its line)
# Held to look a name up and exchange it, and to take a library back: who closes it, too, returns
# when that is done. A finalizer may close another one in the middle, in the same thread.
lock = threading.RLock()

fallthrough_kernel = object()  # as a kernel: the next key's kernel runs


class Declared:
    """What an Operator asks of its declaration; imode's own have an `Entry` there."""

    fast = kernel = None
    by_values, writes = False, ()
    __slots__ = ("doc", "out", "overloads", "signature", "tags", "where")

    def __init__(self, signature, where, tags):
        self.signature, self.where, self.tags = signature, where, tags
        self.out = self.doc = self.overloads = None


class Library:
    """Operators and kernels from outside, in a namespace; `close()` takes all of them back.

    `kind`: "DEF" for the definitions of a new namespace, "FRAGMENT" for more of them, "IMPL" for
    kernels of operators that are there: in the namespace "aten", or "imode", those of imode itself.
    `dispatch_key` is the key of kernels whose `impl` says none. As a context manager it is closed
    at the end of the block, however that is left; and when it is no longer referenced.

    Thread rule: any thread may register and close while others call. A call that runs goes on with
    the kernel that it began with.

    >>> import imode
    >>> with imode.library.Library("docs_twice", "DEF") as lib:
    ...     name = lib.define("twice(Tensor x) -> Tensor")
    ...     lib.impl("twice", lambda x: x + x, "CPU")
    ...     imode.ops.docs_twice.twice(imode.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, ns, kind, dispatch_key=""):
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if kind != "IMPL":
            check_namespace(ns)
        elif not isinstance(ns, str) or not (ns == "_" or ns.isidentifier()):
            raise errors.library.no_namespace(ns)
        self.ns, self.kind = ns, kind
        self.dispatch_key = dispatch_key and read_key(dispatch_key)
        self._where = caller()
        self._undo = []
        if kind == "DEF":
            with uninterrupted:
                first = _definers.setdefault(ns, (self._undo, self._where))
                if first[0] is not self._undo:
                    raise errors.library.second_library(ns, first[1], self._where)
                self._undo.append(partial(_release_namespace, ns, self._undo))
            namespace(ns)
        self._finalizer = weakref.finalize(self, _undo_all, self._undo)
        self._finalizer.atexit = False

    # ---- registering ----

    def define(self, schema, alias_analysis="", *, tags=()):
        """Define an operator and return its name.

        `Tensor(a!)` says that it writes an argument, `Tensor(a)` that a result is a view of one:
        version counters and records of views follow from that. `tags`: an `imode.Tag`, or several.
        Raises RuntimeError where the schema does not parse, or where the name is taken.

        >>> import imode
        >>> with imode.library.Library("docs_define", "DEF") as lib:
        ...     lib.define("halve_(Tensor(a!) x) -> Tensor(a!)")
        'halve_'
        """
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        self._check_open()
        if self.kind == "IMPL":
            raise RuntimeError(
                f"{self} cannot define operators: its kind is IMPL. Use DEF, or FRAGMENT."
            )
        op = self._operator(schema, tags)
        self._publish(op)
        return f"{op.name}.{op.overload}" if op.overload else op.name

    def _operator(self, schema, tags=()):
        """An operator that nobody knows yet."""
        parsed = schemas.parse(schema)
        tags = as_tags(tags)
        op = Operator(
            parsed.name,
            parsed.overload,
            parsed.text,
            entry=Declared(parsed.signature, caller(), tags),
            arguments=parsed.arguments,
            n_positional=parsed.n_positional,
            role=_role(parsed.signature),
            n_results=len(parsed.signature.results),
            namespace=self.ns,
        )
        op.register(DispatchKey.Autograd, RECORD_OUTSIDE)
        if not parsed.signature.functional:
            op.register(DispatchKey.ADInplaceOrView, WRITE_OR_VIEW)
        return op

    def _publish(self, op):
        undo = partial(withdraw, op, str(self))
        with self._registering():
            if not publish(op):
                first = operator_of(self.ns, f"{op.name}.{op.overload or 'default'}", "define()")
                name = f"{self.ns}::{op.schema}"
                raise errors.library.second_definition(name, first.entry.where, caller())
            self._undo.append(undo)

    def impl(self, op_name, fn, dispatch_key="", *, with_keyset=False, allow_override=False):
        """Give an operator a kernel: `fn` gets the tensors, and the other arguments.

        `op_name`: a name, "add.Tensor", or an operator. Arguments at their defaults are left out,
        keyword-only ones come by keyword. With `with_keyset` the DispatchKeySet comes first, for
        `redispatch`. The last kernel of a key counts; when its library is closed, the one before.
        Without a key it is made of other operators, and each of these is recorded.

        >>> import imode
        >>> with imode.library.Library("aten", "IMPL") as lib:
        ...     lib.impl("relu", lambda x: x.clamp(0, 6), "CPU")
        ...     imode.relu(imode.tensor([-1.0, 9.0]))
        tensor([0., 6.])
        """
        self._impl(op_name, fn, dispatch_key, with_keyset=with_keyset, override=allow_override)

    def _impl(
        self, op_name, fn, dispatch_key, *, with_keyset=False, override=True, exclusive=False
    ):
        self._check_open()
        if not callable(fn) and fn is not fallthrough_kernel and not isinstance(fn, CKernel):
            raise errors.library.not_callable(fn)
        op = self._find(op_name, "impl()")
        key = read_key(dispatch_key or self.dispatch_key)
        if not is_called(key):
            return
        if op.is_composite != (key == _COMPOSITE[0]) and not op.outside:
            raise errors.library.composite(op, key)
        self._lay(op, fn, key, with_keyset, override, exclusive)

    def _lay(self, op, fn, key, with_keyset=False, override=True, exclusive=False):
        """Lay a kernel over an operator, which nobody has to know yet."""
        if not is_called(key):
            return
        slot = slot_of(key)
        function = None if fn is fallthrough_kernel else fn
        layer = Layer(function, line_of(fn), key, with_keyset=with_keyset, exclusive=exclusive)
        before = layers_of(op, slot)
        if before and not override and any(undo.args[-1] is before[-1] for undo in self._undo):
            warn(
                f"{self} overrides its own kernel of {op.qualified_name} for {key}, registered at "
                f"{before[-1].where}.",
            )
        with self._registering():
            self._undo.append(partial(lift, op, slot, layer))
            lay(op, slot, layer)

    def _find(self, op_name, what):
        if isinstance(op_name, Operator):
            op_name = op_name.qualified_name
            if "::" not in op_name:
                op_name = f"aten::{op_name}"
        elif isinstance(op_name, OpOverloadPacket):
            op_name = op_name._qualified_op_name
        elif not isinstance(op_name, str):
            raise RuntimeError(
                f"{what} should be passed either a name or an OpOverload object as the first "
                f"argument, got {type(op_name)}"
            )
        return operator_of(self.ns, op_name, what)

    def fallback(self, fn, dispatch_key="", *, with_keyset=False):
        """Give a key a kernel for all operators that have none there, for the namespace "_".

        `fn` gets the operator first, then what a kernel gets.

        >>> import imode
        >>> with imode.library.Library("_", "IMPL") as lib:
        ...     def show(op, keys, *args, **kwargs):
        ...         print(op.name)
        ...         return op.redispatch(keys.below("Tracer"), *args, **kwargs)
        ...     lib.fallback(show, "Tracer", with_keyset=True)
        """
        self._check_open()
        key = read_key(dispatch_key or self.dispatch_key)
        if self.ns != "_":
            raise RuntimeError(
                "Fallback can only be registered using library fallback on the global namespace "
                f'"_" but it is {self.ns}'
            )
        if key in _COMPOSITE:
            raise RuntimeError("A fallback needs a dispatch key: fallback(fn, 'Tracer').")
        if not callable(fn) and fn is not fallthrough_kernel:
            raise errors.library.not_callable(fn)
        if fn is fallthrough_kernel or not is_called(key):
            return  # without a fallback, a key that has no kernel is fallen through
        layer = Layer(fn, line_of(fn), key, with_keyset=with_keyset, fallback=True)
        with self._registering():
            self._undo.append(partial(lift_fallback, slot_of(key), layer))
            lay_fallback(slot_of(key), layer)

    @contextmanager
    def _registering(self):
        """A block that registers something, of a library that is open until its end."""
        with uninterrupted, lock:
            self._check_open()
            yield

    # ---- taking back ----

    def close(self):
        """Take back all that was registered. Calls that run go on; once closed, it stays so."""
        self._finalizer.detach()
        _undo_all(self._undo)

    _destroy = close  # PyTorch's name

    @property
    def closed(self):
        """Whether it was closed."""
        return not self._finalizer.alive

    def _check_open(self):
        if self.closed:
            raise RuntimeError(f"{self} is closed: nothing can be registered in it any more.")

    def __enter__(self):
        self._check_open()
        return self

    def __exit__(self, *exception):
        self.close()

    def __repr__(self):
        return f"Library({self.ns!r}, {self.kind!r}) at {self._where}"


def _scoped_library(ns, kind, dispatch_key=""):
    """A Library for a with block: PyTorch's own is no context manager."""
    return Library(ns, kind, dispatch_key)


def _undo_all(undo):
    with uninterrupted, lock:
        # Operators go first: a call finds them whole, or closed, and never without a kernel.
        undo.sort(key=lambda step: step.func is withdraw)
        while undo:
            undo.pop()()


def _release_namespace(ns, undo):
    if ns in _definers and _definers[ns][0] is undo:
        del _definers[ns]


def _role(signature):
    """What `Operator` shows of it; what is recorded follows from the signature."""
    if 0 in signature.written:
        return Role.INPLACE
    viewed = any(at >= 0 for at in signature.alias_of) and not signature.written
    return Role.VIEW if viewed else Role.FUNCTIONAL


def read_key(key):
    """A dispatch key's name from a key or a name, PyTorch's other names included."""
    name = key.name if isinstance(key, DispatchKey) else key
    name = _SAME_KEY.get(name, name)
    if name in KEYS or name in _NEVER_CALLED:
        return name
    raise errors.library.unknown_key(name, KEYS)


def is_called(key):
    """Whether tensors can have a key, so that a kernel for it may be called."""
    return key not in _NEVER_CALLED


def device_keys(name, device_types):
    """The dispatch keys of device types, for a kernel of an operator; None: all devices."""
    if device_types is None or device_types == "default":
        return (_COMPOSITE[1],)
    devices = (device_types,) if isinstance(device_types, str) else tuple(device_types)
    keys = _DEVICE_KEYS | dict.fromkeys(devices_from_outside(), "PrivateUse1") | _ABSENT
    for place in devices:
        if place not in keys:
            if device(place).index is not None:  # a name that PyTorch knows not raises here
                raise errors.library.device_with_index(place)
            raise errors.library.unknown_device(name, place, tuple(keys))
    return tuple(dict.fromkeys(keys[place] for place in devices))


def line_of(function):
    """The file and line of a kernel, for messages."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    return caller() if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def caller():
    """The file and line that called into this package."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OUR_FILES):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"
