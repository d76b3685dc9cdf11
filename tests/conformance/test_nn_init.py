"""nn.init and nn.utils in imode and in PyTorch: the same numbers and errors."""

import pytest

from tests.conformance.side_by_side import agrees, error, run, same

INITS = [
    "uniform_(t)",
    "uniform_(t, -2, 3)",
    "normal_(t)",
    "normal_(t, 1, 0.1)",
    "constant_(t, 3)",
    "ones_(t)",
    "zeros_(t)",
    "eye_(t)",
    "xavier_uniform_(t)",
    "xavier_normal_(t, 2)",
    "kaiming_uniform_(t, nonlinearity='relu')",
    "kaiming_normal_(t, mode='fan_out')",
    "trunc_normal_(t)",
    "trunc_normal_(t, 0, 1, -0.1, 0.1)",
    "trunc_normal_(t, a=1.5, b=3)",
    "orthogonal_(t)",
    "orthogonal_(t, gain=3)",
    "sparse_(t, 0.3)",
]


@pytest.mark.parametrize("shape", [(6, 9), (12, 4)])
@pytest.mark.parametrize("call", INITS)
def test_init(lib, torch, call, shape):
    def whole(lib):
        t = lib.empty(shape, requires_grad=True)
        out = eval(f"init.{call}", {"init": lib.nn.init, "t": t})
        return [out is t, t.detach(), lib.rand(3)]

    same(run(whole, lib), run(whole, torch))


@agrees
def test_init_rest(lib):
    init = lib.nn.init
    return [
        init.dirac_(lib.empty(4, 2, 3, 3), 2),
        init.dirac_(lib.empty(4, 2, 3)),
        init.kaiming_uniform_(lib.empty(3, 2, 5, 5)),
        [
            init.calculate_gain(n)
            for n in ("linear", "conv2d", "tanh", "relu", "selu", "leaky_relu")
        ],
        init.calculate_gain("leaky_relu", 0.3),
        error(lambda: init.calculate_gain("leaky_relu", True)),
        error(lambda: init.calculate_gain("nothing")),
        error(lambda: init.xavier_uniform_(lib.empty(3))),
        error(lambda: init.kaiming_uniform_(lib.empty(3, 3), mode="x")),
        error(lambda: init.eye_(lib.empty(3))),
        error(lambda: init.dirac_(lib.empty(3))),
        error(lambda: init.dirac_(lib.empty(3, 2, 2), 2)),
        error(lambda: init.orthogonal_(lib.empty(3))),
        error(lambda: init.sparse_(lib.empty(3), 0.1)),
    ]


@agrees
def test_clipping(lib):
    utils = lib.nn.utils
    result = []
    for norm in (2.0, 1.0, float("inf"), 3):
        params = [lib.nn.Parameter(lib.randn(3, 2)), lib.nn.Parameter(lib.randn(2))]
        for p in params:
            p.grad = lib.randn(p.shape)
        result += [utils.clip_grad_norm_(params, 0.7, norm), [p.grad for p in params]]
        utils.clip_grad_value_(params, 0.05)
        result += [p.grad for p in params]
    params[0].grad.fill_(float("nan"))
    result.append(error(lambda: utils.clip_grad_norm_(params, 1.0, error_if_nonfinite=True)))
    result.append(utils.clip_grad_norm_([], 1.0))
    return result


@agrees
def test_vectors(lib):
    net = lib.nn.Linear(2, 3)
    vector = lib.nn.utils.parameters_to_vector(net.parameters())
    lib.nn.utils.vector_to_parameters(lib.arange(9.0), net.parameters())
    return [vector, net.weight, net.bias]
