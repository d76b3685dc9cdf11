"""Timers' tables, dictionaries of tensors: the same program in both libraries."""

import importlib
import weakref

from tests.conformance.side_by_side import agrees, error


def module(lib, name):
    return importlib.import_module(f"{lib.__name__}.utils.{name}")


def tables(lib):
    b = module(lib, "benchmark")

    def measured(times, stmt="x + 1", number=1, **names):
        names = {"setup": "pass", **names}
        return b.Measurement(number, times, b.utils.common.TaskSpec(stmt, **names))

    results = [
        measured([2e-6, 2.1e-6, 2.2e-6, 2.3e-6], label="add", description="a"),
        measured([3e-6, 3.1e-6, 9e-6, 3.3e-6, 1e-5], label="add", description="b"),
        measured([5e-4], "x * 2\ny", label="add", description="a", setup="x = 1\ny = 2"),
        measured([6e-3, 8e-3], "z", number=1000, label="add", description="b", num_threads=2),
        measured([1.0], "w", label="other", sub_label="sub", env="a", description="c"),
        measured([2.0, 5.0, 2.0], "v", label="other", env="mine", sub_label="m", description="c"),
    ]
    made = []
    for m in results:
        made += [repr(m).split("\n", 1)[1], m.title, m.as_row_name, m.significant_figures]
        made += [m.median, m.mean, m.iqr, m.has_warnings, m.times, m.meets_confidence(), m.stmt]
    compare = b.Compare(results)
    made.append(str(compare))
    compare.trim_significant_figures()
    made.append(str(compare))
    compare.highlight_warnings()
    made.append(str(compare))
    for rowwise in (True, False):
        compare.colorize(rowwise)
        made.append(str(compare))
    units = [b.utils.common.select_unit(t) for t in (1e-9, 5e-7, 1e-6, 3e-3, 0.5, 70.0)]
    made += [list(unit) for unit in units]
    trim = b.utils.common.trim_sigfig  # PyTorch's computes in float32
    made += [f"{trim(x, n):.6g}" for x, n in ((1234.5, 2), (0.01234, 3), (99.9, 2))]
    made += [error(lambda: b.Compare([1])), len(b.Measurement.merge(results + results))]
    made.append(error(lambda: results[0].no_such_name)[0])
    return made


def timers(lib):
    b = module(lib, "benchmark")
    seen = []
    timer = b.Timer("x + 1", globals={"x": lib.ones(2)}, label="add", num_threads=1)
    found = timer.blocked_autorange(lambda n, t: seen.append(n), min_run_time=0.01)
    made = [found.number_per_run == seen[0], len(seen) == len(found.raw_times), found.label]
    made += [timer.timeit(200).number_per_run, len(timer.timeit(200).raw_times), found.median > 0]
    made.append(len(timer.adaptive_autorange(max_run_time=0.1).raw_times) > 1)
    named = b.Timer("torch.ones(n)", setup="\n    n = 2\n").timeit(3)
    made += [named.stmt, named.setup, timer._task_spec.title]
    made += [error(timer.repeat), error(timer.autorange), error(lambda: b.Timer(3))]
    made += [error(lambda: b.Timer("1", language="rust")), error(lambda: b.Timer("1", "2", "3"))]
    return made


def weak_dictionaries(lib):
    weak = module(lib, "weak")
    x, y = lib.ones(2), lib.ones(2)
    table = weak.WeakTensorKeyDictionary({x: 1, y: 2})
    made = [table[x], table[y], len(table), lib.ones(2) in table, 3 in table, table.get(x, 9)]
    made += [error(lambda: table[lib.ones(2)])[0], list(table.values()), table.pop(y, None)]
    made += [len(table), table == table.copy(), (table | {y: 3})[y], table.setdefault(y, 5)]
    made += [[*weak.WeakIdKeyDictionary({y: 1}).values()], len(table.keyrefs())]
    reference = weak.TensorWeakRef(x)
    made += [reference() is x, weak.WeakIdRef(x) == weak.WeakIdRef(x)]
    del x
    return [*made, len(table), reference() is None, next(iter(table)) is y]


def other_names(lib):
    utils = lib.utils

    class Named:
        pass

    utils.set_module(Named, "mylib")
    return [Named.__module__, error(lambda: utils.set_module(Named, 3))]


def swapped_tensors(lib):
    swap = lib.utils.swap_tensors
    a, b = lib.ones(2), lib.zeros(3)
    a.note, same = 1, a
    swap(a, b)
    made = [a, b, same, b.note, hasattr(a, "note")]
    p, q = lib.nn.Parameter(lib.ones(2)), lib.zeros(2)
    swap(p, q)
    made += [p, q, isinstance(q, lib.nn.Parameter), isinstance(p, lib.nn.Parameter)]
    (q * 2).sum().backward()
    made.append(q.grad)
    x, y = lib.ones(2, requires_grad=True), lib.zeros(2)
    x.grad = lib.ones(2)
    swap(x, y)
    made += [x, y, y.grad, x.grad]
    w = lib.ones(2, requires_grad=True)
    z = w * 3
    swap(z, y := lib.ones(1))
    made += [z, y, y.is_leaf]
    y.sum().backward()
    made.append(w.grad)
    kept = weakref.ref(a)
    made += [error(lambda: swap(a, b)), error(lambda: swap(b, a)), kept() is a]
    base = lib.ones(2)
    view = base[0]
    made += [error(lambda: swap(base, lib.ones(1)))[0], view]
    linear = lib.nn.Linear(2, 2)
    swap(linear.weight, lib.nn.Parameter(lib.ones(2, 2)))
    return [*made, linear.weight, list(linear.state_dict())]


test_swapped_tensors = agrees(swapped_tensors)
test_tables = agrees(tables)
test_timers = agrees(timers)
test_weak_dictionaries = agrees(weak_dictionaries)
test_other_names = agrees(other_names)
