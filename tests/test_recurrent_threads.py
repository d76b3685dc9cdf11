"""Recurrent layers, whose steps threads share: the same bits with any number of them."""

import pytest

import imode
from imode import nn
from imode.nn.utils.rnn import pack_padded_sequence


@pytest.fixture(autouse=True)
def restore_threads():
    before = imode.get_num_threads()
    yield
    imode.set_num_threads(before)


def results(model, x, state, threads):
    """The output, the last states and all gradients."""
    imode.set_num_threads(threads)
    leaves = [*model.parameters(), *state]
    if isinstance(x, imode.Tensor):
        leaves.append(x)
    for leaf in leaves:
        leaf.grad = None
    output, last = model(x, state if len(state) > 1 else state[0])
    output = output if isinstance(output, imode.Tensor) else output.data
    last = last if isinstance(last, tuple) else (last,)
    (output.sin().sum() + sum((s * s).sum() for s in last)).backward()
    return [output, *last, *(leaf.grad for leaf in leaves)]


def states(model, batch, dtype):
    layers = model.num_layers * (2 if model.bidirectional else 1)
    shape = layers, batch, model.hidden_size
    count = 2 if isinstance(model, nn.LSTM) else 1
    return tuple(imode.randn(shape, dtype=dtype, requires_grad=True) for _ in range(count))


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
@pytest.mark.parametrize("batch, hidden", [(1, 600), (1, 403), (5, 256), (3, 333), (64, 90)])
@pytest.mark.parametrize("dtype", [imode.float32, imode.float64])
def test_the_bits_do_not_depend_on_the_threads(make, batch, hidden, dtype):
    model = make(7, hidden, bidirectional=hidden == 333, dtype=dtype)
    x = imode.randn(9, batch, 7, dtype=dtype, requires_grad=True)
    state = states(model, batch, dtype)
    wanted = results(model, x, state, 1)
    for threads in (2, 3):
        found = results(model, x, state, threads)
        assert all(imode.equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("make", [nn.LSTM, nn.GRU, nn.RNN])
def test_steps_of_fewer_and_fewer_rows(make):
    """Of which the last are too small to be shared, in both directions."""
    model = make(7, 210, bidirectional=True)
    packed = pack_padded_sequence(imode.randn(9, 6, 7), [9, 9, 7, 4, 2, 1])
    state = states(model, 6, imode.float32)
    wanted = results(model, packed, state, 1)
    for threads in (2, 3):
        found = results(model, packed, state, threads)
        assert all(imode.equal(a, b) for a, b in zip(found, wanted, strict=True))


@pytest.mark.parametrize("make, step", [(nn.LSTM, nn.LSTMCell), (nn.GRU, nn.GRUCell)])
def test_a_layer_is_its_cell_step_by_step(make, step):
    imode.set_num_threads(2)
    model, cell = make(7, 300, dtype=imode.float64), step(7, 300, dtype=imode.float64)
    cell.load_state_dict({k.removesuffix("_l0"): v for k, v in model.state_dict().items()})
    x = imode.randn(8, 5, 7, dtype=imode.float64)
    state, rows = None, []
    for row in x:
        state = cell(row, state)
        rows.append(state[0] if isinstance(state, tuple) else state)
    assert imode.allclose(model(x)[0], imode.stack(rows), rtol=1e-10, atol=1e-12)
