"""How arguments are given: by place and by name."""

PROGRAMS = {
    "input is any place of the tensor that an operator is about": """
        v0 = lib.tensor([1.0, 2.0]); v1 = v0 > 1
        v2 = lib.where(v1, input=v0, other=v0 * 3)
        v3 = lib.where(condition=v1, input=v0, other=5)
        v4 = lib.searchsorted(v0, input=v0)
        v5 = lib.add(input=v0, other=v0)
        v6 = v0.add(input=v0, other=v0)
        v7 = v0.add(v0, input=v0)
    """,
    "count_nonzero has two overloads": """
        v0 = lib.ones(2, 3)
        v1 = v0.count_nonzero(0, 1)
        v1 = v0.count_nonzero(foo=1)
        v1 = lib.count_nonzero(v0, keepdim=True)
        v1 = v0.count_nonzero(dim=0, foo=1)
        v1 = v0.count_nonzero('a')
        v1 = lib.count_nonzero()
        v1 = v0.count_nonzero(dim=0.5)
        v1 = v0.count_nonzero(dim=(0,), keepdim=False)
    """,
    "set_ takes no None": """
        v0 = lib.ones(2)
        v0.set_(None)
        v0.set_(source=None)
        v0.set_(2)
        v0.set_()
    """,
    "kthvalue names the size and the place before the dtype": """
        v0 = lib.ones(0, dtype=lib.complex64); v1 = lib.ones(2, dtype=lib.bool)
        v2 = v0.kthvalue(1)
        v2 = v1.kthvalue(3)
        v2 = v1.kthvalue(1)
    """,
    "isclose fills its result in place": """
        v0 = lib.tensor([1.0, float("nan")])
        v1 = lib.isclose(v0, v0); v2 = lib.isclose(v0, v0, equal_nan=True)
        v3 = lib.isclose(v0, v0, 0, 0)
    """,
}
