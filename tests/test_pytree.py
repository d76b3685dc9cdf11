"""utils._pytree: what is refused, and registers nothing."""

import pickle

import pytest

from imode.utils import _pytree as pytree


class Box:
    pass


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: pytree.register_pytree_node(3, list, list), TypeError, "expected a class, got 3"),
        (lambda: pytree.register_pytree_node(Box, None, list), TypeError, "flatten_fn must be"),
        (lambda: pytree.register_pytree_node(Box, list, 3), TypeError, "unflatten_fn must be"),
        (
            lambda: pytree.register_pytree_node(Box, list, list, to_dumpable_context=repr),
            ValueError,
            "must be None or registered",
        ),
        (
            lambda: pytree.register_pytree_node(
                Box, list, list, serialized_type_name="builtins.list"
            ),
            ValueError,
            "is the serialized name of <class 'list'>",
        ),
        (lambda: pytree.register_dataclass(Box), TypeError, "is no dataclass"),
    ],
)
def test_what_cannot_be_registered_is_not(call, error, sentence):
    with pytest.raises(error, match=sentence):
        call()
    assert pytree.tree_is_leaf(Box())


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ('[2, {"type": null}]', ValueError, "Unknown protocol 2"),
        ('[1, {"type": "x.y"}]', NotImplementedError, "no class is registered under the name"),
        (
            '[1, {"type": "collections.namedtuple", "context": "no.such", "children_spec": []}]',
            ValueError,
            "'no.such' is not known here",
        ),
    ],
)
def test_texts_that_are_no_structures(text, error, sentence):
    with pytest.raises(error, match=sentence):
        pytree.treespec_loads(text)


def test_a_structure_is_immutable_and_pickles():
    spec = pytree.tree_structure({"a": [1, (2,)]})
    assert pickle.loads(pickle.dumps(spec)) == spec
    with pytest.raises(AttributeError, match="a TreeSpec is immutable"):
        spec.type = list
    with pytest.raises(TypeError, match="Expected `children_specs`"):
        pytree.TreeSpec(list, None, [3])
