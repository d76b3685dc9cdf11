"""Optimizers that step other tensors for a block: in both libraries."""

import copy

from .side_by_side import agrees, error


def trained(lib, kind="Adam", **options):
    weights = [lib.arange(3.0).requires_grad_(), lib.ones(2, 2, requires_grad=True)]
    groups = [{"params": [weights[0]], "lr": 0.5}, {"params": [weights[1]]}]
    optimizer = getattr(lib.optim, kind)(groups, lr=0.1, **options)
    sum((w * w).sum() for w in weights).backward()
    optimizer.step()
    return weights, optimizer


@agrees
def test_steps(lib):
    seen = []
    for kind, options in (("Adam", {}), ("SGD", {"momentum": 0.9}), ("RMSprop", {})):
        weights, optimizer = trained(lib, kind, **options)
        others = {str(i): w.detach().clone().requires_grad_() for i, w in enumerate(weights)}
        for other in others.values():
            other.grad = lib.ones_like(other)
        given = copy.deepcopy(optimizer.state_dict())
        given["param_groups"][0]["lr"] = 0.25
        with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, given):
            optimizer.step()
            seen += [optimizer.param_groups[0]["lr"], optimizer.param_groups[0]["params"]]
        optimizer.step()
        seen += [weights, list(others.values()), optimizer.state_dict(), given]
        seen += [optimizer.param_groups[0]["params"][0] is weights[0]]
    return seen


@agrees
def test_refused(lib):
    weights, optimizer = trained(lib)
    others = {str(i): w.detach().clone() for i, w in enumerate(weights)}
    good = optimizer.state_dict()

    def tried(change, others=others):
        given = copy.deepcopy(good)
        given = change(given) or given

        def run():
            with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, given):
                pass

        return error(run)

    fresh = lib.optim.SGD([weights[0]], 0.1)
    return [
        error(lambda: lib.optim.swap_in_optimizer_params_and_state(fresh, {}, {}).__enter__()),
        tried(lambda g: [1]), tried(lambda g: g.update(state=3)),
        tried(lambda g: g["state"].update({weights[0]: {}})),
        tried(lambda g: g["state"].update({0: 3})), tried(lambda g: g["state"].update({7: {}})),
        tried(lambda g: g.update(param_groups=3)), tried(lambda g: g["param_groups"].pop()),
        tried(lambda g: g["param_groups"].__setitem__(0, 3)),
        tried(lambda g: g["param_groups"][0].update(params="0")),
        tried(lambda g: g["param_groups"][0].update(params=[0, 1])),
        tried(lambda g: g["param_groups"][0].update(more=1)),
        tried(lambda g: g["param_groups"][0].pop("lr")), tried(lambda g: None, {}),
        optimizer.param_groups[0]["params"][0] is weights[0],
    ]  # fmt: skip
