"""Parametrized weights, pruning, fusion, calls with other tensors: the same programs in both."""

import copy
import warnings

import pytest

pytest.importorskip("torch", reason="torch is not installed: nothing to compare with")


def numbers(x):
    return [round(float(v), 5) for v in x.detach().reshape(-1).tolist()]


def state(module):
    return {name: numbers(value) for name, value in module.state_dict().items()}


def attempt(function, *args):
    """What a call gives, or its error: the class and the first sentence."""
    try:
        return function(*args)
    except Exception as error:
        text = str(error).split("\n")[0].split(". ")[0]
        return type(error).__name__, text.replace("imode", "torch")


def close(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) < 2e-4 * max(1, abs(b))
    if isinstance(a, (list, tuple)):
        return isinstance(b, (list, tuple)) and len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(close(a[key], b[key]) for key in a)
    return a == b


# ---- norms ---------------------------------------------------------------------------------------

LAYERS = (
    (lambda nn: nn.Linear(4, 3), (2, 4)),
    (lambda nn: nn.Conv2d(2, 3, 2), (1, 2, 3, 3)),
    (lambda nn: nn.ConvTranspose1d(2, 3, 2), (1, 2, 4)),
)


def norms(lib):
    """Weights of given norms and of singular value 1, as parametrizations and as hooks."""
    utils = lib.nn.utils
    new = utils.parametrizations
    for make, shape in LAYERS:
        for normed in (
            new.weight_norm,
            lambda m: new.weight_norm(m, dim=None),
            lambda m: new.weight_norm(m, dim=1),
            new.spectral_norm,
            utils.weight_norm,
            utils.spectral_norm,
        ):
            lib.manual_seed(1)
            module = normed(make(lib.nn))
            yield type(module).__name__, state(module), str(module)
            result = module(lib.ones(shape))
            (result * result).sum().backward()
            yield numbers(result), state(module)
            yield {name: numbers(p.grad) for name, p in module.named_parameters()}
            if utils.parametrize.is_parametrized(module):
                copied = copy.deepcopy(module)
                yield type(copied).__name__, state(copied)


def removed_hooks(lib):
    """The older hooks taken back, and refused twice."""
    utils = lib.nn.utils
    for put, remove in (
        (utils.weight_norm, utils.remove_weight_norm),
        (utils.spectral_norm, utils.remove_spectral_norm),
    ):
        lib.manual_seed(2)
        module = put(lib.nn.Linear(4, 3))
        yield attempt(put, module)
        remove(module)
        yield state(module), list(dict(module.named_parameters()))
        yield attempt(remove, module), numbers(module(lib.ones(4)))


def older_files(lib):
    """What `weight_norm` saved, loaded by the parametrization."""
    lib.manual_seed(5)
    saved = lib.nn.utils.weight_norm(lib.nn.Linear(3, 2)).state_dict()
    module = lib.nn.utils.parametrizations.weight_norm(lib.nn.Linear(3, 2))
    yield str(module.load_state_dict(saved)), state(module)


# ---- parametrizations ----------------------------------------------------------------------------


def classes(lib):
    class Symmetric(lib.nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).transpose(-1, -2)

    class Exp(lib.nn.Module):
        def forward(self, x):
            return x.exp()

        def right_inverse(self, x):
            return x.log()

    class Product(lib.nn.Module):
        def forward(self, a, b):
            return a * b

        def right_inverse(self, x):
            return x.abs(), x.sign()

    class First(lib.nn.Module):
        def forward(self, x):
            return x[0]

    class Double(lib.nn.Module):
        def forward(self, x):
            return x.double()

    return Symmetric(), Exp(), Product(), First(), Double()


def parametrized(lib):
    """One function, two, several tensors; assigned, cached, removed."""
    symmetric, exp, product, *_ = classes(lib)
    tools = lib.nn.utils.parametrize
    lib.manual_seed(3)
    module = tools.register_parametrization(lib.nn.Linear(3, 3), "weight", symmetric)
    yield state(module), numbers(module.weight), str(module)
    yield attempt(lambda: setattr(module, "weight", lib.ones(3, 3)))
    tools.register_parametrization(module, "weight", exp)
    yield numbers(module.weight), tools.is_parametrized(module, "bias")
    with tools.cached():
        yield module.weight is module.weight
    yield module.weight is module.weight
    tools.remove_parametrizations(module, "weight")
    yield type(module).__name__, state(module), isinstance(module.weight, lib.nn.Parameter)
    module = tools.register_parametrization(lib.nn.Linear(2, 2), "weight", product)
    yield state(module)
    module.weight = lib.ones(2, 2) * -3
    yield state(module)
    yield attempt(lambda: tools.remove_parametrizations(module, "weight", False))
    tools.remove_parametrizations(module, "weight")
    yield state(module), list(dict(module.named_parameters()))


def the_parameter_stays(lib):
    """The object that an optimizer holds is the one that is kept."""
    exp, tools = classes(lib)[1], lib.nn.utils.parametrize
    module = lib.nn.Linear(2, 2)
    with lib.no_grad():
        module.weight.copy_(lib.tensor([[1.0, 2.0], [3.0, 4.0]]))
    weight = module.weight
    tools.register_parametrization(module, "weight", exp)
    yield module.parametrizations.weight.original is weight
    module.weight = lib.ones(2, 2) * 2
    yield numbers(module.parametrizations.weight.original)
    tools.remove_parametrizations(module, "weight", leave_parametrized=False)
    yield numbers(module.weight), module.weight is weight


def refused(lib):
    """What changes shape or dtype, is not there, or would be pickled."""
    symmetric, exp, _, first, double = classes(lib)
    tools = lib.nn.utils.parametrize
    module = lib.nn.Linear(2, 2)
    for bad in (first, double):
        yield attempt(lambda bad=bad: tools.register_parametrization(module, "weight", bad))
    yield attempt(lambda: tools.register_parametrization(module, "nothing", symmetric))[0]
    yield attempt(lambda: tools.remove_parametrizations(module, "weight"))[0]
    tools.register_parametrization(module, "weight", first, unsafe=True)
    yield list(module.weight.shape), attempt(lambda: module.__getstate__())
    module = tools.register_parametrization(lib.nn.BatchNorm1d(2), "running_mean", exp, unsafe=True)
    yield sorted(dict(module.named_buffers()))
    made = tools.register_parametrization(lib.nn.Linear(2, 2), "weight", exp, unsafe=True)
    other = tools.transfer_parametrizations_and_params(made, lib.nn.Linear(2, 2))
    yield list(other.state_dict()), numbers(made.weight) == numbers(other.weight)
    yield tools.type_before_parametrizations(other).__name__


def orthogonal(lib):
    """Each map, tall, wide and square, and what is assigned."""
    put = lib.nn.utils.parametrizations.orthogonal
    for shape in ((3, 3), (2, 4), (4, 2)):
        for name in (None, "cayley", "matrix_exp", "householder"):
            for trivial in (True, False):
                lib.manual_seed(4)
                module = lib.nn.Linear(*shape)
                put(module, orthogonal_map=name, use_trivialization=trivial)
                weight = module.weight
                yield sorted(module.state_dict())
                small = weight if weight.shape[0] <= weight.shape[1] else weight.T
                yield [abs(v) < 1e-5 for v in numbers(small @ small.T - lib.eye(len(small)))]
                if not trivial or shape == (3, 3):
                    yield numbers(weight)
                tall = (lib.arange(8.0)[: max(shape) * min(shape)] ** 2).sin()
                if shape == (3, 3):
                    tall = (lib.arange(9.0) ** 2).sin()
                given = lib.linalg.qr(tall.view(max(shape), min(shape)))[0]
                given = given if shape[1] >= shape[0] else given.T
                yield attempt(lambda m=module, g=given: setattr(m, "weight", g))
                yield numbers(module.weight) if trivial else None
    for arguments in (("bias",), ("nothing",), ("weight", "other")):
        yield attempt(lambda a=arguments: put(lib.nn.Linear(2, 2), *a))[0]


# ---- pruning -------------------------------------------------------------------------------------


def prunings(lib):
    prune = lib.nn.utils.prune
    return (
        lambda m: prune.l1_unstructured(m, "weight", 3),
        lambda m: prune.l1_unstructured(m, "weight", 0.5),
        lambda m: prune.l1_unstructured(m, "weight", 0),
        lambda m: prune.l1_unstructured(m, "weight", 2, lib.arange(16.0).view(4, 4)),
        lambda m: prune.random_unstructured(m, "weight", 0.3),
        lambda m: prune.random_structured(m, "weight", 1, 1),
        lambda m: prune.ln_structured(m, "weight", 0.5, 2, 0),
        lambda m: prune.ln_structured(m, "weight", 1, 1, -1),
        lambda m: prune.identity(m, "weight"),
        lambda m: prune.custom_from_mask(m, "weight", lib.tensor([[1, 0, 1, 0]] * 4)),
    )


def pruned(lib):
    """Each way, alone and followed by others; gradients; removed."""
    prune = lib.nn.utils.prune
    lib.manual_seed(6)
    for way in prunings(lib):
        module = way(lib.nn.Linear(4, 4))
        yield state(module), numbers(module.weight), prune.is_pruned(module)
        module(lib.ones(4)).sum().backward()
        yield numbers(module.weight_orig.grad)
        prune.l1_unstructured(module, "weight", 0.25)
        yield state(module)
        prune.ln_structured(module, "weight", 1, 2, 0)
        yield state(module)
        prune.remove(module, "weight")
        yield state(module), prune.is_pruned(module), list(dict(module.named_parameters()))
        yield attempt(lambda m=module: prune.remove(m, "weight"))[0]
    both = lib.nn.Sequential(lib.nn.Linear(3, 3), lib.nn.Linear(3, 2))
    pairs = [(layer, "weight") for layer in both]
    prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.4)
    yield state(both), numbers(prune.L1Unstructured(2).prune(lib.arange(4.0)))


def not_pruned(lib):
    """Amounts, dimensions and scores that do not fit."""
    prune = lib.nn.utils.prune
    for call in (
        lambda m: prune.l1_unstructured(m, "weight", 99),
        lambda m: prune.l1_unstructured(m, "weight", -1),
        lambda m: prune.l1_unstructured(m, "weight", 1.5),
        lambda m: prune.l1_unstructured(m, "weight", "a"),
        lambda m: prune.ln_structured(m, "bias", 1, 1, 0),
        lambda m: prune.ln_structured(m, "weight", 1, 1, 5),
        lambda m: prune.l1_unstructured(m, "weight", 2, lib.ones(2)),
        lambda m: prune.global_unstructured([(m, "weight")], prune.LnStructured, amount=1, n=2),
    ):
        module = lib.nn.Linear(4, 4)
        raised, text = attempt(lambda m=module, call=call: call(m))
        yield raised, text.partition("method <")[0], sorted(module.state_dict())


# ---- fusion, starting values, memory -------------------------------------------------------------


def fused(lib):
    """A normalisation put into the layer before it."""
    nn = lib.nn
    lib.manual_seed(7)
    for layer, norm, shape in (
        (nn.Conv2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 3, 3)),
        (nn.Conv1d(2, 3, 2, bias=False), nn.BatchNorm1d(3, affine=False), (2, 2, 3)),
        (nn.ConvTranspose2d(2, 3, 2), nn.BatchNorm2d(3), (2, 2, 3, 3)),
    ):
        x = (lib.arange(36.0)[: lib.ones(shape).numel()]).view(-1).repeat(2)
        x = x[: lib.ones(shape).numel()].view(shape)
        norm(layer(x))
        yield attempt(lambda c=layer, n=norm: nn.utils.fuse_conv_bn_eval(c, n))
        layer.eval()
        norm.eval()
        made = nn.utils.fuse_conv_bn_eval(layer, norm, isinstance(layer, nn.ConvTranspose2d))
        yield state(made), numbers(made(x)), made.bias.requires_grad
    layer, norm = nn.Linear(3, 2), nn.BatchNorm1d(2)
    norm(layer(lib.arange(6.0).view(2, 3)))
    yield state(nn.utils.fuse_linear_bn_eval(layer.eval(), norm.eval()))
    yield attempt(lambda: nn.utils.fuse_linear_bn_eval(layer, nn.BatchNorm1d(3).eval()))


def made(lib):
    """Modules without starting values, and the memory of weights."""
    utils = lib.nn.utils
    module = utils.skip_init(lib.nn.Linear, 3, 2, bias=False)
    yield list(module.weight.shape), module.weight.requires_grad, str(module.weight.device)
    yield attempt(lambda: utils.skip_init(lib.nn.Identity))
    module = lib.nn.Sequential(lib.nn.Conv2d(3, 4, 2), lib.nn.Linear(2, 2))
    utils.convert_conv2d_weight_memory_format(module, lib.channels_last)
    yield module[0].weight.stride()


# ---- calls with other tensors --------------------------------------------------------------------


def called(lib):
    """Parameters and buffers given to the call, tied ones, names that are not there."""
    nn, call = lib.nn, lib.func.functional_call
    lib.manual_seed(8)
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    x, before = lib.arange(4.0).view(2, 2), state(module)
    given = {k: lib.full_like(v, 2.0) for k, v in module.state_dict().items() if v.dim()}
    given["0.weight"].requires_grad_()
    result = call(module, given, (x,))
    (result * lib.arange(4.0).view(2, 2)).sum().backward()
    after = state(module)
    yield numbers(result), {k: numbers(v) for k, v in given.items()}
    yield [name for name in before if before[name] != after[name]]
    yield numbers(given["0.weight"].grad)
    for arguments in (
        (({"foo.bar": x}), x),
        (({"0.weight": x}, {"0.weight": x}), x),
        (3, x),
        ([3], x),
    ):
        yield attempt(lambda a=arguments: call(module, *a))[0]
    yield numbers(call(module, {"unused": x}, x)), hasattr(module, "unused")
    yield attempt(lambda: call(module, given, (x,), strict=True))[0]
    tied = nn.Sequential(nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False))
    tied[1].weight = tied[0].weight
    given = {"0.weight": lib.ones(2, 2)}
    yield numbers(call(tied, given, x)), numbers(call(tied, given, x, tie_weights=False))
    yield attempt(lambda: call(tied, {**given, "1.weight": lib.zeros(2, 2)}, x))[0]


# ---- the adaptive softmax ------------------------------------------------------------------------


def adaptive_softmax(lib):
    """Losses, probabilities, predictions, gradients; targets and cutoffs that do not fit."""
    make = lib.nn.AdaptiveLogSoftmaxWithLoss
    lib.manual_seed(8)
    for options in ({}, {"div_value": 2.0, "head_bias": True}):
        module = make(8, 20, [4, 10, 15], **options)
        x = lib.arange(40.0).view(5, 8).sin().requires_grad_()
        target = lib.tensor([0, 5, 12, 19, 3])
        output, loss = module(x, target)
        loss.backward()
        yield state(module), numbers(output), numbers(loss), numbers(x.grad)
        yield numbers(module.log_prob(x)), module.predict(x).tolist(), str(module)
        yield {name: numbers(p.grad) for name, p in module.named_parameters()}
        yield list(module(x[0], lib.tensor(7)).output.shape)
        for wrong in (target + 1, target[:2], target[0], target[None]):
            yield attempt(module, x, wrong)
        yield attempt(module, x[0], target[:1])
    for cutoffs in ([], [0], [5, 5], [30], [3, 2], [1.5]):
        yield attempt(lambda c=cutoffs: make(8, 20, c))


PROGRAMS = (
    *(norms, removed_hooks, older_files, parametrized, the_parameter_stays, refused, orthogonal),
    *(pruned, not_pruned, fused, made, called, adaptive_softmax),
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_same(lib, torch, program):
    import torch.func
    import torch.nn.utils.prune

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        here, there = list(program(lib)), list(program(torch))
    assert len(here) == len(there)
    wrong = [(i, a, b) for i, (a, b) in enumerate(zip(here, there)) if not close(a, b)]
    assert not wrong, wrong[0]


# ---- helpers of the modules ----------------------------------------------------------------------


def test_helpers_of_modules(lib, torch):
    def seen(lib):
        utils = lib.nn.modules.utils
        found = [utils._pair(3), utils._triple((1, 2, 3)), utils._quadruple(1), utils._single([2])]
        found += [utils._ntuple(2)("ab"), utils._pair.__name__, utils._ntuple(5).__name__]
        found += [utils._reverse_repeat_tuple((1, 2), 2), utils._list_with_default(3, [1])]
        found += [utils._list_with_default([None, 3], [4, 5, 6])]
        found += [attempt(utils._list_with_default, [None, 3], [5, 6])]
        strip = utils.consume_prefix_in_state_dict_if_present
        outer = lib.nn.Module()
        outer.module = lib.nn.Sequential(lib.nn.Linear(1, 1))
        for states in (outer.state_dict(), {"module.a": 1, "b": 2}):
            strip(states, "module.")
            found += [list(states), sorted(getattr(states, "_metadata", {}))]
        return found

    assert seen(lib) == seen(torch)
