"""An optimizer that steps other tensors for a block."""

import contextlib
from collections import defaultdict

from imode import Tensor

_NAME = "swap_in_optimizer_params_and_state"


@contextlib.contextmanager
def swap_in_optimizer_params_and_state(optimizer, swapin_parameters, swapin_optim_state):
    """For a block, give an optimizer other parameters and state; afterwards it has its own again.

    swapin_parameters: a dict of tensors, in the order of the optimizer's. swapin_optim_state: as
    `optimizer.state_dict()` gives it; tensors in it are written to in place, and nothing else in it
    changes. The optimizer must have made a step. Raises RuntimeError where the two do not fit it.

    >>> w, other = imode.ones(1, requires_grad=True), imode.ones(1, requires_grad=True)
    >>> optimizer = imode.optim.SGD([w], lr=0.5, momentum=0.9)
    >>> w.sum().backward(); optimizer.step()
    >>> other.grad, state = imode.ones(1), optimizer.state_dict()
    >>> with imode.optim.swap_in_optimizer_params_and_state(optimizer, {"w": other}, state):
    ...     optimizer.step()
    >>> w.item(), round(other.item(), 4)
    (0.5, 0.05)
    """
    if not optimizer.state:
        raise RuntimeError(f"{_NAME} requires initialized optimizer state.")
    groups, state = _checked(optimizer, list(swapin_parameters.values()), swapin_optim_state)
    before = optimizer.state, [dict(group) for group in optimizer.param_groups]
    try:
        swapped = defaultdict(dict)
        for group, given, parameters in groups:
            group.update(given, params=parameters)
            for parameter, number in zip(parameters, given["params"], strict=True):
                swapped[parameter] = dict(state.get(number, {}))
        optimizer.state = swapped
        yield
    finally:
        optimizer.state = before[0]
        for group, own in zip(optimizer.param_groups, before[1], strict=True):
            group.clear()
            group.update(own)


def _checked(optimizer, parameters, given):
    """Return ([(the optimizer's group, the one given, its parameters)], the state given)."""
    if not isinstance(given, dict):
        raise RuntimeError(f"{_NAME} requires a DCP-style optimizer state_dict.")
    state, groups = given.get("state"), given.get("param_groups")
    _check_state(state)
    if not isinstance(groups, list):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['param_groups'] to be a list of param-group "
            f"dicts, got {type(groups).__name__}."
        )
    if len(optimizer.param_groups) != len(groups):
        raise RuntimeError(
            "swapin_optim_state has a different number of parameter groups than the live optimizer."
        )
    found, at, numbers = [], 0, set()
    for i, (own, group) in enumerate(zip(optimizer.param_groups, groups, strict=True)):
        _check_group(i, own, group)
        count = len(group["params"])
        if at + count > len(parameters):
            raise RuntimeError(
                f"{_NAME} requires the explicit parameter state to match optimizer.param_groups "
                "ordering."
            )
        found.append((own, group, parameters[at : at + count]))
        numbers.update(group["params"])
        at += count
    unknown = [key for key in state if key not in numbers]
    if unknown:
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be keyed only by packed parameter "
            f"ids from param_groups[*]['params']; got extra keys {unknown!r}."
        )
    return found, state


def _check_state(state):
    if not isinstance(state, dict):
        raise RuntimeError(
            f"{_NAME} requires swapin_optim_state['state'] to be a dict mapping packed parameter "
            f"ids to per-param state dicts, got {type(state).__name__}."
        )
    if any(isinstance(key, Tensor) for key in state):
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style state keyed by packed parameter ids."
        )
    if any(isinstance(k, int) and not isinstance(v, dict) for k, v in state.items()):
        raise RuntimeError(
            f"{_NAME} requires per-parameter optimizer state entries to be dictionaries."
        )


def _check_group(i, own, group):
    if not isinstance(group, dict):
        raise RuntimeError(f"{_NAME} requires each optimizer param group to be a dictionary.")
    numbers = group.get("params")
    if not isinstance(numbers, list) or not all(isinstance(n, int) for n in numbers):
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param_groups[*]['params'] entries "
            "keyed by packed parameter ids."
        )
    if len(own["params"]) != len(numbers):
        raise RuntimeError(
            f"swapin_optim_state param group {i} has a different number of params than the live "
            "optimizer param group."
        )
    more, less = [k for k in group if k not in own], [k for k in own if k not in group]
    if more or less:
        raise RuntimeError(
            f"{_NAME} requires optimizer.state_dict()-style param group keys to exactly match the "
            f"live optimizer group keys for group {i}. Keys only in swap-in: {more}. Keys only in "
            f"live: {less}."
        )
