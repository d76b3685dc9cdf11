"""What is refused, as PyTorch does: gradients of products of two dtypes, running statistics, sparse
factors that are no matrices, shapes that do not exist yet; and gamma numbers of no shape."""

import itertools

from .side_by_side import agrees, error


@agrees
def test_addr_by_dtypes(lib):
    """A vector's gradient is a product with the other vector: of one dtype, as `mv` wants it."""
    seen = []
    dtypes = "float32", "int64", "float64", "bool", "float16", "bfloat16"
    for first, second in itertools.product(dtypes, repeat=2):
        self, vec = lib.ones(2, 2).to(getattr(lib, first)), lib.ones(2).to(getattr(lib, second))
        w = lib.tensor([1.0, 2.0], requires_grad=True)
        for pair in ((vec, w), (w, vec), (w, w)):
            result = lib.addr(self, *pair, alpha=2)
            seen.append(error(lambda r=result, w=w: lib.autograd.grad(r.sum(), w)))
    return seen


@agrees
def test_running_statistics(lib):
    seen = []
    names = "native_batch_norm", "_native_batch_norm_legit"
    for name, training, which in itertools.product(names, (True, False), range(4)):
        mean = lib.zeros(2, requires_grad=bool(which & 1))
        var = lib.ones(2, requires_grad=bool(which & 2))
        x = lib.arange(6.0).view(3, 2)

        def call(x=x, name=name, mean=mean, var=var, training=training):
            return getattr(lib, name)(x, None, None, mean, var, training, 0.1, 1e-5)[0]

        seen += [error(call), error(lambda x=x, call=call: call(x.clone().requires_grad_()))]
        with lib.no_grad():
            seen += [call(), mean.detach(), var.detach()]
        with lib.inference_mode():
            seen.append(call(lib.ones(3, 2)).requires_grad)
        seen.append(error(lambda x=x, m=mean, v=var: lib.nn.functional.batch_norm(x, m, v)))
        if not training:
            args = x, None, None, mean, var, 0.1, 1e-5
            seen.append(error(lambda a=args: lib._native_batch_norm_legit_no_training(*a)))
    return seen


@agrees
def test_sparse_factors(lib):
    seen = []
    for a, b in itertools.product(((), (2,), (2, 2), (2, 2, 2)), repeat=2):
        if len(a) == len(b) == 3:
            continue
        for left, right in ((1, 0), (0, 1), (1, 1)):
            x, y = lib.ones(a), lib.ones(b)
            x, y = x.to_sparse() if left else x, y.to_sparse() if right else y
            for product in (lib.mm, lib.sparse.mm):
                seen.append(error(lambda x=x, y=y, f=product: f(x, y).to_dense()))
            if not left or not right:
                seen.append(error(lambda x=x, y=y: lib.mv(x, y)))
    for d in (0, -1, -2, 1):
        seen += [error(lambda d=d: lib.tensor(1.0).size(d))]
        seen += [error(lambda d=d: lib.tensor(1.0).stride(d))]
    return seen


@agrees
def test_gamma_of_any_shape(lib):
    seen = []
    for dtype in ("float32", "float64"):
        for shapes in ([-1.0, 2.0], [0.0, float("nan")], [-0.34, -3.0, -10.0], [0.5, -0.5, 3.0]):
            lib.manual_seed(0)
            seen += [lib._standard_gamma(lib.tensor(shapes, dtype=getattr(lib, dtype)))]
            seen.append(lib.rand(1))
    return seen


@agrees
def test_no_shape_yet(lib):
    parameter, buffer = lib.nn.UninitializedParameter(), lib.nn.UninitializedBuffer()
    seen = [error(lambda: parameter.shape), error(lambda: buffer.shape)]
    seen += [repr(parameter), repr(buffer), str(lib.nn.LazyLinear(2).bias), str(parameter.size())]
    parameter.materialize((2, 3))
    return [*seen, str(parameter.shape), error(lambda: lib.empty(0).shape)]
