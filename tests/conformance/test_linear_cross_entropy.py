"""The loss with a linear layer in it, in both libraries."""

import pytest


def outcome(program, lib):
    try:
        return program(lib)
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0].split(". ")[0]


def loss(shape=(4, 3), target=(0, 1, 1, 0), **words):
    def program(lib):
        given = {k: v(lib) if callable(v) else v for k, v in words.items()}
        made = lib.nn.LinearCrossEntropyLoss(3, 2, **given)
        count = made.linear.weight.numel()
        with lib.no_grad():
            for parameter in made.parameters():
                parameter.copy_(lib.arange(parameter.numel()).reshape(parameter.shape) / count)
        input = (lib.arange(shape[0] * shape[1]).reshape(shape) / 5.0).requires_grad_()
        value = made(input, lib.tensor(target))
        (gradient,) = lib.autograd.grad(value.sum(), input)
        numbers = [[round(x, 4) for x in t.flatten().tolist()] for t in (value, gradient)]
        names = [(name, tuple(t.shape)) for name, t in made.state_dict().items()]
        return numbers, value.shape, names, repr(made).replace("torch.", "imode.")

    return program


def options(**words):
    return lambda lib: repr(
        lib.nn.LinearCrossEntropyOptions(
            **{k: v(lib) if callable(v) else v for k, v in words.items()}
        )
    ).replace("torch.", "imode.")


PROGRAMS = {
    "plain": loss(),
    "each": loss(reduction="none", bias=True),
    "sum": loss(reduction="sum", weight=lambda lib: lib.tensor([1.0, 2.0]), label_smoothing=0.1),
    "ignored": loss(ignore_index=1),
    "more dimensions": loss(target=[[0, 1]] * 4, out_features=(2,), bias=True),
    "with options": loss(options=lambda lib: lib.nn.LinearCrossEntropyOptions(batch_chunk_size=2)),
    "a weight of another shape": loss(weight=lambda lib: lib.ones(3)),
    "smoothed too much": loss(label_smoothing=1.5),
    "options": options(),
    "many options": options(
        allow_retain_graph=True, batch_chunk_size=3, chunking_method="aspect_ratio:2",
        acc_policy="compact", acc_dtype=lambda lib: lib.float64,
    ),
    "no such policy": options(acc_policy="fast"),
    "no such method": options(chunking_method="rows"),
    "no factor": options(chunking_method="aspect_ratio:"),
    "a factor of nothing": options(chunking_method="aspect_ratio:0"),
    "chunks of nothing": options(batch_chunk_size=0),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(lib, torch, name):
    assert outcome(PROGRAMS[name], lib) == outcome(PROGRAMS[name], torch)


def test_a_dtype_that_is_no_float(lib, torch):
    for each in (lib, torch):
        with pytest.raises(ValueError, match="acc_dtype must be one of"):
            each.nn.LinearCrossEntropyOptions(acc_dtype=each.int32)


def test_options_do_not_change(lib, torch):
    for each in (lib, torch):
        made = each.nn.LinearCrossEntropyOptions()
        assert made == each.nn.LinearCrossEntropyOptions() and len({made, made}) == 1
        with pytest.raises(AttributeError):
            made.acc_policy = "compact"
