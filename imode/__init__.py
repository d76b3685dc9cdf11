"""PyTorch's operator dispatcher, autograd and InferenceMode on NumPy storage.

A script ports by changing one import. `with imode.inference_mode():` skips autograd, view tracking
and version bumps, and still can never lead to a wrong gradient.

This file lists every public name, with where it comes from and when it is loaded.
`tests/test_package.py` checks the list.
"""

from math import e, inf, nan, pi

# ---- loaded with imode: guards, dtypes, the tensor, the state of threads and process ------------
from . import autograd, cuda, errors, ops
from ._core.counting import counters, trace_dispatch
from ._core.device import device
from ._core.dispatch import (
    excluded_keys,
    get_default_device,
    included_keys,
    is_grad_enabled,
    is_inference_mode_enabled,
    set_default_device,
    set_local_keys,
)
from ._core.dtype import all_dtypes as _all_dtypes
from ._core.dtype import dtype, get_default_dtype, set_default_dtype
from ._core.formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    layout,
    memory_format,
    preserve_format,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from ._core.importing import import_late as _import_late
from ._core.keyset import DispatchKey, DispatchKeySet
from ._core.parallel import get_num_threads, set_num_threads
from ._core.promotion import can_cast, promote_types
from ._core.size import Size
from ._core.tensor import Tensor
from ._tensor.methods import install_methods as _install_methods
from ._tensor.methods import (
    is_complex,
    is_conj,
    is_floating_point,
    is_neg,
    is_nonzero,
    is_same_size,
    is_signed,
    is_tensor,
    numel,
)
from .autograd.anomaly import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .guards import (
    AutoDispatchBelowADInplaceOrView,
    AutoDispatchBelowAutograd,
    AutoNonVariableTypeMode,
    InferenceMode,
    enable_grad,
    inference_mode,
    is_inference,
    no_grad,
    normal_mode,
    set_grad_enabled,
)

__version__ = "0.1.0"

_install_methods()

# fmt: off
(bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float8_e4m3fn, float8_e5m2,
 bfloat16, float16, float32, float64, complex64, complex128) = _all_dtypes()
# fmt: on
float, double, half = float32, float64, float16
newaxis = None
has_lapack = has_mkl = has_openmp = has_spectral = (
    True  # their work is done, by NumPy's and its own
)
long, int, short = int64, int32, int16
cfloat, cdouble = complex64, complex128

# ---- loaded when first used: modules, and names of modules ---------------------------------------

_MODULES_LATER = (
    *("backends", "distributions", "fft", "func", "library", "linalg", "masked", "nn", "optim"),
    *("overrides", "profiler", "return_types", "serialization", "signal", "sparse", "special"),
    *("storage", "accelerator", "amp", "compiler", "cpu", "distributed", "functional", "fx"),
    *("hub", "jit"),
    *("mps", "multiprocessing", "onnx", "quasirandom", "random", "testing", "torch_version"),
    *("types", "utils", "version", "xpu"),
)
_PRIVATE_LATER = ("__config__", "_dynamo", "_jit_internal", "_utils")
_BY_PREFIX = {"_foreach_": "_foreach", "_assert": "_checks", "_check": "_checks"}
_LATER = {
    "kernels.random.generator": (
        *("Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed"),
        *("seed", "set_rng_state"),
    ),
    "_switches.process": (
        *("are_deterministic_algorithms_enabled", "get_deterministic_debug_mode"),
        *("get_float32_matmul_precision", "get_num_interop_threads"),
        *("is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled"),
        *("set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal"),
        *("set_num_interop_threads", "set_warn_always", "use_deterministic_algorithms"),
    ),
    "amp.autocast_mode": (
        *("autocast", "clear_autocast_cache", "get_autocast_dtype", "is_autocast_cache_enabled"),
        *("is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_dtype"),
        "set_autocast_enabled",
    ),
    "amp.grad_scaler": ("GradScaler",),
    "amp.older": (
        *("autocast_decrement_nesting", "autocast_increment_nesting", "get_autocast_cpu_dtype"),
        *("get_autocast_gpu_dtype", "get_autocast_ipu_dtype", "get_autocast_xla_dtype"),
        *("is_autocast_cpu_enabled", "is_autocast_ipu_enabled", "is_autocast_xla_enabled"),
        *("set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype"),
        *("set_autocast_ipu_dtype", "set_autocast_ipu_enabled", "set_autocast_xla_dtype"),
        "set_autocast_xla_enabled",
    ),
    "_functions": (
        *("adaptive_max_pool1d", "binary_cross_entropy_with_logits", "embedding_renorm_"),
        *("frobenius_norm", "from_file", "get_device", "get_device_module", "init_num_threads"),
        *("cond", "is_storage"),
        *("kl_div", "native_norm", "norm_except_dim", "nuclear_norm", "range"),
        *("set_anomaly_enabled", "set_default_tensor_type", "thread_safe_generator", "typename"),
    ),
    "_lobpcg": ("lobpcg",),
    "compiler": ("compile",),
    "cuda.more": ("AcceleratorError", "OutOfMemoryError"),
    "serialization": ("load", "save"),
    "library.tags": ("Tag",),
    "utils.dlpack": ("to_dlpack",),
    "standing_in": ("stand_in_for_torch",),
    "_core.broadcast": ("broadcast_shapes",),
    "_core.storage": ("UntypedStorage",),
    "storage": (
        *("BoolStorage", "ByteStorage", "CharStorage", "DoubleStorage", "FloatStorage"),
        *("HalfStorage", "IntStorage", "LongStorage", "ShortStorage", "TypedStorage"),
        *("BFloat16Storage", "ComplexDoubleStorage", "ComplexFloatStorage"),
    ),
    "_tensor.limits": ("finfo", "iinfo", "result_type"),
    "_tensor.printing": ("set_printoptions",),
    "_tensor.legacy": (
        *("BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor", "DoubleTensor"),
        *("FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"),
    ),
}
_WHERE = {name: module for module, names in _LATER.items() for name in names}

# ---- the rest: operators as functions, each loaded with its module of imode.ops ------------------
# ops.FUNCTIONS has their names, which the build writes into imode/ops/names.py.

__all__ = [
    # modules
    *("autograd", "backends", "cuda", "distributions", "errors", "fft", "func", "library"),
    *("linalg", "masked", "nn", "ops", "optim"),
    *("overrides", "profiler", "return_types", "serialization", "signal", "sparse", "special"),
    *("storage", "accelerator", "amp", "compiler", "cpu", "distributed", "functional", "fx"),
    *("hub", "jit"),
    *("mps", "multiprocessing", "onnx", "quasirandom", "random", "testing", "torch_version"),
    *("types", "utils", "version", "xpu"),
    # switches that scripts set, mixed precision, compilers
    *("are_deterministic_algorithms_enabled", "get_deterministic_debug_mode"),
    *("get_float32_matmul_precision", "get_num_interop_threads"),
    *("is_deterministic_algorithms_warn_only_enabled", "is_warn_always_enabled"),
    *("set_deterministic_debug_mode", "set_float32_matmul_precision", "set_flush_denormal"),
    *("set_num_interop_threads", "set_warn_always", "use_deterministic_algorithms"),
    *("autocast", "clear_autocast_cache", "get_autocast_dtype", "is_autocast_cache_enabled"),
    *("is_autocast_enabled", "set_autocast_cache_enabled", "set_autocast_dtype"),
    *("set_autocast_enabled", "GradScaler", "compile", "AcceleratorError", "OutOfMemoryError"),
    # guards
    *("inference_mode", "normal_mode", "no_grad", "enable_grad", "set_grad_enabled"),
    *("is_grad_enabled", "is_inference", "is_inference_mode_enabled"),
    *("is_anomaly_check_nan_enabled", "is_anomaly_enabled"),
    # the dispatcher: its keys, its guards, what it does
    *("AutoDispatchBelowADInplaceOrView", "AutoDispatchBelowAutograd", "AutoNonVariableTypeMode"),
    *("DispatchKey", "DispatchKeySet", "InferenceMode", "Tag", "counters", "excluded_keys"),
    *("included_keys", "set_local_keys", "trace_dispatch"),
    # tensors
    *("BFloat16Storage", "BoolStorage", "ByteStorage", "CharStorage", "ComplexDoubleStorage"),
    *("ComplexFloatStorage", "DoubleStorage", "FloatStorage", "HalfStorage", "IntStorage"),
    *("LongStorage", "ShortStorage", "TypedStorage"),
    *("Size", "Tensor", "UntypedStorage", "is_complex", "is_conj", "is_floating_point", "is_neg"),
    *("is_nonzero", "is_same_size", "is_signed", "is_tensor", "load", "numel", "save"),
    *("set_printoptions", "BFloat16Tensor", "BoolTensor", "ByteTensor", "CharTensor"),
    "DoubleTensor",
    *("FloatTensor", "HalfTensor", "IntTensor", "LongTensor", "ShortTensor"),
    # devices and memory formats
    *("device", "layout", "memory_format", "channels_last", "channels_last_3d"),
    *("contiguous_format", "preserve_format", "strided", "get_default_device"),
    *("sparse_bsc", "sparse_bsr", "sparse_coo", "sparse_csc", "sparse_csr"),
    "set_default_device",
    # dtypes
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("bfloat16", "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"),
    *("complex64", "complex128", "float", "double", "half", "long", "int", "short", "cfloat"),
    *("cdouble", "dtype", "broadcast_shapes", "can_cast", "finfo", "get_default_dtype", "iinfo"),
    *("promote_types", "result_type", "set_default_dtype"),
    # random numbers
    *("Generator", "default_generator", "get_rng_state", "initial_seed", "manual_seed", "seed"),
    "set_rng_state",
    "stand_in_for_torch",
    # threads
    *("get_num_threads", "set_num_threads"),
    # constants
    *("e", "has_lapack", "has_mkl", "has_openmp", "has_spectral", "inf", "nan", "newaxis", "pi"),
    # older functions and names
    "to_dlpack",
    *("adaptive_max_pool1d", "binary_cross_entropy_with_logits", "embedding_renorm_"),
    *("frobenius_norm", "from_file", "get_device", "get_device_module", "init_num_threads"),
    *("cond", "is_storage", "lobpcg"),
    *("kl_div", "native_norm", "norm_except_dim", "nuclear_norm", "range"),
    *("set_anomaly_enabled", "set_default_tensor_type", "thread_safe_generator", "typename"),
    *("autocast_decrement_nesting", "autocast_increment_nesting", "get_autocast_cpu_dtype"),
    *("get_autocast_gpu_dtype", "get_autocast_ipu_dtype", "get_autocast_xla_dtype"),
    *("is_autocast_cpu_enabled", "is_autocast_ipu_enabled", "is_autocast_xla_enabled"),
    *("set_autocast_cpu_dtype", "set_autocast_cpu_enabled", "set_autocast_gpu_dtype"),
    *("set_autocast_ipu_dtype", "set_autocast_ipu_enabled", "set_autocast_xla_dtype"),
    "set_autocast_xla_enabled",
    # operators
    *ops.FUNCTIONS,
]


def __getattr__(name):
    if name in _MODULES_LATER or name in _PRIVATE_LATER:
        return _import_late(f".{name}", __name__)
    if name in _WHERE:
        value = getattr(_import_late(f".{_WHERE[name]}", __name__), name)
        globals()[name] = value
        return value
    for prefix, module in _BY_PREFIX.items():
        if name.startswith(prefix):
            value = getattr(_import_late(f".{module}", __name__), name, None)
            if value is not None:
                return value
    if not name.startswith("__"):
        ops.find(name)  # puts the functions into this module
        if name in globals():
            return globals()[name]
    raise errors.no_such_name(__name__, name)


def __dir__():
    return sorted({*globals(), *__all__})
