"""Every sample of float32 operands, of bfloat16 ones: what comes out, and what is refused."""

import numpy as np
import pytest

from tests.samples import load

from .calls import called, function, tensors_of
from .observe import attempt, dtype_name, layout, sentence

SAMPLES = called(load(of_pytorch=True), "bfloat16")


def names(text):
    return frozenset(text.split())


# Of most operators each element is PyTorch's or its neighbour. PyTorch computes these in steps, or
# adds many numbers, and rounds each step to 8 bits; here the result alone is rounded.
IN_STEPS = names("""
    adaptive_avg_pool3d addbmm addr affine_grid affine_grid_generator batch_norm bilinear cdist
    conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution
    _convolution col2im conv_tbc cross grid_sample
    einsum embedding_bag gradient grid_sampler grid_sampler_2d grid_sampler_3d index_put index_put_
    instance_norm kl_div linalg_cross mse_loss linalg_matrix_exp matrix_exp log_softmax
    log_softmax.dtype
    logit lstm.input mvlgamma normal normal.Tensor_Tensor normal.float_Tensor prod prod.dim_int
    renorm scaled_dot_product_attention soft_margin_loss special_i0e upsample_bicubic2d
    upsample_bicubic2d.vec upsample_bilinear2d upsample_bilinear2d.vec upsample_linear1d
    upsample_linear1d.vec upsample_trilinear3d upsample_trilinear3d.vec xlogy.Tensor
    xlogy.Scalar_Other xlogy.Scalar_Self special_xlog1py special_xlog1py.self_scalar
    special_xlog1py.other_scalar
""")
# Classes of differences that are not about bfloat16, by operator.
ELSEWHERE = names("""
    igammac linalg_vector_norm erf matrix_exp linalg_matrix_exp normal rrelu rrelu_
""")
# bfloat16 is refused where float16 is, before or after other mistakes are found; PyTorch
# takes matrices of no elements.
OTHER_OUTCOME = ("linalg", "fft", "_fft", "special", "conv", "multi", "svd", "pca", "stft", "istft")
# PyTorch has a kernel of these in bfloat16 on some CPUs alone.
OTHER_OUTCOME += ("lstm",)
# Which kernel PyTorch has for them depends on the CPU, and their strides on the kernel.
BY_CPU = names(
    "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d convolution "
    "_convolution"
)
ODD = names("""
    det logdet complex polar batch_norm embedding embedding_bag from_dlpack cholesky slogdet
    pinverse tensor_split.tensor_indices_or_sections view_as_complex_copy einsum lu_unpack ormqr
    matrix_power expand signbit binomial histogram.bin_ct histogramdd histogramdd.int_bins
    histogramdd.TensorList_bins _histogramdd_bin_edges _histogramdd_from_bin_cts
""")


def brain(place, t):
    return "bfloat16" if t.dtype == "float32" else None


def run(lib, name, sample):
    """Return (what was raised or "ok", [(dtype, shape, strides, values)])."""
    lib.manual_seed(0)
    args, kwargs, _ = sample.make(lib, dtype=brain)
    call = (sample.torch if lib.__name__ == "torch" else None) or function(lib, name)
    try:
        result = call(*args, **kwargs)
    except Exception as error:
        return f"{type(error).__name__}: {sentence(error)}", []
    outputs = [t.detach() for t in tensors_of(result, lib)]
    return "ok", [(dtype_name(t), tuple(t.shape), layout(t), np.array(t.tolist())) for t in outputs]


def near(ours, theirs, dtype, loose):
    """Whether two arrays are equal, but for a unit in the last place of bfloat16."""
    if np.array_equal(ours, theirs, equal_nan=ours.dtype.kind in "fc"):
        return True
    if ours.dtype.kind not in "fc":
        return False
    known = np.isfinite(theirs)
    size = np.abs(theirs[known]).max(initial=0.0)
    rtol, atol = (0.1, 0.1 * size) if loose else (2**-7, 2**-133)
    rtol = rtol if dtype == "bfloat16" or loose else 2e-3
    with np.errstate(all="ignore"):
        return np.allclose(ours, theirs, rtol, atol, equal_nan=True)


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_samples_of_bfloat16(lib, torch, name):
    lines = []
    for sample in SAMPLES[name]:
        made = attempt(lambda sample=sample: sample.make(torch, dtype=brain)[2])
        if isinstance(made, str) or "bfloat16" not in map(dtype_name, made):
            continue
        (outcome, ours), (reference, theirs) = run(lib, name, sample), run(torch, name, sample)
        if outcome != reference:
            # What both refuse may be named otherwise, what one alone refuses is listed.
            if name in ODD or name.startswith(OTHER_OUTCOME):
                continue
            lines.append(f"{sample!r}: {outcome} here, {reference} in PyTorch")
            continue
        for here, there in zip(ours, theirs, strict=True):
            compared = 2 if name in BY_CPU else 3
            if name not in ODD and here[:compared] != there[:compared]:
                lines.append(f"{sample!r}: {here[:3]} here, {there[:3]} in PyTorch")
            elif (
                sample.values
                and name not in ELSEWHERE | ODD
                and not near(here[3], there[3], here[0], name in IN_STEPS)
            ):
                lines.append(f"{sample!r}: {here[3]} here, {there[3]} in PyTorch")
    assert not lines, "\n".join(lines)
