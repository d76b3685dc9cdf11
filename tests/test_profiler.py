"""The profiler: events, own times, tables, files, schedules; and what it costs off and on."""

import gzip
import json
import re
import threading
import xml.etree.ElementTree as ET

import pytest

import imode
from imode.profiler import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)
from imode.profiler.recorder import Kind, Recorder


def names(prof):
    return [event.name for event in prof.events()]


def test_a_call_is_one_event_and_parts_stand_inside():
    x, w = imode.ones(2, 3, requires_grad=True), imode.ones(4, 3)
    with profile() as prof:
        y = imode.nn.functional.linear(x, w)
        y.sum().backward()
    linear, *rest = prof.events()
    assert linear.name == "aten::linear" and linear.cpu_parent is None
    assert [child.name for child in linear.cpu_children] == ["aten::t", "aten::mm"]
    for event in prof.events():
        inside = sum(child.cpu_time_total for child in event.cpu_children)
        assert event.self_cpu_time_total == pytest.approx(event.cpu_time_total - inside)
        assert all(event.time_range.start <= c.time_range.start for c in event.cpu_children)
        assert all(event.time_range.end >= c.time_range.end for c in event.cpu_children)
    nodes = [event for event in rest if event.kind == Kind.NODE]
    assert [node.name for node in nodes][:2] == ["SumBackward0", "MmBackward0"]
    assert any(child.name == "aten::mm" for child in nodes[1].cpu_children)


def test_a_kernel_that_calls_its_own_operator_is_two_events():
    before = imode.ops.neg.kernel_of("CPU")
    x = imode.ones(2)

    def kernel(array):
        return array if array.shape == (1,) else imode.ops.neg(x[:1]).expand(2)

    imode.ops.neg.register("CPU", kernel)
    try:
        with profile() as prof:
            imode.ops.neg(x)
    finally:
        imode.ops.neg.register("CPU", before)
    outer = prof.events()[0]
    assert [e.name for e in (outer, *outer.cpu_children) if "neg" in e.name] == ["aten::neg"] * 2


def test_lines_are_those_of_the_program():
    x = imode.ones(2)
    code = compile("x + 1\n\nwith record('mine'):\n    x * 2\nmodel(x)\n", "program.py", "exec")
    model = imode.nn.Sequential(imode.nn.Linear(2, 2), imode.nn.ReLU())
    with profile(with_stack=True) as prof:
        exec(code, {"x": x, "record": record_function, "model": model})
    lines = [(event.name, event.line) for event in prof.events()]
    assert lines[0] == ("aten::add", ("program.py", 1))
    assert lines[1] == ("mine", ("program.py", 3))
    assert lines[2] == ("aten::mul", ("program.py", 4))
    assert lines[3] == ("aten::linear", ("program.py", 5))
    assert {line for _, line in lines[3:]} == {("program.py", 5)}
    assert prof.events()[0].stack == ["program.py(1)"]
    by_line = prof.events().by_line()
    assert next(iter(by_line)) == ("program.py", 1) and len(by_line) == 4


def test_shapes_and_memory_are_noted_where_wanted():
    a = imode.ones(2, 3, requires_grad=True)
    with profile(record_shapes=True, profile_memory=True) as prof:
        b = imode.cat([a, imode.ones(1, 3)])
        b.relu()
        b.t()
        b.max(0)
        a.detach().add_(1)
    found = {event.name: event for event in prof.events()}
    assert found["aten::cat"].input_shapes == [[[2, 3], [1, 3]], []]
    assert found["aten::cat"].cpu_memory_usage == found["aten::relu"].cpu_memory_usage == 36
    assert found["aten::t"].cpu_memory_usage == found["aten::add_"].cpu_memory_usage == 0
    assert found["aten::max"].cpu_memory_usage == 36
    with profile() as prof:
        imode.ones(2)
    assert prof.events()[0].input_shapes == [] and prof.events()[0].cpu_memory_usage == 0


def test_own_memory_is_without_that_of_the_parts():
    with profile(profile_memory=True) as prof:
        y = imode.nn.functional.linear(imode.ones(2, 3), imode.ones(4, 3))
    found = {event.name: event for event in prof.events()}
    assert y.nbytes == found["aten::linear"].cpu_memory_usage == 32
    assert found["aten::linear"].self_cpu_memory_usage == 0
    assert found["aten::mm"].self_cpu_memory_usage == 32


def test_averages_by_name_shape_and_line():
    a, b = imode.ones(2), imode.ones(3)
    with profile(record_shapes=True, with_stack=True) as prof:
        for _ in range(3):
            a + a
        b + b
    (add,) = prof.key_averages()
    assert (add.key, add.count) == ("aten::add", 4)
    assert add.cpu_time == pytest.approx(add.cpu_time_total / 4)
    assert [e.count for e in prof.key_averages(group_by_input_shape=True)] == [3, 1]
    assert [e.count for e in prof.key_averages(group_by_stack_n=1)] == [3, 1]
    assert prof.events().total_average().count == 4
    assert prof.key_averages().self_cpu_time_total == pytest.approx(
        prof.events().self_cpu_time_total
    )


def test_the_table_has_pytorchs_columns():
    with profile(record_shapes=True, profile_memory=True, with_stack=True) as prof:
        imode.ones(2, 2).exp()
    table = prof.key_averages(True, 1).table(sort_by="cpu_time_total", row_limit=1, header="mine")
    rule, header, _, titles, _, row, *_, last = table.rstrip("\n").splitlines()
    assert set(rule) == {"="} and header == "mine"
    assert re.split(r"\s{2,}", titles.strip()) == [
        *("Name", "Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"),
        *("CPU Mem", "Self CPU Mem", "# of Calls", "Input Shapes", "Source Location"),
    ]
    assert len(row.split()) > 9 and last.startswith("Self CPU time total: ")
    assert len(table.splitlines()) == 8
    every = prof.key_averages()
    assert len(every.table().splitlines()) == 3 + 2 + 2 and str(every) == every.table()
    sums = [float(text) for text in re.findall(r"([\d.]+)%\s+\S+\s+[\d.]+%", every.table())]
    assert sum(sums) == pytest.approx(100, abs=0.1)
    times = [e.self_cpu_time_total for e in every]
    assert sorted(times) and every.self_cpu_time_total == pytest.approx(sum(times))


def test_a_table_is_sorted_cut_and_fitted():
    with profile() as prof, record_function("a name " * 20):
        imode.ones(2)
        for _ in range(5):
            imode.zeros(2)
    table = prof.key_averages().table(sort_by="count", row_limit=-1, max_name_column_width=20)
    rows = table.splitlines()[3:-2]
    assert "aten::zeros" in rows[0] and any("..." in row for row in rows)
    top = prof.events().table(top_level_events_only=True)
    assert "aten::ones" not in top and "a name" in top
    with pytest.raises(AttributeError, match=r"has no attribute 'nonsense'\. A table is sorted by"):
        prof.key_averages().table(sort_by="nonsense")
    with profile() as empty:
        pass
    assert empty.key_averages().table() == "" and empty.events().total_average() is None


# ---- files ----


def test_chrome_trace(tmp_path):
    with profile(record_shapes=True, profile_memory=True) as prof, record_function("mine"):
        imode.ones(2) + 1
    for name, opened in (("t.json", open), ("t.json.gz", gzip.open)):
        prof.export_chrome_trace(str(tmp_path / name))
        with opened(tmp_path / name, "rt") as file:
            rows = json.load(file)["traceEvents"]
        assert [row["name"] for row in rows] == ["mine", "aten::ones", "aten::add"]
        assert [row["cat"] for row in rows] == ["user_annotation", "cpu_op", "cpu_op"]
        assert all(row["ph"] == "X" and row["dur"] >= 0 for row in rows)
        assert rows[2]["args"]["Input Dims"] == [[2], [], []] and rows[2]["args"]["Bytes"] == 8
        assert rows[0]["ts"] <= rows[1]["ts"] and rows[2]["args"]["Line"].startswith(__file__)


def test_stacks(tmp_path):
    with profile() as prof, record_function("a; b"):
        imode.ones(2)
    prof.export_stacks(tmp_path / "s", "self_cpu_time_total")
    outer, inner = (tmp_path / "s").read_text().splitlines()
    assert re.fullmatch(r"\S+test_profiler.py:\d+;a,_b \d+", outer)
    assert re.fullmatch(r"\S+test_profiler.py:\d+;a,_b;aten::ones \d+", inner)
    with pytest.raises(ValueError, match="metric should be one of"):
        prof.export_stacks(tmp_path / "s", "self_cuda_time_total")


def test_the_picture_shows_each_line_with_its_bar(tmp_path):
    x = imode.ones(2000)
    with profile() as prof:
        x.exp()
        with record_function("<&>"):
            x * 2
    prof.export_lines(tmp_path / "lines.svg")
    picture = ET.parse(tmp_path / "lines.svg").getroot()
    space = "{http://www.w3.org/2000/svg}"
    texts = [text.text for text in picture.iter(f"{space}text")]
    assert any("x.exp()" in text for text in texts) and any("x * 2" in text for text in texts)
    bars = [r for r in picture.iter(f"{space}rect") if r.get("class", "").startswith("p") and
            r.get("class") != "page"]  # fmt: skip
    titles = [bar.find(f"{space}title").text for bar in bars]
    assert any(t.startswith("<&>: ") for t in titles) and any("aten::exp" in t for t in titles)
    left, right = 470, 470 + 400.5
    assert all(left <= float(b.get("x")) <= right for b in bars)
    assert all(float(b.get("x")) + float(b.get("width")) <= right for b in bars)
    assert "prefers-color-scheme: dark" in (tmp_path / "lines.svg").read_text()


def test_a_picture_of_many_lines_and_operators_gathers_the_rest(tmp_path):
    functions = ("exp", "sin", "cos", "tanh", "abs", "neg", "sqrt")
    one = "".join(f"x.{name}(); " for name in functions)
    with profile() as prof:
        exec(compile(f"{one}\n" + "x.exp()\n" * 50, "many.py", "exec"), {"x": imode.ones(2)})
    prof.export_lines(tmp_path / "lines.svg")
    text = (tmp_path / "lines.svg").read_text()
    assert "12 more lines: " in text and "<title>others: " in text
    with profile() as prof:
        pass
    prof.export_lines(tmp_path / "none.svg")
    ET.parse(tmp_path / "none.svg")


# ---- blocks, schedules, handlers ----


def test_a_block_outside_of_a_profile_does_nothing_and_decorates():
    @record_function("decorated")
    def function(n):
        return imode.ones(n) if n else function(2)

    function(1)
    with profile() as prof:
        function(0)
    assert names(prof) == ["decorated", "decorated", "aten::ones"]
    entered = record_function("before")
    entered.__enter__()
    with profile() as prof:
        entered.__exit__(None, None, None)
        with record_function("a", "b"):
            pass
    assert names(prof) == ["a(b)"]


def test_a_block_that_is_left_late_ends_with_the_profile():
    block = record_function("late")
    with profile() as prof:
        block.__enter__()
        imode.ones(2)
    block.__exit__(None, None, None)
    late, ones = prof.events()
    assert late.cpu_children == [ones] and late.time_range.end >= ones.time_range.end


def test_an_error_ends_its_events():
    with profile() as prof:
        with pytest.raises(RuntimeError), record_function("fails"):
            imode.ones(2) + imode.ones(3)
        imode.zeros(1)
    assert names(prof) == ["fails", "aten::ones", "aten::ones", "aten::add", "aten::zeros"]
    assert prof.events()[-1].cpu_parent is None


def test_a_schedule_records_its_active_steps_and_calls_back():
    seen = []

    def ready(prof):
        seen.append((prof.step_num, [e.key for e in prof.key_averages()]))

    with profile(
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2), on_trace_ready=ready
    ) as prof:
        for _ in range(10):
            imode.ones(2)
            prof.step()
    assert [step for step, _ in seen] == [4, 8]
    assert seen[0][1] == ["ProfilerStep#2", "aten::ones", "ProfilerStep#3"]
    steps = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    kinds = ["NONE", "NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert [steps(i).name for i in range(12)] == kinds + kinds[1:] + ["NONE"] * 3
    early = schedule(wait=2, warmup=0, active=1, skip_first=1, skip_first_wait=1)
    assert early(1) == ProfilerAction.RECORD_AND_SAVE


def test_what_is_left_at_the_end_is_given_to_the_callback(tmp_path):
    folder = tmp_path / "traces"
    with profile(on_trace_ready=tensorboard_trace_handler(str(folder), "me", True)):
        imode.ones(2)
    (file,) = folder.iterdir()
    assert file.name.startswith("me.") and file.name.endswith(".pt.trace.json.gz")


def test_a_profile_can_run_again_and_within_another():
    prof = profile()
    with prof:
        imode.ones(2)
        with profile() as inner:
            imode.zeros(2)
    assert names(prof) == ["aten::ones", "aten::zeros"] and names(inner) == ["aten::zeros"]
    with prof:
        imode.zeros(2)
    assert names(prof) == ["aten::zeros"]


def test_it_records_its_own_thread():
    with profile() as prof:
        thread = threading.Thread(target=lambda: imode.ones(2))
        thread.start()
        thread.join()
    assert names(prof) == []


# ---- mistakes ----


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: schedule(wait=-1, warmup=0, active=1), AssertionError, "Got wait=-1"),
        (lambda: schedule(wait=1, warmup=0, active=0), AssertionError, "active=0 .need > 0"),
        (lambda: schedule(wait=1, warmup=0, active=1)(-1), AssertionError, "non-negative"),
        (lambda: profile(activities=[]), AssertionError, "No valid profiler activities found"),
        (
            lambda: profile(activities=[ProfilerActivity.CUDA]),
            AssertionError,
            "There is no device but the CPU",
        ),
        (lambda: profile(activities=["cpu"]), TypeError, "members of ProfilerActivity, not str"),
        (lambda: profile(schedule=3), TypeError, "argument 'schedule' must be callable"),
        (lambda: profile(on_trace_ready=3), TypeError, "'on_trace_ready' must be callable"),
        (lambda: profile().events(), AssertionError, "before accessing events"),
        (lambda: profile().key_averages(), AssertionError, "before getting key averages"),
        (lambda: profile().export_chrome_trace("x"), AssertionError, "exporting chrome trace"),
        (lambda: profile().export_lines("x"), AssertionError, "before drawing a picture"),
        (lambda: profile().export_stacks("x"), AssertionError, "before exporting stacks"),
        (lambda: profile().step(), RuntimeError, "step.. is for within its `with` block"),
        (lambda: record_function(3), TypeError, "argument 'name' must be str, not int"),
        (lambda: Recorder(shapes="x" * 3, memory=[]).start(1), TypeError, "argument"),
    ],
)
def test_mistakes_are_named(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_it_is_on_once_and_stopped_in_its_thread():
    prof = profile()
    with prof:
        with pytest.raises(RuntimeError, match="it is already on"):
            prof.start()
        caught = []

        def stop():
            try:
                prof.stop()
            except RuntimeError as error:
                caught.append(str(error))

        thread = threading.Thread(target=stop)
        thread.start()
        thread.join()
        assert "it is on in another thread" in caught[0]
        imode.ones(2)
    assert names(prof) == ["aten::ones"] and "off, 1 events" in repr(prof)
    prof.stop()


def test_the_older_names():
    old = imode.autograd.profiler
    with old.profile() as prof, old.record_function("mine"):
        imode.ones(2)
    assert [e.key for e in prof.function_events] == ["mine", "aten::ones"]
    assert prof.self_cpu_time_total > 0 and prof.total_average().count == 2
    assert "aten::ones" in prof.table(sort_by="count")
    with old.profile(enabled=False) as prof:
        imode.ones(2)
    with pytest.raises(AssertionError, match="Profiler must be initialized"):
        prof.events()


# ---- the tree of the dispatch trace ----


def test_the_trace_is_a_list_and_a_tree():
    x = imode.ones(1, 2, requires_grad=True)
    with imode.trace_dispatch() as trace:
        imode.nn.functional.linear(x, imode.ones(3, 2))
    assert isinstance(trace, list) and [name for name, _ in trace] == [
        "ones",
        "t",
        "t",
        "mm",
        "mm",
    ]
    assert trace.tree().splitlines() == [
        "ones: CPU",
        "linear",
        "  t: ADInplaceOrView",
        "    t: CPU",
        "  mm: Autograd",
        "    mm: CPU",
    ]
    with imode.trace_dispatch() as trace, pytest.raises(RuntimeError):
        imode.nn.functional.linear(x, imode.ones(3, 5))
    with imode.trace_dispatch() as trace:
        imode.ones(2)
    assert not trace.tree().startswith(" ")
