"""Recurrent networks over whole sequences, and their cells.

The gates' part from the input is one product for all steps. What depends on the state before, step
by step, is one compiled operator, `_recurrent_layer`; `_steps` is the same in operators, for what
that has no loops for, and for derivatives of its derivative.
"""

from itertools import pairwise

from imode import errors, ops
from imode._core.dispatch import is_grad_enabled
from imode._core.out import recorded
from imode.kernels.sequences import recurrent as kernels
from imode.kernels.shapes import views
from imode.ops.composites_fast import replayed
from imode.ops.schema import composite, op
from imode.ops.sequences import composites_fast
from imode.ops.sequences.again import gradients_again

RELU, TANH, LSTM, GRU = range(4)  # the numbers of the compiled cells
_GATES = (1, 1, 4, 3)

# ---- a layer in one direction -------------------------------------------------------------------


def _next_state(cell, x, state, h, c):
    """The state after one step, of the gates' parts from the input and from the state before."""
    if cell == LSTM:
        i, f, g, o = (x + state).chunk(4, 1)
        c = f.sigmoid() * c + i.sigmoid() * g.tanh()
        return o.sigmoid() * c.tanh(), c
    if cell == GRU:
        (r, z, n), (hr, hz, hn) = x.chunk(3, 1), state.chunk(3, 1)
        z = (z + hz).sigmoid()
        n = (n + (r + hr).sigmoid() * hn).tanh()
        return (h - n) * z + n, None
    gates = x + state
    return (gates.tanh() if cell == TANH else gates.relu()), None


def _steps(cell, gates, hx, cx, weight, bias, projection, sizes, reverse):
    """(output, last state, last cell) of a layer, in operators."""
    parts = gates.split(list(sizes)) if sizes else gates.unbind(0)
    h, c, made = hx, cx, [None] * len(parts)
    for t in reversed(range(len(parts))) if reverse else range(len(parts)):
        n = parts[t].shape[0]
        now_h, now_c = h[:n], None if c is None else c[:n]
        state = ops.linear(now_h, weight, bias)
        new_h, new_c = _next_state(cell, parts[t], state, now_h, now_c)
        if projection is not None:
            new_h = ops.linear(new_h, projection)
        made[t] = new_h
        h = ops.cat([new_h, h[n:]]) if n < h.shape[0] else new_h
        if c is not None:
            c = ops.cat([new_c, c[n:]]) if n < c.shape[0] else new_c
    return (ops.cat(made) if sizes else ops.stack(made)), h, c


def _layer_backward(
    grads, gates, hx, cx, weight, bias, sizes, cell, reverse, result, saved, extra, needs
):
    if is_grad_enabled():

        def again(gates, hx, cx, weight, bias):
            results = _steps(cell, gates, hx, cx, weight, bias, None, sizes, reverse)
            return results if cell == LSTM else results[:2]

        wanted = grads[:3] if cell == LSTM else grads[:2]
        return gradients_again(again, (gates, hx, cx, weight, bias), wanted, needs)
    by = ops._recurrent_layer_backward(
        *grads[:3], result, hx, cx, weight, saved, extra, sizes, cell, reverse
    )
    return [found if need else None for found, need in zip(by, needs, strict=True)]


# The output by batches, of one direction: no view, as in PyTorch. `transpose_` would count as a
# write to what the layer has saved.
op(
    "_turned(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
    views.transpose,
    derivative={"self": lambda grad, dim0, dim1: grad.transpose(dim0, dim1)},
    tracked=False,
    name="TransposeBackward0",
)
op(
    "_recurrent_layer(Tensor gates, Tensor hx, Tensor? cx, Tensor weight, Tensor? bias, "
    "int[] sizes, int cell, bool reverse, bool saves) "
    "-> (Tensor result, Tensor hy, Tensor cy, Tensor saved, Tensor extra)",
    kernels.recurrent_layer,
    derivative={("gates", "hx", "cx", "weight", "bias"): _layer_backward},
    name="MkldnnRnnLayerBackward0",
)
op(
    "_recurrent_layer_backward(Tensor? grad, Tensor? grad_h, Tensor? grad_c, Tensor output, "
    "Tensor hx, Tensor? cx, Tensor weight, Tensor gates, Tensor extra, int[] sizes, int cell, "
    "bool reverse) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
    kernels.layer_backward,
    differentiable=False,
)


def _direction(cell, input, hx, cx, params, sizes, reverse):
    """(output, last state, last cell) of one layer in one direction."""
    w_ih, w_hh, b_ih, b_hh, projection = params
    if b_ih is None and b_hh is not None:  # of a cell; layers have both, or none
        b_ih = ops.zeros_like(b_hh)
    if b_hh is None and b_ih is not None:
        b_hh = ops.zeros_like(b_ih)
    kind = input.dtype
    fused = kind.is_floating_point and kind.itemsize > 2
    for each in (hx, cx, w_ih, w_hh, b_ih, b_hh):
        fused = fused and (each is None or each.dtype is kind)
    if projection is not None or not fused:
        gates = ops.linear(input, w_ih, b_ih)
        return _steps(cell, gates, hx, cx, w_hh, b_hh, projection, sizes, reverse)
    if cell != GRU and b_ih is not None:  # both are added to the gates: once is enough
        b_ih, b_hh = None, b_ih + b_hh
    gates = ops.linear(input, w_ih, b_ih)
    rows = sizes[0] if sizes else gates.size(1)
    if hx.size(0) != rows:
        raise errors.out.wrong_shape([hx.shape[0], w_hh.shape[0]], [rows, w_hh.shape[0]])
    saves = recorded((gates, hx, cx, w_hh, b_hh))
    return ops._recurrent_layer(gates, hx, cx, w_hh, b_hh, sizes, cell, reverse, saves)[:3]


# ---- several layers -----------------------------------------------------------------------------


def _by_layer(params, has_biases, projects, matrix):
    """The parameters of each layer and direction: w_ih, w_hh, b_ih, b_hh, w_hr.

    `matrix`: refused as one of them is.
    """
    each = 2 + 2 * has_biases + projects
    if len(params) % each and matrix:
        raise RuntimeError(f"MatrixRef: ArrayRef size {len(params)} not divisible by stride {each}")
    if len(params) % each:
        raise RuntimeError("got an incorrect number of RNN parameters")
    for at in range(0, len(params), each):
        w_ih, w_hh, *rest = params[at : at + each]
        projection = rest.pop() if projects else None
        yield w_ih, w_hh, *(rest or (None, None)), projection


def _stacked(cell, input, sizes, hx, cx, params, layers, dropout, train, bidirectional):
    """(output, last states, last cells) of all layers; `input`: (steps, batch, ...), or rows."""
    if not sizes and input.shape[0] == 0:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    n = layers * (2 if bidirectional else 1)
    if len(hx) != n:
        raise RuntimeError("Expected more hidden states in stacked_rnn")
    if len(params) != n:
        raise RuntimeError("Expected more weights in stacked_rnn")
    last_h, last_c = [], []
    for at in range(0, n, 2 if bidirectional else 1):
        made = []
        for k, reverse in ((at, False), (at + 1, True)) if bidirectional else ((at, False),):
            first = None if cx is None else cx[k]
            output, h, c = _direction(cell, input, hx[k], first, params[k], sizes, reverse)
            made.append(output)
            last_h.append(h)
            last_c.append(c)
        input = ops.cat(made, -1) if bidirectional else made[0]
        if dropout and train and len(last_h) < n:
            input = ops.dropout(input, dropout, True)
    return input, ops.stack(last_h), None if cx is None else ops.stack(last_c)


def _of_states(cell, hx):
    """hx and cx as lists of what each layer and direction starts with."""
    if cell != LSTM:
        return hx.unbind(0), None
    if len(hx) != 2:
        raise RuntimeError("lstm expects two hidden states")
    return hx[0].unbind(0), hx[1].unbind(0)


def _run(cell, input, sizes, hx, params, has_biases, layers, dropout, train, bidirectional):
    hx, cx = _of_states(cell, hx)
    projects = cell == LSTM and bool(hx) and hx[0].shape[-1] != cx[0].shape[-1]
    params = list(_by_layer(params, has_biases, projects, cell == LSTM and not sizes))
    results = _stacked(cell, input, sizes, hx, cx, params, layers, dropout, train, bidirectional)
    return results if cell == LSTM else results[:2]


def _input(cell):
    @replayed
    def run(input, hx, params, has_biases, layers, dropout, train, bidirectional, batch_first):
        if batch_first:
            input = input.transpose(0, 1)
        output, *last = _run(
            cell, input, (), hx, params, has_biases, layers, dropout, train, bidirectional
        )
        if batch_first:  # PyTorch's lstm gives a view, the others do not
            inplace = ops.transpose_ if bidirectional else ops._turned
            output = (ops.transpose if cell == LSTM else inplace)(output, 0, 1)
        return output, *last

    return run


def _data(cell):
    def run(data, batch_sizes, hx, params, has_biases, layers, dropout, train, bidirectional):
        sizes = tuple(batch_sizes.tolist())
        if any(size < after for size, after in pairwise(sizes)):
            raise RuntimeError("batch_sizes: expected numbers that do not grow")
        return _run(
            cell, data, sizes, hx, params, has_biases, layers, dropout, train, bidirectional
        )

    return run


_DOC = """Run {what} over sequences: layers of {gates} gates, in one direction or both.

    `input` is (steps, batch, features), or (batch, steps, features) with `batch_first`; or the
    data and batch sizes of a PackedSequence. `hx`, (layers * directions, batch, hidden), is the
    first state{pair}, `params` w_ih, w_hh, b_ih, b_hh of each layer and direction. Between layers
    elements are dropped with probability `dropout` where `train`. Returns the outputs of the last
    layer and the last state{pair}. Raises RuntimeError where shapes do not fit.

    >>> w, h = imode.zeros({gates}, 1), imode.ones(1, 1, 1)
    >>> result = imode.{name}(
    ...     imode.ones(2, 1, 1), {hx}, (w, w), False, 1, 0.0, False, False, False
    ... )
    >>> [round(each, 4) for each in result[0].flatten().tolist()]
    {shown}
    """
_ARGUMENTS = (
    "Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, "
    "bool bidirectional"
)
for _cell, _name, _what, _shown in (
    (LSTM, "lstm", "a long short-term memory", "[0.2311, 0.1225]"),
    (GRU, "gru", "a gated recurrent unit", "[0.5, 0.25]"),
    (TANH, "rnn_tanh", "a recurrent network with tanh", "[0.0, 0.0]"),
    (RELU, "rnn_relu", "a recurrent network with relu", "[0.0, 0.0]"),
):
    _is_lstm = _cell == LSTM
    _text = _DOC.format(
        name=_name,
        what=_what,
        gates=_GATES[_cell],
        shown=_shown,
        hx="(h, h)" if _is_lstm else "h",
        pair=" and cell" if _is_lstm else "",
    )
    _hx = "Tensor[] hx" if _is_lstm else "Tensor hx"
    _results = "(Tensor, Tensor, Tensor)" if _is_lstm else "(Tensor, Tensor)"
    for _overload, _inputs, _last, _make in (
        ("data", "Tensor data, Tensor batch_sizes", "", _data),
        ("input", "Tensor input", ", bool batch_first", _input),
    ):
        composite(
            f"{_name}.{_overload}({_inputs}, {_hx}, {_ARGUMENTS}{_last}) -> {_results}",
            variants="function",
            doc=_text,
        )(_make(_cell))


# ---- cells --------------------------------------------------------------------------------------


def _check_cell(gates, input, states, w_ih, w_hh):
    (rows, features), wanted, hidden = input.shape, w_ih.size(1), w_hh.size(1)
    if features != wanted:
        raise RuntimeError(f"input has inconsistent input_size: got {features} expected {wanted}")
    for i, state in enumerate(states):
        batch, size = state.shape
        if rows != batch:
            raise RuntimeError(
                f"Input batch size {rows} doesn't match hidden{i} batch size {batch}"
            )
        if size != hidden:
            raise RuntimeError(
                f"hidden{i} has inconsistent hidden_size: got {size}, expected {hidden}"
            )
    for name, weight in (("weight_ih", w_ih), ("weight_hh", w_hh)):
        if weight.size(0) != gates * hidden:
            raise RuntimeError(
                f"{name} first dim must be {gates} * hidden_size = {gates * hidden}, but got "
                f"{weight.size(0)}"
            )
    return rows


def _one_step(cell, input, states, w_ih, w_hh, b_ih, b_hh):
    for each in (input, *states):
        if each.dim() != 2:
            raise errors.shapes.dim_out_of_range(1, each.dim())
    rows = _check_cell(_GATES[cell], input, states, w_ih, w_hh)
    hx, cx = states if cell == LSTM else (states[0], None)
    params = (w_ih, w_hh, b_ih, b_hh, None)
    return _direction(cell, input, hx, cx, params, (rows,), False)[1:]


@composite(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
    "Tensor? b_hh=None) -> (Tensor, Tensor)",
    fast=composites_fast.lstm_cell,
    variants="function",
)
def lstm_cell(input, hx, w_ih, w_hh, b_ih, b_hh):
    """Run one step of a long short-term memory; returns its next state and cell.

    `input` is (batch, features), `hx` the state and the cell, both (batch, hidden). Raises
    RuntimeError where shapes do not fit.

    >>> state, w = imode.ones(1, 1), imode.zeros(4, 1)
    >>> imode.lstm_cell(state, (state, state), w, w)[1].item()
    0.5
    """
    if len(hx) != 2:
        raise RuntimeError("lstm_cell expects two hidden states")
    return _one_step(LSTM, input, hx, w_ih, w_hh, b_ih, b_hh)


for _cell, _name, _what, _shown in (
    (GRU, "gru_cell", "gated recurrent unit", "0.5"),
    (TANH, "rnn_tanh_cell", "recurrent network with tanh", "0.0"),
    (RELU, "rnn_relu_cell", "recurrent network with relu", "0.0"),
):

    def _cell_step(input, hx, w_ih, w_hh, b_ih, b_hh, cell=_cell):
        return _one_step(cell, input, (hx,), w_ih, w_hh, b_ih, b_hh)[0]

    composite(
        f"{_name}(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
        "Tensor? b_hh=None) -> Tensor",
        fast=getattr(composites_fast, _name),
        variants="function",
        doc=f"""Run one step of a {_what}; returns its next state.

    `input` is (batch, features), `hx` (batch, hidden). Raises RuntimeError where shapes do not fit.

    >>> state, w = imode.ones(1, 1), imode.zeros({_GATES[_cell]}, 1)
    >>> imode.{_name}(state, state, w, w).item()
    {_shown}
    """,
    )(_cell_step)
