"""Render the page: sections through templates into one self-contained HTML file."""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import jinja2
from markupsafe import Markup, escape

from games.record import Wording
from tuner.io.files import is_run
from tuner.options.match import TOURNAMENT_SECTION
from tuner.options.option import refuse
from tuner.report.charts import FILTERS, Chart, outcomes_of, own_names
from tuner.report.improve import IMPROVE, improve_page
from tuner.report.optimize import OPTIMIZE, optimize_page
from tuner.report.run import (
    MATCH,
    ShownLearningRun,
    ShownNetworkRun,
    ShownRun,
    read_run,
    require_told,
)
from tuner.report.sections import (
    Page,
    Section,
    network_match,
    network_sections,
    network_tiles,
    network_verdicts,
    sections_of,
    tiles_of,
)
from tuner.report.tournament import tournament_page
from tuner.report.verdict import (
    match_to_play,
    report_command,
    rounds_verdict,
    trial_verdict,
    verdicts_of,
)
from tuner.version import __version__

TEMPLATES = Path(__file__).parent / "templates"


# pages of runs that learn nothing: each is made from a folder; InputError for damage
PAGES: Mapping[str, Callable[[Path], Page]] = {
    IMPROVE: improve_page,
    OPTIMIZE: optimize_page,
    TOURNAMENT_SECTION: tournament_page,
}


def read_page(folder: Path, matches: Sequence[Path] = (), others: Sequence[Path] = ()) -> Page:
    """Return what is shown of the run in a folder, with `matches` of what it learned, and the
    strength of `others` on its charts."""
    section = require_told(folder).section
    if section not in PAGES:
        return page_of(read_run(folder, matches, others))
    refuse(
        (f"--match {path}", True, f"a page of {section} shows its own games") for path in matches
    )
    refuse((str(path), True, f"the page of {folder} shows it alone") for path in others)
    return PAGES[section](folder)


@functools.singledispatch
def page_of(run: ShownRun) -> Page:
    """Return what is shown of a run that learned, or of a match."""
    verdicts = verdicts_of(run)
    if not verdicts and (inside := rounds_verdict(run) or trial_verdict(run)):
        verdicts = [inside]
    name = run.folder.resolve().name
    if run.kind == MATCH:
        name = " against ".join(run.matches[0].names)
    return Page(run, name, sections_of(run), tiles_of(run), verdicts, match_to_play(run))


@page_of.register(ShownNetworkRun)
def _page_of_network(run: ShownNetworkRun) -> Page:
    return Page(
        run,
        run.folder.resolve().name,
        network_sections(run),
        network_tiles(run),
        network_verdicts(run),
        network_match(run),
    )


def render(page: Page, now: Section | None = None) -> tuple[str, list[Section]]:
    """Return a page as HTML, and its sections that have data. A page with a section `now` asks the
    server that it comes from for what changes."""
    run, sections = page.run, [section for section in page.sections if section is not None]
    words, most, labelled = (
        (run.wording, run.points, run.labelled)
        if isinstance(run, ShownLearningRun)
        else (Wording(), 1, False)
    )
    environment = _environment()
    environment.filters |= outcomes_of(words, most, labelled)
    html = environment.get_template("page.html.j2").render(
        run=run,
        name=page.name,
        sections=sections if now is None else [now, *sections],
        live=now.data["report"] if now is not None else "",
        version=__version__,
        verdicts=page.verdicts,
        tiles=page.tiles,
        command=page.command,
        added=report_command(run, page.command) if page.command else "",
        style=_text("style.css"),
        script=_text("page.js") + (_text("live.js") if now is not None else Markup()),
    )
    return html, sections


def render_inline(folder: str | Path | None, text: str) -> str:
    """Return the page of the run in a folder for a cell of a notebook; a text if no run is
    there."""
    if folder is None or not is_run(Path(folder)):
        return f"<pre>{escape(text)}</pre>"
    page, _ = render(read_page(Path(folder)))
    return f'<iframe srcdoc="{escape(page)}" style="border: 0; width: 100%; height: 40em"></iframe>'


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
