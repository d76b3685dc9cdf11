"""The gradients of sampling at any places in differentiable operators, for higher derivatives.

The kernel's method, with tensors for its numbers: a place has a few elements near to it along each
dimension, each with a weight and the weight's slope by the place; see
`imode.kernels.networks.grid`.
"""

from itertools import product

from imode import ops

_LINEAR, _NEAREST, _CUBIC = range(3)
_ZEROS, _BORDER, _REFLECTION = range(3)


def _reflected(x, low, high):
    """x mirrored at low / 2 and high / 2, and the sign of its derivative."""
    if low == high:
        return x * 0, x.detach() * 0
    least, span = low / 2, (high - low) / 2
    with_sign = x - least
    sign = ops.where(with_sign.detach() < 0, -1.0, 1.0).to(x.dtype)
    away = with_sign * sign
    flips = (away.detach() / span).floor()
    odd = flips.remainder(2) != 0
    extra = away - flips * span
    return ops.where(odd, span - extra, extra) + least, ops.where(odd, -sign, sign)


def _kept(x, size, outside, corners):
    """A coordinate brought inside, and by how much it still follows the grid."""
    turn = ops.ones_like(x.detach())
    if outside == _ZEROS:
        return x, turn
    if outside == _REFLECTION:
        bounds = (0, 2 * (size - 1)) if corners else (-1, 2 * size - 1)
        x, turn = _reflected(x, *bounds)
    inside = (x.detach() > 0) & (x.detach() < size - 1)
    return ops.where(inside, x, x.detach().clamp(0, size - 1)), ops.where(inside, turn, turn * 0)


def _cubic(t):
    """The weights of four elements and their slopes by t."""
    a = -0.75

    def near(d):
        return ((a + 2) * d - (a + 3)) * d * d + 1, (3 * (a + 2) * d - 2 * (a + 3)) * d

    def far(d):
        return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a, (3 * a * d - 10 * a) * d + 8 * a

    pairs = [far(t + 1), near(t), near(1 - t), far(2 - t)]
    return [(w, s if k < 2 else -s) for k, (w, s) in enumerate(pairs)]


def _near(coordinate, size, mode, outside, corners):
    """[(index, whether it is inside, weight, slope by the coordinate)] along one dimension."""
    turn = (size - 1 if corners else size) / 2
    x = (coordinate + 1) / 2 * (size - 1) if corners else ((coordinate + 1) * size - 1) / 2
    if mode == _CUBIC:
        first = x.detach().floor()
        places = [_kept(first - 1 + k, size, outside, corners)[0].round() for k in range(4)]
        weights = [(w, s * turn) for w, s in _cubic(x - first)]
    else:
        x, follows = _kept(x, size, outside, corners)
        if mode == _NEAREST:
            places, weights = [x.detach().round()], [(ops.ones_like(x.detach()), x.detach() * 0)]
        else:
            first = x.detach().floor()
            slope = follows * turn
            places = [first, first + 1]
            weights = [(1 - (x - first), -slope), (x - first, slope)]
    return [
        (p.nan_to_num(0.0).clamp(0, size - 1).long(), ((p >= 0) & (p < size)).to(x.dtype), *pair)
        for p, pair in zip(places, weights, strict=True)
    ]


def gradients(grad, input, grid, mode, outside, corners):
    """Return the gradients of the input and of the grid, themselves differentiable."""
    sizes = input.shape[2:]
    space = len(sizes)
    flat, places, g = input.flatten(2), grid.flatten(1, -2), grad.flatten(2)
    axes = [
        _near(places.select(2, space - 1 - d), sizes[d], mode, outside, corners)
        for d in range(space)
    ]
    of_input, of_grid = ops.zeros_like(flat), [0] * space
    for taps in product(*axes):
        at, weight = taps[0][0] * 0, 1
        for size, (index, inside, _, _) in zip(sizes, taps, strict=True):
            at, weight = at * size + index, weight * inside
        wide = at.unsqueeze(1).expand(g.shape)
        value = (flat.gather(2, wide) * g).sum(1) * weight
        slopes = [tap[3] for tap in taps]
        for d in range(space):
            part = slopes[d]
            for e in range(space):
                part = part if e == d else part * taps[e][2]
            of_grid[d] = of_grid[d] + value * part
        for tap in taps:
            weight = weight * tap[2]
        of_input = of_input.scatter_add(2, wide, weight.unsqueeze(1) * g)
    return of_input.reshape(input.shape), ops.stack(of_grid[::-1], -1).reshape(grid.shape)
