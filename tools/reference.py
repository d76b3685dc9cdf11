"""Write the API reference of the built package as Markdown: a page for each public module.

    python tools/reference.py FOLDER      writes FOLDER/index.md and its pages

Operators show every overload, from their schemas; all else its signature. The text is the
docstring. An object is described under its first name in PAGES; its other names point there.
"""

import enum
import importlib
import inspect
import re
import sys
import types
from pathlib import Path

ROOT = Path(__file__).parents[1]
FAMILIES = {  # of imode.ops; a page each
    "creation": "Making tensors",
    "random": "Random numbers",
    "pointwise": "Element by element",
    "reductions": "Reductions",
    "sorting": "Sorting, searching, counting",
    "shapes": "Shapes and views",
    "indexing": "Indexing",
    "products": "Products",
    "decompositions": "Decompositions",
    "fourier": "Fourier transforms",
    "networks": "Networks",
    "sequences": "Sequences",
    "sparse": "Sparse tensors",
}
PAGES = {  # title -> modules
    "nn": "nn nn.parameter nn.attention nn.parallel nn.grad nn.common_types",
    "nn.functional": "nn.functional",
    "nn.init": "nn.init",
    "nn.utils": "nn.utils nn.utils.rnn nn.utils.parametrize nn.utils.parametrizations "
    "nn.utils.prune nn.utils.stateless",
    "optim": "optim optim.lr_scheduler optim.swa_utils",
    "autograd": "autograd autograd.graph autograd.functional autograd.function autograd.grad_mode "
    "autograd.anomaly_mode autograd.profiler autograd.variable",
    "linalg": "linalg",
    "fft": "fft",
    "special": "special",
    "distributions": "distributions distributions.constraints distributions.transforms "
    "distributions.kl distributions.utils",
    "utils.data": "utils.data",
    "utils": "utils utils.checkpoint utils.benchmark utils.benchmark.utils.common utils.dlpack "
    "utils.hooks utils.tensorboard utils.weak utils.deterministic utils.collect_env utils._pytree "
    "utils._python_dispatch",
    "library, backends": "library backends",
    "profiler, testing, overrides": "profiler testing overrides",
    "files": "serialization hub",
    "func": "func",
    "masked, sparse, signal": "masked sparse signal.windows",
    "processes and devices": "multiprocessing distributed accelerator cpu cuda mps xpu",
    "amp, compiler, jit": "amp compiler jit fx",
    "random, types, versions": "random quasirandom functional types return_types torch_version "
    "version",
}
SHORT = {"b": "bool", "f": "float", "i": "int", "s": "str"}  # as stubs abbreviate types
OVERLOAD = " &&& "  # between the signatures of one description: docs/conf.py takes them apart
INDEX = """# Reference

Every public name, with all its signatures. A name does what PyTorch's does;
[differences](../differences.md) lists the exceptions, [coverage](../coverage.md) what is missing.
"""
NOTES = """
Three modules are no lists of names. `imode.ops` has every operator, also those that PyTorch keeps
for itself, as `imode.ops.NAME`, with `.explain(...)`; `imode.errors` makes the exceptions;
`imode.signal` holds `imode.signal.windows`.
"""


def public(module):
    """Return the public names of a module, without modules."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n in dir(module) if not n.startswith("_") and is_own(module, n)]
        names += getattr(getattr(module, "more", None), "NAMES", [])  # loaded when asked for
    found = (n for n in names if not n.startswith("_"))
    return sorted(n for n in found if not isinstance(getattr(module, n), types.ModuleType))


def is_own(module, name):
    """Whether a name of a module without `__all__` was made for it, and not imported to be used."""
    home = getattr(getattr(module, name), "__module__", None) or module.__name__
    return home == module.__name__ or home.startswith(module.__name__ + ".")


def load():
    """Import imode with all operators; return it and its operator table."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tools")]
    import imode
    from imode.ops import load_all, schema

    load_all()
    return imode, schema


def modules(imode):
    """Yield the title and the modules of each page."""
    for title, names in PAGES.items():
        yield title, [importlib.import_module(f"imode.{name}") for name in names.split()]


def all_names(imode):
    """Return every public name, in full: what the reference must have."""
    names = {f"imode.{n}" for n in public(imode)}
    names |= {f"imode.Tensor.{n}" for n in dir(imode.Tensor) if not n.startswith("_")}
    for _, found in modules(imode):
        names |= {f"{m.__name__}.{n}" for m in found for n in public(m)}
    return names


# ---- text ----


def prose(doc, name=""):
    """Return a docstring as Markdown: examples in fences, and no letter that means something.

    The signatures of the function `name`, with which it may begin, are left out: the description
    has them. Where one stands further down, the text after it is about that overload.
    """
    lines, parts, code = inspect.cleandoc(doc or "").splitlines(), [], False
    own = f"{name}(" if name else "\n"
    while lines and lines[0].startswith(own):
        del lines[0]
    for i, line in enumerate(lines):
        starts = line.lstrip().startswith(">>>")
        if starts and not code:
            parts += ["", "```pycon"]
            code = True
        elif code and not line.strip() and not following(lines, i).startswith(">>>"):
            parts += ["```"]
            code = False
        if code:
            parts.append(line)
        elif line.startswith(own):
            parts.append(f"`{line}`")
        else:
            pieces = re.split(r"(`+[^`]*`+)", line)
            pieces[::2] = [re.sub(r"([<*_\[\]])", r"\\\1", piece) for piece in pieces[::2]]
            parts.append("".join(pieces))
    return "\n".join(parts + ["```"] * code)


def following(lines, i):
    """Return the next line that is not empty, without its indent."""
    return next((line.lstrip() for line in lines[i:] if line.strip()), "")


def directive(kind, signatures, body):
    """Return a description: its signatures, one for each overload, and what it says."""
    head = OVERLOAD.join(signatures)
    fence = "`" * (3 + max(map(len, re.findall(r"^`+", body, re.M)), default=0))
    return f"{fence}{{py:{kind}}} {head}\n\n{body}\n{fence}"


def signature(value):
    """Return the signature of a class or function, as it is written."""
    if isinstance(value, enum.EnumType):
        return ""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return "(...)" if not isinstance(value, type) else ""
    parts = found.parameters.values()
    parts = [p.replace(annotation=p.empty) for p in parts if p.name != "self"]
    texts = str(found.replace(parameters=parts, return_annotation=found.empty))
    texts = re.sub(r"<([\w.]*?)(?: object)?(?: at 0x\w+)?(?::[^>]*)?>", r"\1", texts)
    return texts if balanced(texts) else "(...)"


def balanced(text):
    """Whether Python could read a text as the parameters of a function."""
    try:
        compile(f"def f{text}: ...", "signature", "exec")
    except SyntaxError:
        return False
    return True


def overloads(op, method):
    """Return the signatures of an operator's overloads."""
    import stubs

    named = {}
    found = []
    for text in stubs.signatures(stubs.chain(op), named, method):
        text = text.removesuffix(": ...").replace("builtins.", "")
        text = re.sub(r"\b_([bfis])\b", lambda found: SHORT[found[1]], text)
        text = re.sub(r"^\(self(, )?", "(", text)
        for cls, declared in named.items():
            fields = ", ".join(re.findall(r"^    (\w+): Tensor", declared, re.M))
            text = re.sub(rf"-> {cls}$", f"-> tuple[{fields}]", text)
        found.append(text)
    return found


# ---- objects ----


class Reference:
    """Describes objects, each once, by the first name that asks for it."""

    def __init__(self, imode, schema):
        self.imode, self.schema = imode, schema
        self.first = {}
        self.published = schema.published()

    def describe(self, name, value):
        """Return the description of what has this name."""
        if callable(value) and self.first.setdefault(id(value), name) != name:
            kind = "class" if isinstance(value, type) else "function"
            first = self.first[id(value)]
            role = "class" if isinstance(value, type) else "func"
            return directive(kind, [name], f"The same as {{py:{role}}}`{first}`.")
        short = name.rpartition(".")[2]
        op = self.operator(name, value)
        if op is not None:
            signatures = [name + text for text in overloads(op, False)]
            return directive("function", signatures, prose(value.__doc__, short))
        if isinstance(value, type):
            return self.cls(name, value)
        if callable(value):
            return directive("function", [name + signature(value)], prose(value.__doc__))
        shown = repr(value)
        own = len(shown) < 80 and " at 0x" not in shown and shown != f"imode.{short}"
        body = f"`{shown}`" if own else f"A `{type(value).__name__}`."
        return directive("data", [name], body)

    def operator(self, name, value):
        """Return the operator that a public function calls, or None."""
        short = name.rpartition(".")[2]
        table = {"imode.nn.functional." + short: self.schema.nn_functions}.get(name)
        table = self.schema.functions if table is None else table
        if table.get(short) is not value or inspect.isfunction(value):
            return None
        return self.published.get(short)

    def cls(self, name, value):
        """Return the description of a class with its own methods and attributes."""
        parts = [prose(value.__doc__) if value.__doc__ != object.__doc__ else ""]
        if not issubclass(value, (tuple, BaseException)) and value is not self.imode.Tensor:
            for member in sorted(vars(value)):
                text = self.member(f"{name}.{member}", vars(value)[member])
                if text and not member.startswith("_"):
                    parts.append(text)
        return directive("class", [name + signature(value)], "\n\n".join(parts))

    def member(self, name, value):
        """Return the description of a member of a class, or None: it says nothing of itself."""
        raw = getattr(value, "__func__", value)
        if not getattr(raw, "__doc__", None):
            return None
        if isinstance(value, property) or inspect.isdatadescriptor(value):
            return directive("attribute", [name], prose(value.__doc__))
        if isinstance(raw, type) or not callable(raw):
            return None
        return directive("method", [name + signature(raw)], prose(raw.__doc__))

    def method(self, name):
        """Return the description of a method or an attribute of Tensor."""
        full = f"imode.Tensor.{name}"
        value = inspect.getattr_static(self.imode.Tensor, name)
        op = self.schema.methods.get(name)
        if op is not None:
            signatures = [full + s for s in overloads(op, True)]
            if name in self.schema.functions:
                body = f"See {{py:func}}`imode.{name}`."
            else:
                body = prose(value.__doc__, name)
            return directive("method", signatures, body)
        text = self.member(full, value)
        return text or directive("attribute", [full], prose(getattr(value, "__doc__", "")))


# ---- pages ----


def page(title, parts, intro=""):
    """Return a page."""
    return f"# {title}\n\n{intro}\n\n" + "\n\n".join(parts) + "\n"


def write(folder):
    """Write all pages; return how many names they describe."""
    imode, schema = load()
    from imode.ops.names import DECLARED_IN

    reference = Reference(imode, schema)
    files = {}
    by_family = {family: [] for family in FAMILIES}
    others = []
    for name in public(imode):
        family = DECLARED_IN.get(name, "").partition(".")[0] if name in schema.functions else ""
        by_family.get(family, others).append(name)

    def described(names):
        return [reference.describe(f"imode.{n}", getattr(imode, n)) for n in names]

    files["imode"] = page("imode", described(others), "Guards, dtypes, settings, files." + NOTES)
    for family, names in by_family.items():
        intro = f"Operators of `imode`, from `imode/ops/{family}/`."
        files[f"operators-{family}"] = page(FAMILIES[family], described(names), intro)
    members = [n for n in dir(imode.Tensor) if not n.startswith("_")]
    files["tensor"] = page("Tensor", [reference.method(n) for n in members],
                           "Methods and attributes of {py:class}`imode.Tensor`.")  # fmt: skip
    for title, found in modules(imode):
        parts = []
        for module in found:
            name = module.__name__
            parts.append(f"## {name}\n\n{prose((module.__doc__ or '').partition(chr(10) * 2)[0])}")
            parts += [reference.describe(f"{name}.{n}", getattr(module, n)) for n in public(module)]
        files[re.sub(r"\W+", "-", title)] = page(title, parts)
    folder.mkdir(parents=True, exist_ok=True)
    for stem, text in files.items():
        (folder / f"{stem}.md").write_text(text)
    listed = "\n".join(files)
    (folder / "index.md").write_text(f"{INDEX}\n```{{toctree}}\n:maxdepth: 1\n\n{listed}\n```\n")
    return all_names(imode)


if __name__ == "__main__":
    print(f"reference: {len(write(Path(sys.argv[1])))} names")
