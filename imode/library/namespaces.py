"""`imode.ops.<namespace>`: the operators of libraries by name, and imode's own as `aten`."""

import sys
from types import ModuleType

from imode import errors
from imode._core.dispatch import get_operator
from imode._core.layers import enter, leave

from .callables import OpOverloadPacket

BUILT_IN = ("aten", "imode")
_namespaces = {}  # name -> Namespace
_closed = {}  # qualified name -> the library that took it back


class Namespace:
    """The operators of one namespace, as attributes.

    Thread rule: names come and go with the GIL held, one at a time.
    """

    def __init__(self, name):
        self.__dict__["_name"] = name

    def __getattr__(self, name):
        if name.startswith("__"):
            raise errors.no_attribute("_OpNamespace", name)
        if self._name in BUILT_IN:
            packet = _built_in_packet(self._name, name)
            if packet is not None:
                return self.__dict__.setdefault(name, packet)
        library = _closed.get(f"{self._name}::{name}")
        if library is not None:
            raise errors.library.closed_name(f"{self._name}::{name}", library)
        raise errors.library.no_such_op(self._name, name)

    def __dir__(self):
        return [name for name in self.__dict__ if name != "_name"]

    def __repr__(self):
        return f"<operators of {self._name}>"


def namespace(name):
    """The operators of a namespace; a new one is published as `imode.ops.<name>`."""
    found = _namespaces.get(name)
    if found is None:
        found = _namespaces.setdefault(name, Namespace(name))
        vars(sys.modules["imode.ops"]).setdefault(name, found)
    return found


def check_namespace(name):
    """ValueError for what cannot be a library's namespace."""
    from imode import ops

    if not isinstance(name, str) or not name.isidentifier():
        raise errors.library.no_namespace(name)
    if name in BUILT_IN:
        raise errors.library.reserved(
            name, "It holds imode's own operators: kernels for them go in, Library(ns, 'IMPL')."
        )
    ops.find(name)
    taken = vars(ops).get(name)
    if (
        name == "prim"
        or name.startswith("__")
        or (name in vars(ops) and _namespaces.get(name) is None)
    ):
        what = "a module" if isinstance(taken, ModuleType) else "a name"
        raise errors.library.reserved(name, f"imode.ops.{name} is {what} of imode's own.")


# ---- operators of libraries ----


def publish(op):
    """Make an operator known by its name; False if the name is taken."""
    if not enter(op, op_signature(op)):
        return False
    packet_of(op.outside, op.name).add(op)
    return True


def op_signature(op):
    """The signature that the operator's declaration has."""
    return op.entry.signature


def withdraw(op, library):
    """Take an operator back, on behalf of a library that is being closed."""
    space = namespace(op.outside)
    packet = space.__dict__.get(op.name)
    if packet is not None:
        packet.remove(op, library)
        if not packet.found:
            _closed[f"{op.outside}::{op.name}"] = library
            if space.__dict__.get(op.name) is packet and not packet.found:
                _waiting[f"{op.outside}::{op.name}"] = packet
                del space.__dict__[op.name]
    leave(op, library)


_waiting = {}  # qualified name -> the packet of an operator that is not there now


def packet_of(ns, name):
    """The operator of a name, with its overloads; a new one has none yet."""
    space = namespace(ns)
    if ns in BUILT_IN:
        return getattr(space, name)
    qualified = f"{ns}::{name}"
    found = space.__dict__.get(name) or _waiting.get(qualified) or OpOverloadPacket(ns, name)
    _waiting.pop(qualified, None)
    return space.__dict__.setdefault(name, found)


def operator_of(ns, name, what):
    """The operator that a library names, "f", "f.out", "ns::f"; RuntimeError if there is none."""
    if "::" in name:
        given, _, name = name.partition("::")
        if given != ns and {given, ns} != set(BUILT_IN):
            raise errors.library.no_such_operator(given, name, f"{what}, in the namespace {ns},")
    base, _, overload = name.partition(".")
    try:
        if ns in BUILT_IN:
            packet = _built_in_packet(ns, base)
            op = None if packet is None else getattr(packet, overload or "default")
        else:
            exact = base if overload in ("", "default") else name
            op = get_operator(f"{ns}::{exact}")
    except (KeyError, AttributeError) as error:
        if isinstance(error, AttributeError):
            raise RuntimeError(str(error)) from None
        op = None
    if op is None:
        library = _closed.get(f"{ns}::{base}")
        if library is not None:
            raise errors.library.closed(f"{ns}::{name}", library)
        raise errors.library.no_such_operator(ns, name, what)
    return op


# ---- imode's own, by PyTorch's names ----

# The overloads by which PyTorch tells tensors from numbers, and one way to give dimensions from
# another, where imode has one operator for both.
_PLAIN = ("Tensor", "Scalar", "Tensor_Tensor", "Tensor_Scalar", "Scalar_Tensor", "Tensor_mode")
_PLAIN += ("self", "int", "dim", "dim_IntList", "IntList", "ScalarOpt_dim", "Scalar_mode")


def _built_in_packet(ns, name):
    """One of imode's own operators with its overloads, or None."""
    from imode import ops
    from imode.ops import schema

    ops.find(name)
    op = schema.published().get(name)
    if op is None:
        return None
    packet = OpOverloadPacket(ns, name, lambda overload: _by_pytorch_name(name, packet, overload))
    while op is not None:
        packet.add(op)
        op = op.next_overload
    return packet


def _by_pytorch_name(name, packet, overload):
    """The overload that PyTorch's name means, where it is plain; else None."""
    try:
        return get_operator(f"{name}.{overload}")  # "out", "dim_out"
    except KeyError:
        pass
    known = list(packet.found.values())
    if len(known) == 1 and overload in (*_PLAIN, "default"):
        return known[0]
    if overload == "dim_IntList" and "dim" in packet.found:
        return packet.found["dim"]
    if overload in ("Tensor", "Scalar", "Tensor_Scalar"):
        fits = [op for op in known if _takes(op, overload.rpartition("_")[2])]
        return fits[0] if len(fits) == 1 else None
    return None


def _takes(op, what):
    """Whether the argument after the first may be a tensor, or a number."""
    kinds = [kind.name for kind in op.kinds[1:]]
    return "OPERAND" in kinds or ("TENSOR" if what == "Tensor" else "SCALAR") in kinds
