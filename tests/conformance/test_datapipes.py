"""Pipelines of samples: the same steps give the same samples in both libraries."""

import pytest

PROGRAMS = {
    "map": "I(range(5)).map(lambda n: n * 10)",
    "map of a column": "I([(1, 2), (3, 4)]).map(str, input_col=1)",
    "map to a column": "I([[1, 2], [3, 4]]).map(lambda a, b: a + b, [1, 0], -1)",
    "map of columns": "I([(1, 2, 3)]).map(lambda a, b: a - b, [0, 2])",
    "filter": "I(range(9)).filter(lambda n: n % 2 == 0)",
    "filter by a column": "I([(1, 2), (3, 0)]).filter(bool, input_col=1)",
    "batch": "I(range(7)).batch(3)",
    "batch without rest": "I(range(7)).batch(3, drop_last=True)",
    "unbatch": "I([[1, 2], [[3]]]).unbatch()",
    "unbatch all": "I([[1, 2], [[3]], 4]).unbatch(-1)",
    "collate": "I(range(4)).batch(2).collate()",
    "concat": "I([1]).concat(I([2, 3]))",
    "zip": "I([1, 2]).zip(I('abc'))",
    "mux": "I([1, 2, 3]).mux(I([10, 20]))",
    "groupby": "I([1, 12, 13, 2, 11]).groupby(lambda n: n // 10, keep_key=True)",
    "groups of a size": "I(range(12)).groupby(lambda n: n % 3, buffer_size=5, group_size=3, "
    "guaranteed_group_size=2)",
    "shuffle": "I(range(20)).shuffle()",
    "shuffle with few waiting": "I(range(20)).shuffle(buffer_size=4)",
    "shuffle, seeded": "I(range(20)).shuffle(buffer_size=4).set_seed(5)",
    "shuffle of batches": "I([[1, 2], [3, 4]]).shuffle(unbatch_level=1)",
    "no shuffle": "I(range(5)).shuffle().set_shuffle(False)",
    "sharding": "I(range(5)).sharding_filter()",
    "sampler": "iter.Sampler(I(range(3)))",
    "sequence": "M([3, 4, 5]).map(lambda n: n + 1).batch(2)",
    "sequence, shuffled": "M(list(range(9))).shuffle()",
    "sequence, zipped": "M([1, 2]).zip(M([3, 4]).concat(M([5])))",
    "batch of 0": "I([1]).batch(0)",
    "unbatch too deep": "I([1]).unbatch()",
    "no boolean": "I([1]).filter(lambda n: n)",
    "nothing joined": "iter.Concater()",
    "no step joined": "I([1]).zip([2])",
    "no such step": "I([1]).leap()",
    "a column without an input": "I([1]).map(str, output_col=1)",
    "loaded": "data.DataLoader(I(range(6)).map(float), batch_size=4)",
    "loaded in order": "data.DataLoader(I(range(6)).shuffle(), batch_size=4, shuffle=False)",
    "loaded and shuffled": "data.DataLoader(I(range(9)).shuffle(buffer_size=3), shuffle=True)",
    "loaded, the shuffling as it is": "data.DataLoader(I(range(9)).shuffle())",
}


def outcome(lib, program):
    """The samples and the length, or the error, of a program."""
    data = lib.utils.data
    lib.manual_seed(3)
    names = {"data": data, "iter": data.datapipes.iter, "I": data.datapipes.iter.IterableWrapper,
             "M": data.datapipes.map.SequenceWrapper}  # fmt: skip
    try:
        pipe = eval(program, names)
        found = [*pipe], [*pipe]  # two passes
    except Exception as error:
        return type(error).__name__, str(error.args[0]).partition("\n")[0]
    try:
        length = len(pipe)
    except TypeError as error:
        length = str(error).removesuffix("IterDataPipe instance doesn't have valid length")
        length = length.partition(" ")[0].removesuffix("IterDataPipe")
    return str(found).replace("torch.", "imode."), length


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_steps(lib, torch, program):
    theirs = outcome(torch, program)
    assert outcome(lib, program) == theirs


@pytest.mark.parametrize("name", ["batch", "own"])
def test_registered_names(lib, torch, name):
    def declare(library):
        data = library.utils.data
        taken = dict(data.IterDataPipe.functions)
        try:

            @data.functional_datapipe(name)
            class Own(data.IterDataPipe):
                def __init__(self, source, times):
                    self.source, self.times = source, times

                def __iter__(self):
                    return (x * self.times for x in self.source)

            pipe = data.datapipes.iter.IterableWrapper([1, 2]).own(3)
            first = iter(pipe)
            return next(first), list(pipe), repr(pipe).rpartition(".")[2], next(first, "end")
        except Exception as error:
            return type(error).__name__, str(error).partition(":")[0]
        finally:
            data.IterDataPipe.functions.clear()
            data.IterDataPipe.functions.update(taken)

    assert declare(lib) == declare(torch)
