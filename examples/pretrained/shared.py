"""What the examples with pretrained weights share: files of packages, and pictures."""

from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

PICTURES = Path(__file__).parents[2] / "build" / "examples"


def inside(package, path):
    """The path of a file of an installed package, which is not imported for it."""
    (folder,) = find_spec(package).submodule_search_locations
    return Path(folder) / path


@contextmanager
def picture(name, rows=1, columns=1, width=10, height=4, **options):
    """The axes of a new picture, which is written to build/examples when the block ends."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    yield figure.subplots(rows, columns, **({"sharex": True} | options))
    PICTURES.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURES / name, dpi=90, bbox_inches="tight")
    print(f"picture: build/examples/{name}")
