"""Programs by name about the nodes that calls leave behind: which, with which edges, and hooks."""

import pytest

from . import known
from .fuzz import intended
from .programs import compare, run
from .test_scenarios import parse

SCENARIOS = {
    "a retained gradient stays with the node before a change of the geometry": """
        v0 = lib.ones(1, 3, requires_grad=True); v1 = v0 * 2; v1.retain_grad()
        v1.t_()
        v1.sum().backward()
        v2 = v0 * 2; v2.retain_grad()
        v2.unsqueeze_(0)
        v2.squeeze_()
        v2.sum().backward()
        v3 = v0 * 2; v3.retain_grad()
        v3.as_strided_((2,), (1,))
        v3.sum().backward()
    """,
    "nodes of what cannot be differentiated lead to what requires grad": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3)
        v2 = lib.floor_divide(v0, v1)
        v3 = lib.floor_divide(v1, v0)
        v4 = v0 // 2
        v5 = v0 * 1
        v5.floor_divide_(v1)
        v6 = v1.scatter(0, lib.tensor([0]), v0, reduce='add')
        v4.sum().backward()
    """,
    "nodes of numbers and tensors": """
        v0 = lib.ones(3, requires_grad=True); v1 = lib.ones(3)
        v2 = lib.xlogy(v0, 2)
        v3 = lib.xlogy(2, v0)
        v4 = lib.xlogy(v0, v1)
        v5 = lib.rsub(v0, v1)
        v6 = lib.rsub(v0, 2)
        v7 = lib.round(v0, decimals=2)
        v8 = v0 * 1
        v8.eq_(2)
        v9 = v0 * 1
        v9.lt_(v1)
        v5.sum().backward()
    """,
    "asarray sets requires_grad on a tensor itself": """
        v0 = lib.ones(3); v1 = lib.ones(2, 3, requires_grad=True); v2 = v1 * 2
        v3 = lib.asarray(v0, requires_grad=True)
        v4 = lib.asarray(v1, requires_grad=False)
        v5 = lib.asarray(v2, requires_grad=False)
        with lib.no_grad():
            v6 = v2[0]
        v7 = lib.asarray(v6)
        v8 = v7.sum()
        v8.backward()
    """,
    "an index that take_along_dim makes is saved, not the one that it was given": """
        v0 = lib.ones(2, 3, requires_grad=True)
        with lib.inference_mode():
            v1 = lib.tensor([[0], [2]]); v2 = lib.tensor([0])
        v3 = lib.take_along_dim(v0, v1, 1)
        v3.sum().backward()
        v4 = lib.take_along_dim(v0, v2)
    """,
    "a gradient has the shape that its leaf has by then": """
        v0 = lib.ones(2, 3, requires_grad=True); v1 = v0 * 2
        with lib.no_grad():
            v0.unsqueeze_(0)
        v1.sum().backward()
        v2 = lib.ones(6, requires_grad=True); v3 = v2.cumsum(0)
        with lib.no_grad():
            v2.as_strided_((2,), (1,))
        v3.sum().backward()
    """,
    "a leaf that was written to has left the graph's end": """
        v0 = lib.ones(6, requires_grad=True); v1 = v0 * 2
        v0.requires_grad_(False)
        v0.copy_(v1)
        v1.sum().backward()
    """,
    "integers are made of a view that is out of date": """
        v0 = lib.ones(2, 3, requires_grad=True) * 1
        with lib.inference_mode():
            v1 = v0.t()
        v0.mul_(2)
        v2 = v1.to(lib.int64)
        v3 = v1.bool()
        v4 = v1.to(lib.float64)
    """,
    "a written view's node before is not kept, nor named": """
        v0 = lib.full((2, 3), 4.0, requires_grad=True) * 1; v1 = v0.view(-1)
        v1.sqrt_()
        v1.mul_(2)
        v1.sum().backward()
    """,
    "an inference tensor that requires grad is resized as any": """
        with lib.inference_mode():
            v0 = lib.ones(2, 3, requires_grad=True)
            v0.resize_(3, 2)
        v0.resize_(3, 2)
        v0.resize_(6)
    """,
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenario(lib, torch, name):
    program = parse(SCENARIOS[name])
    found = compare(run(lib, program), run(torch, program))
    assert found is None or intended(found, known.load()), str(found)
