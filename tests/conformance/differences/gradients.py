"""Gradients."""

from . import OnSome, Rule, Shown

PIECEWISE = ["special", "complex rest", "odd gradients", "transposed gradients", "twice"]

# Whose gradients, recorded with create_graph=True, are other operators than in PyTorch.
OWN_FORMULAS = (
    "_pack_padded_sequence bilinear cholesky_inverse conv_tbc corrcoef cosine_embedding_loss cov "
    "ctc_loss.IntList ctc_loss.Tensor det embedding_bag embedding_bag.padding_idx fft_hfft "
    "fft_hfft2 fft_hfftn frexp gradient grid_sample grid_sampler grid_sampler_2d grid_sampler_3d "
    "gru.data gru.input gru_cell ldexp linalg_cond.p_str linalg_det linalg_eig linalg_eigh "
    "linalg_eigvalsh linalg_householder_product linalg_lstsq linalg_lu linalg_lu_factor "
    "linalg_lu_factor_ex linalg_lu_solve linalg_matrix_exp linalg_qr linalg_slogdet "
    "linalg_solve_triangular linalg_svd logcumsumexp logdet lstm.data lstm.input lstm_cell lu "
    "lu_solve lu_unpack matrix_exp multi_margin_loss multilabel_margin_loss mvlgamma nextafter "
    "orgqr ormqr pca_lowrank pdist poisson_nll_loss qr quantile renorm rnn_relu.data "
    "rnn_relu.input rnn_relu_cell rnn_tanh.data rnn_tanh.input rnn_tanh_cell rrelu rrelu_ "
    "scaled_dot_product_attention slogdet special_log_ndtr special_zeta special_zeta.self_scalar "
    "svd svd_lowrank"
)

RULES = [
    Rule(
        "Bessel functions of float16 have gradients",
        "outcome",
        operators="special_i1 special_i1e i1",
        here="ok",
        there=r"NotImplementedError: \"i1e?_backward\" not implemented for 'Half'",
        witness="""
            v0 = lib.ones(2, dtype=lib.float16, requires_grad=True)
            lib.special.i1(v0).sum().backward()
        """,
    ),
    Rule(
        "The gradient of `ldexp` knows negative exponents",
        "grad.values twice.values",
        operators="ldexp ldexp_",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            lib.ldexp(v0, lib.tensor([1, -1])).sum().backward()
        """,
    ),
    Rule(
        "What fails in a check inside of PyTorch works",
        "outcome log grad_fn",
        there=".*INTERNAL ASSERT.*",
        witness=[
            """
            v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True); v1 = v0 * 1
            v2 = lib.view_as_real(v1)
            with lib.inference_mode():
                v1.mul_(2)
            """,
            "lib.ones(3, 4).index_put([], lib.ones(4))",
            """
            def f():
                try:
                    lib.ones(3, 4).index_put([], lib.ones(4))
                except RuntimeError as error:
                    log.append(str(error)[:40])
            f()
            """,
        ],
    ),
    Rule(
        "What fails in a check inside of PyTorch works",
        "outcome",
        operators="conv_tbc",
        here="ok",
        there="RuntimeError: view size is not compatible .*",
        witness="""
            v0 = lib.ones(3, 2, 5).permute(2, 1, 0)
            lib.conv_tbc(v0, lib.ones(3, 3, 4), lib.ones(4), 1)
        """,
    ),
    Rule(
        "What fails in a check inside of PyTorch works",
        "outcome",
        there=r"RuntimeError: Expected isFloatingType\(grad.scalar_type\(\)\) .*",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            with lib.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t * (1 + 1j)):
                v1 = v0.exp()
            v1.sum().backward()
        """,
    ),
    Rule(
        "What fails in a check inside of PyTorch works",
        "outcome",
        operators="addr",
        cases=["complex first"],
        here="ok",
        there="RuntimeError: addmv input tensors must have the same dtype, .*",
        witness="""
            v0 = lib.ones(2, 3, dtype=lib.complex64, requires_grad=True)
            v1 = lib.ones(2, requires_grad=True); v2 = lib.ones(3)
            lib.addr(v0, v1, v2).abs().sum().backward()
        """,
    ),
    Rule(
        "`linalg.cond` has gradients",
        "outcome backward grad",
        operators="linalg_cond linalg_cond.p_str",
        witness="""
            v0 = (lib.eye(2) * 2).requires_grad_()
            lib.linalg.cond(v0, 1).backward()
        """,
    ),
    Rule(
        "The gradient of `det` of a singular matrix is its cofactors",
        "grad.values",
        operators="det linalg_det",
        witness="""
            v0 = lib.ones(2, 2, requires_grad=True)
            v0.det().backward()
        """,
    ),
    Rule(
        "Gradients broadcast",
        "outcome",
        operators="backward grad",
        here="ok",
        there="RuntimeError: output with shape .* doesn't match the broadcast shape .*",
        witness=[
            """
            v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
            lib.clamp(v0, v1, v0).sum().backward()
            """,
            """
            v0 = lib.ones(2, 1, requires_grad=True); v1 = lib.ones(2, 3)
            v2, = lib.autograd.grad(lib.clamp(v0, v1, v0).sum(), v0)
            """,
        ],
    ),
    Rule(
        "`acosh_`, `asinh_` and `atanh_` have gradients",
        "grad_fn saved backward grad",
        operators="acosh_ asinh_ atanh_",
        cases=["in-place recorded", "program"],
        witness="""
            v0 = lib.ones(2, requires_grad=True) * 2
            v0.acosh_()
        """,
    ),
    Rule(
        "More operators have second derivatives",
        "outcome",
        here="ok",
        there="NotImplementedError: the derivative for "
        "'_(cdist|pdist|embedding_bag)_backward' is not implemented|"
        "RuntimeError: derivative for aten::(hardsigmoid|multi_margin_loss|multilabel_margin_loss|"
        "_embedding_bag_per_sample_weights|_scaled_dot_product_flash_attention_for_cpu|"
        "rrelu_with_noise)_backward is not implemented|"
        "RuntimeError: cannot reshape tensor of 0 elements into shape .* ambiguous",
        witness=[
            """
            F = lib.nn.functional; G = lib.autograd.grad; v0 = lib.ones(3, 2, requires_grad=True)
            v1 = lib.ones(0, 2, 2, requires_grad=True); i = lib.ones(0, 2, dtype=lib.int64)
            G(G(F.embedding(i, v0), v0, v1, create_graph=True)[0].sum(), v1)
            """,
            """
            G = lib.autograd.grad; v0 = lib.tensor([[1.0], [3.0]], requires_grad=True)
            G(G(lib.cdist(v0, v0).sum(), v0, create_graph=True)[0].sum(), v0)
            """,
            """
            F = lib.nn.functional; G = lib.autograd.grad; v0 = lib.zeros(2, requires_grad=True)
            G(G(F.hardsigmoid(v0).exp().sum(), v0, create_graph=True)[0].sum(), v0)
            """,
        ],
    ),
    Rule(
        "More operators have second derivatives",
        "graph grad_fn",
        there=".*'CdistBackwardBackward0'.*",
        witness="""
            v0 = lib.tensor([[1.0], [3.0]], requires_grad=True)
            v1, = lib.autograd.grad(lib.cdist(v0, v0).sum(), v0, create_graph=True)
        """,
    ),
    Rule(
        "More operators have second derivatives",
        "graph grad_fn",
        here=".*'HardsigmoidBackwardBackward0'.*",
        there=".*'NotImplemented'.*",
        witness="""
            v0 = lib.zeros(2, requires_grad=True)
            v1 = lib.nn.functional.hardsigmoid(v0)
            v2, = lib.autograd.grad(v1.exp().sum(), v0, create_graph=True)
        """,
    ),
    Rule(
        "More operators have second derivatives",
        "outcome",
        operators="layer_norm",
        cases=["twice"],
        here="ok",
        there="RuntimeError: Expected a proper Tensor but got None .*",
        witness="""
            F = lib.nn.functional; G = lib.autograd.grad; v1 = lib.ones(3, requires_grad=True)
            v0 = lib.tensor([[1.0, 2.0, 4.0]], requires_grad=True); o = {"create_graph": True}
            G(sum(map(lib.sum, G(F.layer_norm(v0, (3,), None, v1).exp().sum(), [v0, v1], **o))), v0)
        """,
    ),
    Rule(
        "`embedding` by frequency has no second derivative",
        "outcome",
        operators="embedding",
        cases=["twice", "variant"],
        here="RuntimeError: embedding: no second derivative with scale_grad_by_freq=True",
        there="ok",
        witness="""
            F = lib.nn.functional; G = lib.autograd.grad; v0 = lib.ones(3, 2, requires_grad=True)
            i = lib.tensor([0, 0]); options = {"scale_grad_by_freq": True}
            G(G(F.embedding(i, v0, **options).exp().sum(), v0, create_graph=True)[0].sum(), v0)
        """,
    ),
    Shown(
        "Third derivatives of norms are complete",
        "grad.values",
        witness="""
            G = lambda y, x: lib.autograd.grad(y, x, create_graph=True)[0]
            v0 = lib.tensor([[0.5, -1.0, 2.0]], dtype=lib.float64, requires_grad=True)
            w = lib.tensor([[1.0, 2.0, -1.0]], dtype=lib.float64)
            y = (lib.nn.functional.layer_norm(v0, (3,)) ** 3 * w).sum()
            z = (G((G(y, v0) * w).sum(), v0) ** 2).sum()
            z.backward()
        """,
    ),
    Shown(
        "Second derivatives of convolutions are one node",
        "grad_fn",
        witness="""
            v0 = lib.ones(1, 2, 3, requires_grad=True); v1 = lib.ones(2, 1, 2, requires_grad=True)
            y = lib.nn.functional.conv1d(v0, v1, groups=2).exp()
            v2, = lib.autograd.grad(y.sum(), v1, create_graph=True)
            v3, = lib.autograd.grad(v2.sum(), v0, create_graph=True)
        """,
    ),
    Rule(
        "Second derivatives have formulas of their own",
        "graph grad_fn",
        operators=OWN_FORMULAS,
        cases=["graph"],
        witness="""
            v0 = lib.eye(2).requires_grad_(); v1 = lib.tensor(1.0, requires_grad=True)
            v2, = lib.autograd.grad(v0.det(), v0, v1, create_graph=True)
        """,
    ),
    Rule(
        "`as_strided_scatter` has the gradient of what was not replaced",
        "grad.values",
        operators="as_strided_scatter",
        witness="""
            v0 = lib.zeros(3, requires_grad=True)
            v0.as_strided_scatter(lib.ones(1), (1,), (1,)).sum().backward()
        """,
    ),
    Rule(
        "`as_strided_scatter` has the gradient of what was not replaced",
        "outcome",
        operators="as_strided_scatter",
        cases=["variant"],
        here="ok",
        witness="""
            v0 = lib.ones(2, 3).t().requires_grad_()
            v0.as_strided_scatter(lib.ones(1), (1,), (1,)).sum().backward()
        """,
    ),
    Rule(
        "`as_strided_scatter` has the gradient of what was not replaced",
        "graph grad_fn",
        operators="as_strided_scatter",
        cases=["graph"],
        witness="""
            G = lib.autograd.grad; v0 = lib.ones(3); v1 = lib.ones(1, requires_grad=True)
            w = lib.ones(3, requires_grad=True)
            v2, = G(v0.as_strided_scatter(v1, (1,), (1,)), v1, w, create_graph=True)
        """,
    ),
    Rule(
        "The gradient of `sgn` is zeros",
        "grad.values",
        there=r"RuntimeError: tolist\(\) shouldn't be called on a tensor with unallocated storage",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            v0.sgn().sum().backward()
        """,
    ),
    Shown(
        "Every argument of a custom function has its own gradient",
        "grad_fn",
        witness="""
            class F(lib.autograd.Function):
                @staticmethod
                def forward(ctx, x, y):
                    y.mul_(2)
                    ctx.mark_dirty(y)
                    return y
                @staticmethod
                def backward(ctx, g):
                    return g * 3, g * 5
            v0 = lib.ones(2, requires_grad=True); v1 = lib.ones(2, requires_grad=True)
            v2 = v1.clone()
            F.apply(v0, v2[:])
        """,
    ),
    Rule(
        "A write to an operand of `kron` is noticed",
        "outcome",
        here="RuntimeError: one of the variables .*which is output 0 of UnsafeView, .*",
        there="ok",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2
            v2 = lib.kron(v1, v1)
            v1.detach().add_(1)
            v2.sum().backward()
        """,
    ),
    Rule(
        "Where infinite and NaN gradients meet zeros",
        "grad.values",
        operators="conv1d conv1d.padding conv2d conv2d.padding cumprod linalg_vander "
        "multi_margin_loss prod",
        cases=["special"],
        witness="""
            v0 = lib.tensor([2.0, lib.inf, 0.0, 0.0], requires_grad=True)
            lib.cumprod(v0, 0).sum().backward()
        """,
    ),
    Rule(
        "Where infinite and NaN gradients meet zeros",
        "grad.values",
        operators="baddbmm bmm mm matmul einsum cumprod batch_norm gru_cell linalg_lstsq "
        "linalg_lu_solve lu_solve linalg_solve linalg_solve_ex",
        cases=["odd gradients"],
        witness="""
            v0 = lib.full((2, 3), 1 + 1j, dtype=lib.complex128)
            v1 = lib.ones(3, 4, dtype=lib.complex128, requires_grad=True)
            g = lib.zeros(2, 4, dtype=lib.complex128); g[0, 0] = lib.inf
            lib.mm(v0, v1).backward(g)
        """,
    ),
    Rule(
        "Where infinite and NaN gradients meet zeros",
        "grad.values values",
        operators="conv3d conv3d.padding conv_transpose1d conv_transpose2d conv_transpose3d "
        "_convolution convolution _upsample_bicubic2d_aa _upsample_bilinear2d_aa.vec "
        "upsample_bicubic2d upsample_bilinear2d upsample_linear1d upsample_trilinear3d",
        cases=["special"],
        witness="""
            v0 = lib.ones(1, 1, 1, 4, 4, requires_grad=True)
            v1 = lib.ones(1, 1, 1, 2, 2); v1[0, 0, 0, 0, 0] = lib.inf
            lib.nn.functional.conv3d(v0, v1).sum().backward()
        """,
    ),
    Rule(
        "Where infinite and NaN gradients meet zeros",
        "grad.values",
        operators="grid_sample grid_sampler grid_sampler_2d instance_norm "
        "_upsample_bilinear2d_aa.vec upsample_bilinear2d upsample_linear1d upsample_trilinear3d",
        cases=["odd gradients"],
        witness="""
            v0 = lib.arange(9.0).view(1, 1, 3, 3)
            v1 = lib.tensor([[[[0.3, 0.2]]]], requires_grad=True)
            v2 = lib.full((1, 1, 1, 1), lib.inf)
            lib.grid_sampler(v0, v1, 0, 0, True).backward(v2)
        """,
    ),
    Shown(
        "The gradient of `CrossMapLRN2d` is that of its values",
        "grad.values",
        witness="""
            v0 = lib.arange(20.0).view(1, 5, 2, 2).requires_grad_()
            lib.nn.CrossMapLRN2d(3, 0.1)(v0).sum().backward()
        """,
    ),
    Rule(
        "The gradient of `interpolate` is that of its values",
        "grad.values",
        operators="upsample_nearest1d upsample_nearest3d _upsample_bilinear2d_aa "
        "_upsample_bicubic2d_aa",
        witness="""
            v0 = lib.arange(3.0).view(1, 1, 3).requires_grad_()
            upsample_nearest1d = lib.nn.functional.interpolate
            upsample_nearest1d(v0, scale_factor=1.3).sum().backward()
        """,
    ),
    OnSome(
        "Where a piecewise function meets NaN",
        "grad.values",
        operators="celu elu selu hardswish",
        cases=["special"],
        witness="""
            v0 = lib.tensor([lib.nan] + [-0.5] * 15, dtype=lib.float64, requires_grad=True)
            lib.nn.functional.elu(v0).sum().backward()
        """,
    ),
    OnSome(
        "Where a piecewise function meets NaN",
        "grad.values",
        operators="hardtanh hardshrink softshrink",
        cases=PIECEWISE,
        witness="""
            v0 = lib.full((9,), lib.nan, dtype=lib.float64, requires_grad=True)
            lib.nn.functional.hardtanh(v0).sum().backward()
        """,
    ),
    Rule(
        "Where `logcumsumexp` has a gradient of 0 or meets infinity",
        "values grad.values",
        operators="logcumsumexp",
        cases=["twice", "complex", "complex first"],
        there=".*nan.*",
        witness="""
            v0 = lib.tensor([1.0, 2.0, 0.5], requires_grad=True)
            g = lib.tensor([1.0, 1.0, 0.0], requires_grad=True)
            v1 = (lib.autograd.grad(lib.autograd.grad(
                v0.logcumsumexp(0), v0, g, create_graph=True)[0].sum(), g)[0])
        """,
    ),
    Rule(
        "Where a distance is NaN",
        "values grad.values",
        operators="cdist pdist",
        cases=["special"],
        witness="""
            v0 = lib.tensor([[lib.nan, 1.0]]); v1 = lib.zeros(1, 2)
            v2 = lib.cdist(v0, v1, lib.inf)
        """,
    ),
    Rule(
        "Gradients are new tensors",
        "is_view based",
        operators="grad",
        here="False",
        there="True",
        witness="""
            v0 = lib.ones(2, 2, requires_grad=True)
            v1, = lib.autograd.grad(v0.trace(), v0)
        """,
    ),
    Rule(
        "Gradients are new tensors",
        "grad.version",
        here=r"\d+",
        there=r"\d+",
        witness="""
            v0 = lib.ones(2, 2, requires_grad=True)
            v0.trace().backward()
            see("grad.version", v0.grad._version)
        """,
    ),
    Rule(
        "Gradients are new tensors",
        "grad.strides",
        operators="linalg_solve_triangular grad",
        cases=["variant"],
        witness="""
            v0 = lib.eye(3, dtype=lib.complex64)
            v1 = lib.ones(3, 2, dtype=lib.complex64, requires_grad=True)
            v2 = lib.linalg.solve_triangular(v0, v1, upper=True)
            see("grad.strides", lib.autograd.grad(v2, v1, v0[:, :2])[0].stride())
        """,
    ),
    Shown(
        "`gradcheck` compares every result",
        "outcome",
        witness="""
            v0 = lib.ones(2, dtype=lib.float64, requires_grad=True)
            lib.autograd.gradcheck(lambda x: (x.detach(), x * 2), v0, fast_mode=True)
        """,
    ),
    Shown(
        "`gradcheck` compares every result",
        "outcome",
        witness="""
            v0 = lib.ones(2, dtype=lib.float64, requires_grad=True)
            lib.autograd.gradgradcheck(lambda x: x.detach(), v0)
        """,
    ),
    Shown(
        "`gradcheck` compares every result",
        "requires_grad is_leaf grad_fn strides is_view based",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            jacobian = lib.autograd.functional.jacobian
            v1 = jacobian(lambda x: x * x, v0, vectorize=True, strategy="forward-mode")
        """,
    ),
]
