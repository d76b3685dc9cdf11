"""What `benchmarks/large.py` times: statements over large arrays, by name.

In a statement a letter is an array of about `n` elements (INPUTS says which), `lib` the library,
`F` its `nn.functional`. A row is the statement, the dtype of the arrays and, where the arithmetic
and not the memory bounds it, the number of operations by `n`.
"""

from dataclasses import dataclass

import numpy as np

SIZES = 16_384, 262_144, 2_097_152


@dataclass(frozen=True)
class Row:
    """A statement, its dtype, what it costs, and whether it is timed with backward, too."""

    code: str
    dtype: str = "float32"
    flops: object = None  # a function of n
    backward: bool = False


def sides(n):
    """Rows and columns of a matrix of n elements."""
    rows = 1 << (n.bit_length() - 1) // 2
    return rows, n // rows


# ---- the arrays: functions of the generator, n, rows and columns ---------------------------------


def _normal(*shape):
    return lambda g, n, r, k: g.standard_normal([_size(s, n, r, k) for s in shape])


def _between(low, high, *shape):
    return lambda g, n, r, k: g.uniform(low, high, [_size(s, n, r, k) for s in shape])


def _whole(high, *shape):
    return lambda g, n, r, k: g.integers(
        0, _size(high, n, r, k), [_size(s, n, r, k) for s in shape]
    )


def _size(word, n, r, k):
    return eval(word, {"n": n, "r": r, "k": k}) if isinstance(word, str) else word


def _definite(shape):
    def make(g, n, r, k):
        a = g.standard_normal([_size(s, n, r, k) for s in shape])
        return a @ a.swapaxes(-1, -2) / a.shape[-1] + np.eye(a.shape[-1])

    return make


# Letter: (maker, which dtype, what makes a view of it). "own" is the row's dtype.
INPUTS = {
    "x": (_normal("n"), "own"), "y": (_normal("n"), "own"), "z": (_normal("n"), "own"),
    "p": (_between(0.05, 0.95, "n"), "own"), "q": (_between(1, 9, "n"), "own"),
    "o": (_normal("n"), "own"),  # written to
    "A": (_normal("r", "k"), "own"), "B": (_normal("r", "k"), "own"),
    "C": (_between(0.05, 0.95, "r", "k"), "own"), "O": (_normal("r", "k"), "own"),
    "T": (_normal("k", "r"), "own", "T.t()"),  # transposed
    "S": (_normal("r", "k + 16"), "own", "S[:, 8:-8]"),  # rows of a wider matrix
    "H": (_normal("r", "2 * k"), "own", "H[:, ::2]"),  # every other element
    "R": (_normal(1, "k"), "own"), "K": (_normal("r", 1), "own"),
    "w": (_between(0.5, 1.5, "k"), "own"), "b": (_normal("k"), "own"),
    "M": (_normal("r", "r"), "own"), "N": (_normal("r", "r"), "own"),
    "v": (_normal("r"), "own"),
    "D": (_normal("n // 256", 16, 16), "own"), "E": (_normal("n // 256", 16, 16), "own"),
    "G": (_normal("n // 4096", 64, 64), "own"), "J": (_normal("n // 4096", 64, 64), "own"),
    "P": (_definite(("r // 2", "r // 2")), "own"), "Q": (_definite(("n // 256", 16, 16)), "own"),
    "X": (_normal("n // 8192", 8, 32, 32), "own"),  # images
    "Y": (_normal("n // 8192", 64, 16, 8), "own"),  # smaller ones of more channels
    "U": (_normal(16, 8, 3, 3), "own"), "V": (_normal(8, 1, 3, 3), "own"),
    "W": (_normal(64, 64, 1, 1), "own"), "L": (_normal("n // 8192", 8, 1024), "own"),
    "Z": (_normal(16, 8, 5), "own"),
    "a": (_normal("n // 16384", 4, 128, 32), "own"),  # queries, keys, values
    "c": (_normal("n // 16384", 4, 128, 32), "own"),
    "d": (_normal("n // 16384", 4, 128, 32), "own"),
    "s": (_normal("n // 1024", 1024), "own"),  # signals
    "f": (_normal("n // 1024", 1024), "complex64"),
    "m": (_whole(2, "r", "k"), "bool"), "l": (_whole(2, "n"), "bool"),
    "i": (_whole("r", "r", "k"), "int64"), "j": (_whole("r", "r"), "int64"),
    "e": (_whole("k", "r", "k"), "int64"), "u": (_whole("n", "n"), "int64"),
    "t": (_whole("k", "r"), "int64"), "h": (_whole(1000, "n"), "int64"),
}  # fmt: skip


def _named(codes, dtype="float32"):
    """Rows of statements, each named by itself and the dtype."""
    return {f"{code}, {dtype}": Row(code, dtype) for code in codes}


LOOPS = (
    *("x + y", "x - y", "x * y", "x / y", "x * 2.5", "1 - x", "x // q", "x % q", "lib.fmod(x, q)"),
    *("p ** x", "x ** 2", "x ** 3", "p ** 0.5", "lib.atan2(x, y)", "lib.hypot(x, y)"),
    *("lib.maximum(x, y)", "lib.minimum(x, y)", "lib.fmax(x, y)", "lib.copysign(x, y)"),
    *("lib.logaddexp(x, y)", "lib.xlogy(x, p)", "lib.lerp(x, y, 0.3)", "lib.addcmul(x, y, z)"),
    *("lib.addcdiv(x, y, q)", "x.clamp(-1, 1)", "lib.clamp(x, y, z)", "lib.where(l, x, y)"),
    *("x == y", "x < y", "x >= 0.5", "x.isnan()", "x.isfinite()", "lib.isclose(x, y)"),
    *("-x", "x.abs()", "x.sign()", "x.square()", "p.sqrt()", "p.rsqrt()", "q.reciprocal()"),
    *("x.floor()", "x.round()", "x.trunc()", "x.frac()", "x.exp()", "x.exp2()", "x.expm1()"),
    *("p.log()", "p.log2()", "p.log10()", "p.log1p()", "x.sin()", "x.cos()", "x.tan()"),
    *("p.asin()", "p.acos()", "x.atan()", "x.sinh()", "x.cosh()", "x.tanh()", "p.atanh()"),
    *("x.asinh()", "q.acosh()", "x.sigmoid()", "x.erf()", "x.erfc()", "p.erfinv()", "q.lgamma()"),
    *("q.digamma()", "p.logit()", "x.i0()", "x.sinc()", "x.nan_to_num()", "lib.heaviside(x, y)"),
    *("x.relu()", "F.relu6(x)", "F.leaky_relu(x)", "F.elu(x)", "F.selu(x)", "F.celu(x)"),
    *("F.gelu(x)", "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)", "F.softplus(x)"),
    *("F.logsigmoid(x)", "F.hardswish(x)", "F.hardtanh(x)", "F.hardsigmoid(x)"),
    *("F.softshrink(x)", "F.threshold(x, 0.1, 1)", "F.prelu(A, b)", "F.glu(A)"),
    *("o.add_(x)", "o.mul_(-1)", "o.clamp_(-1, 1)", "o.relu_()", "lib.add(x, y, out=o)"),
)
LAYOUTS = (
    *("A + R", "A + K", "A * R", "A * K", "R + K", "A + T", "A + S", "A + H", "T + T", "S * S"),
    *("T.exp()", "S.exp()", "H.exp()", "T.relu()", "A < R", "lib.where(m, A, R)", "A.clone()"),
    *("H.neg()", "T.contiguous()", "S.contiguous()", "H.contiguous()", "O.copy_(T)", "O.copy_(R)"),
    *("S.add_(R)", "T.sum()", "S.sum(1)", "H.sum(1)", "T.softmax(1)", "T.max(1)"),
)
REDUCTIONS = (
    *("x.sum()", "A.sum(0)", "A.sum(1)", "x.mean()", "A.mean(0)", "A.mean(1)", "q.prod()"),
    *("x.max()", "x.argmax()", "A.max(0)", "A.max(1)", "A.amax(0)", "A.amax(1)", "A.argmin(1)"),
    *("x.aminmax()", "x.var()", "A.var(0)", "A.var(1)", "A.std(1)", "lib.var_mean(A, 1)"),
    *("x.norm()", "A.norm(dim=0)", "A.norm(dim=1)", "A.norm(1, 1)", "A.logsumexp(1)"),
    *("A.logsumexp(0)", "x.any()", "A.all(1)", "lib.count_nonzero(x)", "x.nansum()"),
    *("x.median()", "A.median(1)", "lib.dist(x, y)", "A.softmax(1)", "A.softmax(0)"),
    *("A.log_softmax(1)", "A.log_softmax(0)", "x.cumsum(0)", "A.cumsum(0)", "A.cumsum(1)"),
    *("A.cumprod(1)", "A.cummax(1)", "A.logcumsumexp(1)", "A.diff()", "lib.cdist(A, A[:64])"),
)
NETWORKS = (
    *("F.layer_norm(A, (A.shape[1],), w, b)", "F.rms_norm(A, (A.shape[1],), w)"),
    *("F.batch_norm(X, None, None, training=True)", "F.group_norm(X, 2)", "F.instance_norm(X)"),
    *("F.normalize(A)", "F.mse_loss(x, y)", "F.l1_loss(x, y)", "F.smooth_l1_loss(x, y)"),
    *("F.huber_loss(x, y)", "F.cross_entropy(A, t)", "F.nll_loss(A, t)"),
    "F.kl_div(A, C, reduction='batchmean')",
    *("F.binary_cross_entropy(p, p)", "F.binary_cross_entropy_with_logits(x, p)"),
    *("F.cosine_similarity(A, B)", "F.embedding(j, A)", "F.embedding_bag(i[:, :8], A)"),
    *("F.max_pool2d(X, 2)", "F.avg_pool2d(X, 2)", "F.adaptive_avg_pool2d(X, 4)"),
    *("F.max_pool2d(X, 3, 2, 1)", "F.interpolate(X, scale_factor=2)", "F.pad(X, (1, 1, 1, 1))"),
    *("F.interpolate(X, scale_factor=2, mode='bilinear')", "F.pad(X, (2, 2, 2, 2), 'reflect')"),
    *("F.pad(X, (2, 2, 2, 2), 'circular')", "F.unfold(X, 3, padding=1)"),
    *("F.pixel_shuffle(X, 2)", "F.dropout(x, 0.3)"),
)
MOVES = (
    *("x.clone()", "o.fill_(1.5)", "lib.zeros_like(x)", "lib.ones_like(x)", "o.copy_(x)"),
    *("lib.arange(x.numel())", "lib.cat((A, B))", "lib.cat((A, B), 1)", "lib.stack((A, B))"),
    *("lib.stack((A, B), -1)", "x.flip(0)", "A.flip(1)", "A.flip(0)", "A.roll(3, 1)", "x.roll(3)"),
    *("A.repeat(1, 2)", "A.repeat_interleave(2, 1)", "A.tile(2, 1)", "A.tril()", "M.triu()"),
    *("A.t().contiguous()", "X.permute(0, 2, 3, 1).contiguous()", "A.rot90()", "A.reshape(-1)"),
    *("A.gather(1, e)", "A.gather(0, i)", "O.scatter(1, e, A)", "O.scatter_add(0, i, A)"),
    *("A.index_select(0, j)", "A.index_select(1, j)", "x.take(u)", "x[u]", "A[j]", "A[:, j]"),
    *("O.index_add(0, j, A)", "O.index_copy(0, j, A)", "A.masked_fill(m, 0.0)"),
    *("A.masked_select(m)", "x[l]", "l.nonzero()", "o.index_put((u,), x)", "lib.diag(v)"),
    *("A.sort(1)", "x.sort()", "A.sort(0)", "A.argsort(1)", "A.topk(10, 1)", "x.topk(100)"),
    *("A.kthvalue(5, 1)", "lib.searchsorted(v.sort()[0], x)", "lib.bucketize(x, v.sort()[0])"),
    *("h.unique()", "lib.bincount(h)", "x.histc(64)", "lib.combinations(v[:64])"),
)
RANDOM = (
    *("lib.rand(x.shape)", "lib.randn(x.shape)", "lib.randint(9, x.shape)", "o.uniform_()"),
    *("o.normal_()", "p.bernoulli()", "o.bernoulli_(0.3)", "o.exponential_()"),
    *("lib.randperm(x.numel())", "C.multinomial(8)"),
)
# By statement: the operations of arithmetic for n elements, and the backward pass.
ARITHMETIC = {
    "M @ N": lambda n: 2 * sides(n)[0] ** 3,
    "M.t() @ N": lambda n: 2 * sides(n)[0] ** 3,
    "M @ N.t()": lambda n: 2 * sides(n)[0] ** 3,
    "M @ v": None,
    "v @ M": None,
    "x @ y": None,
    "lib.outer(v, v)": None,
    "lib.addmm(M, M, N)": lambda n: 2 * sides(n)[0] ** 3,
    "F.linear(A, A[:64])": lambda n: 128 * n,
    "F.linear(M[:1], M)": None,
    "F.linear(M[:3], M)": None,
    "F.linear(M[:8], M)": None,
    "M[:3] @ N": None,
    "M[:8] @ N": None,
    "lib.bmm(D, E)": lambda n: 32 * n,
    "lib.bmm(G, J)": lambda n: 128 * n,
    "G @ J.transpose(1, 2)": lambda n: 128 * n,
    "lib.einsum('bij,bjk->bik', G, J)": lambda n: 128 * n,
    "F.conv2d(X, U, padding=1)": lambda n: 2 * 16 * 9 * n,
    "F.conv2d(X, V, padding=1, groups=8)": lambda n: 2 * 9 * n,
    "F.conv2d(X, U, padding=1, stride=2)": lambda n: 8 * 9 * n,
    "F.conv2d(Y, W)": lambda n: 2 * 64 * n,
    "F.conv1d(L, Z)": lambda n: 2 * 16 * 5 * n,
    "F.conv_transpose2d(X, U.transpose(0, 1))": lambda n: 2 * 16 * 9 * n,
    "F.scaled_dot_product_attention(a, c, d)": lambda n: 4 * 128 * n,
    "F.scaled_dot_product_attention(a, c, d, is_causal=True)": lambda n: 2 * 128 * n,
    "lib.fft.fft(f)": lambda n: 50 * n,
    "lib.fft.rfft(s)": lambda n: 25 * n,
    "lib.fft.irfft(f)": lambda n: 50 * n,
    "lib.fft.fft2(f)": None,
    "lib.linalg.inv(P)": lambda n: 2 * (sides(n)[0] // 2) ** 3,
    "lib.linalg.solve(P, P)": lambda n: 8 / 3 * (sides(n)[0] // 2) ** 3,
    "lib.linalg.cholesky(P)": lambda n: (sides(n)[0] // 2) ** 3 / 3,
    "lib.linalg.qr(P[:, :64])": None,
    "lib.linalg.eigvalsh(P[:128, :128])": None,
    "lib.linalg.svdvals(P[:128, :128])": None,
    "lib.linalg.inv(Q)": None,
    "lib.linalg.cholesky(Q)": None,
    "lib.linalg.det(Q)": None,
}
# The statements that run in other dtypes, too.
IN_DTYPES = {
    "float64": ("x + y", "x.exp()", "x.tanh()", "x.sum()", "A.softmax(1)", "A.sum(0)", "M @ N",
                "A.cumsum(1)", "A.sort(1)", "F.layer_norm(A, (A.shape[1],), w, b)", "A.max(1)",
                "lib.rand(x.shape)", "T.contiguous()", "x < y", "F.conv2d(X, U, padding=1)"),
    "float16": ("x + y", "x * 2.5", "x.exp()", "x.relu()", "x.sum()", "A.sum(1)", "A.softmax(1)",
                "M @ N", "x.float()", "x < y", "lib.cat((A, B))", "T.contiguous()", "A.max(1)",
                "F.gelu(x)", "F.layer_norm(A, (A.shape[1],), w, b)", "A.gather(1, e)",
                "F.linear(A, A[:64])", "F.linear(M[:1], M)"),
    "bfloat16": ("x + y", "x * 2.5", "x.exp()", "x.relu()", "x.sum()", "A.sum(1)", "A.softmax(1)",
                 "M @ N", "x.float()", "x < y", "lib.cat((A, B))", "T.contiguous()", "A.max(1)",
                 "F.gelu(x)", "F.layer_norm(A, (A.shape[1],), w, b)", "A.gather(1, e)",
                 "F.linear(A, A[:64])", "F.linear(M[:1], M)",
                 "F.scaled_dot_product_attention(a, c, d)"),
    "int64": ("x + y", "x * y", "x // q", "x % q", "x == y", "x & y", "x << 2", "x.sum()",
              "A.sum(0)", "A.max(1)", "x.max()", "A.cumsum(1)", "x.sort()", "x.float()", "x.abs()",
              "x.clone()", "lib.where(l, x, y)", "A.gather(1, e)", "T.contiguous()",
              "x.clamp(2, 5)", "x.half()"),
    "bool": ("x & y", "x | y", "~x", "x.any()", "x.all()", "x.sum()", "A.any(1)", "x.float()",
             "x.logical_not()", "lib.cat((A, B))"),
    "float32": ("x.double()", "x.half()", "x.to(lib.bfloat16)", "x.long()", "x.bool()",
                "T.half()", "H.half()", "S.to(lib.bfloat16)"),
}  # fmt: skip
BACKWARD = {
    *("x + y", "x * y", "x / y", "p ** x", "A + R", "A * K", "x.exp()", "x.tanh()", "x.sigmoid()"),
    *("x.relu()", "F.gelu(x)", "F.silu(x)", "p.log()", "lib.where(l, x, y)", "x.clamp(-1, 1)"),
    *("x.sum()", "A.mean(1)", "A.max(1)", "A.softmax(1)", "A.log_softmax(1)", "A.cumsum(1)"),
    *("A.var(1)", "A.logsumexp(1)", "F.layer_norm(A, (A.shape[1],), w, b)", "F.group_norm(X, 2)"),
    *("F.batch_norm(X, None, None, training=True)", "F.mse_loss(x, y)", "F.cross_entropy(A, t)"),
    *("F.embedding(j, A)", "F.max_pool2d(X, 2)", "F.avg_pool2d(X, 2)", "lib.cat((A, B))"),
    *("A.gather(1, e)", "A[j]", "M @ N", "lib.bmm(G, J)", "F.linear(A, A[:64])"),
    *("F.conv2d(X, U, padding=1)", "F.conv2d(X, V, padding=1, groups=8)"),
    "F.scaled_dot_product_attention(a, c, d)",
}


def _rows():
    rows = {}
    for group in (LOOPS, LAYOUTS, REDUCTIONS, NETWORKS, MOVES, RANDOM, ARITHMETIC):
        rows |= _named(group)
    for dtype, codes in IN_DTYPES.items():
        rows |= _named(codes, dtype)
    found = {}
    for name, row in rows.items():
        flops = ARITHMETIC.get(row.code)
        found[name] = Row(row.code, row.dtype, flops)
        if row.dtype == "float32" and row.code in BACKWARD:
            found[f"{name}, and backward"] = Row(row.code, row.dtype, flops, backward=True)
    return found


ROWS = _rows()
