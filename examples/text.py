"""Train a small GPT-2 on the pages about Python's language that Python brings, and let it write.

    PYTHONPATH=. .venv/bin/python examples/text.py

In a clone, after `make build`. The network is GPT-2's, small: blocks that norm before they attend,
output weights that are the embeddings'; it reads and writes letters. In half a minute it learns
short words and how sentences look. It writes in inference mode, with the keys and values of what it
has read kept.
"""

import math
import textwrap
import time
from pydoc_data.topics import topics

import imode
from imode import nn
from imode.nn import functional as F

LENGTH, WIDTH, HEADS, LAYERS = 64, 96, 4, 3
STEPS, BATCH, RATE = 400, 16, 4e-3
TEXT = " ".join(" ".join(topics[name] for name in sorted(topics)).split())
LETTERS = sorted(set(TEXT))


class Attention(nn.Module):
    """Each place attends to those up to it."""

    def __init__(self):
        super().__init__()
        self.three, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)

    def forward(self, x, kept=None):
        n, length, _ = x.shape
        query, key, value = self.three(x).view(n, length, 3, HEADS, -1).permute(2, 0, 3, 1, 4)
        if kept is not None:
            key, value = imode.cat([kept[0], key], 2), imode.cat([kept[1], value], 2)
        x = F.scaled_dot_product_attention(query, key, value, is_causal=kept is None)
        return self.out(x.transpose(1, 2).reshape(n, length, WIDTH)), (key, value)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.attention = nn.LayerNorm(WIDTH), Attention()
        self.norm2, self.wide = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 4 * WIDTH)
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x, kept=None):
        attended, kept = self.attention(self.norm1(x), kept)
        x = x + attended
        return x + self.narrow(F.gelu(self.wide(self.norm2(x)), approximate="tanh")), kept


class GPT(nn.Module):
    """GPT-2 (Radford et al. 2019), small: what follows each of (N, L) letters, (N, L, letters)."""

    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS), WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks, self.norm = nn.ModuleList(Block() for _ in range(LAYERS)), nn.LayerNorm(WIDTH)
        for name, weight in self.named_parameters():
            if weight.dim() == 2:
                deep = name.endswith(("out.weight", "narrow.weight"))
                nn.init.normal_(weight, std=0.05 / (math.sqrt(2 * LAYERS) if deep else 1))

    def forward(self, letters, kept=None):
        """The scores and what to keep; with `kept`, for one letter after those that it holds."""
        start = 0 if kept is None else kept[0][0].shape[2]
        x = self.letters(letters) + self.places.weight[start : start + letters.shape[1]]
        keep = []
        for block, old in zip(self.blocks, kept or [None] * LAYERS):
            x, new = block(x, old)
            keep.append(new)
        return F.linear(self.norm(x), self.letters.weight), keep


def train(network, text):
    """Fit the network to pieces of the text, taken at random; print the loss as it falls."""
    optimizer = imode.optim.AdamW(network.parameters(), lr=RATE, betas=(0.9, 0.95))
    schedule = imode.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=STEPS)
    place = imode.arange(LENGTH + 1)
    for step in range(STEPS):
        start = imode.randint(len(text) - LENGTH, (BATCH, 1))
        piece = text[start + place]
        scores, _ = network(piece[:, :-1])
        loss = F.cross_entropy(scores.flatten(0, 1), piece[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 50 == 0 or step == STEPS - 1:
            print(f"step {step:4}  loss {loss.item():.3f}")
    return loss.item()


def write(network, start, count):
    """Continue a text by letters drawn with the chances that the network gives them."""
    with imode.inference_mode():
        letters = [LETTERS.index(letter) for letter in start]
        scores, kept = network(imode.tensor([letters]))
        for _ in range(count):
            chances = (scores[0, -1] / 0.7).softmax(0)
            letters.append(imode.multinomial(chances, 1).item())
            if kept[0][0].shape[2] == LENGTH:  # no place is left: read the last half again
                scores, kept = network(imode.tensor([letters[-LENGTH // 2 :]]))
            else:
                scores, kept = network(imode.tensor([letters[-1:]]), kept)
    return "".join(LETTERS[letter] for letter in letters)


def main():
    imode.manual_seed(0)
    text = imode.tensor([LETTERS.index(letter) for letter in TEXT])
    network = GPT()
    count = sum(weight.numel() for weight in network.parameters())
    print(f"{len(text)} letters, {len(LETTERS)} different ones; {count} weights")
    start = time.perf_counter()
    loss = train(network, text)
    trained = time.perf_counter()
    written = write(network.eval(), "The statement", 400)
    each = (time.perf_counter() - trained) / 400
    print(f"trained in {trained - start:.0f} s; each letter written in {each * 1e6:.0f} us\n")
    print(textwrap.fill(written, 88))
    assert loss < 2.2


if __name__ == "__main__":
    main()
