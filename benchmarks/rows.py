"""What is timed on 4 elements: for every operator a statement, and the same in NumPy by hand.

`a b c` are float32 vectors of 4 elements, `s` in (0, 1), `m n` 2×2 matrices, `i j` int64, `p q`
bool, `k` an index vector, `g` above 1, `w` complex, `h` an ndarray, `o` and `v` written to;
`B` a batch of one matrix, `x` a vector of 2, `y` class numbers, `t` targets 0 or 1; `C` one channel
of 4, `X` of 2×2, with weights `D` and `Y`; `r` and `e` means and variances; `P` positive definite;
`G` and `H` weights of gates; `V` a volume, `Q` and `R` where to look in `X`, `S` four channels; `f`
and `A` bfloat16.
None: NumPy has no such thing in one line.
"""

import numpy

CREATE = {
    "tensor": ("lib.tensor([1.0, 2.0, 3.0, 4.0])", "np.array([1.0, 2.0, 3.0, 4.0], 'f')"),
    "as_tensor": ("lib.as_tensor(h)", "np.asarray(h)"),
    "from_numpy": ("lib.from_numpy(h)", None),
    "scalar_tensor": ("lib.scalar_tensor(2.0)", "np.array(2.0, 'f')"),
    "empty": ("lib.empty(4)", "np.empty(4, 'f')"),
    "zeros": ("lib.zeros(4)", "np.zeros(4, 'f')"),
    "ones": ("lib.ones(4)", "np.ones(4, 'f')"),
    "full": ("lib.full((4,), 2.0)", "np.full(4, 2.0, 'f')"),
    "empty_like": ("lib.empty_like(a)", "np.empty_like(a)"),
    "zeros_like": ("lib.zeros_like(a)", "np.zeros_like(a)"),
    "ones_like": ("lib.ones_like(a)", "np.ones_like(a)"),
    "full_like": ("lib.full_like(a, 2.0)", "np.full_like(a, 2.0)"),
    "new_empty": ("a.new_empty(4)", "np.empty(4, 'f')"),
    "new_zeros": ("a.new_zeros(4)", "np.zeros(4, 'f')"),
    "new_ones": ("a.new_ones(4)", "np.ones(4, 'f')"),
    "new_full": ("a.new_full((4,), 2.0)", "np.full(4, 2.0, 'f')"),
    "new_tensor": ("a.new_tensor([1.0, 2.0, 3.0, 4.0])", "np.array([1.0, 2.0, 3.0, 4.0], 'f')"),
    "arange": ("lib.arange(4)", "np.arange(4)"),
    "linspace": ("lib.linspace(0, 1, 4)", "np.linspace(0, 1, 4, dtype='f')"),
    "eye": ("lib.eye(2)", "np.eye(2, dtype='f')"),
    "tril": ("m.tril()", "np.tril(m)"),
    "triu": ("m.triu()", "np.triu(m)"),
    "rand": ("lib.rand(4)", "rng.random(4, 'f')"),
    "randn": ("lib.randn(4)", "rng.standard_normal(4, 'f')"),
    "rand_like": ("lib.rand_like(a)", "rng.random(4, 'f')"),
    "randn_like": ("lib.randn_like(a)", "rng.standard_normal(4, 'f')"),
    "randint": ("lib.randint(9, (4,))", "rng.integers(9, size=4)"),
    "randint_like": ("lib.randint_like(a, 9)", "rng.integers(9, size=4).astype('f')"),
    "randperm": ("lib.randperm(4)", "rng.permutation(4)"),
    "normal": ("lib.normal(a, s)", "rng.normal(a, s)"),
    "bernoulli": ("s.bernoulli()", "(rng.random(4, 'f') < s).astype('f')"),
    "multinomial": ("s.multinomial(2)", None),
    "uniform_": ("o.uniform_()", "rng.random(dtype='f', out=o)"),
    "normal_": ("o.normal_()", "rng.standard_normal(dtype='f', out=o)"),
    "bernoulli_": ("o.bernoulli_(0.5)", None),
    "random_": ("o.random_()", None),
}

POINTWISE = {
    "hypot": ("lib.hypot(a, b)", "np.hypot(a, b)"),
    "logaddexp": ("lib.logaddexp(a, b)", "np.logaddexp(a, b)"),
    "xlogy": ("lib.xlogy(a, s)", "a * np.log(s)"),
    "logaddexp2": ("lib.logaddexp2(a, b)", "np.logaddexp2(a, b)"),
    "heaviside": ("lib.heaviside(a, b)", "np.heaviside(a, b)"),
    "nextafter": ("lib.nextafter(a, b)", "np.nextafter(a, b)"),
    "gcd": ("lib.gcd(i, j)", "np.gcd(i, j)"),
    "lcm": ("lib.lcm(i, j)", "np.lcm(i, j)"),
    "ldexp": ("lib.ldexp(a, b)", "a * np.exp2(b)"),
    "frexp": ("lib.frexp(a)", "np.frexp(a)"),
    "lgamma": ("a.lgamma()", None),
    "digamma": ("a.digamma()", None),
    "polygamma": ("lib.polygamma(1, s)", None),
    "mvlgamma": ("g.mvlgamma(2)", None),
    "igamma": ("lib.igamma(g, s)", None),
    "igammac": ("lib.igammac(g, s)", None),
    "special_zeta": ("lib.special.zeta(g, s)", None),
    "erfinv": ("s.erfinv()", None),
    "special_erfcx": ("lib.special.erfcx(a)", None),
    "special_ndtr": ("lib.special.ndtr(a)", None),
    "special_ndtri": ("lib.special.ndtri(s)", None),
    "special_log_ndtr": ("lib.special.log_ndtr(a)", None),
    "special_entr": ("lib.special.entr(s)", "-s * np.log(s)"),
    "special_xlog1py": ("lib.special.xlog1py(a, s)", "a * np.log1p(s)"),
    "i0": ("a.i0()", "np.i0(a)"),
    "special_i0e": ("lib.special.i0e(a)", None),
    "special_i1": ("lib.special.i1(a)", None),
    "special_i1e": ("lib.special.i1e(a)", None),
    "special_modified_bessel_i0": ("lib.special.modified_bessel_i0(a)", None),
    "special_modified_bessel_i1": ("lib.special.modified_bessel_i1(a)", None),
    "special_spherical_bessel_j0": ("lib.special.spherical_bessel_j0(a)", "np.sin(a) / a"),
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
    "bitwise_left_shift": ("i << j", "i << j"),
    "bitwise_right_shift": ("i >> j", "i >> j"),
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
    "trace": ("m.trace()", "np.trace(m)"),
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
    "var_mean": ("lib.var_mean(a)", "(a.var(ddof=1), a.mean())"),
    "std_mean": ("lib.std_mean(a)", "(a.std(ddof=1), a.mean())"),
    "norm": ("a.norm()", "np.linalg.norm(a)"),
    "logsumexp": ("m.logsumexp(1)", None),
    "logcumsumexp": ("m.logcumsumexp(1)", "np.logaddexp.accumulate(m, 1)"),
    "quantile": ("m.quantile(0.3, 1)", "np.quantile(m, 0.3, 1)"),
    "nanmedian": ("m.nanmedian()", "np.nanmedian(m)"),
    "mode": ("m.mode(1)", None),
    "renorm": ("m.renorm(2, 0, 1.0)", None),
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
    "bmm": ("lib.bmm(B, B)", "np.matmul(B, B)"),
    "mv": ("lib.mv(m, x)", "np.matmul(m, x)"),
    "addmm": ("lib.addmm(m, m, n)", "m + m @ n"),
    "baddbmm": ("lib.baddbmm(B, B, B)", "B + B @ B"),
    "addmv": ("lib.addmv(x, m, x)", "x + m @ x"),
    "einsum": ("lib.einsum('ij,jk->ik', m, n)", "np.einsum('ij,jk->ik', m, n)"),
    "linear": ("F.linear(m, n)", "m @ n.T"),
    "cat": ("lib.cat([a, b])", "np.concatenate([a, b])"),
    "stack": ("lib.stack([a, b])", "np.stack([a, b])"),
    "clone": ("a.clone()", "a.copy()"),
    "contiguous": ("m.t().contiguous()", "np.ascontiguousarray(m.T)"),
    "repeat": ("a.repeat(2)", "np.tile(a, 2)"),
    "flip": ("a.flip(0)", "a[::-1].copy()"),
    "roll": ("a.roll(1)", "np.roll(a, 1)"),
    "gather": ("a.gather(0, k)", "np.take_along_axis(a, k, 0)"),
    "scatter": ("a.scatter(0, k, b)", None),
    "scatter_add": ("a.scatter_add(0, k, b)", None),
    "index_select": ("a.index_select(0, k)", "np.take(a, k, 0)"),
    "index_add": ("a.index_add(0, k, b)", None),
    "masked_fill": ("a.masked_fill(p, 0)", "np.where(p, 0, a)"),
    "masked_select": ("a.masked_select(p)", "a[p]"),
    "take_along_dim": ("a.take_along_dim(k, 0)", "np.take_along_axis(a, k, 0)"),
    "index": ("a[k]", "a[k]"),
    "index_list": ("a[[0, 2]]", "a[[0, 2]]"),
    "index_mask": ("a[p]", "a[p]"),
    "index_put_": ("o[k] = b", "o[k] = b"),
    "setitem": ("o[1:3] = 0.5", "o[1:3] = 0.5"),
    "sort": ("a.sort()", "np.sort(a); np.argsort(a)"),
    "argsort": ("a.argsort()", "np.argsort(a)"),
    "topk": ("a.topk(2)", None),
    "nonzero": ("a.nonzero()", "np.argwhere(a)"),
    "unique": ("a.unique()", "np.unique(a)"),
    "one_hot": ("F.one_hot(k, 4)", "np.eye(4, dtype='l')[k]"),
    "item": ("a[0].item()", "a[0].item()"),
}
NEURAL = {
    "conv1d": ("F.conv1d(C, D)", None),
    "conv2d": ("F.conv2d(X, Y)", None),
    "conv_transpose2d": ("F.conv_transpose2d(X, Y)", None),
    "interpolate": ("F.interpolate(X, scale_factor=2, mode='bilinear')", None),
    "max_pool2d": ("F.max_pool2d(X, 2)", "X.max((2, 3), keepdims=True)"),
    "avg_pool2d": ("F.avg_pool2d(X, 2)", "X.mean((2, 3), keepdims=True)"),
    "adaptive_avg_pool2d": ("F.adaptive_avg_pool2d(X, 1)", "X.mean((2, 3), keepdims=True)"),
    "batch_norm": ("F.batch_norm(m, r, e)", "(m - r) / np.sqrt(e + 1e-5)"),
    "batch_norm, training": ("F.batch_norm(m, None, None, training=True)", None),
    "layer_norm": ("F.layer_norm(m, (2,))", None),
    "instance_norm": ("F.instance_norm(X)", None),
    "rms_norm": ("lib.rms_norm(m, (2,))", None),
    "group_norm": ("F.group_norm(m, 1)", None),
    "dropout": ("F.dropout(a, 0.5, True)", "a * (rng.random(4, 'f') > 0.5) / 0.5"),
    "embedding": ("F.embedding(y, m)", "m[y]"),
    "cross_entropy": ("F.cross_entropy(m, y)", None),
    "nll_loss": ("F.nll_loss(m, y)", "-m[[0, 1], y].mean()"),
    "mse_loss": ("F.mse_loss(a, b)", "np.square(a - b).mean()"),
    "l1_loss": ("F.l1_loss(a, b)", "np.abs(a - b).mean()"),
    "binary_cross_entropy": ("F.binary_cross_entropy(s, t)", None),
    "binary_cross_entropy_with_logits": (
        "F.binary_cross_entropy_with_logits(a, t)", None),
    "pad": ("F.pad(a, (1, 1))", "np.pad(a, 1)"),
}  # fmt: skip
DECOMPOSITIONS = {
    "linalg_inv": ("lib.linalg.inv(m)", "np.linalg.inv(m)"),
    "linalg_solve": ("lib.linalg.solve(m, n)", "np.linalg.solve(m, n)"),
    "linalg_solve_triangular": ("lib.linalg.solve_triangular(m, n, upper=True)", None),
    "linalg_det": ("lib.linalg.det(m)", "np.linalg.det(m)"),
    "linalg_slogdet": ("lib.linalg.slogdet(m)", "np.linalg.slogdet(m)"),
    "linalg_cholesky": ("lib.linalg.cholesky(P)", "np.linalg.cholesky(P)"),
    "cholesky_solve": ("lib.cholesky_solve(m, P)", None),
    "linalg_qr": ("lib.linalg.qr(m)", "np.linalg.qr(m)"),
    "linalg_svd": ("lib.linalg.svd(m)", "np.linalg.svd(m)"),
    "linalg_svdvals": ("lib.linalg.svdvals(m)", "np.linalg.svdvals(m)"),
    "linalg_eigh": ("lib.linalg.eigh(P)", "np.linalg.eigh(P)"),
    "linalg_eigvalsh": ("lib.linalg.eigvalsh(P)", "np.linalg.eigvalsh(P)"),
    "linalg_eig": ("lib.linalg.eig(P)", "np.linalg.eig(P)"),
    "linalg_lu_factor": ("lib.linalg.lu_factor(m)", None),
    "linalg_lstsq": ("lib.linalg.lstsq(m, n)", None),
    "linalg_pinv": ("lib.linalg.pinv(m)", "np.linalg.pinv(m)"),
    "linalg_matrix_rank": ("lib.linalg.matrix_rank(m)", "np.linalg.matrix_rank(m)"),
    "linalg_matrix_power": ("lib.linalg.matrix_power(m, 3)", "np.linalg.matrix_power(m, 3)"),
    "linalg_matrix_exp": ("lib.linalg.matrix_exp(m)", None),
    "linalg_matrix_norm": ("lib.linalg.matrix_norm(m)", "np.linalg.norm(m)"),
    "linalg_vecdot": ("lib.linalg.vecdot(a, b)", "np.vecdot(a, b)"),
    "linalg_cross": ("lib.linalg.cross(T, T)", "np.cross(T, T)"),
}
FOURIER = {
    "fft_fft": ("lib.fft.fft(w)", "np.fft.fft(w)"),
    "fft_ifft": ("lib.fft.ifft(w)", "np.fft.ifft(w)"),
    "fft_rfft": ("lib.fft.rfft(a)", "np.fft.rfft(a)"),
    "fft_irfft": ("lib.fft.irfft(w)", "np.fft.irfft(w)"),
    "fft_fft2": ("lib.fft.fft2(m)", "np.fft.fft2(m)"),
    "fft_fftn": ("lib.fft.fftn(m)", "np.fft.fftn(m)"),
    "fft_fftshift": ("lib.fft.fftshift(a)", "np.fft.fftshift(a)"),
    "fft_fftfreq": ("lib.fft.fftfreq(4)", "np.fft.fftfreq(4)"),
    "stft": ("lib.stft(a, 2, 1, return_complex=True, window=x)", None),
    "hann_window": ("lib.hann_window(4)", "np.hanning(4)"),
}
SEQUENCES = {
    "scaled_dot_product_attention": ("F.scaled_dot_product_attention(B, B, B)", None),
    "embedding_bag": ("F.embedding_bag(y, m, y[1:])", None),
    "lstm_cell": ("lib.lstm_cell(m, (m, m), G, G)", None),
    "gru_cell": ("lib.gru_cell(m, m, H, H)", None),
    "rnn_tanh_cell": ("lib.rnn_tanh_cell(m, m, m, m)", None),
    "lstm": ("lib.lstm(B, (B, B), [G, G], False, 1, 0.0, False, False, False)", None),
    "gru": ("lib.gru(B, B, [H, H], False, 1, 0.0, False, False, False)", None),
}
MORE_NEURAL = {
    "conv3d": ("F.conv3d(V, V)", None),
    "conv_transpose1d": ("F.conv_transpose1d(C, D)", None),
    "max_pool1d": ("F.max_pool1d(C, 2)", None),
    "max_pool3d": ("F.max_pool3d(V, 1)", None),
    "avg_pool1d": ("F.avg_pool1d(C, 2)", None),
    "avg_pool3d": ("F.avg_pool3d(V, 1)", None),
    "adaptive_max_pool2d": ("F.adaptive_max_pool2d(X, 1)", "X.max((2, 3), keepdims=True)"),
    "grid_sample": ("F.grid_sample(X, R, align_corners=False)", None),
    "affine_grid": ("F.affine_grid(Q, (1, 1, 1, 2), align_corners=False)", None),
    "fold": ("F.fold(C[0], (2, 2), 1)", None),
    "unfold of images": ("F.unfold(X, 1)", None),
    "pixel_shuffle": ("F.pixel_shuffle(S, 2)", None),
    "local_response_norm": ("F.local_response_norm(X, 2)", None),
    "bilinear": ("F.bilinear(m, m, B)", None),
    "kl_div": ("F.kl_div(a, s, reduction='sum')", None),
    "huber_loss": ("F.huber_loss(a, b)", None),
    "smooth_l1_loss": ("F.smooth_l1_loss(a, b)", None),
    "soft_margin_loss": ("F.soft_margin_loss(a, b)", None),
    "multi_margin_loss": ("F.multi_margin_loss(m, y)", None),
    "margin_ranking_loss": ("F.margin_ranking_loss(a, b, c)", None),
    "triplet_margin_loss": ("F.triplet_margin_loss(m, n, m)", None),
    "cosine_embedding_loss": ("F.cosine_embedding_loss(m, n, x)", None),
    "gaussian_nll_loss": ("F.gaussian_nll_loss(a, b, s)", None),
    "poisson_nll_loss": ("F.poisson_nll_loss(a, b)", None),
    "gumbel_softmax": ("F.gumbel_softmax(a)", None),
    "alpha_dropout": ("F.alpha_dropout(a, 0.5, True)", None),
    "rrelu": ("F.rrelu(a)", "np.where(a >= 0, a, a * 0.229)"),
    "cdist": ("lib.cdist(m, n)", None),
    "pdist": ("F.pdist(m)", None),
}
STATISTICS = {
    "nanquantile": ("lib.nanquantile(a, 0.5)", "np.nanquantile(a, 0.5)"),
    "histc": ("a.histc(4)", "np.histogram(a, 4)"),
    "histogram": ("lib.histogram(a, 4)", "np.histogram(a, 4)"),
    "cov": ("lib.cov(m)", "np.cov(m)"),
    "corrcoef": ("lib.corrcoef(m)", "np.corrcoef(m)"),
    "gradient": ("lib.gradient(a)", "np.gradient(a)"),
    "trapezoid": ("lib.trapezoid(a)", "np.trapezoid(a)"),
    "cumulative_trapezoid": ("lib.cumulative_trapezoid(a)", None),
    "index_reduce": ("a.index_reduce(0, k, b, 'prod')", None),
    "unravel_index": ("lib.unravel_index(k, (2, 2))", "np.unravel_index(k, (2, 2))"),
    "combinations": ("lib.combinations(a)", None),
    "cartesian_prod": ("lib.cartesian_prod(a, b)", None),
    "block_diag": ("lib.block_diag(m, n)", None),
    "cauchy_": ("o.cauchy_()", "rng.standard_cauchy(4)"),
    "geometric_": ("o.geometric_(0.5)", "rng.geometric(0.5, 4)"),
    "log_normal_": ("o.log_normal_()", "rng.lognormal(size=4)"),
    "exponential_": ("o.exponential_()", "rng.standard_exponential(4, 'f')"),
    "poisson": ("lib.poisson(s)", "rng.poisson(s)"),
}
STORED = {
    "bfloat16: add": ("f + f", None),
    "bfloat16: mul": ("f * f", None),
    "bfloat16: exp": ("f.exp()", None),
    "bfloat16: sum": ("f.sum()", None),
    "bfloat16: to float32": ("f.float()", None),
    "bfloat16: from float32": ("a.bfloat16()", None),
    "bfloat16: matmul": ("A @ A", None),
}
BASIC = CREATE | POINTWISE | REDUCE | VIEWS | OTHER | NEURAL
SPECIAL = DECOMPOSITIONS | FOURIER | SEQUENCES | MORE_NEURAL | STATISTICS | STORED
ROWS = BASIC | SPECIAL


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
    made |= {"q": lib.tensor([True, True, False, False]), "t": lib.tensor([0.0, 1.0, 1.0, 0.0])}
    made |= {"r": lib.zeros(2), "e": lib.ones(2), "y": lib.tensor([1, 0])}
    made |= {"f": lib.tensor([0.5, 1.0, -2.0, 3.0], dtype=lib.bfloat16)}
    made |= {"A": lib.ones(2, 2, dtype=lib.bfloat16)}
    made |= {"P": lib.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=requires_grad)}
    shapes = {"B": (1, 2, 2), "C": (1, 1, 4), "D": (1, 1, 2), "X": (1, 1, 2, 2), "Y": (1, 1, 1, 1)}
    shapes |= {"T": (3,), "G": (8, 2), "H": (6, 2), "V": (1, 1, 1, 1, 1), "Q": (1, 2, 3)}
    shapes |= {"R": (1, 2, 1, 2), "S": (1, 4, 1, 1)}
    for key, shape in (shapes | {"x": (2,)}).items():
        made[key] = lib.ones(shape, requires_grad=requires_grad)
    made["h"] = numpy.ones(4, "f")
    return made | {"lib": lib, "F": lib.nn.functional}


def numpy_names(lib):
    """Return the same variables as ndarrays."""
    made = names(lib)
    arrays = {k: numpy.asarray(t) for k, t in made.items() if k not in ("lib", "F", "f", "A")}
    return arrays | {"np": numpy, "rng": numpy.random.default_rng(0)}


def _module(op):
    """Return the file of imode/ops that declares an operator."""
    where = {str(key): place for key, place in op.kernel_table.items()}
    place = next((p for k, p in where.items() if k.endswith("CPU")), None)
    return (place or op.entry.kernel.__module__).rpartition(".")[2]


def missing():
    """Return the public operators of the pointwise, reduction and view files that have no row."""
    from imode._core.dispatch import all_operators

    found = []
    for name, op in all_operators().items():
        written = name.partition(".")[0].endswith("_")  # the in-place forms are timed as methods
        derived = op.functional is not None or name.startswith("_") or op.is_composite or written
        listed = name in ROWS or name.partition(".")[0] in ROWS
        files = "sign_and_rounding", "functions", "functions_of_two"
        files += "reduce", "variance", "views", "slicing"
        if not derived and not listed and _module(op) in files:
            found.append(name)
    return found
