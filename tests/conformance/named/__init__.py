"""Programs by name, a file per subject, as data: one per bug that was found.

    PROGRAMS = {"what is shown": '''
        v0 = lib.ones(2); v1 = v0 * 2
        with lib.no_grad():
            v2 = v1[0]
    '''}

test_named.py runs each in both libraries and compares all observables after every statement.
"""

import importlib
import pkgutil
import textwrap

from ..programs import Block


def load():
    """Return {subject: {name: the program's text}}."""
    return {
        module.name: importlib.import_module(f"{__name__}.{module.name}").PROGRAMS
        for module in pkgutil.iter_modules(__path__)
    }


def parse(text):
    """Return a program from source: statements, `with` blocks nested by indentation."""
    lines = [line for line in textwrap.dedent(text).splitlines() if line.strip()]

    def body(lines):
        out = []
        while lines:
            head, *rest = lines
            inner = list(_until_dedent(rest))
            lines = rest[len(inner) :]
            if head.startswith("with "):
                out.append(Block(head[5:].rstrip(":"), body(_dedented(inner))))
            elif inner:
                out.append("\n".join([head, *inner]))
            else:
                out += [head] if head.startswith("class ") else head.split("; ")
        return out

    return body(lines)


def _until_dedent(lines):
    for line in lines:
        if not line.startswith(" "):
            return
        yield line


def _dedented(lines):
    return textwrap.dedent("\n".join(lines)).splitlines()
