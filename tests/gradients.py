"""Gradients against central differences along random directions, of first and second order.

Independent of the library's own gradcheck: only `autograd.grad` is used of what it tests.
"""

import numpy as np

EPS = 1e-6


def _weights(outputs, rng):
    made = []
    for t in outputs:
        w = rng.standard_normal(tuple(t.shape))
        made.append(w + 1j * rng.standard_normal(tuple(t.shape)) if t.is_complex() else w)
    return made


def _values(tensor):
    return np.array(tensor.detach().tolist()).reshape(tuple(tensor.shape))


def _real_dot(a, b):
    """Return the real inner product of two arrays, real or complex."""
    return float(np.real(np.sum(np.conj(a) * b)))


def check(lib, function, inputs, seed=0, order=2, rtol=1e-4, atol=1e-5):
    """Assert that the gradients of `function(*inputs)` are right; returns how many were checked.

    function: tensors -> list of tensors. inputs: leaf tensors, double precision, that require grad.
    """
    rng = np.random.default_rng(seed)
    outputs = [t for t in function(*inputs) if t.requires_grad]
    if not outputs or not inputs:
        return 0
    weights = _weights(outputs, rng)
    bases = [_values(t) for t in inputs]

    def scalar(*arrays):
        made = [_like(lib, a, t) for a, t in zip(arrays, inputs)]
        seen = [t for t in function(*made) if t.requires_grad]
        return sum(_real_dot(w, _values(t)) for w, t in zip(weights, seen))

    tensors = [lib.tensor(w.tolist(), dtype=t.dtype).reshape(t.shape) for w, t in
               zip(weights, outputs)]  # fmt: skip
    grads = lib.autograd.grad(outputs, inputs, tensors, create_graph=order > 1, allow_unused=True)
    checked = 0
    for i, grad in enumerate(grads):
        direction = rng.standard_normal(bases[i].shape)
        if inputs[i].is_complex():
            direction = direction + 1j * rng.standard_normal(bases[i].shape)
        moved = [[b + s * EPS * direction if j == i else b for j, b in enumerate(bases)]
                 for s in (1, -1)]  # fmt: skip
        numeric = (scalar(*moved[0]) - scalar(*moved[1])) / (2 * EPS)
        exact = 0.0 if grad is None else _real_dot(_values(grad), direction)
        assert np.isclose(exact, numeric, rtol, atol), (
            f"input {i}, order {3 - order}: {exact} by the formula, {numeric} numerically"
        )
        checked += 1
    if order > 1:
        known = [i for i, g in enumerate(grads) if g is not None and g.requires_grad]
        if known:

            def gradients(*again):
                out = [t for t in function(*again) if t.requires_grad]
                got = lib.autograd.grad(out, list(again), tensors, create_graph=True,
                                        allow_unused=True)  # fmt: skip
                return [got[i] for i in known if got[i] is not None]

            checked += check(lib, gradients, inputs, seed + 1, 1, rtol * 10, atol * 10)
    return checked


def _like(lib, array, tensor):
    made = lib.tensor(array.tolist(), dtype=tensor.dtype).reshape(tensor.shape)
    return made.requires_grad_(tensor.requires_grad)
