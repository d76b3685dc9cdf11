"""What `import imode` leaves for later: all operators, each imported with its module when used."""

import subprocess
import sys

import pytest

import imode
from imode import ops

PROGRAM = """
import sys
import numpy
numpys = "threading" in sys.modules  # from NumPy 2.5 on
import imode
from imode import ops
from imode._core.internals import DeferredMethod
from imode._core.tensor import Tensor

def loaded():
    return {{m for m in ops.MODULES if f"imode.ops.{{m}}" in sys.modules}}

{body}
"""


def run(body):
    program = PROGRAM.format(body=body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def table():
    """The table of names as the build writes it; skips where the folder was edited since."""
    names = pytest.importorskip("imode.ops.names")
    if names.STAMP is not None and ops.digest() != names.DIGEST:
        pytest.skip("imode/ops was edited after the build: everything is imported at once")
    return names


def test_the_table_is_the_builds():
    """It must be there: without it `import imode` is correct, but slow."""
    import imode.ops.names as names

    assert names.STAMP is None or ops.digest() == names.DIGEST, "imode/ops was edited: build again"


def test_threading_is_not_imported_and_deep_levels_know_the_main_thread():
    run(
        "assert 'threading' not in sys.modules or numpys\n"
        "def nest(left):\n"
        "    with imode.enable_grad():\n"
        "        y = imode.ones(1, requires_grad=True) * 1\n"
        "    def hook(grad):\n"
        "        if left:\n"
        "            return nest(left - 1)\n"
        "        import threading\n"
        "        assert threading.main_thread() is not threading.current_thread()\n"
        "    y.register_hook(hook)\n"
        "    y.backward()\n"
        "nest(150)"
    )


def test_import_brings_no_operator_and_use_brings_its_module(table):
    run(
        "assert not loaded()\n"
        "x = imode.ones(2, requires_grad=True)\n"
        "assert loaded() == {'creation.create'}, loaded()\n"
        "y = x + 1\n"
        "assert loaded() == {'creation.create', 'pointwise.arithmetic'}, loaded()\n"
        "y.sum().backward()\n"
        "assert 'reductions.reduce' in loaded()\n"
        "assert not {m.partition('.')[0] for m in loaded()} & {'networks', 'sorting', 'random'}\n"
        "assert 'imode.nn' not in sys.modules"
    )


def test_guards_alone_bring_no_operator(table):
    run("with imode.inference_mode(), imode.no_grad():\n    pass\nassert not loaded()")


def test_every_name_is_found_in_a_module_that_declares_it(table):
    """Each placeholder on Tensor gives way to a method; each function and operator is found."""
    run(
        "from imode.ops.names import DECLARED_IN, METHODS\n"
        "before = {n for n, v in Tensor.__dict__.items() if type(v) is DeferredMethod}\n"
        "assert before == set(METHODS)\n"
        "known = set(Tensor.__dict__)\n"
        "for name in METHODS:\n"
        "    getattr(Tensor, name)\n"
        "    assert type(Tensor.__dict__[name]) is not DeferredMethod, name\n"
        "assert set(Tensor.__dict__) == known\n"
        "from imode.ops import schema\n"
        "for name in {*schema.functions, *schema.nn_functions, *schema.published()}:\n"
        "    assert name in DECLARED_IN, name"
    )


def test_overloads_of_one_name_stand_in_one_module(table):
    # Else the first of them to be loaded, for another operator's sake, would hide the others.
    shared = {where for where in table.DECLARED_IN.values() if " " in where}
    assert shared == {  # nn.functional's own
        "pointwise.activation pointwise.activation_nn",
        "shapes.slicing networks.fold",
        "pointwise.piecewise_activation pointwise.activation_nn",
    }
    run("assert len(imode.where(imode.tensor([True]))) == 1")
    run("assert len(imode.where(imode.ones(2) > 0)) == 1")
    run(
        "imode.ones(2).masked_fill(imode.tensor(True), 0.0)\n"
        "assert imode.where(imode.tensor(True), 1.0, 2.0).item() == 1\n"
        "assert [op for op in imode.ops.where.schema.split('(')][0] == 'where'"
    )


@pytest.mark.parametrize(
    "use",
    [
        "imode.ones(2).cumsum(0)",
        "imode.Tensor.sort(imode.ones(2))",
        "imode.conv2d",
        "imode.arange(3)",
        "imode.eye(3) @ imode.eye(3)",
        "imode.eye(3)[imode.tensor([0, 1])]",
        "repr(imode.eye(2))",
        "imode.Tensor([1, 2])",
        "list(imode.eye(2)), 1.0 in imode.eye(2)",
        "imode.eye(2).T, imode.eye(2).mT, imode.ones(2, 2, 2).mT",
        "-imode.ones(1) < 2",
        "2 ** imode.ones(1)",
        "ops.softmax",
        "ops.sort",
        "imode._core.dispatch.get_operator('max.dim')",
        "imode.nn.functional.relu",
        "imode.linalg.norm(imode.ones(2))",
        "imode.return_types.max",
        "imode.Tensor.add.__doc__.index('>>>')",
        "imode.special if hasattr(imode, 'special') else None",
        "import pickle; x = imode.ones(2).max(0); assert pickle.loads(pickle.dumps(x)) == x",
        "import pickle; assert pickle.loads(pickle.dumps(imode.sort)) is imode.sort",
        "import pydoc; assert 'softmax(' in pydoc.render_doc(imode.Tensor)",
        "import copy; copy.deepcopy(imode.ones(2))",
    ],
)
def test_each_way_to_an_operator_finds_it(use):
    run(use)


def test_an_operator_is_found_in_inference_mode_and_in_a_thread(table):
    run(
        "with imode.inference_mode():\n"
        "    assert imode.ones(2).relu().is_inference()\n"
        "import threading\n"
        "found = []\n"
        "work = lambda: found.append(imode.ones(3).cumsum(0).tolist())\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "assert found == [[1.0, 2.0, 3.0]] * 8"
    )


def test_an_interrupted_import_of_operators_is_tried_again(table):
    run(
        "from imode.ops import schema\n"
        "declare, count = schema._publish, [0]\n"
        "def interrupted(*args):\n"
        "    count[0] += 1\n"
        "    if count[0] == 8:\n"
        "        raise KeyboardInterrupt\n"
        "    return declare(*args)\n"
        "schema._publish = interrupted\n"
        "try:\n"
        "    imode.cumsum\n"
        "    raise AssertionError('not interrupted')\n"
        "except KeyboardInterrupt:\n"
        "    pass\n"
        "assert not schema.functions and not schema.methods and not schema.published()\n"
        "schema._publish = declare\n"
        "assert type(Tensor.__dict__['cumsum']) is DeferredMethod\n"
        "assert imode.ones(2).cumsum(0).tolist() == [1.0, 2.0]"
    )


def test_unknown_names_are_attribute_errors_and_import_nothing(table):
    run(
        "for thing in (imode, ops, imode.return_types, Tensor):\n"
        "    assert not hasattr(thing, 'no_such_name')\n"
        "assert not loaded()\n"
        "assert not hasattr(imode.ones(1), 'no_such_name')\n"
        "try:\n"
        "    imode.no_such_name\n"
        "except AttributeError as error:\n"
        "    assert str(error) == \"module 'imode' has no attribute 'no_such_name'\""
    )


def test_star_import_and_dir_are_complete():
    run(
        "assert {'conv2d', 'arange', 'add', 'nn', 'inference_mode'} <= set(imode.__all__)\n"
        "assert {'conv2d', 'add'} <= set(dir(imode)) & set(dir(ops))\n"
        "assert {'add', 'cumsum', 'backward'} <= set(dir(Tensor)) & set(dir(imode.ones(1)))\n"
        "from imode import *\n"
        "assert cumsum is imode.cumsum"
    )


def test_without_the_table_everything_is_there_at_once():
    run_plain = (
        "import sys; sys.modules['imode.ops.names'] = None\n"
        "import imode\n"
        "assert {f'imode.ops.{m}' for m in imode.ops.MODULES} <= set(sys.modules)\n"
        "assert imode.ones(2).cumsum(0).tolist() == [1.0, 2.0] and imode.where"
    )
    done = subprocess.run([sys.executable, "-c", run_plain], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_function_put_in_an_operators_place_stays(table):
    run(
        "imode.add = ops.mul = stub = object()\n"
        "imode.ops.load_all()\n"
        "assert imode.add is stub is ops.mul and imode.mul is not stub"
    )


def test_operators_keep_their_names_where_a_module_is_called_the_same():
    imode.ops.load_all()
    for name in ops.MODULES:
        if name in ops.schema.published():
            assert getattr(ops, name) is ops.schema.published()[name]


def test_generators_speak_tensors_from_the_start():
    run(
        "state = imode.get_rng_state()\n"
        "assert type(state) is Tensor and type(imode.Generator().device) is imode.device\n"
        "imode.set_rng_state(state)"
    )
