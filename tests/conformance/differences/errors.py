"""Which mistake is named."""

from . import OnSome, Rule

RULES = [
    Rule(
        "What is no tensor is refused by its type",
        "outcome",
        operators="split split.parts split.sections split.sizes norm tensordot glu huber_loss "
        "l1_loss mse_loss smooth_l1_loss binary_cross_entropy adaptive_avg_pool2d "
        "adaptive_max_pool2d stft affine_grid",
        cases=["bad"],
        here="TypeError: .*",
        there="AttributeError: .* has no attribute .*",
        witness="lib.nn.functional.glu(3)",
    ),
    Rule(
        "What is no tensor is refused by its type",
        "outcome",
        operators="adaptive_avg_pool2d adaptive_max_pool2d",
        cases=["bad"],
        here="TypeError: .*argument 'output_size' .*",
        there="ValueError: .*",
        witness="lib.nn.functional.adaptive_avg_pool2d(lib.ones(1, 2, 6, 7), 'text')",
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="native_group_norm",
        cases=["bad"],
        here="RuntimeError: Expected X.numel.*",
        there="RuntimeError: (mixed dtype|Trying to create|Expected number|Expected weight).*",
        witness="""
            v0 = lib.ones(4)
            lib.native_group_norm(lib.ones(2, 3).long(), v0, v0, 2, 4, 3, 2, 1e-5)
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="_dirichlet_grad",
        cases=["bad"],
        here="RuntimeError: Found dtype .*",
        there="RuntimeError: The size of tensor a .*",
        witness="lib._dirichlet_grad(lib.ones(2, 3).long(), lib.ones(2), lib.ones(2))",
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="replication_pad1d",
        cases=["bad"],
        here="RuntimeError: Padding by .* is more than a size can be",
        there="RuntimeError: input .W: .* is too small.*",
        witness="lib.ops.aten.replication_pad1d(lib.ones(5, 6), [2**62, 2**62])",
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="stft",
        cases=["bad"],
        here='(TypeError|ValueError|NotImplementedError): (stft|Overflow|"reflection).*',
        there="(ValueError: (cannot convert|only one)|(RuntimeError|TypeError): (Argument|pad)).*",
        witness="lib.stft(lib.ones(2, 3, dtype=lib.bool), 8, return_complex=True)",
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="histogram.bins_tensor histogramdd histogramdd.int_bins _histogramdd_bin_edges "
        "_histogramdd_from_bin_cts",
        cases=["bad"],
        here=r"\w*Error: .*",
        there=r"\w*Error: .*|ok",
        witness="lib.histogram(lib.ones(3), lib.ones(2, 3, dtype=lib.int64))",
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="conv1d.padding",
        cases=["bad"],
        here="RuntimeError: Given groups=1, weight of size .*",
        there="RuntimeError: Input type .* and weight type .* should be the same",
        witness="""
            v0 = lib.ones(2, 3, dtype=lib.complex64); v1 = lib.ones(4, 3, 4)
            lib.nn.functional.conv1d(v0, v1, padding="same")
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="conv1d.padding",
        cases=["variant"],
        there="ok",
        witness="""
            v0 = lib.ones(0, 3, 3, dtype=lib.int64); v1 = lib.ones(4, 3, 3, dtype=lib.float64)
            lib.nn.functional.conv1d(v0, v1, lib.ones(4).half(), padding="valid")
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        operators="binary_cross_entropy",
        cases=["special", "ties"],
        here="RuntimeError: all elements of input should be between 0 and 1",
        there="RuntimeError: all elements of target should be between 0 and 1",
        witness="""
            v0 = lib.tensor([0.5, 2]); v1 = lib.tensor([2, 0.5])
            lib.nn.functional.binary_cross_entropy(v0, v1)
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        here=r"IndexError: index -?\d+ is out of bounds for dimension 0 with size 0",
        there=r"IndexError: (index .* is out of bounds .*|select\(\) cannot be applied .*)",
        witness="""
            v0, v1 = lib.tensor([-1, 2]).min(0)
            v2 = v0[1]
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "outcome",
        here=r"IndexError: slice\(\) cannot be applied to a 0-dim tensor",
        witness="""
            v0 = lib.ones(2, requires_grad=True) * 1; v1, v2 = v0.unbind()
            v0.mul_(2)
            v1[:0] = 3
        """,
    ),
    Rule(
        "Of two mistakes another one is named",
        "others",
        here=".*Trying to use a saved tensor that has been detached in-place.*",
        there=".*has been modified by an inplace operation.*",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2; v2 = v1 * v1
            v1.detach_().mul_(2)
            v9 = saved(v2)
        """,
    ),
    Rule(
        "Networks name their mistakes by what was expected",
        "outcome",
        operators="max_pool2d_with_indices.nn max_pool3d_with_indices.nn",
        cases=["bad"],
        here="TypeError: .*",
        there=r"\w*Error: .*|ok",
        witness="lib.nn.functional.max_pool2d_with_indices("
        "lib.ones(1, 2, 2), 2, return_indices='text')",
    ),
    Rule(
        "Networks name their mistakes by what was expected",
        "outcome",
        operators="_pack_padded_sequence _pad_packed_sequence adaptive_avg_pool3d "
        "adaptive_max_pool3d adaptive_max_pool3d_with_indices affine_grid_generator "
        "alpha_dropout alpha_dropout_ bilinear conv_transpose1d ctc_loss.IntList "
        "ctc_loss.Tensor embedding_bag embedding_bag.padding_idx feature_alpha_dropout "
        "feature_alpha_dropout_ grid_sample grid_sampler grid_sampler_2d "
        "grid_sampler_3d gru.data gru.input gru_cell hinge_embedding_loss instance_norm "
        "linear_cross_entropy lstm.data lstm_cell max_pool3d_with_indices "
        "max_pool3d_with_indices.nn unravel_index rnn_relu.data rnn_relu.input "
        "rnn_relu_cell rnn_tanh.data rnn_tanh.input rnn_tanh_cell rrelu_",
        cases=["bad"],
        here=r"\w*(Error|Exception): .*",
        there=r"\w*(Error|Exception): .*",
        witness="lib.embedding_bag(lib.ones(0), lib.zeros(5, dtype=lib.int64), "
        "lib.zeros(3, dtype=lib.int64))",
    ),
    Rule(
        "Modes that are no modes are refused",
        "outcome",
        operators="grid_sampler grid_sampler_2d grid_sampler_3d",
        cases=["bad"],
        here="RuntimeError: .*unknown mode .*",
        there="ok",
        witness="lib.grid_sampler(lib.ones(2, 2, 3, 4), lib.ones(2, 3, 2, 2), -1, 0, True)",
    ),
    Rule(
        "What a convolution does not use is not looked at",
        "outcome",
        operators="convolution",
        cases=["bad"],
        here="ok",
        there="RuntimeError: .*output_padding.*",
        witness="lib.convolution(lib.ones(1, 2, 5), lib.ones(2, 2, 3), None, [1], [1], [1], False, "
        "[-1], 1)",
    ),
    Rule(
        "Networks name their mistakes by what was expected",
        "outcome",
        operators="embedding_bag gru.data gru_cell rnn_relu.data rnn_tanh.data",
        cases=["bad"],
        here="RuntimeError: (Expected tensor for argument #1 'indices'|output with shape|.*expected"
        " a bias).*",
        there="ok",
        witness="lib.embedding_bag(lib.ones(6, 3), lib.zeros(2, 3, dtype=lib.bool), "
        "lib.zeros(3, dtype=lib.int64))",
    ),
    OnSome(
        "Decompositions name another of two mistakes",
        "outcome",
        operators="lu_unpack",
        cases=["bad"],
        here="RuntimeError: pivots passed to lu_unpack .*",
        there="ok",
        witness="lib.lu_unpack(lib.ones(2, 3, 4, 5, 6), lib.ones(120, dtype=lib.int32)[:3])",
    ),
    Rule(
        "Decompositions of nothing refuse float16 and bfloat16, too",
        "outcome",
        cases=["half", "variant"],
        operators="det linalg_cholesky linalg_cholesky_ex linalg_det linalg_eigh linalg_eigvalsh "
        "linalg_ldl_factor linalg_ldl_factor_ex linalg_lu linalg_lu_factor "
        "linalg_lu_factor_ex linalg_lu_solve linalg_solve linalg_solve_ex linalg_svd "
        "linalg_svdvals",
        here="NotImplementedError: .* not implemented for 'Half'",
        there="ok",
        witness="""
            v0 = lib.zeros(0, 0).half()
            lib.det(v0)
        """,
    ),
    Rule(
        "`solve_triangular` refuses operands of two dtypes",
        "outcome",
        operators="linalg_solve_triangular",
        here="RuntimeError: linalg.solve_triangular: Expected A and B to have the same dtype, .*",
        there="ok",
        witness="""
            v0 = lib.eye(2)
            lib.linalg.solve_triangular(v0, v0.double(), upper=True)
        """,
    ),
    Rule(
        "Decompositions name another of two mistakes",
        "outcome",
        operators="cholesky_solve linalg_eig linalg_eigvals linalg_householder_product "
        "linalg_ldl_solve linalg_lstsq linalg_pinv.atol_rtol_tensor "
        "linalg_pinv.rcond_tensor linalg_solve linalg_solve_ex "
        "linalg_tensorsolve orgqr ormqr pca_lowrank svd_lowrank",
        cases=["bad"],
        here=r"\w*(Error|Exception): .*",
        there=r"\w*(Error|Exception): .*",
        witness="lib.linalg.householder_product(lib.ones(4, 3), lib.ones(()))",
    ),
    Rule(
        "Decompositions name another of two mistakes",
        "outcome",
        operators="linalg_matrix_rank svd_lowrank",
        cases=["bad"],
        here="(OverflowError|TypeError): .*",
        there="ok",
        witness="lib.svd_lowrank(lib.ones(5, 3), True)",
    ),
]
