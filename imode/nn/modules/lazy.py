"""Layers that learn the number of their inputs from the first batch."""

from imode import errors, ops
from imode.guards import no_grad

from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy, wait
from . import conv, instancenorm, norm
from .linear import Linear

_CONVOLUTIONS = [f"LazyConv{how}{n}d" for how in ("", "Transpose") for n in (1, 2, 3)]
_NORMS = [f"Lazy{what}Norm{n}d" for what in ("Batch", "Instance") for n in (1, 2, 3)]
__all__ = ["LazyLinear", *_CONVOLUTIONS, *_NORMS]


class LazyModuleMixin:
    """What a module derives from, before its other base, to make parameters at the first call.

    Its `initialize_parameters` is called with the inputs and gives each UninitializedParameter its
    shape; then the module becomes one of the class `cls_to_become`.
    """

    cls_to_become = None

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args, **kwargs):
        """Give the parameters their shapes, from what the module is called with."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self):
        """Whether any parameter or buffer waits for its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module, args, kwargs=None):
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(module).__name__} has not been fully initialized")
        # By their keys: a copy's handles know the hooks of what was copied.
        module._hooks.forward_pre.pop(module._initialize_hook.id, None)
        module._hooks.load_pre.pop(module._load_hook.id, None)
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        super()._save_to_state_dict(destination, prefix, keep_vars)
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            if is_lazy(value) and prefix + name in destination:
                destination[prefix + name] = value

    def __setstate__(self, state):
        super().__setstate__(state)
        self._mark()

    def _apply(self, fn, recurse=True):
        super()._apply(fn, recurse)
        self._mark()
        return self

    def _mark(self):
        """Mark what waits again: copies, pickles and conversions keep no marks."""
        for table, kind in (
            (self._parameters, "UninitializedParameter"),
            (self._buffers, "UninitializedBuffer"),
        ):
            for value in table.values() if "_initialize_hook" in self.__dict__ else ():
                if value is not None and value.size() == (0,):
                    wait(value, kind)

    def _lazy_load_hook(self, module, state_dict, prefix, *rest):
        """Give what waits the shape of what is loaded."""
        for name, value in (*self._parameters.items(), *self._buffers.items()):
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                value.materialize(given.shape)


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear whose `in_features` is the last size of what it is first called with.

    >>> layer = imode.nn.LazyLinear(3)
    >>> layer(imode.ones(4, 2)).shape, layer
    (imode.Size([4, 3]), Linear(in_features=2, out_features=3, bias=True))
    """

    cls_to_become = Linear

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(0, 0, False)
        made = {"device": device, "dtype": dtype}
        self.out_features = out_features
        self.weight = UninitializedParameter(**made)
        if bias:
            self.bias = UninitializedParameter(**made)

    def reset_parameters(self):
        """Redraw the starting values, once there are any."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Make the parameters, for inputs of this last size."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        if self.in_features == 0:  # loaded before
            if input.shape[-1] != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {input.shape[-1]} is not equal to "
                    f"in_features from self.weight: {self.weight.shape[-1]}"
                )
            self.in_features = input.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    def __init__(self, out_channels, kernel_size, *args, bias=True, **options):
        if len(args) > 4:  # bias is given by its place
            bias, args = args[4], (*args[:4], False, *args[5:])
        else:
            options["bias"] = False
        super().__init__(0, 0, kernel_size, *args, **options)
        made = {name: options.get(name) for name in ("device", "dtype")}
        self.out_channels = out_channels
        self.weight = UninitializedParameter(**made)
        if bias:
            self.bias = UninitializedParameter(**made)

    def reset_parameters(self):
        """Redraw the starting values, once there are any."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()

    def initialize_parameters(self, input, *args, **kwargs):
        """Make the parameters, for inputs of so many channels."""
        if not self.has_uninitialized_params():
            return
        n = self._spatial
        if input.dim() not in (n + 1, n + 2):
            raise errors.shapes.no_batch(type(self).__name__, n, input.shape)
        self.in_channels = input.shape[-n - 1]
        conv.check_channels(self.in_channels, self.out_channels, self.groups)
        first, second = self.out_channels, self.in_channels
        if self._transposed:
            first, second = second, first
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyNormBase(LazyModuleMixin):
    def __init__(
        self,
        eps=1e-5,
        momentum=0.1,
        affine=True,
        track_running_stats=True,
        device=None,
        dtype=None,
        *,
        bias=True,
    ):
        super().__init__(0, eps, momentum, False, False, bias=bias)
        self.affine, self.track_running_stats = affine, track_running_stats
        made = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**made)
            self.bias = UninitializedParameter(**made) if bias else None
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**made)
            self.running_var = UninitializedBuffer(**made)
            self.num_batches_tracked = ops.tensor(0, device=device)

    def reset_parameters(self):
        """Reset weight, bias and statistics, once there are any."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input):
        """Make the parameters and the statistics, for inputs of so many channels."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for value in (self.weight, self.bias, self.running_mean, self.running_var):
            if is_lazy(value):
                value.materialize((self.num_features,))
        self.reset_parameters()


def _declare(name, base, home):
    cls = getattr(home, name.removeprefix("Lazy"))
    what = "num_features" if base is _LazyNormBase else "in_channels"
    given = "" if base is _LazyNormBase else "2, 1"
    shape = (2, 3) + (4,) * int(name[-2])
    doc = f"""A {cls.__name__} whose `{what}` is that of what it is first called with.

    >>> layer = imode.nn.{name}({given})
    >>> layer(imode.ones({shape})).ndim, layer.{what}
    ({len(shape)}, 3)
    """
    body = {"cls_to_become": cls, "__doc__": doc, "__module__": __name__}
    globals()[name] = type(name, (base, cls), body)


for _name in _CONVOLUTIONS:
    _declare(_name, _LazyConvXdMixin, conv)
for _name in _NORMS:
    _declare(_name, _LazyNormBase, norm if "Batch" in _name else instancenorm)
