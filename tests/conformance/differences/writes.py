"""In-place operators, out= and memory that tensors share."""

from . import Rule, Shown

RECORDED = (
    "RuntimeError: .*: functions with out=... arguments don't support automatic differentiation, "
    "but one of the arguments requires grad"
)

RULES = [
    Rule(
        "A call that raises leaves `out=` as it was",
        "shape strides values shares_memory_with",
        statement=r".*\bout=.*",
        raised=r"\w*Error: .*",
        witness=[
            """
            v0 = lib.ones(2, 2).bool(); v1 = lib.zeros(0).bool()
            v2 = lib.mm(v0, v0, out=v1)
            """,
            """
            v0 = lib.ones(2, 3)
            lib.index_select(lib.ones(2), 0, lib.tensor([7]), out=v0)
            """,
        ],
    ),
    Rule(
        "A refused write in place has written nothing",
        "values",
        raised="IndexError: .*|RuntimeError: Number of elements of source .*|"
        "RuntimeError: ZeroDivisionError",
        witness=[
            """
            v0 = lib.tensor([-1, -1, 0])
            v0.fmod_(v0)
            """,
            """
            v0 = lib.zeros(3)
            v0.masked_scatter_(v0 == 0, lib.ones(2))
            """,
            """
            v0 = lib.zeros(3)
            v0.index_fill_(0, lib.tensor([0, 7]), 2)
            """,
        ],
    ),
    Rule(
        "Elements that share memory are not written to",
        "outcome",
        here="RuntimeError: unsupported operation: more than one element of the written-to tensor "
        "refers to a single memory location",
        witness="""
            v0 = lib.ones(2).expand(3, 2)
            v0.tril_()
        """,
    ),
    Shown(
        "Windows that overlap are written to once each",
        "values",
        witness="""
            v0 = lib.arange(1, 6); v1 = v0.as_strided((3, 3), (1, 1))
            v1.pow_(2)
        """,
    ),
    Shown(
        "An operand is read as it was",
        "values",
        witness="""
            v0 = lib.arange(20.0); v1 = v0[2::2]; v2 = v0[:-2:2]
            v1.add_(v2)
        """,
    ),
    Rule(
        "An in-place operator keeps the shape",
        "outcome",
        operators="addbmm_",
        here="RuntimeError: output with shape .* doesn't match the broadcast shape .*",
        witness="""
            v0 = lib.ones(3, 1)
            v0.addbmm_(lib.ones(2, 3, 4), lib.ones(2, 4, 5))
        """,
    ),
    Rule(
        "`out=` is not recorded",
        "outcome",
        operators="alias_copy as_strided_copy diagonal_copy expand_copy permute_copy select_copy "
        "slice_copy squeeze_copy squeeze_copy.dim squeeze_copy.dims t_copy "
        "transpose_copy unfold_copy unsqueeze_copy view_as_real_copy view_copy "
        "slice_scatter diag softmax softmax.dtype log_softmax log_softmax.dtype "
        "fft_ifft fft_ihfft special_ndtr linalg_cond linalg_cond.p_str "
        "linalg_matrix_rank linalg_matrix_rank.atol_rtol_float "
        "linalg_matrix_rank.atol_rtol_tensor linalg_pinv linalg_pinv.rcond_tensor "
        "linalg_pinv.atol_rtol_float linalg_tensorinv linalg_tensorsolve "
        "linalg_matrix_power matrix_power",
        cases=["out= recorded"],
        here=RECORDED,
        there="ok",
        witness="""
            v0 = lib.ones(2, requires_grad=True)
            lib.softmax(v0, 0, out=lib.empty(0))
        """,
    ),
    *(
        Shown(
            "`out=` is not recorded",
            "outcome",
            witness=f"""
                v0 = lib.ones(2, requires_grad=True); v1 = lib.zeros(2); i = lib.tensor([0, 1])
                {call}
            """,
        )
        for call in (
            "lib.floor_divide(v0, 2, out=v1)",
            "lib.scatter(v0, 0, i, 1.0, reduce='add', out=v1)",
            "lib.ones(2, out=v0 * 1)",
        )
    ),
    Rule(
        "`out=` is written to once",
        "version",
        operators="matmul",
        cases=["out=", "out= of wrong shape"],
        here="1",
        there="2",
        witness="""
            v0 = lib.ones(3); v1 = lib.zeros(0)
            lib.matmul(v0, lib.ones(3, 2), out=v1)
        """,
    ),
    Rule(
        "`out=` is written to once",
        "version",
        operators="kron",
        cases=["out=", "out= of wrong shape", "out= inference"],
        here="1",
        there="0",
        witness="""
            v0 = lib.ones(2); v1 = lib.zeros(0)
            lib.kron(v0, v0, out=v1)
        """,
    ),
    Rule(
        "A factor in `out=` lies as the result does",
        "strides",
        operators="cholesky_inverse geqrf linalg_eig linalg_householder_product linalg_lstsq "
        "orgqr ormqr",
        cases=["out= of wrong shape"],
        witness="""
            v0 = lib.eye(2); v1 = lib.zeros(2, 2, 2)
            lib.cholesky_inverse(v0, out=v1)
        """,
    ),
    Rule(
        "A factor in `out=` lies as the result does",
        "strides",
        operators="linalg_lstsq",
        cases=["out=", "out= inference"],
        witness="""
            v0 = lib.ones(3, 1); v1 = lib.zeros(0); v2 = lib.zeros(0); v3 = v2.long()
            lib.linalg.lstsq(v0, lib.ones(3, 2), out=(v1, v2, v3, lib.zeros(0)))
        """,
    ),
    Shown(
        "`out=` may be one of the matrices",
        "values",
        witness="""
            v0 = lib.arange(4096.0).view(64, 64) / 64
            lib.mm(v0, v0, out=v0)
        """,
    ),
    Shown(
        "Memory grows for one tensor alone",
        "shares_memory_with values",
        witness="""
            v0 = lib.zeros(2); v1 = v0.detach()
            v1.resize_(3).fill_(1)
        """,
    ),
    Rule(
        "Memory of NumPy's can grow",
        "outcome",
        here="ok",
        there="RuntimeError: Trying to resize storage that is not resizable",
        witness="""
            v0 = lib.from_numpy(lib.ones(2).numpy())
            v0.resize_(3).fill_(1)
        """,
    ),
    Shown(
        "`resize_` into another memory format counts as a write",
        "version",
        witness="""
            v0 = lib.arange(16.0).view(1, 4, 2, 2)
            v0.resize_((1, 4, 2, 2), memory_format=lib.channels_last)
        """,
    ),
    Rule(
        "How much memory lies behind a tensor",
        "outcome",
        here="RuntimeError: setStorage: .*",
        witness="""
            v0 = lib.nn.functional.mse_loss(lib.ones(3), lib.ones(3))
            v1 = v0.as_strided((2,), (1,))
        """,
    ),
    Rule(
        "How much memory lies behind a tensor",
        "outcome",
        there="RuntimeError: setStorage: .*",
        witness="""
            v0 = lib.ones(0, 3)
            v0.index_fill_(0, lib.tensor([0]), 2)
        """,
    ),
    Shown(
        "A view from before its base had a history can be written to",
        "outcome",
        witness="""
            v0 = lib.ones(3); w = lib.ones(3, requires_grad=True); v1 = v0[1:]
            v0.mul_(w).sum() if v1.add_(v0.mul_(w)[1:]) is None else None
        """,
    ),
    Shown(
        "A write to a view of complex numbers as real ones keeps its history",
        "grad_fn requires_grad is_leaf output_nr grad",
        witness="""
            v0 = lib.ones(2, dtype=lib.complex64, requires_grad=True); v1 = v0 * 1
            v2 = lib.view_as_real(v1)
            def f():
                with lib.inference_mode():
                    v1.mul_(2)
                    try:
                        v2.grad_fn
                    except RuntimeError:
                        pass
            f()
        """,
    ),
    Shown(
        "`gelu` writes to `out=` as it lies",
        "values",
        witness="""
            v0 = lib.full((3, 2), 9.0).t()
            lib.nn.functional.gelu(lib.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), out=v0)
        """,
    ),
    Shown(
        "`ihfft2` and `ihfftn` write to `out=` along one dimension, too",
        "values version",
        witness="""
            v0 = lib.zeros(3, dtype=lib.complex64)
            lib.fft.ihfftn(lib.ones(4), out=v0)
        """,
    ),
]
