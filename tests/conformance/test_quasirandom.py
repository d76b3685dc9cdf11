"""Sobol sequences, plain and scrambled: the same numbers for a seed."""

import copy
import pickle

from .side_by_side import agrees, error


@agrees
def test_points(lib):
    seen = []
    for dimension in (1, 2, 7, 40):
        engine = lib.quasirandom.SobolEngine(dimension)
        seen += [repr(engine), engine.draw(), engine.draw(5), engine.draw(1, dtype=lib.float64)]
        seen += [engine.quasi, engine.num_generated, engine.draw(200)[-1]]
        again = pickle.loads(pickle.dumps(engine))
        seen += [again.draw(3), copy.deepcopy(engine).draw(3), engine.reset() is engine]
        seen += [engine.draw(4), engine.draw_base2(2), engine.draw_base2(3), engine.quasi]
        seen += [engine.fast_forward(5).quasi, engine.draw(2), engine.fast_forward(0).quasi]
        engine = lib.quasirandom.SobolEngine(dimension)
        seen += [engine.fast_forward(9).draw(2), engine.fast_forward(-1).quasi, engine.sobolstate]
        seen += [engine.num_generated]
    return seen


@agrees
def test_many_dimensions(lib):
    engine = lib.quasirandom.SobolEngine(10000)
    return [engine.draw(6), engine.sobolstate[5000:, ::7]]


@agrees
def test_scrambled(lib):
    seen = []
    for dimension, seed in ((1, 0), (3, 5), (30, 2**40), (5, None)):
        lib.manual_seed(3)
        engine = lib.quasirandom.SobolEngine(dimension, scramble=True, seed=seed)
        seen += [repr(engine), engine.draw(), engine.draw(9), engine.draw(2, dtype=lib.float64)]
        seen += [engine.sobolstate, engine.shift, engine.reset().draw(3), lib.rand(1)]
        seen += [engine.fast_forward(100).draw(2)]
    return seen


@agrees
def test_results_given(lib):
    make, out = lib.quasirandom.SobolEngine, lib.empty(1)
    given = make(2).draw(3, out=out)
    whole = lib.ones(3, 2, dtype=lib.long)
    lib.set_default_dtype(lib.float64)
    try:
        wide = make(2).draw(3)
    finally:
        lib.set_default_dtype(lib.float32)
    return [given is out, out, make(2).draw(3, None, lib.float64), make(2).draw(3, whole), wide,
            make(1, 1, 4).draw(2, dtype=lib.float64)]  # fmt: skip


@agrees
def test_refused(lib):
    make = lib.quasirandom.SobolEngine
    one = make(1)
    one.draw()
    return [
        error(lambda: make(0))[0], error(lambda: make(10**6))[0], error(lambda: make(2.5))[0],
        error(lambda: make(2).draw(-1)), error(lambda: make(2).draw(0)),
        error(lambda: one.draw(-3)), one.draw(0), error(lambda: make(2).draw(2.5)),
        error(lambda: make(2).draw("a"))[0], error(lambda: make(2).draw(2, dtype=lib.half)),
        error(lambda: make(2).draw(2, dtype=lib.long)), make(2).draw(1, dtype=lib.long),
        error(lambda: one.draw_base2(1)), error(lambda: make(3, 1, 2.5))[0],
        error(lambda: make(2).draw(3, out=lib.empty(3, 2, requires_grad=True)))[0],
    ]  # fmt: skip
