"""The same by the package sentence-transformers, which imports torch, and gets imode.

    PYTHONPATH=. .venv/bin/python -m imode examples/pretrained/sentences_as_they_are.py

In a clone, after `make examples`, which runs it, too. Nothing here or in the packages knows of
imode. At the end the meanings are held against those of sentences.py.
"""

import sentences
import torch
from sentence_transformers import SentenceTransformer

model = SentenceTransformer(str(sentences.FOLDER), device="cpu")
meanings = model.encode(sentences.SENTENCES, convert_to_tensor=True)
asked = model.encode(sentences.QUESTIONS, convert_to_tensor=True)
for question, near in zip(sentences.QUESTIONS, model.similarity(asked, meanings)):
    print(question)
    for likeness, at in zip(*(found.tolist() for found in near.topk(2))):
        print(f"  {likeness:.2f}  {sentences.SENTENCES[at]}")
written_out = sentences.embed(sentences.load_network(), sentences.SENTENCES)
apart = (meanings - written_out).abs().max().item()
print(f"largest difference from the network of sentences.py: {apart:.1e}")
assert torch.Tensor is sentences.imode.Tensor and apart < 1e-5
