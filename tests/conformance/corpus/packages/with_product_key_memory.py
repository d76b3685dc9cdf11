import torch
from product_key_memory import PKM

memory = PKM(dim=32, heads=2, num_keys=16, topk=4)
x = torch.randn(2, 12, 32)
optimizer = torch.optim.Adam(memory.parameters(), lr=1e-2)
for _ in range(4):
    loss = (memory(x) - x).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
