"""Functions of `torch` that are no operators of their own, in both libraries."""

import warnings

import pytest

from .side_by_side import agrees, error


@agrees
def test_layers(lib):
    x = (lib.arange(24.0).view(2, 3, 4) / 7).requires_grad_()
    logs, p = x.detach().log_softmax(-1), x.detach().softmax(-1)
    table = lib.tensor([[3.0, 4.0], [1.0, 0.0], [6.0, 8.0]])
    returned = lib.embedding_renorm_(table, lib.tensor([0, 0, 1]), 2.5, 2.0)
    return [
        *lib.adaptive_max_pool1d(x, 2), lib.binary_cross_entropy_with_logits(x, p),
        *[lib.binary_cross_entropy_with_logits(x, p, None, p, n) for n in (0, 1, 2)],
        lib.kl_div(logs, p), *[lib.kl_div(logs, p, n, log_target=True) for n in (0, 1, 2)],
        table, returned is table,
    ]  # fmt: skip


@agrees
def test_norms(lib):
    x = lib.arange(1.0, 25).view(2, 3, 4).requires_grad_()
    return [
        *[lib.norm_except_dim(x, 2, d) for d in (-1, 0, 1, 2)], lib.norm_except_dim(x, 1, 2),
        lib.frobenius_norm(x, [0, 1]), lib.frobenius_norm(x, 1, True), lib.nuclear_norm(x[0]),
        lib.nuclear_norm(x[0], True), lib.nuclear_norm(x, [0, 2]),
        lib.native_norm(x.detach()[0].to_sparse()),
    ]  # fmt: skip


@agrees
def test_range(lib):
    return [
        lib.range(1, 4), lib.range(0, 1, 0.25), lib.range(4, 0, -2), lib.range(0, 1, 0.3),
        lib.range(1, 3, dtype=lib.int64), lib.range(1, 2, out=lib.empty(0)),
        lib.range(0, 2, requires_grad=True),
        *[error(lambda a=a: lib.range(*a)) for a in ((0, 1, 0), (1, 0), (0, float("nan")))],
    ]  # fmt: skip


@agrees
def test_names_of_things(lib):
    x = lib.ones(2)
    return [
        lib.typename(x), lib.typename(x.long()), lib.typename([1]), lib.typename(lib.nn.Linear),
        lib.typename(lib.nn.Linear(1, 1)), lib.typename(3), lib.is_storage(x.untyped_storage()),
        lib.is_storage(x), lib.get_device(x), lib.get_device_module().__name__,
        lib.get_device_module("cuda").__name__, error(lambda: lib.get_device_module(3)),
        lib.newaxis, lib.has_lapack, lib.has_openmp, lib.init_num_threads(),
        lib.random.thread_safe_generator(), x[:, lib.newaxis],
    ]  # fmt: skip


@agrees
def test_switches(lib):
    seen = []
    for t in (lib.DoubleTensor, "torch.HalfTensor", "torch.FloatTensor"):
        lib.set_default_tensor_type(t)
        seen.append(str(lib.get_default_dtype()))
    seen += [error(lambda t=t: lib.set_default_tensor_type(t)) for t in (lib.IntTensor, "x", 3)]
    lib.set_anomaly_enabled(True)
    seen.append(lib.is_anomaly_enabled())
    lib.set_anomaly_enabled(False)
    return [*seen, lib.is_anomaly_enabled(), error(lambda: lib.set_anomaly_enabled(1))]


@agrees
def test_autocast_by_its_older_names(lib):
    seen = [lib.autocast_increment_nesting(), lib.autocast_decrement_nesting()]
    for name in ("cpu", "gpu", "ipu", "xla"):
        seen.append(str(getattr(lib, f"get_autocast_{name}_dtype")()))
    lib.set_autocast_cpu_dtype(lib.float16)
    seen.append(str(lib.get_autocast_dtype("cpu")))
    lib.set_autocast_cpu_dtype(lib.bfloat16)
    lib.set_autocast_cpu_enabled(True)
    seen += [lib.is_autocast_cpu_enabled(), lib.is_autocast_enabled("cpu")]
    lib.set_autocast_cpu_enabled(False)
    return [*seen, lib.is_autocast_cpu_enabled(), lib.is_autocast_ipu_enabled()]


@pytest.mark.parametrize("call", [
    lambda lib: lib.range(0, 1),
    lambda lib: lib.frobenius_norm(lib.ones(2), 0),
    lambda lib: lib.nuclear_norm(lib.ones(2, 2)),
    lambda lib: lib.set_default_tensor_type(lib.FloatTensor),
    lambda lib: lib.get_autocast_cpu_dtype(),
    lambda lib: lib.set_autocast_ipu_enabled(False),
])  # fmt: skip
def test_what_is_deprecated_says_so(lib, torch, call):
    texts = []
    for library in (lib, torch):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            call(library)
        texts.append([(w.category, str(w.message).partition(" (Triggered")[0]) for w in caught])
    assert texts[0] == texts[1] or not texts[1]  # PyTorch gives each of some but once


@agrees
def test_private_utils(lib):
    utils, kept = lib._utils, lib.utils.checkpoint
    parts = [lib.arange(6.0).view(2, 3), lib.ones(2), lib.ones(3).double(), lib.zeros(1)]
    floats = [part for part in parts if part.dtype == lib.float32]
    flat = utils._flatten_dense_tensors(floats)
    chunks = list(utils._take_tensors(parts, 24))

    class Named:
        @utils.classproperty
        def name(cls):
            return cls.__name__

    def raised():
        try:
            raise KeyError("key")
        except KeyError:
            wrapped = utils.ExceptionWrapper(where="in a thread")
        wrapped.reraise()

    x = lib.ones(2, requires_grad=True)
    detached = kept.detach_variable((x * 1, lib.ones(1), 3))
    return [
        flat, utils._unflatten_dense_tensors(flat, floats),
        utils._flatten_dense_tensors([parts[1]]),
        chunks, utils._reorder_tensors_as([p for c in chunks for p in c], parts),
        Named.name, Named().name, error(raised), detached, kept.get_device_states(x),
        error(lambda: kept.detach_variable([x])), kept.set_device_states([], []),
        kept.check_backward_validity([x, 3]),
    ]  # fmt: skip
