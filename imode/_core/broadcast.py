"""The shape that shapes broadcast to."""


def broadcast_shape(*shapes):
    """The common shape, a tuple; RuntimeError in PyTorch's words where there is none."""
    common = ()
    for shape in shapes:
        nd = max(len(common), len(shape))
        a = (1,) * (nd - len(common)) + common
        b = (1,) * (nd - len(shape)) + tuple(shape)
        for dim in reversed(range(nd)):
            if a[dim] != b[dim] and 1 not in (a[dim], b[dim]):
                raise RuntimeError(
                    f"The size of tensor a ({a[dim]}) must match the size of tensor b ({b[dim]}) "
                    f"at non-singleton dimension {dim}"
                )
        common = tuple(n if m == 1 else m for m, n in zip(a, b, strict=True))
    return common
