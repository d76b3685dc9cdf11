"""What this installation and this machine are, for reports: `python -m imode.utils.collect_env`."""

import os
import platform
import sys

import numpy

import imode

__all__ = ["get_env_info", "get_pretty_env_info", "main"]


def _blas():
    return numpy.show_config(mode="dicts")["Build Dependencies"]["blas"]


def get_env_info():
    """Return names and values as a dict of strings.

    >>> imode.utils.collect_env.get_env_info()["imode version"] == imode.__version__
    True
    """
    blas = _blas()
    return {
        "imode version": imode.__version__,
        "OS": platform.platform(),
        "Libc": " ".join(filter(None, platform.libc_ver())) or "N/A",
        "Python version": sys.version.replace("\n", " "),
        "NumPy version": numpy.__version__,
        "BLAS": f"{blas.get('name')} {blas.get('version', '')}".strip(),
        "CPU": platform.processor() or platform.machine(),
        "Cores": str(os.cpu_count()),
        "Threads of kernels": str(imode.get_num_threads()),
        "OMP_NUM_THREADS": os.environ.get("OMP_NUM_THREADS", "N/A"),
        "Is CUDA available": str(imode.cuda.is_available()),
    }


def get_pretty_env_info():
    """Return `get_env_info` as text, one line for each name.

    >>> print(imode.utils.collect_env.get_pretty_env_info())  # doctest: +ELLIPSIS
    imode version: ...
    """
    return "\n".join(f"{name}: {value}" for name, value in get_env_info().items())


def main():
    """Print `get_pretty_env_info()`."""
    print("Collecting environment information...")
    print(get_pretty_env_info())


if __name__ == "__main__":
    main()
