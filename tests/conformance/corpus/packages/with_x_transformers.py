import torch
from x_transformers import Decoder, Encoder, TransformerWrapper

layers = Decoder(dim=32, depth=2, heads=4, rotary_pos_emb=True)
model = TransformerWrapper(num_tokens=40, max_seq_len=32, attn_layers=layers)
words = torch.randint(40, (2, 16))
loss = torch.nn.functional.cross_entropy(model(words).transpose(1, 2), words)
loss.backward()
print(loss.item(), model.token_emb.emb.weight.grad.norm().item())
print(
    Encoder(dim=16, depth=1, heads=2, ff_glu=True, use_rmsnorm=True)(torch.randn(1, 5, 16))
    .norm()
    .item()
)
