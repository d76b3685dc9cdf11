"""Numbers at the edges, views, and what is computed in another way."""

from . import Rule, Shown

RULES = [
    Rule(
        "Conjugation is done at once",
        "is_view based base is_inference version shares_memory_with",
        operators="adjoint conj",
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
        "Results are new tensors",
        "is_view based",
        operators="as_strided_scatter conv1d conv1d.padding conv2d diagonal_scatter embedding "
        "repeat roll select_scatter slice_scatter stack tile unique unique_consecutive",
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
        operators="isfinite max_pool1d one_hot",
        cases=["plain", "recorded", "no_grad", "one left the mode"],
        here="0",
        there="[1-9]",
        witness="""
            see("version", lib.isfinite(lib.ones(2) * 1j)._version)
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
        "Where in a sequence that is not in order",
        "values",
        operators="bucketize.Scalar searchsorted.Scalar searchsorted.Tensor",
        cases=["special"],
        witness="""
            v0 = lib.searchsorted(lib.tensor([0.0, 1.0, lib.nan, lib.inf, -1.0]), 1.0)
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
]
