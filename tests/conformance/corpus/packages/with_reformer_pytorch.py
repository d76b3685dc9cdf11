import torch
from reformer_pytorch import LSHSelfAttention, ReformerLM

attention = LSHSelfAttention(dim=32, heads=4, bucket_size=8, n_hashes=4)
print(attention(torch.randn(2, 32, 32)).mean().item())
model = ReformerLM(num_tokens=40, dim=32, depth=2, max_seq_len=64, heads=2, bucket_size=8,
                   n_hashes=2, ff_chunks=2, causal=True)  # fmt: skip
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
words = torch.randint(40, (2, 64))
for _ in range(3):
    loss = torch.nn.functional.cross_entropy(model(words).transpose(1, 2), words)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
