"""Connectionist temporal classification."""

import numpy as np

from imode import errors, ops
from imode._core.tensor import Tensor
from imode.kernels.sequences import ctc as kernels
from imode.ops.networks.reduction import MEAN, SUM, reduction_number
from imode.ops.pointwise.common import no_derivative
from imode.ops.schema import composite, functional, op

_WHERE = " (while checking arguments for ctc_loss_allocate_outputs)"


def _check_lengths(name, lengths, batch, most):
    if len(lengths) != batch:
        raise RuntimeError(f"{name}_lengths must be of size batch_size")
    for length in lengths:
        if length < 0:
            raise RuntimeError(
                f"Expected {name}_lengths to have value at least 0, but got value {length}{_WHERE}"
            )
        if most is not None and length > most:
            raise RuntimeError(
                f"Expected {name}_lengths to have value at most {most}, but got value {length}"
                f"{_WHERE}"
            )


def _check_count(given, wanted):
    if given != wanted:
        raise RuntimeError(
            f"Expected tensor to have size {wanted} at dimension 0, but got size {given} for "
            f"argument #2 'targets'{_WHERE}"
        )


def _starts(targets, lengths, batch):
    """Where each sequence's labels begin among all labels."""
    if targets.ndim == 1:
        _check_count(targets.shape[0], sum(lengths))
        return np.cumsum([0, *lengths[:-1]], dtype=np.int64)
    if targets.ndim != 2:
        raise RuntimeError(f"Expected 1 or 2 dimensions, but got {targets.ndim} for 'targets'")
    most = max(lengths, default=0)
    _check_count(targets.shape[0], batch)
    if targets.shape[1] < most:
        raise RuntimeError(
            f"Expected tensor to have size at least {most} at dimension 1, but got size "
            f"{targets.shape[1]} for argument #2 'targets'{_WHERE}"
        )
    return np.arange(batch, dtype=np.int64) * targets.shape[1]


def _arguments(logs, targets, times, lengths, blank):
    """What the kernels take: contiguous, checked, and out of reach of other threads."""
    if logs.dtype.kind != "f" or logs.dtype == np.float16:
        raise errors.dtypes.not_implemented("ctc_loss_cpu", logs.dtype)
    if logs.ndim != 3:
        raise RuntimeError(f"ctc_loss: expected 3 dimensions, but got {logs.ndim}")
    steps, batch, classes = logs.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    _check_lengths("input", times, batch, steps)
    _check_lengths("target", lengths, batch, None)
    starts = _starts(targets, lengths, batch)
    labels = np.array(targets, np.int64, order="C").reshape(-1)
    flat = [labels[start : start + n] for start, n in zip(starts, lengths, strict=True)]
    if any(((part < 0) | (part >= classes)).any() for part in flat):
        raise RuntimeError(f"ctc_loss: expected labels from 0 to {classes - 1}")
    numbers = (np.array(each, np.int64) for each in (times, lengths))
    return np.ascontiguousarray(logs), labels, starts, *numbers


@op(
    "_ctc_loss_backward(Tensor grad_output, Tensor log_probs, Tensor targets, int[] input_lengths, "
    "int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
    "bool zero_infinity) -> Tensor",
    derivative=dict.fromkeys(("grad_output", "log_probs"), no_derivative("_ctc_loss_backward")),
    name="NotImplemented",
)
def _ctc_loss_backward(
    grad, log_probs, targets, input_lengths, target_lengths, loss, alpha, blank, zero_infinity
):
    given = _arguments(log_probs, targets, input_lengths, target_lengths, blank)
    logs, labels, starts, times, lengths = given
    wanted = (logs.shape[1], logs.shape[0], 2 * max(target_lengths, default=0) + 1)
    if alpha.shape != wanted or grad.shape != wanted[:1] or loss.shape != wanted[:1]:
        raise RuntimeError("_ctc_loss_backward: expected what the forward pass returned")
    results = (np.ascontiguousarray(each, logs.dtype) for each in (loss, alpha))
    grad = np.ascontiguousarray(grad, logs.dtype)
    return kernels.slopes(
        grad, logs, labels, starts, times, lengths, *results, blank, zero_infinity
    )


def _slope(
    grads,
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank,
    zero_infinity,
    result0,
    result1,
):
    if grads[0] is None:
        return None
    return ops._ctc_loss_backward(
        grads[0],
        log_probs,
        targets,
        input_lengths,
        target_lengths,
        result0,
        result1,
        blank,
        zero_infinity,
    )


@op(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
    "int blank=0, bool zero_infinity=False) -> (Tensor result0, Tensor result1)",
    derivative={"log_probs": _slope},
)
def _ctc(log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    return kernels.losses(
        *_arguments(log_probs, targets, input_lengths, target_lengths, blank), blank
    )


def _listed(name, lengths):
    if not isinstance(lengths, Tensor):
        return tuple(lengths)
    if lengths.is_floating_point() or lengths.is_complex():
        raise RuntimeError(f"{name}_lengths must be integral")
    return tuple(lengths.reshape(-1).tolist())


def _loss(log_probs, targets, input_lengths, target_lengths, blank, reduction, zero_infinity):
    times, lengths = _listed("input", input_lengths), _listed("target", target_lengths)
    batched = log_probs.dim() == 3
    if not batched:
        log_probs = log_probs.unsqueeze(1)
    losses = ops._ctc_loss(log_probs, targets, times, lengths, blank, zero_infinity)[0]
    if zero_infinity:
        losses = ops.where(losses == float("inf"), ops.zeros((), dtype=losses.dtype), losses)
    if reduction == MEAN:
        counts = losses.new_tensor(lengths).clamp_min_(1)
        return (losses / counts).mean()
    if reduction == SUM:
        return losses.sum()
    return losses if batched else losses.squeeze(0)


_DOC = """Return minus the log of the probability of each target sequence, over all alignments.

    `log_probs` is (times, batch, classes), or without the batch; `targets` holds the labels,
    (batch, labels) or one after another, without `blank`. `reduction` is 0 (none), 1 (mean over
    sequences of the loss per label) or 2 (sum). Raises RuntimeError where lengths or labels do not
    fit.

    >>> logs = imode.full((2, 1, 2), 0.5).log()
    >>> round(imode.ctc_loss(logs, imode.tensor([[1]]), (2,), (1,))[0].item(), 4)
    0.2877
    """
for _overload, _lengths in (("IntList", "int[] {}"), ("Tensor", "Tensor {}")):
    composite(
        f"ctc_loss.{_overload}(Tensor log_probs, Tensor targets, "
        f"{_lengths.format('input_lengths')}, {_lengths.format('target_lengths')}, int blank=0, "
        "int reduction=0, bool zero_infinity=False) -> Tensor",
        variants="function",
        doc=_DOC,
    )(_loss)


@functional("ctc_loss")
def ctc_loss(
    log_probs,
    targets,
    input_lengths,
    target_lengths,
    blank=0,
    reduction="mean",
    zero_infinity=False,
):
    """Return minus the log of the probability of each target sequence, over all alignments.

    As `imode.ctc_loss`, with the reduction by name; `zero_infinity` leaves out targets that no
    alignment gives.

    >>> logs = imode.full((2, 1, 2), 0.5).log()
    >>> round(imode.nn.functional.ctc_loss(logs, imode.tensor([[1]]), (2,), (1,)).item(), 4)
    0.2877
    """
    number = reduction_number(None, None, reduction)
    return ops.ctc_loss(
        log_probs, targets, input_lengths, target_lengths, blank, number, zero_infinity
    )
