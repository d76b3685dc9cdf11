"""`python -m imode check FILE|FOLDER|PACKAGE ...`: the names of PyTorch's that programs use."""

import argparse
import ast
import importlib.util
import json
import sys
import warnings
from pathlib import Path

from imode.standing_in.missing import is_missing
from imode.standing_in.modules import Module, is_known, module_of

SUMMARY = "list the names of PyTorch's that a file or package uses, and which are not there"


def main(arguments):
    """Run the command; returns 1 where a name is missing, 2 where there is nothing to read."""
    parser = argparse.ArgumentParser(
        prog="python -m imode check",
        description="Read programs, without running them, and say by file and line which names of "
        "PyTorch's they use that are not in imode. Methods of tensors are not seen: what an object "
        "is shows when a program runs. The exit status is 1 where a name is missing.",
    )
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")
    parser.add_argument("--all", action="store_true", help="list the names that are there, too")
    parser.add_argument("targets", nargs="+", metavar="FILE|FOLDER|PACKAGE")
    options = parser.parse_args(arguments)
    files = []
    for target in options.targets:
        found = files_of(target)
        if not found:
            parser.error(f"no file, folder or package {target!r}")
        files += found
    uses, unread = [], []
    for path in files:
        try:
            uses += names_in(path)
        except (SyntaxError, ValueError) as error:
            unread.append((path, error))
    missing = [use for use in uses if not use["there"]]
    shown = uses if options.all else missing
    if options.json:
        print(json.dumps(shown, indent=1))
    else:
        for use in shown:
            print(
                f"{use['file']}:{use['line']}: {use['name']}{'' if use['there'] else ' (missing)'}"
            )
        names, lacking = ({use["name"] for use in some} for some in (uses, missing))
        print(
            f"{len(files)} files use {len(names)} names of PyTorch's; {len(lacking)} are missing"
            + (": docs/coverage.md lists what is there" if lacking else "")
        )
    for path, error in unread:
        print(f"{path}: cannot be read: {error}", file=sys.stderr)
    return 1 if missing else 0


def files_of(target):
    """Return the Python files of a file, a folder, or a package by its name."""
    path = Path(target)
    if not path.exists():
        try:
            spec = importlib.util.find_spec(target)
        except (ImportError, ValueError):
            return []
        if spec is None or not spec.origin:
            return []
        path = Path(spec.origin)
        path = path.parent if path.name == "__init__.py" else path
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def names_in(path):
    """Return what a file uses of PyTorch's: dicts of file, line, name and whether it is there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its strings
        tree = ast.parse(Path(path).read_bytes(), str(path))
    aliases, found = {}, []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _is_torch(alias.name):
                    aliases[alias.asname or "torch"] = alias.name if alias.asname else "torch"
                    found.append((node.lineno, alias.name))
        elif isinstance(node, ast.ImportFrom) and not node.level and _is_torch(node.module or ""):
            for alias in node.names:
                name = node.module if alias.name == "*" else f"{node.module}.{alias.name}"
                aliases[alias.asname or alias.name] = name
                found.append((node.lineno, name))
    within = set()  # parts of longer names
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node not in within:
            parts, inner = [node.attr], node.value
            while isinstance(inner, ast.Attribute):
                within.add(inner)
                parts.append(inner.attr)
                inner = inner.value
            if isinstance(inner, ast.Name) and inner.id in aliases:
                name = ".".join([aliases[inner.id], *reversed(parts)])
                found.append((node.lineno, name))
    uses = []
    for line, name in sorted(set(found)):
        there, known = look_up(name)
        if there is not None:
            uses.append({"file": str(path), "line": line, "name": known, "there": there})
    return uses


def _is_torch(name):
    return name.partition(".")[0] == "torch"


def look_up(name):
    """Return (whether a dotted name is there, the part of it that is PyTorch's); (None, name) for a
    name that a program has put there itself."""
    value, path = module_of("torch"), "torch"
    for part in name.split(".")[1:]:
        if not isinstance(value, (Module, type)) or path == "torch.ops":
            break  # an attribute of an object
        path = f"{path}.{part}"
        if isinstance(value, Module):
            below = path.partition(".")[2]
            value = _attribute(value, part)
            if value is None and is_known(below):
                value = module_of(path)
            if value is None:
                return None, path
        else:
            value = getattr(value, part, None)
            if value is None:
                return False, path
        if is_missing(value):
            return False, path
        if isinstance(value, Module) and not value.is_there():
            return (None if path == name else False), name  # importing it alone does no harm
    return True, path


def _attribute(value, name):
    try:
        return getattr(value, name)
    except AttributeError:
        return None
