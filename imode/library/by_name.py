"""`define` and `impl` of an operator by its whole name; what is registered so stays.

Kernels for a device type are those of `register_kernel`, which this calls.
"""

import re
import warnings

from .libraries import Library
from .namespaces import operator_of
from .registering import _kept, register_fake, register_kernel

_NAME = re.compile(r"(\w+)::(\w+(?:\.\w+)?)")


def _parts(qualname):
    found = _NAME.fullmatch(qualname) if isinstance(qualname, str) else None
    if found is None:
        raise ValueError(
            f'Expected `qualname` to be of the form "namespace::name", but got {qualname}. The '
            "qualname passed to the torch.library APIs must consist of a namespace and a name, "
            "e.g. aten::sin"
        )
    return found.groups()


def define(qualname, schema, *, lib=None, tags=()):
    """Define an operator: by "namespace::name" and a schema without a name.

    With a Library in the place of the name, the schema has it, and this is a decorator of the
    operator's kernel; otherwise it has none yet. Raises ValueError for a name of another form.

    >>> imode.library.define("docs_by_name::next", "(Tensor x) -> Tensor")
    >>> imode.library.impl("docs_by_name::next", "cpu", lambda x: x + 1)
    >>> imode.ops.docs_by_name.next(imode.ones(1))
    tensor([2.])
    """
    if isinstance(qualname, Library):
        name = qualname.define(schema, tags=tags)

        def decorate(function):
            qualname.impl(name, function)
            return function

        return decorate
    ns, name = _parts(qualname)
    if not isinstance(schema, str) or not schema.startswith("("):
        raise ValueError(
            f"define({qualname!r}, ...): expected a schema like '(Tensor x) -> Tensor', got "
            f"{schema!r}"
        )
    owner = lib
    if owner is None:
        owner = _kept.get(ns)
    if owner is None or owner.kind == "IMPL":
        owner = _kept[ns] = Library(ns, "FRAGMENT")
    owner.define(name + schema, tags=tags)
    return None


def impl(qualname, types, func=None, *, lib=None):
    """Give an operator a kernel for device types, "cpu", "default", or several; or a decorator.

    With a Library in the place of the name: `impl(library, "name", "CPU")` is a decorator, for a
    dispatch key.
    """
    if isinstance(qualname, Library):

        def decorate(function):
            qualname.impl(types, function, func or "")
            return function

        return decorate
    ns, name = _parts(qualname)
    operator_of(ns, name, "impl()")
    kinds = None if types == "default" else types
    if func is not None:
        register_kernel(qualname, kinds, func, lib=lib)
        return None

    def register(function):
        register_kernel(qualname, kinds, function, lib=lib)
        return function

    return register


def impl_abstract(qualname, func=None, *, lib=None, _stacklevel=1):
    """As `register_fake`, whose older name it is. Deprecated."""
    warnings.warn(
        "`torch.library.impl_abstract` was renamed to `torch.library.register_fake`. Please use "
        "that instead; we will remove `torch.library.impl_abstract` in a future version of "
        "PyTorch.",
        FutureWarning,
        stacklevel=2,
    )
    return register_fake(qualname, func, lib=lib)
