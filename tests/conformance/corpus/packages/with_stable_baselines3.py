import gymnasium
import torch
from stable_baselines3 import DQN, PPO

cart = gymnasium.make("CartPole-v1")
model = PPO("MlpPolicy", cart, n_steps=64, batch_size=32, n_epochs=2, seed=0, device="cpu")
model.learn(128)
print(sum(p.abs().sum().item() for p in model.policy.parameters()))
model = DQN("MlpPolicy", "CartPole-v1", learning_starts=20, seed=0, device="cpu").learn(60)
print(sum(p.abs().sum().item() for p in model.policy.parameters()), torch.get_num_threads())
