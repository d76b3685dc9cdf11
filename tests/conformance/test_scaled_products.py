"""Products of groups of matrices and of scaled ones, in both libraries."""

import pytest


def outcome(program, lib):
    try:
        return program(lib)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0].split(". ")[0]


def numbers(lib, *shape):
    count = 1
    for size in shape:
        count *= size
    return (lib.arange(count).reshape(shape) % 7 - 3).float()


def groups(first, second, ends=None, offs="int32", **words):
    def program(lib):
        a, b = (numbers(lib, *shape).requires_grad_() for shape in (first, second))
        offs_ = None if ends is None else lib.tensor(ends, dtype=getattr(lib, offs))
        made = lib.nn.functional.grouped_mm(a, b, offs=offs_, **words)
        found = lib.autograd.grad((made * made).sum(), (a, b), create_graph=True)
        again = lib.autograd.grad(sum((g * g).sum() for g in found), (a, b))
        return [(t.tolist(), t.stride()) for t in (made, *found, *again)]

    return program


def scaled(a="TensorWise", b=None, **words):
    def program(lib):
        F = lib.nn.functional
        matrices = numbers(lib, 4, 6), numbers(lib, 3, 6).t()
        first, second = (m.to(lib.float8_e4m3fn) for m in matrices)
        ways = [F.ScalingType[name] if lib.__name__ != "torch" else F.ScalingType.__members__[name]
                for name in (a, b or a)]  # fmt: skip
        if a == "RowWise":
            scales = numbers(lib, 4, 1), numbers(lib, 1, 3)
        else:
            scales = lib.tensor(0.5), lib.tensor(2.0)
        given = {name: value(lib) if callable(value) else value for name, value in words.items()}
        made = F.scaled_mm(first, second, scales[0], ways[0], [scales[1]], ways[1], **given)
        return made.tolist(), str(made.dtype).split(".")[1]

    return program


PROGRAMS = {
    "rows": groups((7, 8), (2, 8, 4), [3, 7]),
    "columns": groups((2, 4, 8), (8, 12), [4, 12]),
    "summed": groups((4, 12), (12, 8), [4, 12]),
    "stacks": groups((2, 4, 8), (2, 8, 4)),
    "offsets backwards": groups((7, 8), (2, 8, 4), [7, 3]),
    "offsets beyond": groups((7, 8), (2, 8, 4), [3, 11]),
    "offsets that do not begin": groups((7, 8), (2, 8, 4), [-4, 7]),
    "no offsets": groups((7, 8), (2, 8, 4)),
    "not summed over the same": groups((4, 8), (12, 8), [4, 12]),
    "an offset that is no tensor": groups((4, 8), (1, 8, 4), None, bias=3),
    "float16 wanted": lambda lib: groups((2, 4, 8), (2, 8, 4), out_dtype=lib.float16)(lib),
    "not a tensor": lambda lib: lib.nn.functional.grouped_mm(3, lib.ones(2, 8, 4)),
    "offsets in a list": lambda lib: lib.nn.functional.grouped_mm(
        lib.ones(2, 8), lib.ones(1, 8, 4), offs=[2]
    ),
    "by tensor": scaled(),
    "by row": scaled("RowWise", output_dtype=lambda lib: lib.float32),
    "of the matrices' dtype": scaled(output_dtype=None),
    "bias": scaled(bias=lambda lib: numbers(lib, 3), contraction_dim=None),
    "two ways": scaled("TensorWise", "RowWise"),
    "blocks": scaled("BlockWise1x32"),
    "swizzled": scaled(
        swizzle_a=lambda lib: lib.nn.functional.SwizzleType.SWIZZLE_32_4_4,
        swizzle_b=lambda lib: lib.nn.functional.SwizzleType.NO_SWIZZLE,
    ),
    "bias that is no tensor": scaled(bias=3),
    "fast": scaled(use_fast_accum=True),
    "a fast that is no bool": scaled(use_fast_accum=1),
    "contracted by one": scaled(contraction_dim=[1]),
    "a recipe that is a number": lambda lib: lib.nn.functional.scaled_mm(
        lib.ones(2, 2), lib.ones(2, 2), lib.ones(1), 0, lib.ones(1), 0
    ),
    "scaled groups": lambda lib: lib.nn.functional.scaled_grouped_mm(
        lib.ones(2, 2), lib.ones(2, 2), lib.ones(1), lib.nn.functional.ScalingType.RowWise,
        lib.ones(1), lib.nn.functional.ScalingType.RowWise,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(lib, torch, name):
    assert outcome(PROGRAMS[name], lib) == outcome(PROGRAMS[name], torch)


@pytest.mark.parametrize("name", ["ScalingType", "SwizzleType"])
def test_kinds_have_the_same_numbers(lib, torch, name):
    ours, theirs = (getattr(each.nn.functional, name).__members__ for each in (lib, torch))
    assert {k: v.value for k, v in ours.items()} == {k: v.value for k, v in theirs.items()}
