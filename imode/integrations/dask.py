"""Inference, training and searches on a Dask cluster: `pip install imode[dask]`.

>>> from imode.integrations.dask import map_batches  # doctest: +SKIP
>>> for answers in map_batches(model, batches): ...  # doctest: +SKIP
"""

import warnings

from . import tasks
from ._engine import functions_of, package

__all__ = ["Engine", "backward", "federated", "map_batches", "search"]


class Engine:
    """Runs tasks by a client, the current one if none is given; one whose worker dies, again.

    Tried with one task at a time on a worker that dies; with several on their way, Dask has been
    seen to wait for its result: give `map_batches` then a limit of your own.

    options: of `Client.submit`, such as `retries`, `workers` or `resources`.
    """

    def __init__(self, client=None, **options):
        self._distributed = package("distributed", "dask")
        self._client, self._options = client or self._distributed.get_client(), options

    def put(self, value):
        """Send a value to the workers; return its reference.

        It is the result of a task: what is scattered would be lost with the last worker that has
        it.
        """
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sending large graph")
            return self._client.submit(tasks.itself, tasks.Packed(value), pure=False)

    def submit(self, function, *args):
        """Start a task in the modes of this thread; return its future."""
        given = tasks.modes(), function, *args
        return self._client.submit(tasks.run, *given, pure=False, **self._options)

    def gather(self, futures):
        """Wait for tasks; return their results in order. Raises what a task raised."""
        return self._client.gather(futures)

    def as_completed(self, futures):
        """Yield futures as they end."""
        return iter(self._distributed.as_completed(futures))


backward, federated, map_batches, search = functions_of(Engine, __name__)
