"""Calls whose arguments do not fit, and orders of arguments in older scripts."""

PROGRAMS = {
    "numbers before the tensors that they scale, as in older scripts": """
        v0 = lib.ones(2, 2, requires_grad=True); v1 = lib.full((2, 2), 3.0)
        v2 = v0.add(2, v1)
        v2.add_(-0.5, v0)
        v3 = lib.sub(v1, 2, v0)
        v4 = lib.addcmul(v1, 2, v0, v0)
        v5 = v1.addmm(0.5, 2, v0, v1)
        v5 = lib.addmm(0.5, v0, v1, v1)
        v1.addcdiv_(0.5, v0.detach(), v0.detach())
        lib.add(v1, 3, v1, out=v1)
        v1.add_(v1, v1)
        v1.add(1, 'a')
        lib.add(v1)
        (v2 + v3 + v4 + v5).sum().backward()
    """,
    "methods have no out=": """
        v0 = lib.ones(3); v1 = lib.zeros(3)
        v0.add(1, out=v1)
        v0.mul(v0, out=None)
        v0.add(q=1)
        lib.mul(v0, q=1)
    """,
    "too many, too few, misspelt": """
        v0 = lib.ones(2, 3)
        v0.amax(0, True, 3)
        lib.amax(v0, 0, True, 3)
        v0.hardshrink(1, 2, 3)
        v0.mul(1, 2)
        lib.exp()
        lib.exp(v0, v0)
        lib.as_strided(v0)
        v0.cumsum()
        lib.exp(v0, q=1)
        v0.mul(1, q=2)
        v0.sort(descend=True)
        v0.std(unbiased='a', dim=0)
    """,
    "an operand of the wrong type": """
        v0 = lib.ones(2); v1 = v0.int()
        v0.eq('a')
        lib.lt(v0, 'a')
        v0.ge_()
        v1.bitwise_and('a')
        v1.floor_divide(None)
        v0.add('a')
        v0.remainder('a')
    """,
    "a number without dimensions scales, as in older scripts": """
        v0 = lib.ones(2); v1 = lib.tensor(2.0)
        v2 = v0.add(v1, v0)
        v0.addcmul_(v1, v0, v0)
    """,
    "a second name takes all that the first takes": """
        v0 = lib.arange(4.0); v1 = lib.ones(4) * 2; v2 = v1.clone().requires_grad_()
        v3 = v0.clip(v1, v1); v4 = lib.clip(v0, max=v2); v5 = lib.clip(v0, v1, out=lib.zeros(4))
        v4.sum().backward()
        v0.clip_(max=v1)
        lib.clip_(v0, v1)
        v0.clip_(0, 1)
    """,
}
