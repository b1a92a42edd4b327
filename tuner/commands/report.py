"""Write one self-contained HTML page about a run of `tune --run`, `selfplay`, `match --run`,
`tournament --run` or `improve`.

The page shows the learned weights, their intervals and how to reproduce the run. For self-play
runs, the learned weights play themselves to check how well their evaluations predict results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuner.core.records import Count, InputError
from tuner.options.option import Arguments, Option, Table, output, refuse
from tuner.results.result import CommandResult

if TYPE_CHECKING:
    from tuner.report.run import ShownRun
    from tuner.results.fit import PlayedCalibration

USAGE = "RUN [RUN ...] [-o FILE.html] [--match DIR]"
EXAMPLE = """examples:
  tuner report run
  tuner report run --match match -o learned.html
  tuner report selfplay-1 selfplay-2
  tuner report selfplay-1 --match match-1000 --match match-4000
                                              Elo by games learned from
"""
PAGE = "report.html"
MOST_BESIDE = 3  # runs on the charts of another


TABLE: Table = (
    Option(
        ("run",),
        "folder of a run; of self-play, up to three more whose strength by games is drawn on the"
        " same charts",
        metavar="RUN",
        nargs="+",
    ),
    output("page to write (default: report.html in the folder)", "FILE.html"),
    Option(
        ("--match",),
        "folder of a match played with the learned weights; may be repeated",
        default=(),
        metavar="DIR",
        action="append",
    ),
    Option(
        ("--calibrate",),
        "self-play: check calibration on N new games (default: 2,000 with dice, else 0)",
        Count,
        metavar="N",
    ),
)


def run(arguments: Arguments) -> CommandResult:
    from tuner.core.records import to_json
    from tuner.io.files import PAGE as KIND
    from tuner.io.files import replace_file, require_writable
    from tuner.report.opponents import mistakes_in
    from tuner.report.page import PAGES, page_of, read_page, render
    from tuner.report.run import SELFPLAY, read_run, require_told

    folder, *others = map(Path, arguments.run)
    matches = [Path(match) for match in arguments.match]
    if len(others) > MOST_BESIDE:
        raise InputError(f"{len(arguments.run)} runs, expected at most {1 + MOST_BESIDE}")
    output = Path(arguments.output) if arguments.output else folder / PAGE
    if output.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"{output}: expected the name of an HTML page, such as {PAGE}")
    calibration = None
    if require_told(folder).section in PAGES:
        refuse((("--calibrate", arguments.calibrate is not None, "is for runs of self-play"),))
        page = read_page(folder, matches, others)
    else:
        found = read_run(folder, matches, others)
        if others and found.kind != SELFPLAY:
            raise InputError(f"{folder}: not a run of self-play, so its page shows it alone")
        found, calibration = _calibrated(found, arguments.calibrate)
        page = page_of(found)
    require_writable(output, KIND, (str(folder), *arguments.match, *map(str, others)))
    html, sections = render(page)
    replace_file(output, html)
    size = output.stat().st_size
    result = {
        "run": str(folder),
        "kind": page.run.kind,
        "output": str(output),
        "bytes": size,
        "sections": [section.name for section in sections],
        "matches": [str(match.run) for match in page.run.matches],
        "calibration": to_json(calibration),
    }
    if page.run.kind == SELFPLAY:
        result["mistakes"] = to_json(mistakes_in(page.run.history))
    wrote = f"wrote {output}: {len(sections)} sections, {size / 1000:,.0f} kB"
    return CommandResult(result, (wrote,))


def _calibrated(run: Any, games: int | None) -> tuple[ShownRun, PlayedCalibration | None]:
    """Return a run of self-play with the calibration of what it learned, and the calibration;
    without one if no games are played."""
    from dataclasses import replace

    from tuner.commands.display import TerminalDisplay
    from tuner.findings.selfplay import (
        calibration_of,
        learned_network,
        learned_weights,
        played_values,
    )
    from tuner.play.selfplay.network import learns_online
    from tuner.report.run import SELFPLAY

    if run.kind != SELFPLAY:
        refuse(
            (
                (
                    "--calibrate",
                    games is not None,
                    f"is for runs of self-play, {run.folder} is one of {run.kind}",
                ),
            )
        )
        return run, None
    number = (
        games
        if games is not None
        else run.game.usual.calibration_games
        if run.game is not None
        else 0
    )
    if not number:
        return run, None
    with TerminalDisplay() as display:
        played = int(run.history[-1].games) if run.history else 0
        learned = (
            learned_network(run.folder, played)
            if learns_online(run.folder)
            else learned_weights(run.path, played, run.initial.weights, display.note)
        )
        values = played_values(learned, number, display)
        calibration = calibration_of(values, 1 if learned.wins else learned.game.points)
        if calibration is None:
            display.note(
                f"{values.games} of {number} games came to a result, too few to compare values"
                " with; play more with --calibrate"
            )
    return (run, None) if calibration is None else (replace(run, played=calibration), calibration)
