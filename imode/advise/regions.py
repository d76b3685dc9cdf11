"""Regions of a source: the statements that a guard could cover.

A region is a run of statements that stand one after another in one block. Its lines are all that is
known of them here: those that must be inside, and those that must not.
"""

import ast
import linecache


class Region:
    """`file`, `first` and `last`: statements from line to line, in the block of one `scope`."""

    def __init__(self, file, first, last, scope):
        self.file, self.first, self.last, self.scope = file, first, last, scope

    def holds(self, lines):
        """Whether a chain of lines passes through it."""
        return any(file == self.file and self.first <= n <= self.last for file, n in lines)

    @property
    def place(self):
        """``"file:first-last"``."""
        end = "" if self.first == self.last else f"-{self.last}"
        return f"{self.file}:{self.first}{end}"


def regions(file, wanted, unwanted):
    """The largest regions of a file that hold lines in `wanted` and none in `unwanted`."""
    source = "".join(linecache.getlines(file))
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # not Python's own source, or changed meanwhile
        return []
    found = []
    _search(tree.body, "the module", file, set(wanted), set(unwanted), found)
    return found


def _search(body, scope, file, wanted, unwanted, found):
    run = []
    for statement in [*body, None]:
        inside = set() if statement is None else _lines(statement)
        bad = statement is None or inside & unwanted
        if bad or isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            _close(run, scope, file, found)
            run = []
            if statement is not None:
                _descend(statement, scope, file, wanted, unwanted, found)
        elif inside & wanted:
            run.append((statement, True))
        elif run:
            run.append((statement, False))


def _close(run, scope, file, found):
    """A run is a region, up to its last statement that has something in it."""
    while run and not run[-1][1]:
        run.pop()
    if run:
        found.append(Region(file, run[0][0].lineno, run[-1][0].end_lineno, scope))


def _descend(statement, scope, file, wanted, unwanted, found):
    if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        scope = f"{statement.name}()"
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list):
            _search(block, scope, file, wanted, unwanted, found)
    for handler in getattr(statement, "handlers", []):
        _search(handler.body, scope, file, wanted, unwanted, found)
    for case in getattr(statement, "cases", []):
        _search(case.body, scope, file, wanted, unwanted, found)


def _lines(statement):
    """The lines of a statement that run with it: not those of functions defined in it."""
    lines = set(range(statement.lineno, statement.end_lineno + 1))
    for node in ast.walk(statement):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node is not statement:
            lines -= set(range(node.body[0].lineno, node.end_lineno + 1))
    return lines
