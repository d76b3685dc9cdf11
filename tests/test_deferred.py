"""What `import imode` leaves for later: the operators of some files, their methods on Tensor."""

import subprocess
import sys

PROGRAM = """
import sys
import imode
from imode import ops
from imode._core.internals import DeferredMethod
from imode._core.tensor import Tensor
from imode.ops.deferred import METHODS

{body}
"""


def run(body):
    program = PROGRAM.format(body=body)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_arithmetic_views_and_backward_need_none_of_it():
    run(
        "x = imode.tensor([1.0, 2.0], requires_grad=True)\n"
        "((x * 2 + 1).view(2, 1)[0] @ imode.ones(1)).sum().backward()\n"
        "assert 'imode.ops.conv' not in sys.modules\n"
        "assert 'imode.nn' not in sys.modules"
    )


def test_the_list_of_deferred_methods_is_the_one_that_they_define():
    run(
        "before = {n for n, v in Tensor.__dict__.items() if type(v) is DeferredMethod}\n"
        "assert before == set(METHODS)\n"
        "known = set(Tensor.__dict__)\n"
        "ops.load_all()\n"
        "left = [n for n, v in Tensor.__dict__.items() if type(v) is DeferredMethod]\n"
        "assert not left, f'no operator defines {left}: take them out of deferred.py'\n"
        "new = set(Tensor.__dict__) - known\n"
        "assert not new, f'add {new} to deferred.py'"
    )


def test_each_way_to_a_deferred_operator_finds_it():
    for use in (
        "imode.ones(2).cumsum(0)",
        "imode.Tensor.sort(imode.ones(2))",
        "imode.conv2d",
        "imode.arange(3)",
        "ops.softmax",
        "imode._core.dispatch.get_operator('max.dim')",
        "imode.nn.functional.relu",
    ):
        run(use)


def test_unknown_names_are_attribute_errors():
    run(
        "for thing in (imode, ops, imode.ones(1), Tensor):\n"
        "    assert not hasattr(thing, 'no_such_name')\n"
        "try:\n"
        "    imode.no_such_name\n"
        "except AttributeError as error:\n"
        "    assert str(error) == \"module 'imode' has no attribute 'no_such_name'\""
    )


def test_star_import_and_dir_are_complete():
    run(
        "assert {'conv2d', 'arange', 'add', 'nn', 'inference_mode'} <= set(imode.__all__)\n"
        "assert {'conv2d', 'add'} <= set(dir(imode)) & set(dir(ops))\n"
        "from imode import *\n"
        "assert cumsum is imode.cumsum"
    )
