"""einsum: a parser of equations over permutations, sums and one bmm for each two operands.

The operators it calls, and their order, are visible in the graph: they are PyTorch's.
"""

import math
from functools import lru_cache

from imode import ops
from imode._core.tensor import Tensor
from imode.ops.composites_fast import replayed
from imode.ops.products import composites_fast
from imode.ops.schema import composite, functions

_NOTHING = (
    "einsum(): must specify the equation string and at least one operand, "
    "or at least one operand and its subscripts list"
)
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def _labels(term, what):
    """The subscripts of one operand, an ellipsis as one of them."""
    labels, i = [], 0
    while i < len(term):
        if term[i] == " ":
            i += 1
        elif term[i] == ".":
            if term[i : i + 3] != "..." or "..." in labels:
                raise RuntimeError(
                    f"einsum(): found '.' for {what} that is not part of any ellipsis"
                    if "..." not in labels
                    else f"einsum(): found '.' for {what} for which an ellipsis was already found"
                )
            labels.append("...")
            i += 3
        elif term[i] in _LETTERS:
            labels.append(term[i])
            i += 1
        else:
            raise RuntimeError(
                f"einsum(): invalid subscript given at index {i} in the equation string, "
                "subscripts must be in [a-zA-Z]"
            )
    return labels


@lru_cache(256)
def _parse(equation, ndims):
    """The labels of the operands and of the output, and how many dimensions `...` stands for.

    ndims: the number of dimensions of each operand.
    """
    arrow = equation.find("->")
    left = equation if arrow < 0 else equation[:arrow]
    terms = left.split(",")
    if len(terms) != len(ndims):
        few = "fewer" if len(ndims) < len(terms) else "more"
        raise RuntimeError(f"einsum(): {few} operands were provided than specified in the equation")
    inputs, hidden = [], 0
    for i, (term, ndim) in enumerate(zip(terms, ndims, strict=True)):
        labels = _labels(term, f"operand {i}")
        named = len(labels) - ("..." in labels)
        if "..." in labels:
            if named > ndim:
                raise RuntimeError(
                    f"einsum(): the number of subscripts in the equation ({named}) is more than "
                    f"the number of dimensions ({ndim}) for operand {i}"
                )
            hidden = max(hidden, ndim - named)
        elif named != ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({named}) does not match "
                f"the number of dimensions ({ndim}) for operand {i} and no ellipsis was "
                "given"
            )
        inputs.append(labels)
    seen = [label for labels in inputs for label in labels]
    if arrow < 0:
        once = sorted(label for label in seen if label != "..." and seen.count(label) == 1)
        return inputs, (["..."] if "..." in seen else []) + once, hidden
    output = _labels(equation[arrow + 2 :], "the output")
    for label in output:
        if label == "...":
            continue
        if label not in seen:
            raise RuntimeError(
                f"einsum(): output subscript {label} does not appear in the equation for any "
                "input operand"
            )
        if output.count(label) > 1:
            raise RuntimeError(
                f"einsum(): output subscript {label} appears more than once in the output"
            )
    return inputs, output, hidden


def _align(operand, labels, places, hidden, ndim, position):
    """`operand` with a dimension for every label, in the order of `places`."""
    order = [None] * ndim
    at, first = 0, {}
    for label in labels:
        if label == "...":
            for _ in range(hidden - (operand.dim() - at - _after(labels, label))):
                operand = operand.unsqueeze(at)
            for k in range(hidden):
                order[places["..."] + k] = at
                at += 1
        elif label in first:
            dim = first[label]
            if operand.size(at) != operand.size(dim):
                raise RuntimeError(
                    f"einsum(): subscript {label} is repeated for operand {position} but the "
                    f"sizes don't match, {operand.size(at)} != {operand.size(dim)}"
                )
            operand = operand.diagonal(0, dim, at).movedim(-1, dim)
        else:
            first[label] = order[places[label]] = at
            at += 1
    for i, dim in enumerate(order):
        if dim is None:
            operand = operand.unsqueeze(operand.dim())
            order[i] = at
            at += 1
    return operand.permute(tuple(order))


def _after(labels, label):
    """How many dimensions the labels after `label` still take up."""
    return len(labels) - labels.index(label) - 1


def _sum_product(left, right, summed):
    """Multiply two aligned operands and sum over `summed`, by one batched matrix product."""
    both, only_left, only_right = [], [], []
    for i in range(left.dim()):
        in_left, in_right = left.size(i) != 1, right.size(i) != 1
        if i in summed:
            if in_left and not in_right:
                left = left.sum([i], keepdim=True)
            elif in_right and not in_left:
                right = right.sum([i], keepdim=True)
        elif in_left and in_right:
            both.append(i)
        elif in_left:
            only_left.append(i)
        else:
            only_right.append(i)
    if only_left and only_right and only_right[-1] < only_left[0]:
        # Swapped, the product comes out in the order of the result.
        left, right, only_left, only_right = right, left, only_right, only_left
    shape = [left.size(i) for i in both + only_left] + [1] * len(summed)
    shape += [right.size(i) for i in only_right]
    order = both + only_left + summed + only_right

    def size(tensor, axes):
        return math.prod(tensor.size(i) for i in axes)

    batch, inner_size = size(left, both), size(left, summed)
    first = left.permute(order).reshape((batch, size(left, only_left), inner_size))
    second = right.permute(both + summed + only_right + only_left)
    second = second.reshape((batch, inner_size, size(right, only_right)))
    back = [order.index(i) for i in range(len(order))]
    return first.bmm(second).view(shape).permute(back)


@composite(
    "einsum(str equation, Tensor[] operands) -> Tensor", fast=composites_fast.einsum, variants=""
)
@replayed
def _einsum(equation, operands):
    """Sum products of operands over the subscripts that the equation leaves out of its output."""
    if not operands:
        raise ValueError(_NOTHING)
    inputs, output, hidden = _parse(equation, tuple(operand.dim() for operand in operands))
    places, kept = {}, 0
    for label in output:
        places[label] = kept
        kept += hidden if label == "..." else 1
    ndim = kept
    if "..." not in places:
        places["..."] = ndim
        ndim += hidden
    for label in sorted({label for labels in inputs for label in labels} - places.keys()):
        places[label] = ndim
        ndim += 1
    aligned = [
        _align(operand, labels, places, hidden, ndim, i)
        for i, (operand, labels) in enumerate(zip(operands, inputs, strict=True))
    ]
    names = {place: label for label, place in places.items()}
    waiting = [0] * ndim  # how many operands still have each dimension
    for dim in range(ndim):
        size = 1
        for i, operand in enumerate(aligned):
            have = operand.size(dim)
            if have != 1:
                if size not in (1, have):
                    label = names.get(dim, "...")
                    if label == "...":
                        labels = inputs[i]
                        missing = hidden - (operands[i].dim() - len(labels) + 1)
                        own = labels.index("...") + dim - places["..."] - missing
                        raise RuntimeError(
                            f"einsum(): dimension {own} covered by ellipsis in operand {i}has size "
                            f"{have} which does not broadcast with previously seen ellipsis with "
                            f"size {size} for the respective dimension"
                        )
                    raise RuntimeError(
                        f"einsum(): subscript {label} has size {have} for operand "
                        f"{i} which does not broadcast with previously seen size {size}"
                    )
                size = have
                waiting[dim] += 1
    result = aligned[0]
    for other in aligned[1:]:
        summed, first, second = [], [], []
        for dim in range(kept, ndim):
            in_first, in_second = result.size(dim) != 1, other.size(dim) != 1
            if in_first and in_second:
                waiting[dim] -= 1
                if waiting[dim] == 1:
                    summed.append(dim)
                    waiting[dim] = 0
            elif waiting[dim] == 1 and (in_first or in_second):
                (first if in_first else second).append(dim)
                waiting[dim] = 0
        if first:
            result = result.sum(first, keepdim=True)
        if second:
            other = other.sum(second, keepdim=True)
        result = _sum_product(result, other, summed) if summed else result.mul(other)
    if ndim > kept and len(aligned) > 1:
        return result.view(result.shape[:kept])
    return result.sum(tuple(range(kept, ndim))) if ndim > kept else result


def _from_lists(arguments):
    """The equation and operands of the form einsum(op1, [0, 1], op2, [1, 2], [0, 2])."""
    operands, terms = list(arguments[0:-1:2]), list(arguments[1::2])

    def text(labels):
        return "".join("..." if label is Ellipsis else _LETTERS[label] for label in labels)

    equation = ",".join(text(labels) for labels in terms)
    if len(arguments) % 2:
        equation += "->" + text(arguments[-1])
    return equation, operands


def einsum(*args):
    """Sum products of operands over the subscripts the equation leaves out of its output.

    Raises RuntimeError where the equation and the operands do not fit together.

    >>> imode.einsum("ij,jk->ik", imode.ones(2, 3), imode.ones(3, 4)).shape
    imode.Size([2, 4])
    """
    if len(args) < 2:
        raise ValueError(_NOTHING)
    if isinstance(args[0], Tensor):
        equation, operands = _from_lists(args)
    else:
        equation, operands = args[0], args[1:]
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = operands[0]
    return ops.einsum(equation, operands)


functions["einsum"] = einsum  # in place of the operator, which takes the operands as a list
