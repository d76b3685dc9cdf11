import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(vocab_size=50, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                     num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
                     bos_token_id=0, eos_token_id=1, pad_token_id=1)  # fmt: skip
model = LlamaForCausalLM(config)
words = torch.randint(2, 50, (4, 20))
loss = model(words, labels=words).loss
loss.backward()
print(loss.item(), model.lm_head.weight.grad.norm().item())
print(model.eval().generate(words[:1, :5], max_new_tokens=10, do_sample=False).tolist())
