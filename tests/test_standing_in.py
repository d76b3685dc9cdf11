"""Programs in which `import torch` gives imode, each in a process of its own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def python(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=environment, **options
    )


def run(program, *arguments):
    """What a program prints, by `python -m imode -c`."""
    done = python("-m", "imode", "-c", program, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_imports():
    program = """
import importlib.metadata, importlib.util, sys
import torch
import torch.nn as nn, torch.nn.functional as F
from torch import Tensor, optim
from torch.nn.modules.batchnorm import BatchNorm2d, _BatchNorm
from torch.utils.data import DataLoader
import torch.onnx.symbolic_helper
import imode
print(torch.__name__, nn.__name__, F.__name__, torch.nn.functional is F)
print(Tensor is imode.Tensor, BatchNorm2d is nn.BatchNorm2d is imode.nn.BatchNorm2d)
print(torch.__version__, importlib.metadata.version("torch"), torch.__version__ > "1.10")
print(importlib.util.find_spec("torch") is not None, "torch" in dir(), "ones" in dir(torch))
print(torch.ones(2).shape, torch.float32, torch.strided, type(torch.Size([1])), sys.argv)
print(torch.zeros(2, dtype=torch.int32), torch.finfo(torch.float16).max)
"""
    assert run(program, "a", "b").splitlines() == [
        "torch torch.nn torch.nn.functional True",
        "True True",
        "2.13.0+cpu 2.13.0 True",
        "True True True",
        "torch.Size([2]) torch.float32 torch.strided <class 'torch.Size'> ['-c', 'a', 'b']",
        "tensor([0, 0], dtype=torch.int32) 65504.0",
    ]


def test_what_is_missing_raises_when_it_is_used():
    program = """
import torch
from torch.fx import Tracer
class Own(Tracer):
    pass
def told(f):
    try:
        print(f())
    except Exception as error:
        print(type(error).__name__, error)
told(lambda: Own())
told(lambda: torch.onnx.export(1))
told(lambda: torch.fx.graph.Graph())
told(lambda: isinstance(1, Tracer))
told(lambda: torch.nope)
told(lambda: torch.nn.Linearr)
told(lambda: hasattr(torch, "nope"))
told(lambda: __import__("torch.nope"))
told(lambda: repr(Tracer))
"""
    page = "is not in imode. What is there, and what is not: docs/coverage.md"
    assert run(program).splitlines() == [
        f"NotImplementedError torch.fx.Tracer {page}",
        f"NotImplementedError torch.onnx.export {page}",
        f"NotImplementedError torch.fx.graph.Graph {page}",
        "False",
        "AttributeError module 'torch' has no attribute 'nope'",
        "AttributeError module 'torch.nn' has no attribute 'Linearr'",
        "False",
        "ModuleNotFoundError No module named 'torch.nope'",
        "<torch.fx.Tracer, which is not in imode>",
    ]


def test_programs_that_go_through_the_names_of_a_module_find_all():
    program = """
import torch
def classes(module, base):
    return sum(isinstance(v, type) and issubclass(v, base) for v in vars(module).values())
print(classes(torch.distributions, torch.distributions.Distribution))
print(classes(torch.optim, torch.optim.Optimizer), torch.float32 in torch.__dict__.values())
vars(torch.nn)["own"] = 3
print(torch.nn.own, "nope" in vars(torch.nn))
"""
    assert run(program).splitlines() == ["43", "16 True", "3 False"]


def test_files_and_what_is_set():
    program = """
import io, zipfile
import torch, imode
f = io.BytesIO()
torch.save({"a": torch.ones(2), "own": {1, 2}}, f)
print(zipfile.is_zipfile(f), f.seek(0), torch.load(f))
torch.marked = 3
print(imode.marked, torch.marked)
torch.set_default_dtype(torch.float64)
print(torch.ones(1).dtype, torch.get_default_dtype())
"""
    assert run(program).splitlines() == [
        "True 0 {'a': tensor([1., 1.]), 'own': {1, 2}}",
        "3 3",
        "torch.float64 torch.float64",
    ]


def test_script_and_module(tmp_path):
    (tmp_path / "helper.py").write_text("import torch\nx = torch.ones(3).sum().item()\n")
    script = tmp_path / "script.py"
    script.write_text("import sys, helper\nprint(__name__, helper.x, sys.argv[1:], __file__)\n")
    done = python("-m", "imode", str(script), "--flag", "1")
    assert done.stdout == f"__main__ 3.0 ['--flag', '1'] {script}\n", done.stderr
    done = python("-m", "imode", "-m", "script", "2", cwd=tmp_path)
    assert done.stdout.startswith("__main__ 3.0 ['2']"), done.stderr
    script.write_text("raise SystemExit(5)")
    assert python("-m", "imode", str(script)).returncode == 5
    script.write_text("import torch\ntorch.ones(2) @ torch.ones(3)")
    done = python("-m", "imode", str(script))
    assert done.returncode == 1 and f'File "{script}", line 2' in done.stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_a_program_starts(tmp_path, method):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch, torch.multiprocessing as mp\n"
        "def work():\n    print(torch.__name__, torch.nn.Linear.__module__, flush=True)\n"
        "if __name__ == '__main__':\n"
        f"    process = mp.get_context('{method}').Process(target=work)\n"
        "    process.start()\n    process.join()\n    print(process.exitcode)\n"
    )
    done = python("-m", "imode", str(script))
    assert done.stdout.split() == ["torch", "imode.nn.modules.linear", "0"], done.stderr


@pytest.mark.parametrize("option", ["-m", "-c"])
def test_nothing_to_run(option):
    done = python("-m", "imode", option)
    assert done.returncode == 2 and f"Argument expected for the {option} option" in done.stderr
    done = python("-m", "imode", "nothing.py")
    assert done.returncode == 2 and "no command and no file 'nothing.py'" in done.stderr


def test_from_inside_a_program(tmp_path):
    program = """
import imode
imode.stand_in_for_torch()
imode.stand_in_for_torch()
import torch
print(torch.ones(1).dtype)
"""
    done = python("-c", program)
    assert done.stdout == "torch.float32\n", done.stderr


def test_refused_where_pytorch_is_there(tmp_path):
    (tmp_path / "torch.py").write_text("")
    program = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import torch, imode
imode.stand_in_for_torch()
"""
    done = python("-c", program)
    assert re.search(
        r"RuntimeError: stand_in_for_torch: PyTorch has been imported already, from \S+torch\.py; "
        r"call imode\.stand_in_for_torch\(\) before",
        done.stderr,
    )


def test_storages_of_files(tmp_path):
    import imode

    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(40)))
    storage = imode.UntypedStorage.from_file(path, nbytes=16)
    part = imode.asarray(storage[4:12], dtype=imode.uint8)
    assert part.tolist() == [*range(4, 12)] and len(storage[4:12]) == 8 == len(storage[:8])
    part[0] = 99
    assert storage[4] == 99 and storage.untyped() is storage
    assert imode.asarray(storage, dtype=imode.float32).shape == (4,)
    assert path.read_bytes() == bytes(range(40))
    shared = imode.UntypedStorage.from_file(path, shared=True, nbytes=48)
    imode.asarray(shared, dtype=imode.uint8)[47] = 7
    assert path.read_bytes()[40:] == b"\0" * 7 + b"\7"
    assert imode.UntypedStorage.from_file(path).nbytes() == 0
    for call, error, message in (
        (lambda: imode.UntypedStorage.from_file(path, nbytes=99), RuntimeError, "is smaller than"),
        (lambda: imode.UntypedStorage.from_file(path, nbytes=-1), RuntimeError, "less than 0"),
        (lambda: storage[::2], RuntimeError, "only a step of 1 is supported"),
        (lambda: storage[16], IndexError, "index 16 out of range for storage of size 16"),
    ):
        with pytest.raises(error, match=message):
            call()


PAGE = ROOT / "docs" / "standing-in.md"


@pytest.mark.skipif(not PAGE.exists(), reason="the page is not beside the tests")
def test_programs_of_the_page_print_what_it_says():
    programs = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.M | re.S)
    assert len(programs) == 2
    for program in programs:
        done = python("-c", program)
        assert done.stdout.splitlines() == re.findall(r"# prints (.*)$", program, re.M), done.stderr


def test_check(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import torch\nimport torch.nn as nn, os\nfrom torch.onnx import export as write\n"
        "from torch.nn import functional as F\nx = torch.ones(2)\n"
        "class Net(nn.Module):\n    def forward(self, x):\n"
        "        torch.onnx.operators.shape_as_tensor(x)\n"
        "        return F.relu(x) + torch.Tensor.nope(x) + torch.float32.is_complex\n"
        "torch.mine = os.path.join\ntorch.mine(1)\n"
    )
    done = python("-m", "imode", "check", str(script))
    lines = done.stdout.splitlines()
    assert done.returncode == 1 and lines[:-1] == [
        f"{script}:3: torch.onnx.export (missing)",
        f"{script}:8: torch.onnx.operators (missing)",
        f"{script}:9: torch.Tensor.nope (missing)",
    ]
    assert lines[-1].startswith("1 files use 10 names of PyTorch's; 3 are missing")
    done = python("-m", "imode", "check", "--json", "--all", str(tmp_path))
    uses = json.loads(done.stdout)
    assert {"file": str(script), "line": 5, "name": "torch.ones", "there": True} in uses
    script.write_text("import torch\ntorch.ones(1)\n")
    assert python("-m", "imode", "check", str(script)).returncode == 0
    script.write_text("import torch\ntorch.ones(\n")
    assert "cannot be read" in python("-m", "imode", "check", str(script)).stderr
    done = python("-m", "imode", "check", "no.such.package")
    assert done.returncode == 2 and "no file, folder or package" in done.stderr


def test_names_that_packages_ask_for():
    program = """
import torch
from torch.futures import Future
from torch.serialization import DEFAULT_PROTOCOL, FILE_LIKE, MAP_LOCATION
def wait(result: Future[int]) -> int: ...
print(torch.torch is torch, DEFAULT_PROTOCOL, torch.cuda._initialized)
print(torch._dynamo.assume_constant_result(wait) is wait, torch._dynamo.is_compiling())
print(torch.hub._get_torch_home() in torch.hub.get_dir(), torch._C._get_tracing_state())
print(torch._C._log_api_usage_once('a.b'))
from torch._jit_internal import _copy_to_script_wrapper, _overload, _overload_method, unused
print(all(f(wait) is wait for f in (_copy_to_script_wrapper, _overload, _overload_method, unused)))
parse = torch._C._nn._parse_to
print(parse("cpu", torch.float64), parse(torch.float16, True), parse(torch.ones(1)))
print(parse(device="cpu", memory_format=torch.channels_last), parse())
try:
    torch.ops.load_library("nowhere/_C.so")
except OSError as error:
    print(error)
"""
    assert run(program).splitlines() == [
        *("True 2 False", "True False", "True None", "None", "True"),
        "(device(type='cpu'), torch.float64, False, None) (None, torch.float16, True, None) "
        "(device(type='cpu'), torch.float32, False, None)",
        "(device(type='cpu'), None, False, torch.channels_last) (None, None, False, None)",
        "Could not load this library: nowhere/_C.so",
    ]
