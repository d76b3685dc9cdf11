import torch
from performer_pytorch import Performer, PerformerLM

model = Performer(dim=32, depth=2, heads=4, dim_head=8, causal=False, nb_features=16)
x = torch.randn(2, 20, 32)
print(model(x).mean().item())
language = PerformerLM(num_tokens=50, max_seq_len=32, dim=32, depth=1, heads=2, dim_head=16)
optimizer = torch.optim.AdamW(language.parameters(), lr=1e-3)
words = torch.randint(50, (2, 32))
for _ in range(4):
    loss = torch.nn.functional.cross_entropy(language(words).transpose(1, 2), words)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
