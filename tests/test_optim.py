"""Update rules against their formulas in NumPy; groups, state and schedules."""

import copy

import numpy as np
import pytest

import imode
from imode import nn, optim
from imode.optim import lr_scheduler


def sgd(p, g, s, lr=0.1, momentum=0.0, dampening=0.0, decay=0.0, nesterov=False):
    g = g + decay * p
    if momentum:
        s["b"] = momentum * s["b"] + (1 - dampening) * g if "b" in s else g
        g = g + momentum * s["b"] if nesterov else s["b"]
    return p - lr * g


def adam(p, g, s, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.0, decoupled=False, amsgrad=False):
    s["t"] = s.get("t", 0) + 1
    p = p * (1 - lr * decay) if decoupled else p
    g = g if decoupled else g + decay * p
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    s["x"] = np.maximum(s.get("x", 0), s["v"]) if amsgrad else s["v"]
    m, v = s["m"] / (1 - betas[0] ** s["t"]), s["x"] / (1 - betas[1] ** s["t"])
    return p - lr * m / (np.sqrt(v) + eps)


def rmsprop(p, g, s, lr=0.01, alpha=0.99, eps=1e-8):
    s["v"] = alpha * s.get("v", 0) + (1 - alpha) * g * g
    return p - lr * g / (np.sqrt(s["v"]) + eps)


def adagrad(p, g, s, lr=0.01, eps=1e-10):
    s["v"] = s.get("v", 0) + g * g
    return p - lr * g / (np.sqrt(s["v"]) + eps)


RULES = {
    "SGD(p, 0.1)": (sgd, {}),
    "SGD(p, 0.1, momentum=0.9)": (sgd, {"momentum": 0.9}),
    "SGD(p, 0.1, 0.9, nesterov=True, weight_decay=0.1)": (
        sgd,
        {"momentum": 0.9, "nesterov": True, "decay": 0.1},
    ),
    "SGD(p, 0.1, 0.9, 0.5)": (sgd, {"momentum": 0.9, "dampening": 0.5}),
    "Adam(p)": (adam, {}),
    "Adam(p, weight_decay=0.1, amsgrad=True)": (adam, {"decay": 0.1, "amsgrad": True}),
    "AdamW(p, 0.01)": (adam, {"lr": 0.01, "decay": 0.01, "decoupled": True}),
    "RMSprop(p)": (rmsprop, {}),
    "Adagrad(p)": (adagrad, {}),
}


def make(rule, params):
    return eval(f"optim.{rule}", {"optim": optim, "p": params})


@pytest.mark.parametrize("rule", RULES)
def test_rule(rule):
    formula, options = RULES[rule]
    start = np.random.randn(4, 3)
    param = nn.Parameter(imode.tensor(start))
    optimizer = make(rule, [param])
    wanted, state = start, {}
    for _ in range(5):
        grad = np.random.randn(4, 3)
        param.grad = imode.tensor(grad)
        optimizer.step()
        wanted = formula(wanted, grad, state, **options)
    np.testing.assert_allclose(param.detach().numpy(), wanted, rtol=1e-10)


@pytest.mark.parametrize("rule", RULES)
def test_state_resumes_where_it_stopped(rule):
    def steps(optimizer, param, count):
        for i in range(count):
            param.grad = imode.full((3,), 1.0 + i)
            optimizer.step()

    param = nn.Parameter(imode.ones(3))
    optimizer = make(rule, [param])
    steps(optimizer, param, 3)
    twin = nn.Parameter(param.detach().clone())
    other = make(rule, [twin])
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    steps(optimizer, param, 3)
    steps(other, twin, 3)
    assert param.tolist() == twin.tolist()


def test_step_inside_inference_mode_leaves_normal_state():
    param = nn.Parameter(imode.ones(2))
    optimizer = optim.SGD([param], 0.1, momentum=0.9)
    adam_ = optim.Adam([param])
    param.grad = imode.ones(2)
    with imode.inference_mode():
        optimizer.step()
        adam_.step()
        saved = [copy.deepcopy(o.state_dict()) for o in (optimizer, adam_)]
        optimizer.load_state_dict(saved[0])
        adam_.load_state_dict(saved[1])
    optimizer.step()
    adam_.step()
    assert not param.is_inference()


def test_closure_and_parameters_without_gradient():
    used, unused = nn.Parameter(imode.ones(1)), nn.Parameter(imode.ones(1))
    optimizer = optim.SGD([used, unused], 1.0)

    def closure():
        optimizer.zero_grad()
        loss = used.sum()
        loss.backward()
        return loss

    with imode.no_grad():
        assert optimizer.step(closure).item() == 1
    assert used.item() == 0 and unused.item() == 1 and not optimizer.state


def test_groups_and_repr():
    a, b = nn.Parameter(imode.ones(1)), nn.Parameter(imode.ones(1))
    optimizer = optim.SGD([{"params": [a], "lr": 0.5}, {"params": b}], lr=0.1)
    (a + b).sum().backward()
    optimizer.step()
    assert (a.item(), b.item()) == (0.5, pytest.approx(0.9))
    text = repr(optimizer)
    assert text.startswith("SGD (\nParameter Group 0\n    dampening: 0\n")
    assert "\n\nParameter Group 1\n" in text and text.endswith("    weight_decay: 0\n)")


@pytest.mark.parametrize(
    "action, error, text",
    [
        (lambda p: optim.SGD([], 0.1), ValueError, "optimizer got an empty parameter list"),
        (lambda p: optim.SGD(p, 0.1), TypeError, "an iterable of Tensors or dicts"),
        (lambda p: optim.SGD([3], 0.1), TypeError, "one of the params is int"),
        (lambda p: optim.SGD([p * 2], 0.1), ValueError, "can't optimize a non-leaf Tensor"),
        (lambda p: optim.SGD([p], -1), ValueError, "Invalid learning rate: -1"),
        (lambda p: optim.SGD([p], 1, nesterov=True), ValueError, "Nesterov momentum requires"),
        (
            lambda p: optim.Adam([p], betas=(1.0, 0.9)),
            ValueError,
            "Invalid beta parameter at index 0",
        ),
        (lambda p: optim.Adam([p], eps=-1), ValueError, "Invalid epsilon value: -1"),
        (lambda p: optim.SGD([p], 1).add_param_group({"params": p}), ValueError, "more than one"),
        (
            lambda p: optim.SGD([p], 1).load_state_dict({"state": {}, "param_groups": []}),
            ValueError,
            "different number of parameter groups",
        ),
    ],
)
def test_errors(action, error, text):
    with pytest.raises(error, match=text):
        action(nn.Parameter(imode.ones(1)))


def test_duplicates_warn():
    p = nn.Parameter(imode.ones(1))
    with pytest.warns(UserWarning, match="duplicate parameters"):
        optim.SGD([p, p], 0.1)


SCHEDULES = {
    "StepLR(o, 2, 0.5)": lambda e: 0.5 ** (e // 2),
    "MultiStepLR(o, [1, 3])": lambda e: 0.1 ** ((e >= 1) + (e >= 3)),
    "ExponentialLR(o, 0.9)": lambda e: 0.9**e,
    "CosineAnnealingLR(o, 4)": lambda e: (1 + np.cos(np.pi * e / 4)) / 2,
    "LambdaLR(o, lambda e: 1 / (e + 1))": lambda e: 1 / (e + 1),
    "LinearLR(o, 0.5, total_iters=4)": lambda e: 0.5 + 0.5 * min(e, 4) / 4,
    "ConstantLR(o, 0.5, 3)": lambda e: 0.5 if e < 3 else 1,
}


@pytest.mark.parametrize("source", SCHEDULES)
def test_schedule(source):
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=2.0)
    schedule = eval(f"s.{source}", {"s": lr_scheduler, "o": optimizer})
    for epoch in range(8):
        wanted = 2 * SCHEDULES[source](epoch)
        assert schedule.get_last_lr() == [pytest.approx(wanted, abs=1e-12)]
        optimizer.step()
        schedule.step()


def test_schedule_before_optimizer_warns():
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, 1)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        schedule.step()


def test_step_overridden_behind_a_schedule_warns():
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
    schedule = lr_scheduler.StepLR(optimizer, 1)
    step = optimizer.step
    optimizer.step = lambda: step()
    optimizer.step()
    with pytest.warns(UserWarning, match="has been overridden after learning rate scheduler"):
        schedule.step()


def test_schedule_resumes():
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
    first = lr_scheduler.StepLR(optimizer, 1, 0.5)
    optimizer.step()
    first.step()
    second = lr_scheduler.StepLR(optimizer, 1, 0.5)
    second.load_state_dict(first.state_dict())
    second.step()
    assert second.last_epoch == 2 and optimizer.param_groups[0]["lr"] == 0.25


def test_differentiable_steps_are_refused():
    with pytest.raises(NotImplementedError, match="differentiable=True is not supported"):
        optim.SGD([nn.Parameter(imode.ones(1))], differentiable=True)


def test_combined_schedules_save_and_resume():
    def made():
        optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
        parts = [
            lr_scheduler.ConstantLR(optimizer, 0.5),
            lr_scheduler.ExponentialLR(optimizer, 0.5),
        ]
        return optimizer, lr_scheduler.SequentialLR(optimizer, parts, [2])

    optimizer, schedule = made()
    for _ in range(3):
        optimizer.step()
        schedule.step()
    other, resumed = made()
    resumed.load_state_dict(schedule.state_dict())
    other.load_state_dict(optimizer.state_dict())
    for pair in ((optimizer, schedule), (other, resumed)):
        for part in pair:
            part.step()
    assert resumed.get_last_lr() == schedule.get_last_lr() == [0.25]


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda s, o: s.OneCycleLR(o, 1.0), "You must define either total_steps"),
        (lambda s, o: s.OneCycleLR(o, 1.0, 5, pct_start=2), "Expected float between 0 and 1"),
        (lambda s, o: s.CyclicLR(o, 0.1, 1.0, mode="x"), "mode is invalid and scale_fn is None"),
        (lambda s, o: s.CosineAnnealingWarmRestarts(o, 0), "Expected positive integer T_0"),
        (lambda s, o: s.ReduceLROnPlateau(o, factor=2), "Factor should be < 1.0."),
        (lambda s, o: s.ReduceLROnPlateau(o, mode="x"), "mode x is unknown!"),
        (lambda s, o: s.SequentialLR(o, [], []), "expects at least one scheduler"),
        (lambda s, o: s.ChainedScheduler([]), "expects at least one scheduler to be chained"),
        (
            lambda s, o: s.ChainedScheduler([s.ReduceLROnPlateau(o)]),
            "ChainedScheduler does not support `ReduceLROnPlateau` scheduler",
        ),
    ],
)
def test_schedules_refuse_bad_options(call, text):
    with pytest.raises(ValueError, match=text):
        call(lr_scheduler, optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0))


def test_plateau_with_a_list_of_lowest_rates_refuses_a_group_more():
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
    schedule = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=[0.05])
    optimizer.add_param_group({"params": [nn.Parameter(imode.ones(1))]})
    schedule.step(1.0)
    with pytest.raises(RuntimeError, match="The number of param groups in the `optimizer`"):
        schedule.step(1.0)
    schedule.min_lrs.append(0.5)
    schedule.step(1.0)
    assert schedule.get_last_lr() == [pytest.approx(0.1), 0.5]


def test_a_chain_cannot_be_set_back():
    optimizer = optim.SGD([nn.Parameter(imode.ones(1))], lr=1.0)
    first, second = (lr_scheduler.StepLR(optimizer, 2) for _ in range(2))
    chain = lr_scheduler.ChainedScheduler([second])
    schedule = lr_scheduler.SequentialLR(optimizer, [first, chain], [1])
    optimizer.step()
    with pytest.raises(NotImplementedError):
        schedule.step()
