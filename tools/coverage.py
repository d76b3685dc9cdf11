"""Write docs/coverage.md: which of PyTorch's public names imode has, lacks, and will never have.

python tools/coverage.py            the page, from the names in imode/errors/pytorch.py
python tools/coverage.py --names    these names first, from the PyTorch that is installed
"""

import importlib
import re
import sys
import textwrap
import types
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "coverage.md"
NAMES = ROOT / "imode" / "errors" / "pytorch.py"
SAMPLES = ROOT / "tests" / "conformance" / "op_db_missing.txt"
# Of PyTorch's public modules, in the order of the page.
SPACES = (
    *("", "Tensor", "nn", "nn.functional", "nn.init", "nn.utils", "linalg", "fft", "special"),
    *("optim", "optim.lr_scheduler", "autograd", "autograd.functional", "autograd.graph"),
    *("utils", "utils.data", "distributions", "signal.windows", "func", "library", "profiler"),
    *("overrides", "random", "serialization", "masked", "sparse", "cuda", "ops.aten"),
)
# What will never be there: the reason, and what names it is about, each with its namespace.
NEVER = (
    (
        "other devices",
        r"(\w+\.)*(cuda|xpu|mps|mtia|cpu|hpu|ipu|accelerator|backends|Stream|Event|AcceleratorError"
        r"|OutOfMemoryError)\b.*|.*(cudnn|miopen|vulkan|xnnpack|mkldnn|metal|cublas|nccl|_cuda|xla)"
        r".*|Tensor\.(pin_memory|is_pinned|is_meta|is_maia|record_stream)|.*pin_memory.*",
    ),
    (
        "other layouts of sparse tensors",
        r".*([Ss]parse|coalesce|dense_dim|hspmm|smm|sspaddmm|spmm|saddmm|(c?col|c?row)_indices).*"
        r"|indices_copy|values_copy"
        r"|Tensor\.(indices|values|to_dense)|(.*\.)?(SparseAdam|EmbeddingBag\.sparse)",
    ),
    (
        "quantised tensors",
        r"ao|.*(quantiz|Quantiz|_quant|QInt|QUInt|qint|quint|int_repr|q_scale|q_zero|q_per_channel|qscheme|fbgemm"
        r"|Observer|per_channel|per_tensor|rnn_.*_cell$).*",
    ),
    (
        "nested, named and masked tensors",
        r"masked\.(\w*_)?([Mm]asked_?[Tt]ensor|as_masked_tensor)|.*(to_padded|nested|refine_names|align_(as|to|tensors)|rename_?$|\.names$|has_names).*",
    ),
    (
        "compilers, and programs as data",
        r"package|library\.(get_ctx|triton_op|wrap_triton)|.*(\b[Ss]ym_|\bSym[A-Z]|\bsym_|jit|Jit|Script|compile|export|onnx|dynamo|\bfx\b|higher_order"
        r"|parse_(ir|schema|type)|AnyType|[A-Za-z]+Type$|TupleType|FunctionSchema|LoggerBase"
        r"|merge_type_from|import_ir|Graph$|Gradient$|Future|Await|fork$|wait$|read_vitals"
        r"|set_vital|vitals_|CompilationUnit|DeepCopyMemoTable|Static\w+|Module(Dict)?$).*",
    ),
    (
        "function transforms",
        r"library\.register_vmap|func\.(?!functional_call).*|vmap|func|.*(\bjvp\b|forward_ad).*",
    ),
    (
        "several processes",
        r"futures|.*(distributed|Distributed|multiprocessing|share_memory|is_shared|SyncBatchNorm).*",
    ),
    (
        "other dtypes",
        r"Tensor\.grad_dtype|.*(bfloat16|BFloat16|chalf|complex32|float8|float4|uint16|uint32|uint64|ComplexHalf"
        r"|\bu?int[1-7]$|\bbits\w+).*",
    ),
    (
        "what PyTorch is made of, and no program calls",
        r"monitor|AVG|SUM|AliasDb|Argument(Spec)?|BenchmarkConfig|BenchmarkExecutionStats|Block|BufferDict"
        r"|CallStack|Capsule|Code|CompleteArgumentSpec|ConcreteModule\w*|ErrorReport"
        r"|(Des|S)erializationStorageContext|ExcludeDispatchKeyGuard|ExecutionPlan|FatalError"
        r"|FileCheck|GraphExecutorState|IODescriptor|JITException|\w+Logger|Node|OperatorInfo"
        r"|ParameterDict|PyTorchFile(Reader|Writer)|ThroughputBenchmark|TracingState|Type|Use|Value"
        r"|batch_norm_(backward_|elemt|gather_|stats|update_)\w*|choose_qparams_optimized|classes"
        r"|cpp|unify_type_list|bit|(Tensor\.)?slice_inverse|Tensor\.(index|const_data_ptr)|nn\.(Container|intrinsic|qat)|fft\.Tensor"
        r"|autograd\.(NestedIOFunction|kineto_available|is_view_replay_enabled|profiler_legacy)"
        r"|autograd\.graph\.(region_|set_override_|set_warn_on_)\w*|utils\.(\w*cpp_backtrace"
        r"|[Tt]hroughput_?[Bb]enchmark|backcompat|set_module)"
        r"|serialization\.(mkdtemp|normalize_storage_type|storage_to_tensor_type"
        r"|check_module_version_\w+|validate_hpu_device)|profiler\.(itt|kineto_available)"
        r"|overrides\.redispatch_function|signal\.windows\.windows"
        r"|(argument|runtime)_validation|utils\.data\.(argument_|runtime_)\w+",
    ),
)
HELPERS = ("has_torch_function", "assert_int", "fn")  # of its files, not of its users
# Of PyTorch's compiled classes, most are its compiler's; these are its users'.
CLASSES = {
    *("Generator", "LinAlgError", "Size", "device", "dtype", "finfo", "iinfo", "layout"),
    "memory_format",
}
KEEP = re.compile(r"nn\.Module(Dict)?|.*\.(Graph|checkpoint)|UntypedStorage|nn\.utils\..*")


def documented(owner, name, value):
    """Whether a name of PyTorch's is public, and not what one of its files imports."""
    home = getattr(value, "__module__", None) or ""
    compiled = home.startswith("torch._C")
    if name.startswith("_") or (compiled and isinstance(value, type) and name not in CLASSES):
        return False
    if name in getattr(owner, "__all__", ()):
        return True
    if isinstance(value, types.ModuleType):
        return value.__name__ == f"{owner.__name__}.{name}"
    if isinstance(owner, type):
        return True
    inside = home.startswith(owner.__name__) and owner.__name__ != "torch"
    dispatched = home == "torch._jit_internal" and getattr(value, "__name__", "") == "fn"
    shared = home == "torch" and isinstance(value, types.BuiltinFunctionType)
    if name.startswith(HELPERS):
        return False
    return callable(value) and (inside or compiled or dispatched or shared or not home)


def names_of_pytorch():
    """Return {namespace: public names} of the PyTorch that is installed."""
    import torch

    found = {}
    for space in SPACES[:-1]:
        if space == "Tensor":
            owner = torch.Tensor
        else:
            owner = importlib.import_module(f"torch.{space}".rstrip("."))
        found[space] = [n for n in dir(owner) if documented(owner, n, getattr(owner, n, None))]
    core = set()
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.removeprefix("aten::").partition(".")
        packet = getattr(torch.ops.aten, base, None) if name.startswith("aten::") else None
        operator = getattr(packet, overload or "default", None)
        if operator is not None and torch.Tag.core in operator.tags:
            core.add(base)
    return found | {"ops.aten": sorted(core)}


# Modules below these are taken for PyTorch's, whatever they are called.
OPEN = (
    *("_C", "_dynamo", "_export", "_functorch", "_higher_order_ops", "_inductor", "_native"),
    *("_numpy", "_prims", "_refs", "_subclasses", "_logging", "ao", "cuda", "distributed"),
    *("export", "fx", "mtia", "onnx", "package", "quantization", "testing", "xpu"),
)


def modules_of_pytorch():
    """Return the names of the modules of the PyTorch that is installed, without `torch.`."""
    import torch

    root = Path(torch.__file__).parent
    found = set(OPEN)
    for path in root.rglob("*.py"):
        parts = path.relative_to(root).with_suffix("").parts
        if parts[-1] == "__init__":
            parts = parts[:-1]
        if parts and parts[0] not in OPEN and all(part.isidentifier() for part in parts):
            found.add(".".join(parts))
    return sorted(found)


def write_names():
    """Write the names of PyTorch's into the package."""
    lines = ['"""PyTorch\'s public names by namespace: written by tools/coverage.py."""', ""]
    lines += ["# fmt: off", "NAMES = {"]
    for space, names in names_of_pytorch().items():
        text = textwrap.fill(" ".join(names), 90, break_on_hyphens=False)
        lines.append(f'    "{space}": """\n{text}""",')
    text = textwrap.fill(" ".join(modules_of_pytorch()), 90, break_on_hyphens=False)
    lines += ["}", "", "# Modules; everything below those of OPEN_MODULES is one, too."]
    lines.append(f'MODULES = """\n{text}"""')
    text = textwrap.fill(" ".join(OPEN), 90)
    lines.append(f'OPEN_MODULES = """\n{text}"""')
    NAMES.write_text("\n".join([*lines, ""]))


def reason(space, name):
    """Return why a name will never be there, or None."""
    whole = f"{space}.{name}".lstrip(".")
    if KEEP.fullmatch(whole):
        return None
    return next((why for why, pattern in NEVER if re.fullmatch(pattern, whole)), None)


def owner_of(space):
    """Return imode's module, or class, of a namespace; None where there is none."""
    import imode

    owner = imode
    for part in filter(None, space.split(".")):
        owner = getattr(owner, part, None)
    return owner


def sort_names(space, names):
    """Return (names that are there, that are missing, {reason: names that never will be})."""
    owner, there, missing, never = owner_of(space), [], [], {}
    for name in names:
        if owner is not None and hasattr(owner, name):
            there.append(name)
        elif why := reason(space, name):
            never.setdefault(why, []).append(name)
        else:
            missing.append(name)
    return there, missing, never


def listing(names):
    """Return names as a paragraph."""
    text = " ".join(f"`{name}`" for name in names)
    return textwrap.fill(text, 100, break_on_hyphens=False, break_long_words=False)


def section(space, there, missing, never):
    """Yield the paragraphs of a namespace."""
    yield f"## {title(space)}"
    if missing:
        yield f"**Not there ({len(missing)}).**\n{listing(missing)}"
    for why, names in never.items():
        yield f"**Never: {why} ({len(names)}).**\n{listing(names)}"
    if there:
        yield f"<details><summary>There ({len(there)})</summary>"
        yield listing(there)
        yield "</details>"


def title(space):
    """Return the heading of a namespace."""
    special = {
        "": "`torch`",
        "Tensor": "`torch.Tensor`: methods and attributes",
        "ops.aten": "`torch.ops.aten`: core operators",
    }
    return special.get(space) or f"`torch.{space}`"


def row(what, there, missing, never):
    """Return a row of the table."""
    share = f"{100 * there / max(1, there + missing):.0f} %"
    return f"| {what} | {there} | {missing} | {never} | {share if there + missing else '–'} |"


def page():
    """Return the text of the page."""
    from imode.errors.pytorch import NAMES as names

    parts, rows = [], []
    for space in SPACES:
        there, missing, never = sort_names(space, names[space].split())
        count = sum(map(len, never.values()))
        rows.append(row(title(space), len(there), len(missing), count))
        parts += section(space, there, missing, never)
    entries, absent, outside = map(int, re.findall(r"\d+", SAMPLES.read_text().splitlines()[0]))
    rows.append(row("PyTorch's own samples (`op_db`)", entries - absent, absent - outside, outside))
    note = NOTE.format(reasons="; ".join(why for why, _ in NEVER))
    head = HEAD.format(rows="\n".join(rows), note=textwrap.fill(note, 100))
    return "\n\n".join([head, *parts]) + "\n"


HEAD = """# What is there

Which of PyTorch 2.13's public names imode has: written by `make coverage`, from what is there.
What is there does what PyTorch does; `docs/differences.md` lists the exceptions. A name that is
missing says so when it is used, and names the nearest ones.

| | there | not there | never | share |
|---|---:|---:|---:|---:|
{rows}

{note}"""
NOTE = (
    "*Never*: {reasons}. The share is of what is there or could be. The last row counts the "
    "entries of PyTorch's own tests for the CPU; the samples of those that are there are run in "
    "both libraries by `make conformance`."
)


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    if "--names" in sys.argv:
        write_names()
    PAGE.write_text(page())
