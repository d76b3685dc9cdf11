"""NumPy's arrays and scalars through every public way in: the same tensor or the same error.

Compared are the dtype, the shape, the values and whether the memory is shared.
"""

import pytest

from tests.foreign import ARRAYS, WAYS

from . import differences
from .foreign_data import through
from .observe import failure

RULES = differences.load()
DEADLY = {("from_dlpack", "backwards"), ("from_dlpack capsule", "backwards")}  # to PyTorch


def outcome(lib, way, name):
    """("ok", what it gave) or (the error and its first sentence, None)."""
    try:
        return "ok", through(lib)(way, name)
    except Exception as error:
        return failure(error), None


@pytest.mark.parametrize("way", sorted(WAYS))
def test_foreign_data(lib, torch, way):
    lines = []
    for name in ARRAYS:
        if (way, name) in DEADLY:
            continue
        (ours, here), (theirs, there) = outcome(lib, way, name), outcome(torch, way, name)
        both = ours.startswith("TypeError") and theirs.startswith("TypeError")
        if both and "can't convert" not in theirs:
            continue  # PyTorch prints its C++ signatures
        call = f'array("{way}", "{name}")'
        if ours != theirs:
            found = "outcome", ours, theirs
        else:
            found = "result", here, there
        if found[1] != found[2] and not RULES.sample(None, "array", *found, statement=call):
            lines.append(f"  {call}: {found[0]}: {found[1]} here, {found[2]} in PyTorch")
    assert not lines, "\n".join(lines)
