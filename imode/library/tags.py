"""`Tag`: what an operator is, for those who look at operators, by PyTorch's names."""

import enum

from imode._core.dispatch import Kind
from imode._core.keyset import DispatchKey


class Tag(enum.Enum):
    """What an operator may be said to be: `define(schema, tags=...)`, `operator.tags`.

    imode itself reads no tag. Its own operators have those that follow from their entries:
    `pointwise`, `dynamic_output_shape` and `nondeterministic_seeded`.

    >>> import imode
    >>> imode.Tag.pointwise in imode.ops.mul.tags
    True
    """

    core = 0
    cudagraph_unsafe = 1
    data_dependent_output = 2
    dynamic_output_shape = 3
    flexible_layout = 4
    generated = 5
    inplace = 6
    inplace_view = 7
    maybe_aliasing_or_mutating = 8
    needs_contiguous_strides = 9
    needs_exact_strides = 10
    needs_fixed_stride_order = 11
    nondeterministic_bitwise = 12
    nondeterministic_seeded = 13
    out = 14
    out_variant = 15
    pointwise = 16
    pt2_compliant_tag = 17
    reduction = 18
    view_copy = 19

    def __int__(self):
        return self.value


def as_tags(tags):
    """A tag, or several, as a tuple. TypeError for what is none."""
    tags = (tags,) if isinstance(tags, Tag) else tuple(tags or ())
    for tag in tags:
        if not isinstance(tag, Tag):
            raise TypeError(f"tags: expected imode.Tag, or several, got {tag!r}")
    return tags


def tags_of(operator):
    """The tags of an operator: a new list."""
    entry = operator.entry
    if operator.outside:
        return list(entry.tags)
    found = []
    if entry.by_values:
        found.append(Tag.dynamic_output_shape)
    if Kind.GENERATOR_OPT in operator.kinds:
        found.append(Tag.nondeterministic_seeded)
    if str(operator.kernel_table.get(DispatchKey.CPU)).startswith("imode.ops.pointwise"):
        found.append(Tag.pointwise)
    return found
