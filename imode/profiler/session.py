"""`profile`: a block whose operators are recorded, and the schedule of its steps."""

import contextlib
import enum
import os
import socket
import time

from .._core.type_names import class_name
from . import chrome, lines
from .events import EventList
from .recorder import Recorder, begin_block, end_block


class ProfilerActivity(enum.Enum):
    """What is recorded: operators on the CPU. The others are devices that are not there."""

    CPU = 0
    XPU = 1
    CUDA = 2


ProfilerAction = enum.Enum("ProfilerAction", "NONE WARMUP RECORD RECORD_AND_SAVE", start=0)
ProfilerAction.__doc__ = "What a step of a schedule does."


def supported_activities():
    """The activities that can be recorded: a set.

    >>> imode.profiler.supported_activities()
    {<ProfilerActivity.CPU: 0>}
    """
    return {ProfilerActivity.CPU}


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function from a step's number to what the step does, for `profile(schedule=...)`.

    The first `skip_first` steps do nothing; then come cycles of `wait` steps that do nothing,
    `warmup` steps whose record is thrown away and `active` steps that are recorded, `repeat` times
    or, if that is 0, on and on. `skip_first_wait`: the first cycle has no `wait`.

    >>> steps = imode.profiler.schedule(wait=1, warmup=1, active=2, repeat=1)
    >>> [steps(i).name for i in range(5)]
    ['NONE', 'WARMUP', 'RECORD', 'RECORD_AND_SAVE', 'NONE']
    """
    if not (wait >= 0 and warmup >= 0 and active > 0 and repeat >= 0 and skip_first >= 0):
        raise AssertionError(
            f"Invalid profiler schedule arguments. Got wait={wait} (need >= 0), warmup={warmup} "
            f"(need >= 0), active={active} (need > 0), repeat={repeat} (need >= 0), "
            f"skip_first={skip_first} (need >= 0)."
        )

    def action(step):
        if step < 0:
            raise AssertionError(f"Step must be non-negative. Got {step}.")
        if step < skip_first:
            return ProfilerAction.NONE
        step -= skip_first
        if skip_first_wait:
            step += wait
        length = wait + warmup + active
        if repeat and step // length >= repeat:
            return ProfilerAction.NONE
        step %= length
        if step < wait:
            return ProfilerAction.NONE
        if step < wait + warmup:
            return ProfilerAction.WARMUP
        return ProfilerAction.RECORD if step < length - 1 else ProfilerAction.RECORD_AND_SAVE

    return action


def _always(step):
    return ProfilerAction.RECORD


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A function for `profile(on_trace_ready=...)` that writes a trace into a folder.

    >>> import os, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> handler = imode.profiler.tensorboard_trace_handler(folder, "me")
    >>> with imode.profiler.profile(on_trace_ready=handler):
    ...     y = imode.ones(2) + 1
    >>> [name.endswith(".pt.trace.json") for name in os.listdir(folder)]
    [True]
    """

    def handler(prof):
        os.makedirs(dir_name, exist_ok=True)
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        name = f"{worker}.{time.time_ns()}.pt.trace.json{'.gz' * bool(use_gzip)}"
        prof.export_chrome_trace(os.path.join(dir_name, name))

    return handler


class record_function(contextlib.ContextDecorator):
    """A block with a name, which a profile shows as an event around what runs in it.

    Outside of a profile it does nothing. Also a decorator.

    >>> with imode.profiler.profile() as prof:
    ...     with imode.profiler.record_function("mine"):
    ...         y = imode.ones(2) + 1
    >>> [event.name for event in prof.events()]
    ['mine', 'aten::ones', 'aten::add']
    """

    def __init__(self, name, args=None):
        if not isinstance(name, str):
            raise TypeError(
                f"record_function(): argument 'name' must be str, not {class_name(name)}"
            )
        self.name = name if args is None else f"{name}({args})"
        self._recorded = []

    def __enter__(self):
        self._recorded.append(begin_block(self.name))
        return self

    def __exit__(self, *exc_info):
        if self._recorded and self._recorded.pop():
            end_block()


class profile:
    """Record the operators that this thread runs in a `with` block; what follows reads the record.

    `activities`: ProfilerActivity.CPU, or nothing said. `record_shapes`, `profile_memory`,
    `with_stack`: note the arguments' shapes, the memory of new results, and show the lines of the
    program. `schedule`: from a step's number to a ProfilerAction; then `step()` ends each step.
    `on_trace_ready`: called with this object when a cycle of the schedule, or the block, is over.

    Memory is that which results have to themselves; what kernels use meanwhile is not seen. While
    it is on, a call takes some ten nanoseconds more; while it is off, nothing.

    >>> with imode.profiler.profile() as prof:
    ...     y = imode.ones(2) + 1
    >>> [(event.key, event.count) for event in prof.key_averages()]
    [('aten::ones', 1), ('aten::add', 1)]
    """

    def __init__(
        self,
        *,
        activities=None,
        schedule=None,
        on_trace_ready=None,
        record_shapes=False,
        profile_memory=False,
        with_stack=False,
        with_flops=False,
        with_modules=False,
        experimental_config=None,
        execution_trace_observer=None,
        acc_events=False,
        use_cuda=None,
    ):
        given = set(supported_activities() if activities is None else activities)
        for activity in given:
            if not isinstance(activity, ProfilerActivity):
                raise TypeError(
                    "profile(): activities are members of ProfilerActivity, not "
                    f"{class_name(activity)}"
                )
        if ProfilerActivity.CPU not in given:
            raise AssertionError(
                "No valid profiler activities found. There is no device but the CPU: leave "
                "`activities` out, or name ProfilerActivity.CPU"
            )
        for name, function in (("schedule", schedule), ("on_trace_ready", on_trace_ready)):
            if function is not None and not callable(function):
                raise TypeError(
                    f"profile(): argument '{name}' must be callable, not {class_name(function)}"
                )
        self.activities = given
        self.schedule = schedule or _always
        self.on_trace_ready = on_trace_ready
        self.record_shapes, self.profile_memory = bool(record_shapes), bool(profile_memory)
        self.with_stack = bool(with_stack)
        self.step_num = 0
        self.current_action = None
        self._recorder = self._step = None
        self._ended = self._events = None  # the record; what was made of it, when first asked for

    # ---- from start to stop ----

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *exc_info):
        self.stop()

    def start(self):
        """Begin, at step 0; what a previous run has recorded is forgotten."""
        if self._recorder is not None:
            raise RuntimeError("profile: it is already on. Stop it first, or make another one")
        self.step_num = 0
        self._ended = self._events = None
        self.current_action = self.schedule(0)
        self._begin()

    def stop(self):
        """End the record, and call `on_trace_ready` if there is one that it has not seen."""
        recorded = self._recorder is not None
        self._end_step()
        action, self.current_action = self.current_action, None
        self._end()
        if recorded and action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE):
            self._ready()

    def step(self):
        """End a step: the schedule says what the next one does."""
        if self.current_action is None:
            raise RuntimeError("profile: step() is for within its `with` block, and it is off")
        self._end_step()
        before, self.step_num = self.current_action, self.step_num + 1
        self.current_action = self.schedule(self.step_num)
        ended = before == ProfilerAction.RECORD_AND_SAVE or (
            before == ProfilerAction.RECORD and not self._records()
        )
        if ended:
            self._end()
            self._ready()
        if before == ProfilerAction.WARMUP:
            self._end(keep=False)
        self._begin()

    def _records(self):
        return self.current_action in (ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE)

    def _begin(self):
        """Record the step that begins, if it is one to record."""
        if self.current_action == ProfilerAction.NONE:
            return
        if self._recorder is None:
            self._recorder = Recorder(self.record_shapes, self.profile_memory)
            self._recorder.start()
        if self.schedule is not _always:
            self._step = record_function(f"ProfilerStep#{self.step_num}").__enter__()

    def _end_step(self):
        if self._step is not None:
            self._step.__exit__()
            self._step = None

    def _end(self, keep=True):
        recorder = self._recorder
        if recorder is None:
            return
        if not recorder.stop():
            raise RuntimeError(
                "profile: it is on in another thread. It records the thread that starts it, and "
                "that thread stops it"
            )
        self._recorder = None
        if keep:
            self._ended, self._events = recorder, None

    def _ready(self):
        if self.on_trace_ready is not None:
            self.on_trace_ready(self)

    # ---- what was recorded ----

    def _recorded(self, before):
        if self._ended is None:
            raise AssertionError(
                f"Profiler must be initialized before {before}: run something in its `with` block, "
                "and leave that first"
            )
        if self._events is None:
            self._events = EventList.of(self._ended, self)
        return self._events

    def events(self):
        """The events, in the order of their start: an EventList of FunctionEvents."""
        return self._recorded("accessing events")

    def key_averages(self, group_by_input_shape=False, group_by_stack_n=0, **ignored):
        """The events added up by name: an EventList, whose `table` shows them.

        `group_by_input_shape`: by name and shapes, which `record_shapes` notes;
        `group_by_stack_n`: by name and line of the program, where this is not 0.
        """
        events = self._recorded("getting key averages")
        return events.key_averages(group_by_input_shape, group_by_stack_n)

    def export_chrome_trace(self, path):
        """Write the events as JSON for chrome://tracing or Perfetto; gzipped if it ends in .gz."""
        chrome.write(self._recorded("exporting chrome trace"), path)

    def export_lines(self, path):
        """Write a picture of the time by line of the program: an SVG."""
        lines.write(self._recorded("drawing a picture"), path)

    def export_stacks(self, path, metric="self_cpu_time_total"):
        """Write ``line;operator... microseconds`` for each path, as flame graph tools read it."""
        chrome.write_stacks(self._recorded("exporting stacks"), path, metric)

    def __repr__(self):
        state = "off" if self._recorder is None else "on"
        return f"<profile, {state}, {len(self._recorded('')) if self._ended else 0} events>"
