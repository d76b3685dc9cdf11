import torch
from torchmetrics import MeanSquaredError, MetricCollection
from torchmetrics.classification import (
    MulticlassAccuracy,
    MulticlassAUROC,
    MulticlassConfusionMatrix,
    MulticlassF1Score,
)
from torchmetrics.functional import pearson_corrcoef

scores, labels = torch.randn(60, 4).softmax(1), torch.randint(4, (60,))
metrics = MetricCollection(
    [MulticlassAccuracy(4), MulticlassF1Score(4), MulticlassAUROC(4, thresholds=None)]
)
for part in (slice(0, 30), slice(30, 60)):
    metrics.update(scores[part], labels[part])
print({name: round(value.item(), 5) for name, value in metrics.compute().items()})
print(MulticlassConfusionMatrix(4)(scores, labels))
print(MeanSquaredError()(scores[:, 0], scores[:, 1]), pearson_corrcoef(scores[:, 0], scores[:, 1]))
