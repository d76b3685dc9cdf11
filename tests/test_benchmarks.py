"""The benchmarks over large arrays and of whole networks: what they run, and what they say."""

import re
from pathlib import Path

import pytest

import imode
from benchmarks import large, large_rows, models, networks

PAGE = (Path(large.__file__).parent / "README.md").read_text()
LIBRARIES = {"imode": imode}


@pytest.fixture(scope="module")
def arrays():
    """Arrays of the least size, by dtype."""
    dtypes = {row.dtype for row in large_rows.ROWS.values()}
    return {dtype: large.Arrays(LIBRARIES, large_rows.SIZES[0], dtype) for dtype in dtypes}


@pytest.mark.slow
@pytest.mark.parametrize("name", large_rows.ROWS)
def test_row(arrays, name):
    row = large_rows.ROWS[name]
    with imode.inference_mode(not row.backward):
        made, moved = large.statements(row, arrays[row.dtype])
        code, names = made["imode"]
        result = eval(code, names)
    assert (moved > 0) != row.backward
    if row.backward:
        assert [grad.shape for grad in result] == [leaf.shape for leaf in names["leaves"]]


def test_the_page_counts_the_rows():
    rows = large_rows.ROWS.values()
    backward = [row for row in rows if row.backward]
    (said,) = re.findall(r"(\d+) rows \(`large_rows.py`\), (\d+) of them with the backward", PAGE)
    assert tuple(map(int, said)) == (len(rows), len(backward))
    assert len(backward) == len(large_rows.BACKWARD)  # each names a row
    sizes = re.search("operators whose kernels matter on (.*?) elements", PAGE.replace("\n", " "))
    assert [int(n.replace(" ", "")) for n in re.split(", | and ", sizes[1])] == [*large_rows.SIZES]


def test_every_letter_is_used():
    used = set()
    for row in large_rows.ROWS.values():
        used |= set(re.findall(r"(?<![\w.'])[A-Za-z](?!\w|=|')", row.code))
    assert set(large_rows.INPUTS) <= used


def test_a_row_and_the_summary():
    clock = large.time.thread_time
    arrays = large.Arrays({"imode": imode, "torch": imode}, 16_384, "float32")
    found = large.measure_row(large_rows.ROWS["x + y, float32"], arrays, clock)
    assert found["bytes"] == 3 * 4 * 16_384
    found |= {"name": "x + y, float32", "size": 16_384, "threads": 1, "flops": 0}
    found |= {"imode": 3e-6, "torch": 2e-6, "ratio": 2 / 3}
    found["share"] = large.share(found, {"bytes per second": 1e12, "flops per second": 1e12})
    assert found["share"] == pytest.approx(3 * 4 * 16_384 / 3e-6 / 1e12)
    means, slow = large.summary([found])
    assert "| 1 threads, 16,384 elements |    1 |" in means
    assert "| x + y, float32 | 16,384 |       1 |       3.0 |         2.0 |" in slow


def test_an_environment_for_each_level():
    for level in large.LEVELS:
        assert large.held_to(level)["IMODE_CPU_LEVEL"] == level


@pytest.mark.slow
@pytest.mark.parametrize("kind", models.KINDS)
@pytest.mark.parametrize("name", networks.NETWORKS)
def test_network(name, kind):
    ours, same = (models.Work(imode, name, 1, kind) for _ in range(2))
    models.compare(ours, same.like(ours), name)
    assert imode.isfinite(ours.run()).all()


def test_networks_that_differ_are_noticed():
    name = "MLP 784-512-512-10"
    ours, other = (models.Work(imode, name, 1, "inference") for _ in range(2))
    with imode.no_grad():
        other.model[0].weight.mul_(1.5)
    with pytest.raises(AssertionError, match="MLP"):
        models.compare(ours, other, name)
