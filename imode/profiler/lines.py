"""A picture of the time by line of the program: bars, as an SVG.

Colours are the reader's own: it is drawn in two sets of them, for light and for dark pages.
"""

import linecache
import os
from html import escape

from .table import time_text

_MOST = 40  # lines of the program, the slowest; the rest are one bar
_NAMED = 5  # operators of a bar, the slowest; the rest are one part
_LEFT, _BAR, _RIGHT, _ROW, _TOP = 470, 400, 90, 24, 56

# Distinguished by lightness too, on white and on black; the last is of all others together.
_STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2328; }
.title { font-size: 14px; font-weight: bold; } .dim { fill: #59636e; } .on { fill: #ffffff; }
.page { fill: #ffffff; } .track { fill: #eef1f4; }
.p0 { fill: #0b5394; } .p1 { fill: #c76a00; } .p2 { fill: #2e7d4f; } .p3 { fill: #8a4fb0; }
.p4 { fill: #b3405f; } .p5 { fill: #8b949e; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .dim { fill: #9198a1; } .on { fill: #0d1117; }
  .page { fill: #0d1117; } .track { fill: #21262d; }
  .p0 { fill: #58a6ff; } .p1 { fill: #f0a04b; } .p2 { fill: #56d387; } .p3 { fill: #c297ff; }
  .p4 { fill: #ff8fab; } .p5 { fill: #6e7681; }
}
"""


def write(events, path):
    """Write the picture: for each line, its own time, by operator."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(drawn(events))


def drawn(events):
    """Return the picture's text."""
    rows = []
    for (file, number), averages in events.by_line().items():
        time = averages.self_cpu_time_total
        code = linecache.getline(file, number).strip()
        parts = sorted(averages, key=lambda part: part.self_cpu_time_total, reverse=True)
        rows.append((time, f"{os.path.basename(file)}:{number}", code, parts))
    rows.sort(key=lambda row: row[0], reverse=True)
    most = rows[0][0] if rows else 1.0
    total = sum(row[0] for row in rows)
    shown = rows[:_MOST]
    height = _TOP + _ROW * (len(shown) + (len(rows) > _MOST)) + 16
    width = _LEFT + _BAR + _RIGHT
    picture = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}" role="img">',
        f"<style>{_STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        f'<text class="title" x="12" y="24">Time by line: {time_text(total)} in all</text>',
        '<text class="dim" x="12" y="42">each line with its operators, the slowest first; '
        "point at a bar to read which</text>",
    ]
    for i, (time, place, code, parts) in enumerate(shown):
        picture += _row(_TOP + _ROW * i, time, place, code, parts, most or 1.0)
    if len(rows) > _MOST:
        rest = sum(row[0] for row in rows[_MOST:])
        y = _TOP + _ROW * _MOST + 15
        text = f"{len(rows) - _MOST} more lines: {time_text(rest)}"
        picture.append(f'<text class="dim" x="12" y="{y}">{text}</text>')
    return "\n".join([*picture, "</svg>", ""])


def _row(top, time, place, code, parts, most):
    place, code = _cut(place, 24), _cut(code, 36)
    yield f'<text x="12" y="{top + 15}">{escape(place)}</text>'
    yield f'<text class="dim" x="196" y="{top + 15}">{escape(code)}</text>'
    yield f'<rect class="track" x="{_LEFT}" y="{top + 3}" width="{_BAR}" height="17"/>'
    left, named = float(_LEFT), parts[:_NAMED]
    pieces = [(part.key, part.count, part.self_cpu_time_total) for part in named]
    if len(parts) > _NAMED:
        others = parts[_NAMED:]
        times = sum(part.self_cpu_time_total for part in others)
        pieces.append(("others", sum(part.count for part in others), times))
    for i, (name, count, own) in enumerate(pieces):
        width = max(0.0, own) * _BAR / most
        label = escape(f"{name}: {time_text(own)}, {count} calls")
        kind = _NAMED if name == "others" else i
        yield (
            f'<rect class="p{kind}" x="{left:.2f}" y="{top + 3}" width="{width:.2f}" height="17">'
            f"<title>{label}</title></rect>"
        )
        if width > 8 * len(name):
            yield (
                f'<text class="on" x="{left + 4:.2f}" y="{top + 15}" pointer-events="none">'
                f"{escape(name)}</text>"
            )
        left += width
    yield f'<text x="{_LEFT + _BAR + 8}" y="{top + 15}">{time_text(time)}</text>'


def _cut(text, most):
    return text if len(text) <= most else f"{text[: most - 1]}…"
