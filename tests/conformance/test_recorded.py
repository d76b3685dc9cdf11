"""Graphs of gradients recorded with create_graph=True: every node down to the leaves, by name, with
its edges, for every operator's samples, of real and of complex operands."""

import pytest

from tests.samples import load

from . import differences
from .calls import called, function, tensors_of
from .observe import node_name

SAMPLES = called(load(of_pytorch=True), "recorded")
RULES = differences.load()
DTYPES = {
    "real": None,
    "complex": lambda place, t: "complex128" if t.dtype.startswith("float") else None,
}


def whole(tensor, leaves):
    """The graph of a tensor: (name, edges) of each node as they are found; leaves by name."""
    if tensor is None or tensor.grad_fn is None:
        return tensor if tensor is None else tensor.requires_grad
    nodes, graph = [tensor.grad_fn], []
    numbers = {id(tensor.grad_fn): 0}
    for node in nodes:  # grows
        edges = []
        for below, output in node.next_functions:
            if below is not None and id(below) not in numbers:
                numbers[id(below)] = len(nodes)
                nodes.append(below)
            edges.append(None if below is None else (numbers[id(below)], output))
        of = [n for n, leaf in leaves.items() if getattr(node, "variable", None) is leaf]
        graph.append((of[0] if of else node_name(node), edges))
    return graph


def run(lib, name, sample, dtype):
    """Return the graph of every gradient of one call, or None where there is none."""
    lib.manual_seed(0)
    args, kwargs, tensors = sample.make(lib, dtype=dtype)
    inputs = [t.requires_grad_() for t in tensors if t.is_floating_point() or t.is_complex()]
    call = (sample.torch if lib.__name__ == "torch" else None) or function(lib, name)
    if name.partition(".")[0].endswith("_") and args[0].requires_grad:
        args[0] = args[0].clone()
    outputs = [t for t in tensors_of(call(*args, **kwargs), lib) if t.requires_grad]
    outputs = [t for t in outputs if not any(t is leaf for leaf in inputs)]
    if not outputs:
        return None
    weights = [lib.ones_like(t).requires_grad_() for t in outputs]
    grads = lib.autograd.grad(outputs, inputs, weights, allow_unused=True, create_graph=True)
    leaves = {f"weight {i}": t for i, t in enumerate(weights)}
    leaves |= {f"input {i}": t for i, t in enumerate(inputs)}
    return [whole(grad, leaves) for grad in grads]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_graphs_of_gradients(lib, torch, name, dtype):
    lines = []
    for sample in SAMPLES[name]:
        if sample.raises is not None:
            continue
        try:
            there = run(torch, name, sample, DTYPES[dtype])
        except Exception:  # not defined for this dtype, or not differentiable
            continue
        if there is None:
            continue
        for i, (a, b) in enumerate(zip(run(lib, name, sample, DTYPES[dtype]), there)):
            if a != b and not RULES.sample(name, "graph", "graph", a, b):
                lines.append(f"  {sample!r}: grad{i}: {a} here, {b} there")
    assert not lines, f"{name}\n" + "\n".join(lines)
