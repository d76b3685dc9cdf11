"""Devices from outside: of modules that follow the Array API standard, and of one's own."""

import copy
import gc
import importlib.util
import pickle
import warnings
import weakref

import array_api_strict
import numpy as np
import pytest

import imode
from imode import nn
from imode.backends import Backend, array_api, coverage, standard
from tests.elsewhere import contents, outcome, same_contents
from tests.operators import CASES, SAMPLES, cases

NAMESPACES = {"numpy": np, "strict": array_api_strict}
if importlib.util.find_spec("cupy"):  # where a GPU is
    import cupy

    NAMESPACES["cuda"] = cupy
# What an uninitialised tensor holds, memory of others, offsets that a copy does not have.
OTHERS = {
    *(
        "empty",
        "empty_like",
        "empty_permuted",
        "empty_strided",
        "new_empty",
        "new_empty_strided",
        "from_dlpack",
    ),
    *("pca_lowrank", "svd_lowrank"),  # signs are free
    *("_pack_padded_sequence", "_pad_packed_sequence"),  # lengths are on the CPU
    *("set_.source_Storage", "as_strided", "view.dtype", "view_as_complex"),
    "_scaled_mm_v2",  # of floats of eight bits, which no namespace has
}


@pytest.fixture(params=NAMESPACES)
def device(request):
    with array_api(NAMESPACES[request.param], f"of_{request.param}") as backend:
        yield backend


@pytest.fixture(scope="module", params=NAMESPACES)
def shared(request):
    with array_api(NAMESPACES[request.param], f"shared_{request.param}") as backend:
        yield backend


@pytest.mark.filterwarnings("ignore:The operator 'aten")
@cases([(name, index) for name, index in CASES if index % 4 == 0])
def test_every_sample_gives_what_the_cpu_gives(shared, name, index):
    """Values, shapes, dtypes, strides, nodes, gradients, what is written, and errors."""
    sample = SAMPLES[name][index]
    if name in OTHERS or (shared.name == "shared_strict" and "float16" in repr(sample)):
        return
    there = outcome(name, index, shared.from_cpu, sample.grad, contents)
    here = outcome(name, index, None, sample.grad, contents)
    if there[0] == "raised" and "float16" in there[2] and shared.name == "shared_strict":
        return
    if "raised" in (there[0], here[0]):
        assert there[:2] == here[:2], (there, here)
        return
    assert len(there[1]) == len(here[1])
    for a, b in zip(there[1], here[1]):
        assert same_contents(a, b), (a, b)


def test_factories_copies_and_views(device):
    name = device.name
    x = imode.arange(6.0, device=name).view(2, 3)
    assert x.device == imode.device(name, 0) == imode.device(f"{name}:0")
    assert x.key_set() == imode.DispatchKeySet("Autograd", "ADInplaceOrView", "PrivateUse1")
    assert not x.is_cpu and x.get_device() == 0 and x.type() == f"imode.{name}.FloatTensor"
    assert x.T[1].tolist() == [1.0, 4.0] and x[:, 1:].sum().item() == 12.0
    x[0, 1] = 10
    x.T[2].mul_(2)
    assert x.tolist() == [[0.0, 10.0, 4.0], [3.0, 4.0, 10.0]] and x._version == 2
    assert x.cpu().device.type == "cpu" and x.to("cpu").tolist() == x.tolist()
    assert imode.ones(2).to(name).device.type == name and x.to(name) is x
    assert x.to(imode.float64).dtype == imode.float64
    assert repr(x[0]) == f"tensor([ 0., 10.,  4.], device='{name}:0')"
    assert x.untyped_storage() == x[1].untyped_storage()
    with imode.device(name):
        assert imode.zeros(2).device == x.device
    assert imode.zeros(2).copy_(x[0, :2]).tolist() == [0.0, 10.0]
    assert x[0].copy_(imode.ones(3)).tolist() == [1.0] * 3


def test_inference_mode_and_autograd_are_unchanged(device):
    x = imode.ones(3, device=device.name, requires_grad=True)
    y = (x * x).sum()
    y.backward()
    assert x.grad.tolist() == [2.0] * 3 and x.grad.device == x.device
    with imode.inference_mode():
        made = x * 2
    assert made.is_inference() and made.key_set() == imode.DispatchKeySet("PrivateUse1")
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        made.add_(1)
    saved = x.detach().clone().requires_grad_()
    out = saved.exp() * saved
    with imode.no_grad():
        saved.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
    cpu = imode.ones(2, requires_grad=True)
    (cpu.to(device.name) * 3).sum().backward()
    assert cpu.grad.is_cpu and cpu.grad.tolist() == [3.0, 3.0]


def test_a_model_trains_there_as_on_the_cpu(device):
    imode.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(4, 8, bias=False), nn.BatchNorm1d(8), nn.Sigmoid(), nn.Linear(8, 2)
    )
    there = copy.deepcopy(model).to(device.name)
    x, y = imode.randn(6, 4), imode.tensor([0, 1, 1, 0, 1, 0])
    losses = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for m, place in ((model, "cpu"), (there, device.name)):
            optimizer = imode.optim.Adam(m.parameters())
            for _ in range(3):
                optimizer.zero_grad()
                loss = nn.functional.cross_entropy(m(x.to(place)), y.to(place))
                loss.backward()
                optimizer.step()
            losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    for a, b in zip(model.state_dict().values(), there.cpu().state_dict().values()):
        assert np.allclose(a.numpy(), b.numpy(), rtol=1e-3, atol=1e-5)


def test_devices_do_not_mix(device):
    x, y = imode.ones(2, device=device.name), imode.ones(2)
    words = "Expected all tensors to be on the same device, but found at least two devices"
    for call in (
        lambda: x + y,
        lambda: imode.cat([x, y]),
        lambda: imode.dot(x, y),
        lambda: nn.functional.linear(x[None], imode.ones(3, 2)),
    ):
        with pytest.raises(RuntimeError, match=words):
            call()
    with pytest.raises(RuntimeError, match="cross-device copies are not allowed"):
        imode.add(x, x, out=y)
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = y
    with pytest.raises(RuntimeError, match="the devices must match"):
        x.set_(y)
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\) to copy"):
        x.numpy()
    with array_api(np, "another"):
        with pytest.raises(RuntimeError, match=words):
            x + imode.ones(2, device="another")
        assert x.to("another").device.type == "another"
    assert (x + imode.tensor(1.0)).tolist() == [2.0, 2.0]
    assert x[imode.tensor([0])].tolist() == [1.0]


def test_what_has_no_kernel_runs_on_the_cpu_and_says_so_once(device):
    x = imode.ones(2, device=device.name)
    with pytest.warns(UserWarning, match="'aten::erf' is not currently supported on the of_"):
        assert imode.erf(x).device == x.device
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        imode.erf(x)
    with array_api(np, "strictly", fallback=False):
        z = imode.ones(2, device="strictly")
        assert (z * 2).sum().item() == 4.0
        with pytest.raises(NotImplementedError, match="Could not run 'aten::erf'"):
            imode.erf(z)


def test_a_kernel_of_a_library_runs_instead(device):
    with imode.library.Library("aten", "IMPL") as lib:
        lib.impl("erf", lambda x: x.cpu().erf().mul_(2).to(x.device), "PrivateUse1")
        x = imode.zeros(2, device=device.name, requires_grad=True)
        y = (x + 1).erf()
        assert y.tolist() == pytest.approx([2 * 0.842700793] * 2)
        y.sum().backward()
        assert x.grad is not None
    twice = imode.library.custom_op(
        "dev::twice",
        lambda x: x * 2,
        mutates_args=(),
        device_types=device.name,
        schema="(Tensor x) -> Tensor",
    )
    with twice:
        assert twice(x.detach()).tolist() == [0.0, 0.0]


def test_names_are_taken_back(device):
    with pytest.raises(RuntimeError, match="there is a device"):
        array_api(np, device.name)
    x = imode.ones(2, device=device.name)
    device.close()
    device.close()
    assert (x + 1).tolist() == [2.0, 2.0]  # what is there stays
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        imode.ones(2, device=device.name)


def test_memory_is_freed_with_the_last_view(device):
    class Elements:
        pass

    x = imode.ones(4, device=device.name)
    view = x[1:]
    from imode._core.elsewhere import memory_of

    memory_of(x).elements = kept = Elements()
    found = weakref.ref(kept)
    del x, kept
    gc.collect()
    assert found() is not None
    del view
    gc.collect()
    assert found() is None


def test_pickles_and_copies_come_back_to_the_device(device):
    x = imode.arange(3, device=device.name)
    for made in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert made.device == x.device and made.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: array_api(object(), "x"), TypeError, "does not follow the Array API standard"),
        (lambda: array_api(np, "cuda"), RuntimeError, "cannot be the name of a device"),
        (lambda: array_api(np, "a b"), RuntimeError, "cannot be the name of a device"),
        (lambda: array_api(np, 3), TypeError, "expected the name of a device"),
        (lambda: coverage("nowhere"), RuntimeError, "there is no device 'nowhere'"),
        (lambda: imode.device("nowhere"), RuntimeError, "Expected one of cpu, cuda"),
        (lambda: imode.ones(1, device="xla"), NotImplementedError, "has no backend here"),
        (lambda: imode.ones(1, device="privateuseone"), NotImplementedError, "has no backend here"),
    ],
)
def test_bad_input_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_a_dtype_that_a_namespace_lacks_is_refused():
    with array_api(array_api_strict, "lacking") as backend:
        with pytest.raises(TypeError, match="does not have support for that dtype"):
            imode.ones(2, dtype=imode.float16).to("lacking")
        with pytest.raises(RuntimeError, match="there is one such device, of index 0"):
            imode.ones(2, device="lacking:1")
        assert repr(backend) == "<ArrayApi of device 'lacking'>"


def test_coverage_prints_what_runs_where(device, capsys):
    found = coverage(device.name)
    text = capsys.readouterr().out
    assert text == f"{found!r}\n" and "on the CPU" in text
    assert {"add", "mm", "sum.dim", "softmax"} <= set(found["there"])
    assert "permute" in found["views"] and "erf" in found["on the CPU"]


class Host(Backend):
    """The least that a device of one's own says."""

    def from_numpy(self, array):
        return array.copy()

    def to_numpy(self, elements):
        return elements

    def kernel(self, operator):
        if operator.name == "mul":
            return lambda op, args, result: self.elements(args[0]) * 2
        return None


# Functions of the standard that no operator's elements come from: those that make arrays, or views,
# or answer about dtypes; those whose result's shape is up to elements; those made of others.
MAKERS = """
    arange asarray empty empty_like eye from_dlpack full full_like linspace meshgrid ones ones_like
    broadcast_arrays broadcast_shapes broadcast_to expand_dims moveaxis permute_dims squeeze unstack
    matrix_transpose real imag can_cast finfo iinfo isdtype result_type
    nonzero unique_all unique_counts unique_inverse unique_values repeat
    add subtract positive sign clip astype sort diff tensordot vecdot
"""


def test_every_function_of_the_standard_computes_an_operator():
    functions = {*standard.POINTWISE.values(), *standard.OTHERS.values()}
    used = set().union(*map(standard.needs, functions))
    names = {n for n in array_api_strict.__all__ if callable(getattr(array_api_strict, n))}
    names -= {n for n in names if isinstance(getattr(array_api_strict, n), type)}
    names -= {*MAKERS.split(), "__array_namespace_info__"}
    assert not names - used - {n for n in names if n.endswith("_array_api_strict_flags")}


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
def test_shifts_by_any_number_are_the_cpus(device, dtype):
    kind = np.iinfo(dtype)
    a = np.array([kind.min, kind.max, 1, 2, 77, kind.max // 2, 0, 5], dtype)[:, None]
    n = np.array([0, 1, kind.bits - 1, kind.bits, kind.bits + 1, 3, 70], dtype)
    n = np.append(n, [-1, -3]).astype(dtype) if kind.min else n
    a, n = imode.from_numpy(a), imode.from_numpy(n)
    for shift in (imode.bitwise_left_shift, imode.bitwise_right_shift):
        there = shift(a.to(device.name), n.to(device.name))
        assert imode.equal(there.cpu(), shift(a, n))


def test_a_device_of_ones_own():
    with Host("own") as backend, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = imode.ones(2, 2, device="own")
        assert (x * 5).tolist() == [[2.0, 2.0], [2.0, 2.0]]
        assert (x + 5).T[0].tolist() == [6.0, 6.0]
        x[:, 0] = 3
        assert backend.elements(x.T).tolist() == [[3.0, 3.0], [1.0, 1.0]]
        assert imode.rand(2, device="own").device.type == "own"
    with pytest.raises(NotImplementedError, match=r"Backend\.from_numpy"), Backend("bare"):
        imode.ones(1, device="bare")


def test_a_kernel_that_raises_names_the_operator_and_the_line():
    def broken(operator, args, result):
        raise ValueError("boom")

    with Host("broken") as backend:
        backend.kernel = lambda operator: broken if operator.name == "neg" else None
        with pytest.raises(ValueError, match="boom") as caught:
            -imode.ones(2, device="broken")
    place = f"{__file__}:{broken.__code__.co_firstlineno}"
    (note,) = caught.value.__notes__
    assert note.startswith("In the kernel of neg on the device 'broken', ") and place in note


def test_sparse_tensors_stay_on_the_cpu():
    with array_api(np, "strided"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(NotImplementedError, match="Sparse tensors are on the CPU alone"):
            imode.ones(2, device="strided").to_sparse()


def test_the_warning_of_a_fallback_shows_the_users_line():
    with array_api(np, "warns"), pytest.warns(UserWarning, match="fall back to run") as caught:
        imode.nn.functional.gelu(imode.ones(2, device="warns")), imode.ones(2, device="warns").erf()
    assert {warning.filename for warning in caught} == {__file__}


def test_privateuse1_gets_a_name_once():
    code = """
import imode
from imode.utils import rename_privateuse1_backend as rename
rename("npu")
rename("npu")
imode.utils.generate_methods_for_privateuse1_backend()
x = imode.arange(3.0).npu()
print(x.device, x.is_npu, imode.ones(1).is_npu, x[1:].cpu().tolist())
print(imode.nn.Linear(1, 1).npu().weight.device)
for call in (lambda: rename("other"), lambda: x + x, imode.utils.generate_methods_for_privateuse1_backend):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, str(error).partition(chr(10))[0])
with imode.library.Library("aten", "IMPL") as lib:
    lib.impl("add", lambda a, b, *, alpha=1: (a.cpu() + b.cpu()).npu(), "PrivateUse1")
    print((x + x).tolist())
"""  # noqa: E501
    import subprocess
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert not done.stderr, done.stderr
    assert done.stdout.splitlines() == [
        "npu:0 True False [1.0, 2.0]",
        "npu:0",
        "RuntimeError torch.register_privateuse1_backend() has already been set! "
        "Current backend: npu",
        "NotImplementedError Could not run 'aten::add' with arguments from the 'PrivateUse1' "
        "backend. Device 'npu' has no kernel for it.",
        "RuntimeError Can not automatically generate npu() method for Tensor: it has one.",
        "[0.0, 2.0, 4.0]",
    ]
