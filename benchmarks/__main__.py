"""Measure everything, print tables, write them and a chart under build/bench.

python -m benchmarks [--no-wheel] [--only add,sum]
"""

import argparse
import importlib
import json
import platform
import sys
from pathlib import Path

import numpy as np

from . import figures, outside

FOLDER = Path("build", "bench")


def table(head, lines):
    """Return a markdown table with aligned columns."""
    cells = [head, *lines]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]

    def line(row):
        fitted = (c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
        return "| " + " | ".join(fitted) + " |"

    rule = "|" + "|".join("-" * (w + 1 + (i == 0)) + ":" * (i > 0) for i, w in enumerate(widths))
    return "\n".join([line(head), rule + "|", *map(line, lines)])


def times_table(times, unit=1e9, name="ns"):
    """Return a table of times in each library and their ratios to imode's."""
    lines = []
    for work, t in times.items():
        row = [work] + [f"{t[k] * unit:.0f}" if k in t else "" for k in ("imode", "torch", "numpy")]
        lines.append(
            row + [f"{t[k] / t['imode']:.1f}" if k in t else "" for k in ("torch", "numpy")]
        )
    head = ["", f"imode, {name}", f"PyTorch, {name}", f"NumPy, {name}", "PyTorch / imode",
            "NumPy / imode"]  # fmt: skip
    return table(head, lines)


def figures_table(found):
    """Return the table of figures with their targets."""
    lines = []
    for f in found:
        bound = f"{'at most' if f.at_most else 'at least'} {f.target:g}{f.unit.replace('×', '')}"
        lines.append([f.name, bound, f"{f.value:.2f}{f.unit.replace('×', '')}",
                      "" if f.met else "missed"])  # fmt: skip
    return table(["work", "target", "measured", ""], lines)


def chart(times, path):
    """Draw PyTorch / imode and NumPy / imode for every operator."""
    import matplotlib

    matplotlib.use("svg")
    import matplotlib.pyplot as plt

    names = sorted(times, key=lambda n: times[n]["torch"] / times[n]["imode"])
    size = (8, 0.16 * len(names) + 1.5)
    figure, axes = plt.subplots(figsize=size, layout="constrained")
    for key, label, mark in (("torch", "PyTorch / imode", "o"), ("numpy", "NumPy / imode", "|")):
        kept = [(times[n][key] / times[n]["imode"], i) for i, n in enumerate(names)
                if key in times[n]]  # fmt: skip
        axes.plot(*zip(*kept), mark, label=label, markersize=5)
    axes.set(xscale="log", ylim=(-1, len(names)))
    axes.set(xlabel="time of the other library / time of imode, 4 elements, inference mode")
    axes.set_yticks(range(len(names)), names, fontsize=7)
    axes.axvline(1, color="0.6", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(path)
    plt.close(figure)


def main():
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-wheel", action="store_true", help="do not build the wheel")
    parser.add_argument("--only", default="", help="these operators only, and nothing else")
    parser.add_argument("--library", default="imode")
    options = parser.parse_args()
    lib, torch = importlib.import_module(options.library), importlib.import_module("torch")
    torch.set_num_threads(1)
    getattr(lib, "set_num_threads", int)(1)
    machine = platform.processor() or platform.machine()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, "
          f"PyTorch {torch.__version__}, {machine}; one thread, float32, "
          "best of interleaved rounds\n", flush=True)  # fmt: skip
    if options.only:
        only = options.only.split(",")
        for mode in ("inference", "recorded"):
            print(times_table(figures.operators(lib, torch, mode, only)), "\n")
        return
    small = figures.operators(lib, torch, "inference")
    parts = ["## Operators on 4 elements, inference mode", times_table(small)]
    print(*parts, sep="\n\n", flush=True)
    recorded = figures.operators(lib, torch, "recorded")
    parts += ["## The same, recorded", times_table(recorded)]
    print("", *parts[-2:], sep="\n\n", flush=True)
    programs = figures.programs(lib, torch)
    graphs = figures.autograd(lib, torch)
    large = figures.large(lib, torch)
    parts += ["## Programs", times_table(programs | graphs), "## Large tensors, µs"]
    parts += [times_table(large, 1e6, "µs")]
    print("", *parts[-4:], sep="\n\n", flush=True)
    imports = figures.imports()
    wheel = None if options.no_wheel else figures.wheel_megabytes()
    found = figures.all_figures(
        small, recorded, programs, figures.origins(lib), large, imports, wheel,
        figures.profiled(lib),
    )  # fmt: skip
    found += figures.autograd_figures(graphs, options.library)
    found += outside.outside_figures(*outside.outside(lib, torch))
    took = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in imports.items())
    parts += [f"Import times: {took}.", "## Figures", figures_table(found)]
    print("", *parts[-3:], sep="\n\n", flush=True)
    FOLDER.mkdir(parents=True, exist_ok=True)
    FOLDER.joinpath("tables.md").write_text("\n\n".join(parts) + "\n")
    FOLDER.joinpath("times.json").write_text(
        json.dumps([small, recorded, programs, graphs, large, imports])
    )
    chart(small, FOLDER / "operators.svg")
    print(f"\nWritten: {FOLDER}/tables.md, {FOLDER}/times.json, {FOLDER}/operators.svg")
    sys.exit(not all(f.met for f in found))


if __name__ == "__main__":
    main()
