"""Inference, training and searches on a Ray cluster: `pip install imode[ray]`.

>>> from imode.integrations.ray import map_batches  # doctest: +SKIP
>>> for answers in map_batches(model, batches): ...  # doctest: +SKIP
"""

from . import tasks
from ._engine import functions_of, package

__all__ = ["Engine", "backward", "federated", "map_batches", "search"]


class Engine:
    """Runs tasks on the cluster that `ray.init()` has joined; one whose worker dies, again.

    options: of Ray's tasks, such as `num_cpus`, `num_gpus` or `max_retries`.
    """

    def __init__(self, **options):
        self._ray = package("ray", "ray")
        self._run = self._ray.remote(tasks.run).options(**{"max_retries": 3, **options})

    def put(self, value):
        """Store a value once on each machine; return its reference."""
        return self._ray.put(value)

    def submit(self, function, *args):
        """Start a task in the modes of this thread; return its future."""
        return self._run.remote(tasks.modes(), function, *args)

    def gather(self, futures):
        """Wait for tasks; return their results in order. Raises what a task raised."""
        return self._ray.get(futures)

    def as_completed(self, futures):
        """Yield futures as they end."""
        while futures:
            (first,), futures = self._ray.wait(futures)
            yield first


backward, federated, map_batches, search = functions_of(Engine, __name__)
