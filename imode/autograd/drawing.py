"""Pictures of the graph: Graphviz DOT, and SVG where Graphviz is installed."""

import shutil
import subprocess

from imode._core.tensor import Tensor

from .node import Node
from .saved import version_of_saved

__all__ = ["Picture", "draw"]

_LEAF, _RESULT, _SAVED = "#d5e8d4", "#dae8fc", "#ffe6cc"


class Picture:
    """A drawn graph: `str(picture)` is its DOT text; notebooks show it as an image."""

    def __init__(self, dot):
        self.dot = dot

    def __str__(self):
        return self.dot

    def render(self, kind):
        """The picture as bytes in one of Graphviz's formats, such as "svg" or "png".

        Raises RuntimeError if the program `dot` is not installed, or fails.
        """
        program = shutil.which("dot")
        if program is None:
            raise RuntimeError(
                "draw: the program 'dot' of Graphviz was not found. Install Graphviz, or save the "
                "DOT text (picture.save('graph.dot')) and render it elsewhere."
            )
        done = subprocess.run(
            [program, f"-T{kind}"], input=self.dot.encode(), capture_output=True, check=False
        )
        if done.returncode:
            raise RuntimeError(f"draw: dot -T{kind} failed: {done.stderr.decode().strip()}")
        return done.stdout

    def save(self, path):
        """Write the picture in the format of the file name's extension: .dot, .svg, .png, .pdf…"""
        kind = str(path).rpartition(".")[2]
        data = self.dot.encode() if kind in ("dot", "gv") else self.render(kind)
        with open(path, "wb") as file:
            file.write(data)

    def _repr_mimebundle_(self, include=None, exclude=None):
        if shutil.which("dot") is None:
            return {"text/plain": self.dot}
        return {"image/svg+xml": self.render("svg").decode(), "text/plain": self.dot}


def draw(*tensors, saved=True, names=None):
    """Draw the graph behind tensors (or nodes): a `Picture`.

    Boxes are operators, with the shapes and dtypes of their results; green boxes are leaves, blue
    ones the given tensors, orange ones what is saved for backward, with its version. `saved=False`
    leaves the orange ones out. `names`: a dict from name to tensor (such as
    `dict(model.named_parameters())`) that labels the leaves. Raises TypeError for anything but a
    Tensor or a Node.

    >>> import imode
    >>> x = imode.ones(2, requires_grad=True)
    >>> print(imode.autograd.graph.draw((x * x).sum(), saved=False))  # doctest: +ELLIPSIS
    digraph ...
    """
    sheet = _Sheet(saved, {id(tensor): name for name, tensor in (names or {}).items()})
    for tensor in tensors:
        sheet.root(tensor)
    return Picture(sheet.text())


class _Sheet:
    """What is drawn: lines of DOT, and the number of each thing that has a box."""

    def __init__(self, saved, names):
        self.saved, self.names = saved, names
        self.numbers, self.lines, self.keep = {}, [], []
        self.todo = []

    def text(self):
        while self.todo:
            self._node(self.todo.pop())
        style = 'node [shape=box, fontname="Helvetica", fontsize=11, height=0.3]'
        return "\n".join(["digraph autograd {", "  rankdir=BT", f"  {style}", *self.lines, "}", ""])

    def root(self, thing):
        if isinstance(thing, Node):
            self._number(thing)
            return
        if not isinstance(thing, Tensor):
            raise TypeError(f"draw: expected Tensors or nodes, got {type(thing).__name__}")
        box = self._tensor(thing, _RESULT if thing.grad_fn is not None else _LEAF)
        if thing.grad_fn is not None:
            self.lines.append(f"  {self._number(thing.grad_fn)} -> {box}{_output(thing)}")

    def _tensor(self, tensor, colour, label=None, version=None):
        known = tensor if colour == _LEAF else object()
        if id(known) in self.numbers:
            return self.numbers[id(known)]
        self.keep.append(known)
        box = self.numbers[id(known)] = f"t{len(self.numbers)}"
        version = version or _version(tensor)
        lines = [label or self.names.get(id(tensor)), _look(tensor), version]
        text = "\\n".join(_quoted(line) for line in lines if line)
        self.lines.append(f'  {box} [label="{text}", style=filled, fillcolor="{colour}"]')
        return box

    def _number(self, node):
        if id(node) not in self.numbers:
            self.keep.append(node)
            self.numbers[id(node)] = f"n{len(self.numbers)}"
            self.todo.append(node)
        return self.numbers[id(node)]

    def _node(self, node):
        box = self.numbers[id(node)]
        results = "\\n".join(
            _quoted(f"{look.dtype} {list(look.shape)}".partition(".")[2])
            for look in node._input_metadata
            if look is not None
        )
        name = type(node).name(node).rpartition("::")[2]
        self.lines.append(f'  {box} [label="{_quoted(name)}\\n{results}"]')
        leaf = getattr(node, "variable", None)
        if leaf is not None:
            self.lines.append(f"  {self._tensor(leaf, _LEAF)} -> {box}")
        if self.saved:
            self._saved(node, box)
        for behind, number in node.next_functions:
            if behind is not None:
                port = f' [label="{number}"]' if len(behind._input_metadata) > 1 else ""
                self.lines.append(f"  {self._number(behind)} -> {box}{port}")

    def _saved(self, node, box):
        for name in sorted(set(dir(node))):
            if not name.startswith("_raw_saved_"):
                continue
            value = getattr(node, name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item.data, Tensor):
                    label = name.removeprefix("_raw_saved_")
                    other = self._tensor(item.data, _SAVED, label, _saved_version(item))
                    self.lines.append(f"  {other} -> {box} [style=dashed, arrowhead=none]")
                elif item.data is not None:
                    other = f"p{len(self.lines)}"
                    text = _quoted(f"packed: {type(item.data).__name__}")
                    self.lines.append(f'  {other} [label="{text}", style="filled,rounded"]')
                    self.lines.append(f"  {other} -> {box} [style=dashed, arrowhead=none]")


def _look(tensor):
    return f"{tensor.dtype} {list(tensor.shape)}".partition(".")[2]


def _version(tensor):
    return None if tensor.is_inference() else f"version {tensor._version}"


def _saved_version(saved):
    """The version when saved; also the present one, where a write since makes backward raise."""
    if saved.unpack_hook is not None:  # the version of what a hook returns is not checked
        return None
    then, now = version_of_saved(saved), saved.data._version
    return f"version {then}" if now == then else f"version {then}, now {now}"


def _output(tensor):
    return f' [label="{tensor.output_nr}"]' if len(tensor.grad_fn._input_metadata) > 1 else ""


def _quoted(text):
    return str(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
