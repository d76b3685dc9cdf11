"""PyTorch's older names of `imode.profiler`."""

from imode.profiler import profile as _profile
from imode.profiler import record_function

__all__ = ["profile", "record_function"]


class profile(_profile):
    """`imode.profiler.profile`, which may be off, and whose table is `table`.

    >>> with imode.autograd.profiler.profile() as prof:
    ...     y = imode.ones(2) + 1
    >>> print(prof.key_averages()[1].key, "CPU total" in prof.table())
    aten::add True
    """

    def __init__(self, enabled=True, **options):
        for name in ("use_cuda", "use_device", "use_kineto", "use_cpu"):
            options.pop(name, None)
        super().__init__(**options)
        self.enabled = enabled

    def start(self):
        """Begin, if it is on."""
        if self.enabled:
            super().start()

    @property
    def function_events(self):
        """The events: an EventList."""
        return self.events()

    @property
    def self_cpu_time_total(self):
        """The time of all events together, in microseconds."""
        return self.events().self_cpu_time_total

    def total_average(self):
        """All events added up."""
        return self.events().total_average()

    def table(self, sort_by=None, row_limit=100, **options):
        """The table of all events, one by one."""
        return self.events().table(sort_by, row_limit, **options)
