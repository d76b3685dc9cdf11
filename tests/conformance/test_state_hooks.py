"""Hooks on state_dict and load_state_dict, here and in PyTorch: when they run and what they see."""

import copy
import pickle
import random

import pytest

KINDS = {
    "register_state_dict_pre_hook": "state_pre",
    "register_state_dict_post_hook": "state_post",
    "register_load_state_dict_pre_hook": "load_pre",
    "register_load_state_dict_post_hook": "load_post",
}


class Hook:
    """Logs a call, and does one thing to what it is given."""

    def __init__(self, log, kind, name, deed):
        self.log, self.kind, self.name, self.deed = log, kind, name, deed

    def __call__(self, module, *given):
        weights = [round(float(p.sum()), 4) for p in module.parameters(recurse=False)]
        self.log.append((self.name, self.kind, type(module).__name__, weights, self.shown(given)))
        if self.deed == "return":
            return given[0]
        if self.deed == "raise":
            raise ValueError(self.name)
        if self.kind == "state_post" and self.deed == "change":
            given[0][given[1] + "more"] = next(iter(given[0].values()), 1)
        if self.kind == "load_pre" and self.deed == "change":
            state, prefix = given[:2]
            for key in [k for k in state if k.startswith(prefix)][:1]:
                state[key + "x"] = state.pop(key)
        if self.kind == "load_pre" and self.deed == "add":
            given[0][given[1] + "unknown"] = 1
        if self.kind == "load_post" and self.deed == "change":
            for keys in given[0]:
                keys.clear()
        return None

    @staticmethod
    def shown(given):
        """Names and flags of what a hook is given."""
        seen = []
        for value in given:
            if isinstance(value, dict):
                seen.append(sorted(k for k in value if k != "writes"))
            elif isinstance(value, (tuple, list)):
                seen.append([list(v) if isinstance(v, list) else v for v in value])
            else:
                seen.append(value)
        return seen


def program(lib, seed):
    """What a random program logs."""
    rng, log = random.Random(seed), []
    nn = lib.nn
    lib.manual_seed(seed)
    model = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)))
    modules = list(model.modules())
    handles = []
    for i in range(rng.randint(1, 5)):
        register, kind = rng.choice(sorted(KINDS.items()))
        deed = rng.choice(["", "", "change", "add", "return", "raise"])
        hook = Hook(log, kind, f"h{i}", deed)
        handles.append(getattr(rng.choice(modules), register)(hook))
    if rng.random() < 0.2:
        handles[0].remove()
    other = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.BatchNorm1d(3), nn.Linear(3, 1)))
    for action in ("save", "load", "load less", "save"):
        try:
            if action == "save":
                log.append(list(model.state_dict()))
            else:
                state = other.state_dict()
                if action == "load less":
                    state.pop("1.1.bias")
                    state["2.weight"] = state["0.weight"]
                done = model.load_state_dict(state, strict=rng.random() < 0.5)
                log.append([list(keys) for keys in done])
        except Exception as error:
            # What fits is not written here where there is an error; in PyTorch it is.
            return [*log, (type(error).__name__, str(error).split("\n")[:2])]
        log.append([round(float(p.sum()), 4) for p in model.parameters()])
    return log


def test_random(lib, torch):
    for seed in range(300):
        here, there = attempt(lib, seed), attempt(torch, seed)
        assert here == there, f"seed {seed}"


def attempt(lib, seed):
    try:
        return program(lib, seed)
    except Exception as error:
        return type(error).__name__, str(error).split("\n")[0]


@pytest.mark.parametrize("register", sorted(KINDS))
def test_hooks_are_copied_and_pickled(lib, register):
    layer = lib.nn.Linear(1, 1)
    getattr(layer, register)(Hook([], KINDS[register], "h", ""))
    for twin in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        table = getattr(twin._hooks, KINDS[register])
        assert [hook.name for (hook,) in table.values()] == ["h"]
        twin.load_state_dict(twin.state_dict())
        (hook,) = next(iter(table.values()))
        assert len(hook.log) == 1


def test_to_empty(lib, torch):
    def told(lib):
        layer = lib.nn.BatchNorm1d(2)
        before = layer.weight
        assert layer.to_empty(device="cpu") is layer
        return layer.weight is before, layer.weight.shape, layer.weight.requires_grad

    assert told(lib) == told(torch)
    with pytest.raises(TypeError):
        lib.nn.Linear(1, 1).to_empty()


class Seen:
    """A hook that is not given the module: it keeps what it is given."""

    def __init__(self):
        self.calls = []

    def __call__(self, state, prefix, metadata, strict, missing, unexpected, errors):
        self.calls.append((sorted(state), prefix, strict, missing, unexpected, errors))


@pytest.mark.parametrize(
    "way", [lambda m: m, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))]
)
def test_hooks_without_the_module(lib, torch, way):
    seen = []
    for library in (lib, torch):
        model, hook = library.nn.Sequential(library.nn.Linear(2, 1)), Seen()
        handle = model[0]._register_load_state_dict_pre_hook(hook)
        model = way(model)
        model.load_state_dict(model.state_dict())
        table = model[0]._load_state_dict_pre_hooks
        (kept,) = table.values()
        seen.append((kept.hook.calls, len(hook.calls)))
        handle.remove()
    assert seen[0] == seen[1]
