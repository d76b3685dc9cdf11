"""Methods that older scripts have: the same calls in both libraries."""

import pytest

pytest.importorskip("torch", reason="torch is not installed: nothing to compare with")

CALLS = {
    "apply_": lambda lib, x: x.clone().apply_(lambda v: v * 2),
    "apply_ of integers": lambda lib, x: x.long().apply_(lambda v: 1.5),
    "apply_ recorded": lambda lib, x: x.clone().requires_grad_().apply_(lambda v: v),
    "apply_ no number": lambda lib, x: x.clone().apply_(lambda v: "a"),
    "apply_ no function": lambda lib, x: x.clone().apply_(3),
    "map_": lambda lib, x: x.clone().map_(x, lambda a, b: a + b),
    "map_ broadcast": lambda lib, x: x.clone().map_(x[:1], lambda a, b: a - b),
    "map_ of another dtype": lambda lib, x: x.clone().map_(x.long(), lambda a, b: a + b),
    "map_ recorded": lambda lib, x: x.clone().map_(x.clone().requires_grad_(), lambda a, b: a),
    "map2_": lambda lib, x: x.clone().map2_(x, x, lambda a, b, c: a + b * c),
    "map2_ of a number": lambda lib, x: x.clone().map2_(x, 3, lambda a, b, c: a),
    "dim_order": lambda lib, x: x.view(2, 2).t().dim_order(),
    "dim_order of three": lambda lib, x: lib.ones(2, 3, 4).permute(2, 0, 1).dim_order(),
    "dim_order of ones": lambda lib, x: lib.ones(3, 1, 2).dim_order(),
    "dim_order, clear": lambda lib, x: lib.ones(2, 3).dim_order(ambiguity_check=True),
    "dim_order, not clear": lambda lib, x: lib.ones(3, 1, 2).dim_order(ambiguity_check=True),
    "resize": lambda lib, x: x.resize(2, 2),
    "resize of other size": lambda lib, x: x.resize(3, 3),
    "resize_as": lambda lib, x: x.resize_as(lib.ones(2, 2)),
    "module_load": lambda lib, x: x.clone().module_load(x * 2),
    "reinforce": lambda lib, x: x.reinforce(1),
    "eig": lambda lib, x: x.eig(),
    "solve": lambda lib, x: x.solve(x),
    "name": lambda lib, x: (x.name, x.volatile, x.is_xpu, x.is_mps, x.is_mtia, x.is_ipu),
}


@pytest.mark.parametrize("name", CALLS)
def test_call(lib, torch, name):
    def outcome(library):
        try:
            result = CALLS[name](library, library.arange(4.0))
        except Exception as error:
            return type(error).__name__, str(error).split("\n")[0].split(". ")[0].replace(
                "imode", "torch"
            )
        return result.tolist() if isinstance(result, library.Tensor) else result

    assert outcome(lib) == outcome(torch)
