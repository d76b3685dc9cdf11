"""Fixed seeds for every test; a test defined twice in one file is refused."""

import ast
import os
import random
import sys
import sysconfig

import numpy as np
import pytest

if sysconfig.get_config_var("Py_GIL_DISABLED"):
    # Processes that tests start have the GIL at once: none warns that imode turns it on.
    os.environ.setdefault("PYTHON_GIL", "1")


@pytest.fixture(autouse=True)
def seeds():
    """Seed every generator that a test may draw from."""
    random.seed(0)
    np.random.seed(0)
    for name in ("imode", "torch"):
        if name in sys.modules:
            sys.modules[name].manual_seed(0)


def _duplicates(body, prefix=""):
    seen = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            if node.name in seen:
                yield prefix + node.name
            seen.add(node.name)
        if isinstance(node, ast.ClassDef):
            yield from _duplicates(node.body, f"{node.name}.")


def pytest_collect_file(file_path):
    """Refuse a file whose second definition of a name silently hides the first."""
    if file_path.suffix == ".py" and file_path.name.startswith("test_"):
        twice = list(_duplicates(ast.parse(file_path.read_text()).body))
        if twice:
            raise pytest.UsageError(f"{file_path}: defined twice: {', '.join(twice)}")
