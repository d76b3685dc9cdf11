"""Every operator of the table, by its samples: modes, variants, aliasing, gradients.

What the values are is compared with PyTorch in tests/conformance; here the forms of one operator
are compared with each other, and its derivatives with differences. Without PyTorch.
"""

import numpy as np
import pytest

import imode
from imode._core.dispatch import all_operators
from imode.autograd import gradcheck, gradgradcheck
from tests.samples import load

FUNCTIONAL, VIEW, INPLACE, OUT, COMPOSITE = range(5)
SAMPLES = load()
OPERATORS = {name: op for name, op in all_operators().items() if op.functional is None}
PUBLIC = [name for name in OPERATORS if not name.startswith("_")]
CASES = [(n, i) for n in SAMPLES if n in OPERATORS for i in range(len(SAMPLES[n]))]
WORKING = [(n, i) for n, i in CASES if SAMPLES[n][i].raises is None]


def cases(wanted):
    return pytest.mark.parametrize(("name", "index"), wanted, ids=[f"{n}-{i}" for n, i in wanted])


def test_every_operator_has_samples():
    assert not [name for name in PUBLIC if name not in SAMPLES]


def test_every_sample_names_an_operator():
    known = set(all_operators()) | {name.partition(".")[0] for name in all_operators()}
    assert not [name for name in SAMPLES if name not in known]


def test_every_operator_is_documented():
    assert not [name for name in PUBLIC if not OPERATORS[name].entry.doc]


# ---- calling ----


def public(name):
    """Return what users call: the function, nn.functional's or the method, with all overloads."""
    base = name.partition(".")[0]
    owners = (imode, imode.nn.functional, imode.Tensor)
    return next(getattr(owner, base) for owner in owners if hasattr(owner, base))


def inplace(name):
    """Return the in-place form of an operator as users call it."""
    return getattr(imode.Tensor, name.partition(".")[0] + "_", OPERATORS[name].inplace)


def writes(name):
    """Whether it exists in place only, so that a leaf that requires grad has to be cloned."""
    return OPERATORS[name].role == INPLACE or name.partition(".")[0].endswith("_")


def call(name, index, **options):
    """Return (results, arguments): the tensors that a sample call gives and takes."""
    args, kwargs, tensors = SAMPLES[name][index].make(imode, **options)
    if writes(name) and args[0].requires_grad:
        args[0] = args[0].clone()
    return flat(public(name)(*args, **kwargs)), tensors


def flat(result):
    """Return the tensors in a result; other results as they are."""
    if isinstance(result, (tuple, list)):
        return [t for item in result for t in flat(item)]
    return [result]


def same(a, b, exact=True):
    """Whether two results have the same dtype, shape and values."""
    if not isinstance(a, imode.Tensor):
        return a == b or (a != a and b != b)
    if (a.dtype, a.shape) != (b.dtype, b.shape):
        return False
    x, y = np.array(a.detach().tolist()), np.array(b.detach().tolist())
    if x.dtype.kind in "fc" and not exact:
        return bool(np.allclose(x, y, 1e-5, 1e-6, equal_nan=True))
    return bool(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"))


# ---- modes ----


@cases(WORKING)
def test_modes_give_the_same(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    plain, _ = call(name, index, requires_grad=sample.grad)
    for mode in (imode.no_grad, imode.inference_mode):
        imode.manual_seed(1)
        with mode():
            seen, tensors = call(name, index, requires_grad=sample.grad)
        assert len(seen) == len(plain)
        for a, b in zip(seen, plain):
            if sample.values:
                # A composite may take another road to the same sums where nothing is recorded.
                assert same(a, b, OPERATORS[name].role != COMPOSITE), mode.__name__
            if isinstance(a, imode.Tensor) and not any(a is t for t in tensors):
                views = OPERATORS[name].role == VIEW or a._is_view()
                assert views or not a.requires_grad or name.startswith("requires_grad")
                assert a.is_leaf or views


@cases(WORKING)
def test_results_made_in_the_mode_are_inference_tensors(name, index):
    with imode.inference_mode():
        results, tensors = call(name, index)
        assert all(t.is_inference() for t in tensors)
    for t in results:
        assert not isinstance(t, imode.Tensor) or t.is_inference()


@cases([(n, i) for n, i in WORKING if OPERATORS[n].role == VIEW])
def test_views_share_memory(name, index):
    results, tensors = call(name, index)
    for t in results:
        if t.numel():
            assert np.shares_memory(t.numpy(force=True), tensors[0].numpy(force=True))
            assert t.is_inference() == tensors[0].is_inference()


@cases([(n, i) for n, i in CASES if SAMPLES[n][i].raises])
def test_bad_samples_raise(name, index):
    for mode in (imode.enable_grad, imode.no_grad, imode.inference_mode):
        with mode(), pytest.raises(SAMPLES[name][index].raises):
            call(name, index)


# ---- variants ----


def fits(functional, target):
    """Whether a functional result can be written into `target`: shape kept, dtype castable."""
    return functional.shape == target.shape and imode.can_cast(functional.dtype, target.dtype)


def overlapping(tensor):
    repeated = any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.shape))
    return repeated and tensor.numel() > 0


@cases([(n, i) for n, i in WORKING if OPERATORS[n].inplace and SAMPLES[n][i].variants])
def test_inplace_agrees(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    (wanted,), _ = call(name, index)
    args, kwargs, tensors = sample.make(imode)
    target = args[0]
    if not isinstance(target, imode.Tensor):
        pytest.skip("its first argument is a number here")
    before = [t.clone() for t in tensors]
    imode.manual_seed(1)
    if not fits(wanted, target) or overlapping(target):
        with pytest.raises(RuntimeError):
            inplace(name)(*args, **kwargs)
        assert all(same(a, b) for a, b in zip(tensors, before))
        return
    result = inplace(name)(*args, **kwargs)
    assert result is target
    assert target._version == (before[0]._version + 1 if target._base is None else target._version)
    if sample.values:
        assert same(target, wanted.to(target.dtype), exact=wanted.dtype == target.dtype)
    assert all(same(a, b) for a, b in zip(tensors[1:], before[1:]))


@cases([(n, i) for n, i in WORKING if OPERATORS[n].out and SAMPLES[n][i].variants])
def test_out_agrees(name, index):
    sample = SAMPLES[name][index]
    imode.manual_seed(1)
    wanted, _ = call(name, index)
    args, kwargs, tensors = sample.make(imode)
    before = [t.clone() for t in tensors]
    outs = [imode.empty(t.shape, dtype=t.dtype) for t in wanted]
    imode.manual_seed(1)
    result = public(name)(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
    for a, out, b in zip(flat(result), outs, wanted):
        assert a is out and out._version == 1
        assert not sample.values or same(out, b)
    assert all(same(a, b) for a, b in zip(tensors, before))


@cases([(n, i) for n, i in WORKING if OPERATORS[n].out and SAMPLES[n][i].variants])
def test_out_of_another_kind_is_refused(name, index):
    wanted, _ = call(name, index)
    if wanted[0].dtype == imode.bool:
        pytest.skip("everything can be written from bool")
    args, kwargs, _ = SAMPLES[name][index].make(imode)
    outs = [imode.zeros(t.shape, dtype=imode.bool) for t in wanted]
    with pytest.raises(RuntimeError):
        public(name)(*args, **kwargs, out=outs[0] if len(outs) == 1 else outs)
    assert not any(t.any() for t in outs)


# ---- gradients ----


def differentiable(name, index):
    op, sample = OPERATORS[name], SAMPLES[name][index]
    return sample.grad and sample.values and (op.differentiable or op.role == COMPOSITE)


def double(name, index):
    """Return (function, leaves) of a sample in double precision; no leaves where it has none.

    The leaves share no memory among their elements: differences move each alone.
    """
    sample = SAMPLES[name][index]
    args, kwargs, tensors = sample.make(imode, dtype="float64", requires_grad=True)
    leaves = [t for t in tensors if t.requires_grad]

    def function(*values):
        swapped = {id(t): value for t, value in zip(leaves, values)}

        def put(value):
            if isinstance(value, (list, tuple)):
                return type(value)(put(item) for item in value)
            return swapped.get(id(value), value)

        given, named = put(args), {k: put(v) for k, v in kwargs.items()}
        if writes(name):
            given[0] = given[0].clone()
        results = flat(public(name)(*given, **named))
        return [t for t in results if isinstance(t, imode.Tensor)]

    alone = [t.detach().contiguous().requires_grad_() if 0 in t.stride() else t for t in leaves]
    return function, alone


@cases([(n, i) for n, i in WORKING if differentiable(n, i) and SAMPLES[n][i].smooth])
def test_gradients(name, index):
    function, leaves = double(name, index)
    wide = (imode.float64, imode.complex128)
    if any(t.requires_grad and t.dtype not in wide for t in function(*leaves)):
        pytest.skip("computes in single precision: too coarse for differences")
    if not any(t.requires_grad for t in function(*leaves)):
        pytest.skip("gives nothing that requires grad for these arguments")
    options = {"fast_mode": True, "check_grad_dtypes": True}
    assert gradcheck(function, leaves, **options)
    assert gradgradcheck(function, leaves, atol=1e-4, **options)


@cases([(n, i) for n, i in WORKING if differentiable(n, i) and OPERATORS[n].inplace])
def test_inplace_gradients_equal_the_functional_ones(name, index):
    wanted = gradients_of(public(name), name, index)
    if wanted is None:
        pytest.skip("has no in-place form for these arguments, or no gradient")
    for a, b in zip(gradients_of(inplace(name), name, index), wanted):
        assert (a is None) == (b is None)
        assert a is None or same(a, b, exact=False)


def gradients_of(form, name, index):
    """Return the gradients of all leaves through one form; None where in-place has no sense."""
    sample = SAMPLES[name][index]
    args, kwargs, tensors = sample.make(imode, dtype="float64", requires_grad=True)
    if not sample.variants or not isinstance(args[0], imode.Tensor):
        return None
    args[0] = target = args[0].clone()
    shape, dtype = target.shape, target.dtype
    result = form(*args, **kwargs)
    if (result.shape, result.dtype) != (shape, dtype) or not result.requires_grad:
        return None
    leaves = [t for t in tensors if t.requires_grad]
    weights = imode.ones_like(result).detach()
    return imode.autograd.grad([result], leaves, [weights], allow_unused=True)
