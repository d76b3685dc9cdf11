"""Adam for sparse gradients."""

from imode import ops

from .optimizer import Optimizer, as_scalar, check_betas, check_lr, with_values

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Adam that updates the rows alone of which a sparse gradient tells, with their averages.

    Raises RuntimeError in `step` for a gradient that is not sparse.

    >>> table = imode.nn.Embedding(3, 1, sparse=True)
    >>> before = table.weight[2].item()
    >>> optimizer = imode.optim.SparseAdam(table.parameters(), lr=0.5)
    >>> table(imode.tensor([0])).sum().backward()
    >>> optimizer.step()
    >>> table.weight[2].item() == before
    True
    """

    _takes_sparse = True

    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        check_lr(lr)
        if not eps > 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        sparse = [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
            if param.is_sparse
        ]
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )

    def _update(self, group):
        lr, eps = as_scalar(group["lr"]), group["eps"]
        beta1, beta2 = group["betas"]
        for param in group["params"]:
            grad = param.grad
            if grad is None:
                continue
            if not grad.is_sparse:
                raise RuntimeError(
                    "SparseAdam does not support dense gradients, please consider Adam instead"
                )
            state = self._state_of(param, _make)
            state["step"] += 1
            grad = (-grad if group["maximize"] else grad).coalesce()
            values = grad._values()
            if not values.numel():
                continue
            average, square = state["exp_avg"], state["exp_avg_sq"]
            old = average.sparse_mask(grad)._values()
            change = (values - old).mul_(1 - beta1)
            average.add_(with_values(grad, change))
            old_square = square.sparse_mask(grad)._values()
            square_change = values.pow(2).sub_(old_square).mul_(1 - beta2)
            square.add_(with_values(grad, square_change))
            numerator = change.add_(old)
            root = square_change.add_(old_square).sqrt_().add_(eps)
            of_first, of_second = 1 - beta1 ** state["step"], 1 - beta2 ** state["step"]
            rate = lr * of_second**0.5 / of_first
            param.add_(with_values(grad, -rate * numerator.div_(root)))


def _make(param):
    return {"step": 0, "exp_avg": ops.zeros_like(param), "exp_avg_sq": ops.zeros_like(param)}
