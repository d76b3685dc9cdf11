"""utils._pytree here and in PyTorch: leaves, structures as text, paths, errors."""

import importlib
import re
import sys  # noqa: F401 - of programs
import warnings
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass

import pytest

Point = namedtuple("Point", "x y")
Other = namedtuple("Other", "x y")


@dataclass
class Data:
    a: int
    b: int = 2
    c: object = None


TREE = {
    "a": [1, (2, 3)],
    "b": None,
    "c": OrderedDict(z=1, y=2),
    "d": defaultdict(list, {"k": [5]}),
    "e": Point(1, [2]),
    "f": deque([1, 2], maxlen=3),
}
PROGRAMS = """
P.tree_flatten(TREE)
P.tree_leaves(TREE), list(P.tree_iter(TREE))
P.treespec_pprint(P.tree_structure(TREE))
P.tree_unflatten(range(11), P.tree_structure(TREE))
[(P.keystr(path), leaf) for path, leaf in P.tree_leaves_with_path(TREE)]
P.tree_flatten_with_path(TREE)
P.tree_flatten_with_path([])
P.tree_map_with_path(lambda k, x, y: (P.keystr(k), x, y), {"a": [1, 2]}, {"a": [3, 4]})
P.tree_map_with_path(lambda k, x: x, ())
P.key_get({"a": [1, 2]}, (P.MappingKey("a"), P.SequenceKey(1)))
P.tree_map(lambda x, y: x + y, [1, (2,)], [10, (20,)])
P.tree_map(lambda x, y: (x, y), [1, 2], [1, (2, 3)])
P.tree_map(lambda x, y: x, [1, 2], [1])
P.tree_map(lambda x, y: x, [1, 2], (1, 2))
P.tree_map(lambda x, y: x, [1], 3)
P.tree_map(lambda x, y: x, {"a": 1}, {"b": 1})
P.tree_map(lambda x, y: x, Point(1, 2), Other(1, 2))
P.tree_map(lambda x, y: (x, y), defaultdict(int, a=1), {"a": 2})
P.tree_map(lambda x, y: (x, y), {"a": 1, "b": 3}, OrderedDict(b=4, a=2))
P.tree_map(lambda x, y: (x, y), deque([1]), deque([2], maxlen=2))
P.tree_unflatten([1], P.tree_structure([1, 2]))
P.tree_unflatten([1, 2], P.tree_structure(1))
P.tree_unflatten(1, P.tree_structure(1))
P.tree_unflatten([1], 3)
P.tree_map_only(int, lambda x: x + 1, [1, "a", (2,)])
P.tree_map_only((int, str), lambda x: x * 2, [1, "a", 2.5])
P.tree_map_only(lambda x: x == 1, lambda x: x + 1, [1, 2])
P.tree_map_only(3, lambda x: x, [1])
P.tree_map_(lambda x: 0, [1]), P.tree_map_only_(int, lambda x: 0, [1])
P.tree_all(lambda x: x > 0, [1, [2]]), P.tree_any(lambda x: x > 5, [1, [2]])
P.tree_all_only(int, lambda x: x > 0, [1, "a"]), P.tree_any_only(int, lambda x: x > 5, [1, "a"])
P.tree_flatten([(1, 2), 3], is_leaf=lambda x: isinstance(x, tuple))
P.tree_leaves(None), P.tree_leaves([]), P.tree_leaves(slice(1, 2)), P.tree_structure({})
P.tree_is_leaf([1]), P.tree_is_leaf(1), P.tree_is_leaf([1], is_leaf=lambda x: True)
P.tree_structure({"b": 1, "a": 2}) == P.tree_structure({"a": 1, "b": 2})
P.tree_structure([1, (2,)]) == P.tree_structure([3, (4,)]), P.tree_structure([1]) == 3
hash(P.tree_structure([1])) == hash(P.tree_structure([2]))
P.tree_structure([1, (2,)]).children(), P.tree_structure([1, (2,)]).child(1)
P.tree_structure([1, (2, 3)]).flatten_up_to([1, (2, (3, 4))])
[getattr(P.tree_structure(TREE), n) for n in ("num_leaves", "num_nodes", "num_children", "type")]
P.tree_structure(TREE).context, P.tree_structure(TREE).is_leaf(), P.LeafSpec().is_leaf()
P._broadcast_to_and_flatten([1, 2], P.tree_structure([(1, 2), 3]))
P._broadcast_to_and_flatten([1, 2], P.tree_structure([1]))
P.arg_tree_leaves(1, [2], a=3)
P.treespec_dumps(P.tree_structure([1, {"a": (2,)}, deque([3], 4), defaultdict(int, b=1)]))
P.treespec_loads(P.treespec_dumps(P.tree_structure([1, {"a": (2,)}, defaultdict(int, b=1)])))
P.treespec_dumps(P.tree_structure({1j: 2}))
P.treespec_dumps(P.tree_structure(1), protocol=7)
P.treespec_leaf(), P.treespec_tuple([P.LeafSpec()]), P.treespec_dict({"a": P.LeafSpec()})
P.is_namedtuple(Point(1, 2)), P.is_namedtuple_class(Point), P.is_namedtuple_instance((1, 2))
P.is_structseq(sys.float_info), P.is_structseq_class(type(sys.float_info)), P.is_structseq(1)
P.tree_map(lambda x: x.tolist(), lib.eye(2).max(dim=0))
P.tree_structure(lib.eye(2).max(dim=0))
P.tree_structure(lib.ones(2).shape), P.tree_map(lambda n: n + 1, lib.ones(2).shape)
P.register_pytree_node(list, None, None)
P._get_node_type([1]), P._get_node_type(1), P._get_node_type(lib.eye(2).max(dim=0))
P._get_node_type(Point(1, 2)) is P.namedtuple, P.namedtuple in P.SUPPORTED_NODES
P._get_node_type(lib.eye(2).max(dim=0)) in P.SUPPORTED_NODES, int in P.SUPPORTED_NODES
P.SUPPORTED_NODES[list].type, P.SUPPORTED_NODES[list].flatten_fn([1, 2]), P.NodeDef._fields
P.SUPPORTED_NODES[P.namedtuple].unflatten_fn([1, 2], Point)
P.SUPPORTED_NODES[tuple].flatten_with_keys_fn((1, 2))
P.tree_structure(registered_named_tuple(P)(1, 2))
P.tree_map(lambda x: x + 1, [make(P)(1, 2)]), P.tree_structure(make(P)(1, 2))
P.keystr(P.tree_flatten_with_path(make(P)(1, [2]))[0][1][0])
P.tree_flatten_with_path(make(P, with_keys=False)(1, 2))
P.treespec_dumps(P.tree_structure(make(P)(1, 2)))
P.register_pytree_node(make(P), lambda x: x, lambda x: x)
""".strip().splitlines()


def make(pytree, with_keys=True):
    """A class that is registered."""

    class Pair:
        def __init__(self, x, y):
            self.x, self.y = x, y

        def __repr__(self):
            return f"Pair({self.x}, {self.y})"

    def keys(pair):
        return [(pytree.GetAttrKey("x"), pair.x), (pytree.GetAttrKey("y"), pair.y)], None

    pytree.register_pytree_node(
        Pair,
        lambda pair: ([pair.x, pair.y], None),
        lambda items, _: Pair(*items),
        flatten_with_keys_fn=keys if with_keys else None,
    )
    return Pair


def registered_named_tuple(pytree):
    """A class of named tuples that is registered."""
    named = namedtuple("Named", "x y")
    pytree.register_pytree_node(named, lambda t: ([t.x], t.y), lambda x, y: named(*x, y))
    return named


def outcome(lib, program):
    """The value as text, or the error's class and message."""
    pytree = importlib.import_module(f"{lib.__name__}.utils._pytree")
    names = {**globals(), "P": pytree, "lib": lib}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            text = repr(eval(program, names))
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
    return re.sub(r" at 0x\w+", "", text).replace("torch", "imode")


@pytest.mark.parametrize("program", PROGRAMS)
def test_trees(lib, torch, program):
    assert outcome(lib, program) == outcome(torch, program)


def test_the_public_names(lib, torch):
    ours, theirs = (importlib.import_module(f"{x.__name__}.utils._pytree") for x in (lib, torch))
    assert set(ours.__all__) == set(theirs.__all__)
    for pytree in (ours, theirs):
        pytree.register_dataclass(Data)
    assert ours.tree_map(lambda x: x * 2, Data(1)) == Data(2, 4)
    assert outcome(lib, "P.tree_flatten_with_path(Data(1))") == outcome(
        torch, "P.tree_flatten_with_path(Data(1))"
    )
