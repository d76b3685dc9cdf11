"""The same training in imode and in PyTorch: parameters agree after every step."""

import copy
import importlib

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
import imode  # noqa: E402
from tests.conformance.side_by_side import error, plain, run, same  # noqa: E402

RULES = [
    "SGD(p, 0.1)",
    "SGD(p, 0.1, momentum=0.9)",
    "SGD(p, 0.1, momentum=0.9, nesterov=True, weight_decay=0.01)",
    "SGD(p, 0.1, momentum=0.9, dampening=0.5)",
    "SGD(p, 0.1, maximize=True, weight_decay=0.1)",
    "Adam(p)",
    "Adam(p, 0.05, (0.8, 0.99), 1e-6, 0.02)",
    "Adam(p, amsgrad=True)",
    "Adam(p, maximize=True)",
    "AdamW(p)",
    "AdamW(p, 0.05, weight_decay=0.3, amsgrad=True)",
    "RMSprop(p)",
    "RMSprop(p, momentum=0.5, centered=True, weight_decay=0.1)",
    "Adagrad(p)",
    "Adagrad(p, 0.1, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.5)",
    "Adadelta(p)",
    "Adadelta(p, 0.5, 0.8, weight_decay=0.1, maximize=True)",
    "Adamax(p)",
    "Adamax(p, 0.05, (0.8, 0.99), 1e-6, 0.02)",
    "ASGD(p)",
    "ASGD(p, 0.1, 0.01, t0=2, weight_decay=0.1)",
    "NAdam(p)",
    "NAdam(p, 0.05, (0.8, 0.99), weight_decay=0.1, momentum_decay=0.1)",
    "NAdam(p, weight_decay=0.1, decoupled_weight_decay=True, maximize=True)",
    "RAdam(p)",
    "RAdam(p, 0.05, (0.8, 0.6), weight_decay=0.1)",
    "RAdam(p, weight_decay=0.1, decoupled_weight_decay=True)",
    "Rprop(p)",
    "Rprop(p, 0.1, (0.3, 1.5), (0.05, 0.2), maximize=True)",
]
# Of real parameters, whose norms and products of matrices are sums in another order than PyTorch's.
SUMMING = [
    "Adafactor(p)",
    "Adafactor(p, 0.1, -0.5, (1e-3, 1e-2), 2.0, 0.1, maximize=True)",
]
MATRICES = [
    "Muon(p)",
    "Muon(p, 0.1, 0.0, 0.8, False, ns_steps=3, adjust_lr_fn='match_rms_adamw')",
    "Muon(p, adjust_lr_fn='original')",
]
LINES = [
    "LBFGS(p)",
    "LBFGS(p, 0.5, 5, history_size=2)",
    "LBFGS(p, line_search_fn='strong_wolfe')",
    "LBFGS(p, 0.1, 8, 30, history_size=3, line_search_fn='strong_wolfe')",
]


def make(rule, lib, params):
    return eval(f"optim.{rule}", {"optim": lib.optim, "p": params})


@pytest.fixture
def exact_roots(monkeypatch):
    """PyTorch's square roots are off by one in the last place for some numbers; NumPy's are not."""

    def root(tensor):
        return torch.from_numpy(np.asarray(np.sqrt(tensor.numpy())))

    monkeypatch.setattr(torch.Tensor, "sqrt", root)
    monkeypatch.setattr(torch.Tensor, "sqrt_", lambda tensor: tensor.copy_(root(tensor)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", RULES)
def test_rule_to_the_last_bit(rule, dtype, exact_roots):
    rng = np.random.default_rng(3)
    starts = [rng.standard_normal(s).astype(dtype) for s in [(5, 7), (3,), (), (64, 9), (1, 1)]]
    grads = [[rng.standard_normal(s.shape).astype(dtype) for s in starts] for _ in range(6)]

    def train(lib):
        params = [lib.nn.Parameter(lib.tensor(s)) for s in starts] + [lib.nn.Parameter(lib.ones(1))]
        optimizer = make(rule, lib, params)
        for step in grads:
            optimizer.zero_grad()
            for param, grad in zip(params, step):
                param.grad = lib.tensor(grad)
            optimizer.step()
        state = optimizer.state_dict()
        return [p.detach().numpy() for p in params], plain(state)

    ours, our_state = train(imode)
    theirs, their_state = train(torch)
    same(our_state, their_state)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.tobytes() == b.tobytes(), f"{rule}: parameter {i} differs by {np.abs(a - b).max()}"


def close(ours, theirs, rtol):
    """The same tree: numbers and tensors within a tolerance, all else equal."""
    if isinstance(theirs, dict):
        assert list(ours) == list(theirs)
        for key in theirs:
            close(ours[key], theirs[key], rtol)
    elif isinstance(theirs, (list, tuple)):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            close(a, b, rtol)
    elif hasattr(theirs, "dtype"):
        assert str(ours.dtype).split(".")[-1] == str(theirs.dtype).split(".")[-1]
        assert tuple(ours.shape) == tuple(theirs.shape)
        a, b = (np.asarray(x.detach().numpy()) for x in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * max(1e-3, np.abs(b).max(initial=0)))
    elif isinstance(theirs, float):
        assert ours == pytest.approx(theirs, rel=rtol, abs=rtol)
    else:
        assert ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("rule", SUMMING + MATRICES)
def test_rule_that_sums(rule, dtype):
    rng = np.random.default_rng(3)
    shapes = [(5, 7), (9, 4), (1, 1)] + ([(3,), (), (2, 3, 4)] if rule in SUMMING else [])
    starts = [rng.standard_normal(s).astype(dtype) for s in shapes]
    grads = [[rng.standard_normal(s.shape).astype(dtype) for s in starts] for _ in range(6)]

    def train(lib):
        params = [lib.nn.Parameter(lib.tensor(s)) for s in starts] + [
            lib.nn.Parameter(lib.ones(1, 1))
        ]
        optimizer = make(rule, lib, params)
        for step in grads:
            for param, grad in zip(params, step):
                param.grad = lib.tensor(grad)
            optimizer.step()
        return [[p.detach() for p in params], optimizer.state_dict()]

    # Muon's matrices are bfloat16, whose last bit is 2**-8 of a number
    close(train(imode), train(torch), 1e-5 if rule in SUMMING else 1e-2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("rule", LINES)
def test_search_along_lines(rule, dtype):
    rng = np.random.default_rng(5)
    start = rng.standard_normal((2, 4)).astype(dtype)

    def train(lib):
        x, y = (lib.nn.Parameter(lib.tensor(row)) for row in start)
        unused = lib.nn.Parameter(lib.ones(2))
        optimizer = make(rule, lib, [x, y, unused])
        losses = []

        def closure():
            optimizer.zero_grad()
            loss = ((y - x * x).abs() ** 2).sum() * 3 + ((1 - x).abs() ** 2).sum()
            loss.backward()
            losses.append(loss.item())
            return loss

        for _ in range(2):
            losses.append(optimizer.step(closure).item())
        state = optimizer.state_dict()["state"][0]
        return [losses[:12], x.detach(), sorted(state), state["n_iter"], state["func_evals"]]

    ours, theirs = train(imode), train(torch)
    # iterations repeat and enlarge the first difference in a last place
    close(ours[0], theirs[0], 2e-3 if dtype != "float64" else 1e-6)
    close(ours[2:3], theirs[2:3], 0)
    if dtype == "float64":
        close(ours, theirs, 1e-4)


@pytest.mark.parametrize("rule", RULES + SUMMING + ["LBFGS(p, line_search_fn='strong_wolfe')"])
def test_states_load_both_ways(rule):
    """Training goes on in the other library from a saved state, with the same numbers."""
    grads = np.random.default_rng(6).standard_normal((6, 2, 3))

    def begin(lib, values):
        param = lib.nn.Parameter(lib.tensor(values))
        return param, make(rule, lib, [param])

    def steps(lib, param, optimizer, part):
        for grad in part:

            def closure(grad=grad):
                param.grad = lib.tensor(grad) + param.detach()
                return ((param.detach() + lib.tensor(grad)) ** 2).sum() / 2

            closure()
            optimizer.step(closure)

    def moved(tree, lib):
        if isinstance(tree, dict):
            return {key: moved(item, lib) for key, item in tree.items()}
        if isinstance(tree, (list, tuple)):
            return type(tree)(moved(item, lib) for item in tree)
        return lib.tensor(tree.detach().numpy()) if hasattr(tree, "detach") else tree

    for first, second in ((imode, torch), (torch, imode)):
        param, optimizer = begin(first, np.ones((2, 3)))
        steps(first, param, optimizer, grads[:3])
        other, twin = begin(second, param.detach().numpy().copy())
        twin.load_state_dict(moved(optimizer.state_dict(), second))
        steps(first, param, optimizer, grads[3:])
        steps(second, other, twin, grads[3:])
        # ASGD's rate is float32 until it is loaded; LBFGS's iterations enlarge the last places
        close(param.detach(), other.detach(), 1e-5 if "LBFGS" in rule else 1e-7)


@pytest.mark.parametrize("rule", RULES)
def test_complex_parameters(rule):
    rng = np.random.default_rng(4)
    start, *grads = rng.standard_normal((5, 6, 2)).astype("f4").view("c8")

    def train(lib):
        param = lib.nn.Parameter(lib.tensor(start))
        optimizer = make(rule, lib, [param])
        for grad in grads:
            param.grad = lib.tensor(grad)
            optimizer.step()
        return param

    same(run(train, imode), run(train, torch))


@pytest.mark.parametrize("rule", RULES)
def test_repr_and_state(rule, exact_roots):
    def whole(lib):
        net = lib.nn.Linear(2, 3)
        groups = [{"params": [net.weight], "lr": 0.5}, {"params": net.bias}]
        optimizer = make(rule, lib, groups)
        other = make(rule, lib, copy.deepcopy(list(net.parameters())))
        net(lib.ones(1, 2)).sum().backward()
        loss = optimizer.step(lambda: net(lib.ones(1, 2)).sum())
        saved = optimizer.state_dict()
        again = make(rule, lib, [{"params": [net.weight]}, {"params": [net.bias]}])
        again.load_state_dict(saved)
        optimizer.zero_grad(set_to_none=False)
        return [
            repr(optimizer),
            loss,
            plain(saved),
            plain(again.state_dict()),
            net.weight.grad,
            error(lambda: other.load_state_dict(saved)),
            repr(again),
        ]

    same(run(whole, imode), run(whole, torch))


def stepped(rule, lib, shape, dtype=None):
    param = lib.nn.Parameter(lib.ones(*shape, dtype=dtype))
    param.grad = lib.ones(*shape, dtype=dtype)
    make(rule, lib, [param]).step(lambda: 1.0)


def sparse(rule, lib):
    table = lib.nn.Embedding(3, 2, sparse=True)
    table(lib.tensor([0])).sum().backward()
    getattr(lib.optim, rule)(table.parameters()).step()


def errors(lib):
    o = lib.optim
    p = lambda: [lib.nn.Parameter(lib.ones(1))]
    shared = p()
    sgd = o.SGD(shared, 0.1)
    named = o.SGD(lib.nn.Linear(1, 1).named_parameters(), 0.1)
    calls = [
        lambda: o.SGD(p(), -1),
        lambda: o.SGD(p(), lib.ones(2)),
        lambda: o.SGD(p(), 0.1, momentum=-1),
        lambda: o.SGD(p(), 0.1, weight_decay=-1),
        lambda: o.SGD(p(), 0.1, nesterov=True),
        lambda: o.SGD([], 0.1),
        lambda: o.SGD(p()[0], 0.1),
        lambda: o.SGD([3], 0.1),
        lambda: o.SGD([{"params": set(p())}], 0.1),
        lambda: o.SGD([p()[0] * 2], 0.1),
        lambda: o.SGD([("a", p()[0]), p()[0]], 0.1),
        lambda: o.SGD(p(), 0.1, fused=True, foreach=True),
        lambda: sgd.add_param_group(3),
        lambda: sgd.add_param_group({"params": shared}),
        lambda: named.add_param_group({"params": p()}),
        lambda: o.Adam(p(), betas=(1.0, 0.9)),
        lambda: o.Adam(p(), betas=(0.9, -1.0)),
        lambda: o.Adam(p(), eps=-1),
        lambda: o.Adam(p(), weight_decay=-1),
        lambda: o.RMSprop(p(), alpha=-1),
        lambda: o.RMSprop(p(), momentum=-1),
        lambda: o.Adagrad(p(), lr_decay=-1),
        lambda: o.Adagrad(p(), initial_accumulator_value=-1),
        lambda: o.Optimizer(p(), {}).step(),
        lambda: o.Adadelta(p(), -1),
        lambda: o.Adadelta(p(), rho=1.5),
        lambda: o.Adadelta(p(), eps=-1),
        lambda: o.Adamax(p(), lib.ones(2)),
        lambda: o.Adamax(p(), betas=(0.5, 1.0)),
        lambda: o.Adamax(p(), eps=-1),
        lambda: o.ASGD(p(), weight_decay=-1),
        lambda: o.NAdam(p(), betas=(-0.5, 0.5)),
        lambda: o.NAdam(p(), momentum_decay=-1),
        lambda: o.RAdam(p(), -1),
        lambda: o.RAdam(p(), weight_decay=-1),
        lambda: o.Rprop(p(), etas=(1.5, 0.5)),
        lambda: o.Adafactor(p(), -1),
        lambda: o.Adafactor(p(), lib.ones(2)),
        lambda: o.Adafactor(p(), beta2_decay=1),
        lambda: o.Adafactor(p(), eps=(-1, 0)),
        lambda: o.Adafactor(p(), eps=(None, -1)),
        lambda: o.Adafactor(p(), d=0.5),
        lambda: o.Adafactor(p(), weight_decay=-1),
        lambda: o.Muon(p()),
        lambda: o.Muon(p(), -1),
        lambda: o.Muon(p(), momentum=-1),
        lambda: o.Muon(p(), weight_decay=-1),
        lambda: o.Muon(p(), adjust_lr_fn="other"),
        lambda: stepped("Muon(p, ns_steps=100)", lib, (2, 2)),
        lambda: stepped("Muon(p, ns_coefficients=(1, 2))", lib, (2, 2)),
        lambda: stepped("Muon(p)", lib, (2, 2), lib.complex64),
        lambda: stepped("Adafactor(p)", lib, (2,), lib.complex64),
        lambda: stepped("LBFGS(p, line_search_fn='other')", lib, (2,)),
        lambda: o.LBFGS(p(), -1),
        lambda: o.LBFGS([{"params": p()}, {"params": p()}]),
        lambda: o.swa_utils.get_ema_avg_fn(2),
        lambda: o.swa_utils.get_ema_multi_avg_fn(-1),
        lambda: o.swa_utils.AveragedModel(lib.nn.Linear(1, 1), None, len, len),
        lambda: o.swa_utils.SWALR(sgd, [0.1, 0.2]),
        lambda: o.swa_utils.SWALR(sgd, 0.1, 3, "x"),
        lambda: o.swa_utils.SWALR(sgd, 0.1, -3),
        *(
            lambda rule=rule: sparse(rule, lib)
            for rule in (
                "Adadelta",
                "Adamax",
                "ASGD",
                "NAdam",
                "RAdam",
                "Rprop",
                "Adafactor",
                "Muon",
            )
        ),
    ]
    return [error(call) for call in calls] + [plain(named.state_dict())]


def test_errors():
    same(run(errors, imode), run(errors, torch))


SCHEDULES = [
    "StepLR(o, 3, 0.5)",
    "MultiStepLR(o, [2, 5, 5])",
    "ExponentialLR(o, 0.9)",
    "CosineAnnealingLR(o, 5, 0.01)",
    "LambdaLR(o, lambda e: 0.95 ** e)",
    "LambdaLR(o, [lambda e: 0.95 ** e, lambda e: 1 / (e + 1)])",
    "LinearLR(o, 0.2, total_iters=4)",
    "ConstantLR(o, 0.2, 3)",
    "MultiplicativeLR(o, lambda e: 1 / (e + 1))",
    "PolynomialLR(o, 6, 2.0)",
    "CosineAnnealingWarmRestarts(o, 3, 2, 0.01)",
    "CyclicLR(o, 0.1, 1.0, 3, 2)",
    "CyclicLR(o, [0.1, 0.2], 1.0, 2, mode='triangular2', cycle_momentum=False)",
    "CyclicLR(o, 0.1, 1.0, 2, mode='exp_range', gamma=0.9)",
    "CyclicLR(o, 0.1, 1.0, 2, scale_fn=lambda x: 0.5 ** x, scale_mode='iterations')",
    "OneCycleLR(o, 2.0, 13)",
    "OneCycleLR(o, [1.0, 2.0], epochs=2, steps_per_epoch=7, three_phase=True)",
    "OneCycleLR(o, 2.0, 20, anneal_strategy='linear', cycle_momentum=False)",
    "SequentialLR(o, [s.ConstantLR(o, 0.5), s.LinearLR(o), s.ExponentialLR(o, 0.5)], [2, 5])",
    "SequentialLR(o, [s.StepLR(o, 2), s.CosineAnnealingLR(o, 5)], [4])",
    "ChainedScheduler([s.StepLR(o, 2, 0.5), s.ExponentialLR(o, 0.9)])",
    "SequentialLR(o, [s.ChainedScheduler([s.LinearLR(o), s.StepLR(o, 2)]), s.StepLR(o, 1)], [3])",
    "SequentialLR(o, [s.StepLR(o, 2), s.ConstantLR(o, 0.5)], [0])",
    "SequentialLR(o, [s.StepLR(o, 2), s.CosineAnnealingWarmRestarts(o, 3)], [4])",
    "swa.SWALR(o, 0.05)",
    "swa.SWALR(o, [0.05, 0.2], 4, 'linear')",
    "swa.SWALR(o, 0.05, 0)",
]


def _scheduled(lib, schedule):
    params = [lib.nn.Parameter(lib.ones(1)), lib.nn.Parameter(lib.ones(1))]
    groups = [{"params": params[:1], "lr": 0.3}, {"params": params[1:]}]
    optimizer = lib.optim.SGD(groups, lr=1.0)
    scheduler = eval(
        schedule if schedule.startswith("swa.") else f"s.{schedule}",
        {"s": lib.optim.lr_scheduler, "swa": lib.optim.swa_utils, "o": optimizer},
    )
    return optimizer, scheduler


def _rates(optimizer, scheduler, steps):
    rates = [scheduler.get_last_lr()]
    for _ in range(steps):
        optimizer.step()
        scheduler.step()
        rates.append(scheduler.get_last_lr())
    return [rates, repr(optimizer)]


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_schedule(schedule):
    def whole(lib):
        return _rates(*_scheduled(lib, schedule), 12)

    assert run(whole, imode) == run(whole, torch)


@pytest.mark.parametrize("source, target", [(torch, imode), (imode, torch)], ids=["in", "out"])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_the_state_of_a_schedule_is_pytorch_s(schedule, source, target):
    optimizer, scheduler = _scheduled(source, schedule)
    _rates(optimizer, scheduler, 5)
    resumed_optimizer, resumed = _scheduled(target, schedule)
    resumed_optimizer.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    resumed.load_state_dict(copy.deepcopy(scheduler.state_dict()))
    assert _rates(resumed_optimizer, resumed, 6) == _rates(optimizer, scheduler, 6)


def test_the_height_of_a_cycle_may_be_an_object_with_a_state():
    class Height:
        power = 0.5

        def __call__(self, x):
            return self.power**x

    def whole(lib):
        made = []
        for _ in range(2):
            optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=1.0)
            height = Height()
            made.append(lib.optim.lr_scheduler.CyclicLR(optimizer, 0.1, 1.0, 2, scale_fn=height))
            height.power = 0.25 if len(made) == 1 else 0.5
        made[1].load_state_dict(made[0].state_dict())
        return [height.power, made[1].scale_fn(2)]

    assert run(whole, imode) == run(whole, torch)


def test_rprop_keeps_a_length_where_infinite_gradients_meet_zeros():
    def whole(lib):
        p = lib.nn.Parameter(lib.ones(2))
        optimizer = lib.optim.Rprop([p], lr=0.1)
        for grad in ([float("inf"), 1.0], [1.0, -1.0], [1.0, float("nan")], [1.0, 1.0]):
            p.grad = lib.tensor(grad)
            optimizer.step()
        return [p.tolist(), optimizer.state_dict()["state"][0]["step_size"].tolist()]

    same(run(whole, imode), run(whole, torch))


@pytest.mark.parametrize(
    "options",
    [
        {"patience": 1},
        {"mode": "max", "patience": 0, "factor": 0.5, "cooldown": 2},
        {"threshold_mode": "abs", "threshold": 0.3, "patience": 2, "min_lr": [0.05, 0.2]},
    ],
)
def test_plateau(options):
    def whole(lib):
        params = [lib.nn.Parameter(lib.ones(1)), lib.nn.Parameter(lib.ones(1))]
        optimizer = lib.optim.SGD([{"params": [p]} for p in params], lr=1.0)
        scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, **options)
        rates = []
        for metric in (3.0, 2.0, 1.9, 1.9, 2.5, 2.4, float("nan"), 1.0, 0.9, 0.8, 5.0, 5.0, 5.0):
            scheduler.step(metric)
            rates.append(scheduler.get_last_lr())
        return [rates, sorted(scheduler.state_dict())]

    assert run(whole, imode) == run(whole, torch)


def test_plateau_when_a_group_is_added():
    def whole(lib, lowest=0):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=1.0)
        scheduler = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=lowest)
        scheduler.step(1.0)
        optimizer.add_param_group({"params": [lib.nn.Parameter(lib.ones(1))], "lr": 0.5})
        scheduler.step(1.0)
        return [scheduler.get_last_lr(), scheduler.min_lrs]

    assert run(whole, imode) == run(whole, torch)


class Scale:
    def __init__(self, by):
        self.by = by

    def __call__(self, epoch):
        return self.by**epoch


def test_state_of_functions():
    def whole(lib):
        params = [{"params": [lib.nn.Parameter(lib.ones(1))]} for _ in range(2)]
        optimizer = lib.optim.SGD(params, lr=1.0)
        made = [
            lib.optim.lr_scheduler.LambdaLR(optimizer, [lambda epoch: epoch, Scale(by)])
            for by in (0.5, 0.25)
        ]
        made[1].load_state_dict(made[0].state_dict())
        return [made[0].state_dict()["lr_lambdas"], made[1].lr_lambdas[1].by]

    assert run(whole, imode) == run(whole, torch)


@pytest.mark.parametrize("schedule", ["CyclicLR(o, 0.1, lr, 3,", "OneCycleLR(o, lr, 13,"])
def test_tensors_given_to_a_schedule_stay_the_callers(schedule):
    def whole(lib):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=0.5)
        given = {name: lib.tensor(number) for name, number in (("lr", 2.0), ("low", 0.8))}
        options = "base_momentum=low, max_momentum=[0.9])"
        found = {"s": lib.optim.lr_scheduler, "o": optimizer, **given}
        scheduler = eval(f"s.{schedule} {options}", found)
        rates = []
        for _ in range(5):
            for tensor in given.values():
                tensor.mul_(0.5)
            optimizer.step()
            scheduler.step()
            rates.append(float(scheduler.get_last_lr()[0]))
            rates.append(float(optimizer.param_groups[0]["momentum"]))
        return rates

    np.testing.assert_allclose(run(whole, imode), run(whole, torch), rtol=1e-6)


def test_network_trained_side_by_side():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((64, 8)).astype("f4"), rng.standard_normal((64, 2)).astype("f4")

    def whole(lib):
        nn = lib.nn
        model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.BatchNorm1d(16), nn.Linear(16, 2))
        optimizer = lib.optim.AdamW(model.parameters(), lr=0.01)
        schedule = lib.optim.lr_scheduler.CosineAnnealingLR(optimizer, 20)
        data = lib.utils.data.TensorDataset(lib.tensor(x), lib.tensor(y))
        losses = []
        for _ in range(20):
            for a, b in lib.utils.data.DataLoader(data, 16, shuffle=True):
                optimizer.zero_grad()
                loss = nn.functional.mse_loss(model(a), b)
                loss.backward()
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
            schedule.step()
            losses.append(loss.item())
        return losses

    np.testing.assert_allclose(run(whole, imode), run(whole, torch), rtol=2e-3)


@pytest.mark.parametrize("buffers", [False, True])
@pytest.mark.parametrize(
    "options",
    [
        "",
        "avg_fn=s.get_ema_avg_fn(0.7)",
        "avg_fn=s.get_swa_avg_fn()",
        "multi_avg_fn=s.get_ema_multi_avg_fn(0.7)",
        "multi_avg_fn=s.get_swa_multi_avg_fn()",
    ],
)
def test_averaged_model(options, buffers):
    values = np.random.default_rng(7).standard_normal((4, 3, 2)).astype("f4")
    batches = np.random.default_rng(8).standard_normal((3, 5, 2)).astype("f4")

    def whole(lib):
        swa = lib.optim.swa_utils
        model = lib.nn.Sequential(lib.nn.Linear(2, 3), lib.nn.BatchNorm1d(3))
        more = eval(f"dict({options})", {"s": swa})
        averaged = swa.AveragedModel(model, use_buffers=buffers, **more)
        for i, value in enumerate(values):
            with lib.no_grad():
                model[0].weight.copy_(lib.tensor(value))
                model[0].bias.fill_(float(i))
                model[1].running_mean.add_(1)
                model[1].num_batches_tracked.add_(2)
            averaged.update_parameters(model)
        before = {k: v.clone() for k, v in averaged.state_dict().items()}
        data = [(lib.tensor(b), 3) for b in batches]
        swa.update_bn(data, averaged)
        averaged.eval()
        return [before, dict(averaged.state_dict()), averaged(data[0][0]).detach()]

    if buffers and "swa_multi" in options:  # counts of batches cannot be averaged so
        ours, theirs = error(lambda: whole(imode)), error(lambda: whole(torch))
        assert ours == theirs and "Integer division" in ours[1]
        return
    close(whole(imode), whole(torch), 1e-5)


COMPLEX = {
    "SGD": [{}, {"momentum": 0.9, "weight_decay": 0.1}, {"momentum": 0.9, "nesterov": True}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}, {"maximize": True}],
    "AdamW": [{}, {"amsgrad": True}],
    "RMSprop": [{}, {"centered": True, "momentum": 0.5}],
    "Adagrad": [{}],
}


def train_complex(lib, name, options, dtype, norm):
    """Return parameters, gradient norms and losses of a few steps over complex parameters."""
    z = lib.nn.Parameter(lib.tensor([1 + 2j, -1j, 0.5], dtype=getattr(lib, dtype)))
    w = lib.nn.Parameter(lib.tensor([[0.5, 1.0], [2.0, -1.0]]))
    optimizer = getattr(lib.optim, name)([z, w], lr=0.1, **options)
    target = lib.tensor([3 - 2j, 1 + 1j, -1 + 2j], dtype=getattr(lib, dtype))
    seen = []
    for _ in range(3):  # before a gradient passes 0, where RMSprop divides noise
        optimizer.zero_grad()
        loss = ((z - target).abs() ** 2).sum() + ((w * w).sum() - 1) ** 2
        loss.backward()
        size = lib.nn.utils.clip_grad_norm_([z, w], 2.0, norm_type=norm)
        seen += [loss.item(), size.item(), z.grad.tolist()]
        optimizer.step()
    return np.concatenate([np.ravel(item) for item in [*seen, z.tolist(), w.tolist()]])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize(
    ("name", "options"), [(n, o) for n, several in COMPLEX.items() for o in several]
)
def test_training_over_complex_parameters(name, options, dtype):
    for norm in (2.0, 1.0, float("inf")):
        here, there = (train_complex(of, name, options, dtype, norm) for of in (imode, torch))
        assert np.allclose(here, there, 1e-4, 1e-5)


def test_a_list_of_parameters_can_be_optimized():
    for lib in (imode, torch):
        listed = lib.nn.ParameterList([lib.ones(1), lib.ones(2)])
        groups = lib.optim.SGD(listed, lr=0.1).param_groups
        assert [p.shape[0] for p in groups[0]["params"]] == [1, 2]
        for made in (lib.nn.Linear(1, 1), lib.nn.Sequential(lib.nn.Linear(1, 1))):
            with pytest.raises(TypeError):
                lib.optim.SGD(made, lr=0.1)


def test_a_schedule_of_others_asks_whether_it_is_within_step():
    for lib in (imode, torch):
        seen = []

        class Asks(lib.optim.lr_scheduler.LRScheduler):
            def get_lr(self, seen=seen):
                seen.append(self._get_lr_called_within_step)
                return [group["lr"] * 0.5 for group in self.optimizer.param_groups]

        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=1.0)
        schedule = Asks(optimizer)
        optimizer.step()
        schedule.step()
        schedule.get_lr()
        assert seen == [True, True, False] and schedule.get_last_lr() == [0.25]


def test_tensors_grouped_by_dtype():
    seen = []
    for lib in (imode, torch):
        from_file = "utils._foreach_utils"
        group = importlib.import_module(f"{lib.__name__}.{from_file}")
        lists = [[lib.ones(1), lib.ones(2).double(), lib.ones(3)], [lib.ones(1), None, lib.ones(2)]]
        for options in ({}, {"with_indices": True}):
            found = group._group_tensors_by_device_and_dtype(lists, **options)
            sizes = [
                [
                    str(dtype).rpartition(".")[2],
                    [[None if t is None else len(t) for t in each] for each in parts],
                    places,
                ]
                for (_, dtype), (parts, places) in found.items()
            ]
            seen.append(sorted(sizes, key=str))
    assert seen[:2] == seen[2:]


def hooked(lib, cls):
    """What the hooks of an optimizer are called with, and what they change."""
    parameter, seen = lib.nn.Parameter(lib.ones(2)), []
    optimizer = cls(lib)([parameter], lr=0.5)
    schedule = lib.optim.lr_scheduler.StepLR(optimizer, 1)

    def noted(name, result=None):
        def hook(opt, *args):
            seen.append([name, opt is optimizer, len(args), [len(each) for each in args]])
            return result

        return hook

    def closure():
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    before = optimizer.register_step_pre_hook(noted("before"))
    optimizer.register_step_pre_hook(lambda opt, args, kwargs: (args, kwargs))
    optimizer.register_step_post_hook(noted("after"))
    seen.append(optimizer.step(closure).item())
    before.remove()
    seen.append(optimizer.step(closure=closure).item())
    schedule.step()
    wrong = optimizer.register_step_pre_hook(lambda *args: 3)
    seen.append(error(lambda: optimizer.step(closure))[0])
    wrong.remove()
    optimizer.register_state_dict_pre_hook(noted("collects"))
    optimizer.register_state_dict_post_hook(lambda opt, state: {**state, "more": 1})
    optimizer.register_state_dict_post_hook(noted("collected"), prepend=True)
    state = optimizer.state_dict()
    optimizer.register_load_state_dict_pre_hook(noted("loads"))
    optimizer.register_load_state_dict_pre_hook(
        lambda opt, state: {key: value for key, value in state.items() if key != "more"}
    )
    optimizer.register_load_state_dict_post_hook(noted("loaded"))
    optimizer.load_state_dict(state)
    copied = copy.deepcopy(optimizer)
    copied.step()
    return [*seen, sorted(state), parameter.tolist(), sorted(copied.state_dict())]


def own_step(lib):
    class Own(lib.optim.Optimizer):
        def __init__(self, params, lr):
            super().__init__(params, {"lr": lr})

        def step(self, closure=None):
            loss = closure() if closure else None
            with lib.no_grad():
                for p in self.param_groups[0]["params"]:
                    p.sub_(p.grad if p.grad is not None else 0, alpha=0.1)
            return loss

    return Own


@pytest.mark.parametrize("cls", [lambda lib: lib.optim.SGD, own_step], ids=["SGD", "own"])
@pytest.mark.filterwarnings("error")
def test_hooks_of_optimizers(cls):
    assert hooked(imode, cls) == hooked(torch, cls)


def test_a_plateau_tells_whether_it_waits():
    for lib in (imode, torch):
        optimizer = lib.optim.SGD([lib.nn.Parameter(lib.ones(1))], lr=1.0)
        schedule = lib.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, cooldown=2)
        seen = []
        for _ in range(5):
            schedule.step(1.0)
            seen.append(schedule.in_cooldown)
        assert seen == [False, True, True, False, True]
