import numpy as np
import torch
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier

x, y = make_classification(200, 8, random_state=0)
x, y = x.astype(np.float32), y.astype(np.int64)
network = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
model = NeuralNetClassifier(
    network, criterion=torch.nn.CrossEntropyLoss, max_epochs=5, lr=0.1, verbose=0
)
print(cross_val_score(make_pipeline(StandardScaler(), model), x, y, cv=3))
print(model.fit(x, y).predict_proba(x[:3]), model.history[:, "train_loss"])
