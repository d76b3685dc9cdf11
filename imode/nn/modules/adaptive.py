"""The softmax of many classes of which a few are frequent."""

from itertools import pairwise
from typing import NamedTuple

from imode import errors, ops
from imode._core.tensor import Tensor

from .container import ModuleList, Sequential
from .linear import Linear
from .module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


def _check_cutoffs(cutoffs, n_classes):
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    rising = all(a < b for a, b in pairwise(cutoffs))
    inside = cutoffs[0] > 0 and cutoffs[-1] <= n_classes - 1
    if not (rising and inside and all(int(c) == c for c in cutoffs)):
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            "order, where each value is between 1 and n_classes-1"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """Log-probabilities of classes in clusters, the rarer the narrower, and their loss.

    Classes are numbered by falling frequency. `cutoffs` says where clusters begin; the head has the
    classes below the first and one for each cluster, whose projections are `div_value` times
    narrower each. Called with inputs (n, in_features) and targets (n), or both without n, it gives
    `output`, the log-probability of each target, and `loss`, their mean, negated.

    Raises ValueError for cutoffs that do not rise between 1 and n_classes - 1.

    >>> asm = imode.nn.AdaptiveLogSoftmaxWithLoss(8, 20, [4, 10], div_value=2.0)
    >>> asm(imode.ones(3, 8), imode.tensor([0, 5, 19])).output.shape
    imode.Size([3])
    """

    def __init__(
        self,
        in_features,
        n_classes,
        cutoffs,
        div_value=4.0,
        head_bias=False,
        device=None,
        dtype=None,
    ):
        super().__init__()
        made = {"device": device, "dtype": dtype}
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features, self.n_classes = in_features, n_classes
        self.cutoffs = [*cutoffs, n_classes]
        self.div_value, self.head_bias = div_value, head_bias
        self.shortlist_size = cutoffs[0]
        self.n_clusters = len(cutoffs)
        self.head_size = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, bias=head_bias, **made)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            classes = self.cutoffs[i + 1] - self.cutoffs[i]
            inward = Linear(in_features, width, bias=False, **made)
            self.tail.append(Sequential(inward, Linear(width, classes, bias=False, **made)))

    def reset_parameters(self):
        """Redraw the starting values."""
        self.head.reset_parameters()
        for inward, outward in self.tail:
            inward.reset_parameters()
            outward.reset_parameters()

    def forward(self, input_, target_):
        _check_dims(input_, target_)
        batched = target_.dim() > 0
        input = input_ if batched else input_.unsqueeze(0)
        target = target_ if batched else target_.unsqueeze(0)
        if not bool(((target >= 0) & (target < self.n_classes)).all()):
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{target.min().item()}, {target.max().item()}] were found. "
            )
        output, column = input.new_zeros(target.shape[0]), target
        for i in range(self.n_clusters):
            low, high = self.cutoffs[i : i + 2]
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            column = column.index_fill(0, rows, self.shortlist_size + i)
            inside = self.tail[i](input.index_select(0, rows)).log_softmax(1)
            place = (target.index_select(0, rows) - low).unsqueeze(1)
            output = output.index_copy(0, rows, inside.gather(1, place).squeeze(1))
        head = self.head(input).log_softmax(1)
        output = output + head.gather(1, column.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output if batched else output.squeeze(0), loss)

    def log_prob(self, input):
        """The log-probabilities of all classes, (n, n_classes), of inputs (n, in_features)."""
        return self._all(input, self.head(input))

    def _all(self, input, head_output):
        head = head_output.log_softmax(1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            own = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(cluster(input).log_softmax(1) + own)
        return ops.cat(parts, 1)

    def predict(self, input):
        """The most probable class of each input, (n), as far as possible by the head alone."""
        head_output = self.head(input)
        found = head_output.argmax(1)
        rest = found >= self.shortlist_size
        if bool(rest.any()):
            found[rest] = self._all(input[rest], head_output[rest]).argmax(1)
        return found


def _check_dims(input, target):
    if target.dim() == 1:
        if input.shape[0] != target.shape[0]:
            raise RuntimeError("Input and target should have the same size in the batch dimension.")
        if input.dim() != 2:
            raise RuntimeError(
                f"1D target tensor expects 2D input tensors, but found inputs with size "
                f"{input.shape}"
            )
    elif target.dim() == 0:
        if input.dim() != 1:
            raise RuntimeError(
                f"0D target tensor expects 1D input tensors, but found inputs with size "
                f"{input.shape}"
            )
    else:
        raise errors.shapes.several_targets()
