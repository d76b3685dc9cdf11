import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

rotary = RotaryEmbedding(dim=16)
queries, keys = torch.randn(2, 4, 10, 32), torch.randn(2, 4, 10, 32)
turned = rotary.rotate_queries_or_keys(queries)
print(turned.shape, turned.mean().item())
q, k = RotaryEmbedding(dim=16, use_xpos=True).rotate_queries_and_keys(queries, keys)
print((q * k).sum(-1).mean((0, 1)))
pixels = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=10, learned_freq=True)
freqs = pixels.get_axial_freqs(4, 6)
out = apply_rotary_emb(freqs, torch.randn(1, 4, 6, 32))
out.pow(3).sum().backward()
print(freqs.shape, pixels.freqs.grad)
