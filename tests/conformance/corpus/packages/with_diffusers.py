import torch
from diffusers import DDIMScheduler, DDPMScheduler, UNet2DModel

network = UNet2DModel(sample_size=16, in_channels=3, out_channels=3, block_out_channels=(32, 32),
                      layers_per_block=1, down_block_types=("DownBlock2D", "AttnDownBlock2D"),
                      up_block_types=("AttnUpBlock2D", "UpBlock2D"))  # fmt: skip
schedule = DDPMScheduler(num_train_timesteps=50)
clean, noise, times = torch.randn(2, 3, 16, 16), torch.randn(2, 3, 16, 16), torch.tensor([3, 40])
loss = torch.nn.functional.mse_loss(
    network(schedule.add_noise(clean, noise, times), times).sample, noise
)
loss.backward()
print(loss.item(), network.conv_in.weight.grad.norm().item())
sampler, x = DDIMScheduler(num_train_timesteps=50), torch.randn(1, 3, 16, 16)
sampler.set_timesteps(3)
with torch.no_grad():
    for t in sampler.timesteps:
        x = sampler.step(network(x, t).sample, t, x).prev_sample
print(x.norm().item())
