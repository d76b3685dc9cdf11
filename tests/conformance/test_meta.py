"""Every sample on the meta device, here and in PyTorch: shapes, dtypes, strides, nodes, errors.

Where PyTorch's meta differs from its own CPU, the CPU's counts: docs/differences.md, Devices.
"""

import pytest

from tests.samples import load

from .calls import function, tensors_of
from .observe import failure

SAMPLES = load(of_pytorch=True)
CASES = [(name, i) for name in sorted(SAMPLES) for i in range(len(SAMPLES[name]))]
# What is there in one of the two alone, each with its reason.
_NO_META = "PyTorch has none on meta; the shape is known"
ONLY_HERE = {
    **dict.fromkeys(("histogram.bins_tensor", "histogram.bin_ct"), _NO_META),
    **dict.fromkeys(("histogramdd", "histogramdd.int_bins"), _NO_META),
    **dict.fromkeys(("histogramdd.TensorList_bins", "_histogramdd_bin_edges"), _NO_META),
    **dict.fromkeys(("_histogramdd_from_bin_cts", "_histogramdd_from_bin_tensors"), _NO_META),
    "from_dlpack": "PyTorch exports no tensor of meta; nor does imode: these samples are arrays",
    "one_hot": "PyTorch's looks at the elements; here a number of classes suffices",
    "grouped_mm": "PyTorch has that of the GPU, which takes bfloat16 alone",
    "linalg_eigvals": "PyTorch's looks whether the elements are finite",
    "linalg_lstsq": "PyTorch has none on meta; how many residuals there are depends on the ranks",
}
ONLY_THERE = {
    "arange": "a number from a tensor: an error of another class",
    "full": "a number from a tensor: an error of another class",
    "multinomial": "PyTorch does not count what it takes without replacement",
    "cross_entropy": "the targets that are ignored are not known",
    "combinations": "the mask that selects has no elements",
    "index_put": "how many elements a mask selects is not known",
    "bincount": "PyTorch has no kernel for it with weights",
}
# Whose strides are the CPU's here, which differ from PyTorch's as tests of the CPU excuse.
OTHER_STRIDES = {"einsum", "pixel_shuffle"}
# Whose nodes are others than PyTorch's: a recurrent layer is one.
OTHER_NODES = ("gru", "lstm", "rnn_")


def on_meta(lib, value):
    """Arguments with each tensor exchanged for one on meta, of its geometry."""
    if isinstance(value, lib.Tensor):
        made = lib.empty_strided(
            tuple(value.shape), value.stride(), dtype=value.dtype, device="meta"
        )
        return made.requires_grad_(value.requires_grad)
    if isinstance(value, (list, tuple)):
        return type(value)(on_meta(lib, item) for item in value)
    if isinstance(value, dict):
        return {key: on_meta(lib, item) for key, item in value.items()}
    return value


def observed(lib, name, sample, meta, grad=False):
    """What a call gives: the geometry of each result, or ("raised", the class)."""
    args, kwargs, _ = sample.make(lib, requires_grad=grad and sample.grad)
    if meta:
        args, kwargs = on_meta(lib, args), on_meta(lib, kwargs)
    if args and isinstance(args[0], lib.Tensor) and args[0].requires_grad:
        args = [args[0].clone(), *args[1:]]
    call = (sample.torch if lib.__name__ == "torch" else None) or function(lib, name)
    try:
        found = tensors_of(call(*args, **kwargs), lib)
    except Exception as error:
        return "raised", failure(error)
    return [_seen(t) for t in found]


def _seen(t):
    node = None if t.grad_fn is None else type(t.grad_fn).__name__
    return tuple(t.shape), str(t.dtype).partition(".")[2], t.stride(), t.device.type, node


@pytest.mark.parametrize("grad", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize(("name", "index"), CASES, ids=[f"{n}-{i}" for n, i in CASES])
def test_sample(lib, torch, name, index, grad):
    sample = SAMPLES[name][index]
    if grad and (not sample.grad or sample.raises):
        return
    here, there = (observed(library, name, sample, True, grad) for library in (lib, torch))
    if here == there:
        return
    cpu = observed(torch, name, sample, False, grad)
    if here[:1] == ("raised",):
        refused = there[:1] == ("raised",) or cpu[:1] == ("raised",)
        assert refused or name in ONLY_THERE, (here, there)
    elif there[:1] == ("raised",):
        assert cpu[:1] != ("raised",) or name in ONLY_HERE, (here, there)
        assert [h[:3] for h in here] == [c[:3] for c in cpu] or name in ONLY_HERE, (here, cpu)
    elif cpu[:1] == ("raised",):  # because of elements, which are not seen in either
        assert here[0][:2] == there[0][:2], (here, there)
    else:
        if name not in OTHER_STRIDES:
            seen = slice(3) if name.startswith(OTHER_NODES) else slice(5)
            plain = [(*h[:3], h[4])[seen] for h in here]
            assert plain == [(*c[:3], c[4])[seen] for c in cpu], (here, there)
        assert [h[3] for h in here] == [t[3] for t in there], (here, there)
