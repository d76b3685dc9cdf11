"""From what was observed to findings: what to change, where, and what it would save."""

import linecache
import os

from .._core.provenance import location_parts
from .._core.tensor import Tensor
from .regions import regions

KINDS = {
    "unused": "recorded and never used by a backward",
    "no_grad": "no_grad that could be inference_mode",
    "stays": "no_grad that has to stay",
    "unentered": "guard made and never entered",
    "kept": "graphs kept alive",
    "training": "served in training mode",
}


class Finding:
    """One finding. Its fields are what `--json` writes.

    `kind`: a key of KINDS; `file`, `first`, `last`: where; `says`: what was seen; `do`: what to do;
    `nodes`, `bytes`, `milliseconds`: how much; `forbids`: what keeps inference mode out, or "".
    """

    def __init__(self, kind, place, says, do, forbids="", nodes=0, nbytes=0, ns=0):
        self.kind = kind
        self.file, self.first, self.last = place
        self.says, self.do, self.forbids = says, do, forbids
        self.nodes, self.bytes, self.milliseconds = nodes, nbytes, round(ns / 1e6, 3)


def findings(observer, unentered, script, given, names):
    """All Findings: of the script itself first, then of other files, by line.

    `script`: its path; `given`: as it was given on the command line; `names`: its globals.
    """
    seen = _Seen(observer, script, given)
    found = [
        *_unused(seen),
        *_guards(seen),
        *_unentered(unentered, seen),
        *_kept(seen, names),
        *_training(seen),
    ]
    order = list(KINDS)
    return sorted(found, key=lambda f: (f.file != seen.name, f.file, f.first, order.index(f.kind)))


class _Seen:
    """What was observed, with files as they are shown."""

    def __init__(self, observer, script, given):
        self.observer, self.script, self.given = observer, script, given
        self.name = self.shown(script)

    def shown(self, file):
        """A file's path, relative to where we are if it is below that."""
        path = os.path.abspath(file)
        here = os.getcwd() + os.sep
        return path[len(here) :] if path.startswith(here) else path

    def at(self, line):
        """``"file:line"``, or "line n" in the script itself."""
        file, number = line
        same = self.shown(file) == self.name
        return f"line {number}" if same else f"{self.shown(file)}:{number}"


# ---- recorded and never used ----


def _unused(seen):
    wanted, unwanted = {}, {}
    for entry in seen.observer.recorded:
        for file, number in set(entry.lines):
            (unwanted if entry.used else wanted).setdefault(file, set()).add(number)
    found = [
        region
        for file, lines in wanted.items()
        for region in regions(file, lines, unwanted.get(file, ()))
    ]
    entries = {}
    for entry in seen.observer.recorded:
        if entry.used:
            continue
        # The outermost lines come first: what a caller's region covers needs no other.
        for line in entry.lines:
            region = next((r for r in found if r.holds([line])), None)
            if region is not None:
                entries.setdefault(region, []).append(entry)
                break
    for region, recorded in entries.items():
        yield _unused_region(seen, region, recorded)


def _unused_region(seen, region, recorded):
    forbids = _forbidden_in_region(seen, region)
    where = f"line {region.first}" if region.first == region.last else (
        f"lines {region.first} to {region.last}"
    )  # fmt: skip
    training = any(region.holds(lines) for lines, _, _ in seen.observer.training)
    do = f"put {where} (in {region.scope}) inside `with imode.inference_mode():`"
    if forbids:
        do = f"put {where} (in {region.scope}) inside `with imode.no_grad():`"
    if training:
        do += "; and call model.eval() before it: a layer ran in training mode"
    return Finding(
        "unused",
        (seen.shown(region.file), region.first, region.last),
        "what is recorded here, no backward used",
        do,
        forbids,
        len(recorded),
        sum(entry.nbytes for entry in recorded),
        sum(entry.ns for entry in recorded),
    )


def _forbidden_in_region(seen, region):
    """What keeps inference mode out of a region: a sentence, or ""."""
    observer = seen.observer
    for uses, what in (
        (observer.saved, "saves it for backward"),
        (observer.written, "writes to it"),
        (observer.required, "needs its gradient"),
    ):
        for made, lines, by, _ in uses:
            if not made.inference and region.holds(made.lines) and not region.holds(lines):
                return _conflict(seen, made, lines, by, what)
    return ""


def _conflict(seen, made, lines, by, what):
    return (
        f"the tensor that {made.by} makes at {seen.at(made.lines[-1])} is normal, and {by} at "
        f"{seen.at(lines[-1])} {what}"
    )


# ---- no_grad blocks ----


def _guards(seen):
    reasons = {}
    for guard, (calls, inside, backward) in seen.observer.guards.items():
        place = location_parts(guard)
        if not _is_written(*place):
            continue
        reasons[guard] = calls, _forbidden_in_guard(seen, guard, inside, backward), place
    allowed = {guard for guard, (_, forbids, _) in reasons.items() if not forbids}
    while True:  # a write in another no_grad is allowed if that becomes inference mode, too
        refused = {
            made.guard: (made, lines, by)
            for made, lines, by, guard in seen.observer.written
            if made.guard in allowed and guard != made.guard and guard not in allowed
        }
        if not refused:
            break
        for guard, (made, lines, by) in refused.items():
            calls, _, place = reasons[guard]
            reasons[guard] = calls, _conflict(seen, made, lines, by, "writes to it"), place
            allowed.discard(guard)
    for calls, forbids, (file, number) in reasons.values():
        place = seen.shown(file), number, number
        if forbids:
            yield Finding(
                "stays",
                place,
                f"no_grad, around {calls} calls of operators, has to stay",
                "leave it as it is",
                forbids,
            )
        else:
            yield Finding(
                "no_grad",
                place,
                f"no_grad, around {calls} calls of operators, could be inference_mode",
                "write imode.inference_mode() there: what is made inside is nowhere saved for "
                "backward, written to or made to require grad",
            )


def _is_written(file, number):
    """Whether the program writes a no_grad there; an optimizer's own is not its business."""
    line = linecache.getline(file, number)
    return "no_grad" in line or "set_grad_enabled" in line


def _forbidden_in_guard(seen, guard, inside, backward):
    if inside:
        return "recording is turned on again inside of it, which inference mode does not allow"
    if backward:
        return "a backward runs inside of it, whose gradients would be inference tensors"
    for uses, what in (
        (seen.observer.saved, "saves it for backward"),
        (seen.observer.required, "needs its gradient"),
    ):
        for made, lines, by, _ in uses:
            if made.guard == guard:
                return _conflict(seen, made, lines, by, what)
    return ""


# ---- the rest ----


def _unentered(lines, seen):
    counts = {}
    for line in lines:
        counts[line] = counts.get(line, 0) + 1
    for (file, number, name), times in counts.items():
        yield Finding(
            "unentered",
            (seen.shown(file), number, number),
            f"{name}(...) was made {times} times and never entered: it changed nothing",
            f"write `with imode.{name}(...):` around what it is for",
        )


def _kept(seen, names):
    """Graphs that outlive the backward after their own: of each function one finding."""
    places = {}
    for lines, (nodes, graphs) in seen.observer.old.items():
        if graphs < 2:
            continue
        file, number = lines[-1]
        found = places.setdefault(file, [number, number, 0, 0])
        found[0], found[1] = min(found[0], number), max(found[1], number)
        found[2] += nodes
        found[3] = max(found[3], graphs)
    holders = _holders(names)
    by = f" Held by {' and '.join(holders)}." if holders else ""
    for file, (first, last, nodes, graphs) in places.items():
        yield Finding(
            "kept",
            (seen.shown(file), first, last),
            f"graphs recorded here were still alive when a later backward ran, {graphs} at once."
            + by,
            "keep `loss.item()` or `loss.detach()` instead of the result itself",
            nodes=nodes,
        )


def _holders(names):
    """The script's names whose values hold results with a graph."""
    found = []
    for name, value in names.items():
        items = value.values() if isinstance(value, dict) else value
        if isinstance(value, Tensor):
            items = [value]
        elif not isinstance(value, (list, tuple, dict, set)):
            continue
        holds = [item for item in items if isinstance(item, Tensor) and item.grad_fn is not None]
        if holds and not (isinstance(value, Tensor) and len(names) > 64):
            found.append((len(holds), name))
    return [f"`{name}`" for n, name in sorted(found, reverse=True)[:3] if n > 1] or [
        f"`{name}`" for _, name in found[:3]
    ]


def _training(seen):
    counts = {}
    for (lines, by, recording), calls in seen.observer.training.items():
        if recording:
            continue
        line = next((x for x in lines[::-1] if seen.shown(x[0]) == seen.name), lines[-1])
        layers, total = counts.setdefault(line, (set(), 0))
        counts[line] = layers | {_LAYERS.get(by, by)}, total + calls
    for (file, number), (layers, calls) in counts.items():
        yield Finding(
            "training",
            (seen.shown(file), number, number),
            f"{' and '.join(sorted(layers))} ran {calls} times in training mode, where nothing is "
            "recorded",
            "call model.eval() before serving, and model.train() before training on",
        )


_LAYERS = {"_dropout_mask": "dropout", "native_batch_norm": "batch norm"}
