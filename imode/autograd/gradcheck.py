"""Check derivatives against finite differences: `gradcheck`, and `gradgradcheck` for the second.

The numerical Jacobian perturbs the inputs element by element, the analytical one runs backward
row by row. For complex numbers both follow the gradients' convention: a real function of
z = x + iy has the derivative d/dx + i d/dy, and a complex result is checked as two real results.
Fast mode multiplies each Jacobian by random vectors on both sides and compares two numbers.
"""

import itertools
import math

import imode
from imode._core.user_frames import warn

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """Raised by `gradcheck` and `gradgradcheck` where derivatives are wrong."""


def gradcheck(
    func,
    inputs,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_batched_forward_grad=False,
    check_forward_ad=False,
    check_backward_ad=True,
    fast_mode=False,
    masked=None,
):
    """Compare the gradients of ``func(*inputs)`` with central differences; returns True.

    func takes tensors and returns a tensor or a tuple of them. inputs: a tensor or a tuple; those
    that require grad are checked, and should be float64 or complex128, with no two elements in the
    same memory. The check writes to them and restores their values.

    eps: the step. atol, rtol: as in `allclose`. raise_exception: False returns False instead of
    raising GradcheckError. nondet_tol: how far two runs of backward may differ.
    check_undefined_grad: also check that results without a gradient give the inputs none, or zeros.
    check_grad_dtypes: also check that a gradient has its input's dtype. check_batched_grad: no
    effect, since `grad(is_grads_batched=True)` runs backward once for each gradient. fast_mode:
    compare products with random vectors, at the cost of a few calls instead of two for each
    element. masked: gradients of zero need only give gradients close to zero.

    Raises GradcheckError where something differs, ValueError where no input requires grad,
    RuntimeError for inputs of stride 0, and NotImplementedError for check_batched_forward_grad and
    check_forward_ad: there is no forward mode.

    >>> x = imode.tensor([0.3, 0.7], dtype=imode.float64, requires_grad=True)
    >>> imode.autograd.gradcheck(imode.sin, x)
    True
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )
    if check_forward_ad:
        raise _not_there("check_forward_ad")
    check = _Check(
        func, _tuple(inputs), eps, atol, rtol, nondet_tol, check_grad_dtypes, fast_mode, masked
    )
    try:
        check.run()
        if check_undefined_grad:
            check.undefined()
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps=1e-6,
    atol=1e-5,
    rtol=1e-3,
    gen_non_contig_grad_outputs=False,
    raise_exception=True,
    nondet_tol=0.0,
    check_undefined_grad=True,
    check_grad_dtypes=False,
    check_batched_grad=False,
    check_fwd_over_rev=False,
    check_rev_over_rev=True,
    fast_mode=False,
    masked=False,
):
    """Compare the gradients of the gradients of ``func(*inputs)`` with central differences.

    grad_outputs: the gradients of the results, a tensor or a tuple; those that require grad are
    differentiated with respect to as well. None: random ones (gen_non_contig_grad_outputs: not
    contiguous). The rest is as in `gradcheck`.

    Raises what `gradcheck` raises.

    >>> x = imode.tensor([0.3, 0.7], dtype=imode.float64, requires_grad=True)
    >>> imode.autograd.gradgradcheck(imode.sin, x)
    True
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
        )
    for name, given in (
        ("check_undefined_grad", check_undefined_grad),
        ("check_batched_grad", check_batched_grad),
    ):
        if given and not check_rev_over_rev:
            raise AssertionError(f"Setting {name}=True requires check_rev_over_rev to be True")
    if check_fwd_over_rev:
        raise _not_there("check_fwd_over_rev")
    inputs = _tuple(inputs)
    if grad_outputs is None:
        grad_outputs = tuple(
            _random_like(t, gen_non_contig_grad_outputs) for t in _recorded(func(*inputs))
        )
    grad_outputs = _tuple(grad_outputs)
    n = len(inputs)
    wanted = [i for i, t in enumerate(inputs) if _tracked(t)]

    def gradients(*values):
        given = [values[i] for i in wanted]
        outputs = _recorded(func(*values[:n]))
        grads = imode.autograd.grad(
            outputs, given, values[n:], create_graph=True, allow_unused=True
        )
        return tuple(g for g in grads if g is not None)

    return gradcheck(
        gradients,
        inputs + grad_outputs,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        fast_mode=fast_mode,
        masked=masked,
    )


# ---- helpers ----


def _not_there(option):
    return NotImplementedError(
        f"{option}=True needs forward-mode differentiation, which imode does not have. Leave the "
        "option out: the gradients of backward are checked without it."
    )


def _tuple(value):
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _tracked(value):
    return isinstance(value, imode.Tensor) and value.requires_grad


def _recorded(result):
    """The results of a function that require grad."""
    return tuple(t for t in _tuple(result) if t.requires_grad)


def _floating(tensor):
    return tensor.is_floating_point() or tensor.is_complex()


def _random_like(tensor, strided):
    """Numbers in [-1, 1) that require grad; `strided`: not contiguous, with gaps."""
    dtype = tensor.dtype if _floating(tensor) else imode.float64
    made = (
        imode.empty((*tensor.shape, 2), dtype=dtype)[..., 0]
        if strided
        else imode.empty(tensor.shape, dtype=dtype)
    )
    for part in (imode.real(made), imode.imag(made)) if made.is_complex() else (made,):
        part.uniform_(-1, 1)
    return made.requires_grad_()


def _close(a, b, rtol, atol):
    dtype = imode.promote_types(a.dtype, b.dtype)
    return imode.allclose(a.to(dtype), b.to(dtype), rtol, atol)


def _direction(tensor, generator):
    """A random vector of length 1 with as many elements as `tensor`, none of them negative."""
    real = {imode.complex128: imode.float64, imode.complex64: imode.float32}
    dtype = real.get(tensor.dtype, tensor.dtype)
    vector = imode.rand(tensor.numel(), generator=generator).to(dtype)
    return vector / vector.norm()


# ---- the check ----


class _Check:
    """One run of gradcheck over one function and its inputs."""

    def __init__(self, func, inputs, eps, atol, rtol, nondet_tol, check_dtypes, fast_mode, masked):
        self.func, self.inputs = func, inputs
        self.eps, self.atol, self.rtol, self.nondet_tol = eps, atol, rtol, nondet_tol
        self.check_dtypes, self.fast_mode, self.masked = check_dtypes, fast_mode, masked
        self._look_at_inputs()
        self.leaves = [t for t in inputs if _tracked(t)]

    def _look_at_inputs(self):
        for i, t in enumerate(self.inputs):
            if not _tracked(t):
                continue
            if t.dtype not in (imode.float64, imode.complex128):
                warn(
                    f"Input #{i} requires gradient and is not a double precision floating point or "
                    f"complex. It is {t.dtype}, too coarse for differences of {self.eps}: pass "
                    "float64 or complex128 tensors, or a larger eps, atol and rtol.",
                )
            if t.numel() and any(
                step == 0 and n > 1 for step, n in zip(t.stride(), t.shape, strict=True)
            ):
                raise RuntimeError(
                    f"The {i}th input has a dimension with stride 0. gradcheck writes to each "
                    "element alone, and these share memory: call .contiguous() on the input first."
                )
        if not any(map(_tracked, self.inputs)):
            raise ValueError(
                "gradcheck expects at least one input tensor to require gradient, but none of them "
                "have requires_grad=True."
            )

    def run(self):
        """Compare the Jacobians; then check that backward is linear in the results' gradients."""
        result = _tuple(self.func(*self.inputs))
        outputs = _recorded(result)
        self.n_recorded = len(outputs)
        compare = self._compare_fast if self.fast_mode else self._compare
        if any(t.is_complex() for t in result):
            split = {i for i, t in enumerate(outputs) if t.is_complex()}
            for take, name in ((imode.imag, "imaginary"), (imode.real, "real")):
                part = self._part(take)
                compare(part, part(*self.inputs), name, split)
        else:
            compare(self.func, result, "", set())
        self._zero(outputs)

    def _part(self, take):
        """The function, with `take` (the real or imaginary part) applied to complex results."""

        def part(*values):
            results = _tuple(self.func(*values))
            return tuple(take(t) if t.is_complex() else t for t in results)

        return part

    # -- by differences --

    def _difference(self, func, entry, step, index):
        """The change of every result per unit when `entry`, part of an input, moves by `step`.

        `index`: the index of the one element that moves; None: all of them, along a vector.
        """

        def results():
            # Copies, because a result may be a view of the input that is being moved.
            return [t.clone() for t in _tuple(func(*self.inputs))]

        original = entry.clone()
        try:
            entry.copy_(original - step)
            low = results()
            entry.copy_(original + step)
            high = results()
        finally:
            entry.copy_(original)
        return [self._quotient(a, b, index) for a, b in zip(low, high, strict=True)]

    def _quotient(self, low, high, index):
        where = "" if index is None else f"on index {index} "
        for what, a, b in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
            if a != b:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are "
                    f"perturbed {where}by {self.eps}, but got: {what}s {a} and {b}."
                )
        return ((high - low) / (2 * self.eps)).detach().reshape(-1)

    def _derivative(self, func, entry, steps, index=None):
        """The derivative of every result along `steps`, of the real and of the imaginary part."""
        along = self._difference(func, entry, steps[0], index)
        if not entry.is_complex():
            return along
        across = self._difference(func, entry, steps[1] * 1j, index)
        return [x + y * 1j for x, y in zip(along, across, strict=True)]

    def _numerical(self, func, result, leaf):
        """The Jacobians of the floating point results by `leaf`: a row for each of its elements."""
        data = leaf.data  # writes to it leave the leaf's version as it is
        floating = [i for i, t in enumerate(result) if _floating(t)]
        jacobians = []
        for i in floating:
            dtype = leaf.dtype if leaf.is_complex() else result[i].dtype
            jacobians.append(imode.zeros(leaf.numel(), result[i].numel(), dtype=dtype))
        for row, index in enumerate(itertools.product(*map(range, leaf.shape))):
            columns = self._derivative(func, data[index], (self.eps, self.eps), index)
            for jacobian, i in zip(jacobians, floating, strict=True):
                jacobian[row] = columns[i]
        return jacobians

    # -- by backward --

    def _grad(self, output, grad_output):
        return imode.autograd.grad(
            output, self.leaves, grad_output, retain_graph=True, allow_unused=True
        )

    def _rows(self, output):
        """Yield the gradients of the leaves by every element of `output`."""
        weights = imode.zeros(output.shape, dtype=output.dtype)
        flat = weights.view(-1)
        for i in range(flat.numel()):
            flat.zero_()
            flat[i] = 1.0
            yield self._grad(output, weights)

    def _analytical(self, output, vector=None):
        """The Jacobian of `output` by every leaf, or its product with a vector of weights."""
        first, second = (
            self._jacobians(
                self._rows(output)
                if vector is None
                else [self._grad(output, vector.reshape(output.shape))],
                output.numel() if vector is None else 1,
            )
            for _ in range(2)
        )
        for a, b in zip(first, second, strict=True):
            if a.numel() and (a - b).abs().max() > self.nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient. Two runs differ by up to "
                    f"{(a - b).abs().max().item():.3g}, and nondet_tol is {self.nondet_tol}: raise "
                    "it where sums in another order are expected, else look for state or random "
                    "numbers in the derivative."
                )
        return first

    def _jacobians(self, rows, width):
        jacobians = [imode.zeros(t.numel(), width, dtype=t.dtype) for t in self.leaves]
        dtypes = set()
        for column, grads in enumerate(rows):
            for leaf, jacobian, grad in zip(self.leaves, jacobians, grads, strict=True):
                if grad is None:
                    continue
                if grad.shape != leaf.shape:
                    raise GradcheckError(
                        "Analytical gradient has incorrect size. It is "
                        f"{list(grad.shape)} for an input of {list(leaf.shape)}."
                    )
                dtypes.add((grad.dtype, leaf.dtype))
                jacobian[:, column] = grad.detach().reshape(-1)
        if self.check_dtypes and any(a != b for a, b in dtypes):
            raise GradcheckError(f"Gradient has dtype mismatch. (gradient, input): {dtypes}")
        return jacobians

    # -- comparing --

    def _compare(self, func, result, part, split):
        outputs = _recorded(result)
        numerical = [self._numerical(func, result, leaf) for leaf in self.leaves]
        if not outputs:
            self._expect_zero(any((c != 0).any() for columns in numerical for c in columns))
            return
        recorded = [t.requires_grad for t in result if _floating(t)]
        for i, output in enumerate(outputs):
            analytical = self._analytical(output)
            for j, a in enumerate(analytical):
                n = list(itertools.compress(numerical[j], recorded))[i]
                if not _close(a, n, self.rtol, self.atol):
                    raise GradcheckError(_mismatch(i, j, n, a, part if i in split else ""))

    def _compare_fast(self, func, result, part, split):
        outputs = _recorded(result)
        generator = imode.Generator()  # so that the default generator's state does not change
        # A complex input moves along one vector in its real part and another in the imaginary.
        along = [
            [_direction(leaf, generator) for _ in range(1 + leaf.is_complex())]
            for leaf in self.leaves
        ]
        weights = [_direction(output, generator) for output in outputs]
        numerical = []
        for leaf, vectors in zip(self.leaves, along, strict=True):
            steps = [self.eps * v.reshape(leaf.shape) for v in vectors]
            numerical.append(self._derivative(func, leaf.data, steps))
        if not outputs:
            moved = [c.abs().max() for columns in numerical for c in columns if c.numel()]
            self._expect_zero(any(m > self.nondet_tol for m in moved))
        recorded_at = [k for k, t in enumerate(result) if t.requires_grad]
        analytical = [self._analytical(o, w) for o, w in zip(outputs, weights, strict=True)]
        for j, vectors in enumerate(along):
            for i, weight in enumerate(weights):
                n = (weight * numerical[j][recorded_at[i]]).sum()
                a = _product(analytical[i][j], vectors)
                atol = self.atol * float(sum(v.sum() for v in vectors)) * float(weight.sum())
                if not _close(a, n, self.rtol, atol):
                    columns = self._numerical(func, result, self.leaves[j])
                    recorded = [t.requires_grad for t in result if _floating(t)]
                    n = list(itertools.compress(columns, recorded))[i]
                    exact = self._analytical(outputs[i])[j]
                    note = (
                        "Fast mode compared their products with random vectors; all elements "
                        "agree, so that fast_mode=False passes.\n"
                        if _close(exact, n, self.rtol, self.atol)
                        else ""
                    )
                    at = part if i in split else ""
                    raise GradcheckError(_mismatch(i, j, n, exact, at) + note)

    @staticmethod
    def _expect_zero(depends):
        if depends:
            raise GradcheckError(
                "Numerical gradient for function expected to be zero. Its results do not require "
                "grad, yet they depend on the inputs: is something detached, or computed under "
                "no_grad?"
            )

    def _zero(self, outputs):
        """Check that zero gradients of the results give zeros of the inputs' dtype and shape."""
        zeros = [imode.zeros(t.shape, dtype=t.dtype) for t in outputs]
        grads = imode.autograd.grad(outputs, self.leaves, zeros, allow_unused=True)
        for grad in grads:
            if grad is None:
                continue
            near = imode.allclose(grad, imode.zeros_like(grad)) if self.masked else False
            if not near and not (grad == 0).all():
                raise GradcheckError(
                    "backward not multiplied by grad_output. Where the gradient of the results is "
                    "zero, that of the inputs must be."
                )

    def undefined(self):
        """Check that missing gradients of results count as zeros."""
        n = self.n_recorded
        way = "Pass check_undefined_grad=False where that cannot happen."
        for missing in [range(n), *([i] for i in range(n) if n > 1)]:
            outputs = [
                imode.ops._undefined_grad(t) if i in missing else t
                for i, t in enumerate(_recorded(self.func(*self.inputs)))
            ]
            zeros = [imode.zeros(t.shape, dtype=t.dtype) for t in outputs]
            try:
                grads = imode.autograd.grad(outputs, self.leaves, zeros, allow_unused=True)
            except RuntimeError as error:
                raise GradcheckError(
                    "Expected backward function to handle undefined output grads. It got None for "
                    f"a gradient, and raised: {error}\n{way}"
                ) from error
            if any(g is not None and not (g == 0).all() for g in grads):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    f"undefined or zero. {way}"
                )


def _product(jacobian, vectors):
    """The product of a one-column Jacobian and the direction in which the input moved."""
    column = jacobian.reshape(-1)
    if not column.is_complex():
        return (column * vectors[0]).sum()
    real, imaginary = imode.real(column), imode.imag(column)
    return (real * vectors[0]).sum() + 1j * (imaginary * vectors[1]).sum()


def _mismatch(output, leaf, numerical, analytical, part):
    prefix = f"While considering the {part} part of complex outputs only, " if part else ""
    gap = (numerical - analytical).abs().max().item() if numerical.numel() else math.nan
    return (
        f"{prefix}Jacobian mismatch for output {output} with respect to input {leaf},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
        f"They differ by up to {gap:.3g}: a row for each element of the input, a "
        "column for each of the output.\n"
    )
