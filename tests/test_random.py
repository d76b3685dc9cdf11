"""Generators and random tensors: streams, states, threads; golden numbers from PyTorch 2.13.

tests/conformance compares many more where PyTorch is installed.
"""

import copy
import hashlib
import pickle
import threading

import numpy as np
import pytest

import imode


def drawn(call):
    """Return what a call draws after `manual_seed(7)`, as a flat list."""
    imode.manual_seed(7)
    return [round(value, 7) for value in call().flatten().tolist()]


GOLDEN = {
    "rand": (lambda: imode.rand(4), [0.5349225, 0.1988032, 0.6592117, 0.6568903]),
    "rand float64": (
        lambda: imode.rand(3, dtype=imode.float64),
        [0.2793804, 0.2736937, 0.862093],
    ),
    "rand float16": (
        lambda: imode.rand(3, dtype=imode.float16),
        [0.5351562, 0.1988525, 0.6591797],
    ),
    "randn, one by one": (lambda: imode.randn(3), [-0.1467951, 0.7861413, 0.9468216]),
    "randn, in blocks": (
        lambda: imode.randn(17)[imode.tensor([0, 1, 8, 15, 16])],
        [-0.8201345, -0.3245666, -0.8489086, -1.359769, -0.8667016],
    ),
    "randn float64, in blocks": (
        lambda: imode.randn(17, dtype=imode.float64)[imode.tensor([0, 1, 16])],
        [0.0662675, -0.2910415, -1.6677291],
    ),
    "randn float16, in blocks": (
        lambda: imode.randn(17, dtype=imode.float16)[imode.tensor([0, 1, 16])],
        [-0.8203125, -1.5830078, -1.359375],
    ),
    "randint": (lambda: imode.randint(0, 1000, (4,)), [615, 892, 721, 286]),
    "randint, wide": (lambda: imode.randint(0, 2**40, (2,)), [752595690692, 108744157686]),
    "random_": (
        lambda: imode.zeros(2, dtype=imode.int64).random_(),
        [1407639518939636932, 5163590386780219894],
    ),
    "randperm": (lambda: imode.randperm(8), [7, 0, 3, 4, 1, 5, 2, 6]),
    "bernoulli of a number": (
        lambda: imode.zeros(8).bernoulli_(0.3),
        [1, 1, 0, 0, 0, 0, 1, 0],
    ),
    "bernoulli of a tensor": (
        lambda: imode.bernoulli(imode.full((8,), 0.3)),
        [0, 1, 0, 0, 1, 0, 1, 0],
    ),
    "exponential": (lambda: imode.zeros(3).exponential_(2.0), [0.163822, 0.1598917, 0.9905877]),
    "cauchy": (lambda: imode.zeros(3).cauchy_(), [-0.8305558, -0.8612031, 2.1618922]),
    "log normal": (lambda: imode.zeros(3).log_normal_(), [2.0267019, 13.0956821, 18.058983]),
    "geometric": (lambda: imode.zeros(6).geometric_(0.3), [4, 4, 1, 2, 1, 1]),
    "multinomial": (
        lambda: imode.multinomial(imode.tensor([1.0, 2, 3, 4]), 3),
        [1, 3, 0],
    ),
    "multinomial with replacement": (
        lambda: imode.multinomial(imode.tensor([1.0, 2, 3, 4]), 6, True),
        [1, 1, 3, 3, 3, 3],
    ),
    "in memory order": (
        lambda: imode.zeros(2, 3).t().uniform_(),
        [0.5349225, 0.6568903, 0.1988032, 0.2327616, 0.6592117, 0.4250614],
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_numbers_are_pytorchs(name):
    call, wanted = GOLDEN[name]
    assert np.allclose(drawn(call), wanted, rtol=1e-7, atol=1e-7)


def test_long_streams_are_pytorchs_bit_for_bit():
    imode.manual_seed(7)
    uniform = hashlib.sha256(imode.rand(10_000).numpy().tobytes()).hexdigest()
    assert uniform == "d2ce3efd629c57abd59daa56391c2c0f59bd41b3ce852464dfd90a08a587949f"
    imode.manual_seed(7)
    normal = hashlib.sha256(imode.randn(10_000).numpy().tobytes()).hexdigest()
    assert normal == "b9837467abcf12435ff83f226ef157e38b6affad2ce0acab201cbf2dccdad024"


# ---- generators ---------------------------------------------------------------------------------


def test_states_are_pytorchs_byte_for_byte():
    def digest():
        return hashlib.sha256(imode.get_rng_state().numpy().tobytes()).hexdigest()

    imode.manual_seed(7)
    fresh = digest()
    imode.randn(3)
    assert fresh == "daf9268b18e87b0267a6ad240c6093eb98fe6f03872986bd31a497ba5ea2371a"
    assert digest() == "5dc20bbdc68dede503c2fd3be8c61c03e0ba6fb7884c5665b6b65dea69a927c5"


def test_a_state_restores_the_stream():
    imode.randn(3)  # leaves the second half of a pair behind
    state = imode.get_rng_state()
    first = imode.randn(5).tolist(), imode.rand(700).tolist()
    imode.set_rng_state(state)
    assert first == (imode.randn(5).tolist(), imode.rand(700).tolist())


@pytest.mark.parametrize("steps", [0, 1, 623, 624, 625])
def test_states_round_trip_at_every_position(steps):
    one = imode.Generator().manual_seed(3)
    imode.rand(steps, generator=one)
    other = imode.Generator()
    other.set_state(one.get_state())
    assert one.get_state().tolist() == other.get_state().tolist()
    assert imode.rand(9, generator=one).tolist() == imode.rand(9, generator=other).tolist()


def test_generators_are_streams_of_their_own():
    one, other = imode.Generator().manual_seed(1), imode.Generator().manual_seed(1)
    default = imode.get_rng_state().tolist()
    assert imode.rand(3, generator=one).tolist() == imode.rand(3, generator=other).tolist()
    assert imode.get_rng_state().tolist() == default


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, lambda g: pickle.loads(pickle.dumps(g))])
def test_copies_go_on_from_the_same_state(how):
    one = imode.Generator().manual_seed(5)
    imode.randn(3, generator=one)
    other = how(one)
    assert other is not one and other.initial_seed() == 5
    assert imode.randn(5, generator=one).tolist() == imode.randn(5, generator=other).tolist()
    assert one.clone_state().get_state().tolist() == one.get_state().tolist()


def test_seeds():
    g = imode.Generator()
    assert g.initial_seed() == 67280421310721
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1
    assert g.manual_seed(-(2**63)).initial_seed() == 2**63
    assert g.seed() == g.initial_seed() != 67280421310721
    assert imode.manual_seed(-5) is imode.default_generator
    assert imode.initial_seed() == 2**64 - 5
    assert imode.seed() == imode.initial_seed()
    assert imode.manual_seed(1.7).initial_seed() == 1
    assert g.device == imode.device("cpu")
    assert imode.Generator("cpu").device.type == "cpu"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda g: g.manual_seed(1.5), RuntimeError, "manual_seed expected a long, but got float"),
        (lambda g: g.manual_seed(True), RuntimeError, "manual_seed expected a long, but got bool"),
        (lambda g: g.manual_seed(None), RuntimeError, "manual_seed expected a long"),
        (lambda g: g.manual_seed(2**64), ValueError, "Overflow when unpacking long long"),
        (lambda g: g.manual_seed(-(2**63) - 1), ValueError, "Overflow when unpacking long long"),
        (lambda g: g.set_state(imode.zeros(3)), TypeError, "RNG state must be a torch.ByteTensor"),
        (lambda g: g.set_state(3), TypeError, "expected a torch.ByteTensor, but got int"),
        (
            lambda g: g.set_state(imode.zeros(5, dtype=imode.uint8)),
            RuntimeError,
            "Expected a CPUGeneratorImplState of size 5056",
        ),
        (
            lambda g: g.set_state(imode.zeros(5056, dtype=imode.uint8)),
            RuntimeError,
            "Invalid mt19937 state",
        ),
        (lambda g: g.get_offset(), RuntimeError, "CPU Generator does not use offset"),
        (lambda g: g.set_offset(1), RuntimeError, "CPU Generator does not use offset"),
        (lambda g: imode.Generator("cuda"), RuntimeError, "Cannot get CUDA generator"),
        (lambda g: imode.Generator("nowhere"), RuntimeError, "device type at start"),
        (lambda g: imode.rand(2, generator=3), TypeError, r"got \(int, generator=int\)"),
    ],
)
def test_refusals(call, error, message):
    g = imode.Generator().manual_seed(3)
    before = g.get_state().tolist()
    with pytest.raises(error, match=message):
        call(g)
    assert g.get_state().tolist() == before


def test_one_generator_in_many_threads_draws_every_number_once():
    g, found = imode.Generator().manual_seed(11), []

    def work():
        for _ in range(20):
            found.append(imode.rand(5000, generator=g))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = imode.rand(80 * 5000, generator=imode.Generator().manual_seed(11))
    pieces = sorted(tuple(t[:3].tolist()) for t in found)
    assert pieces == sorted(tuple(t[:3].tolist()) for t in wanted.view(80, 5000).unbind())


# ---- fillers ------------------------------------------------------------------------------------


def test_fillers_write_in_place_and_count():
    t = imode.zeros(4)
    for filler in (t.uniform_, t.normal_, t.random_, t.exponential_, t.bernoulli_):
        version = t._version
        assert filler() is t and t._version == version + 1


def test_fillers_cut_the_history():
    leaf = imode.ones(3, requires_grad=True)
    filled = leaf.clone().normal_()
    assert filled.grad_fn.name() == "NormalBackward0"
    filled.sum().backward()
    assert leaf.grad.tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.uniform_()


def test_fillers_refuse_shared_elements_before_drawing():
    state = imode.get_rng_state().tolist()
    with pytest.raises(RuntimeError, match="more than one element of the written-to tensor"):
        imode.zeros(1).expand(3).normal_()
    assert imode.get_rng_state().tolist() == state


def test_inference_tensors_are_filled_inside_only():
    with imode.inference_mode():
        t = imode.zeros(3).uniform_()
        assert t.is_inference() and imode.rand(2).is_inference()
    before = t.tolist()
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        t.uniform_()
    assert t.tolist() == before


def test_uniform_float16_never_reaches_its_upper_end():
    t = imode.empty(50_000, dtype=imode.float16).uniform_()
    assert t.min().item() >= 0 and t.max().item() < 1


def test_distributions_have_their_moments():
    t = imode.randn(100_000, dtype=imode.float64)
    assert abs(t.mean().item()) < 0.02 and abs(t.std().item() - 1) < 0.02
    z = imode.randn(50_000, dtype=imode.complex128)
    assert abs((z.abs() ** 2).mean().item() - 1) < 0.03
    assert abs(imode.zeros(100_000).exponential_(4).mean().item() - 0.25) < 0.01
    assert sorted(imode.randperm(1000).tolist()) == list(range(1000))


@pytest.mark.parametrize("dtype", [imode.float16, imode.bfloat16, imode.float32, imode.float64])
@pytest.mark.parametrize("n", [1, 7, 1000])
def test_a_row_is_drawn_from_as_the_rows_of_a_matrix(n, dtype):
    """With replacement; both take the same numbers from the generator."""
    weights = imode.arange(n).add(1).remainder(7).add(0.5).to(dtype)
    found = []
    for given in (weights, weights[None]):
        imode.manual_seed(3)
        found.append((imode.multinomial(given, 300, True).flatten(), imode.rand(2)))
    assert all(map(imode.equal, *found))
    for bad, message in ((-1.0, "entry < 0"), (float("inf"), "infinity or NaN")):
        with pytest.raises(RuntimeError, match=message):
            imode.multinomial(imode.cat((weights, imode.tensor([bad], dtype=dtype))), 3, True)
    with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
        imode.multinomial(weights * 0, 3, True)
