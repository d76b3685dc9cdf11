"""Times and memory of the networks of examples/pretrained, beside PyTorch and onnxruntime.

    python -m benchmarks.pretrained [--only voice|sentences|images|start]

PyTorch runs the same files with one import changed. The libraries take turns in one process, and
the best of the rounds counts; each start is a process of its own. Needs the extras `examples`,
`models` and `bench`.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from .__main__ import table

FOLDER = Path(__file__).parents[1] / "examples" / "pretrained"
ROUNDS = 12
LIBRARIES = ("imode", "torch", "onnxruntime")
HEAD = ["work", "imode", "PyTorch", "onnxruntime", "PyTorch / imode"]
SENTENCE = "The train to the coast leaves at noon, if the storm has not closed the line by then."


def example(name, library):
    """The names of an example; for torch with `import imode` changed to `import torch`."""
    if str(FOLDER) not in sys.path:
        sys.path.insert(0, str(FOLDER))
    source = (FOLDER / f"{name}.py").read_text()
    if library == "torch":
        source = re.sub(r"\bimode\b", "torch", source)
    names = {"__name__": name, "__file__": str(FOLDER / f"{name}.py")}
    exec(compile(source, f"{name}.py for {library}", "exec"), names)
    return names


def read_weights(library, path):
    """A safetensors file in a library."""
    if library == "imode":
        import imode

        return imode.load(path)
    from safetensors.torch import load_file

    return load_file(path)


def shown(value, unit):
    """A value with three digits."""
    return f"{value:.0f} {unit}" if value >= 100 else f"{value:#.3g} {unit}"


# ---- what is timed: name of the row and a function of no arguments, by library -------------------


def voice(library):
    """A step of Silero VAD: 32 ms of sound."""
    names = example("voice_activity", library)
    network = names["with_weights"](read_weights(library, names["WEIGHTS"]))
    lib = names[library]
    window, state = lib.zeros(1, 576), (lib.zeros(1, 128), lib.zeros(1, 128))

    def step():
        with lib.inference_mode():
            return network(window, state)[0].item()

    yield "Silero VAD, a step of 32 ms", step


def voice_by_onnx(threads):
    """The same by onnxruntime."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.inter_op_num_threads, options.intra_op_num_threads = 1, threads
    session = onnxruntime.InferenceSession(str(example("voice_activity", "imode")["ONNX"]), options)
    feed = {"input": np.zeros((1, 576), np.float32), "state": np.zeros((2, 1, 128), np.float32),
            "sr": np.array(16_000)}  # fmt: skip
    yield "Silero VAD, a step of 32 ms", lambda: session.run(None, feed)


def sentences(library):
    """MiniLM on one sentence, on sixteen."""
    names = example("sentences", library)
    network = names["MiniLM"](json.loads((names["FOLDER"] / "config.json").read_text()))
    weights = read_weights(library, names["FOLDER"] / "model.safetensors")
    network.load_state_dict(names["renamed"](weights))
    network.eval()
    for count in (1, 16):
        words, there = names["split"]([SENTENCE] * count)

        def run(words=words, there=there):
            with names[library].inference_mode():
                return network(words, there)

        yield f"MiniLM, {count} × {words.shape[1]} words", run


def images(library):
    """EfficientNet-Lite0 on one image, on sixteen."""
    names = example("images", library)
    network = names["load_network"]()
    for count in (1, 16):
        batch = names[library].zeros(count, 3, 224, 224)

        def run(batch=batch):
            with names[library].inference_mode():
                return network(batch)

        yield f"EfficientNet-Lite0, {count} image{'s' * (count > 1)}", run


WORK = {"voice": (voice, (1,)), "sentences": (sentences, (1, 2)), "images": (images, (1, 2))}


def measure(work, threads):
    """Print, as JSON, the best seconds by row and library."""
    import torch

    import imode

    from .timing import best

    imode.set_num_threads(threads)
    torch.set_num_threads(threads)
    rows = {}
    for library in ("imode", "torch"):
        for name, run in WORK[work][0](library):
            rows.setdefault(name, {})[library] = ("run()", {"run": run})
    if work == "voice":
        for name, run in voice_by_onnx(threads):
            rows[name]["onnxruntime"] = ("run()", {"run": run})
    clock = time.thread_time if threads == 1 else time.perf_counter
    print(json.dumps({name: best(runs, ROUNDS, clock=clock) for name, runs in rows.items()}))


def times(work):
    """The rows of the table of one network: a process for each number of threads."""
    for threads in WORK[work][1]:
        limits = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
        command = [sys.executable, "-m", "benchmarks.pretrained", "--measure", work, str(threads)]
        done = subprocess.run(
            command, env=os.environ | limits, capture_output=True, text=True, check=True
        )
        for name, t in json.loads(done.stdout.splitlines()[-1]).items():
            cells = [shown(t[k] * 1e3, "ms") if k in t else "" for k in LIBRARIES]
            ratio = f"{t['torch'] / t['imode']:.2f}"
            yield [f"{name}, {threads} thread{'s' * (threads > 1)}", *cells, ratio]


# ---- from the start of the process to the first answer -------------------------------------------

START = """
import resource, sys
from benchmarks.pretrained import first_answer
first_answer(sys.argv[1])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def first_answer(library):
    """Load EfficientNet-Lite0 and name one image."""
    for _, run in images(library):
        run()
        return


def starts():
    """The rows about the start: seconds and peak memory, the best of five turns after one.

    The first leaves the modules compiled, as an installed package's are.
    """
    found = {}
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    for turn in range(6):
        for library in ("imode", "torch"):
            command = [sys.executable, "-c", START, library]
            start = time.perf_counter()
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, check=True
            )
            took = time.perf_counter() - start
            if not turn:
                continue
            found.setdefault(library, []).append((took, int(done.stdout) / 1024))
    seconds, memory = ({k: min(x[i] for x in v) for k, v in found.items()} for i in (0, 1))
    for name, of, unit in (("process start to first answer", seconds, "s"),
                           ("peak memory until then", memory, "MB")):  # fmt: skip
        cells = [shown(of[library], unit) for library in ("imode", "torch")]
        yield [f"EfficientNet-Lite0, {name}", *cells, "", f"{of['torch'] / of['imode']:.2f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", choices=[*WORK, "start"])
    parser.add_argument("--measure", nargs=2, metavar=("WORK", "THREADS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        measure(options.measure[0], int(options.measure[1]))
        return
    rows = []
    for work in WORK:
        if options.only in (None, work):
            rows += times(work)
    if options.only in (None, "start"):
        rows += starts()
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
