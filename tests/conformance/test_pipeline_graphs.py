"""Which steps a pipeline has, what all are told, and steps that are refused: in both libraries."""

import pytest

from .side_by_side import agrees, error

pytestmark = pytest.mark.filterwarnings("ignore")


def pipes(lib):
    data = lib.utils.data
    wrapper = data.datapipes.iter.IterableWrapper
    a, b = wrapper(range(6)), wrapper(range(10, 16))
    both = a.map(lambda n: n * 2).zip(b.shuffle())
    return data, a, b, both.batch(2)


def outline(graph):
    return [[type(step).__name__, outline(before)] for step, before in graph.values()]


@agrees
def test_graphs(lib):
    data, a, b, last = pipes(lib)
    seen = [outline(data.graph.traverse_dps(last)), outline(data.graph.traverse(last, True))]
    diamond = a.map(str).concat(a.map(int))
    graph = data.graph.traverse_dps(diamond)
    steps = data.graph_settings.get_all_graph_pipes(graph)
    seen += [outline(graph), [type(step).__name__ for step in steps], steps[0] is diamond]
    held = data.datapipes.iter.IterableWrapper([1])
    held.more = {"x": [a, (b, a)], "self": held}
    seen += [outline(data.graph.traverse_dps(held)), outline(data.graph.traverse_dps(a))]
    table = data.datapipes.map.SequenceWrapper([1]).map(str)
    return [*seen, outline(data.graph.traverse_dps(table)),
            error(lambda: data.graph.traverse_dps([1]))]  # fmt: skip


@agrees
def test_settings(lib):
    data, a, _, last = pipes(lib)
    settings, seen = data.graph_settings, []
    seen.append(list(map(list, settings.apply_shuffle_settings(last, False))))
    seen.append(settings.apply_shuffle_settings(a) is a)
    seen.append(type(settings.apply_shuffle_settings(a, True)).__name__)
    for apply in (settings.apply_random_seed, settings.apply_shuffle_seed):
        pipe = settings.apply_shuffle_settings(last, True)
        seen.append(list(map(list, apply(pipe, lib.Generator().manual_seed(3)))))
    shared = a.sharding_filter().map(lambda n: n + 1)
    seen.append(list(settings.apply_sharding(shared, 3, 1)))
    return [*seen, error(lambda: settings.apply_sharding(shared.sharding_filter(), 2, 0))]


@agrees
def test_determinism(lib):
    data = lib.utils.data

    class Noise(data.IterDataPipe):
        def __init__(self, n=0):
            self.n = n

        def __iter__(self):
            return iter(range(self.n))

    plain, asked = data.non_deterministic(Noise), data.non_deterministic(lambda n: n > 2)(Noise)
    wrong = data.non_deterministic(lambda n: n)(Noise)
    seen = [list(plain(2)), list(asked(3)), error(lambda: wrong(1))]
    with data.guaranteed_datapipes_determinism():
        seen += [error(plain), error(lambda: asked(3)), list(asked(2)), error(lambda: wrong(1))]
    seen += [list(plain(1)), error(lambda: data.non_deterministic(int))]
    seen += [error(lambda: data.non_deterministic(3))]
    seen += [error(lambda: data.non_deterministic(len)(int))]
    frames = data.DFIterDataPipe
    return [*seen, frames()._is_dfpipe(), issubclass(frames, data.IterDataPipe)]
