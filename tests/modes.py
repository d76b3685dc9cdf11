"""The whole state that guards change, every guard with what it sets, and a check of both ends."""

import pytest

import imode

AD, AUTOGRAD = imode.DispatchKey.ADInplaceOrView, imode.DispatchKey.Autograd


def state():
    """The whole state that guards change: (inference mode, AD included, excluded keys, grad)."""
    return (
        imode.is_inference_mode_enabled(),
        AD in imode.included_keys(),
        tuple(imode.excluded_keys()),
        imode.is_grad_enabled(),
    )


DEFAULT = (False, True, (), True)
INFERENCE = (True, False, (AUTOGRAD,), False)
NO_GRAD = (False, True, (), False)

GUARDS = {
    "inference_mode()": (imode.inference_mode, INFERENCE),
    "inference_mode(True)": (lambda: imode.inference_mode(True), INFERENCE),
    "inference_mode(mode=True)": (lambda: imode.inference_mode(mode=True), INFERENCE),
    "inference_mode(False)": (lambda: imode.inference_mode(False), DEFAULT),
    "InferenceMode()": (imode.InferenceMode, INFERENCE),
    "normal_mode()": (imode.normal_mode, NO_GRAD),
    "no_grad()": (imode.no_grad, NO_GRAD),
    "enable_grad()": (imode.enable_grad, DEFAULT),
    "set_grad_enabled(False)": (lambda: imode.set_grad_enabled(False), NO_GRAD),
    "set_grad_enabled(True)": (lambda: imode.set_grad_enabled(True), DEFAULT),
    "AutoDispatchBelowAutograd()": (
        imode.AutoDispatchBelowAutograd,
        (False, True, (AUTOGRAD,), True),
    ),
    "AutoDispatchBelowADInplaceOrView()": (
        imode.AutoDispatchBelowADInplaceOrView,
        (False, True, (AUTOGRAD, AD), True),
    ),
}
each_guard = pytest.mark.parametrize(("make", "inside"), GUARDS.values(), ids=GUARDS.keys())


@pytest.fixture(autouse=True)
def starts_and_ends_in_the_default_state():
    assert state() == DEFAULT
    yield
    assert state() == DEFAULT
