"""What is timed on 4 elements: for every operator a statement, and the same in NumPy by hand.

`a b c` are float32 vectors of 4 elements, `s` in (0, 1), `m n` 2×2 matrices, `i j` int64, `p q`
bool, `k` an index vector, `g` above 1, `w` complex, `o` and `v` written to.
None: NumPy has no such thing in one line.
"""

POINTWISE = {
    "hypot": ("lib.hypot(a, b)", "np.hypot(a, b)"),
    "logaddexp": ("lib.logaddexp(a, b)", "np.logaddexp(a, b)"),
    "xlogy": ("lib.xlogy(a, s)", "a * np.log(s)"),
    "copysign": ("lib.copysign(a, b)", "np.copysign(a, b)"),
    "add": ("a + b", "a + b"),
    "sub": ("a - b", "a - b"),
    "rsub": ("2 - a", "2 - a"),
    "mul": ("a * b", "a * b"),
    "div": ("a / b", "a / b"),
    "true_divide": ("lib.true_divide(a, b)", "np.true_divide(a, b)"),
    "floor_divide": ("a // b", "a // b"),
    "remainder": ("a % b", "a % b"),
    "fmod": ("lib.fmod(a, b)", "np.fmod(a, b)"),
    "pow": ("a ** 2", "a ** 2"),
    "neg": ("-a", "-a"),
    "abs": ("a.abs()", "np.abs(a)"),
    "sign": ("a.sign()", "np.sign(a)"),
    "exp": ("a.exp()", "np.exp(a)"),
    "exp2": ("a.exp2()", "np.exp2(a)"),
    "expm1": ("a.expm1()", "np.expm1(a)"),
    "log": ("s.log()", "np.log(s)"),
    "log2": ("s.log2()", "np.log2(s)"),
    "log10": ("s.log10()", "np.log10(s)"),
    "log1p": ("s.log1p()", "np.log1p(s)"),
    "sqrt": ("s.sqrt()", "np.sqrt(s)"),
    "rsqrt": ("s.rsqrt()", "1 / np.sqrt(s)"),
    "square": ("a.square()", "np.square(a)"),
    "reciprocal": ("a.reciprocal()", "np.reciprocal(a)"),
    "sin": ("a.sin()", "np.sin(a)"),
    "cos": ("a.cos()", "np.cos(a)"),
    "tan": ("a.tan()", "np.tan(a)"),
    "asin": ("s.asin()", "np.arcsin(s)"),
    "acos": ("s.acos()", "np.arccos(s)"),
    "atan": ("a.atan()", "np.arctan(a)"),
    "atan2": ("lib.atan2(a, b)", "np.arctan2(a, b)"),
    "sinh": ("a.sinh()", "np.sinh(a)"),
    "cosh": ("a.cosh()", "np.cosh(a)"),
    "tanh": ("a.tanh()", "np.tanh(a)"),
    "sigmoid": ("a.sigmoid()", "1 / (1 + np.exp(-a))"),
    "logit": ("s.logit()", "np.log(s / (1 - s))"),
    "relu": ("a.relu()", "np.maximum(a, 0)"),
    "gelu": ("F.gelu(a)", None),
    "silu": ("F.silu(a)", "a / (1 + np.exp(-a))"),
    "softplus": ("F.softplus(a)", "np.log1p(np.exp(a))"),
    "leaky_relu": ("F.leaky_relu(a)", "np.where(a > 0, a, 0.01 * a)"),
    "elu": ("F.elu(a)", "np.where(a > 0, a, np.expm1(a))"),
    "hardtanh": ("F.hardtanh(a)", "np.clip(a, -1, 1)"),
    "erf": ("a.erf()", None),
    "erfc": ("a.erfc()", None),
    "sinc": ("a.sinc()", "np.sinc(a)"),
    "sgn": ("a.sgn()", "np.sign(a)"),
    "asinh": ("a.asinh()", "np.arcsinh(a)"),
    "acosh": ("u.acosh()", "np.arccosh(u)"),
    "atanh": ("s.atanh()", "np.arctanh(s)"),
    "deg2rad": ("a.deg2rad()", "np.deg2rad(a)"),
    "rad2deg": ("a.rad2deg()", "np.rad2deg(a)"),
    "angle": ("a.angle()", "np.angle(a)"),
    "floor": ("a.floor()", "np.floor(a)"),
    "ceil": ("a.ceil()", "np.ceil(a)"),
    "round": ("a.round()", "np.round(a)"),
    "trunc": ("a.trunc()", "np.trunc(a)"),
    "frac": ("a.frac()", "a - np.trunc(a)"),
    "clamp": ("a.clamp(-1, 1)", "np.clip(a, -1, 1)"),
    "clamp_min": ("a.clamp_min(0)", "np.maximum(a, 0)"),
    "clamp_max": ("a.clamp_max(0)", "np.minimum(a, 0)"),
    "maximum": ("lib.maximum(a, b)", "np.maximum(a, b)"),
    "minimum": ("lib.minimum(a, b)", "np.minimum(a, b)"),
    "where": ("lib.where(p, a, b)", "np.where(p, a, b)"),
    "lerp": ("lib.lerp(a, b, 0.5)", "a + 0.5 * (b - a)"),
    "addcmul": ("lib.addcmul(a, b, c)", "a + b * c"),
    "addcdiv": ("lib.addcdiv(a, b, c)", "a + b / c"),
    "eq": ("a == b", "a == b"),
    "ne": ("a != b", "a != b"),
    "lt": ("a < b", "a < b"),
    "le": ("a <= b", "a <= b"),
    "gt": ("a > b", "a > b"),
    "ge": ("a >= b", "a >= b"),
    "logical_and": ("lib.logical_and(p, q)", "np.logical_and(p, q)"),
    "logical_or": ("lib.logical_or(p, q)", "np.logical_or(p, q)"),
    "logical_xor": ("lib.logical_xor(p, q)", "np.logical_xor(p, q)"),
    "logical_not": ("lib.logical_not(p)", "np.logical_not(p)"),
    "bitwise_and": ("i & j", "i & j"),
    "bitwise_or": ("i | j", "i | j"),
    "bitwise_xor": ("i ^ j", "i ^ j"),
    "bitwise_not": ("~i", "~i"),
    "isnan": ("a.isnan()", "np.isnan(a)"),
    "isinf": ("a.isinf()", "np.isinf(a)"),
    "isfinite": ("a.isfinite()", "np.isfinite(a)"),
    "isclose": ("a.isclose(b)", "np.isclose(a, b)"),
    "allclose": ("a.allclose(b)", "np.allclose(a, b)"),
    "equal": ("a.equal(b)", "np.array_equal(a, b)"),
    "add_": ("o.add_(z)", "np.add(o, z, out=o)"),
    "mul_": ("o.mul_(u)", "np.multiply(o, u, out=o)"),
    "add.out": ("lib.add(a, b, out=o)", "np.add(a, b, out=o)"),
}
REDUCE = {
    "sum": ("a.sum()", "a.sum()"),
    "sum.dim": ("m.sum(1)", "m.sum(1)"),
    "mean": ("a.mean()", "a.mean()"),
    "prod": ("a.prod()", "a.prod()"),
    "amax": ("m.amax(1)", "m.max(1)"),
    "amin": ("m.amin(1)", "m.min(1)"),
    "max": ("a.max()", "a.max()"),
    "min": ("a.min()", "a.min()"),
    "max.dim": ("m.max(1)", "m.max(1); m.argmax(1)"),
    "min.dim": ("m.min(1)", "m.min(1); m.argmin(1)"),
    "argmax": ("a.argmax()", "a.argmax()"),
    "argmin": ("a.argmin()", "a.argmin()"),
    "any": ("p.any()", "p.any()"),
    "all": ("p.all()", "p.all()"),
    "var": ("a.var()", "a.var(ddof=1)"),
    "std": ("a.std()", "a.std(ddof=1)"),
    "norm": ("a.norm()", "np.linalg.norm(a)"),
    "logsumexp": ("m.logsumexp(1)", None),
    "cumsum": ("a.cumsum(0)", "a.cumsum(0)"),
    "cumprod": ("a.cumprod(0)", "a.cumprod(0)"),
    "softmax": ("m.softmax(1)", None),
    "log_softmax": ("m.log_softmax(1)", None),
    "nansum": ("a.nansum()", "np.nansum(a)"),
    "count_nonzero": ("a.count_nonzero()", "np.count_nonzero(a)"),
}
VIEWS = {
    "split_with_sizes": ("a.split([1, 3])", "np.split(a, [1])"),
    "view_as_real": ("lib.view_as_real(w)", "w.view('f').reshape(4, 2)"),
    "view_as_complex": ("lib.view_as_complex(m)", "m.view('F').reshape(2)"),
    "t_": ("v.t_()", None),
    "transpose_": ("v.transpose_(0, 1)", None),
    "unsqueeze_": ("v.unsqueeze_(0).squeeze_(0)", None),
    "squeeze_": ("v.squeeze_(0)", None),
    "as_strided_": ("v.as_strided_((2, 2), (2, 1))", None),
    "detach_": ("v.detach_()", None),
    "view": ("a.view(2, 2)", "a.reshape(2, 2)"),
    "reshape": ("a.reshape(2, 2)", "a.reshape(2, 2)"),
    "view_as": ("a.view_as(m)", "a.reshape(m.shape)"),
    "expand": ("a.expand(3, 4)", "np.broadcast_to(a, (3, 4))"),
    "expand_as": ("a.expand_as(a)", "np.broadcast_to(a, a.shape)"),
    "permute": ("m.permute(1, 0)", "m.transpose(1, 0)"),
    "transpose": ("m.transpose(0, 1)", "m.swapaxes(0, 1)"),
    "t": ("m.t()", "m.T"),
    "T": ("m.T", "m.T"),
    "mT": ("m.mT", "m.mT"),
    "unsqueeze": ("a.unsqueeze(0)", "a[None]"),
    "squeeze": ("a.squeeze()", "a.squeeze()"),
    "select": ("a.select(0, 1)", "a[1:2].reshape(())"),
    "narrow": ("a.narrow(0, 1, 2)", "a[1:3]"),
    "slice": ("a[1:3]", "a[1:3]"),
    "diagonal": ("m.diagonal()", "m.diagonal()"),
    "split": ("a.split(2)", "np.split(a, 2)"),
    "chunk": ("a.chunk(2)", "np.array_split(a, 2)"),
    "unbind": ("m.unbind(0)", "list(m)"),
    "flatten": ("m.flatten()", "m.reshape(-1)"),
    "unflatten": ("a.unflatten(0, (2, 2))", "a.reshape(2, 2)"),
    "movedim": ("m.movedim(0, 1)", "np.moveaxis(m, 0, 1)"),
    "as_strided": ("a.as_strided((2, 2), (2, 1))", None),
    "detach": ("a.detach()", "a.view()"),
    "unfold": ("a.unfold(0, 2, 1)", "np.lib.stride_tricks.sliding_window_view(a, 2)"),
}
OTHER = {
    "matmul": ("m @ n", "m @ n"),
    "mm": ("lib.mm(m, n)", "np.matmul(m, n)"),
    "dot": ("lib.dot(a, b)", "np.dot(a, b)"),
    "outer": ("lib.outer(a, b)", "np.outer(a, b)"),
    "linear": ("F.linear(m, n)", "m @ n.T"),
    "cat": ("lib.cat([a, b])", "np.concatenate([a, b])"),
    "stack": ("lib.stack([a, b])", "np.stack([a, b])"),
    "clone": ("a.clone()", "a.copy()"),
    "contiguous": ("m.t().contiguous()", "np.ascontiguousarray(m.T)"),
    "index_select": ("a.index_select(0, k)", "np.take(a, k, 0)"),
    "gather": ("a.gather(0, k)", "np.take_along_axis(a, k, 0)"),
    "masked_fill": ("a.masked_fill(p, 0)", "np.where(p, 0, a)"),
    "index": ("a[k]", "a[k]"),
    "flip": ("a.flip(0)", "a[::-1].copy()"),
    "sort": ("a.sort()", "np.sort(a); np.argsort(a)"),
    "zeros": ("lib.zeros(4)", "np.zeros(4, 'f')"),
    "zeros_like": ("lib.zeros_like(a)", "np.zeros_like(a)"),
    "item": ("a[0].item()", "a[0].item()"),
}
ROWS = POINTWISE | REDUCE | VIEWS | OTHER


def names(lib, requires_grad=False):
    """Return the variables of the statements, made with PyTorch's or imode's functions."""
    floats = {
        "a": [0.5, -1.25, 2.0, 0.75], "b": [1.5, 0.25, -0.5, 3.0], "c": [1.0, 2.0, 4.0, 0.5],
        "s": [0.25, 0.5, 0.75, 0.9], "m": [[0.5, 1.0], [-2.0, 0.25]], "n": [[1.0, 2.0], [3.0, 4.0]],
    }  # fmt: skip
    made = {k: lib.tensor(v, requires_grad=requires_grad) for k, v in floats.items()}
    made |= {"o": lib.zeros(4), "z": lib.zeros(4), "u": lib.ones(4)}
    made |= {"i": lib.tensor([1, 2, 3, 4]), "j": lib.tensor([5, 6, 7, 8])}
    made |= {"p": lib.tensor([True, False, True, True]), "k": lib.tensor([3, 1, 0, 2])}
    made |= {"g": lib.tensor([1.5, 2.0, 3.0, 4.0]), "v": lib.ones(2, 2)}
    made |= {"w": lib.ones(4, dtype=lib.complex64)}
    made |= {"q": lib.tensor([True, True, False, False])}
    return made | {"lib": lib, "F": lib.nn.functional}


def numpy_names(lib):
    """Return the same variables as ndarrays."""
    import numpy as np

    made = names(lib)
    return {k: t.numpy() for k, t in made.items() if k not in ("lib", "F")} | {"np": np}


def _module(op):
    """Return the file of imode/ops that declares an operator."""
    where = {str(key): place for key, place in op.kernel_table.items()}
    place = next((p for k, p in where.items() if k.endswith("CPU")), None)
    return (place or op.entry.kernel.__module__).rpartition(".")[2]


def complete():
    """Raise when a public operator of the pointwise, reduction or view files has no row."""
    from imode._core.dispatch import all_operators

    missing = []
    for name, op in all_operators().items():
        written = name.partition(".")[0].endswith("_")  # the in-place forms are timed as methods
        derived = op.functional is not None or name.startswith("_") or op.is_composite or written
        listed = name in ROWS or name.partition(".")[0] in ROWS
        if not derived and not listed and _module(op) in ("pointwise", "reduce", "views", "parts"):
            missing.append(name)
    if missing:
        raise LookupError(f"benchmarks/rows.py has no row for {', '.join(missing)}")


complete()
