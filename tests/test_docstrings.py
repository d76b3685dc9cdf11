"""The examples in the docstrings of what is public give what they say."""

import doctest
import importlib
import importlib.util
import inspect
import pkgutil
import types
import warnings

import pytest

import imode
from imode.ops import schema

HAS_SCIPY = importlib.util.find_spec("scipy") is not None

imode.ops.load_all()
FUNCTIONS = {**schema.functions, **schema.nn_functions}
PACKAGES = [imode.nn.modules, imode.nn.init, imode.nn.utils, imode.utils.data]
PACKAGES += [imode.optim, imode.optim.lr_scheduler, imode.distributions]

SPACES = [imode, imode.nn.functional, imode.linalg, imode.autograd, imode.autograd.graph]
SPACES += [imode.autograd.functional, imode.library, imode.special, imode.masked]
SPACES += [imode.quasirandom, imode.serialization]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Examples that write files write them here, not into the checkout."""
    monkeypatch.chdir(tmp_path)


def modules():
    for package in ("distributions", "multiprocessing", "nn", "optim", "testing", "utils"):
        package = importlib.import_module(f"imode.{package}")
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name


def documented(space):
    """Yield (name, docstring) of the functions and classes of a module, and of their methods."""
    for name in dir(space):
        value = getattr(space, name)
        if name.startswith("_") or isinstance(value, types.ModuleType):
            continue
        if "computes by scipy" in (value.__doc__ or "") and not HAS_SCIPY:
            continue
        yield name, value.__doc__
        if isinstance(value, type) and value.__module__.startswith("imode"):
            for method in dir(value):
                if not method.startswith("_"):
                    yield f"{name}.{method}", inspect.getattr_static(value, method).__doc__


def failures(tests):
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of deprecated functions
        for test in tests:
            runner.run(test, out=report.append)
    return report


@pytest.mark.parametrize("name", list(modules()))
def test_docstrings_of_modules(name):
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = finder.find(importlib.import_module(name), extraglobs={"imode": imode})
    report = failures(found)
    assert not report, "".join(report)


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.__name__)
def test_docstrings_of_functions_and_methods(space):
    parse = doctest.DocTestParser().get_doctest
    texts = {text: name for name, text in documented(space) if text and ">>>" in text}
    assert len(texts) > 3
    report = failures(parse(t, {"imode": imode}, name, None, None) for t, name in texts.items())
    assert not report, "".join(report)


def test_every_operator_has_an_example():
    """In-place forms point to the function that they are of."""
    texts = {name: f.__doc__ or "" for name, f in FUNCTIONS.items() if not name.endswith("_")}
    assert len(texts) > 300
    assert not [name for name, text in texts.items() if ">>>" not in text]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.__name__)
def test_every_class_and_function_of_a_package_has_an_example(package):
    """The base of layers is shown by the layers."""
    found = {name: getattr(package, name) for name in getattr(package, "__all__", dir(package))}
    found = {k: v for k, v in found.items() if callable(v) and not k.startswith("_")}
    assert len(found) > 4
    assert not [name for name, value in found.items() if ">>>" not in (value.__doc__ or "")]
