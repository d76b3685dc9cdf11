"""Which operators autocast gives another dtype, as PyTorch's on the CPU, and the function mode that
does so. It is entered with the outermost block, so programs without autocast pay nothing."""

import imode
from imode.overrides import TorchFunctionMode

# Those whose name is not PyTorch's entry end in one that is there: products of several matrices,
# attention, networks whose states are sums of products.
LOWER = frozenset(
    [
        "addbmm",
        "addmm",
        "baddbmm",
        "bmm",
        "chain_matmul",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "inner",
        "linalg_matmul",
        "linalg_matrix_power",
        "linalg_multi_dot",
        "linalg_vecdot",
        "linear",
        "lstm",
        "matmul",
        "matrix_power",
        "mm",
        "multi_head_attention_forward",
        "prelu",
        "rnn_relu",
        "rnn_relu_cell",
        "rnn_tanh",
        "rnn_tanh_cell",
        "scaled_dot_product_attention",
        "tensordot",
        "__matmul__",
        "__rmatmul__",
    ]
)
FULL = frozenset(
    [
        "adaptive_avg_pool3d",
        "adaptive_max_pool3d",
        "avg_pool3d",
        "binary_cross_entropy",
        "binary_cross_entropy_with_logits",
        "cdist",
        "cholesky",
        "cholesky_inverse",
        "cholesky_solve",
        "cosine_embedding_loss",
        "cross_entropy",
        "ctc_loss",
        "fft_fft",
        "fft_fft2",
        "fft_fftn",
        "fft_hfft",
        "fft_ifft",
        "fft_ifft2",
        "fft_ifftn",
        "fft_ihfft",
        "fft_irfft",
        "fft_irfft2",
        "fft_irfftn",
        "fft_rfft",
        "fft_rfft2",
        "fft_rfftn",
        "fractional_max_pool2d",
        "fractional_max_pool3d",
        "geqrf",
        "grid_sample",
        "grid_sampler",
        "grid_sampler_2d",
        "grid_sampler_3d",
        "hinge_embedding_loss",
        "huber_loss",
        "inverse",
        "kl_div",
        "l1_loss",
        "linalg_cholesky",
        "linalg_cholesky_ex",
        "linalg_cond",
        "linalg_eig",
        "linalg_eigh",
        "linalg_eigvals",
        "linalg_eigvalsh",
        "linalg_householder_product",
        "linalg_inv",
        "linalg_inv_ex",
        "linalg_lstsq",
        "linalg_matrix_rank",
        "linalg_qr",
        "linalg_solve",
        "linalg_svd",
        "linalg_svdvals",
        "linalg_tensorinv",
        "linalg_tensorsolve",
        "lu_solve",
        "margin_ranking_loss",
        "max_pool3d",
        "max_unpool2d",
        "max_unpool3d",
        "mse_loss",
        "multi_margin_loss",
        "multilabel_margin_loss",
        "nanquantile",
        "nll_loss",
        "orgqr",
        "ormqr",
        "pinverse",
        "poisson_nll_loss",
        "polar",
        "prod",
        "qr",
        "quantile",
        "smooth_l1_loss",
        "soft_margin_loss",
        "stft",
        "svd",
        "trace",
        "triangular_solve",
        "triplet_margin_loss",
        "view_as_complex",
    ]
)
WIDEST = frozenset(["cat", "concat", "concatenate", "index_copy", "stack"])


def eligible(value, kind="cpu"):
    """Whether autocast changes the dtype of a value: floats but float64, on the device."""
    return (
        isinstance(value, imode.Tensor)
        and value.is_floating_point()
        and value.dtype is not imode.float64
        and value.device.type == kind
    )


def _cast(value, dtype):
    if isinstance(value, (list, tuple)) and any(isinstance(x, imode.Tensor) for x in value):
        return [_cast(item, dtype) for item in value]
    return value.to(dtype) if eligible(value) and value.dtype is not dtype else value


def _tensors(values):
    for value in values:
        if isinstance(value, imode.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)


class Policy(TorchFunctionMode):
    """Casts the arguments of the operators above while `state` says that autocast is on."""

    def __init__(self, state):
        self.state = state

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = getattr(func, "__name__", None)
        if self.state.enabled.get("cpu") and kwargs.get("out") is None:
            if name in LOWER:
                dtype = self.state.dtypes["cpu"]
            elif name in FULL:
                dtype = imode.float32
            elif name in WIDEST:
                dtype = self.widest((*args, *kwargs.values()))
            else:
                return func(*args, **kwargs)
            args = [_cast(value, dtype) for value in args]
            kwargs = {key: _cast(value, dtype) for key, value in kwargs.items()}
        return func(*args, **kwargs)

    def widest(self, values):
        """float32 where one of them has it, else the dtype of the block."""
        found = {tensor.dtype for tensor in _tensors(values) if eligible(tensor)}
        return imode.float32 if imode.float32 in found else self.state.dtypes["cpu"]
