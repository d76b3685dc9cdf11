"""Which mistake is named."""

from . import Rule

RULES = [
    Rule(
        "What is no tensor is refused by its type",
        "outcome",
        operators="split split.parts split.sections split.sizes norm tensordot glu huber_loss "
        "l1_loss mse_loss smooth_l1_loss binary_cross_entropy adaptive_avg_pool2d "
        "adaptive_max_pool2d",
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
]
