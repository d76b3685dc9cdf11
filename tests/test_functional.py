"""Functions of nn.functional whose signature is their own: dropout, embedding, normalize."""

import pytest

import imode
import imode.nn.functional as F

# ---- dropout ----


def test_dropout_scales_what_it_keeps():
    imode.manual_seed(0)
    out = F.dropout(imode.ones(10000), 0.25)
    assert set(out.unique().tolist()) == {0.0, imode.tensor(1 / 0.75).item()}
    assert out.mean().item() == pytest.approx(1.0, abs=0.05)


def test_dropout_that_does_nothing_returns_its_argument():
    x = imode.ones(3)
    assert F.dropout(x, 0.5, training=False) is x
    assert F.dropout(x, 0.0) is x


def test_dropout_in_place():
    x = imode.ones(100)
    imode.manual_seed(3)
    assert F.dropout(x, 0.5, inplace=True) is x
    imode.manual_seed(3)
    assert F.dropout(imode.ones(100), 0.5).tolist() == x.tolist()
    assert x._version == 1


def test_dropout_passes_gradients_where_it_kept():
    x = imode.ones(100, requires_grad=True)
    out = F.dropout(x, 0.5)
    out.sum().backward()
    assert x.grad.tolist() == out.tolist()
    assert F.dropout(imode.tensor([float("nan"), 1.0]), 1.0)[1].item() == 0.0


def test_channels_are_dropped_whole():
    out = F.dropout2d(imode.ones(4, 8, 3, 3), 0.5)
    sums = out.sum((2, 3)).flatten().tolist()
    assert set(sums) == {0.0, 18.0}
    assert F.dropout1d(imode.ones(8, 5), 0.5).shape == (8, 5)
    with pytest.warns(UserWarning, match="channel-wise 1-D dropout"):
        F.dropout2d(imode.ones(2, 3, 4), 0.5)
    with pytest.raises(RuntimeError, match="Expected 2D or 3D input"):
        F.dropout1d(imode.ones(5), 0.5)


@pytest.mark.parametrize("name", ["dropout", "dropout1d", "dropout2d"])
@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_dropout_refuses_what_is_no_probability(name, p):
    with pytest.raises(ValueError, match=f"has to be between 0 and 1, but got {p}"):
        getattr(F, name)(imode.ones(2, 2, 2, 2), p)


# ---- embedding ----


def test_padding_row_gets_no_gradient():
    table = imode.ones(4, 2, requires_grad=True)
    indices = imode.tensor([[0, 1], [3, 1]])
    F.embedding(indices, table, padding_idx=1).sum().backward()
    assert table.grad.tolist() == [[1, 1], [0, 0], [0, 0], [1, 1]]
    table.grad = None
    F.embedding(indices, table, padding_idx=-1).sum().backward()
    assert table.grad.tolist() == [[1, 1], [2, 2], [0, 0], [0, 0]]
    with pytest.raises(AssertionError, match="Padding_idx must be within num_embeddings"):
        F.embedding(indices, table, padding_idx=4)


def test_gradients_by_frequency():
    table = imode.ones(3, 1, requires_grad=True)
    F.embedding(imode.tensor([0, 0, 2]), table, scale_grad_by_freq=True).sum().backward()
    assert table.grad.tolist() == [[1.0], [0.0], [1.0]]


def test_max_norm_scales_rows_in_place():
    table = imode.tensor([[3.0, 4.0], [0.1, 0.1], [6.0, 8.0]])
    F.embedding(imode.tensor([0, 1, 0]), table, max_norm=1.0)
    assert table[0].norm().item() == pytest.approx(1.0, abs=1e-5)
    assert table[1].tolist() == imode.tensor([0.1, 0.1]).tolist()
    assert table[2].tolist() == [6.0, 8.0]
    assert table._version == 1


def test_embedding_refuses():
    table = imode.ones(3, 2)
    for index in (3, -1):
        with pytest.raises(IndexError, match="index out of range in self"):
            F.embedding(imode.tensor([index]), table)
    with pytest.raises(RuntimeError, match="'weight' must be 2-D"):
        F.embedding(imode.tensor([0]), imode.ones(3))


# ---- padding, norms ----


def test_circular_padding_repeats():
    x = imode.arange(4.0).view(1, 4)
    assert F.pad(x, (2, 3), "circular").tolist() == [[2, 3, 0, 1, 2, 3, 0, 1, 2]]
    assert F.pad(x, (2, 0), "replicate").tolist() == [[0, 0, 0, 1, 2, 3]]
    assert F.pad(x, (2, 1), "reflect").tolist() == [[2, 1, 0, 1, 2, 3, 2]]


def test_normalize():
    x = imode.tensor([[3.0, 4.0], [0.0, 0.0]])
    assert F.normalize(x).norm(dim=1).tolist() == pytest.approx([1.0, 0.0])
    out = imode.empty(2, 2)
    assert F.normalize(x, p=1.0, out=out) is out
    assert out[0].tolist() == pytest.approx([3 / 7, 4 / 7])


def test_cosine_of_a_zero_vector_is_zero():
    assert F.cosine_similarity(imode.zeros(1, 3), imode.ones(1, 3)).item() == 0.0
