"""Bad arguments: what tests/test_bad_input.py and its sibling in conformance/ share."""

from tests.samples import S


class Broken:
    """An object that NumPy would ask for its contents, in vain."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("broken __array__")

    def __repr__(self):
        return "Broken()"


def with_one_bad(sample, replacements):
    """Yield the sample with one argument replaced, dropped or added.

    `replacements(value)` gives the bad values to stand where `value` stood.
    """
    for i, value in enumerate(sample.args):
        for bad in replacements(value):
            yield S(*sample.args[:i], bad, *sample.args[i + 1 :], **sample.kwargs)
        yield S(*sample.args[:i], *sample.args[i + 1 :], **sample.kwargs)
    for name, value in sample.kwargs.items():
        for bad in replacements(value):
            yield S(*sample.args, **{**sample.kwargs, name: bad})
    yield S(*sample.args, **sample.kwargs, no_such_argument=1)
