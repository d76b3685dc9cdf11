import torch
from peft import LoraConfig, get_peft_model


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.second(self.first(x).relu())


model = get_peft_model(Network(), LoraConfig(r=2, target_modules=["first"], lora_dropout=0.1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
x = torch.randn(6, 4)
for _ in range(4):
    loss = model(x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
merged = model.merge_and_unload()
print(merged(x))
