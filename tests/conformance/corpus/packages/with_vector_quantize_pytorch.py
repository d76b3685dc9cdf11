import torch
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

x = torch.randn(2, 24, 16)
for quantize in (
    VectorQuantize(dim=16, codebook_size=32, decay=0.8, commitment_weight=1.0),
    VectorQuantize(dim=16, codebook_size=32, kmeans_init=True, use_cosine_sim=True),
    ResidualVQ(dim=16, num_quantizers=3, codebook_size=16),
):
    quantized, indices, loss = quantize(x)
    print(quantized.shape, indices.float().mean().item(), loss.sum().item())
quantized, indices = FSQ([5, 4, 3], dim=16)(x)
print(quantized.mean().item(), indices[0, :5])
print(LFQ(codebook_size=64, dim=16)(x).indices[0, :5])
