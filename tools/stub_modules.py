"""Type stubs of the modules in Python, from their signatures: used by stubs.py.

A parameter's type follows from its name or its default; a result's from the tables here. What
neither says is Any.
"""

import ast
import importlib
import inspect
import keyword
import re
import sys
import textwrap

HEAD = {  # name -> the line that makes it known
    "_b": "from builtins import bool as _b",
    "_f": "from builtins import float as _f",
    "_i": "from builtins import int as _i",
    "_s": "from builtins import str as _s",
    "Callable": "from collections.abc import Callable",
    "Iterable": "from collections.abc import Iterable",
    "Iterator": "from collections.abc import Iterator",
    "Sequence": "from collections.abc import Sequence",
    "Enum": "from enum import Enum",
    "Any": "from typing import Any",
    "Generic": "from typing import Generic",
    "overload": "from typing import overload",
    "Self": "from typing_extensions import Self",
    "_T": 'from typing_extensions import TypeVar\n_T = TypeVar("_T", default=Any)',
    "_D": "from typing import Any, TypeVar\nfrom collections.abc import Callable\n"
    '_F = TypeVar("_F", bound=Callable[..., Any])\n'
    "_D = Callable[..., Callable[[_F], _F]]",
}
GENERIC = {"Dataset", "IterableDataset", "DataLoader", "Subset", "Sampler", "ConcatDataset"}
PARAMETERS = {
    **dict.fromkeys(("in_features", "out_features", "in_channels", "out_channels"), "_i"),
    **dict.fromkeys(("num_embeddings", "embedding_dim", "hidden_size", "input_size"), "_i"),
    **dict.fromkeys(("num_heads", "embed_dim", "num_layers", "num_workers", "step_size"), "_i"),
    **dict.fromkeys(("d_model", "nhead", "num_classes", "T_max", "seed", "num_samples"), "_i"),
    **dict.fromkeys(
        ("lr", "weight_decay", "momentum", "dampening", "max_norm", "clip_value"), "_f"
    ),
    **dict.fromkeys(("eps", "gain", "std", "gamma"), "_f"),
    **dict.fromkeys(("hook", "closure"), "Callable[..., Any]"),
    **dict.fromkeys(("function", "func", "fn"), "Callable[[Any], Any] | Callable[..., Any]"),
    **dict.fromkeys(("pack_hook", "unpack_hook"), "Callable[[Any], Any]"),
    **dict.fromkeys(("module", "model"), "Module"),
    "params": "Iterable[Any]",
    "optimizer": "Optimizer",
    "batch_size": "_i | None",
    "device": "Any",
    "dtype": "dtype | None",
    "generator": "Generator | None",
    "name": "_s",
    "prefix": "_s",
}
TENSOR = "Tensor"
ITERATORS = {
    "parameters": "Parameter",
    "named_parameters": "tuple[_s, Parameter]",
    "buffers": TENSOR,
    "named_buffers": "tuple[_s, Tensor]",
    "modules": "Module",
    "children": "Module",
    "named_modules": "tuple[_s, Module]",
    "named_children": "tuple[_s, Module]",
}
NOTHING = "__init__ __exit__ __setitem__ __delitem__ __setstate__ __setattr__ __delattr__"
NOTHING += (
    " zero_grad register_buffer register_parameter register_module add_module load_state_dict"
)
NOTHING += " add_param_group close save_for_backward mark_dirty mark_non_differentiable set_epoch"
NOTHING += " set_materialize_grads clip_grad_value_ vector_to_parameters reset_parameters extend"
NOTHING += " append insert update update_parameters update_bn fill_ set_extra_state backward clear"
RETURNS = {  # of functions and methods, by name
    **dict.fromkeys(NOTHING.split(), "None"),
    **{name: f"Iterator[{each}]" for name, each in ITERATORS.items()},
    **dict.fromkeys(
        ["sample", "rsample", "log_prob", "entropy", "cdf", "icdf", "mean", "variance", "stddev"],
        TENSOR,
    ),
    **dict.fromkeys(
        ["mode", "perplexity", "enumerate_support", "kl_divergence", "sample_n"], TENSOR
    ),
    **dict.fromkeys(["clip_grad_norm_", "parameters_to_vector", "get_total_norm"], TENSOR),
    **dict.fromkeys(
        [
            "to",
            "cpu",
            "cuda",
            "train",
            "eval",
            "float",
            "double",
            "half",
            "bfloat16",
            "type",
            "apply",
        ],
        "Self",
    ),
    **dict.fromkeys(["requires_grad_", "share_memory", "expand", "__enter__", "__iadd__"], "Self"),
    **dict.fromkeys(["__repr__", "__str__", "extra_repr"], "_s"),
    **dict.fromkeys(["__len__", "__hash__", "__index__", "__int__"], "_i"),
    **dict.fromkeys(
        ["__contains__", "__eq__", "__ne__", "__bool__", "gradcheck", "gradgradcheck"], "_b"
    ),
    **dict.fromkeys(["get_last_lr", "get_lr"], "list[_f]"),
    **dict.fromkeys(["batch_shape", "event_shape"], "Size"),
    "state_dict": "dict[_s, Any]",
    "grad": "tuple[Tensor, ...]",
    "random_split": "list[Subset[Any]]",
    "get_parameter": "Parameter",
    "get_buffer": TENSOR,
    "get_submodule": "Module",
    "__iter__": "Iterator[Any]",
    "register_prehook": "RemovableHandle",
    **dict.fromkeys(["register_fake", "register_kernel", "register_torch_dispatch", "impl"], "_D"),
    "custom_op": "Callable[[Callable[..., Any]], CustomOpDef]",
}
MODULES_RETURN = {  # of the functions of a module that the table above does not have
    "imode.nn.functional": TENSOR,
    "imode.nn.init": TENSOR,
    "imode.nn.grad": TENSOR,
}
SEVERAL = {  # layers whose results are no single tensor
    **dict.fromkeys(("RNN", "GRU", "MultiheadAttention"), "tuple[Tensor, Any]"),
    "LSTM": "tuple[Tensor, tuple[Tensor, Tensor]]",
    "LSTMCell": "tuple[Tensor, Tensor]",
    **dict.fromkeys(("Module", "AdaptiveLogSoftmaxWithLoss", "DataParallel", "ModuleList"), "Any"),
    **dict.fromkeys(("ModuleDict", "ParameterList", "ParameterDict", "Container"), "Any"),
    **dict.fromkeys(("Transformer", "Sequential"), TENSOR),
}
ATTRIBUTES = {
    "weight": "Parameter",
    "bias": "Parameter",
    "training": "_b",
    "param_groups": "list[dict[_s, Any]]",
    "state": "dict[Any, Any]",
    "defaults": "dict[_s, Any]",
    "last_epoch": "_i",
    "needs_input_grad": "tuple[_b, ...]",
    "saved_tensors": "tuple[Tensor, ...]",
}
COUNT = re.compile(r"(in|out)_(features|channels)|num_features|(hidden|input)_size").fullmatch
HOOK = "(self, hook: Callable[{}, Any], *, prepend: _b = ..., {}) -> RemovableHandle: ..."
LOADED = (
    "def load_state_dict(self, state_dict: Any, strict: _b = ..., assign: _b = ...) -> Any: ..."
)
LEAF = """class {}(Tensor):
    def __init__(self, data: Any = ..., {}: _b = ...) -> None: ..."""
CLASSES = {  # whole
    "Parameter": LEAF.format("Parameter", "requires_grad"),
    "Buffer": LEAF.format("Buffer", "persistent"),
    "Function": "\n".join(
        [
            "class Function:",
            "    @classmethod",
            "    def apply(cls, *args: Any, **kwargs: Any) -> Any: ...",
            *(
                f"    @staticmethod\n    def {name}(*args: Any, **kwargs: Any) -> Any: ..."
                for name in ("forward", "backward", "vjp", "jvp", "vmap", "setup_context")
            ),
        ]
    ),
}
EXACT = {  # whole declarations, by class and name
    "Module.register_forward_hook": HOOK.format(
        "[Self, tuple[Any, ...], Any]", "with_kwargs: _b = ..., always_call: _b = ..."
    ),
    "Module.register_forward_pre_hook": HOOK.format(
        "[Self, tuple[Any, ...]]", "with_kwargs: _b = ..."
    ),
    "Module.register_full_backward_hook": "(self, hook: Callable[[Self, Any, Any], Any], "
    "prepend: _b = ...) -> RemovableHandle: ...",
    "Module.register_full_backward_pre_hook": "(self, hook: Callable[[Self, Any], Any], "
    "prepend: _b = ...) -> RemovableHandle: ...",
    "Module.load_state_dict": LOADED.removeprefix("def load_state_dict"),
    "Dataset.__getitem__": "(self, index: Any) -> _T: ...",
    "Subset.__getitem__": "(self, index: Any) -> _T: ...",
    "TensorDataset.__getitem__": "(self, index: Any) -> tuple[Tensor, ...]: ...",
    "DataLoader.__init__": "(self, dataset: Dataset[_T] | Sequence[_T], batch_size: _i | None = "
    "..., shuffle: _b | None = ..., sampler: Any = ..., batch_sampler: Any = ..., num_workers: _i "
    "= ..., collate_fn: Callable[[list[_T]], Any] | None = ..., pin_memory: _b = ..., drop_last: "
    "_b = ..., timeout: _f = ..., worker_init_fn: Callable[[_i], None] | None = ..., **more: Any)"
    " -> None: ...",
    "Optimizer.step": "(self, closure: Callable[[], Any] | None = ...) -> Any: ...",
}
SPECIAL = [
    "init",
    "call",
    "iter",
    "len",
    "contains",
    "getitem",
    "setitem",
    "enter",
    "exit",
    "next",
    "add",
    "radd",
    "eq",
]
SPECIAL = {f"__{name}__" for name in SPECIAL}


def is_python(name):
    """Whether a module is written in Python."""
    return (getattr(sys.modules.get(name), "__file__", None) or "").endswith(".py")


# What is in several of these is declared in the first. Of smaller modules, some name what another
# declares: checkers must take both for the same.
MODULES = "nn.parameter nn.modules nn nn.functional nn.init nn.grad nn.attention nn.utils.rnn"
MODULES += " nn.utils.parametrize nn.utils.parametrizations nn.utils.prune nn.utils.stateless"
MODULES += " nn.utils utils.hooks optim.lr_scheduler optim.swa_utils optim utils.data"
MODULES += " utils.checkpoint autograd.graph autograd.functional autograd.profiler autograd func"
MODULES += " distributions.constraints distributions.transforms distributions.kl distributions"
MODULES += " library linalg fft special masked sparse signal.windows amp random profiler testing"
MODULES += " hub jit overrides serialization accelerator cpu cuda compiler multiprocessing utils"
MODULES += " quasirandom"
AGAIN = "nn.modules.module optim.optimizer utils.data.dataset utils.data.dataloader"
AGAIN += " utils.data.sampler distributions.distribution"


class Stubs:
    """The stubs of all modules: where each public thing is declared, and their texts."""

    def __init__(self, imode):
        names = [f"imode.{name}" for name in f"{MODULES} {AGAIN}".split()]
        self.modules = {name: importlib.import_module(name) for name in names}
        self.listed = {name: getattr(imode, name) for name in imode.__all__}
        self.homes = {}  # id of a class or function -> (the module that declares it, name)
        for name in ("imode", *self.modules):
            for public in self.names(imode if name == "imode" else self.modules[name]):
                value = getattr(self.modules.get(name, imode), public)
                own = getattr(value, "__module__", "") or ""
                if own.startswith("imode.") and name == "imode" and is_python(own):
                    continue  # the package's names of what its modules declare
                if inspect.isroutine(value) or isinstance(value, type):
                    self.homes.setdefault(id(value), (name, public))

    def names(self, module):
        """The public names of a module."""
        listed = getattr(module, "__all__", None)
        if listed is None:
            listed = [name for name in dir(module) if self.is_of(module, name)]
        found = sorted({n for n in listed if not n.startswith("_")})
        return [n for n in found if not keyword.iskeyword(n) and hasattr(module, n)]

    def is_of(self, module, name):
        """Whether a module without `__all__` has a name of its own, that it did not import."""
        value = getattr(module, name, None)
        if inspect.ismodule(value):
            return value.__name__ == f"{module.__name__}.{name}"
        own = getattr(value, "__module__", None) or module.__name__
        elsewhere = own != module.__name__ and self.listed.get(name) is value
        return own.startswith("imode") and not elsewhere

    def known(self, cls):
        """Where a class is declared, as (module, name); None for a private one."""
        return self.homes.get(id(cls))

    def text(self, module, functions):
        """The stub of a module."""
        self.here = set()
        lines = [self.name(module, name, functions) for name in self.names(module)]
        body = "\n".join(line for line in lines if line)
        words = set(re.findall(r"\w+", body))
        words |= {"Any"} if "_T" in words else set()
        used = [text for name, text in HEAD.items() if name in words]
        places = {}
        for name in sorted(words & {*IMPORTED} - self.here):
            places.setdefault(IMPORTED[name], []).append(name)
        used += [f"from {place} import {', '.join(names)}" for place, names in places.items()]
        used += ["import imode"] * (" = imode." in body)
        return "\n".join([*used, body, ""])

    def name(self, module, name, functions):
        """The declaration of a name of a module."""
        value = getattr(module, name)
        if inspect.ismodule(value):
            if value.__name__ == f"{module.__name__}.{name}":
                return f"from . import {name} as {name}"
            return f"import {value.__name__} as {name}" if "imode" in value.__name__ else ""
        home, original = self.homes.get(id(value), (module.__name__, name))
        self.here.add(name)
        if home != module.__name__:
            if original == name:
                return f"from {home} import {original} as {name}"
            return f"{name} = {home}.{original}"  # `import as` another name would be private
        if original != name:
            return f"{name} = {original}"
        operator = getattr(value, "__self__", None)
        if inspect.isbuiltin(value) and hasattr(operator, "schema"):
            return functions(name, operator)
        if isinstance(value, type):
            return CLASSES.get(name) or self.klass(value, name)
        if callable(value):
            default = MODULES_RETURN.get(module.__name__, "Any")
            return "def " + self.function(name, value, RETURNS.get(name, default))
        kind = type(value).__name__
        return f"{name}: " + {"bool": "_b", "int": "_i", "float": "_f", "str": "_s"}.get(
            kind, "Any"
        )

    def parameter(self, p, required="Any"):
        """A parameter with its type."""
        if p.kind is p.VAR_POSITIONAL:
            return f"*{p.name}: {required}"
        if p.kind is p.VAR_KEYWORD:
            return f"**{p.name}: Any"
        kind = {bool: "_b", str: "_s", float: "_f"}.get(type(p.default), required)
        if p.default is not p.empty and p.default is not None and kind == required:
            kind = "Any"
        kind = PARAMETERS.get(p.name, kind if p.default is not None else "Any")
        if p.default is None and kind != "Any" and "None" not in kind:
            kind += " | None"
        return f"{p.name}: {kind}" + (" = ..." if p.default is not p.empty else "")

    def function(self, name, value, result, required="Any", is_method=False):
        """The text after `def` for a function or method."""
        try:
            given = list(inspect.signature(value).parameters.values())
        except (TypeError, ValueError):
            given = None
        if given is None:
            parts = ["self"] * is_method + ["*args: Any", "**kwargs: Any"]
        else:
            parts, star = [], False
            for i, p in enumerate(given):
                if is_method and i == 0:
                    parts.append(p.name)
                    continue
                star |= p.kind is p.VAR_POSITIONAL
                if p.kind is p.KEYWORD_ONLY and not star:
                    parts, star = [*parts, "*"], True
                parts.append(self.parameter(p, required))
        return f"{name}({', '.join(parts)}) -> {result}: ..."

    def bases(self, cls):
        """The public bases of a class, and the private classes between, whose methods it has."""
        named, between = [], []
        for base in cls.__mro__[1:]:
            if any(issubclass(known, base) for known in named):
                continue
            if self.known(base):
                named.append(base)
            elif base.__module__.startswith("imode"):
                between.append(base)
        return named, between

    def klass(self, cls, name):
        """The declaration of a class."""
        if issubclass(cls, BaseException):
            return f"class {name}({cls.__bases__[0].__name__}): ..."
        if hasattr(cls, "__members__"):
            members = [f"    {member} = ..." for member in cls.__members__]
            return "\n".join([f"class {name}(Enum):", *members])
        named, between = self.bases(cls)
        for base in named:
            IMPORTED.setdefault(self.known(base)[1], self.known(base)[0])
        above = [self.known(b)[1] + "[_T]" * (b.__name__ in GENERIC) for b in named]
        if name in GENERIC and not any(a.endswith("[_T]") for a in above):
            above.append("Generic[_T]")
        is_layer = any(each.__name__ == "Module" for each in cls.__mro__)
        lines = self.members(cls, [cls, *between], is_layer)
        head = f"class {name}" + f"({', '.join(above)})" * bool(above) + ":"
        return "\n".join([head, *(f"    {line}" for line in lines)]) if lines else f"{head} ..."

    def members(self, cls, classes, is_layer):
        lines, done = [], set()
        for each in classes:
            for attribute in sorted(attributes_of(each)):
                known = ATTRIBUTES.get(attribute, "_i" if is_layer and COUNT(attribute) else "")
                if attribute in done or callable(getattr(cls, attribute, None)):
                    continue
                done.add(attribute)
                if known or not is_layer:  # of a layer, `__getattr__` knows any
                    lines.append(f"{attribute}: {known or 'Any'}")
            for name, value in vars(each).items():
                if name in done or name == "extra_repr":
                    continue
                if name.startswith("_") and name not in SPECIAL:
                    continue
                done.add(name)
                lines += self.member(cls, name, value, is_layer)
        if cls.__name__ == "Module":
            lines.append("def __getattr__(self, name: _s) -> Any: ...")
        return lines

    def member(self, cls, name, value, is_layer):
        whole = f"{cls.__name__}.{name}"
        if EXACT.get(whole):
            return [f"def {name}{EXACT[whole]}"]
        if name == "forward" and cls.__name__ == "Module":
            return ["forward: Callable[..., Any]"]
        if isinstance(value, property) or inspect.isgetsetdescriptor(value):
            result = ATTRIBUTES.get(name, RETURNS.get(name, "Any"))
            return [f"{name}: {result}"]
        mark, function = "", value
        if isinstance(value, (staticmethod, classmethod)):
            mark, function = f"@{type(value).__name__}", value.__func__
        if not inspect.isroutine(function):
            return [f"{name}: Any"] if not name.startswith("__") else []
        result = RETURNS.get(name, "Any")
        if name == "forward" and is_layer:
            result = SEVERAL.get(cls.__name__, TENSOR)
            text = self.function("{}", function, result, TENSOR, is_method=True)
            return [f"def {text.format(each)}" for each in ("forward", "__call__")]
        if result == "Self" and (mark == "@staticmethod" or cls.__name__ == "Parameter"):
            result = "Any"
        text = self.function(name, function, result, is_method=mark != "@staticmethod")
        return [mark] * bool(mark) + [f"def {text}"]


IMPORTED = {  # where the types that signatures name are declared
    **dict.fromkeys(("Tensor", "Generator", "Size", "dtype", "Number"), "imode"),
    "Parameter": "imode.nn.parameter",
    "Module": "imode.nn.modules",
    "Optimizer": "imode.optim",
    "RemovableHandle": "imode.utils.hooks",
    "CustomOpDef": "imode.library",
    "Subset": "imode.utils.data",
    "Dataset": "imode.utils.data",
}


def attributes_of(cls):
    """The public attributes that a class's methods set, by name."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    except (OSError, TypeError, SyntaxError):
        return set()
    found = set(getattr(cls, "__annotations__", {}))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            found |= {node.attr} if ast.unparse(node.value) in ("self", "ctx") else set()
    return {name for name in found if not name.startswith("_")}
