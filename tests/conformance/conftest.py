"""Both libraries for the conformance tests; a test that asks for torch is skipped without it."""

import importlib
import os

import pytest

# IMODE_CONFORMANCE=torch compares PyTorch with itself: it tests the suite, not the library.
LIBRARY = os.environ.get("IMODE_CONFORMANCE", "imode")


@pytest.fixture(scope="session")
def lib():
    """The library under test."""
    return importlib.import_module(LIBRARY)


@pytest.fixture(scope="session")
def torch():
    """PyTorch, on one thread."""
    module = pytest.importorskip("torch", reason="torch is not installed: nothing to compare with")
    module.set_num_threads(1)
    module.backends.opt_einsum.enabled = False  # JAX brings it: other strides, other sums
    # Its own samples forbid to set what programs set.
    flags = module.backends.disable_global_flags.__globals__
    flags["__allow_nonbracketed_mutation_flag"] = True
    for device in (module.cuda, module.xpu, module.mtia):
        # Each call notes the whole stack for a device that is not there, and keeps it.
        device.manual_seed_all = lambda seed: None
    return module


def pytest_collection_modifyitems(items):
    """Ignore warnings here: they are not compared, and some are raised by one library only.

    Whether a rule is met by nothing is known at the end: test_rules comes last.
    """
    items.sort(key=lambda item: item.path.name == "test_rules.py")
    for item in items:
        if "conformance" in item.path.parts:
            item.add_marker(pytest.mark.filterwarnings("ignore"))
