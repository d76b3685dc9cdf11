"""Which of equal elements is picked, by topk and kthvalue: it shows in indices and gradients."""

_TIES = "lib.tensor([[i * i * 7 % 23 % 5 * 1.0 for i in range(n)] for n in ({n}, {n})])"

PROGRAMS = {
    "the least of equals, by a heap and by parts": f"""
        v0 = {_TIES.format(n=200)}; T = lambda t, *how: t.topk(*how).indices
        v1 = T(v0, 1); v2 = T(v0, 3); v3 = T(v0, 4); v4 = T(v0, 199); v5 = T(v0, 200)
        v6 = T(v0, 1, 1, False); v7 = T(v0, 60, 1, False); v8 = T(v0, 60, -1, True, False)
        v9 = T(v0.t(), 5, 0); v10 = T(v0.int(), 5); v11 = T(v0.half(), 5); v12 = T(v0.double(), 5)
    """,
    "elements that are all alike": """
        T = lambda t, *how: t.topk(*how).indices; K = lambda t, k: t.kthvalue(k).indices
        v0 = lib.zeros(70); v1 = T(v0, 1); v2 = T(v0, 2); v3 = T(v0, 40)
        v4 = K(v0, 1); v5 = K(v0, 33); v6 = K(v0, 70)
        v7 = T(lib.zeros(0, 3), 2); v8 = T(lib.zeros(3, 0), 0); v9 = T(lib.zeros(3), 0)
    """,
    "parts that do not halve are left to a heap": """
        T = lambda t, *how: t.topk(*how).indices; K = lambda t, k: t.kthvalue(k).indices
        v0 = lib.arange(1, 201)
        v1 = lib.cat([v0[:1] - 1, v0 + (1 - v0 % 2) * 199, 2 * v0])
        v2 = v1 // 2; v3 = T(v1, 300, 0, False); v4 = T(v2, 300, 0, False)
        v5 = T(v2, 100, 0, False); v6 = T(v2, 401, 0, False); v7 = T(-v2, 300)
        v8 = K(v2, 200); v9 = K(v2, 399)
    """,
    "NaN is the largest, zeros are equal": """
        T = lambda t, *how: t.topk(*how).indices; K = lambda t, k: t.kthvalue(k).indices
        v0 = lib.tensor([0.0, -0.0, float('nan'), 1.0, float('nan'), float('inf'), -0.0, 0.0] * 3)
        v1 = T(v0, 7); v2 = T(v0, 9, 0, False); v3 = K(v0, 5); v4 = K(v0, 22)
        v5 = T(v0.double(), 7); v6 = K(v0.double(), 22); v7 = T(v0.half(), 20)
    """,
    "the gradient goes to the element that was picked": f"""
        v0 = {_TIES.format(n=21)}.requires_grad_()
        v0.topk(4).values.sum().backward()
        v0.kthvalue(7).values.sum().backward()
        v0.kthvalue(2, 0, True).values.sum().backward()
    """,
    "indices that are out of bounds where there is nothing to pick or to write": """
        v0 = lib.ones(0, 3); v1 = lib.ones(3, 0); v2 = lib.tensor([7]); v3 = lib.tensor([-1, 2])
        v0.index_select(1, v2); v1.index_select(0, v3); v0.index_select(0, v2)
        v4 = v0.index_select(1, lib.tensor([2])); lib.index_select(v0, 1, v2, out=lib.empty(0))
        v0.index_fill_(1, v2, 1); v1.index_fill_(0, v3, 2); v5 = v1.index_fill(0, v2, 1)
        v0.index_copy_(1, v2, lib.ones(0, 1)); v6 = v1.index_copy(0, v3, lib.ones(2, 0))
        v7 = v0[:, :0].index_fill(1, v2, 1)
    """,
}
