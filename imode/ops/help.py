"""What `help()` shows of operators that are called in several ways: each way, then what it does."""

from imode._core.callables import describe
from imode.ops.parse import form

_ways = {}  # id of a function or method, which is never freed -> {how it is called: documentation}


def add_way(made, name, parsed, doc, is_method, out=False):
    """Note one more overload of the operator that a function or method calls."""
    line = form(parsed, name, "" if is_method else "input", out and not is_method)
    if parsed.n_results > 1 and not parsed.result_names[0].startswith("result"):
        line += f" -> ({', '.join(parsed.result_names)})"
    ways = _ways.setdefault(id(made), {})
    ways.setdefault(line, doc)
    if len(ways) > 1:
        describe(made, f"{name}{made.__text_signature__}\n--\n\n{_text(ways)}")


def _text(ways):
    parts, told = ["\n".join(ways)], set()
    for line, doc in ways.items():
        if doc and doc not in told:
            parts += [line] * bool(told) + [_flush_left(doc)]
            told.add(doc)
    return "\n\n".join(parts)


def _flush_left(doc):
    first, *rest = doc.rstrip().split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
    return "\n".join([first, *(line[indent:] for line in rest)])
