import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(vocab_size=50, n_positions=64, n_embd=32, n_layer=2, n_head=4,
                    bos_token_id=0, eos_token_id=1, pad_token_id=1)  # fmt: skip
model = GPT2LMHeadModel(config)
words = torch.randint(2, 50, (4, 20))
loss = model(words, labels=words).loss
loss.backward()
print(loss.item(), model.transformer.wte.weight.grad.norm().item())
model.eval()
print(model.generate(words[:1, :5], max_new_tokens=10, do_sample=False).tolist())
print(model.generate(words[:2, :5], max_new_tokens=6, num_beams=3).tolist())
print(model.generate(words[:1, :5], max_new_tokens=10, do_sample=True, top_k=8).tolist())
