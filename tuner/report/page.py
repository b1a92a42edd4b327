"""Render the page: sections through templates into one self-contained HTML file."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from games.record import Wording
from tuner.report.charts import FILTERS, Chart, outcomes_of, own_names
from tuner.report.run import MATCH, ShownLearningRun, ShownNetworkRun, ShownRun
from tuner.report.sections import (
    Section,
    Tile,
    network_match,
    network_sections,
    network_tiles,
    network_verdicts,
    sections_of,
    tiles_of,
)
from tuner.report.verdict import Verdict, match_to_play, report_command, rounds_verdict, verdicts_of
from tuner.version import __version__

TEMPLATES = Path(__file__).parent / "templates"


def render(run: ShownRun, now: Section | None = None) -> tuple[str, list[Section]]:
    """Return the page of a run as HTML, and its sections; `now` is the one of a page that lives."""
    name = (
        " against ".join(run.matches[0].names) if run.kind == MATCH else run.folder.resolve().name
    )
    sections, tiles, verdicts, command = _parts(run)
    return (
        page_of(
            run,
            name,
            sections,
            now,
            verdicts=verdicts,
            command=command,
            added=report_command(run, command) if command else "",
            tiles=tiles,
        ),
        sections,
    )


class Parts(NamedTuple):
    """What a page of a run is made of: `command` is of the match to play, None if there is none."""

    sections: list[Section]
    tiles: list[Tile]
    verdicts: list[Verdict]
    command: str | None


@functools.singledispatch
def _parts(run: ShownRun) -> Parts:
    verdicts = verdicts_of(run)
    if not verdicts and (rounds := rounds_verdict(run)):
        verdicts = [rounds]
    return Parts(sections_of(run), tiles_of(run), verdicts, match_to_play(run))


@_parts.register(ShownNetworkRun)
def _network_parts(run: ShownNetworkRun) -> Parts:
    return Parts(
        network_sections(run), network_tiles(run), network_verdicts(run), network_match(run)
    )


def page_of(
    run: ShownRun,
    name: str,
    sections: list[Section],
    now: Section | None = None,
    **more: object,
) -> str:
    """Return a page of these sections as HTML; `more` is shown above them. A page with a section
    `now` asks the server that it comes from for what changes."""
    words, most, labelled = (
        (run.wording, run.points, run.labelled)
        if isinstance(run, ShownLearningRun)
        else (Wording(), 1, False)
    )
    environment = _environment()
    environment.filters |= outcomes_of(words, most, labelled)
    return environment.get_template("page.html.j2").render(
        run=run,
        name=name,
        sections=sections if now is None else [now, *sections],
        live=now.data["report"] if now is not None else "",
        version=__version__,
        **more,
        style=_text("style.css"),
        script=_text("page.js") + (_text("live.js") if now is not None else Markup()),
    )


class Fragments:
    """Sections alone as HTML, as they are exchanged on their page; templates are compiled once."""

    def __init__(self) -> None:
        self._environment = _environment()

    def text(self, section: Section) -> str:
        """Return a section; the names in its drawings are unique on the page."""
        self._environment.filters["drawing"] = _Drawings("n")
        return self._environment.get_template("section.html.j2").render(section=section)


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= FILTERS | {"drawing": _Drawings()}
    return environment


def _text(name: str) -> Markup:
    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


class _Drawings:
    """Turn charts and pictures into markup, with ids that are unique on the page."""

    def __init__(self, prefix: str = "c") -> None:
        self._prefix, self._number = prefix, 0

    def __call__(self, drawn: Chart | str) -> Markup:
        if not isinstance(drawn, Chart):
            return Markup(drawn)
        self._number += 1
        return Markup(own_names(drawn.svg, f"{self._prefix}{self._number}"))
