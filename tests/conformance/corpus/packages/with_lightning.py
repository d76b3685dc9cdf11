import logging

import pytorch_lightning as lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)


class Line(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)

    def training_step(self, batch, number):
        x, y = batch
        return nn.functional.mse_loss(self.layer(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.05)


x = torch.randn(64, 3)
data = DataLoader(TensorDataset(x, x @ torch.tensor([[1.0], [2.0], [3.0]])), batch_size=16)
model = Line()
quiet = ("logger", "enable_progress_bar", "enable_checkpointing", "enable_model_summary")
trainer = lightning.Trainer(max_epochs=5, accelerator="cpu", **dict.fromkeys(quiet, False))
trainer.fit(model, data)
print(model.layer.weight, model.layer.bias)
