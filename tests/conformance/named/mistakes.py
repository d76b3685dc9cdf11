"""Two mistakes in one call: the dtype, the shape, memory that overlaps; which one is named."""

PROGRAMS = {
    "what is refused before memory is looked at": """
        v0 = lib.ones(2, dtype=lib.int64)[:1].expand(2); v1 = lib.ones(1, dtype=lib.bool).expand(2)
        v2 = lib.ones(1, dtype=lib.complex64).expand(2); v3 = lib.ones(2)
        v4 = lib.ones(1).expand(2)
        v0.pow_(-1); v1.pow_(-1); v0.pow_(2)
        v1.relu_(); v2.relu_(); v0.relu_()
        v1.neg_(); v2.abs_(); v2.sign_(); v2.floor_(); v2.ceil_(); v2.trunc_(); v2.round_()
        v0.clamp_(0.5); v1.clamp_(1); v1.clamp_(True); v2.clamp_(0); v4.clamp_(0)
        v0.clamp_min_(0.5); v1.clamp_max_(1); v2.clamp_min_(0)
        v0.addcdiv_(v0, v0); v4.addcdiv_(v0, v0); v4.addcdiv_(v3, v3)
        v0.div_(v0 * 0, rounding_mode="floor"); v1.div_(v1, rounding_mode="trunc")
        v2.div_(v2, rounding_mode="floor")
        lib.maximum(v2, lib.ones(3)); lib.nn.functional.hardtanh(v2, inplace=True)
    """,
    "what is refused after memory was looked at": """
        v0 = lib.ones(1, dtype=lib.bool).expand(2); v1 = lib.ones(1, dtype=lib.int64).expand(2)
        lib.nn.functional.celu(v0, inplace=True); lib.nn.functional.celu(v0, 0, inplace=True)
        lib.nn.functional.elu(v1, inplace=True); v1.lerp_(v1, 0.5); v0.lerp_(v1, 0.5)
        v1.scatter_(0, lib.tensor([0]), 2j); v0.scatter_(0, lib.tensor([0]), 2j)
    """,
    "a reduction of complex numbers into places names the dtypes of both first": """
        v0 = lib.ones(3, dtype=lib.complex64); v1 = lib.zeros(2, dtype=lib.int64)
        v0.scatter_reduce_(0, v1, lib.ones(2), "amax")
        v0.scatter_reduce_(0, lib.zeros(2), v0[:2] * 1, "amin")
        v0.scatter_reduce_(0, v1, v0[:2] * 1, "amin")
    """,
    "lerp by a tensor without dimensions": """
        v0 = lib.ones(2, dtype=lib.bool); v1 = lib.tensor(2); v2 = lib.ones(2); v3 = lib.tensor(0.5)
        v0.lerp_(v0, v1); v0.lerp_(v0, lib.tensor(True)); v0.lerp_(v0, v3)
        v4 = lib.lerp(v0, v0, v1)
        v4 = lib.lerp(v2, v2, v1); v4 = lib.lerp(v2, v2, v3.double()); v2.lerp_(v2, v1)
        lib.lerp(v2, v2, v3, out=lib.zeros(2, dtype=lib.float64))
        lib.lerp(v2, v2, v3, out=lib.zeros(2, dtype=lib.int64))
        lib.lerp(v2, v2, v2, out=lib.zeros(2, dtype=lib.float64))
        lib.lerp(v3, v2, v1, out=v3); v3.lerp_(v2, v1); v2.lerp_(v0, v1)
        v5 = lib.addcmul(v1, lib.ones(2), lib.ones(2), out=v1)
    """,
    "a difference that bools are part of, of shapes that do not fit": """
        v0 = lib.ones(2, dtype=lib.bool); v1 = lib.ones(3); v2 = lib.rsub(v0, v1)
        v2 = lib.rsub(v1, v0); v2 = lib.rsub(lib.ones(2), v1)
    """,
}
