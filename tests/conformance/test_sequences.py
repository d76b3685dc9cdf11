"""Modules of networks over sequences, with PyTorch's weights: results, gradients, state dicts."""

import numpy as np
import pytest

MODULES = {
    "LSTM": ((4, 5, 2), {"bidirectional": True}, [(6, 3, 4)]),
    "LSTM projected": ((4, 5), {"proj_size": 3, "batch_first": True}, [(3, 6, 4)]),
    "GRU": ((4, 5), {"bias": False}, [(6, 3, 4)]),
    "GRU unbatched": ((4, 5), {}, [(6, 4)]),
    "GRU by batches": ((4, 5, 2), {"batch_first": True}, [(3, 6, 4)]),
    "RNN by batches": ((4, 5), {"batch_first": True, "bias": False}, [(3, 6, 4)]),
    "RNN": ((4, 5, 2, "relu"), {}, [(6, 3, 4)]),
    "LSTMCell": ((4, 5), {}, [(3, 4)]),
    "GRUCell": ((4, 5), {}, [(4,)]),
    "RNNCell": ((4, 5), {}, [(3, 4)]),
    "MultiheadAttention": ((8, 2), {"add_bias_kv": True}, [(5, 3, 8)] * 3),
    "MultiheadAttention apart": (
        (8, 2),
        {"kdim": 6, "vdim": 4, "batch_first": True},
        [(3, 5, 8), (3, 7, 6), (3, 7, 4)],
    ),
    "TransformerEncoderLayer": ((8, 2, 16, 0.0), {"norm_first": True}, [(5, 3, 8)]),
    "TransformerDecoderLayer": ((8, 2, 16, 0.0), {"activation": "gelu"}, [(5, 3, 8), (4, 3, 8)]),
    "Transformer": ((8, 2, 1, 1, 16, 0.0), {"batch_first": True}, [(3, 4, 8), (3, 5, 8)]),
    "Bilinear": ((4, 5, 6), {}, [(3, 4), (3, 5)]),
}


def array(shape, seed):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def made(lib, name, weights=None):
    args, options, shapes = MODULES[name]
    module = getattr(lib.nn, name.split()[0])(*args, **options)
    if weights is not None:
        module.load_state_dict({key: lib.from_numpy(value) for key, value in weights.items()})
    inputs = [lib.from_numpy(array(shape, i)).requires_grad_() for i, shape in enumerate(shapes)]
    return module, inputs


def flat(result):
    if isinstance(result, (tuple, list)):
        return [each for item in result for each in flat(item)]
    return [result]


@pytest.mark.parametrize("name", MODULES)
def test_a_module_with_the_same_weights_gives_the_same(lib, torch, name):
    theirs, their_inputs = made(torch, name)
    weights = {key: value.detach().numpy().copy() for key, value in theirs.state_dict().items()}
    ours, our_inputs = made(lib, name, weights)
    assert list(ours.state_dict()) == list(weights)
    assert repr(ours) == repr(theirs)
    here, there = flat(ours(*our_inputs)), flat(theirs(*their_inputs))
    sum(each.sum() for each in here).backward()
    sum(each.sum() for each in there).backward()
    grads = [x.grad for x in (*our_inputs, *ours.parameters())]
    wanted = [x.grad for x in (*their_inputs, *theirs.parameters())]
    for a, b in zip([*here, *grads], [*there, *wanted], strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-4, atol=1e-5)


def test_starting_values_are_the_same(lib, torch):
    for name in MODULES:
        lib.manual_seed(0)
        torch.manual_seed(0)
        ours, theirs = made(lib, name)[0].state_dict(), made(torch, name)[0].state_dict()
        for key, value in theirs.items():
            np.testing.assert_array_equal(ours[key].numpy(), value.numpy(), err_msg=name)


def test_packed_sequences_in_any_order(lib, torch):
    results = []
    for library in (lib, torch):
        rnn = library.nn.utils.rnn
        data = [library.from_numpy(array((n, 4), n)) for n in (2, 5, 3)]
        packed = rnn.pack_sequence(data, enforce_sorted=False)
        library.manual_seed(0)
        output, (h, c) = library.nn.LSTM(4, 3, bidirectional=True)(packed)
        padded, lengths = rnn.pad_packed_sequence(output, batch_first=True, padding_value=7.0)
        results.append([*packed, padded, lengths, h, c, *rnn.unpack_sequence(output)])
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_padding_in_evaluation_comes_out_as_zeros(lib, torch):
    results = []
    for library in (lib, torch):
        library.manual_seed(0)
        layer = library.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        encoder = library.nn.TransformerEncoder(layer, 2).eval()
        hidden = library.tensor([[False, False, True], [False, False, False]])
        x = library.from_numpy(array((2, 3, 8), 0))
        with library.no_grad():
            results.append(encoder(x, src_key_padding_mask=hidden).numpy())
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-5)
    assert not results[0][0, 2].any()
