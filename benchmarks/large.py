"""Measure operators over large arrays beside PyTorch; tables and a chart under build/bench.

python -m benchmarks.large [--threads 1,2] [--sizes 16384,262144] [--only REGEX] [--level x86-64-v2]

Each row of large_rows.py runs in inference mode, some with the backward pass, too. The libraries
take turns in one process, one for each number of threads. `share` is what imode gets out of the
machine: of the bytes per second of an addition, or of the operations per second of a matrix
product, that the better of both libraries reached in the same process.

Of arrays beyond the core's own cache a time depends on where they lie, and on who else uses the
machine. So where PyTorch seems the faster, both are timed again, over other arrays, up to AGAIN
times: the least time of each library counts.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from .__main__ import FOLDER, table
from .large_rows import INPUTS, ROWS, SIZES, sides
from .timing import geometric_mean, steady

LEAST = 0.9  # of PyTorch's time to imode's: below, rows stand in a table of their own
AGAIN = 3
PRODUCTS = range(2, 257)
BATCH = 64
LEVELS = {  # by level of x86-64: what PyTorch, OpenBLAS, oneDNN and MKL call it
    "x86-64-v2": ("default", "Nehalem", "SSE41", "MKL_CBWR=COMPATIBLE"),
    "x86-64-v3": ("avx2", "Haswell", "AVX2", "MKL_ENABLE_INSTRUCTIONS=AVX2"),
    "x86-64-v4": ("avx512", "SkylakeX", "AVX512_CORE", "MKL_ENABLE_INSTRUCTIONS=AVX512"),
}


def held_to(level):
    """The environment that holds imode, PyTorch, NumPy and their libraries to a level."""
    from numpy._core._multiarray_umath import __cpu_dispatch__, __cpu_features__

    aten, blas, dnn, mkl = LEVELS[level]
    above = {"x86-64-v2": r"", "x86-64-v3": r"AVX512|X86_V4", "x86-64-v4": r"(?!)"}[level]
    off = [f for f in __cpu_dispatch__ if __cpu_features__.get(f) and re.match(above, f)]
    return {
        "IMODE_CPU_LEVEL": level,
        "ATEN_CPU_CAPABILITY": aten,
        "OPENBLAS_CORETYPE": blas,
        "ONEDNN_MAX_CPU_ISA": dnn,
        **dict([mkl.split("=")]),  # of which only COMPATIBLE holds it on processors of AMD
    } | ({"NPY_DISABLE_CPU_FEATURES": " ".join(off)} if off else {})


# ---- in the process that measures ----------------------------------------------------------------


class Arrays:
    """The arrays of one size and dtype, made when a statement first needs them."""

    def __init__(self, libraries, n, dtype):
        self.libraries, self.n, self.dtype, self.made = libraries, n, dtype, {}

    def of(self, code):
        """{library: {letter: tensor}} of a statement."""
        letters = set(re.findall(r"(?<![\w.'])[A-Za-z](?!\w|=|')", code)) & set(INPUTS)
        for letter in letters - set(self.made):
            self.made[letter] = self._make(letter)
        return {
            key: {letter: self.made[letter][key] for letter in letters} for key in self.libraries
        }

    def _make(self, letter):
        maker, dtype, *view = INPUTS[letter]
        dtype = self.dtype if dtype == "own" else dtype
        array = maker(np.random.default_rng(ord(letter)), self.n, *sides(self.n))
        if dtype == "int64" and array.dtype != np.int64:
            array = np.abs(array * 100) + 1
        # NumPy has no bfloat16: the libraries convert.
        array = array.astype("float32" if dtype == "bfloat16" else dtype)
        made = {}
        for key, library in self.libraries.items():
            with library.inference_mode(False):  # normal tensors: some will require grad
                tensor = library.from_numpy(array).clone()
                if dtype == "bfloat16":
                    tensor = tensor.to(library.bfloat16)
                made[key] = eval(view[0], {letter: tensor}) if view else tensor
        return made


def first(result):
    """A tensor, of a result that may be several."""
    return result if hasattr(result, "shape") else result[0]


def statements(row, arrays):
    """What is timed, and the bytes of operands and results: ({library: (code, names)}, bytes)."""
    found, moved = {}, 0
    for key, letters in arrays.of(row.code).items():
        library = arrays.libraries[key]
        names = {"lib": library, "F": library.nn.functional, "first": first}
        code = row.code
        if row.backward:
            leaves = {
                k: v.detach().requires_grad_()
                for k, v in letters.items()
                if v.is_floating_point() and v.shape
            }
            names |= letters | leaves
            result = first(eval(code, names))
            names |= {"leaves": [*leaves.values()], "seed": library.ones_like(result)}
            code = f"lib.autograd.grad(first({code}), leaves, seed)"
        else:
            names |= letters
            result = eval(code, names)
            several = result if isinstance(result, (tuple, list)) else [result]
            moved = sum(t.numel() * t.element_size() for t in [*letters.values(), *several])
        found[key] = code, names
    return found, moved


def libraries(threads):
    """imode and PyTorch, with so many threads."""
    import torch

    import imode

    for library in (imode, torch):
        library.set_num_threads(threads)
        library.manual_seed(0)
    return {"imode": imode, "torch": torch}


def measure_row(row, arrays, clock):
    """The seconds by library, with the bytes moved."""
    modes = [library.inference_mode(not row.backward) for library in arrays.libraries.values()]
    with modes[0], modes[1]:
        made, moved = statements(row, arrays)
        return steady(made, clock) | {"bytes": moved}


def measure(options):
    """Yield {name, size, ...} of every row, after what the machine can do."""
    libs = libraries(options["threads"])
    clock = time.thread_time if options["threads"] == 1 else time.perf_counter
    yield {
        "capability": {key: lib.backends.cpu.get_cpu_capability() for key, lib in libs.items()},
        "level": libs["imode"]._core.level.cpu_level(),
    }
    for n in options["sizes"]:
        by_dtype = {}
        for name, row in ROWS.items():
            if re.search(options["only"], name):
                by_dtype.setdefault(row.dtype, []).append((name, row))
        if not by_dtype:
            continue
        yield {"size": n} | peaks(libs, n, clock)
        for dtype, rows in by_dtype.items():
            arrays = Arrays(libs, n, dtype)
            for name, row in rows:
                times = measure_row(row, arrays, clock)
                for _ in range(AGAIN):
                    if slower(times):
                        again = measure_row(row, Arrays(libs, n, dtype), clock)
                        times = {key: min(times[key], again[key]) for key in times}
                flops = row.flops(n) if row.flops and not row.backward else 0
                yield {"name": name, "size": n, "flops": flops} | times
    if options["threads"] == 1:
        yield from products(libs, options, clock)


def slower(times):
    """Whether imode seems to be: then both are timed again, over other arrays."""
    return times["torch"] < LEAST * times["imode"]


def peaks(libs, n, clock):
    """Bytes and operations per second: an addition into an array, a product 512×512."""
    best_bytes = best_flops = 0
    for lib in libs.values():
        with lib.inference_mode():
            names = {"lib": lib, "x": lib.ones(n), "y": lib.ones(n), "o": lib.ones(n)}
            names |= {"a": lib.ones(512, 512)}
            code = {"sum": ("lib.add(x, y, out=o)", names), "product": ("a @ a", names)}
            times = steady(code, clock)
        best_bytes = max(best_bytes, 12 * n / times["sum"])
        best_flops = max(best_flops, 2 * 512**3 / times["product"])
    return {"bytes per second": best_bytes, "flops per second": best_flops}


def products(libs, options, clock):
    """Yield the times of products of square matrices, alone and in batches, NumPy's too."""
    for n in PRODUCTS:
        for count in (1, BATCH):
            name = f"product {n}×{n}" + f", {count} of them" * (count > 1)
            if not re.search(options["only"], name):
                continue
            shape = (count, n, n)[count == 1 :]
            times = product(libs, shape, clock)
            for _ in range(AGAIN):
                if slower(times):
                    again = product(libs, shape, clock)
                    times = {key: min(times[key], again[key]) for key in times}
            yield {"name": name, "product": n, "count": count} | times


def product(libs, shape, clock):
    """The times of one of them, or of a batch."""
    a, b = np.random.default_rng(0).standard_normal((2, *shape)).astype("f")
    work = {}
    for key, lib in libs.items():
        with lib.inference_mode():
            made = {"a": lib.from_numpy(a).clone(), "b": lib.from_numpy(b).clone()}
        work[key] = "a @ b", made
    work["numpy"] = "a @ b", {"a": a, "b": b}
    with libs["imode"].inference_mode(), libs["torch"].inference_mode():
        return steady(work, clock, limit=0.05)


# ---- in the process that prints ------------------------------------------------------------------


def run(options, threads):
    """Yield what a process of so many threads measures."""
    environment = os.environ | (held_to(options.level) if options.level else {})
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    asked = {"threads": threads, "sizes": options.sizes, "only": options.only}
    command = [sys.executable, "-m", "benchmarks.large", "--measure", json.dumps(asked)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as child:
        for line in child.stdout:
            yield json.loads(line) | {"threads": threads}
    if child.returncode:
        raise SystemExit(child.returncode)


def collect(options):
    """Run everything, print where it is; the rows, with their ratios and shares."""
    rows, peak, begun = [], {}, time.perf_counter()
    for threads in options.threads:
        for found in run(options, threads):
            if "capability" in found:
                runs = ", ".join(f"{k}: {v}" for k, v in found["capability"].items())
                print(f"{threads} thread{'s' * (threads > 1)}; {runs}; level {found['level']}")
            elif "bytes per second" in found:
                peak = found
                size, gb, gf = (found["size"], *(v / 1e9 for v in [*found.values()][1:3]))
                print(f"  {size:,} elements: {gb:.1f} GB/s, {gf:.1f} Gflop/s "
                      f"({time.perf_counter() - begun:.0f} s)", flush=True)  # fmt: skip
            else:
                found["ratio"] = found["torch"] / found["imode"]
                if "product" not in found:
                    found["share"] = share(found, peak)
                rows.append(found)
    print(f"  done ({time.perf_counter() - begun:.0f} s)\n")
    return rows


def share(row, peak):
    """What imode gets out of the machine, from 0 to 1; None where it cannot be said."""
    if not row["bytes"]:
        return None
    return max(
        row["bytes"] / row["imode"] / peak["bytes per second"],
        row["flops"] / row["imode"] / peak["flops per second"],
    )


def shown(rows):
    """The table of rows, the worst first."""
    lines = []
    for row in sorted(rows, key=lambda row: row["ratio"]):
        part = row.get("share")
        size = [f"{row['size']:,}" if "size" in row else "", row["threads"]]
        times = [f"{row[key] * 1e6:,.1f}" for key in ("imode", "torch")]
        ratios = f"{row['ratio']:.2f}", "" if part is None else f"{part:.0%}"
        lines.append([row["name"], *map(str, size), *times, *ratios])
    return table(
        ["", "n", "threads", "imode, µs", "PyTorch, µs", "PyTorch / imode", "share"], lines
    )


def summary(rows):
    """Yield the parts of the page: means by threads and size, and what is below 0.9."""
    groups = {}
    for row in rows:
        if "size" in row:
            key = f"{row['threads']} threads, {row['size']:,} elements"
        else:
            key = f"products, {row['count']} at once"
        groups.setdefault(key, []).append(row)
    lines = []
    for key, of in groups.items():
        ratios = [row["ratio"] for row in of]
        counts = [sum(r < bound for r in ratios) for bound in (0.5, LEAST)]
        lines.append([key, len(of), f"{geometric_mean(ratios):.2f}", f"{min(ratios):.2f}", *counts])
    head = "", "rows", "geometric mean of PyTorch / imode", "least", "below 0.5", f"below {LEAST}"
    yield table([*head], [[str(cell) for cell in line] for line in lines])
    of_numpy = [row["numpy"] / row["imode"] for row in rows if "numpy" in row]
    if of_numpy:
        yield f"Products, NumPy / imode: geometric mean {geometric_mean(of_numpy):.2f}, " \
              f"least {min(of_numpy):.2f}"  # fmt: skip
    for key, of in groups.items():
        slow = [row for row in of if row["ratio"] < LEAST]
        if slow:
            yield f"## Below {LEAST}: {key}\n\n{shown(slow)}"


def chart(rows, path):
    """Draw the ratios, sorted, by threads and size; and those of products by n."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    for threads in sorted({row["threads"] for row in rows}):
        for size in sorted({row["size"] for row in rows if "size" in row}):
            those = [r for r in rows if (r["threads"], r.get("size")) == (threads, size)]
            of = sorted(r["ratio"] for r in those)
            left.plot(of, label=f"{size:,}, {threads} thread{'s' * (threads > 1)}")
    for count in (1, BATCH):
        of = [(r["product"], r["ratio"]) for r in rows if r.get("count") == count]
        if of:
            right.plot(*zip(*of), label=f"{count} at once")
    left.set(xlabel="rows, by their ratio", ylabel="PyTorch's time / imode's")
    right.set(xlabel="n, product of n×n")
    for axes in (left, right):
        axes.set(yscale="log")
        axes.axhline(1, color="0.6", linewidth=0.8)
        axes.grid(alpha=0.3)
        if axes.lines[1:]:
            axes.legend()
    figure.savefig(path)
    plt.close(figure)


def numbers(text):
    """The whole numbers of a list with commas."""
    return [int(word) for word in text.split(",")]


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--sizes", type=numbers, default=list(SIZES), help="elements")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name has it")
    parser.add_argument("--level", choices=LEVELS, help="hold all libraries to it")
    parser.add_argument("--measure", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        for found in measure(options.measure):
            print(json.dumps(found), flush=True)
        return
    rows = collect(options)
    if not rows:
        parser.error(f"no row is named like {options.only!r}")
    parts = [shown(rows)] if options.only else list(summary(rows))
    print(*parts, sep="\n\n")
    FOLDER.mkdir(parents=True, exist_ok=True)
    stem = "large" + (f"-{options.level}" if options.level else "")
    Path(FOLDER, f"{stem}.json").write_text(json.dumps(rows))
    Path(FOLDER, f"{stem}.md").write_text("\n\n".join(parts) + "\n")
    chart(rows, Path(FOLDER, f"{stem}.svg"))
    print(f"\nWritten: {FOLDER}/{stem}.json, {stem}.md, {stem}.svg")


if __name__ == "__main__":
    main()
