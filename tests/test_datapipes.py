"""Steps of a pipeline of samples."""

import pickle

import pytest

import imode
from imode.utils import data
from imode.utils.data.datapipes import graph
from imode.utils.data.datapipes.iter import IterableWrapper, Mapper


def test_steps_are_methods():
    pipe = IterableWrapper(range(6)).map(str).batch(4)
    assert [*pipe] == [["0", "1", "2", "3"], ["4", "5"]] and len(pipe) == 2
    assert "shuffle" in dir(pipe) and repr(pipe) == "BatcherIterDataPipe"
    with pytest.raises(AttributeError, match="has no attribute 'leap"):
        pipe.leap()


def test_a_second_pass_ends_the_first():
    pipe = IterableWrapper([1, 2, 3]).map(float)
    first = iter(pipe)
    assert next(first) == 1.0 and [*pipe] == [1.0, 2.0, 3.0]
    with pytest.raises(RuntimeError, match="This iterator has been invalidated because another"):
        next(first)


def test_names_are_registered_once():
    with pytest.raises(Exception, match="Unable to add DataPipe function name map as it is alre"):
        data.functional_datapipe("map")(Mapper)
    with pytest.raises(TypeError, match="Can only decorate IterDataPipe"):
        data.functional_datapipe("other")(list)


def test_pipelines_are_pickled():
    pipe = IterableWrapper(range(4)).map(float).batch(2)
    assert [*pickle.loads(pickle.dumps(pipe))] == [*pipe] == [[0.0, 1.0], [2.0, 3.0]]


def test_a_loader_shuffles_and_seeds():
    def order(**options):
        imode.manual_seed(1)
        loader = data.DataLoader(IterableWrapper(range(9)).shuffle(), batch_size=None, **options)
        return [*loader]

    assert order() == order() == order(shuffle=True) != sorted(order())
    assert order(shuffle=False) == list(range(9))
    with pytest.warns(UserWarning, match="the datapipe does not contain a `Shuffler`"):
        loader = data.DataLoader(IterableWrapper(range(9)), batch_size=None, shuffle=True)
    assert sorted(loader) == list(range(9))


def test_workers_share_the_samples():
    pipe = IterableWrapper(range(7)).sharding_filter().map(float)
    loader = data.DataLoader(pipe, batch_size=None, num_workers=2)
    assert sorted(loader) == list(range(7))
    graph.shard(pipe, 3, 1)
    assert [*pipe] == [1.0, 4.0] and len(pipe) == 2
    with pytest.raises(ValueError, match=r"instance_id\(3\) should be smaller than num_of_inst"):
        graph.shard(pipe, 3, 3)
