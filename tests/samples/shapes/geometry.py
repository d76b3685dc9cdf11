"""What tensors say of themselves."""

from tests.samples import S, T

_LAST = T(2, 3, 4, 5, view=lambda t: t.permute(0, 3, 1, 2))


SAMPLES = {
    "_local_scalar_dense": [S(T(1), grad=False), S(T(dtype="int64")), S(T(3, dtype="bool")),
                            S(T(0), raises=RuntimeError)],
    "sym_size": [S(T(2, 3))],
    "sym_size.int": [S(T(2, 3), 1), S(T(2, 3), -2), S(T(2, 3), 2, raises=IndexError)],
    "sym_stride": [S(T(2, 3))],
    "sym_stride.int": [S(T(2, 3, view="transposed"), 1), S(T(2, 3), 2, raises=IndexError)],
    "sym_numel": [S(T(2, 3)), S(T(0))],
    "sym_storage_offset": [S(T(2, 3)), S(T(3))],
    "sym_is_contiguous": [S(T(2, 3)), S(T(2, 3, view="transposed")), S(_LAST)],
}  # fmt: skip
