"""Numbers at the edges, views, and what is computed in another way."""

from . import Rule, Shown

RULES = [
    Rule(
        "`mode` counts in order",
        "values grad.values",
        operators="mode",
        witness="""
            v0, v1 = lib.tensor([lib.nan, 1.0, lib.nan, 1.0]).mode()
        """,
    ),
    Rule(
        "Conjugation is done at once",
        "is_view based base is_inference version shares_memory_with",
        operators="adjoint conj fft_ifft fft_ihfft fft_ihfft2 fft_ihfftn",
        witness=[
            """
            v0 = lib.ones(2, 2, dtype=lib.complex64)
            v1 = v0.adjoint()
            """,
            """
            v0 = lib.ones(2, 2, dtype=lib.complex64)
            with lib.inference_mode():
                v1 = v0.conj()
            """,
        ],
    ),
    Shown(
        "Conjugation is done at once",
        "is_view based base shares_memory_with",
        witness="""
            v0 = lib.ones(2, 2, dtype=lib.complex64)
            v1 = v0.mH
        """,
    ),
    Rule(
        "Halves are sampled in float32",
        "values grad.values",
        operators="grid_sample grid_sampler_2d grid_sampler_3d",
        cases=["half"],
        witness="""
            v0 = (lib.arange(32.0).view(1, 1, 4, 8) / 7).half()
            v1 = lib.tensor([[[[0.31, -0.17]]]]).half()
            v2 = lib.grid_sampler_2d(v0, v1, 2, 0, True)
        """,
    ),
    Shown(
        "`bfloat16` is rounded once",
        "values",
        witness="""
            v0 = lib.tensor([1.3, -0.7, 2.1]).bfloat16()
            v1 = lib.tensor([0.6, 1.9, -1.1]).bfloat16()
            v2 = lib.linalg.cross(v0, v1)
        """,
    ),
    Shown(
        "`uint16` to `uint64` and float8 have fewer operators",
        "outcome",
        here='NotImplementedError: "sort" not implemented for .*',
        there="ok",
        witness="v0 = lib.ones(2).to(lib.uint16).sort()",
    ),
    Rule(
        "Results are new tensors",
        "is_view based",
        operators="affine_grid affine_grid_generator as_strided_scatter conv1d conv1d.padding "
        "_convolution conv2d conv_transpose1d convolution copy diagonal_scatter embedding "
        "linalg_matrix_exp matrix_exp native_layer_norm repeat roll scaled_dot_product_attention "
        "select_scatter slice_scatter stack tile unique unique_consecutive",
        cases=["left the mode", "one left the mode"],
        here="False",
        there="True",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2)
            v1 = v0.roll(1)
        """,
    ),
    Rule(
        "Results are new tensors",
        "version",
        operators="isfinite max_pool1d one_hot linalg_matrix_rank linalg_matrix_rank.tol_tensor "
        "linalg_matrix_rank.atol_rtol_float linalg_matrix_rank.atol_rtol_tensor",
        cases=["plain", "recorded", "no_grad", "one left the mode"],
        here="0",
        there="[1-9]",
        witness="""
            see("version", lib.isfinite(lib.ones(2) * 1j)._version)
        """,
    ),
    Rule(
        "Results are new tensors",
        "version",
        operators="stft",
        cases=["left the mode"],
        here="2",
        there="4",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(8)
            see("version", lib.stft(v0, 4, center=False, return_complex=True)._version)
        """,
    ),
    Rule(
        "Where a transform meets NaN or infinity",
        "values grad.values",
        operators="fft_fft fft_ifft fft_rfft fft_irfft fft_hfft fft_ihfft stft fft",
        cases=["special", "odd gradients"],
        witness="v0 = lib.fft.fft(lib.tensor([1.0, lib.inf, 0.0, 1.0, 2.0, 3.0, 4.0, 5.0]))",
    ),
    Rule(
        "A transform of no lines is empty",
        "outcome",
        operators="fft_irfft2 fft_irfftn fft_hfft2 fft_rfft fft",
        cases=["variant"],
        here="ok",
        there="RuntimeError: MKL FFT error: .*",
        witness="v0 = lib.fft.fft(lib.ones(0, 3))",
    ),
    Shown(
        "A window is a leaf",
        "leaf",
        witness="""
            see("leaf", lib.signal.windows.hann(4, requires_grad=True).is_leaf)
        """,
    ),
    Rule(
        "Results are new tensors",
        "version",
        operators="linalg_matrix_power matrix_power",
        cases=["left the mode"],
        here="1",
        there="2",
        witness="""
            with lib.inference_mode():
                v0 = lib.ones(2, 2)
            see("version", v0.matrix_power(0)._version)
        """,
    ),
    Rule(
        "`matrix_exp` of float16 and bfloat16 is right",
        "values grad.values",
        operators="linalg_matrix_exp matrix_exp",
        cases=["half", "variant"],
        witness="""
            v0 = lib.eye(2).half()
            v1 = v0.matrix_exp()
        """,
    ),
    Rule(
        "There is no complex32",
        "dtype",
        here="complex64",
        there="complex32",
        witness="""
            v0 = lib.ones(2).half()
            v1 = lib.complex(v0, v0)
        """,
    ),
    Rule(
        "There is no complex32",
        "outcome",
        operators="view_as_complex view_as_complex_copy",
        here="RuntimeError: view_as_complex is only supported for half, float and double .*",
        witness="""
            v0 = lib.ones(2, 2).half()
            v1 = lib.view_as_complex(v0)
        """,
    ),
    Shown(
        "A negated complex zero has the opposite sign",
        "log",
        witness="""
            v0 = -lib.zeros(16, dtype=lib.complex64)
            log.append(lib.view_as_real(v0).signbit().tolist())
        """,
    ),
    Rule(
        "Special functions are more exact",
        "values grad.values",
        operators="digamma polygamma special_shifted_chebyshev_polynomial_t "
        + " ".join(
            f"special_{polynomial} special_{polynomial}.n_scalar"
            for polynomial in (
                *("chebyshev_polynomial_u", "shifted_chebyshev_polynomial_u"),
                *("chebyshev_polynomial_w", "shifted_chebyshev_polynomial_w"),
                *("laguerre_polynomial_l", "legendre_polynomial_p"),
            )
        ),
        cases=["special", "ties"],
        witness="v0 = lib.polygamma(1, lib.tensor([-1.0]))",
    ),
    *(
        Shown("Special functions are more exact", "values", witness=f"v0 = lib.{call}")
        for call in (
            "special.legendre_polynomial_p(lib.tensor([lib.nan]), 3)",
            "ldexp(lib.tensor([1e-30]), lib.tensor([200.0]))",
        )
    ),
    Rule(
        "Special functions are more exact",
        "grad.values",
        operators="special_log_ndtr backward",
        witness="""
            v0 = lib.tensor([-501.0], requires_grad=True)
            lib.special.log_ndtr(v0).backward()
        """,
    ),
    Shown(
        "Norms neither overflow nor vanish",
        "values",
        witness="""
            v0 = lib.tensor([1e30, 1e30]).norm()
        """,
    ),
    Rule(
        "The mean of numbers and an infinity is infinite",
        "values",
        operators="std_mean.correction var_mean.correction",
        cases=["special"],
        witness="""
            v0, v1 = lib.std_mean(lib.tensor([1.0, lib.inf, 2.0]))
        """,
    ),
    Rule(
        "Complex numbers are not searched for",
        "outcome",
        operators="searchsorted.Tensor",
        here="NotImplementedError: \"searchsorted_out_cpu\" not implemented for 'Complex.*'",
        there="ok",
        witness="""
            v0 = lib.ones(0, dtype=lib.complex64)
            lib.searchsorted(v0, v0)
        """,
    ),
    Rule(
        "NaN is shown without a sign",
        "outcome",
        operators="histc",
        here=r"RuntimeError: histc: range of \[nan, nan\] is not finite",
        there=r"RuntimeError: histc: range of \[-nan, -nan\] is not finite",
        witness="""
            lib.histc(-lib.tensor([lib.nan] * 8, dtype=lib.float64))
        """,
    ),
    Shown(
        "`sort` and `argsort` are stable",
        "values",
        witness="""
            v0 = (lib.arange(100) % 2).argsort()
        """,
    ),
    Rule(
        "Attention to infinite and NaN numbers is NaN",
        "values grad.values",
        operators="scaled_dot_product_attention",
        cases=["special", "odd gradients"],
        witness="""
            F = lib.nn.functional; v0 = lib.full((1, 1, 2, 4), lib.inf); v1 = lib.ones(1, 1, 2, 4)
            v2 = F.scaled_dot_product_attention(v0 - v0, v1, v1)
        """,
    ),
    Shown(
        "Indices of sparse tensors are always checked",
        "outcome",
        here="RuntimeError: .*",
        there="ok",
        witness="lib.sparse_coo_tensor([[5]], [1.0], (2,), check_invariants=False)",
    ),
    Shown(
        "A write to a sparse tensor leaves what shares it as it was",
        "log",
        witness="""
            s = lib.eye(2).to_sparse(); d = s.detach()
            s.neg_()
            log.append(d.to_dense().sum().item())
        """,
    ),
    Shown(
        "One element is known to be coalesced",
        "log",
        witness="""
            log.append(lib.eye(1).to_sparse().t().is_coalesced())
        """,
    ),
]
