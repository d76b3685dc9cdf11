"""Finds the sentences of errors and warnings that stand in two places of the package."""

import ast
import re
from collections import defaultdict

RAISING = re.compile(r"\w*(Error|Warning|Exception)$|warn|warn_explicit|fail|kind|error|text")
TOKENS = re.compile(
    r"""(?P<prefix>(?<!\w)[bBcCfFrRuU]{0,2})(?P<quote>\"{3}|'{3}|"|')"""
    r"""(?P<text>(?:\\.|(?!(?P=quote)).)*)(?P=quote)|(?P<gap>\#[^\n]*|\s+)|(?P<other>\w+|.)""",
    re.DOTALL,
)


def is_raising(node):
    """Whether the strings below a node are what an error or a warning says."""
    if isinstance(node, ast.Call):
        called = ast.unparse(node.func)
        return called.startswith("errors.") or RAISING.match(called.rpartition(".")[2])
    returned = getattr(node, "value", None) if isinstance(node, ast.Return) else None
    returned = node.body if isinstance(node, ast.Lambda) else returned
    return isinstance(node, ast.Raise) or isinstance(returned, ast.JoinedStr)


def of_python(source, everything):
    """(line, text) of the strings of a module that errors say, with {} for what is put in."""
    tree = ast.parse(source)
    inner = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }  # docstrings, and below what is part of an f-string
    found = {}
    for top in [tree] if everything else filter(is_raising, ast.walk(tree)):
        for node in ast.walk(top):
            if isinstance(node, ast.JoinedStr):
                inner.update(node.values)
                parts = [v.value if isinstance(v, ast.Constant) else "{}" for v in node.values]
                found[node] = "".join(parts)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found[node] = node.value
    return [(node.lineno, text) for node, text in found.items() if node not in inner]


def of_cython(source, everything):
    """The same of a Cython file: of all strings in one quote; those side by side are one."""
    line, text = 0, ""
    for token in TOKENS.finditer(source + "\n."):
        if token["text"] is not None and len(token["quote"]) == 1:
            line = line or source.count("\n", 0, token.start()) + 1
            inside = token["text"].replace("\\n", "\n").replace("\\", "")
            text += re.sub(r"\{.*?\}", "{}", inside) if "f" in token["prefix"] else inside
        elif token["gap"] is None and text:
            yield line, text
            line, text = 0, ""


def sentences(text):
    """The sentences of a text that have four words or more."""
    for sentence in re.split(r"[.;]\s|\n", text):
        words = re.findall(r"[A-Za-z]\S*\s", f"{sentence} ".replace("{}", " "))
        if len(words) >= 4:
            yield " ".join(sentence.split()).strip(" .;:")


def twice(folder):
    """{sentence: [file:line, ...]} of those that stand in several places."""
    places = defaultdict(list)
    for path in sorted(folder.rglob("*.p*")):
        strings = {".py": of_python, ".pyx": of_cython, ".pxd": of_cython}.get(path.suffix)
        if strings is None:
            continue
        for line, text in strings(path.read_text(), "errors" in path.parts):
            for sentence in sentences(text):
                places[sentence].append(f"{path.relative_to(folder.parent)}:{line}")
    return {sentence: found for sentence, found in places.items() if len(found) > 1}
