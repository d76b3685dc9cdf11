"""Operators from outside: wrong schemas, kernels and results, libraries that are closed."""

from imode._core.bind import Problem
from imode._core.type_names import class_name

_SHARED = (
    "The output of this custom operator (1) must not also be an input to this custom operator and "
    "(2) may not alias any inputs to this custom operator or other returns."
)


def _named(op):
    return f"{op.outside or 'aten'}::{op.schema if op.outside else op.name}"


def _kernel(layer):
    """A line that names a kernel: its function, key and line."""
    name = getattr(layer.function, "__qualname__", None) or type(layer.function).__name__
    return f"Its kernel for {layer.key} is {name}, at {layer.where}."


# ---- schemas and names ----


def malformed(what, schema, position, note=""):
    """A schema that does not parse; `position`: of what is not understood."""
    mark = " " * position + "~ <--- HERE"
    return RuntimeError(f"{what} here:\n{schema}\n{mark}" + (f"\n{note}" if note else ""))


def second_definition(name, first, where):
    """An operator that is defined twice."""
    return RuntimeError(
        f"Tried to register an operator ({name}) with the same name and overload name multiple "
        "times. Each overload's schema should only be registered with a single call to def().\n"
        f"Duplicate registration: at {where}. Original registration: at {first}.\n"
        "Ways out: another name; an overload, name.overload; or close() the first library."
    )


def second_library(ns, first, where):
    """A namespace that two libraries of the kind DEF claim."""
    return RuntimeError(
        f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put all "
        "of your definitions in a single TORCH_LIBRARY block.\n"
        f"Library({ns!r}, 'DEF') at {where} is the second; the first is at {first}.\n"
        "Ways out: Library(ns, 'FRAGMENT') for more definitions, or close() the first one."
    )


def reserved(ns, why):
    """A namespace that is not for libraries."""
    return ValueError(
        f"{ns} is a reserved namespace. Please try creating a library with another name.\n{why}"
    )


def no_such_operator(ns, name, what):
    """A kernel or derivative for an operator that is not there."""
    return RuntimeError(
        f"There is no operator {ns}::{name}, so {what} has nothing to register for.\n"
        "Define it first: Library(ns, 'DEF').define(schema) or custom_op."
    )


def no_such_overload(ns, name, overload, known):
    """An attribute of an operator that is no overload of it."""
    return AttributeError(
        f"The underlying op of '{ns}.{name}' has no overload name '{overload}'. "
        f"It has: {', '.join(known) or 'none'}."
    )


def no_such_op(ns, name):
    """A name that a namespace lacks."""
    return AttributeError(f"'_OpNamespace' '{ns}' object has no attribute '{name}'")


def _closed(name, library):
    return f"{name} is not defined any more: {library} was closed."


def closed_name(name, library):
    """A name that a library took back."""
    return AttributeError(_closed(name, library))


def closed(name, library):
    """A call, or a registration, after the library of an operator was closed."""
    return RuntimeError(
        f"{_closed(name, library)}\n"
        "Call it inside the library's with block, or close() the library later."
    )


def not_callable(function):
    """A kernel that is no function."""
    return TypeError(f"Input function is required to be a callable but found type {type(function)}")


def no_namespace(ns):
    """What is no name of a namespace."""
    return ValueError(f"Library(): expected the name of a namespace, got {ns!r}")


# ---- keys and devices ----


def unknown_key(key, keys):
    """A dispatch key that there is not."""
    return RuntimeError(f"could not parse dispatch key: {key}. The keys are {', '.join(keys)}.")


def device_with_index(device):
    """A kernel for one of several devices of a type."""
    return RuntimeError(f"Expected device_type string to not have a device index; got {device}")


def unknown_device(name, device, known):
    """A kernel for a device that is not registered."""
    return RuntimeError(
        f"{name}: cannot register a kernel for the device {device!r}, which is not registered.\n"
        f"Registered are: {', '.join(known)}."
    )


def composite(op, key):
    """A kernel for one key of an operator that is made of others, or the other way round."""
    if op.is_composite:
        return RuntimeError(
            f"aten::{op.name} is made of other operators and has no kernel for {key}.\n"
            "Replace it as a whole, with the key CompositeImplicitAutograd, or the operators that "
            "it calls."
        )
    return RuntimeError(
        f"aten::{op.name} has kernels of its own, so one for {key} would never run.\n"
        "Say which to replace, as in impl(name, function, 'CPU')."
    )


# ---- calls ----


def misfit(op, problem, argument, given, value):
    """The reason why a call does not fit a library's operator; PyTorch's sentence."""
    name, declaration = f"{op.outside}::{op.name}()", f"Declaration: {_named(op)}"
    if problem == Problem.MISSING:
        return f"{name} is missing value for argument '{op.names[argument]}'. {declaration}"
    if problem == Problem.TOO_MANY:
        most = op.n_positional
        if most < op.nargs:
            return (
                f"{name} takes {most} positional argument(s) but {given} was/were given. "
                f"{declaration}"
            )
        return (
            f"{name} expected at most {most} argument(s) but received {given} argument(s). "
            f"{declaration}"
        )
    if problem == Problem.UNEXPECTED_KEYWORD:
        return (
            f"Unknown keyword argument '{value}' for operator '{op.outside}::{op.name}'. "
            f"Schema: {_named(op)}"
        )
    if problem == Problem.TWICE:
        return f"{name} got several values for argument '{op.names[argument]}'. {declaration}"
    kind = op.kinds[argument].name.removesuffix("_OPT").lower()
    kind = {"tensor": "Tensor", "tensor_list": "List[Tensor]"}.get(kind, kind)
    return (
        f"{name} Expected a value of type '{kind}' for argument '{op.names[argument]}' but "
        f"instead found type '{class_name(value)}'. {declaration}"
    )


def no_overload(op, reasons):
    """A call that fits no overload of a library's operator."""
    return RuntimeError("\n".join(dict.fromkeys(reasons)))


def wrong_list(op, argument, kind, value):
    """A list of numbers or strings that is none."""
    return RuntimeError(
        f"{op.outside}::{op.name}() Expected a value of type '{kind}' for argument "
        f"'{op.names[argument]}' but instead found {value!r}. Declaration: {_named(op)}"
    )


# ---- results ----


def wrong_result(op, layer, value, i=None):
    """A kernel that returns what its schema does not say."""
    which = "" if i is None or not isinstance(value, (tuple, list)) else f" (result {i + 1})"
    return RuntimeError(
        f"Unable to cast {class_name(value)}{which} to what the schema of {_named(op)} says it "
        f"returns.\n{_kernel(layer)}"
    )


def wrong_number(op, layer, expected, given):
    """A kernel that returns too many results or too few."""
    return RuntimeError(
        f"{_named(op)} returns {expected} results, but its kernel returned {given}.\n"
        f"{_kernel(layer)}"
    )


def not_the_argument(op, layer, name, value):
    """A kernel that writes an argument, and does not return it."""
    return RuntimeError(
        f"{_named(op)} returns its argument '{name}', which it writes, but its kernel returned "
        f"{'another tensor' if class_name(value) == 'Tensor' else class_name(value)}.\n"
        f"{_kernel(layer)}\nEnd it with `return {name}`."
    )


def no_view(op, layer, name):
    """A kernel of a view operator whose result has memory of its own."""
    return RuntimeError(
        f"{_named(op)} returns a view of its argument '{name}', but its kernel returned a tensor "
        f"with memory of its own.\n{_kernel(layer)}"
    )


def undeclared_alias(op, layer, name):
    """A result that has an argument's memory, or another result's, against the schema."""
    other = f"its argument '{name}'" if name else "another of its results"
    return RuntimeError(
        f"{op.outside or 'aten'}::{op.name}: {_SHARED}\n"
        f"A result has the memory of {other}. {_kernel(layer)}\n"
        "Ways out: return a clone; or declare the view, as in (Tensor(a) x) -> Tensor(a)."
    )


def undeclared_write(op, layer, name):
    """A kernel that writes an argument which its schema does not say is written."""
    return RuntimeError(
        f"{_named(op)}: its kernel wrote to the argument '{name}', which the schema does not say.\n"
        f"{_kernel(layer)}\n"
        "Ways out: declare it, Tensor(a!) or mutates_args; or write to a clone."
    )


def view_of_another_dtype(op):
    """A view with another dtype, of an argument that is not the first."""
    return RuntimeError(
        f"{_named(op)}: a view of another dtype must be of the first argument. Change the order."
    )


# ---- derivatives ----


def no_formula(op):
    """The text of a backward through an operator without a derivative."""
    name = f"{op.outside}.{op.name}.{op.overload or 'default'}"
    return (
        f"Trying to backward through {name} but no autograd formula was registered. "
        "Please use register_autograd to add one."
    )


def not_functional(op):
    """A derivative for an operator that writes, or gives views."""
    return RuntimeError(
        "Cannot register autograd formula for non-functional operator "
        f"{op.outside}::{op.name} with schema {_named(op)}. Please create a functional operator "
        "and register an autograd formula for that."
    )


def wrong_gradients(op, where, expected, given):
    """A backward that returns too many gradients or too few."""
    return RuntimeError(
        f"The backward of {op.outside}::{op.name}, at {where}, returned an incorrect number of "
        f"gradients (expected {expected}, got {given}): one, or None, for each argument."
    )


def wrong_gradient(op, where, name, value):
    """A gradient that does not belong to its argument."""
    return RuntimeError(
        f"The backward of {op.outside}::{op.name}, at {where}, returned {class_name(value)} for "
        f"the argument '{name}', where a tensor, or None, is expected; a list of them for a list."
    )


# ---- opcheck ----


def recorded_below(op, layer):
    """A kernel for a backend that records what only one for Autograd may."""
    return AssertionError(
        f"{op.qualified_name}: at least one output of this operator has requires_grad=True but the "
        "operator does not have an autograd kernel defined at an autograd key (e.g. "
        f"DispatchKey::Autograd).\n{_kernel(layer)}\n"
        "Ways out: register_autograd; or the key Autograd for the autograd.Function; or, for a "
        "function of other operators, CompositeImplicitAutograd."
    )


def no_fake(op):
    """An operator without a kernel for shapes alone."""
    return RuntimeError(
        f"There was no fake impl registered for {op.qualified_name}. This is necessary for "
        "operators to work without data. Give it one by imode.library.register_fake."
    )


def wrong_fake(op, layer, what, fake, real):
    """A fake kernel whose results are not like the operator's."""
    return AssertionError(
        f"{op.qualified_name}: its fake kernel gives the {what} {fake}, the operator {real}.\n"
        f"{_kernel(layer)}"
    )


def not_again(op, layer, what):
    """An operator that does not give the same when it is called again."""
    return AssertionError(
        f"{op.qualified_name}: called again with the same arguments, under a dispatch mode, it "
        f"gives other {what}.\n{_kernel(layer)}\n"
        "Ways out: no state between calls; random numbers from imode's generators."
    )
