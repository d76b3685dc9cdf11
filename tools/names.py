"""Write imode/ops/names.py: which module declares which operator, function and method.

    python tools/names.py FOLDER      the folder that holds imode/, built

With it, `import imode` imports no operator (see imode/ops/__init__.py). The build runs this after
the extension modules are there.
"""

import importlib
import sys
import types
from pathlib import Path

TEXT = '''"""Which module of this folder declares which name: written by tools/names.py."""

# The folder's state that this was read from; None: installed, and not edited.
STAMP = {stamp}
DIGEST = {digest}

# In `imode`.
FUNCTIONS = (
{functions}
)

# In `imode.nn.functional`.
NN_FUNCTIONS = (
{nn_functions}
)

# On Tensor.
METHODS = (
{methods}
)

# On PyTorch's Tensor, and not on this one.
ABSENT = (
{absent}
)

# Name (of operators, functions and methods, without overloads) -> modules, in order.
DECLARED_IN = {{
{places}
}}
'''


def declared(schema, registry, Tensor):
    """Return what is declared now: {(kind, name): object}."""
    found = {("operator", name): op for name, op in registry().items()}
    for kind in ("functions", "nn_functions", "methods", "_first"):
        found |= {(kind, name): value for name, value in getattr(schema, kind).items()}
    return found | {("attribute", name): value for name, value in vars(Tensor).items()}


def read(folder):
    """Import the modules one by one; return what the fields of TEXT are filled with."""
    sys.path.insert(0, str(folder))
    nothing = types.ModuleType("imode.ops.names")
    vars(nothing).update(FUNCTIONS=(), NN_FUNCTIONS=(), METHODS=(), ABSENT=(), DECLARED_IN={})
    vars(nothing).update(STAMP=None, DIGEST=0)
    sys.modules["imode.ops.names"] = nothing
    import imode
    from imode import ops
    from imode._core.dispatch import all_operators, set_loader
    from imode._core.tensor import Tensor
    from imode.errors.pytorch import NAMES
    from imode.ops import schema

    set_loader(None, None)
    public = {name for name in vars(imode) if not name.startswith("_")} | set(imode.__all__)
    methods, places = set(), {}
    before = declared(schema, all_operators, Tensor)
    for module in ops.MODULES:
        others = {m for m in ops.MODULES if f"imode.ops.{m}" in sys.modules}
        importlib.import_module(f"imode.ops.{module}")
        pulled = {m for m in ops.MODULES if f"imode.ops.{m}" in sys.modules} - others - {module}
        if pulled:
            raise SystemExit(
                f"imode/ops/__init__.py: MODULES: {module} imports {pulled}: after them"
            )
        now = declared(schema, all_operators, Tensor)
        for kind, name in now:
            if now[kind, name] is before.get((kind, name)):
                continue
            name = name.partition(".")[0]
            if module not in places.setdefault(name, []):
                places[name].append(module)
            if kind == "attribute":
                methods.add(name)
        before = now
        hidden = public & set(schema.functions)
        if hidden:
            raise SystemExit(f"{module}: {hidden} are names of imode already")
    return (
        sorted(schema.functions),
        sorted(schema.nn_functions),
        sorted(methods),
        [name for name in NAMES["Tensor"].split() if not hasattr(Tensor, name)],
        {name: places[name] for name in sorted(places)},
        ops.stamp(),
        ops.digest(),
    )


def main():
    """Write names.py into the folder named on the command line."""
    folder = Path(sys.argv[1]).resolve()
    target = folder / "imode" / "ops" / "names.py"
    try:
        functions, nn_functions, methods, absent, places, stamp, digest = read(folder)
    except ImportError as error:  # cross-compiled, or a part of it does not build yet
        target.unlink(missing_ok=True)
        print(f"names: not written, imode does not import: {error}", file=sys.stderr)
        return
    in_place = (folder / "setup.py").exists()
    text = TEXT.format(
        stamp=stamp if in_place else None,
        digest=digest,
        functions="\n".join(f'    "{name}",' for name in functions),
        nn_functions="\n".join(f'    "{name}",' for name in nn_functions),
        methods="\n".join(f'    "{name}",' for name in methods),
        absent="\n".join(f'    "{name}",' for name in absent),
        places="\n".join(f'    "{name}": "{" ".join(where)}",' for name, where in places.items()),
    )
    if not target.exists() or target.read_text() != text:
        target.write_text(text)


if __name__ == "__main__":
    main()
