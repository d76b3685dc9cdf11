import torch
from transformers import BertConfig, BertForSequenceClassification

config = BertConfig(vocab_size=100, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                    intermediate_size=64, num_labels=3)  # fmt: skip
model = BertForSequenceClassification(config)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
words, labels = torch.randint(100, (8, 12)), torch.randint(3, (8,))
mask = torch.ones(8, 12, dtype=torch.long)
mask[:, 9:] = 0
for _ in range(5):
    loss = model(input_ids=words, attention_mask=mask, labels=labels).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
