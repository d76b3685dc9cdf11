import torch
from pytorch_metric_learning import distances, losses, miners, reducers

points = torch.randn(24, 8, requires_grad=True)
kinds = torch.arange(24) % 4
miner = miners.MultiSimilarityMiner()
pairs = miner(points, kinds)
for loss in (
    losses.TripletMarginLoss(distance=distances.CosineSimilarity()),
    losses.ContrastiveLoss(reducer=reducers.AvgNonZeroReducer()),
    losses.NTXentLoss(),
    losses.MultiSimilarityLoss(),
    losses.CircleLoss(),
):
    value = loss(points, kinds, pairs)
    (grad,) = torch.autograd.grad(value, points)
    print(type(loss).__name__, value.item(), grad.abs().mean().item())
arc = losses.ArcFaceLoss(num_classes=4, embedding_size=8)
print(arc(points, kinds).item())
