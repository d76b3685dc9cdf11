"""Operators under autocast and in modes, as far as it can be taken back."""

import pytest

import imode
from imode.utils._python_dispatch import TorchDispatchMode


class Mode(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def test_what_is_registered_is_taken_back():
    with imode.library.Library("rules_back", "DEF") as owner:
        owner.define("same(Tensor x, Tensor[] more) -> Tensor")
        owner.impl("same", lambda x, more: x.clone(), "CompositeExplicitAutograd")
        same, x = imode.ops.rules_back.same, imode.ones(1)
        with imode.library.Library("rules_back", "IMPL") as other:
            imode.library.register_autocast("rules_back::same", "cpu", imode.float16, lib=other)
            imode.library.register_torch_dispatch(
                "rules_back::same", Mode, lambda *a: a[3][0] + 1, lib=other
            )
            with imode.autocast("cpu"):
                assert same(x, [x]).dtype == same(x, more=[x]).dtype == imode.float16
            with Mode():
                assert same(x, []).item() == 2
        with imode.autocast("cpu"), Mode():
            assert same(x, []).dtype == imode.float32 and same(x, []).item() == 1
        with pytest.raises(ValueError, match="Device type 'meta' does not support autocast"):
            imode.library.register_autocast("rules_back::same", "meta", imode.half)


def test_arguments_in_any_form():
    @imode.library.custom_op("rules_form::total", mutates_args=())
    def total(x: imode.Tensor, rest: list[imode.Tensor], by: float = 1.0) -> imode.Tensor:
        assert {t.dtype for t in rest} == {x.dtype}
        return x * by

    with total:
        total.register_autocast("cpu", imode.bfloat16)
        x = imode.ones(1, requires_grad=True)
        with imode.autocast("cpu"):
            assert total(x, [x, x], by=2.0).dtype == total(x=x, rest=[x]).dtype == imode.bfloat16
        assert total(x, [x], 3.0).item() == 3
