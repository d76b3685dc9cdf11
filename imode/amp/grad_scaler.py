"""Losses that are scaled so that small gradients in float16 do not become zero."""

import imode
from imode._core.user_frames import warn
from imode.errors import names_of as _names_of

__all__ = ["GradScaler"]


class GradScaler:
    """Multiplies losses, divides gradients, and leaves out steps whose gradients are not finite.

    The scale falls by `backoff_factor` after such a step and grows by `growth_factor` after
    `growth_interval` others. With enabled=False, or for "cuda", which warns, it does nothing:
    `scale` returns what it gets and `step` calls the optimizer's.

    >>> w = imode.ones(1, requires_grad=True)
    >>> scaler, sgd = imode.amp.GradScaler("cpu", init_scale=8.0), imode.optim.SGD([w], lr=0.5)
    >>> scaler.scale((w * 3).sum()).backward()
    >>> w.grad
    tensor([24.])
    >>> scaler.step(sgd)
    >>> scaler.update()
    >>> w.detach()
    tensor([-0.5000])
    """

    def __init__(
        self,
        device="cuda",
        init_scale=2.0**16,
        growth_factor=2.0,
        backoff_factor=0.5,
        growth_interval=2000,
        enabled=True,
    ):
        if enabled and device == "cuda":
            warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
            )
            enabled = False
        self._device, self._enabled = device, enabled
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale, self._init_growth_tracker = init_scale, 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._scale = self._growth_tracker = None  # tensors, from the first call of scale()
        self._found = {}  # id of an optimizer -> (whether it stepped, gradients not finite)

    def scale(self, outputs):
        """Return a tensor, or tensors in containers, multiplied by the scale.

        Raises ValueError for what is neither a tensor nor iterable.
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, imode.Tensor):
            if self._scale is None:
                self._scale = imode.full((), self._init_scale, dtype=imode.float32)
                self._growth_tracker = imode.full((), self._init_growth_tracker, dtype=imode.int32)
            return outputs * self._scale
        if not hasattr(outputs, "__iter__"):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def _check(self, function):
        if self._scale is None:
            raise AssertionError(
                f"Attempted {function} but _scale is None.  This may indicate your script did not "
                "use scaler.scale(loss or outputs) earlier in the iteration."
            )

    def unscale_(self, optimizer):
        """Divide the gradients of the optimizer's parameters by the scale, before they are clipped.

        Raises RuntimeError where that was done since the last `update`, and ValueError for
        gradients in float16.
        """
        if not self._enabled:
            return
        self._check("unscale_")
        if id(optimizer) in self._found:
            if self._found[id(optimizer)][0]:
                raise RuntimeError("unscale_() is being called after step().")
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        inverse = self._scale.double().reciprocal().float()
        found, any_gradient = False, False
        with imode.no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    gradient = parameter.grad
                    if gradient is None:
                        continue
                    if gradient.dtype is imode.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    values = gradient._values() if gradient.is_sparse else gradient
                    found = found or not values.isfinite().all().item()
                    any_gradient = True
                    values.mul_(inverse)
        self._found[id(optimizer)] = (False, found if any_gradient else None)

    def step(self, optimizer, *args, **kwargs):
        """Unscale the gradients where that was not done; call `optimizer.step` if all are finite.

        Returns what that returns. Raises RuntimeError for a closure, and where it was called since
        the last `update`; AssertionError where there are no gradients.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check("step")
        if self._found.get(id(optimizer), (False,))[0]:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        found = self._found[id(optimizer)][1]
        if found is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        result = None if found else optimizer.step(*args, **kwargs)
        self._found[id(optimizer)] = (True, found)
        return result

    def update(self, new_scale=None):
        """Set the scale for the next step: a number or tensor, or by what the gradients were."""
        if not self._enabled:
            return
        self._check("update")
        if new_scale is not None:
            self._scale.fill_(new_scale)
        else:
            found = [found for _, found in self._found.values() if found is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            steps = self._growth_tracker.item() + 1
            if any(found):
                self._scale.mul_(self._backoff_factor)
                steps = 0
            elif steps == self._growth_interval:
                grown = self._scale * self._growth_factor
                if grown.isfinite().item():
                    self._scale.copy_(grown)
                steps = 0
            self._growth_tracker.fill_(steps)
        self._found = {}

    def is_enabled(self):
        """Whether it does anything."""
        return self._enabled

    def get_scale(self):
        """Return the scale as a float; 1.0 where it does nothing."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else self._scale.item()

    def get_growth_factor(self):
        """Return the factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor):
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self):
        """Return the factor by which the scale falls."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor):
        """Set the factor by which the scale falls."""
        self._backoff_factor = new_factor

    def get_growth_interval(self):
        """Return after how many steps the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval):
        """Set after how many steps the scale grows."""
        self._growth_interval = new_interval

    def _growth(self):
        tracker = self._growth_tracker
        return self._init_growth_tracker if tracker is None else tracker.item()

    def state_dict(self):
        """Return what `load_state_dict` takes; an empty dict where it does nothing."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth(),
        }

    def load_state_dict(self, state_dict):
        """Continue as another did. Raises RuntimeError for an empty dict."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
            self._growth_tracker.fill_(self._init_growth_tracker)


__getattr__ = _names_of(__name__)
