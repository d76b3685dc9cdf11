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


def adadelta(p, g, s, lr=1.0, rho=0.9, eps=1e-6):
    s["v"] = rho * s.get("v", 0) + (1 - rho) * g * g
    step = g * np.sqrt(s.get("d", 0) + eps) / np.sqrt(s["v"] + eps)
    s["d"] = rho * s.get("d", 0) + (1 - rho) * step * step
    return p - lr * step


def adamax(p, g, s, lr=2e-3, betas=(0.9, 0.999), eps=1e-8):
    s["t"] = s.get("t", 0) + 1
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["u"] = np.maximum(betas[1] * s.get("u", 0), np.abs(g) + eps)
    return p - lr / (1 - betas[0] ** s["t"]) * s["m"] / s["u"]


def asgd(p, g, s, lr=0.1, lambd=0.01, alpha=0.75):
    s["t"] = s.get("t", 0) + 1
    rate = np.float32(lr / (1 + lambd * lr * (s["t"] - 1)) ** alpha)
    return p - rate * (g + lambd * p)


def nadam(p, g, s, lr=2e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.1):
    t = s["t"] = s.get("t", 0) + 1
    now, after = (betas[0] * (1 - 0.5 * 0.96 ** (i * decay)) for i in (t, t + 1))
    s["product"] = s.get("product", 1) * now
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    m = after * s["m"] / (1 - s["product"] * after) + (1 - now) * g / (1 - s["product"])
    return p - lr * m / (np.sqrt(s["v"] / (1 - betas[1] ** t)) + eps)


def radam(p, g, s, lr=1e-3, betas=(0.9, 0.9), eps=1e-9):
    t = s["t"] = s.get("t", 0) + 1
    s["m"] = betas[0] * s.get("m", 0) + (1 - betas[0]) * g
    s["v"] = betas[1] * s.get("v", 0) + (1 - betas[1]) * g * g
    m, bias = s["m"] / (1 - betas[0] ** t), 1 - betas[1] ** t
    end = 2 / (1 - betas[1]) - 1
    now = end - 2 * t * betas[1] ** t / bias
    if now <= 5:
        return p - lr * m
    r = np.sqrt((now - 4) * (now - 2) * end / ((end - 4) * (end - 2) * now))
    return p - lr * m * r / (np.sqrt(s["v"] / bias) + eps)


def rprop(p, g, s, lr=0.1, etas=(0.5, 1.2)):
    turn = g * s.get("g", 0)
    factor = np.where(turn > 0, etas[1], np.where(turn < 0, etas[0], 1.0))
    s["step"] = s.get("step", np.full_like(g, lr)) * factor
    s["g"] = np.where(turn < 0, 0, g)
    return p - np.sign(s["g"]) * s["step"]


RULES = {
    "Adadelta(p)": (adadelta, {}),
    "Adamax(p)": (adamax, {}),
    "ASGD(p, 0.1, 0.01)": (asgd, {}),
    "NAdam(p, momentum_decay=0.1)": (nadam, {}),
    "RAdam(p, betas=(0.9, 0.9), eps=1e-9)": (radam, {}),
    "Rprop(p, 0.1)": (rprop, {}),
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
    for _ in range(9):
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


@pytest.mark.parametrize("rule", ["Adafactor(p, 0.1)", "Muon(p, 0.1)", "LBFGS(p)"])
def test_rules_for_matrices_come_down(rule):
    weight = nn.Parameter(imode.randn(4, 3))
    goal = imode.randn(4, 3)
    optimizer = make(rule, [weight])

    def closure():
        optimizer.zero_grad()
        loss = ((weight - goal) ** 2).sum()
        loss.backward()
        return loss

    losses = [optimizer.step(closure).item() for _ in range(8)]
    assert losses[-1] < 0.8 * losses[0]


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("Adadelta(p, rho=2)", "Invalid rho value: 2"),
        ("Adamax(p, betas=(2, 0))", "Invalid beta parameter at index 0: 2"),
        ("NAdam(p, momentum_decay=-1)", "Invalid momentum_decay value: -1"),
        ("RAdam(p, -1)", "Invalid learning rate: -1"),
        ("Rprop(p, etas=(1, 1))", "Invalid eta values: 1, 1"),
        ("Adafactor(p, -1)", "Learning rate should be >= 0 but is: -1"),
        ("Adafactor(p, beta2_decay=1)", "beta2_decay should be <= 0 but is: 1"),
        ("Adafactor(p, eps=(None, -1))", "epsilon2 should be >= 0 but is: -1"),
        ("Adafactor(p, d=0)", "Clipping threshold d should be >= 1 but is: 0"),
        ("Adafactor(p, weight_decay=-1)", "weight_decay should be >= 0 but is: -1"),
        ("Muon(p)", "Muon only supports 2D parameters whereas we found a parameter"),
        ("Muon(p, momentum=-1)", "momentum should be >= 0 but is: -1"),
        ("Muon(p, adjust_lr_fn='x')", "Adjust learning rate function x is not supported"),
        (
            "LBFGS([{'params': p}, {'params': imode.ones(1)}])",
            "LBFGS doesn't support per-parameter",
        ),
        ("swa_utils.get_ema_avg_fn(2)", "Invalid decay value 2 provided"),
        ("swa_utils.SWALR(optim.SGD(p), 1, 2, 'x')", "anneal_strategy must be one of 'cos' or"),
        ("swa_utils.SWALR(optim.SGD(p), 1, -2)", "anneal_epochs must be equal or greater than 0"),
    ],
)
def test_rules_refuse_bad_options(rule, text):
    with pytest.raises(ValueError, match=text):
        eval(f"optim.{rule}", {"optim": optim, "p": [nn.Parameter(imode.ones(1))], "imode": imode})


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("Muon(p)", "Muon does not support complex parameters"),
        ("Adafactor(p)", "Adafactor does not support complex parameters"),
        ("LBFGS(p, line_search_fn='x')", "only 'strong_wolfe' is supported"),
    ],
)
def test_steps_refused(rule, text):
    weight = nn.Parameter(imode.ones(2, 2, dtype=imode.complex64))
    weight.grad = imode.ones(2, 2, dtype=imode.complex64)
    with pytest.raises(RuntimeError, match=text):
        make(rule, [weight]).step(lambda: 1.0)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"ns_steps": 100}, "Number of steps must be less than 100"),
        ({"ns_coefficients": (1, 2)}, "Coefficients must be a tuple of exactly 3 values"),
    ],
)
def test_iterations_refused(options, text):
    weight = nn.Parameter(imode.ones(2, 2))
    weight.grad = imode.ones(2, 2)
    with pytest.raises(ValueError, match=text):
        optim.Muon([weight], **options).step()


def test_averages_of_a_model():
    model = nn.Linear(1, 1, bias=False)
    averaged = optim.swa_utils.AveragedModel(model)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        optim.swa_utils.AveragedModel(model, None, max, max)
    for number in (1.0, 2.0, 6.0):
        nn.init.constant_(model.weight, number)
        with imode.inference_mode():
            averaged.update_parameters(model)
    assert averaged.module.weight.item() == 3 and averaged.n_averaged.item() == 3


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
