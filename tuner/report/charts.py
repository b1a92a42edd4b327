"""Draw charts as SVG inside the page: by matplotlib, in the colors of the page's style, small
enough for a phone.

Text stays text, in the font of the page. Colors are variables of the style sheet, which has values
for light and for dark pages. Each chart has a title and a description for screen readers."""

import html
import io
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from markupsafe import Markup, escape

from games.record import Wording
from tuner.core.estimates import Estimate
from tuner.core.text import plural

WIDTH, HEIGHT = 370, 225  # units of the SVG, which are pixels where there is room
SMALL_WIDTH, SMALL_HEIGHT = 290, 190  # of charts in rows of four
# variable of the style sheet: its placeholder while matplotlib draws
COLOURS = {
    "ink": "#010201",
    "muted": "#010202",
    "grid": "#010203",
    "accent": "#010204",
    "contrast": "#010205",
    "paper": "#010206",
}
INCH = 72
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "evaltune",
    "text.parse_math": False,
    "font.size": 12,
    "axes.titlesize": 12.5,
    "font.family": "sans-serif",
    "axes.edgecolor": COLOURS["muted"],
    "axes.labelcolor": COLOURS["muted"],
    "axes.labelsize": 11.5,
    "axes.linewidth": 0.6,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.titleweight": "bold",
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "axes.titlelocation": "left",
    "axes.titlecolor": COLOURS["ink"],
    "grid.color": COLOURS["grid"],
    "grid.linewidth": 0.6,
    "text.color": COLOURS["ink"],
    "xtick.color": COLOURS["muted"],
    "ytick.color": COLOURS["muted"],
    "xtick.labelsize": 11.5,
    "ytick.labelsize": 11.5,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "lines.linewidth": 1.6,
    "axes.unicode_minus": True,
    "axes.formatter.useoffset": False,
    "path.simplify": True,
    "path.simplify_threshold": 0.3,
}
LINES: dict[str, dict[str, Any]] = {  # matplotlib style of each kind of line
    "learned": {"color": COLOURS["accent"], "marker": "o", "markersize": 3},
    "line": {"color": COLOURS["accent"]},
    "contrast": {"color": COLOURS["contrast"]},
    "zero": {"color": COLOURS["muted"], "linestyle": (0, (4, 2.5)), "linewidth": 1.0},
    "initial": {"color": COLOURS["muted"], "linestyle": (0, (4, 2.5)), "linewidth": 1.2},
    "second": {"color": COLOURS["contrast"], "marker": "s", "markersize": 3},
    "unknown": {
        "color": COLOURS["muted"],
        "linestyle": "none",
        "marker": "o",
        "markersize": 4,
        "markerfacecolor": "none",
        "markeredgewidth": 0.8,
    },
    "faint": {"color": COLOURS["muted"], "linewidth": 0.6, "alpha": 0.55},
}

Numbers: TypeAlias = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Series:
    """Points of a line: x and y, with a band from low to high if given; `kind` is a key of
    LINES."""

    kind: str
    x: Numbers
    y: Numbers
    low: Numbers | None = None
    high: Numbers | None = None


@dataclass(frozen=True)
class Chart:
    """An SVG drawing and its title."""

    title: str
    svg: str


def series_of(kind: str, x: Numbers, found: Sequence[Estimate]) -> Series:
    """Return estimates as a line with their intervals, which end at the value where nothing bounds
    them."""
    values = [one.value for one in found]
    low, high = (
        [end if math.isfinite(end) else one.value for one, end in zip(found, ends, strict=True)]
        for ends in ([one.low for one in found], [one.high for one in found])
    )
    return Series(kind, x, values, low, high)


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    series: Sequence[Series],
    *,
    whole: bool = True,
    limits: tuple[float, float] | None = None,
    level: float | None = None,
    percent: bool = False,
    small: bool = False,
) -> Chart:
    """Draw lines over x; `whole`: x are whole numbers; `level`: a horizontal line for comparison;
    `limits`: of y."""

    def draw(axes) -> None:
        from matplotlib.ticker import MaxNLocator, PercentFormatter

        if level is not None:
            axes.axhline(level, color=COLOURS["muted"], linewidth=0.8)
        for one in series:
            if one.low is not None and one.high is not None:
                colour = LINES[one.kind]["color"]
                axes.fill_between(one.x, one.low, one.high, color=colour, alpha=0.18, linewidth=0)
            style = LINES[one.kind]
            axes.plot(one.x, one.y, **(style if len(one.x) <= 40 else style | {"marker": ""}))
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=whole, min_n_ticks=1))
        axes.yaxis.set_major_locator(MaxNLocator(5))
        if percent:
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        if limits:
            axes.set_ylim(*limits)

    known_points = (
        [(x, y) for x, y in zip(one.x, one.y, strict=True) if known(y)] for one in series
    )
    said = [
        f"{y_label}: from {short(points[0][1])} to {short(points[-1][1])},"
        f" {x_label} {short(points[0][0])} to {short(points[-1][0])}."
        for points in known_points
        if points
    ]
    size = (SMALL_HEIGHT, SMALL_WIDTH) if small else (HEIGHT, WIDTH)
    return _chart(title, x_label, y_label, " ".join(said), draw, *size)


def points_chart(
    title: str,
    x_label: str,
    found: Mapping[str, Estimate],
    before: Numbers | None = None,
    level: float | None = None,
) -> Chart:
    """Draw a row for each name: a point with its interval, and a ring for the value before."""
    rows = np.arange(len(found))

    def draw(axes) -> None:
        if level is not None:
            axes.axvline(level, color=COLOURS["muted"], linewidth=0.8)
        if before is not None:
            axes.plot(
                before,
                rows,
                "o",
                markersize=6,
                markerfacecolor="none",
                markeredgecolor=COLOURS["muted"],
                markeredgewidth=1.1,
            )
        low, high = ([getattr(one, end) for one in found.values()] for end in ("low", "high"))
        axes.hlines(rows, low, high, color=COLOURS["accent"], linewidth=1.8)
        values = [one.value for one in found.values()]
        axes.plot(values, rows, "o", markersize=4, color=COLOURS["accent"])
        axes.set_yticks(rows, list(found), color=COLOURS["ink"])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)

    said = "; ".join(
        f"{name} {short(one.value)}"
        + (f" [{short(one.low)}, {short(one.high)}]" if known(one.low) else "")
        for name, one in found.items()
    )
    return _chart(title, x_label, "", f"{said}.", draw, height=max(120, 76 + 27 * len(rows)))


def calibration_chart(
    title: str,
    y_label: str,
    predicted: Numbers,
    actual: Sequence[Estimate],
) -> Chart:
    """Draw predicted against actual scores, with the diagonal of perfect calibration."""

    values, low, high = zip(*((one.value, one.low, one.high) for one in actual), strict=True)

    def draw(axes) -> None:
        axes.plot([0, 1], [0, 1], color=COLOURS["muted"], linewidth=0.8)
        axes.vlines(predicted, low, high, color=COLOURS["accent"], linewidth=1.4)
        axes.plot(predicted, values, "o", markersize=4, color=COLOURS["accent"])
        axes.set_xlim(0, 1)
        axes.set_ylim(0, 1)
        axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])

    pairs = zip(predicted, values, strict=True)
    said = "; ".join(f"predicted {short(x)}, {y_label} {short(y)}" for x, y in pairs)
    return _chart(title, "predicted score, 0 loss to 1 win", y_label, f"{said}.", draw, height=290)


def bar_chart(
    title: str,
    x_label: str,
    y_label: str,
    x: Sequence[float | str],
    y: Sequence[float],
) -> Chart:
    """Draw a bar for each x."""

    def draw(axes) -> None:
        from matplotlib.ticker import MaxNLocator, StrMethodFormatter

        axes.bar(
            range(len(x)) if isinstance(x[0], str) else x,
            y,
            width=0.72,
            color=COLOURS["accent"],
            alpha=0.8,
        )
        if isinstance(x[0], str):
            axes.set_xticks(range(len(x)), x)
        else:
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
        axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.grid(axis="x", visible=False)

    said = "; ".join(f"{each} {count:,}" for each, count in zip(x, y, strict=True))
    return _chart(title, x_label, y_label, f"{x_label}: {said}.", draw)


def _chart(
    title: str,
    x_label: str,
    y_label: str,
    description: str,
    draw: Callable,
    height: int = HEIGHT,
    width: int = WIDTH,
) -> Chart:
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width / INCH, height / INCH), dpi=INCH, layout="constrained")
        axes = figure.add_subplot()
        draw(axes)
        axes.set_xlabel(x_label)
        axes.set_title(title, pad=24 if y_label else 10)
        if y_label:  # above the axis and horizontal, which is easier to read than vertical text
            axes.annotate(
                y_label,
                (0, 1),
                (0, 8),
                "axes fraction",
                "offset points",
                color=COLOURS["muted"],
                fontsize=11.5,
            )
        out = io.StringIO()
        FigureCanvasSVG(figure).print_svg(out)
    return Chart(title, in_page(out.getvalue(), title, description))


def in_page(svg: str, title: str, description: str) -> str:
    """Turn an SVG of matplotlib into a part of the page: no header, colors and font of the page, a
    description."""
    (size,) = re.findall(r'viewBox="([^"]*)"', svg)[:1]
    inner = svg[svg.index(">", svg.index("<svg")) + 1 :]
    for pattern in (
        r"<metadata>.*?</metadata>",
        r"<!--.*?-->",
        r"<defs>\s*<style.*?</style>\s*</defs>",
    ):
        inner = re.sub(pattern, "", inner, flags=re.DOTALL)
    for name, colour in COLOURS.items():
        inner = inner.replace(colour, f"var(--{name})")
    inner = re.sub(r" font-family: [^;\"]*;", "", inner)
    # as older versions write it
    inner = re.sub(r"font: ([^;\"]*?[\d.]+px) [^;\"]*", r"font: \1 var(--font)", inner)
    inner = re.sub(r' transform="rotate\(-0 [^"]*"', "", inner)
    inner = re.sub(r"\s+", " ", inner)
    inner = re.sub(
        r'\b(?:d|x|y|width|height|transform)="[^"]*"',
        lambda found: re.sub(r"(\.\d\d)\d+", r"\1", found[0]),
        inner,
    )
    inner = re.sub(r'<g id="(?:line2d|text|xtick|ytick|patch)_\d+"', "<g", inner)
    inner = re.sub(r"<g ?/>|<g> </g>", "", inner)
    return (
        f'<svg class="chart" viewBox="{size}" role="img"><title>{html.escape(title)}</title>'
        f"<desc>{html.escape(description)}</desc>{inner.strip()}"
    )


def own_names(svg: str, prefix: str) -> str:
    """The same SVG with a prefix to all ids, which must be unique on the page."""
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)


MISSING = "–"
SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def known(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number."""
    return (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and math.isfinite(value)
    )


def number(value: object, digits: int = 1) -> str:
    """A number with this many decimals, groups of thousands and a true minus sign."""
    if not known(value):
        return MISSING
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def shown(found: Estimate, digits: int = 1, style: str = ",") -> str:
    """An estimate with half of its interval, without line breaks."""
    if not math.isfinite(found.value):
        return MISSING
    return together(found.text(digits, style).replace("+/-", "±").replace("-", "−"))


def capital(text: str) -> str:
    """A text with a capital at the start."""
    return text[:1].upper() + text[1:]


def signed(value: object, digits: int = 1) -> str:
    """A number with its sign; empty for zero."""
    if not known(value):
        return MISSING
    text = f"{round(value, digits) + 0.0:+,.{digits}f}"
    return "" if text.strip("+-0.,") == "" else text.replace("-", "−")


def whole(value: object) -> str:
    """A number without decimals."""
    return number(value, 0)


def short(value: object) -> str:
    """A number with four significant digits."""
    if not known(value):
        return MISSING
    mantissa, _, exponent = f"{value:.4g}".replace("-", "−").partition("e")
    if not exponent:
        return mantissa
    power = str(int(exponent.replace("−", "-"))).translate(SUPERSCRIPTS)
    return f"{mantissa} × 10{power}"


def percent(value: object, digits: int = 1) -> str:
    """A share in percent."""
    return number(100 * value, digits) + " %" if known(value) else MISSING


def together(text: str) -> str:
    """The same text without line breaks."""
    return text.replace(" ", "\u00a0")


def coded(text: str) -> Markup:
    """A sentence with command line options as code, so that they do not break at hyphens."""
    return Markup(re.sub(r"--[a-z][a-z-]*", r"<code>\g<0></code>", str(escape(text))))


def calibration_question(most: int) -> str:
    """What a calibration chart shows, of a game that is won by up to `most` points."""
    if most == 1:
        return "Predicted scores against results of games: points on the diagonal are calibrated."
    return (
        f"Predicted against actual outcomes, from 0, the loss of {most} points, to 1, the win of"
        f" {most}: dots on the diagonal are calibrated."
    )


def outcomes_of(
    words: Wording, most: int, labelled: bool = False
) -> dict[str, Callable[[object], str]]:
    """Return filters of a game that is won by up to `most` points: `outcome`, a result in words,
    `expected`, a predicted score from 0 to 1, and `foreseen`, the same with whom it is for."""

    def outcome(value: object) -> str:
        if not known(value):
            return MISSING
        points = most * float(value)
        if most == 1 or not points and not labelled:
            return words.won(points)
        if labelled or abs(points - round(points)) > 1e-3:
            return f"labeled {points:+.2f} points for {words.sides[0]}"
        return f"{words.won(points)} {plural(round(abs(points)), 'point')}"

    def expected(value: object) -> str:
        if not known(value) or most == 1:
            return percent(value, 0)
        return f"{most * (2 * float(value) - 1):+.2f} points"

    def foreseen(value: object) -> str:
        return (
            f"{expected(value)} expected for {words.sides[0]}"
            if known(value)
            else f"{MISSING} expected"
        )

    return {"outcome": outcome, "expected": expected, "foreseen": foreseen}


FILTERS = {
    "number": number,
    "signed": signed,
    "whole": whole,
    "short": short,
    "percent": percent,
    "plural": plural,
    "coded": coded,
}
