"""The examples in the docstrings of what is public give what they say."""

import doctest
import importlib
import inspect
import pkgutil
import types
import warnings

import pytest

import imode

imode.ops.load_all()

SPACES = [imode, imode.nn.functional, imode.linalg, imode.autograd, imode.autograd.graph]
SPACES += [imode.autograd.functional]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """Examples that write files write them here, not into the checkout."""
    monkeypatch.chdir(tmp_path)


def modules():
    for package in ("nn", "optim", "utils"):
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
