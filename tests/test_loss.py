"""Losses: reductions, targets that do not count, and the words of refusals."""

import math

import pytest

import imode
import imode.nn.functional as F

LOGITS = [[0.5, -1.0, 2.0], [0.0, 0.0, 0.0]]


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"])
def test_reductions_agree(name):
    loss = getattr(F, name)
    x, y = imode.tensor([1.0, -2.0, 0.25]), imode.tensor([0.0, 0.5, 0.0])
    each = loss(x, y, reduction="none")
    assert loss(x, y, reduction="sum").item() == pytest.approx(each.sum().item())
    assert loss(x, y).item() == pytest.approx(each.mean().item())
    with pytest.raises(ValueError, match="other is not a valid value for reduction"):
        loss(x, y, reduction="other")


def test_the_old_booleans_still_count():
    x, y = imode.tensor([1.0, 3.0]), imode.zeros(2)
    with pytest.warns(UserWarning, match="please use reduction='sum' instead"):
        assert F.mse_loss(x, y, size_average=False).item() == 10.0
    with pytest.warns(UserWarning, match="please use reduction='none' instead"):
        assert F.mse_loss(x, y, reduce=False).tolist() == [1.0, 9.0]


def test_sizes_that_broadcast_warn():
    with pytest.warns(UserWarning, match="different to the input size"):
        F.mse_loss(imode.ones(2, 3), imode.ones(3))


def test_cross_entropy_is_log_softmax_and_nll():
    x = imode.tensor(LOGITS)
    target = imode.tensor([2, 1])
    expected = F.nll_loss(imode.log_softmax(x, 1), target)
    assert F.cross_entropy(x, target).item() == pytest.approx(expected.item())
    onehot = imode.tensor([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    assert F.cross_entropy(x, onehot).item() == pytest.approx(expected.item())


def test_ignored_targets_count_for_nothing():
    x = imode.tensor(LOGITS, requires_grad=True)
    loss = F.cross_entropy(x, imode.tensor([2, -100]))
    assert loss.item() == pytest.approx(F.cross_entropy(x[:1], imode.tensor([2])).item())
    loss.backward()
    assert x.grad[1].tolist() == [0, 0, 0]
    assert math.isnan(F.cross_entropy(x, imode.tensor([-100, -100])).item())


def test_the_mean_is_weighted():
    logs = imode.log_softmax(imode.tensor(LOGITS), 1)
    weight = imode.tensor([1.0, 2.0, 4.0])
    target = imode.tensor([2, 1])
    each = F.nll_loss(logs, target, weight, reduction="none")
    assert F.nll_loss(logs, target, weight).item() == pytest.approx(each.sum().item() / 6)


@pytest.mark.parametrize(
    ("target", "error", "words"),
    [
        (
            [0, 1, 2],
            ValueError,
            r"Expected input batch_size \(2\) to match target batch_size \(3\)",
        ),
        ([0, 7], IndexError, r"Target 7 is out of bounds\."),
        ([0, -1], IndexError, r"Target -1 is out of bounds\."),
        ([0.0, 1.0], RuntimeError, "expected target dtype to be Long or Byte, but got Float"),
    ],
)
def test_bad_targets(target, error, words):
    with pytest.raises(error, match=words):
        F.cross_entropy(imode.tensor(LOGITS), imode.tensor(target))


def test_binary_cross_entropy_ends_at_a_hundred():
    x, y = imode.tensor([0.0, 1.0]), imode.tensor([1.0, 1.0])
    assert F.binary_cross_entropy(x, y, reduction="none").tolist() == [100.0, 0.0]
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(imode.tensor([1.5]), imode.tensor([1.0]))
    with pytest.raises(RuntimeError, match="all elements of input should be between 0 and 1"):
        F.binary_cross_entropy(imode.tensor([float("nan")]), imode.tensor([1.0]))


def test_logits_do_not_overflow():
    x = imode.tensor([-1000.0, 1000.0], requires_grad=True)
    loss = F.binary_cross_entropy_with_logits(x, imode.tensor([1.0, 0.0]), reduction="sum")
    assert loss.item() == 2000.0
    loss.backward()
    assert x.grad.tolist() == [-1.0, 1.0]


def test_node_names():
    x = imode.tensor(LOGITS, requires_grad=True)
    y = imode.zeros(2, 3)
    assert F.nll_loss(x, imode.tensor([0, 1])).grad_fn.name() == "NllLossBackward0"
    volume = imode.ones(1, 2, 2, 2, requires_grad=True)
    target = imode.zeros(1, 2, 2, dtype=imode.int64)
    assert F.nll_loss(volume, target).grad_fn.name() == "NllLoss2DBackward0"
    assert F.mse_loss(x, y).grad_fn.name() == "MseLossBackward0"
    assert F.smooth_l1_loss(x, y).grad_fn.name() == "SmoothL1LossBackward0"
    assert F.huber_loss(x, y).grad_fn.name() == "HuberLossBackward0"


def test_logits_without_dimensions_take_a_weight_of_positives():
    x, y, w = imode.tensor(0.5), imode.tensor(1.0), imode.tensor(2.0)
    loss = F.binary_cross_entropy_with_logits(x, y, pos_weight=w)
    assert loss.item() == pytest.approx(2 * math.log1p(math.exp(-0.5)), rel=1e-6)


def test_the_mean_of_kl_div_warns():
    x = imode.ones(2, 2)
    with pytest.warns(UserWarning, match="^reduction: 'mean' divides the total loss by"):
        F.kl_div(x, x)
    F.kl_div(x, x, reduction="batchmean")  # a warning is an error here


def test_a_linear_layer_in_the_loss():
    loss = imode.nn.LinearCrossEntropyLoss(3, 2, bias=True, options=None)
    input, target = imode.randn(4, 3), imode.tensor([0, 1, 1, 0])
    wanted = imode.nn.functional.cross_entropy(loss.linear(input), target)
    assert imode.allclose(loss(input, target), wanted)
    with pytest.raises(RuntimeError, match=r"expected weight shape to be \(2,\), got \(3,\)"):
        imode.nn.LinearCrossEntropyLoss(3, 2, weight=imode.ones(3))
    with pytest.raises(RuntimeError, match="expected label_smoothing to be in range"):
        imode.nn.LinearCrossEntropyLoss(3, 2, label_smoothing=2)


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ({"acc_policy": "fast"}, "invalid acc_policy: 'fast'"),
        ({"chunking_method": "rows:2"}, "invalid chunking_method: 'rows:2'"),
        ({"batch_chunk_size": 0}, "batch_chunk_size must be positive int or None, got 0"),
        ({"acc_dtype": imode.int32}, "acc_dtype must be one of"),
    ],
)
def test_options_that_are_refused(words, text):
    with pytest.raises(ValueError, match=text):
        imode.nn.LinearCrossEntropyOptions(**words)


@pytest.mark.parametrize("name", ["kl_div", "binary_cross_entropy_with_logits"])
def test_the_functions_of_torch_take_a_number_for_the_reduction(name):
    x, y = imode.tensor([-1.0, -2.0]), imode.tensor([0.25, 0.75])
    function, losses = getattr(imode, name), getattr(F, name)(x, y, reduction="none")
    for number, wanted in enumerate((losses, losses.mean(), losses.sum())):
        assert imode.allclose(function(x, y, reduction=number), wanted)
        assert function(x, y, reduction=number).shape == wanted.shape
    with pytest.raises(TypeError, match=r"'reduction' .position .. must be int, not str"):
        function(x, y, reduction="sum")
