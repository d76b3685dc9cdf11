"""The same use of the profiler here and in PyTorch: events by name, count and shapes; schedules.

PyTorch's kernels call further operators (`as_strided`, `empty`), which have no counterpart: all
that is recorded here has to be there as often.
"""

import pytest

from .side_by_side import plain, same

PROGRAMS = {
    "a sign": "x + x",
    "a product": "x @ x.t()",
    "a model": "m(x)",
    "a graph": "w.exp().sum().backward()",
    "two leaves": "(w @ w * v).sum().backward()",
    "a block": "with P.record_function('mine'):\n    x.relu()\n    x.exp()",
    "blocks in blocks": "with P.record_function('a'), P.record_function('b'):\n    x.exp()",
    "a decorated function": "P.record_function('f')(lambda: x.exp())()",
    "reductions": "x.sum(0); x.sum(1); x.max(); x.argmax()",
    "writes": "x.clone().add_(1).mul_(2)",
    "views": "x.view(12)[0]; x.t(); x.permute(1, 0)",
    "nothing": "x.shape; x.dim()",
    "without grad": "with lib.no_grad():\n    m(x)",
    "inference mode": "with lib.inference_mode():\n    m(x)",
    "a convolution": "F.conv2d(lib.ones(1, 1, 4, 4), lib.ones(1, 1, 3, 3))",
    "a list": "lib.cat([x, x]); lib.cat([x, x, x])",
    "many": "for _ in range(20): x.add(1).sin()",
    "an error": "try:\n    x @ x\nexcept RuntimeError:\n    x.exp()",
}


def profiled(lib, program):
    profiler, nn = lib.profiler, lib.nn
    names = {"lib": lib, "x": lib.ones(3, 4), "P": profiler, "F": nn.functional}
    names["m"] = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    names["w"], names["v"] = (lib.ones(3, 3, requires_grad=True) for _ in range(2))
    cpu = [profiler.ProfilerActivity.CPU]
    with profiler.profile(activities=cpu, record_shapes=True, profile_memory=True) as prof:
        exec(program, names)
    return prof


@pytest.mark.parametrize("name", PROGRAMS)
def test_events_by_name_count_and_shapes(lib, torch, name):
    ours, theirs = (profiled(library, PROGRAMS[name]) for library in (lib, torch))
    counts = {average.key: average.count for average in theirs.key_averages()}
    found = {average.key: average.count for average in ours.key_averages()}
    assert (found and {key: counts.get(key) for key in found} == found) or name == "nothing"
    for key in found:
        shapes = [
            [event.input_shapes for event in prof.events() if event.name == key]
            for prof in (ours, theirs)
        ]
        # a factory takes other arguments here; of the tensors in a list PyTorch shows nothing
        if key.startswith("aten::") and key not in ("aten::ones", "aten::cat"):
            assert sorted(map(str, shapes[0])) == sorted(map(str, shapes[1])), key
    for prof in (ours, theirs):
        for average in prof.key_averages():
            assert average.self_cpu_time_total <= average.cpu_time_total + 1e-6


def test_averages_by_shape_and_the_fields_of_a_row(lib, torch):
    def facts(library):
        prof = profiled(library, "x.exp(); x.exp(); w.exp()")
        by_shape = prof.key_averages(group_by_input_shape=True)
        rows = [(row.key, row.count, row.input_shapes) for row in by_shape if "exp" in row.key]
        event = next(event for event in prof.events() if event.name == "aten::exp")
        table = prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=2)
        columns = [word in table for word in ("Name", "Self CPU %", "CPU total", "# of Calls")]
        fits = event.time_range.start <= event.time_range.end, event.cpu_time_total > 0
        return plain([sorted(map(str, rows)), columns, fits, event.cpu_parent is None])

    same(facts(lib), facts(torch))


@pytest.mark.parametrize(
    "words",
    [
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2},
        {"wait": 0, "warmup": 0, "active": 1},
        {"wait": 1, "warmup": 0, "active": 1, "repeat": 1, "skip_first": 2},
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_schedules(lib, torch, words):
    def seen(library):
        profiler, found = library.profiler, []

        def ready(prof):
            counts = {average.key: average.count for average in prof.key_averages()}
            found.append([prof.step_num, counts.get("aten::exp", 0)])

        plan = profiler.schedule(**words)
        cpu = [profiler.ProfilerActivity.CPU]
        x = library.ones(2)
        with profiler.profile(activities=cpu, schedule=plan, on_trace_ready=ready) as prof:
            for _ in range(9):
                x.exp()
                prof.step()
        return [found, [plan(step).name for step in range(9)]]

    same(seen(lib), seen(torch))
