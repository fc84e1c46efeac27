"""Panels with logarithmic axes as one SVG file on a white ground: no library needed to draw or to show it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 470, 360
"""Of a panel, in pixels."""
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 16, 34, 48
COLOURS = ("#1b6ca8", "#c8501e", "#2e7d32", "#7b3fa0", "#b8860b", "#a3195b", "#555555", "#008b8b")


@dataclass(frozen=True)
class Series:
    """Points (x, y), drawn as marks and, where `line`, joined; `open` marks stand for what is not complete."""

    name: str
    points: Sequence[tuple[float, float]]
    colour: str
    line: bool = True
    marks: bool = True
    dashed: bool = False
    open: Sequence[bool] = ()
    labels: Sequence[str] = ()


@dataclass
class Panel:
    """One diagram; both axes are logarithmic."""

    title: str
    x_name: str
    y_name: str
    series: list[Series] = field(default_factory=list)


def svg(panels: Sequence[Panel], columns: int = 2, note: str = "") -> str:
    """The panels in rows, and a line of text below."""
    rows = -(-len(panels) // columns)
    width, height = columns * WIDTH, rows * HEIGHT + (24 if note else 0)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        'font-family="Helvetica, Arial, sans-serif" font-size="12" fill="#222">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, panel in enumerate(panels):
        x, y = number % columns * WIDTH, number // columns * HEIGHT
        parts.append(f'<g transform="translate({x} {y})">{_panel(panel)}</g>')
    if note:
        parts.append(f'<text x="12" y="{height - 9}" font-size="11" fill="#555">{escape(note)}</text>')
    return "\n".join([*parts, "</svg>", ""])


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (math.log(value) - math.log(self.low)) / (math.log(self.high) - math.log(self.low))
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Powers of ten, or 1, 2 and 5 times these where there would be few."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        for steps in ((1,), (1, 3), (1, 2, 5)):
            found = [s * 10.0**p for p in powers for s in steps]
            found = [value for value in found if self.low * 0.999 <= value <= self.high * 1.001]
            if len(found) >= 4:
                break
        return found


def _axis(values: Sequence[float], start: float, end: float, above: float = 0) -> _Axis:
    """An axis over all values and a factor of 4 at least, with a share of it left free above them."""
    low, high = min(values), max(values)
    widen = max(1, 4 * low / high) ** 0.5
    low, high = low / widen, high * widen
    room = (high / low) ** 0.06
    return _Axis(low / room, high * room * (high / low) ** above, start, end)


def _number(value: float) -> str:
    for size, letter in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def _panel(panel: Panel) -> str:
    right, bottom = WIDTH - _RIGHT, HEIGHT - _BOTTOM
    drawn = [p for s in panel.series for p in s.points]
    out = [f'<text x="{_LEFT}" y="20" font-size="14" font-weight="bold">{escape(panel.title)}</text>']
    if not drawn:
        return out[0] + f'<text x="{_LEFT}" y="60" fill="#777">nothing was measured</text>'
    xs = _axis([x for x, _ in drawn], _LEFT, right)
    ys = _axis([y for _, y in drawn], bottom, _TOP, above=0.07 * len(panel.series))
    for value in xs.ticks():
        x = xs.at(value)
        out.append(f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{_number(value)}</text>')
    for value in ys.ticks():
        y = ys.at(value)
        out.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#e4e4e4"/>')
        out.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{_number(value)}</text>')
    out.append(f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="#444"/>')
    middle = (_LEFT + right) / 2
    out.append(f'<text x="{middle}" y="{HEIGHT - 14}" text-anchor="middle">{escape(panel.x_name)}</text>')
    out.append(
        f'<text transform="translate(15 {(_TOP + bottom) / 2}) rotate(-90)" text-anchor="middle">'
        f"{escape(panel.y_name)}</text>"
    )
    for number, series in enumerate(panel.series):
        out += _series(series, xs, ys)
        y = _TOP + 14 + 16 * number
        dash = ' stroke-dasharray="5 4"' if series.dashed else ""
        if series.line:
            out.append(f'<path d="M{_LEFT + 8} {y - 4}h18" stroke="{series.colour}" stroke-width="2"{dash}/>')
        if series.marks:
            out.append(f'<circle cx="{_LEFT + 17}" cy="{y - 4}" r="3.5" fill="{series.colour}"/>')
        out.append(f'<text x="{_LEFT + 32}" y="{y}" {_HALO}>{escape(series.name)}</text>')
    return "\n".join(out)


_HALO = 'stroke="#fff" stroke-width="3" paint-order="stroke"'


def _series(series: Series, xs: _Axis, ys: _Axis) -> list[str]:
    at = [(xs.at(x), ys.at(y)) for x, y in series.points]
    out = []
    if series.line and len(at) > 1:
        path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in at)
        dash = ' stroke-dasharray="5 4"' if series.dashed else ""
        width = 1.2 if series.dashed else 1.8
        out.append(f'<path d="{path}" fill="none" stroke="{series.colour}" stroke-width="{width}"{dash}/>')
    for number, (x, y) in enumerate(at if series.marks else ()):
        hollow = number < len(series.open) and series.open[number]
        fill = "#fff" if hollow else series.colour
        out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.8" fill="{fill}" stroke="{series.colour}"/>')
        if number < len(series.labels) and series.labels[number]:
            end = x > (xs.start + xs.end) * 0.62
            anchor, dx = ("end", -7) if end else ("start", 7)
            out.append(
                f'<text x="{x + dx:.1f}" y="{y + 4:.1f}" font-size="10" fill="#555" text-anchor="{anchor}" {_HALO}>'
                f"{escape(series.labels[number])}</text>"
            )
    return out
