"""How far, or how alike, vectors are."""

from .. import functional as F
from ._layer import Layer

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class CosineSimilarity(Layer):
    """The cosine of the angle between vectors along dim.

    >>> imode.nn.CosineSimilarity()(imode.tensor([[1.0, 0.0]]), imode.tensor([[1.0, 1.0]]))
    tensor([0.7071])
    """

    def __init__(self, dim=1, eps=1e-8):
        super().__init__(dim=dim, eps=eps)

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Layer):
    """The p-norm of the difference of vectors, along the last dimension.

    >>> imode.nn.PairwiseDistance(eps=0.0)(imode.tensor([[3.0, 4.0]]), imode.zeros(1, 2))
    tensor([5.])
    """

    def __init__(self, p=2.0, eps=1e-6, keepdim=False):
        super().__init__(norm=p, eps=eps, keepdim=keepdim)

    def forward(self, x1, x2):
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)
