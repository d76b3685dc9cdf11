"""A cluster of two processes on this machine, of Ray or Dask: what the examples here run on."""

import contextlib
import importlib
import sys
import warnings


@contextlib.contextmanager
def cluster(name=None, workers=2):
    """Give `imode.integrations.ray` or `.dask`, while a local cluster runs; `name`: argv[1]."""
    name = name or (sys.argv[1:] or ["ray"])[0]
    warnings.filterwarnings("ignore", category=FutureWarning, module="ray")
    if name == "ray":
        import ray

        ray.init(num_cpus=workers, include_dashboard=False, logging_level="ERROR")
        closing = ray.shutdown
    else:
        from distributed import Client, LocalCluster

        where = {"dashboard_address": None, "threads_per_worker": 1}
        client = Client(LocalCluster(n_workers=workers, **where))
        closing = client.shutdown
    try:
        yield importlib.import_module(f"imode.integrations.{name}")
    finally:
        closing()
