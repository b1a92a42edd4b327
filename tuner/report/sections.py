"""The sections of a page: the data of each for the template that shows it. A section without data
is left out."""

import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import yaml

from games.record import in_points
from tuner.core.estimates import Estimate
from tuner.core.text import duration, plural
from tuner.findings.selfplay import noise_band
from tuner.parameters.diff import reach
from tuner.report import run_charts
from tuner.report.charts import (
    MISSING,
    Chart,
    Series,
    calibration_question,
    capital,
    known,
    line_chart,
    number,
    short,
    shown,
    signed,
    together,
    whole,
)
from tuner.report.opponents import mistakes_data, opponents_data
from tuner.report.run import (
    MATCH,
    NET,
    SELFPLAY,
    TUNE,
    ShownLearningRun,
    ShownNetworkRun,
    ShownRun,
)
from tuner.report.run_charts import column, smoothed, thinned, watched_chart
from tuner.report.verdict import (
    MAX_VERDICTS,
    Verdict,
    difference_text,
    matches_during,
    measured_lines,
    round_text,
    seen_from,
    side_of,
    strength,
    verdict,
)
from tuner.report.weights import (
    CHANCE,
    HELD,
    MIN_DIFFERENCE,
    Significance,
    headline_values,
    list_curves,
    noise_tile,
    points_tile,
    significance_of,
    significance_of_selfplay,
    tables,
    weight_rows,
)
from tuner.results.fit import HELD_OUT, Bin, Calibrations, Change, PlayedCalibration, Result, Sides
from tuner.results.match import MatchResult

WINS_QUESTION = (
    "Predicted probabilities of winning against wins: dots on the diagonal are calibrated."
)


def played_data(run: ShownLearningRun | ShownNetworkRun) -> dict | None:
    """Return the data of the section, None if no games were played for it."""
    played = run.played
    if not played:
        return None
    wins = in_points(run.points) and run.chosen.wins
    question = WINS_QUESTION if wins else calibration_question(run.points)
    return {
        "charts": run_charts.calibration_charts(Sides(after=played.bins)),
        "question": question,
        "held": None,
        "actual": "actual",
        "sides": [("after", played.bins)],
        "note": games_text(played),
        "errors": error_rows(played, run.points, wins),
        "strength": opponents(run),
    }


def games_text(found: PlayedCalibration) -> str:
    """Return a sentence on the games."""
    left = (
        f" {whole(found.broken_off)} more were broken off, without a result."
        if found.broken_off
        else ""
    )
    return (
        f"{plural(found.games, 'game')} of the learned player against itself after the run, and"
        f" {plural(found.positions, 'position')} of them.{left}"
    )


def error_rows(found: PlayedCalibration, points: int, wins: bool) -> list[tuple[str, str]]:
    """Return the errors of the values by name, with 95 % intervals: in points, or, if `wins` were
    learned, in probabilities of winning."""
    unit = "points" if in_points(points) else "points (a win is 1, a draw ½)"
    unit = "probability of winning" if wins else unit
    rows = [
        (f"mean error of the bins, {unit}", _interval(number, found.error)),
        ("the same by chance alone, without any error", number(found.by_chance, 3)),
        ("predicted for the side that a value favors", number(found.favoured, 3)),
        ("won by that side", number(found.won, 3)),
        ("difference", _interval(signed, found.excess)),
    ]
    if squares := found.squares:
        rows += [
            ("mean square error of the start", number(squares.before, 3)),
            ("mean square error of what was learned", number(squares.after, 3)),
            ("its change", _interval(signed, squares.change)),
        ]
    return rows


def _interval(text: Callable[[object, int], str], found: Estimate) -> str:
    """A value with its interval; `text` writes a number."""
    value, low, high = (text(end, 3) or "0" for end in (found.value, found.low, found.high))
    return f"{value} [{low}, {high}]"


def opponents(run: ShownLearningRun | ShownNetworkRun) -> list[tuple[str, str]]:
    """Return the opponents of the learned player with the measured difference, of the last
    measurement of the run and of the matches of the page."""
    lines = [
        (
            line.opponent,
            f"{shown(line.points, 3, '+,')} points a game, {whole(line.games)} games during the"
            " run",
        )
        for _, line in measured_lines(run.history)[-1:]
    ]
    for match in run.matches:
        side = side_of(run, match)
        if side is None:
            continue
        names, difference = seen_from(match, side)
        if text := difference_text(match, difference):
            about = " (luck subtracted)" if match.luck_subtracted else ""
            lines.append((names[1], f"{text}{about}, {plural(match.games, 'game')}"))
    return lines


@dataclass(frozen=True)
class Section:
    """A part of the page: `name` is its anchor, `template` the file that shows `data`."""

    name: str
    title: str
    template: str
    data: dict


@dataclass(frozen=True)
class Tile:
    """A number in large type with its label and a line of detail."""

    label: str
    value: str
    detail: str = ""


@dataclass(frozen=True)
class Page:
    """What is shown of a run: its name, the sections in their order (None: without data), numbers
    and verdicts above them, and the command of the match to play, if none was played."""

    run: ShownRun
    name: str
    sections: Sequence[Section | None]
    tiles: Sequence[Tile] = ()
    verdicts: Sequence[Verdict] = ()
    command: str | None = None


def sections_of(run: ShownRun) -> list[Section | None]:
    """All sections, in the order of the page."""
    matches = [match_section(match, i) for i, match in enumerate(run.matches)]
    sections: list[Section | None]
    if not isinstance(run, ShownLearningRun):
        sections = [replace(matches[0], title="Result"), *matches[1:]]
    else:
        sure = (
            significance_of_selfplay(run.comparison, run.history)
            if run.kind == SELFPLAY
            else significance_of(run.comparison)
        )
        sections = [
            _own_rounds(run),
            _advice(run),
            _values(run, sure),
            _elo(run),
            *matches,
            *(of_opponents(run) if run.kind == SELFPLAY else []),
            _selfplay(run) if run.kind == SELFPLAY else _curves(run),
            _tables(run, sure),
            _lists(run),
            _numbers(run, sure),
            _calibration(run),
            _agreement(run),
            _identifiability(run),
            _draws(run),
            _data(run),
        ]
    return [*sections, repeat_section(run)]


def tiles_of(run: ShownRun) -> list[Tile]:
    """The most important numbers, shown below the verdict."""
    if not isinstance(run, ShownLearningRun):
        return _counts_of(run.matches[0])
    return _played(run) if run.kind == SELFPLAY else _losses(run)


def _losses(run: ShownLearningRun) -> list[Tile]:
    result, results = run.result, run.result.held_out_results
    tiles = []
    if results is not None:
        games = f", {whole(results.games)} {run.games_word}" if results.games is not None else ""
        rounds = result.own_matches or []
        games += f" of round {whole(result.own_rounds)}" if len(rounds) > 1 else ""
        tiles.append(
            Tile(
                f"Held-out loss on {'labels' if run.labelled else 'results'}",
                number(results.after, 4),
                _change_text(results.before, results) + games,
            )
        )
    same = results is not None and (
        result.method == "logistic" or results.after == result.held_out_after
    )
    if result.held_out_after is not None and not (tiles and same):
        method = HELD_OUT.get(result.method or "")
        tiles.append(
            Tile(
                method.title if method else "Held-out loss",
                number(result.held_out_after, 4),
                _change_text(result.held_out_before, run.result.held_out_change),
            )
        )
    if noise := noise_tile(result.noise, run.wording.unit):
        tiles.append(Tile(*noise))
    if points := points_tile(result.points):
        tiles.append(Tile(*points))
    if result.loss_after is not None:
        tiles.append(
            Tile(
                "Training loss",
                number(result.loss_after, 4),
                f"from {number(result.loss_before, 4)}, {result.loss or 'mean per position'}",
            )
        )
    if result.positions is not None:
        held = result.held_out_games
        parts = (
            "" if run.labelled else f"of {plural(result.games, 'game')}",
            f"{whole(held)} {run.games_word} held out" if held else "",
        )
        tiles.append(
            Tile("Training positions", whole(result.positions), "; ".join(filter(None, parts)))
        )
    return tiles


def _change_text(before: float | None, change: Change | None) -> str:
    """The loss before learning, or that of a constant, and its change with the interval."""
    text = f"from {number(before, 4)}"
    if change is not None and change.constant:
        text = f"from a constant, {number(change.before, 4)}"
    if change is not None and math.isfinite((difference := change.difference).value):
        text += f": {signed(difference.value, 4) or '0'}"
        if math.isfinite(difference.half_width):
            text += " " + together(f"[{number(difference.low, 4)}, {number(difference.high, 4)}]")
    return text


def _played(run: ShownLearningRun) -> list[Tile]:
    if not run.history:
        return []
    last = run.history[-1]
    chosen = run.chosen
    limit = f"depth {chosen.depth}" if chosen.depth else f"{whole(chosen.nodes)} nodes a move"
    unfinished = chosen.games is not None and last.games < chosen.games
    requested = f"; {whole(chosen.games)} requested" if unfinished else ""
    how = "as an engine" if run.by_engine else limit + requested
    tiles = [Tile("Games played", whole(last.games), how)]
    if last.cpu_seconds is not None:
        tiles.append(Tile("CPU time", duration(last.cpu_seconds)))
    tiles.append(
        Tile(
            "Method",
            chosen.method or MISSING,
            f"λ {short(chosen.lambda_)}" if chosen.lambda_ is not None else "",
        )
    )
    return tiles + measured_tiles(run)


def measured_tiles(run: ShownRun) -> list[Tile]:
    """Return the strength that was measured last during a run, if any was."""
    return [
        Tile(
            "Points a game",
            shown(last.points, 3, "+,"),
            f"against {last.opponent}, after {whole(learned)} games",
        )
        for learned, last in measured_lines(run.history)[-1:]
    ]


def _counts_of(match: MatchResult) -> list[Tile]:
    score = f"+{match.wins} −{match.losses} ={match.draws}"
    tiles = [
        Tile("Games", whole(match.games), score),
        Tile("Average length", number(match.mean_plies, 0), "plies"),
    ]
    if match.test is not None:
        lower, upper = match.test.bounds
        tiles.append(
            Tile(
                "LLR",
                number(match.llr, 2),
                f"bounds {number(lower, 2)}, {number(upper, 2)}"
                + (f"; {match.decision} accepted" if match.decision else "; not decided"),
            )
        )
    return tiles


def match_section(match: MatchResult, i: int) -> Section:
    title = f"{match.names[0]} against {match.names[1]}"
    return Section(
        f"match-{i + 1}",
        f"Match: {title}",
        "match",
        {"match": match, "charts": run_charts.match_charts(match)},
    )


def _own_rounds(run: ShownLearningRun) -> Section | None:
    rows = [{**vars(match), "text": round_text(match)} for match in run.result.own_matches or []]
    return (
        Section(
            "rounds",
            "Rounds of own games",
            "rounds",
            {"rows": rows, "kept": run.result.own_rounds, "games": run.result.own_games},
        )
        if rows
        else None
    )


def _values(run: ShownLearningRun, sure: Significance) -> Section | None:
    values = headline_values(run.comparison, run.result.ratios)
    return (
        Section(
            "values",
            f"Values: {values['term']}",
            "values",
            {
                **values,
                "charts": run_charts.value_charts(values),
                "errors": run.learned.standard_errors is not None,
                "sentence": sure.sentence,
            },
        )
        if values["rows"]
        else None
    )


def _advice(run: ShownLearningRun) -> Section | None:
    """The notes of the fit."""
    advice = run.result.advice
    return (
        Section("advice", "Notes", "advice", {"advice": [_sentence(text) for text in advice]})
        if advice
        else None
    )


def _sentence(text: str) -> str:
    """Return the text with a capital at the start and a full stop at the end."""
    text = capital(text)
    return text if text.endswith((".", "?", "!")) else text + "."


def _elo(run: ShownLearningRun) -> Section | None:
    shown = strength(run) if run.kind == SELFPLAY else None
    return Section("elo", "Strength", "charts", shown) if shown else None


def of_opponents(run: ShownLearningRun | ShownNetworkRun) -> list[Section | None]:
    """Return the sections on games against others."""
    chosen = run.chosen
    ignored = chosen.blunders == "ignore" and chosen.method in ("td", "td-leaf")
    played = opponents_data(run.history, run.folder)
    mistakes = mistakes_data(run.history, run.game, ignored)
    return [
        Section("opponents", "Against others", "opponents", played) if played else None,
        Section("mistakes", "Mistakes of opponents", "mistakes", mistakes) if mistakes else None,
    ]


def _selfplay(run: ShownLearningRun) -> Section | None:
    if not run.history:
        return None
    start = run.initial.headline()
    noise = noise_band(run.settings, len(run.history))
    return Section(
        "learning",
        "Learning",
        "selfplay",
        {
            "moves": run_charts.moves_charts(run.history, start, noise, run.wording.unit),
            "band": noise is not None,
            "stages": len(run.learned.stages) > 1,
            "health": run_charts.health_charts(run.history),
            "rest": run_charts.watched_charts(run.history, run.wording.unit),
        },
    )


def _curves(run: ShownLearningRun) -> Section | None:
    charts = run_charts.learning_curves(run.history)
    key = [("learned", "objective (loss plus prior) on the training games")]
    if any(known(value) for value in column(run.history, "held_out")):
        key.append(("second", "loss on held-out games"))
    return (
        Section("learning", "Learning", "charts", {"charts": charts, "key": key})
        if charts
        else None
    )


def _tables(run: ShownLearningRun, sure: Significance) -> Section | None:
    found, number = tables(run.comparison, sure)
    return (
        Section(
            "tables",
            "Tables",
            "tables",
            {
                "tables": found,
                "more": number - len(found),
                "unit": run.wording.unit,
                "piece": run.wording.piece,
                "least": MIN_DIFFERENCE,
                "judged": sure.judged,
                "errors": run.learned.standard_errors is not None,
                "sentence": sure.sentence,
                "detail": sure.detail,
            },
        )
        if found
        else None
    )


def _lists(run: ShownLearningRun) -> Section | None:
    charts = list_curves(run.comparison)
    key = [("learned", "learned"), ("initial", "initial")]
    if run.learned.standard_errors is not None:
        key = [
            ("learned", "learned, with 95 % interval"),
            ("initial", "initial"),
            ("ring", "error unknown"),
        ]
    return (
        Section("lists", "Lists", "charts", {"charts": charts, "key": key, "small": True})
        if charts
        else None
    )


def _numbers(run: ShownLearningRun, sure: Significance) -> Section | None:
    lines, number = weight_rows(run.comparison, sure)
    return (
        Section(
            "numbers",
            "Single weights",
            "numbers",
            {
                "rows": lines,
                "number": number,
                "stages": len(run.learned.stages) > 1,
                "judged": sure.judged,
                "errors": any(line["error"] is not None for line in lines),
                "weak": (CHANCE, HELD),
            },
        )
        if lines
        else None
    )


def _calibration(run: ShownLearningRun) -> Section | None:
    """Predicted scores against the results of games."""
    if (played := played_data(run)) is not None:
        return Section("calibration", "Calibration and strength", "played_calibration", played)
    calibration, result = run.findings.calibration, run.result
    if calibration is None or calibration == Calibrations():
        return None
    charts = run_charts.calibration_charts(results := calibration.results or Sides())
    held = (result.held_out_results and result.held_out_results.games) or result.held_out_games
    return Section(
        "calibration",
        "Calibration",
        "calibration",
        {
            "charts": charts,
            "held": held,
            "actual": "actual",
            "question": calibration_question(run.points),
            "sides": sides_of(results) if charts else [],
            "unknown": "Calibration needs the results of the games, which are unknown.",
        },
    )


def _agreement(run: ShownLearningRun) -> Section | None:
    """Predicted scores against the scores of searches."""
    targets = (run.findings.calibration and run.findings.calibration.targets) or Sides()
    charts = run_charts.calibration_charts(targets, "search score")
    held = run.result.held_out_games
    return (
        Section(
            "agreement",
            "Agreement with the search",
            "calibration",
            {
                "charts": charts,
                "held": held,
                "actual": "search",
                "question": "Predicted scores against search scores: points on the diagonal agree.",
                "sides": sides_of(targets),
            },
        )
        if charts
        else None
    )


def sides_of(sides: Sides) -> list[tuple[str, list[Bin]]]:
    """Return the bins of each side that has some, with its name."""
    return [
        (name, bins) for name, bins in (("before", sides.before), ("after", sides.after)) if bins
    ]


def _identifiability(run: ShownLearningRun) -> Section | None:
    identifiability = run.findings.identifiability
    return (
        Section("identifiability", "Identifiability", "identifiability", {"found": identifiability})
        if identifiability
        else None
    )


def _draws(run: ShownLearningRun) -> Section | None:
    draws = run.result.draws
    if not draws:
        return None
    widths = [
        (
            stage,
            value,
            None if (error := draws.errors.get(stage)) is None else reach(run.learned) * error,
        )
        for stage, value in draws.width.items()
    ]
    return Section("draws", "Draws", "draws", {"found": draws, "widths": widths})


def _data(run: ShownLearningRun) -> Section | None:
    summary, listed = run.findings.summary, run.result.data
    results = summary.results
    total = sum(n for n in (results.win, results.draw, results.loss) if n is not None)
    shares = [
        (name, n, n / total)
        for n, name in (
            (results.win, f"won by {run.wording.sides[0]}"),
            (results.draw, "drawn"),
            (results.loss, f"won by {run.wording.sides[1]}"),
        )
        if n is not None and total and (n or not in_points(run.points)) and not run.labelled
    ]
    chart = run_charts.phase_chart(summary.phases, run.learned.staging.downward)
    if not (listed or shares or chart):
        return None
    return Section(
        "data",
        "Data",
        "data",
        {
            "files": listed,
            "shares": shares,
            "total": total,
            "charts": [chart] if chart else [],
        },
    )


def repeat_section(run: ShownRun) -> Section:
    result = run.result if isinstance(run, ShownLearningRun) else Result()
    seed = run.matches[0].settings.seed if run.kind == MATCH else run.chosen.seed
    facts: list[tuple[str, object]] = [("seed", seed if result.seed is None else result.seed)]
    started = run.started if isinstance(run, ShownLearningRun) else ""
    if isinstance(run, ShownLearningRun) and run.kind == TUNE:
        facts += [("start", result.start or started), ("scale", short(run.learned.scale))]
    return options_section(run, facts, started)


def options_section(
    run: ShownRun, facts: Iterable[tuple[str, object]] = (), started: str = ""
) -> Section:
    """Return the command, the options and some facts of a run; `started` is the source of the
    initial values if the folder has none."""
    facts = [("version", run.version), *facts, ("folder", run.folder)]
    options = yaml.safe_dump(run.settings, sort_keys=False, allow_unicode=True).rstrip()
    return Section(
        "repeat",
        "Reproduce this run",
        "repeat",
        {
            "command": run.command,
            "facts": [
                (name, value) for name, value in facts if value not in (None, MISSING, "", Path())
            ],
            "options": options if run.settings else "",
            "started": started,
        },
    )


GAMES = 2000  # of the match to play
# by whether a network learns one roll deep
ERRORS = {
    True: ("squares", "TD errors", "mean square of the changes of v, from −1 to 1"),
    False: ("squares", "Squared errors", "mean of a batch; values v from −1 to 1"),
}
WATCHED = (
    ("plies", "Length of games", "plies, mean of a batch"),
    ("rate", "Learning rate", "at the start of a batch"),
)
KINDS = ("line", "contrast", "initial")  # of lines, by the points of a game


def network_sections(run: ShownNetworkRun) -> list[Section | None]:
    """Return the sections of the page."""
    found, charts, (shares, key) = strength(run), learning_charts(run), points_charts(run)
    played = played_data(run)
    return [
        Section("elo", "Strength", "charts", found) if found else None,
        *(match_section(match, i) for i, match in enumerate(run.matches)),
        *of_opponents(run),
        (
            Section(
                "learning",
                "Learning",
                "charts",
                {
                    "charts": charts,
                    "note": "Thin lines are single batches of games, thick lines rolling means.",
                    "key": [] if run.one_deep else [("line", "drawn"), ("contrast", "unfinished")],
                },
            )
            if charts
            else None
        ),
        (
            Section("calibration", "Calibration and strength", "played_calibration", played)
            if played
            else None
        ),
        (
            Section("games", "Games by points", "charts", {"charts": shares, "key": key})
            if shares
            else None
        ),
        repeat_section(run),
    ]


def learning_charts(run: ShownNetworkRun) -> list[Chart]:
    """Return the charts of TD errors, the length of games, the learning rate and, without dice,
    drawn games."""
    games = thinned(np.array(column(run.history, "games")))
    if len(games) < 2:
        return []
    return [
        watched_chart(games, values, title, unit, False)
        for key, title, unit in (ERRORS[run.one_deep], *WATCHED)
        if np.isfinite(values := column(run.history, key)).all()
    ] + ([] if run.one_deep else run_charts.health_charts(run.history)[:1])


def points_charts(run: ShownNetworkRun) -> tuple[list[Chart], list[tuple[str, str]]]:
    """Return the chart of the shares of games by points, and its key; no chart if all games win the
    same."""
    games = thinned(np.array(column(run.history, "games")))
    shares = {
        points: smoothed(
            [float((line.by_points or {}).get(str(points), np.nan)) for line in run.history]
        )
        for points in range(1, run.game.points + 1)
    }
    shares = {points: share for points, share in shares.items() if np.isfinite(share).all()}
    if len(games) < 2 or len(shares) < 2:
        return [], []
    said = {points: f"won by {plural(points, 'point')}" for points in shares}
    chart = line_chart(
        "Games by points",
        "games",
        "share of games, rolling mean",
        [Series(kind, games, share) for kind, share in zip(KINDS, shares.values(), strict=False)],
        percent=True,
        limits=(0.0, 1.0),
    )
    return [chart], list(zip(KINDS, said.values(), strict=False))


def network_tiles(run: ShownNetworkRun) -> list[Tile]:
    """Return the most important numbers."""
    network = run.file.network
    widths = "-".join(
        str(width) for width in (network.inputs, *(len(layer.biases) for layer in network.layers))
    )
    tiles = [Tile("Network", widths, f"{run.file.encoding}, {plural(network.size, 'weight')}")]
    if run.history:
        last, asked = run.history[-1], run.chosen.games
        unfinished = asked is not None and last.games < asked
        tiles.append(
            Tile(
                "Games played", whole(last.games), f"{whole(asked)} requested" if unfinished else ""
            )
        )
        if last.cpu_seconds is not None:
            tiles.append(
                Tile("CPU time", duration(last.cpu_seconds), "of learning, without measuring")
            )
    tiles.append(
        Tile(
            "Method",
            f"{run.chosen.method or 'TD(λ)'}, λ {short(run.chosen.lambda_)}",
            "" if run.points == 1 else "wins only" if run.chosen.wins else "points",
        )
    )
    return tiles + measured_tiles(run)


def network_verdicts(run: ShownNetworkRun) -> list[Verdict]:
    """Return the verdicts of the last matches named."""
    return [verdict(match, None) for match in reversed(run.matches)][:MAX_VERDICTS]


def network_match(run: ShownNetworkRun) -> str | None:
    """Return the command of a match to play; None if strength was measured already."""
    if run.matches or measured_lines(run.history) or matches_during(run):
        return None
    opponent = next(iter(run.game.contest.players), "random")
    return shlex.join(
        [
            "tuner",
            "match",
            f"{run.folder}/{NET}",
            opponent,
            "--games",
            str(GAMES),
            "--run",
            f"{run.folder}-match",
        ]
    )
