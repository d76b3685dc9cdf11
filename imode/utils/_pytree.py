"""Trees of containers: lists, tuples, dicts and named tuples, nested, with anything as leaves.

`tree_flatten` gives a tree's leaves and its structure, a `TreeSpec`; `tree_unflatten` puts leaves
into a structure; `tree_map` applies a function to each leaf. `register_pytree_node` makes
containers of other classes.

>>> from imode.utils import _pytree as pytree
>>> leaves, spec = pytree.tree_flatten({"a": [1, 2], "b": 3})
>>> leaves, pytree.tree_unflatten([x * 10 for x in leaves], spec)
([1, 2, 3], {'a': [10, 20], 'b': 30})
"""

import dataclasses
import functools
import json
import sys
import types
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from imode import Size

__all__ = [
    *("PyTree", "Context", "FlattenFn", "UnflattenFn", "DumpableContext", "ToDumpableContextFn"),
    *("FromDumpableContextFn", "PyTreeSpec", "TreeSpec", "LeafSpec", "keystr", "key_get"),
    *("register_pytree_node", "tree_is_leaf", "tree_flatten", "tree_flatten_with_path"),
    *("tree_unflatten", "tree_iter", "tree_leaves", "tree_leaves_with_path", "tree_structure"),
    *("tree_map", "tree_map_with_path", "tree_map_", "tree_map_only", "tree_map_only_"),
    *("tree_all", "tree_any", "tree_all_only", "tree_any_only", "treespec_dumps"),
    *("treespec_loads", "treespec_pprint", "is_namedtuple", "is_namedtuple_class"),
    *("is_namedtuple_instance", "is_structseq", "is_structseq_class", "is_structseq_instance"),
]

PyTree = Any
Context = Any
DumpableContext = Any
FlattenFn = Callable[[PyTree], tuple[list, Context]]
UnflattenFn = Callable[[Iterable, Context], PyTree]
ToDumpableContextFn = Callable[[Context], DumpableContext]
FromDumpableContextFn = Callable[[DumpableContext], Context]


# ---- keys of paths ----


@dataclasses.dataclass(frozen=True)
class SequenceKey:
    """The place of an item in a list, tuple or deque."""

    idx: int

    def __str__(self):
        return f"[{self.idx!r}]"

    def get(self, sequence):
        """The item."""
        return sequence[self.idx]


@dataclasses.dataclass(frozen=True)
class MappingKey:
    """The key of a value in a dict."""

    key: Any

    def __str__(self):
        return f"[{self.key!r}]"

    def get(self, mapping):
        """The value."""
        return mapping[self.key]


@dataclasses.dataclass(frozen=True)
class GetAttrKey:
    """The name of an attribute, as of a named tuple."""

    name: str

    def __str__(self):
        return f".{self.name}"

    def get(self, owner):
        """The attribute."""
        return getattr(owner, self.name)


def keystr(path):
    """A path as text: ``"['a'][0].x"``."""
    return "".join(str(key) for key in path)


def key_get(tree, path):
    """What a path leads to."""
    for key in path:
        tree = key.get(tree)
    return tree


# ---- classes of containers ----


class NodeDef(NamedTuple):
    """How containers of a class are taken apart and made."""

    type: Any
    flatten_fn: Callable  # container -> (children, context)
    unflatten_fn: Callable  # children, context -> container
    flatten_with_keys_fn: Callable | None  # container -> (pairs of a key and a child, context)


class _Written(NamedTuple):
    name: str | None  # in treespec_dumps
    dump: Callable | None  # a context as JSON can hold it
    load: Callable | None  # the reverse


SUPPORTED_NODES = {}  # class -> NodeDef
_written = {}  # class -> _Written
_by_name = {}  # name in treespec_dumps -> class


def register_pytree_node(
    cls,
    flatten_fn,
    unflatten_fn,
    *,
    serialized_type_name=None,
    to_dumpable_context=None,
    from_dumpable_context=None,
    flatten_with_keys_fn=None,
):
    """Make instances of a class (not of its subclasses) containers.

    flatten_fn(x) gives (list of children, context), unflatten_fn(children, context) an instance;
    flatten_with_keys_fn(x) gives (list of (key, child), context), for the functions with paths. The
    context is compared by `==` where structures are.

    Raises ValueError if the class is registered, TypeError if the arguments are no such functions;
    then nothing is registered.
    """
    if not isinstance(cls, type):
        raise TypeError(f"register_pytree_node(): expected a class, got {cls!r}")
    if cls in SUPPORTED_NODES:
        raise ValueError(f"{cls} is already registered as pytree node.")
    functions = {"flatten_fn": flatten_fn, "unflatten_fn": unflatten_fn}
    for name, function in functions.items():
        if not callable(function):
            raise TypeError(f"register_pytree_node(): {name} must be callable, not {function!r}")
    if (to_dumpable_context is None) != (from_dumpable_context is None):
        raise ValueError(
            f"Both to_dumpable_context and from_dumpable_context for {cls} must be None or "
            "registered."
        )
    _register(
        cls,
        flatten_fn,
        unflatten_fn,
        flatten_with_keys_fn,
        serialized_type_name,
        to_dumpable_context,
        from_dumpable_context,
    )


def _register(cls, flatten, unflatten, with_keys, name=None, dump=None, load=None):
    if name is not None and name in _by_name:
        raise ValueError(f"{name!r} is the serialized name of {_by_name[name]} already.")
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten, unflatten, with_keys)
    _written[cls] = _Written(name, dump, load)
    if name is not None:
        _by_name[name] = cls


def register_dataclass(cls, *, field_names=None, drop_field_names=None, serialized_type_name=None):
    """Make instances of a dataclass containers of their fields."""
    if not dataclasses.is_dataclass(cls):
        raise TypeError(f"register_dataclass(): {cls} is no dataclass")
    names = [field.name for field in dataclasses.fields(cls) if field.init]
    if field_names is not None or drop_field_names is not None:
        dropped = set(drop_field_names or ())
        kept = [name for name in names if name not in dropped]
        if field_names is not None and set(field_names) != set(kept):
            raise ValueError(
                f"register_dataclass(): the fields of {cls} are {names}, not {field_names} and "
                f"{sorted(dropped)}"
            )
        names = list(field_names) if field_names is not None else kept

    def flatten(owner):
        items, context = with_keys(owner)
        return [item for _, item in items], context

    def with_keys(owner):
        full = [name for name in names if getattr(owner, name) is not None]
        none = [name for name in names if getattr(owner, name) is None]
        return [(GetAttrKey(name), getattr(owner, name)) for name in full], [full, none]

    def unflatten(items, context):
        full, none = context
        return cls(**dict(zip(full, items, strict=True)), **dict.fromkeys(none))

    register_pytree_node(
        cls,
        flatten,
        unflatten,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=with_keys,
    )


def is_namedtuple_class(cls):
    """Whether `cls` is a class made by namedtuple."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and isinstance(getattr(cls, "_fields", None), tuple)
        and all(type(name) is str for name in cls._fields)
        and callable(getattr(cls, "_make", None))
        and callable(getattr(cls, "_asdict", None))
    )


def is_namedtuple(obj):
    """Whether it is an instance of a class made by namedtuple, or that class."""
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj):
    """Whether it is an instance of a class made by namedtuple."""
    return is_namedtuple_class(type(obj))


def is_structseq_class(cls):
    """Whether `cls` is a class of named results: CPython's, or one of `imode.return_types`."""
    return (
        isinstance(cls, type)
        and issubclass(cls, tuple)
        and not is_namedtuple_class(cls)
        and isinstance(getattr(cls, "n_fields", None), int)
        and isinstance(getattr(cls, "n_sequence_fields", None), int)
    )


def is_structseq(obj):
    """Whether it is an instance of a class of named results, or that class."""
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj):
    """Whether it is an instance of a class of named results."""
    return is_structseq_class(type(obj))


def _is_result(cls):
    return cls.__module__ == "imode.return_types"


def _get_node_type(tree):
    """What stands in `SUPPORTED_NODES` for an object, if it is a container: its class.

    `namedtuple` for every named tuple, even where its class is registered.
    """
    cls = type(tree)
    if is_namedtuple_class(cls):
        return namedtuple
    _node(cls)
    return cls


def _node(cls):
    node = SUPPORTED_NODES.get(cls)
    if node is None and isinstance(cls, type) and _is_result(cls):
        _register(cls, _of_sequence, lambda items, _, make=cls: make(items), _keys_of_sequence)
        node = SUPPORTED_NODES[cls]
    return node


def _of_sequence(items):
    return list(items), None


def _keys_of_sequence(items):
    return [(SequenceKey(i), item) for i, item in enumerate(items)], None


def _of_dict(mapping):
    return list(mapping.values()), list(mapping)


def _keys_of_dict(mapping):
    return [(MappingKey(key), item) for key, item in mapping.items()], list(mapping)


def _dict(items, keys):
    return dict(zip(keys, items, strict=True))


def _ordered_dict(items, keys):
    return OrderedDict(zip(keys, items, strict=True))


def _of_defaultdict(mapping):
    return list(mapping.values()), [mapping.default_factory, list(mapping)]


def _keys_of_defaultdict(mapping):
    return _keys_of_dict(mapping)[0], [mapping.default_factory, list(mapping)]


def _defaultdict(items, context):
    factory, keys = context
    return defaultdict(factory, _dict(items, keys))


def _of_namedtuple(items):
    return list(items), type(items)


def _keys_of_namedtuple(items):
    names = type(items)._fields
    return [(GetAttrKey(k), x) for k, x in zip(names, items, strict=True)], type(items)


def _of_deque(items):
    return list(items), items.maxlen


def _keys_of_deque(items):
    return _keys_of_sequence(items)[0], items.maxlen


def _dump_class(cls):
    return f"{cls.__module__}.{cls.__qualname__}"


def _load_class(name):
    module, _, attribute = name.rpartition(".")
    cls = getattr(sys.modules.get(module), attribute, None)  # a text does not import modules
    if not isinstance(cls, type):
        raise ValueError(f"the class {name!r} is not known here: import its module first")
    return cls


def _dump_defaultdict(context):
    factory, keys = context
    return {
        "default_factory_module": getattr(factory, "__module__", None),
        "default_factory_name": getattr(factory, "__qualname__", None),
        "dict_context": keys,
    }


def _load_defaultdict(context):
    module, name = context["default_factory_module"], context["default_factory_name"]
    return [None if name is None else _load_class(f"{module}.{name}"), context["dict_context"]]


_register(tuple, _of_sequence, lambda items, _: tuple(items), _keys_of_sequence, "builtins.tuple")
_register(list, _of_sequence, lambda items, _: list(items), _keys_of_sequence, "builtins.list")
_register(dict, _of_dict, _dict, _keys_of_dict, "builtins.dict")
_register(Size, _of_sequence, lambda items, _: tuple(items), _keys_of_sequence, "imode.Size")
_register(
    namedtuple,
    _of_namedtuple,
    lambda items, cls: cls(*items),
    _keys_of_namedtuple,
    "collections.namedtuple",
    _dump_class,
    _load_class,
)
_register(OrderedDict, _of_dict, _ordered_dict, _keys_of_dict, "collections.OrderedDict")
_register(
    defaultdict,
    _of_defaultdict,
    _defaultdict,
    _keys_of_defaultdict,
    "collections.defaultdict",
    _dump_defaultdict,
    _load_defaultdict,
)
_register(deque, _of_deque, lambda items, n: deque(items, n), _keys_of_deque, "collections.deque")

_DICTS = frozenset({dict, OrderedDict, defaultdict})
BUILTIN_TYPES = frozenset({tuple, list, namedtuple, deque, *_DICTS})


# ---- structures ----


class TreeSpec:
    """A tree's structure: its containers' classes, what else makes them (context), their children.

    Immutable; equal where trees have the same containers. `type` is None for a leaf.
    """

    __slots__ = ("_children", "context", "num_children", "num_leaves", "num_nodes", "type")

    def __init__(self, type, context, children_specs=()):
        children = list(children_specs)
        for child in children:
            _expect_spec(child, "children_specs")
        put = functools.partial(object.__setattr__, self)
        put("type", type)
        put("context", context)
        put("_children", children)
        put("num_children", len(children))
        put("num_nodes", 1 + sum(child.num_nodes for child in children))
        put("num_leaves", 1 if type is None else sum(child.num_leaves for child in children))

    def __setattr__(self, name, value):
        raise AttributeError(f"cannot assign to field {name!r}: a TreeSpec is immutable")

    def __reduce__(self):
        return TreeSpec, (self.type, self.context, self._children)

    def is_leaf(self):
        """Whether it is the structure of a leaf."""
        return self.type is None

    def children(self):
        """A list of the children's structures."""
        return list(self._children)

    def child(self, index):
        """The structure of one child."""
        return self._children[index]

    @property
    def children_specs(self):
        """The children's structures."""
        return list(self._children)

    def unflatten(self, leaves):
        """The tree of this structure with these leaves. ValueError if they are too many or few."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                f"treespec.unflatten(leaves): `leaves` has length {len(leaves)} but the spec "
                f"refers to a pytree that holds {self.num_leaves} items ({self})."
            )
        return self._build(iter(leaves))

    def _build(self, leaves):
        if self.type is None:
            return next(leaves)
        children = [child._build(leaves) for child in self._children]
        return _node(self.type).unflatten_fn(children, self.context)

    def flatten_up_to(self, tree):
        """The parts of a tree at this structure's leaves. ValueError if it is built otherwise."""
        parts = []
        self._take(tree, parts)
        return parts

    def _take(self, tree, parts):
        if self.type is None:
            parts.append(tree)
            return
        kind = _get_node_type(tree)
        both = self.type in _DICTS and kind in _DICTS
        if kind is not self.type and not both:
            raise ValueError(f"Node type mismatch; expected {self.type!r}, but got {type(tree)!r}.")
        children, context = _node(kind).flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got {len(children)}."
            )
        if both:
            keys = self.context[1] if self.type is defaultdict else self.context
            if set(tree) != set(keys):
                missing, extra = set(keys) - set(tree), set(tree) - set(keys)
                raise ValueError(
                    "Node keys mismatch"
                    + (f"; missing key(s): {missing}" if missing else "")
                    + (f"; extra key(s): {extra}" if extra else "")
                    + "."
                )
            children = [tree[key] for key in keys]
        elif kind is not deque and context != self.context:
            raise ValueError(
                f"Node context mismatch for node type {self.type!r}; expected {self.context!r}, "
                f"but got {context!r}."
            )
        for child, item in zip(self._children, children, strict=True):
            child._take(item, parts)

    def __eq__(self, other):
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type is other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self):
        return hash((self.type, self.num_nodes, self.num_leaves))

    def __repr__(self, indent=0):
        if self.type is None:
            return "*"
        start = f"TreeSpec({self.type.__name__}, {self.context}, ["
        indent += 2
        children = [child.__repr__(indent) for child in self._children]
        return start + f",\n{' ' * indent}".join(children) + "])"


PyTreeSpec = TreeSpec
_LEAF = TreeSpec(None, None)


def LeafSpec():
    """The structure of a leaf."""
    return _LEAF


def treespec_leaf():
    """The structure of a leaf."""
    return _LEAF


def treespec_tuple(iterable=()):
    """The structure of a tuple of children with these structures."""
    return TreeSpec(tuple, None, iterable)


def treespec_dict(mapping=(), **kwargs):
    """The structure of a dict of children with these structures."""
    children = dict(mapping, **kwargs)
    return TreeSpec(dict, list(children), children.values())


def _expect_spec(spec, name="treespec"):
    if not isinstance(spec, TreeSpec):
        raise TypeError(
            f"Expected `{name}` to be an instance of PyTreeSpec but got item of type {type(spec)}."
        )


# ---- from trees to leaves and back ----


def tree_is_leaf(tree, is_leaf=None):
    """Whether it is no container; or is_leaf(tree) says that it is not to be opened."""
    if is_leaf is not None and is_leaf(tree):
        return True
    return _node(_get_node_type(tree)) is None


def _flatten(tree, leaves, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    kind = _get_node_type(tree)
    children, context = _node(kind).flatten_fn(tree)
    return TreeSpec(kind, context, [_flatten(child, leaves, is_leaf) for child in children])


def tree_flatten(tree, is_leaf=None):
    """(A list of the leaves, the structure). `is_leaf(x)`: true for what is not to be opened."""
    leaves = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    """The tree of a structure with these leaves.

    Raises ValueError if they are too many or too few, TypeError if `treespec` is none.
    """
    _expect_spec(treespec)
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """An iterator over the leaves."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    for child in _node(_get_node_type(tree)).flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None):
    """A list of the leaves."""
    return list(tree_iter(tree, is_leaf))


def arg_tree_leaves(*args, **kwargs):
    """The leaves of a call's arguments."""
    return [leaf for tree in (*args, *kwargs.values()) for leaf in tree_iter(tree)]


def tree_structure(tree, is_leaf=None):
    """The structure, without the leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree with func(leaf, ...) for each leaf, and what stands there in the other trees.

    Raises ValueError if another tree has not the structure of the first.

    >>> from imode.utils._pytree import tree_map
    >>> tree_map(lambda x, y: x + y, [1, (2, 3)], [10, (20, 30)])
    [11, (22, 33)]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    return spec.unflatten(map(func, *columns))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Call func for each leaf, as `tree_map` does; gives the tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(spec.flatten_up_to(rest) for rest in rests)]
    for items in zip(*columns, strict=True):
        func(*items)
    return tree


def map_only(what, /):
    """A decorator: the function, for leaves of a class or that a predicate is true of; other
    leaves as they are. `what`: a class, a tuple of them, or a predicate."""
    chosen = _predicate(what)

    def decorate(func):
        @functools.wraps(func)
        def wrapper(leaf):
            return func(leaf) if chosen(leaf) else leaf

        return wrapper

    return decorate


def _predicate(what):
    if isinstance(what, (type, types.UnionType)) or (
        isinstance(what, tuple) and all(isinstance(item, type) for item in what)
    ):
        return lambda leaf: isinstance(leaf, what)
    if callable(what):
        return what
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def tree_map_only(what, /, func, tree, is_leaf=None):
    """`tree_map` for the leaves of a class (or of several; or that a predicate is true of).

    >>> from imode.utils._pytree import tree_map_only
    >>> tree_map_only(imode.Tensor, lambda t: t.sum().item(), [imode.ones(3), "a"])
    [3.0, 'a']
    """
    return tree_map(map_only(what)(func), tree, is_leaf=is_leaf)


def tree_map_only_(what, /, func, tree, is_leaf=None):
    """`tree_map_` for the leaves of a class (or of several; or that a predicate is true of)."""
    return tree_map_(map_only(what)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for all leaves."""
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for a leaf."""
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(what, /, pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for all leaves of a class."""
    chosen = _predicate(what)
    return all(pred(leaf) for leaf in tree_iter(tree, is_leaf) if chosen(leaf))


def tree_any_only(what, /, pred, tree, is_leaf=None):
    """Whether pred(leaf) is true for a leaf of a class."""
    chosen = _predicate(what)
    return any(pred(leaf) for leaf in tree_iter(tree, is_leaf) if chosen(leaf))


def _broadcast_to_and_flatten(tree, treespec, is_leaf=None):
    """The leaves of a tree that ends above a structure's leaves, each as often as there are leaves
    below it; None if it does not fit."""
    _expect_spec(treespec)
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    kind = _get_node_type(tree)
    if treespec.is_leaf() or kind is not treespec.type:
        return None
    children, context = _node(kind).flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    leaves = []
    for child, spec in zip(children, treespec._children, strict=True):
        part = _broadcast_to_and_flatten(child, spec, is_leaf)
        if part is None:
            return None
        leaves += part
    return leaves


# ---- with paths ----


def _with_paths(path, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    kind = _get_node_type(tree)
    flatten = _node(kind).flatten_with_keys_fn
    if flatten is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {kind}. Please pass a "
            "flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in flatten(tree)[0]:
        yield from _with_paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None):
    """A list of (path, leaf); a path is a tuple of keys. ValueError for a class without keys."""
    return list(_with_paths((), tree, is_leaf))


def tree_flatten_with_path(tree, is_leaf=None):
    """(A list of (path, leaf), the structure)."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """`tree_map` with func(path, leaf, ...).

    >>> from imode.utils._pytree import keystr, tree_map_with_path
    >>> tree_map_with_path(lambda path, x: keystr(path), {"a": [1, 2]})
    {'a': ["['a'][0]", "['a'][1]"]}
    """
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    columns = [*zip(*pairs, strict=True)] or [(), ()]
    columns += [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, *columns))


# ---- structures as text ----


def treespec_pprint(treespec):
    """A structure as a tree with `*` for leaves."""

    class Star:
        def __repr__(self):
            return "*"

    return repr(tree_unflatten([Star()] * treespec.num_leaves, treespec))


_PROTOCOL = 1


def treespec_dumps(treespec, protocol=None):
    """A structure as JSON. NotImplementedError for classes registered without a serialized name."""
    _expect_spec(treespec)
    if protocol not in (None, _PROTOCOL):
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return json.dumps((_PROTOCOL, _dumped(treespec)))


def _dumped(spec):
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    written = _written[spec.type]
    if written.name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. Please update your "
            "_register_pytree_node call with a `serialized_type_name` kwarg."
        )
    try:
        context = written.dump(spec.context) if written.dump else json.dumps(spec.context)
    except TypeError as error:
        raise TypeError(
            "Unable to serialize context. Please make the context json dump-able, or register a "
            "custom serializer using _register_pytree_node."
        ) from error
    children = [_dumped(child) for child in spec.children()]
    return {"type": written.name, "context": context, "children_spec": children}


def treespec_loads(serialized):
    """The structure that `treespec_dumps` wrote. ValueError for what it did not write."""
    protocol, schema = json.loads(serialized)
    if protocol != _PROTOCOL:
        raise ValueError(f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]")
    return _loaded(schema)


def _loaded(schema):
    name = schema["type"]
    if name is None:
        return _LEAF
    if name not in _by_name:
        raise NotImplementedError(
            f"Deserialization failed: no class is registered under the name {name!r}. Call "
            "register_pytree_node with serialized_type_name first."
        )
    cls = _by_name[name]
    context, load = schema["context"], _written[cls].load
    if load is None:
        context = json.loads(context)
    children = [_loaded(child) for child in schema["children_spec"]]
    return TreeSpec(cls, load(context) if load else context, children)
