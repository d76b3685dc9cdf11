"""Digits and bars, as text and as a PNG: what examples/digits.py draws. Runs nothing by itself."""

import importlib.util

BLOCKS = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
GREY, RED, BLUE = "#8c8c8c", "#c44e52", "#4c72b0"


def in_terminal(images, captions, across=8):
    """Digits of 8 × 8 pixels side by side, two pixels in a letter, with a line under each."""
    width = max(10, *map(len, captions)) + 2
    lines = []
    for first in range(0, len(images), across):
        group = [(image[0] > 5).tolist() for image in images[first : first + across]]
        for y in range(0, 8, 2):
            rows = ("".join(BLOCKS[a, b] for a, b in zip(i[y], i[y + 1])) for i in group)
            lines.append("".join(f"{row:<{width}}" for row in rows))
        lines.append("".join(f"{text:<{width}}" for text in captions[first : first + across]))
        lines.append("")
    return [f"  {line}".rstrip() for line in lines]


def bars(title, unit, values, form="{:.1f}"):
    """A bar for each name, to scale, with its value."""
    most = max(values.values()) or 1
    lines = [f"  {title}"]
    for name, value in values.items():
        bar = "█" * round(36 * value / most)
        lines.append(f"    {name:<16}{bar:<37}{form.format(value)} {unit}".rstrip())
    return [*lines, ""]


def png(path, images, captions, charts):
    """The digits with their captions, and the charts below; False where matplotlib is missing."""
    if importlib.util.find_spec("matplotlib") is None:
        return False
    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(10, 5.6), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=[3, 2])
    for axes, image, caption in zip(above.subplots(2, 8).flat, images, captions):
        axes.imshow(image[0].numpy(), cmap="gray_r")
        axes.set_xlabel(caption, fontsize=9, color=RED if "not" in caption else "black")
        axes.set(xticks=[], yticks=[])
    for axes, (title, unit, values) in zip(below.subplots(1, len(charts)), charts):
        drawn = axes.barh(list(values), list(values.values()), color=[RED, GREY, BLUE])
        axes.bar_label(drawn, fmt="%.3g " + unit, padding=3, fontsize=9)
        axes.set_title(title, fontsize=9)
        axes.set(xlim=(0, 1.6 * max(values.values())), xticks=[])
        axes.invert_yaxis()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    return True
