"""Types that a checker must find: run by `make lint`."""

from typing import assert_type

import imode

x = imode.randn(2, 3)
assert_type(x, imode.Tensor)
assert_type(imode.add(x, 1), imode.Tensor)
assert_type(x * 2, imode.Tensor)
assert_type(x.view(3, 2), imode.Tensor)
assert_type(x.dim(), int)
assert_type(x.is_inference(), bool)
assert_type(imode.nn.functional.relu(x), imode.Tensor)
assert_type(imode.where(x > 0, input=x, other=0), imode.Tensor)
