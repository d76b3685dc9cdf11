"""PyTorch's own samples of its operators (`op_db`), called in either library, as observations.

An entry is one of PyTorch's: a callable, its variants, the dtypes that it takes on the CPU, sample
inputs and inputs that raise. `Entry.callables` finds the same callable in another library by its
name, and an entry's lambdas are read again with that library in the place of `torch`: whatever
imode comes to have is tested with nothing said here.
"""

import functools
import itertools
import random
import types
import warnings
import zlib
from pathlib import Path

import numpy as np
import torch
from torch.testing._internal import common_methods_invocations as invocations

from .observe import TOLERANCE, Values, attempt, dtype_name, failure, layout

DTYPES = (
    *("float32", "float64", "float16", "complex64", "complex128"),
    *("int64", "int32", "int16", "int8", "uint8", "bool"),
)
SPACES = ("", "nn.functional", "linalg", "fft", "special", "Tensor")
# What is in memory that nobody has written to.
UNDEFINED = "empty empty_like empty_permuted empty_strided new_empty new_empty_strided resize_"
# Random operators whose entry does not seed them.
RANDOM = "rand_like nn.functional.rrelu bernoulli uniform normal"
TWICE = ("float64", "complex128")  # the dtypes of which second derivatives are compared
# Sums whose order, or in float16 the rounding of whose parts, decides the last digits.
SUMS = (
    *("addbmm", "matrix_exp", "nn.functional.nll_loss", "nn.functional.interpolate"),
    *(f"nn.functional.conv_transpose{n}d" for n in (1, 2, 3)),
    *(f"fft.{name}{n}" for name in ("hfft", "irfft") for n in ("", "2", "n")),
)


class Missing(LookupError):
    """The library has no such name."""


class Unsupported(Exception):
    """A sample with a tensor of a kind or dtype that imode has not."""


def attribute(lib, path):
    """Return lib.path, or raise Missing."""
    for name in filter(None, path.split(".")):
        try:
            lib = getattr(lib, name)
        except AttributeError:
            raise Missing(path) from None
    return lib


@functools.cache
def _paths():
    """Return {id of a callable of PyTorch's: its path}; the first of two names wins."""
    found = {}
    for space in SPACES:
        for name, value in vars(attribute(torch, space)).items():
            if callable(value) and not name.startswith("_"):
                found.setdefault(id(value), f"{space}.{name}".lstrip("."))
    return found


class Library:
    """A library, and what becomes of PyTorch's objects in it."""

    def __init__(self, lib):
        self.lib = lib
        self.spaces = {}  # {a module of PyTorch's samples: its globals, with this library in them}

    def _seeded(self, function, *args, **kwargs):
        self.lib.default_generator.manual_seed(42)
        return function(*args, **kwargs)

    def callable(self, function, name=None):
        """Return the callable that stands in this library where `function` stands in PyTorch."""
        if self.lib is torch or function is None:
            return function
        for path in (name, f"Tensor.{name}"):
            if name and attempt(lambda path=path: attribute(torch, path)) is function:
                return attribute(self.lib, path)
        if isinstance(function, functools.partial):
            inner = self.callable(function.func)
            return functools.partial(inner, *function.args, **function.keywords)
        if isinstance(function, (torch._ops.OpOverload, torch._ops.OpOverloadPacket)):
            return attribute(self.lib, f"ops.{function}")
        if id(function) in _paths():
            return attribute(self.lib, _paths()[id(function)])
        if isinstance(function, types.FunctionType):
            return self._read_again(function)
        return attribute(self.lib, f"Tensor.{getattr(function, '__name__', function)}")

    def _read_again(self, function):
        """Return a function of PyTorch's samples with this library in the place of `torch`."""
        module = function.__module__
        if not module.startswith("torch.testing."):
            raise Missing(function.__qualname__)
        if module not in self.spaces:
            exchanged = {"torch": self.lib, "wrapper_set_seed": self._seeded}
            self.spaces[module] = {**function.__globals__, **exchanged}
        rest = function.__name__, function.__defaults__, function.__closure__
        return types.FunctionType(function.__code__, self.spaces[module], *rest)

    def value(self, value, memory):
        """Return a copy of an argument; tensors that share memory share it again.

        `memory`: {address of a storage: its copy}.
        """
        if isinstance(value, torch.Tensor):
            return self.tensor(value, memory)
        if type(value) in (list, tuple, torch.Size):
            items = [self.value(item, memory) for item in value]
            return items if type(value) is list else tuple(items)
        if isinstance(value, dict):
            return {key: self.value(item, memory) for key, item in value.items()}
        if isinstance(value, slice):
            return slice(*[self.value(v, memory) for v in (value.start, value.stop, value.step)])
        if self.lib is torch:
            return value
        if isinstance(value, (torch.dtype, torch.layout, torch.memory_format)):
            try:
                return getattr(self.lib, str(value).removeprefix("torch."))
            except AttributeError:
                raise Unsupported(str(value)) from None
        if isinstance(value, torch.device):
            return self.lib.device(str(value))
        if isinstance(value, torch.nn.Module):
            raise Unsupported("module")
        return self.callable(value) if isinstance(value, types.FunctionType) else value

    def tensor(self, value, memory):
        """Return a tensor with the values, strides and offset of one of PyTorch's."""
        plain = value.layout == torch.strided and not value.is_quantized and not value.is_nested
        plain = plain and dtype_name(value) in DTYPES and value.dim() <= 64
        if not plain or value.device.type != "cpu":
            raise Unsupported(f"{value.layout} {value.dtype} {value.device} {value.dim()}")
        grad, value = value.requires_grad, value.detach().resolve_conj().resolve_neg()
        key = value.untyped_storage().data_ptr()
        known, _ = memory.get((key, value.dtype), (None, None))
        if known is None:
            count = value.untyped_storage().nbytes() // value.element_size()
            flat = value.as_strided((count,), (1,), 0).numpy().copy()
            known = self.lib.from_numpy(flat).clone() if count else None
            memory[key, value.dtype] = known, value  # which keeps the address its own
        if known is None:
            made = self.lib.empty(value.shape, dtype=getattr(self.lib, dtype_name(value)))
        elif value.is_contiguous() and known.numel() == value.numel():
            made = known.detach().view(value.shape)
        else:
            made = known.as_strided(value.shape, value.stride(), value.storage_offset())
        return made.detach().requires_grad_() if grad else made.detach()


class Sample:
    """One sample of an entry: how it is called, in which of the entry's variants."""

    def __init__(self, entry, sample):
        self.entry, self.sample = entry, sample

    def arguments(self, library):
        """Return new arguments for a library."""
        sample, memory = self.sample, {}
        args, kwargs = library.value(((sample.input, *sample.args), sample.kwargs), memory)
        return args, kwargs

    def cases(self, library):
        """Yield (case, observations) of each variant of the entry, in a library."""
        entry, function = self.entry, self.entry.callables(library)
        yield "function", self.run(library, function["function"], grad=entry.supports_autograd)
        if function["method"] is not None:
            yield "method", self.run(library, function["method"])
        if function["inplace"] is not None and not self.sample.broadcasts_input:
            yield "inplace", self.run(library, function["inplace"])
        if entry.supports_out:
            yield "out", self.out(library, function["function"])

    def suits(self, library):
        """Whether a library has the kinds and dtypes of the arguments."""
        try:
            self.arguments(library)
        except Unsupported:
            return False
        return True

    def mistake(self, library):
        """Return what the call raises; of a TypeError, in which PyTorch prints C++, the class."""
        raised = self.run(library, self.entry.callables(library)["function"]).get("raised", "ok")
        return "TypeError" if raised.startswith("TypeError") else raised

    def run(self, library, function, grad=False):
        """Call a variant; observe what it returns and, if asked to, the gradients."""
        lib, (args, kwargs) = library.lib, self.arguments(library)
        lib.default_generator.manual_seed(0)
        try:
            with lib.set_grad_enabled(grad):
                result = function(*args, **kwargs)
        except Exception as error:
            return {"raised": failure(error)}
        outputs, plain = tensors_of(result, lib), not self.entry.is_random
        seen = {"type": type(result).__name__, **self.seen("result", outputs)}
        if not outputs and plain:
            seen["values"] = tuple(result) if isinstance(result, lib.Size) else result
        if grad and plain:
            seen |= self.gradients(library, result, [*args, *kwargs.values()])
        return seen

    def gradients(self, library, result, args):
        """Run backward through what the entry makes of its result; return what is seen of it."""
        lib = library.lib
        inputs = [t for t in tensors_of(args, lib) if t.requires_grad]
        process = library.callable(self.sample.output_process_fn_grad)
        try:
            outputs = [t for t in tensors_of(process(result), lib) if t.requires_grad]
            if not outputs or not inputs:
                return {"recorded": len(outputs)}
            weights = [library.value(_weight(t), {}) for t in outputs]
            twice = self.entry.info.supports_gradgrad and dtype_name(outputs[0]) in TWICE
            for weight in weights if twice else ():
                weight.requires_grad_()
            grads = lib.autograd.grad(
                outputs, inputs, weights, create_graph=twice, allow_unused=True
            )
        except Exception as error:
            return {"recorded": failure(error)}
        seen = {"recorded": [None if grad is None else True for grad in grads]}
        for i, grad in enumerate(grads):
            if grad is not None:
                values = attempt(lambda grad=grad: of_a_sum(grad))
                seen[f"grad{i}"] = {"shape": tuple(grad.shape), "values": values}
        return seen | self.second(library, grads, [*inputs, *weights]) if twice else seen

    def second(self, library, grads, inputs):
        """Run backward through the gradients; none, zeros and unreadable zeros are the same."""
        grads = [grad for grad in grads if grad is not None and grad.requires_grad]
        if not grads:
            return {}
        weights = [library.value(_weight(grad), {}) for grad in grads]
        try:
            found = library.lib.autograd.grad(grads, inputs, weights, allow_unused=True)
        except Exception as error:
            return {"twice": failure(error)}
        values = [None if grad is None else attempt(lambda g=grad: of_a_sum(g)) for grad in found]
        return {
            f"twice{i}": {"values": value if isinstance(value, Values) and shows(value) else 0}
            for i, value in enumerate(values)
        }

    def out(self, library, function):
        """Call with out= of the dtype and shape of the result."""
        lib, (args, kwargs) = library.lib, self.arguments(library)
        lib.default_generator.manual_seed(0)
        with lib.no_grad():
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                return {"raised": failure(error)}
            outs = [lib.empty_like(t) for t in tensors_of(result, lib)]
            where = outs[0] if isinstance(result, lib.Tensor) else outs
            lib.default_generator.manual_seed(0)
            try:
                result = function(*args, **kwargs, out=where)
            except Exception as error:
                return {"raised": failure(error)}
        same = [a is b for a, b in zip(tensors_of(result, lib), outs)]
        return {"same": same, **self.seen("result", outs)}

    def seen(self, what, tensors):
        """Return the observables of some tensors."""
        entry = self.entry
        values = None if entry.is_random else of_a_sum if entry.name in SUMS else Values
        vectors, unique = UP_TO_PHASE.get(entry.name, ((), None))
        seen = {
            f"{what}{i}": observe(t, None if i in vectors else values)
            for i, t in enumerate(tensors)
        }
        if unique:
            arrays = unique(*[t.detach().resolve_conj().numpy() for t in tensors])
            seen |= {f"{what} unique{i}": {"values": of_a_sum(a)} for i, a in enumerate(arrays)}
        return seen

    def __repr__(self):
        return (
            f"{_short(self.sample.input)}, {_short(self.sample.args)}, {_short(self.sample.kwargs)}"
        )


def of_a_sum(tensor):
    """Return Values as close as the largest of them allows: what is summed may cancel."""
    rtol, atol = TOLERANCE.get(dtype_name(tensor), (0, 0))
    if dtype_name(tensor) == "float16":
        rtol = 8e-3  # where a formula reads a result, its rounding counts once more
    values = Values(tensor)
    with np.errstate(over="ignore"):
        numbers = np.abs(values.data)
    largest = numbers[np.isfinite(numbers)].max(initial=0)
    values.tol = rtol, max(atol, rtol * largest)
    return values


def _of_svd(U, S, Vh):
    """The matrix that is decomposed, and products that tell whether vectors are orthonormal."""
    k = S.shape[-1]
    return (U[..., :k] * S[..., None, :]) @ Vh[..., :k, :], _adjoint(U) @ U, Vh @ _adjoint(Vh)


def _of_eigh(L, V):
    return (V * L[..., None, :]) @ _adjoint(V), _adjoint(V) @ V


def _of_eig(L, V):
    """The products of each vector's components with the conjugates of them all."""
    return (V[..., None, :] * V[..., None, :, :].conj(),)


def _adjoint(x):
    return x.swapaxes(-2, -1).conj()


# Vectors with a sign or a phase that is not determined: {entry: (which of its results, a function
# of all results that gives what is)}.
UP_TO_PHASE = {
    "svd": ((0, 2), lambda U, S, V: _of_svd(U, S, _adjoint(V))),
    "linalg.svd": ((0, 2), _of_svd),
    "linalg.eigh": ((1,), _of_eigh),
    "linalg.eig": ((1,), _of_eig),
}


def shows(values):
    """Whether some of the numbers are more than what rounding leaves of zero."""
    return bool((np.nan_to_num(np.abs(values.data), nan=1.0) > 1e-10).any())


def observe(tensor, values=Values):
    """Return what is compared of a result; `values` makes what is compared of its contents."""
    seen = {
        "dtype": dtype_name(tensor),
        "shape": tuple(tensor.shape),
        "strides": layout(tensor),
        "requires_grad": tensor.requires_grad,
        "is_view": tensor._is_view(),
    }
    return seen | {"values": attempt(lambda: values(tensor.detach()))} if values else seen


def tensors_of(result, lib):
    """Return the tensors in a result or in arguments, in order."""
    if isinstance(result, lib.Tensor):
        return [result]
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in tensors_of(item, lib)]
    return []


def _weight(tensor):
    """Return the gradient of an output, the same in both libraries: some numbers near 1."""
    numbers = 1 + 0.5 * np.cos(np.arange(tensor.numel())).reshape(tuple(tensor.shape))
    return torch.from_numpy(np.asarray(numbers, dtype_name(tensor)))


def _short(value):
    if isinstance(value, torch.Tensor):
        strides = "" if value.is_contiguous() else f" strides {value.stride()}"
        return f"{dtype_name(value)}{list(value.shape)}{strides}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_short, value))}]"
    if isinstance(value, dict):
        return str({key: _short(item) for key, item in value.items()})
    return repr(value)


class Entry:
    """An entry of op_db."""

    def __init__(self, info):
        self.info = info
        self.name = info.name.removeprefix("torch.")
        self.id = f"{self.name}.{info.variant_test_name}".rstrip(".")
        self.supports_autograd, self.supports_out = info.supports_autograd, info.supports_out
        seeds = getattr(getattr(info.op, "__code__", None), "co_names", ())
        seeded = {"wrapper_set_seed", "wrapper_set_seed_dropout"} & set(seeds)
        self.is_random = bool(seeded) or info.name in (*UNDEFINED.split(), *RANDOM.split())

    def callables(self, library):
        """Return {variant: the callable in a library, or None}; raise Missing."""
        info = self.info
        found = {"function": library.callable(info.op, info.name)}
        for variant, function in (
            ("method", info.method_variant),
            ("inplace", info.inplace_variant),
        ):
            if function is info.op:
                function = None
            try:
                found[variant] = library.callable(function)
            except Missing:
                found[variant] = _absent
        return found

    def absent(self, library):
        """Return the name that a library lacks for this entry, or None."""
        try:
            function = self.callables(library)["function"]
        except Missing as missing:
            return str(missing)
        for dtype in self.dtypes()[:1]:
            for sample in itertools.islice(self.samples(dtype), 3):
                if not sample.suits(library):
                    continue
                raised = sample.run(library, function).get("raised", "")
                if raised.startswith("AttributeError"):
                    return raised
        return None if self.dtypes() else "its dtypes"

    def dtypes(self):
        """Return the names of the dtypes that both libraries have and the entry takes."""
        taken = {str(dtype).removeprefix("torch.") for dtype in self.info.supported_dtypes("cpu")}
        return [name for name in DTYPES if name in taken]

    def samples(self, dtype):
        """Yield the samples of a dtype; the same ones each time."""
        grad = self.supports_autograd and dtype.startswith(("float", "complex"))
        _seed(zlib.crc32(f"{self.id} {dtype}".encode()))
        # Not `info.sample_inputs`, which looks through the stack before each sample.
        make = self.info.sample_inputs_func
        for sample in make(self.info, "cpu", getattr(torch, dtype), grad):
            yield Sample(self, sample)

    def mistakes(self):
        """Yield the samples that raise."""
        if self.info.error_inputs_func is not None:
            _seed(0)
            for mistake in self.info.error_inputs_func(self.info, "cpu"):
                yield Sample(self, mistake.sample_input)


def _seed(seed):
    """Seed all that samples are drawn from; PyTorch's manual_seed notes the stack each time."""
    torch.default_generator.manual_seed(seed)
    random.seed(seed)
    np.random.seed(seed)


def _absent(*args, **kwargs):
    raise AttributeError("there is no such variant here")


def entries():
    """Return {id: entry} of op_db, those that are for the CPU."""
    found = {}
    for entry in map(Entry, invocations.op_db):
        if entry.info.supported_dtypes("cpu"):
            assert found.setdefault(entry.id, entry) is entry, entry.id
    return found


def spread(items, most):
    """Return at most so many items, evenly spread, the first and last among them; all for None."""
    items = list(items)
    if most is None or len(items) <= most:
        return items
    return [items[i * (len(items) - 1) // max(1, most - 1)] for i in range(most)]


# ---- what is missing: a text that a command brings up to date ----

LIST = Path(__file__).with_name("op_db_missing.txt")


def listed():
    """Return {reason: names of entries}, the names with all variants of an entry or with one."""
    found, reason = {}, None
    for line in LIST.read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
            found[reason] = []
        elif line and not line.startswith("## "):
            found[reason].append(line)
    return found


def head(wanted):
    """Return the first line of the list, which docs/coverage.md shows."""
    first, *others = ({*names} for names in wanted.values())
    found = [{entry.id, entry.name} for entry in entries().values()]
    never = sum(any(names & other for other in others) for names in found)
    absent = never + sum(bool(names & first) for names in found)
    return f"## {len(found)} entries, {absent} missing, {never} of them for good\n"


def update():
    """Take what is there now out of the list, and put what is missing under its first reason."""
    import imode

    library, wanted = Library(imode), listed()
    known = {name for names in wanted.values() for name in names}
    absent, names = set(), set()
    for entry in entries().values():
        if entry.absent(library):
            absent |= {entry.id, entry.name}
            if not {entry.id, entry.name} & known:
                names.add(entry.name)
    kept = {reason: {*names_} & absent for reason, names_ in wanted.items()}
    kept[next(iter(kept))] |= names
    text = [head(kept)]
    text += [f"# {reason}\n" + "".join(f"{n}\n" for n in sorted(kept[reason])) for reason in kept]
    LIST.write_text("\n".join(text))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    update()
