"""The strength of the learned player: measurements and matches, verdicts on them, and the match to
play if there is none."""

from __future__ import annotations

import functools
import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from games.streams import InputError
from tuner.core.estimates import NORMAL, Estimate
from tuner.evaluation.networks.files import weights_path
from tuner.options.match import DEFAULT_DEPTH
from tuner.parameters.reader import game_of, read_parameters
from tuner.report import run_charts
from tuner.report.charts import (
    Chart,
    Series,
    capital,
    line_chart,
    number,
    series_of,
    shown,
    signed,
    together,
    whole,
)
from tuner.report.run import (
    NET,
    ShownLearningRun,
    ShownNetworkRun,
    ShownRun,
    copies_of,
    games_learned,
)
from tuner.results.fit import RoundMatch
from tuner.results.match import MatchResult
from tuner.results.selfplay import Batch, MeasuredGames, MeasuredMatch
from tuner.statistics.sprt import Sprt


def strength(run: ShownRun) -> dict | None:
    """Return the charts of a section with a note; None if nothing was measured twice."""
    charts, notes = [], []
    for chart, note in (_measured(run.history), *_won(run), _matches(run)):
        if chart is not None:
            charts.append(chart)
            notes.append(note)
    key = list(zip(KINDS, [each.folder.name for each in (run, *run.beside)], strict=False))
    found = {"charts": charts, "note": " ".join(notes), "key": key if run.beside else []}
    return found if charts else None


def measured_lines(history: Sequence[object]) -> list[tuple[float, MeasuredGames]]:
    """Return what was measured during a run, against the opponent of the last time, each with the
    number of games before."""
    lines = [
        (line.games, line.measured)
        for line in history
        if isinstance(line, Batch) and line.measured is not None
    ]
    return [(games, line) for games, line in lines if line.opponent == lines[-1][1].opponent]


def _measured(history: Sequence[Batch]) -> tuple[Chart | None, str]:
    """Return the chart of the measurements during the run, and what it shows."""
    lines = measured_lines(history)
    if len(lines) < 2:
        return None, ""
    opponent, numbers = lines[-1][1].opponent, {line.games for _, line in lines}
    chart = line_chart(
        f"Points a game against {opponent}",
        "games learned from",
        "points a game, with 95 % interval",
        [
            series_of(
                "learned",
                [learned for learned, _ in lines],
                [line.points for _, line in lines],
            )
        ],
        level=0.0,
    )
    games = (
        whole(numbers.pop())
        if len(numbers) == 1
        else f"{whole(min(numbers))} to {whole(max(numbers))}"
    )
    return (
        chart,
        (
            f"Points a game against {opponent}, measured during the run, one roll deep: {games}"
            " games each time, in pairs with the same dice, which are the same each time and differ"
            " from the training games."
        ),
    )


KINDS = ("learned", "contrast", "initial", "line")  # of lines
STYLES = (("initial", "dashed"), ("contrast", "plain"), ("learned", "with points"))


def _won(run: ShownRun) -> Iterator[tuple[Chart | None, str]]:
    """Yield charts of the matches during the run, and what they show: the share won over the games
    of training, also of further runs, and the share won within some plies."""
    for opponent in dict.fromkeys(match.opponent for _, match in matches_during(run)):
        lines = [
            (
                each.folder.name,
                [
                    (games, match)
                    for games, match in matches_during(each)
                    if match.opponent == opponent
                ],
            )
            for each in (run, *run.beside)
        ]
        if len(lines[0][1]) > 1:
            yield _won_by_games(opponent, [line for line in lines if line[1]])
            yield _won_by_ply(opponent, lines[0][1])


def matches_during(run: ShownRun) -> list[tuple[float, MeasuredMatch]]:
    """Return the matches that were played during a run, each with the number of games before."""
    return [
        (line.games, match)
        for line in run.history
        if isinstance(line, Batch)
        for match in line.matches or ()
    ]


def _won_by_games(
    opponent: str, runs: list[tuple[str, list[tuple[float, MeasuredMatch]]]]
) -> tuple[Chart, str]:
    series = []
    for kind, (_, won) in zip(KINDS, runs, strict=False):
        low, high = zip(*(match.interval for _, match in won), strict=True)
        shares = [match.wins / match.games for _, match in won]
        games = [games for games, _ in won]
        series.append(Series(kind, games, shares, low, high))
    chart = line_chart(
        f"Games won against {opponent}",
        "games learned from",
        "share won, with 95 % interval",
        series,
        percent=True,
    )
    number = whole(runs[0][1][-1][1].games)
    lines = ", ".join(name for name, _ in runs) if len(runs) > 1 else "the run"
    return chart, (
        f"Games won against {opponent}, measured during {lines}: {number} games each time, in pairs"
        " from the same openings; intervals are Wilson's."
    )


def _won_by_ply(opponent: str, found: list[tuple[float, MeasuredMatch]]) -> tuple[Chart, str]:
    chosen = [found[0], found[(len(found) - 1) // 2], found[-1]][-min(len(found), 3) :]
    series = []
    for (kind, _), (_, match) in zip(STYLES, chosen, strict=False):
        shares = [(i + 1) / match.games for i in range(len(match.plies))]
        series.append(Series(kind, match.plies, shares))
    chart = line_chart(
        f"Games won against {opponent}, by ply",
        "plies",
        "share won until then",
        [line for line in series if len(line.x)],
        percent=True,
    )
    after = ", ".join(
        f"{whole(games)} ({style})" for (_, style), (games, _) in zip(STYLES, chosen, strict=False)
    )
    return chart, f"By ply: after {after} games of training."


def _matches(run: ShownRun) -> tuple[Chart | None, str]:
    """Return the chart of matches with weights after some games, and what it shows."""
    points = [
        (games, match) for match in run.matches if (games := games_learned(match)[0]) is not None
    ]
    chart = run_charts.strength_curve(points)
    return chart, (
        f"{capital(points[0][1].unit)} of the first player of each match, over the games that its"
        " weights were learned from."
        if chart is not None
        else ""
    )


BETTER, WORSE, OPEN = "better", "worse", "not decided"
MOST_GAMES = 100_000  # larger estimates are not stated as a number
# pairs with one winner: the chance that one of two equal players wins all of them is below 5 % (2 /
# 2^6)
ALIKE = 6
MAX_VERDICTS = 3  # matches at the top of a page: the last ones named
GAMES = 400  # of a match: its interval is about +/- 30 Elo


@dataclass(frozen=True)
class Verdict:
    """`kind` is "better", "worse" or "not decided" for the first of `names`, which is the learned
    player if it played."""

    kind: str
    names: tuple[str, str]
    sentence: str
    detail: str
    more: str = ""


def verdicts_of(run: ShownRun) -> list[Verdict]:
    """The verdict of a run that is a match, else the verdicts of the last matches named, first
    those that its weights played."""
    if not isinstance(run, ShownLearningRun):
        return [verdict(run.matches[0], None)]
    sides = [(match, side_of(run, match)) for match in reversed(run.matches)]
    sides.sort(key=lambda pair: pair[1] is None)
    return [
        verdict(match, side) if side is not None else _of_others(verdict(match, None))
        for match, side in sides[:MAX_VERDICTS]
    ]


def _of_others(found: Verdict) -> Verdict:
    return replace(found, detail=f"{found.detail}; neither player has the weights of this run")


def seen_from(match: MatchResult, side: int | None) -> tuple[tuple[str, str], Estimate]:
    """Return the names, and the difference, from one player's view."""
    (a, b), difference = match.names, match.difference
    return ((b, a), difference.turned) if side == 1 else ((a, b), difference)


def difference_text(match: MatchResult, found: Estimate) -> str:
    """Return the difference of a match from one player's view as text: half the interval after the
    value, as the command prints it, and both ends if the half width gives a different answer on 0.
    Of two ends one may be infinite, and if both are missing they are not known."""
    if not math.isfinite(found.value):
        return ""
    middle, least, most = (
        signed(end, match.digits) or "0" if math.isfinite(end) else ""
        for end in (found.value, found.low, found.high)
    )
    text, ends = f"{middle} {match.unit}", together(f"[{least or '−∞'}, {most or '∞'}]")
    if not (least and most):
        return f"{text} {ends}" if least or most else text
    text = f"{shown(found, match.digits, '+,')} {match.unit}"
    agree = (abs(found.value) > found.half_width) == (found.low > 0 or found.high < 0)
    return text if agree else f"{text} {ends}"


def verdict(match: MatchResult, side: int | None) -> Verdict:
    """Decide which player is better: by the test of the match if it has one, else by the 95 %
    interval."""
    names, difference = seen_from(match, side)
    pairs = _pairs(match, side)
    detail = f"{whole(match.games)} games, {match.settings.conditions}, {match.openings}"
    if match.games:
        luck = "luck subtracted" if match.luck_subtracted else ""
        detail = "; ".join(filter(None, (difference_text(match, difference), luck, detail)))
    if not sum(pairs):
        return Verdict(OPEN, names, "Not decided: no pair of games has ended yet", detail)
    if match.test is not None:
        return _by_test(match, match.test, side, names, detail)
    kind = _by_interval(difference, pairs)
    if kind != OPEN:
        return Verdict(kind, names, f"{names[0]} is {kind} than {names[1]}", detail)
    return Verdict(
        OPEN,
        names,
        f"Not decided whether {names[0]} is better than {names[1]}",
        detail,
        more_games(match),
    )


def _pairs(match: MatchResult, side: int | None) -> tuple[int, ...]:
    """Return the counts of pairs by result, from one player's view."""
    return match.counts.pairs[:: -1 if side == 1 else 1]


def _by_interval(found: Estimate, pairs: tuple[int, ...]) -> str:
    if math.isfinite(found.low) and found.low > 0:
        return BETTER
    if math.isfinite(found.high) and found.high < 0:
        return WORSE
    unknown = not math.isfinite(found.low) and not math.isfinite(found.high)
    if sum(pairs) >= ALIKE and unknown:  # pairs without variance have no interval
        even = len(pairs) // 2
        if sum(pairs[even + 1 :]) == sum(pairs):
            return BETTER
        if sum(pairs[:even]) == sum(pairs):
            return WORSE
    return OPEN


def _by_test(
    match: MatchResult, test: Sprt, side: int | None, names: tuple[str, str], detail: str
) -> Verdict:
    """The verdict of a sequential test, whose hypotheses are about the player named first."""
    lower, upper = test.bounds
    low, high = (signed(end, match.digits + 1) or "0" for end in (test.elo0, test.elo1))
    low, high = (end.rstrip("0").removesuffix(".") if "." in end else end for end in (low, high))
    normalized = test.model == "normalized" and not match.in_points
    unit = f"normalized {match.unit}" if normalized else match.unit
    if match.decision is None:
        return Verdict(
            OPEN,
            names,
            f"Not decided whether {names[0]} is better than {names[1]}",
            detail,
            f"The test of {low} against {high} {unit} is at LLR {number(match.llr, 2)}, between the"
            f" bounds {number(lower, 2)} and {number(upper, 2)}; continue with: tuner match"
            f" --resume {shlex.quote(str(match.run))}",
        )
    first, second = match.names
    said = (
        f"The test accepted {match.decision}: {high if match.decision == 'H1' else low} rather than"
        f" {low if match.decision == 'H1' else high} {unit} for {first}"
    )
    sign = 0
    if match.decision == "H1" and test.elo0 >= 0:
        sign = 1
    elif match.decision == "H0" and test.elo1 <= 0:
        sign = -1
    if side == 1:
        sign = -sign
    if sign:
        kind = BETTER if sign > 0 else WORSE
        return Verdict(kind, names, f"{names[0]} is {kind} than {names[1]}", detail, said + ".")
    edge = (
        f"better than {second} by {high} {unit}"
        if match.decision == "H0"
        else f"worse than {second} by {low.lstrip('−')} {unit}"
    )
    by_interval = _by_interval(seen_from(match, side)[1], _pairs(match, side))
    return Verdict(by_interval, names, f"{first} is not {edge}", detail, said + ".")


def more_games(match: MatchResult) -> str:
    """Return how many more games would exclude 0 from the interval, at the same result and variance
    of pairs; an empty text if these do not tell."""
    pairs, summary, difference = sum(match.counts.pairs), match.summary, match.difference
    surplus, variance = summary.score - 0.5, summary.variance
    if match.in_points:
        surplus, variance = difference.value, difference.standard_error**2 * pairs
    if not (math.isfinite(surplus) and math.isfinite(variance) and surplus and variance):
        return ""
    games = 2 * (math.floor(NORMAL**2 * variance / surplus**2) + 1 - pairs)
    more = f"More than {whole(MOST_GAMES)}"
    if games <= MOST_GAMES:
        more = f"About {whole(rounded_up(max(games, 2)))}"
    return (
        f"{more} more games would give an interval that excludes 0 {match.unit}, if the"
        " measured difference stays the same."
    )


def rounded_up(games: int) -> int:
    """Round up to two significant digits, and to an even number."""
    unit = max(2, 10 ** (len(str(games)) - 2))
    return -(-games // unit) * unit


@functools.singledispatch
def side_of(run: Any, match: MatchResult) -> int | None:
    """Which player of a match, 0 or 1, has the weights of this run; None if neither is known to."""
    for side, path in enumerate(copies_of(match)):
        try:
            if path is None or game_of(path) != run.learned.game:
                continue
            learned = run.learned
            other = read_parameters(
                path, None if learned.of_rows else learned.layout, learned.game, add_missing=True
            )
        except InputError:  # has terms that this run lacks
            continue
        if other.weights.shape == run.learned.weights.shape and np.allclose(
            other.weights, run.learned.weights, atol=0.006
        ):
            return side
    return None


@side_of.register(ShownNetworkRun)
def _side_of_network(run: ShownNetworkRun, match: MatchResult) -> int | None:
    own = weights_path(run.folder / NET).read_bytes()
    for side, path in enumerate(copies_of(match)):
        if (
            path is not None
            and weights_path(path).exists()
            and weights_path(path).read_bytes() == own
        ):
            return side
    return None


def rounds_verdict(run: ShownRun) -> Verdict | None:
    """The verdict of the matches after the rounds of own games; None for a run without any."""
    if not isinstance(run, ShownLearningRun):
        return None
    matches, kept = run.result.own_matches or [], run.result.own_rounds or 0
    if not matches[:kept]:
        return None
    start = str(run.result.start or run.chosen.start or "the start")
    elo = [match.elo for match in matches[:kept] if match.elo]
    kind = OPEN
    if len(elo) == kept:
        better, worse = all(each.low > 0 for each in elo), kept == 1 and elo[0].high < 0
        kind = BETTER if better else WORSE if worse else OPEN
    elos = ", ".join(round_text(match) for match in matches[:kept])
    sentence = (
        f"A round of own games: {elos} against {start}"
        if kept == 1
        else f"{kept} rounds of own games, each against its predecessor: {elos}"
    )
    detail = f"Matches of {whole(matches[0].games)} games at depth {DEFAULT_DEPTH}"
    if len(matches) > kept:
        detail += f"; round {kept + 1} was undone: {round_text(matches[kept])}"
    return Verdict(
        kind,
        ("learned", start),
        sentence,
        detail,
        f"They do not add up to the result of a match against {start}." if kept > 1 else "",
    )


def trial_verdict(run: ShownRun) -> Verdict | None:
    """The verdict of the final match of steps that were tried; None without one."""
    tried = run.result.tried if isinstance(run, ShownLearningRun) else None
    if tried is None or tried.final is None:
        return None
    assert isinstance(run, ShownLearningRun), "others try no steps"
    final, start = tried.final, str(run.result.start or run.chosen.start or "the start")
    worse = final.elo is not None and final.elo.high < 0
    share = number(100 * (final.share or 0.0), 0)
    return Verdict(
        BETTER if tried.kept else WORSE if worse else OPEN,
        ("learned", start),
        f"{share} % of the way to what predicts results best: {round_text(final)} against {start}",
        f"A final match of {whole(final.games)} games at depth {DEFAULT_DEPTH}, after a ladder of"
        f" {len(tried.ladder)} matches" + ("" if tried.kept else "; nothing was written"),
        "",
    )


def round_text(match: RoundMatch) -> str:
    """The result of the match of a round."""
    if match.elo:
        return together(f"{shown(match.elo, 0, '+,')} Elo")
    return together(f"{number(100 * match.score)} %")


def match_to_play(run: ShownRun) -> str | None:
    """The command of a match of the learned weights against the start; None if one was played, the
    game has no search, or the run measured its strength."""
    if not isinstance(run, ShownLearningRun) or run.matches or not run.can_play:
        return None
    if measured_lines(run.history) or run.result.tried:
        return None
    if run.result.match:
        return run.result.match
    folder = str(run.folder)
    copy = f"{folder}/start.yaml"  # of what an engine begins with, it replaces the file
    start = str(not run.by_engine and (run.chosen.start or run.result.start) or copy)
    return shlex.join(
        [
            "tuner",
            "match",
            f"{folder}/params.yaml",
            start,
            "--games",
            str(GAMES),
            "--run",
            f"{folder}-match",
        ]
    )


def report_command(run: ShownRun, command: str) -> str:
    """The command that adds a match to the page."""
    words = shlex.split(command)
    folder = words[words.index("--run") + 1] if "--run" in words[:-1] else None
    return shlex.join(["tuner", "report", str(run.folder), "--match", folder]) if folder else ""
