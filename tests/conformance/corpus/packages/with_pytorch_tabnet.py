import numpy as np
from pytorch_tabnet.tab_model import TabNetClassifier

generator = np.random.RandomState(0)
x = generator.randn(200, 5).astype(np.float32)
y = (x[:, 0] + x[:, 1] > 0).astype(int)
model = TabNetClassifier(n_d=4, n_a=4, n_steps=2, seed=0, verbose=0)
model.fit(x[:150], y[:150], eval_set=[(x[150:], y[150:])], eval_metric=["accuracy"], max_epochs=4,
          batch_size=50, virtual_batch_size=25)  # fmt: skip
print(model.predict_proba(x[:5]))
print(model.feature_importances_)
