"""Recurrent networks over sequences, and their cells."""

import math
import numbers

import imode
from imode import ops
from imode._core.user_frames import warn

from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from .module import Module

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
_FUNCTIONS = {mode: mode.lower() for mode in _GATES}


def _check_sizes(input_size, hidden_size, num_layers, proj_size):
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")
    if proj_size < 0:
        raise ValueError("proj_size should be a positive integer or zero to disable projections")
    if proj_size >= hidden_size:
        raise ValueError("proj_size has to be smaller than hidden_size")


def _check_dropout(dropout, num_layers):
    number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element "
            "being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
        )


def _refuse_projection(options):
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNNBase(Module):
    """What RNN, LSTM and GRU have in common: weights, and a forward pass over sequences.

    >>> issubclass(imode.nn.GRU, imode.nn.RNNBase)
    True
    """

    def __init__(
        self,
        mode,
        input_size,
        hidden_size,
        num_layers=1,
        bias=True,
        batch_first=False,
        dropout=0.0,
        bidirectional=False,
        proj_size=0,
        device=None,
        dtype=None,
    ):
        super().__init__()
        _check_dropout(dropout, num_layers)
        for name, value in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(value, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(value).__name__}")
        _check_sizes(input_size, hidden_size, num_layers, proj_size)
        if mode not in _GATES:
            raise ValueError("Unrecognized RNN mode: " + mode)
        self.mode = mode
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, proj_size
        self._all_weights = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: 1 + bool(bidirectional)]:
                self._make(layer, suffix, {"device": device, "dtype": dtype})
        self.reset_parameters()

    def _make(self, layer, suffix, made):
        """The parameters of one layer in one direction, in PyTorch's order."""
        gates, state = _GATES[self.mode] * self.hidden_size, self.proj_size or self.hidden_size
        width = state * (1 + bool(self.bidirectional)) if layer else self.input_size
        shapes = {"weight_ih": (gates, width), "weight_hh": (gates, state)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for start, shape in shapes.items():
            names.append(f"{start}_l{layer}{suffix}")
            setattr(self, names[-1], Parameter(ops.empty(shape, **made)))
        self._all_weights.append(names)

    def reset_parameters(self):
        """Redraw the starting values, uniform in plus or minus 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size)
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self):
        """Do nothing: weights need no layout of their own here."""

    @property
    def all_weights(self):
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    @property
    def _flat_weights_names(self):
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self):
        return [getattr(self, name) for names in self._all_weights for name in names]

    def check_input(self, input, batch_sizes):
        """Refuse an input of another dtype, other dimensions or another size."""
        weight = self.weight_ih_l0
        if input.dtype != weight.dtype:
            raise ValueError(
                "RNN input dtype does not match weight dtype and autocast is not enabled. "
                f"Input dtype: {input.dtype}, Weight dtype: {weight.dtype}"
            )
        wanted = 3 if batch_sizes is None else 2
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def _state_shapes(self, batch):
        n = self.num_layers * (1 + bool(self.bidirectional))
        shapes = [(n, batch, self.proj_size or self.hidden_size)]
        if self.mode == "LSTM":
            shapes.append((n, batch, self.hidden_size))
        return shapes

    def _check_states(self, states, batch):
        for i, (state, wanted) in enumerate(zip(states, self._state_shapes(batch), strict=True)):
            if tuple(state.shape) != wanted:
                name = f"hidden[{i}]" if self.mode == "LSTM" else "hidden"
                raise RuntimeError(f"Expected {name} size {wanted}, got {list(state.shape)}")

    def _states(self, hx, batch, input):
        """The first states, as a list: zeros where none are given."""
        if hx is None:
            made = {"dtype": input.dtype, "device": input.device}
            return [ops.zeros(shape, **made) for shape in self._state_shapes(batch)]
        return list(hx) if self.mode == "LSTM" else [hx]

    def _check_dims(self, states, dim):
        if all(state.dim() == dim for state in states):
            return
        kind = "batched 3-D" if dim == 3 else "unbatched 2-D"
        names, also = ("hx and cx", "also be") if self.mode == "LSTM" else ("hx", "also be")
        found = ", ".join(f"{state.dim()}-D" for state in states)
        found = f"({found}) tensors" if self.mode == "LSTM" else f"{found} tensor"
        raise RuntimeError(f"For {kind} input, {names} should {also} {dim}-D but got {found}")

    def forward(self, input, hx=None):
        if isinstance(input, PackedSequence):
            return self._forward_packed(input, hx)
        if input.dim() not in (2, 3):
            end = "" if self.mode in ("LSTM", "GRU") else " tensor"
            name = self.mode if self.mode in ("LSTM", "GRU") else "RNN"
            raise ValueError(
                f"{name}: Expected input to be 2D or 3D, got {input.dim()}D{end} instead"
            )
        batched, along = input.dim() == 3, 0 if self.batch_first else 1
        if hx is not None:
            self._check_dims(self._states(hx, 0, input), input.dim())
        if not batched:
            input = input.unsqueeze(along)
            if hx is not None:
                lifted = [state.unsqueeze(1) for state in self._states(hx, 0, input)]
                hx = lifted if self.mode == "LSTM" else lifted[0]
        batch = input.size(along)
        states = self._states(hx, batch, input)
        self.check_input(input, None)
        self._check_states(states, batch)
        output, last = self._run((input,), states, (self.batch_first,))
        if not batched:
            output, last = output.squeeze(along), [state.squeeze(1) for state in last]
        return output, self._as_hidden(last)

    def _forward_packed(self, input, hx):
        data, batch_sizes, order, inverse = input
        batch = int(batch_sizes[0])
        states = self._states(hx, batch, data)
        if hx is not None and order is not None:
            states = [state.index_select(1, order) for state in states]
        self.check_input(data, batch_sizes)
        self._check_states(states, batch)
        output, last = self._run((data, batch_sizes), states, ())
        if inverse is not None:
            last = [state.index_select(1, inverse) for state in last]
        return PackedSequence(output, batch_sizes, order, inverse), self._as_hidden(last)

    def _run(self, inputs, states, rest):
        function = getattr(imode, _FUNCTIONS[self.mode])  # what function modes see
        output, *last = function(
            *inputs,
            states if self.mode == "LSTM" else states[0],
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            bool(self.bidirectional),
            *rest,
        )
        return output, last

    def _as_hidden(self, states):
        return tuple(states) if self.mode == "LSTM" else states[0]

    def extra_repr(self):
        parts = [f"{self.input_size}, {self.hidden_size}"]
        for name, usual in (
            ("proj_size", 0),
            ("num_layers", 1),
            ("bias", True),
            ("batch_first", False),
            ("dropout", 0),
            ("bidirectional", False),
        ):
            value = getattr(self, name)
            if value != usual:
                parts.append(f"{name}={value}")
        return ", ".join(parts)


class RNN(RNNBase):
    """A recurrent network: each state is tanh (or relu) of a product of the input and the last one.

    (steps, batch, features), or (batch, steps, features) with `batch_first`, or a PackedSequence,
    to the outputs of the last layer and the last states.

    >>> output, state = imode.nn.RNN(3, 4)(imode.ones(5, 2, 3))
    >>> output.shape, state.shape
    (imode.Size([5, 2, 4]), imode.Size([1, 2, 4]))
    """

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        if len(args) > 3:
            nonlinearity, args = args[3], args[:3] + args[4:]
        else:
            nonlinearity = kwargs.pop("nonlinearity", "tanh")
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        super().__init__(f"RNN_{nonlinearity.upper()}", *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """A long short-term memory: shapes as of RNN, with a state and a cell.

    With `proj_size` the state is a projection of that size.

    >>> output, (state, cell) = imode.nn.LSTM(3, 4, bidirectional=True)(imode.ones(5, 2, 3))
    >>> output.shape, state.shape
    (imode.Size([5, 2, 8]), imode.Size([2, 2, 4]))
    """

    def __init__(self, *args, **kwargs):
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """A network of gated recurrent units: shapes as of RNN.

    >>> imode.nn.GRU(3, 4, batch_first=True)(imode.ones(2, 5, 3))[0].shape
    imode.Size([2, 5, 4])
    """

    def __init__(self, *args, **kwargs):
        _refuse_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


# ---- cells --------------------------------------------------------------------------------------


class RNNCellBase(Module):
    """What the cells have in common: their weights, and the check of dimensions.

    >>> issubclass(imode.nn.GRUCell, imode.nn.RNNCellBase)
    True
    """

    def __init__(self, input_size, hidden_size, bias, num_chunks, device=None, dtype=None):
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates, made = num_chunks * hidden_size, {"device": device, "dtype": dtype}
        self.weight_ih = Parameter(ops.empty((gates, input_size), **made))
        self.weight_hh = Parameter(ops.empty((gates, hidden_size), **made))
        for name in ("bias_ih", "bias_hh"):
            made_here = Parameter(ops.empty(gates, **made)) if bias else None
            self.register_parameter(name, made_here)
        self.reset_parameters()

    def reset_parameters(self):
        """Redraw the starting values, uniform in plus or minus 1 / sqrt(hidden_size)."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self):
        shown = f"{self.input_size}, {self.hidden_size}"
        if self.bias is not True:
            shown += f", bias={self.bias}"
        if getattr(self, "nonlinearity", "tanh") != "tanh":
            shown += f", nonlinearity={self.nonlinearity}"
        return shown

    def _step(self, function, input, hx, pair=False):
        """The next state of a batch, or of one; `hx`: a state, two of them (`pair`), or None."""
        name = type(self).__name__
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.dim()}D instead")
        batched = input.dim() == 2
        input = input if batched else input.unsqueeze(0)
        if hx is None:
            zeros = input.new_zeros((input.shape[0], self.hidden_size))
            states = (zeros, zeros) if pair else (zeros,)
        else:
            states = hx if pair else (hx,)
            for i, state in enumerate(states):
                if state.dim() not in (1, 2):
                    shown = f"hx[{i}]" if pair else "hidden"
                    raise ValueError(
                        f"{name}: Expected {shown} to be 1D or 2D, got {state.dim()}D instead"
                    )
            if not batched:
                states = [state.unsqueeze(0) for state in states]
        given = states if pair else states[0]
        made = function(input, given, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        if batched:
            return made
        return tuple(each.squeeze(0) for each in made) if pair else made.squeeze(0)


class RNNCell(RNNCellBase):
    """One step of RNN: (batch, features) and a state, zeros if None, to the next state.

    >>> imode.nn.RNNCell(3, 4)(imode.ones(2, 3)).shape
    imode.Size([2, 4])
    """

    def __init__(
        self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None
    ):
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        function = imode.rnn_tanh_cell if self.nonlinearity == "tanh" else imode.rnn_relu_cell
        return self._step(function, input, hx)


class LSTMCell(RNNCellBase):
    """One step of LSTM: (batch, features), a state and a cell, zeros if None, to the next two.

    >>> state, cell = imode.nn.LSTMCell(3, 4)(imode.ones(2, 3))
    >>> state.shape
    imode.Size([2, 4])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input, hx=None):
        return self._step(imode.lstm_cell, input, hx, pair=True)


class GRUCell(RNNCellBase):
    """One step of GRU: (batch, features) and a state, zeros if None, to the next state.

    >>> imode.nn.GRUCell(3, 4)(imode.ones(2, 3)).shape
    imode.Size([2, 4])
    """

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input, hx=None):
        return self._step(imode.gru_cell, input, hx)
