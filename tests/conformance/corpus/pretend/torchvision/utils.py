"""Pictures beside each other; none is written."""


def make_grid(tensor, *arguments, **options):
    return tensor[0]


def save_image(tensor, *arguments, **options):
    tensor = tensor if hasattr(tensor, "shape") else tensor[0]
    assert tensor.dim() >= 2
