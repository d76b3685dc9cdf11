"""What is not there."""

from . import Shown


def absent(entry, *programs):
    """The rules of an entry: each of some programs raises here only."""
    return [Shown(entry, "outcome", here=r"\w*Error: .*", there="ok", witness=p) for p in programs]


RULES = [
    *absent(
        "Layouts and dtypes",
        "lib.sparse_csr_tensor",
        "lib.masked.masked_tensor",
        "lib.quantize_per_tensor",
        "lib.nested.nested_tensor",
        "lib.complex32",
    ),
    *absent(
        "Sparse tensors have the operators of graph networks",
        "lib.eye(2).to_sparse().norm()",
        "lib.hspmm",
    ),
    *absent(
        "Compilers and distribution",
        "lib.export.export",
        "lib.distributed.TCPStore",
        "lib.func.vmap",
    ),
    *absent("Gradients of another dtype", "lib.ones(2).grad_dtype"),
    *absent(
        "Forward mode and `vmap`",
        "lib.autograd.forward_ad.dual_level",
        "lib.vmap",
        "lib.func.jvp",
        "lib.func.jacfwd",
    ),
    *absent("Sobol sequences have 10 000 dimensions at most", "lib.quasirandom.SobolEngine(10001)"),
    *absent(
        "Files and forks in pipelines",
        "lib.utils.data.datapipes.iter.FileLister",
        "lib.utils.data.datapipes.iter.IterableWrapper([1]).fork(2)",
    ),
    *absent("Names put into compiled classes", "setattr(lib.Tensor, 'matmul', lib.Tensor.matmul)"),
    *absent(
        "Hooks for all modules and all optimizers",
        "lib.nn.modules.module.register_module_forward_hook",
    ),
    Shown(
        "Forward mode and `vmap`",
        "log",
        witness="""
            v0 = lib.ones(2, requires_grad=True); v1 = v0 * 2; n = []
            v1.register_hook(lambda g: n.append(g))
            lib.autograd.grad(v1, v0, lib.ones(3, 2), is_grads_batched=True)
            log.append(len(n))
        """,
    ),
]
