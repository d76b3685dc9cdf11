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
}
