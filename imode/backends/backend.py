"""What computes on a device from outside: its memory, its kernels, the way over the CPU."""

import warnings

import numpy as np

from imode import errors
from imode._core import device as devices
from imode._core.dispatch import Role, all_operators
from imode._core.elsewhere import call_with, give_memory, memory_of, new_memory, shapes_of
from imode._core.internals import array_of, wrap_array
from imode._core.overlap import refuse_overlaps
from imode._core.provenance import location_parts
from imode._core.storage import offset_in, root_of
from imode._core.tensor import Tensor
from imode._core.user_frames import line

__all__ = ["Backend", "coverage"]


class Backend:
    """A device: `imode.device(name)`, until `close()` or the end of a `with` block.

    A class of one's own says what a storage is there (`from_numpy`, `to_numpy`) and which operators
    run there (`kernel`). All others run on the CPU: their tensors are copied there and the results
    back, with a warning once for each; `fallback=False` raises NotImplementedError instead.
    Shapes, dtypes, strides, views, version counters and autograd are imode's own.

    A storage is a flat array of one dtype, as long as NumPy's would be; `elements(tensor)` and
    `store(tensor, elements)` read and set those of a tensor, which may be a view of it.

    >>> class Host(imode.backends.Backend):
    ...     def from_numpy(self, array):
    ...         return array.copy()
    ...     def to_numpy(self, elements):
    ...         return elements
    ...     def kernel(self, operator):
    ...         if operator.name == "neg":
    ...             return lambda op, args, result: -self.elements(args[0])
    >>> with Host("host"):
    ...     print(-imode.ones(2, device="host"))
    tensor([-1., -1.], device='host:0')
    """

    def __init__(self, name, *, fallback=True):
        if not isinstance(name, str):
            raise TypeError(f"Backend(): expected the name of a device, got {name!r}")
        if devices.devices_from_outside().get(name) is not None:
            raise RuntimeError(
                f"Backend(): there is a device {name!r} already. close() it first, or give "
                "this one another name."
            )
        devices.add_device(name, self)
        self.name, self.fallback = name, fallback
        self.device = devices.device(name, 0)
        self._warned = set()
        self._kernels = {}

    def close(self):
        """Take the device back. Tensors that are there stay, and can still be computed with."""
        if devices.devices_from_outside().get(self.name) is self:
            devices.remove_device(self.name)

    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        self.close()

    def __repr__(self):
        return f"<{type(self).__name__} of device {self.name!r}>"

    # ---- what a device says ----

    def from_numpy(self, array):
        """The elements of a flat ndarray, which is the caller's: a copy there."""
        raise NotImplementedError(f"{type(self).__name__}.from_numpy")

    def to_numpy(self, elements):
        """An ndarray with the elements of a storage."""
        raise NotImplementedError(f"{type(self).__name__}.to_numpy")

    def kernel(self, operator):
        """What runs an operator there, or None: a function of (operator, arguments, result).

        `arguments` are the schema's, with tensors as they are; `result` is the new tensor, or the
        one that is written to, with its shape, dtype and strides (a tuple of several). It returns
        the result's elements in the result's shape, or NotImplemented for arguments that it does
        not serve.
        """
        return None

    # ---- the elements of a tensor ----

    def elements(self, tensor):
        """The elements of a tensor there, in its shape."""
        array = array_of(tensor)
        root = root_of(array)
        if array.dtype != root.dtype:  # a view of complex numbers as real ones, or of any bytes
            return self._shaped(self.to_cpu(tensor))
        return self.take(memory_of(tensor).elements, _places(array, root), array.shape)

    def store(self, tensor, elements):
        """Write elements, of the tensor's shape and dtype, into the tensor's storage."""
        array = array_of(tensor)
        root = root_of(array)
        memory = memory_of(tensor)
        if array.dtype == root.dtype:
            memory.elements = self.put(memory.elements, _places(array, root), elements)
            return
        flat, same = self._on_host(tensor)
        same[...] = np.asarray(self.to_numpy(elements)).reshape(same.shape)
        memory.elements = self.from_numpy(flat)

    def _on_host(self, tensor):
        """A copy of the tensor's storage, a flat ndarray, and the tensor's elements in it."""
        array = array_of(tensor)
        root = root_of(array)
        flat = np.array(self.to_numpy(memory_of(tensor).elements), root.dtype).reshape(-1)
        start = offset_in(root, array) if array.size else 0
        return flat, np.ndarray(array.shape, array.dtype, flat, start, array.strides)

    def take(self, storage, places, shape):
        """Elements of a flat storage: a slice, or an ndarray of positions, in a shape."""
        return self.from_numpy(self.to_numpy(storage)[places]).reshape(shape)

    def put(self, storage, places, elements):
        """A flat storage with elements written at a slice, or at an ndarray of positions."""
        changed = np.array(self.to_numpy(storage))
        changed[places] = np.asarray(self.to_numpy(elements)).reshape(-1)
        return self.from_numpy(changed)

    # ---- to and from the CPU ----

    def to_cpu(self, tensor):
        """A tensor on the CPU with the elements and the strides of one there."""
        return wrap_array(self._on_host(tensor)[1])

    def from_cpu(self, tensor):
        """A new tensor there with the elements and the strides of one on the CPU."""
        if tensor.is_sparse:
            raise errors.sparse.elsewhere(self.device)
        array = array_of(tensor)
        made = new_memory(array.shape, array.strides, array.dtype, self.device, self)
        root = root_of(array_of(made))
        flat = np.zeros(root.size, root.dtype)
        np.ndarray(array.shape, array.dtype, flat, 0, array.strides)[...] = array
        memory_of(made).elements = self.from_numpy(flat)
        return made

    # ---- calls ----

    def run(self, operator, args, out):
        """Run an operator of tensors there: the device's kernel, or the CPU's."""
        if operator.name in ("_to_copy", "copy_"):
            return self._copy(operator, args)
        if operator.name in ("_set_", "_resize_"):
            return self._set_memory(operator, args)
        if operator.role == Role.INPLACE and operator.name not in ("fill_", "zero_"):
            refuse_overlaps(array_of(args[0]), None)
        kernel = self._kernel_of(operator)
        if kernel is not None:
            done = self._run_kernel(kernel, operator, args, out)
            if done is not NotImplemented:
                return done
        return self._run_on_cpu(operator, args, out)

    def _kernel_of(self, operator):
        functional = operator.functional or operator
        if functional not in self._kernels:
            kernel = self.kernel(functional)
            if kernel is not None and not callable(kernel):
                raise errors.devices.no_function(functional, self.name, kernel)
            self._kernels[functional] = kernel
        return self._kernels[functional]

    def _run_kernel(self, kernel, operator, args, out):
        functional = operator.functional or operator
        target = args[0] if operator.role == Role.INPLACE else out
        try:
            plain = shapes_of(functional, args, None)
            result = plain if target is None else shapes_of(operator, args, out)
        except NotImplementedError:
            return NotImplemented
        for made in _tensors(plain):
            if memory_of(made) is None:
                give_memory(made, self.device, self)
        try:
            with np.errstate(all="ignore"):  # where the namespace is made of NumPy
                computed = kernel(functional, args, plain)
        except Exception as error:
            error.add_note(errors.devices.in_kernel(functional, self.name, kernel))
            raise
        if computed is NotImplemented:
            return NotImplemented
        made = _tensors(plain)
        if isinstance(plain, Tensor):
            computed = (computed,)
        elif not isinstance(computed, (tuple, list)) or len(computed) != len(made):
            problem = f"returned {_described(computed)}, not {len(made)} results"
            raise errors.devices.wrong_elements(functional, self.name, kernel, problem)
        for tensor, value in zip(made, computed, strict=True):
            self._check(functional, kernel, tensor, value)
            self.store(tensor, value)
        if target is not None:
            for written, made in zip(_tensors(result), _tensors(plain), strict=True):
                self._assign(written, made)
        return result

    def _check(self, operator, kernel, tensor, elements):
        """Refuse what a kernel returned, unless it can be the elements of a new tensor."""
        storage = self._storage(tensor).elements
        shape, dtype = getattr(elements, "shape", None), getattr(elements, "dtype", None)
        fits = elements is not None and shape in (None, tuple(tensor.shape))
        if fits and dtype in (None, getattr(storage, "dtype", dtype)):
            return
        problem = f"returned {_described(elements)}, not {tensor.dtype.name}{list(tensor.shape)}"
        raise errors.devices.wrong_elements(operator, self.name, kernel, problem)

    def _storage(self, tensor):
        """The Memory of a new tensor, which has elements from now on."""
        memory = memory_of(tensor)
        if memory.elements is None:
            memory.elements = self.from_numpy(_blank(root_of(array_of(tensor))))
        return memory

    def _assign(self, written, made):
        """Write a result into the tensor of an in-place or out= call, in that tensor's dtype."""
        if memory_of(written) is None:  # out= was resized: it has new memory
            give_memory(written, self.device, self)
        if made.dtype != written.dtype:
            made = self.from_cpu(self.to_cpu(made).to(written.dtype))
        self._storage(written)
        self.store(written, self.elements(made.expand(written.shape)))

    def _copy(self, operator, args):
        """Between devices, dtypes and layouts: the CPU converts."""
        if operator.name == "copy_":
            target, source = args[0], args[1]
            if isinstance(source, Tensor) and source.is_meta:
                raise errors.devices.no_elements()
            if target.is_cpu:
                return target.copy_(self.to_cpu(source))
            refuse_overlaps(array_of(target), None)
            there = self.to_cpu(target)
            there.copy_(_on_cpu(source))
            self.store(target, self._shaped(there))
            return target
        source = args[0]
        values = dict(zip(operator.names, args, strict=True))
        place = values.pop("device")
        values["self"] = _on_cpu(source)
        made = operator(**values)
        if place is not None and place.type == "cpu":
            return made
        return self.from_cpu(made)

    def _set_memory(self, operator, args):
        """Give a tensor another storage, or more of its own."""
        before = memory_of(args[0]).elements
        result = shapes_of(operator, args, None)
        if memory_of(result) is None:  # new memory: the first elements are the old ones
            memory = give_memory(result, self.device, self)
            flat = _blank(root_of(array_of(result)))
            if operator.name == "_resize_":
                old = np.asarray(self.to_numpy(before)).reshape(-1)
                flat[: old.size] = old
            memory.elements = self.from_numpy(flat)
        return result

    def _shaped(self, tensor):
        """The elements of a tensor on the CPU as elements there, in its shape."""
        array = np.ascontiguousarray(array_of(tensor))
        return self.take(self.from_numpy(array.reshape(-1)), slice(0, array.size), tensor.shape)

    def _run_on_cpu(self, operator, args, out):
        """Run an operator on copies on the CPU, and bring back what it gives and writes."""
        made_only = not any(isinstance(a, Tensor) for a in _tensors(args)) and out is None
        if not made_only and operator.role != Role.FACTORY:
            self._announce(operator)
        copies = {}
        given = [_exchange(arg, lambda t: copies.setdefault(t, _on_cpu(t))) for arg in args]
        if "device" in operator.names:
            given[operator.names.index("device")] = None
            if args[operator.names.index("device")] == devices.device("cpu"):
                return call_with(operator, given, None)
        target = None if out is None else _exchange(out, _on_cpu)
        with devices.device("cpu"):
            result = call_with(operator, given, target)
        back = {id(copy): tensor for tensor, copy in copies.items()}
        if out is not None:
            back |= {
                id(a): b for a, b in zip(_tensors(target), _tensors(out), strict=True)
            }  # fmt: skip
        written = _tensors(target) if out is not None else []
        written += [given[0]] if operator.role == Role.INPLACE else []
        changed = [given[operator.names.index(name)] for name in operator.entry.writes]
        written += [t for t in changed if isinstance(t, Tensor)]
        for copy in written:
            self._bring_back(back[id(copy)], copy)
        return _exchange(result, lambda t: back[id(t)] if id(t) in back else self.from_cpu(t))

    def _bring_back(self, tensor, copy):
        """Give a tensor there what was written to its copy, and the shape that it got."""
        if tensor.shape != copy.shape:
            tensor.set_(self.from_cpu(copy))
        else:
            self.store(tensor, self._shaped(copy))

    def _announce(self, operator):
        name = operator.qualified_name
        if not self.fallback:
            raise errors.devices.no_kernel(name, self.name)
        if name not in self._warned:
            self._warned.add(name)
            place = location_parts(line())
            warnings.warn_explicit(errors.devices.falls_back(name, self.name), UserWarning, *place)


def _described(elements):
    """What a kernel returned, for a message."""
    shape, dtype = getattr(elements, "shape", None), getattr(elements, "dtype", None)
    if shape is not None and dtype is not None:
        return f"{dtype}{list(shape)}"
    if isinstance(elements, (tuple, list)):
        return f"a {type(elements).__name__} of {len(elements)}"
    return type(elements).__name__


def _places(array, root):
    """Where an array's elements lie in its root: a slice, or the positions, in row-major order."""
    if not array.size:
        return slice(0, 0)
    first = offset_in(root, array) // root.itemsize
    if array.flags.c_contiguous:
        return slice(first, first + array.size)
    places = np.full((), first, np.int64)
    for size, stride in zip(array.shape, array.strides, strict=True):
        places = places[..., None] + np.arange(size) * (stride // root.itemsize)
    return places.reshape(-1)


def _blank(root):
    return np.zeros(root.size, root.dtype)


def _on_cpu(value):
    """A tensor on the CPU; others, and those on the CPU, as they are."""
    if not isinstance(value, Tensor) or value.is_cpu:
        return value
    return memory_of(value).backend.to_cpu(value)


def _tensors(values):
    """The tensors among results or arguments, as a list."""
    if isinstance(values, Tensor):
        return [values]
    if isinstance(values, (tuple, list)):
        return [t for value in values for t in _tensors(value)]
    return []


def _exchange(value, by):
    """A result or argument with each tensor exchanged; named tuples keep their class."""
    if isinstance(value, Tensor):
        return by(value)
    if isinstance(value, (tuple, list)):
        items = [_exchange(item, by) for item in value]
        cls = type(value)
        return tuple.__new__(cls, items) if issubclass(cls, tuple) else cls(items)
    return value


# ---- what is there ----


class Coverage(dict):
    """What runs how on a device: {"there", "views", "made of others", "on the CPU": names}."""

    def __repr__(self):
        total = sum(len(names) for names in self.values())
        lines = [f"{total} operators:"]
        lines += [f"  {len(names):5} {way}" for way, names in self.items()]
        rest = " ".join(self["on the CPU"])
        return "\n".join([*lines, f"on the CPU: {rest}"]) if rest else "\n".join(lines)


def coverage(name):
    """Print which operators run on a device, and return the same: a `Coverage`.

    Raises RuntimeError if there is no device of that name.

    >>> import numpy
    >>> with imode.backends.array_api(numpy, "array"):
    ...     found = imode.backends.coverage("array")  # doctest: +ELLIPSIS
    ... operators:
    ...
    >>> "add" in found["there"], "t" in found["views"]
    (True, True)
    """
    backend = devices.devices_from_outside().get(name)
    if backend is None:
        raise RuntimeError(f"coverage(): there is no device {name!r} with a backend")
    ways = {"there": [], "views": [], "made of others": [], "on the CPU": []}
    for operator in all_operators().values():
        if operator.functional is not None or operator.name.startswith("_"):
            continue
        if operator.is_composite:
            way = "made of others"
        elif operator.is_view:
            way = "views"
        else:
            way = "there" if backend._kernel_of(operator) is not None else "on the CPU"
        ways[way].append(operator.qualified_name)
    found = Coverage(ways)
    print(found)
    return found
