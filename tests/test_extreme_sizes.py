"""Arguments at the ends of the integers: an answer or an error, never memory of others."""

import pytest

import imode

MOST, LEAST = 2**63 - 1, -(2**63)


@pytest.mark.parametrize("offset", [MOST, LEAST, LEAST + 1])
def test_a_diagonal_far_outside_is_empty(offset):
    assert imode.ones(3, 4).diagonal(offset).shape == (0,)


@pytest.mark.parametrize("counts", [[MOST, MOST, 4], [2**62, 2**62], [MOST, 5]])
def test_counts_whose_sum_overflows_are_refused(counts):
    with pytest.raises(MemoryError, match=f"no memory for {sum(counts)} elements"):
        imode.repeat_interleave(imode.tensor(counts))
    with pytest.raises(MemoryError, match=f"no memory for {sum(counts)} elements"):
        imode.ones(len(counts)).repeat_interleave(imode.tensor(counts))


@pytest.mark.parametrize("weights", [None, imode.ones(1)])
def test_more_bins_than_can_be_counted_are_refused(weights):
    with pytest.raises(RuntimeError, match="maximum value of input overflowed"):
        imode.bincount(imode.tensor([MOST]), weights)


@pytest.mark.parametrize("decimals", [400, -400, MOST, LEAST])
def test_rounding_to_places_that_no_float_has_gives_nan(decimals):
    assert imode.ones(2).round(decimals=decimals).isnan().all()


def test_draws_from_no_categories():
    for shape in [(0,), (2, 0)]:
        with pytest.raises(RuntimeError, match="sum of probabilities <= 0"):
            imode.multinomial(imode.ones(shape), 2, True)
    assert imode.multinomial(imode.ones(0, 0), 2, True).shape == (0, 2)


def test_indices_of_a_triangle_take_no_more_memory_than_it_has():
    assert imode.tril_indices(4, MOST).tolist() == imode.tril_indices(4, 4).tolist()
    assert imode.triu_indices(MOST, 3).tolist() == imode.triu_indices(3, 3).tolist()
    assert imode.triu_indices(2**40, 3, -1).tolist() == imode.triu_indices(4, 3, -1).tolist()


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_padding_that_overflows_is_refused(mode):
    for pad in [(LEAST, LEAST), (LEAST, 1), (1, LEAST)]:
        with pytest.raises(RuntimeError):
            imode.nn.functional.pad(imode.ones(2, 3, 7), pad, mode)
