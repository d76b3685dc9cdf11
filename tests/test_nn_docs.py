"""The examples in the docstrings of nn, optim and utils give what they say."""

import doctest
import importlib
import pkgutil

import pytest

import imode


def modules():
    for package in ("nn", "optim", "utils"):
        package = importlib.import_module(f"imode.{package}")
        yield package.__name__
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            yield found.name


@pytest.mark.parametrize("name", list(modules()))
def test_docstrings(name):
    module = importlib.import_module(name)
    finder = doctest.DocTestFinder(exclude_empty=True)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    report = []
    for test in finder.find(module, extraglobs={"imode": imode}):
        runner.run(test, out=report.append)
    assert not runner.failures, "".join(report)
