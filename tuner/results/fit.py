"""The result of a fit, its findings and its history, and how values of self-play agree with games.

The store of a run has them as plain data; the terminal, `--json` and the page show the same
records. Parts that a run does not have are None."""

import math
import shlex
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from games.record import Wording
from tuner.core.estimates import Estimate, Ratio
from tuner.core.records import Amount, Count, Number, Scalar, optional, to_json
from tuner.core.text import plural
from tuner.results.result import Found

FINDINGS = "findings"  # their name in the store of a run
CONSTANT = "; before: a constant, which predicts better than the starting values"
MOST_RATIOS = 10  # in a line
PRICED_DEPTH = 4  # plies, of the matches that gave the price of noise
MOST_PRICED = 100.0  # Elo, up to which the price of noise is that of matches


class HeldOut(NamedTuple):
    """What the held-out loss of a method is called, on a page and, beside that on results, in a
    line, and what it is a loss on."""

    title: str
    name: str = ""
    targets: str = ""


HELD_OUT = {
    "scores": HeldOut("Held-out loss on scores", "scores", "by the targets from scores"),
    "rootstrap": HeldOut(
        "Held-out loss on search scores", "search", "by the values that searches found"
    ),
    "td": HeldOut("Held-out TD loss"),
    "td-leaf": HeldOut("Held-out TD loss"),
}


@dataclass(frozen=True)
class Change:
    """A mean loss before and after, the difference, and of how much it is the mean. `constant`:
    before is the loss of a constant, the mean outcome, where that predicts better than the starting
    values."""

    before: Number
    after: Number
    difference: Estimate = Estimate()
    games: Amount | None = None
    positions: Amount | None = None
    constant: bool | None = optional()


@dataclass(frozen=True)
class AsGiven:
    """The loss by the starting values as their file has them, and what the fit changed in addition
    to weights."""

    loss: Number
    by: list[str]


@dataclass(frozen=True)
class NoiseCost:
    """What sampling noise does to evaluations and to differences of neighboring positions, and its
    price in Elo."""

    evaluations: Amount | None = optional()
    differences: Amount | None = optional()
    of_classic: Amount | None = optional()
    elo: Estimate | None = optional()


@dataclass(frozen=True)
class PointsError:
    """The error of the expected points of positions, and the deviation of the targets. `constant`:
    before is that deviation, the error of a constant, as the starting values are worse."""

    before: Number | None = None
    after: Number | None = None
    deviation: Number | None = None
    positions: Amount | None = None
    held_out: bool = False
    constant: bool | None = optional()


@dataclass(frozen=True)
class RoundMatch:
    """The match of learned weights against the start, or after a round of own games against those
    before: their score from 0 to 1, and their Elo, None if all pairs ended alike; how far the round
    moved values, and the change of the loss of the results of held-out games; the `share` of the
    way to the optimum, of a step that is tried."""

    games: Amount
    score: Amount
    elo: Estimate | None = None
    moved: Amount | None = None
    held_out: Change | None = None
    share: Number | None = optional()


@dataclass(frozen=True)
class Tried:
    """Steps of several lengths that were judged by matches: those of the ladder, and the final one
    of the best of them, which is written if it is `kept`; none if there is no step."""

    ladder: list[RoundMatch] = field(default_factory=list)
    final: RoundMatch | None = None
    kept: bool = False


@dataclass(frozen=True)
class DataSource:
    """A file that was learned from."""

    file: str
    sha256: str | None = optional()


@dataclass(frozen=True)
class ChoiceLosses:
    """What the choices of a file among the moves of rolls lose by the values of a teacher: points a
    roll, and the share of best choices, before and after; over rolls that were held out, or else
    learned from."""

    before: Estimate
    best_before: Number
    after: Estimate
    best_after: Number
    rolls: Amount
    held_out: bool


@dataclass(frozen=True)
class Draws:
    """A model of draws: its width by stage in centipawns."""

    model: str | None = None
    scale: Number | None = None
    width: dict[str, Number | None] = field(default_factory=dict)
    errors: dict[str, Number | None] = field(default_factory=dict)


@dataclass(frozen=True)
class Result(Found):
    """A fit: its data, method and losses, and the commands to run next. `tuner tune --json`
    prints it, its findings have it, and the learned file what is not about files.

    `play` are the share of the step of --prior play and the centipawns by which it changes
    evaluations (root mean square), `slopes` its slopes by phase.
    Losses are means per position. What is false is not written."""

    command: str = ""
    version: str = ""
    seed: Scalar | None = None
    start: str | None = None
    output: str | None = optional()
    run: str | None = optional()
    data: list[DataSource] = field(default_factory=list)
    method: str | None = None
    targets: str | None = optional()
    teacher: str | None = optional()
    nodes: Amount | None = optional()
    depth: Number | None = optional()
    lambda_: Number | None = optional()
    max_difference: Number | None = optional()
    score_scale: Number | None = optional()
    gradient: str | None = optional()
    step: Scalar | None = optional()
    loss: str | None = None
    learner: str | None = None
    iterations: Amount | None = None
    converged: bool | None = None
    gradient_norm: Number | None = None
    games: Amount | None = None
    positions: Amount | None = None
    loss_before: Number | None = None
    loss_after: Number | None = None
    held_out_games: Amount | None = None
    held_out_positions: Amount | None = None
    held_out_before: Number | None = None
    held_out_after: Number | None = None
    held_out_results: Change | None = None
    held_out_as_given: AsGiven | None = optional()
    scale: Number | None = None
    intercept: list[Number] = field(default_factory=list)
    prior: Scalar | None = None
    file_prior: bool | None = optional()  # whether the parameter file has one, too
    design_effect: Number | None = None
    null_directions: Amount | None = None
    never_applied: Amount | None = None
    error_draws: Amount | None = optional()  # random vectors from which errors were estimated
    held_out_change: Change | None = None
    noise: NoiseCost | None = optional()
    play: dict[str, Number] | None = optional()
    slopes: list[Number] | None = optional()
    draws: Draws | None = optional()
    ratios: list[Ratio] = field(default_factory=list)
    labelled: bool | None = optional()
    unit: str | None = optional()
    points: PointsError | None = optional()
    choices: ChoiceLosses | None = optional()
    rows: bool | None = optional()
    scores: bool | None = optional()
    counted: bool | None = optional()
    advice: list[str] = field(default_factory=list)
    compare: str | None = optional()
    match: str | None = optional()
    into: str | None = optional()
    own_games: Amount | None = optional()
    own_rounds: Count | None = optional()
    own_matches: list[RoundMatch] | None = optional()
    tried: Tried | None = optional()

    @property
    def nothing_written(self) -> bool:
        """Whether no step won its match, so that there is no file."""
        return self.tried is not None and not self.tried.kept

    @property
    def result(self) -> dict[str, Any]:
        """See `Found`."""
        plain: dict[str, Any] = to_json(self)
        return plain

    @property
    def learned(self) -> dict[str, Any]:
        """What the learned file has of it: all but files, and what to do next."""
        left_out = ("output", "run", "advice", "compare", "match")
        return {key: value for key, value in self.result.items() if key not in left_out}

    @property
    def lines(self) -> list[str]:
        """See `Found`; the last line is the next command to run."""
        return result_lines(self)


@dataclass(frozen=True)
class Bin:
    """Positions of about the same predicted score."""

    predicted: Number | None
    actual: Estimate
    positions: Amount | None = None
    games: Amount | None = None


@dataclass(frozen=True)
class Sides:
    """Bins before and after learning."""

    before: list[Bin] = field(default_factory=list)
    after: list[Bin] = field(default_factory=list)


@dataclass(frozen=True)
class SquaresChange:
    """Mean squares of results less values before and after a run, and the change."""

    before: Number
    after: Number
    change: Estimate


@dataclass(frozen=True)
class PlayedCalibration:
    """Bins of values with results of games that were played for it, and errors.

    `bins` are in expected scores from 0 to 1, as for a fit. `error` is the expected
    calibration error, the mean distance of bins from the diagonal weighted by positions, with an
    interval from resampled games; `by_chance` is what values without any fault would show in so
    many games. `favoured` is what the side that a value favors should win by it, `won` what it
    won, and `excess` the first less the second, with an interval clustered by game. `squares` are
    known if the initial values are."""

    games: Count
    broken_off: Count
    positions: Count
    bins: list[Bin]
    error: Estimate
    by_chance: Number
    favoured: Number
    won: Number
    excess: Estimate
    squares: SquaresChange | None = optional()


@dataclass(frozen=True)
class Calibrations:
    """Predicted scores against the results of games, None if these are unknown, and against the
    targets of the fit."""

    results: Sides | None = None
    targets: Sides | None = None


@dataclass(frozen=True)
class Direction:
    """A combination of numbers that the games cannot tell apart."""

    numbers: list[str] = field(default_factory=list)
    text: str | None = None


@dataclass(frozen=True)
class Rare:
    """A weight that applies to few positions."""

    parameter: str
    positions: Amount | None = None


@dataclass(frozen=True)
class Collinear:
    """Two weights whose counts go together."""

    a: str
    b: str
    correlation: Number | None = None


@dataclass(frozen=True)
class Identifiability:
    """Which weights the games identify."""

    free: Amount | None = None
    rank: Amount | None = None
    condition: Amount | None = None
    effective: Amount | None = None
    null_directions: list[Direction] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    rare: list[Rare] = field(default_factory=list)
    collinear: list[Collinear] = field(default_factory=list)


@dataclass(frozen=True)
class Outcomes:
    """Games by their result."""

    win: Amount | None = None
    draw: Amount | None = None
    loss: Amount | None = None
    other: Amount | None = optional()


@dataclass(frozen=True)
class DataSummary:
    """The dataset: games by result, positions by phase."""

    results: Outcomes = field(default_factory=Outcomes)
    phases: list[Amount | None] = field(default_factory=list)


@dataclass(frozen=True)
class Findings:
    """What is found of a fit: its result, and what its page shows beside it."""

    result: Result | None = None
    calibration: Calibrations | None = None
    identifiability: Identifiability | None = None
    summary: DataSummary = field(default_factory=DataSummary)


@dataclass(frozen=True)
class Iteration:
    """A line of the history of a fit."""

    iteration: Amount
    objective: Number | None
    held_out: Number | None = None
    cpu_seconds: Amount | None = None


def result_lines(result: Result) -> list[str]:
    """Return a result as lines of text."""
    games = "" if result.labelled else f"{plural(result.games, 'game')}, "
    wrote = "nothing written" if result.nothing_written else f"wrote {result.output}"
    still = result.play is not None and not result.play["share"] and not result.file_prior
    if still:
        wrote = f"no weight moved, {wrote}"
    lines = [
        (
            f"{wrote}: {games}{plural(result.positions, 'position')},"
            f" {result.iterations}"
            f" iterations of {result.learner}, prior {prior_text(result)}"
        ),
        *found_lines(result),
    ]
    if result.run:
        lines.append(f"see the report: tuner report {shlex.quote(result.run)}")
    if result.tried:
        lines += tried_lines(result.tried)
    if result.nothing_written:
        return lines
    if result.method == "logistic" and not (still or result.tried or result.own_matches):
        lines.append("whether it plays better is not known: no match was played")
    lines.append(f"see what changed: {result.compare}")
    if result.into:
        lines.append(f"build it next to the old binary: {result.into}")
    if result.match:
        what = (
            "how far it is from the start"
            if result.own_matches or result.tried
            else "whether it is better"
        )
        lines.append(f"see {what}: {result.match}")
    return lines


def prior_text(result: Result) -> str:
    """Return the prior of a fit in words."""
    prior, of_file = result.prior, " and that of the file" if result.file_prior else ""
    if isinstance(prior, str):
        return {"auto": "by empirical Bayes"}.get(prior, prior) + of_file
    return f"{prior:g} {result.unit or Wording.unit}{of_file}"


def found_lines(result: Result) -> list[str]:
    """Return the rounds of own games, losses, values and advice as lines of text."""
    lines = rounds_lines(result)
    results = result.held_out_results
    _, other, how = HELD_OUT.get(result.method or "", HeldOut(""))
    loss = f"{result.loss}{' with slopes by phase' if result.slopes is not None else ''}"
    if results and not results.constant and (given := result.held_out_as_given):
        *most, last = given.by
        parts = f"{', '.join(most)} and {last}" if most else last
        lines.append(
            f"calibration  {given.loss:.5f} -> {results.before:.5f}  ({parts}; weights unchanged)"
        )
    if results:
        loss = "log loss of their results" if other else loss
        of = "positions" if result.labelled else "games of separate openings"
        lines.append(
            f"{'labels ' if result.labelled else 'results'}   {changed(results)}  "
            f"({results.games:,} held-out {of}, {loss}{CONSTANT if results.constant else ''})"
        )
    if result.held_out_change and other:
        lines.append(
            f"{other:<9} {changed(result.held_out_change)}  (the same positions,"
            f" {how}{CONSTANT if result.held_out_change.constant else ''})"
        )
    if points := result.points:
        of = (
            f"{points.positions:,} held-out positions"
            if points.held_out
            else "the positions learned from"
        )
        lines.append(
            f"points    {points.before:.3f} -> {points.after:.3f}  (root mean square error of the"
            f" expected points, {of}; the targets themselves vary by {points.deviation:.3f}"
            f"{CONSTANT if points.constant else ''})"
        )
    if choices := result.choices:
        of = "held-out rolls" if choices.held_out else "rolls learned from"
        lines.append(
            f"moves     {choices.before.text(4)} -> {choices.after.text(4)} points lost"
            " a roll, best move"
            f" {100 * choices.best_before:.1f} -> {100 * choices.best_after:.1f} %"
            f"  ({choices.rolls:,} {of}, by the values of {result.teacher})"
            if result.teacher
            else f"moves     {100 * choices.best_before:.1f} -> {100 * choices.best_after:.1f} % of"
            f" the moves are rated best  ({plural(choices.rolls, 'move')} of"
            f" {'held-out games' if choices.held_out else 'the games learned from'})"
        )
    if not results and not choices:
        lines.append(
            f"loss      {result.loss_before:.5f} -> {result.loss_after:.5f}  "
            f"({loss} of the games learned from; none were held out)"
        )
    if result.noise:
        lines.append(noise_line(result.noise, result.unit or Wording.unit))
    if result.error_draws:
        share = 100 / math.sqrt(2 * result.error_draws)
        lines.append(
            f"errors    from {result.error_draws} random vectors, each within about {share:.0f} %:"
            " the weights are too many for the inverse of their matrix"
        )
    if result.ratios:
        unit = result.ratios[0].to
        first = unit.partition(".")[0] + "."  # the term whose name is left out
        rest = len(result.ratios) - MOST_RATIOS
        lines.append(
            f"values    in units of {unit}: "
            + ", ".join(
                f"{line.parameter.removeprefix(first)} {line.ratio.text()}"
                for line in result.ratios[:MOST_RATIOS]
                if math.isfinite(line.ratio.half_width)
            )
            + (f" and {rest:,} more" if rest > 0 else "")
        )
    return lines + result.advice


def rounds_lines(result: Result) -> list[str]:
    """Return a line for each round of own games: its match, and whether it was undone."""
    lines, kept = [], result.own_rounds or 0
    for number, match in enumerate(result.own_matches or [], 1):
        rival = result.start if number == 1 else f"round {number - 1}"
        elo = f", {match.elo.text(0, '+')} Elo" if match.elo else ""
        undone = "; undone" if number > kept else ""
        lines.append(
            f"round {number}   {100 * match.score:.1f} % of {match.games:,} games against"
            f" {rival}{elo}{undone}"
        )
    if len(lines) > 1:
        lines.append(f"losses and values are those of round {kept}, which is written")
    return lines


def match_text(match: RoundMatch) -> str:
    """Return the score of a match, its games and their depth."""
    from tuner.options.match import DEFAULT_DEPTH

    text = f"{100 * match.score:.1f} % of {match.games:,} games at depth {DEFAULT_DEPTH}"
    return f"{text} ({match.elo.text(0, '+')} Elo)" if match.elo else text


def share_text(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.0f} %"


def tried_lines(tried: Tried) -> list[str]:
    """Return what the matches say of the strength, as lines of text."""
    final = tried.final
    if final is None:
        return ["no step was tried: what these games teach does not exceed sampling noise"]
    end = "it is written" if tried.kept else "the gain is not significant"
    return [
        f"final match: {share_text(final.share or 0.0)} of the way, which won the ladder, scored"
        f" {match_text(final)} against the start; {end}"
    ]


def changed(change: Change) -> str:
    """Return a loss before and after, and the change with its interval."""
    difference, interval = change.difference, ""
    if math.isfinite(difference.half_width):
        interval = (
            f", change {difference.value:+.5f} [{difference.low:+.5f}, {difference.high:+.5f}]"
        )
    return f"{change.before:.5f} -> {change.after:.5f}{interval}"


def noise_line(noise: NoiseCost, unit: str) -> str:
    """Return the noise as a line of text."""
    text = (
        f"sampling noise (standard deviation): evaluations +/- {_short(noise.evaluations)} {unit}"
    )
    if noise.differences is not None:
        text += (
            f", differences between neighboring positions of a game +/- {_short(noise.differences)}"
        )
    if noise.elo is None:
        return text
    if noise.of_classic is not None:
        text += f", as {_short(noise.of_classic)} of `classic`"
    if noise.elo.value > MOST_PRICED:
        return f"{text}, which costs more than {MOST_PRICED:g} Elo at depth {PRICED_DEPTH}"
    if noise.elo.high < 1:
        return f"{text}, which costs less than 1 Elo at depth {PRICED_DEPTH}"
    return (
        f"{text}, which costs about {_short(noise.elo.value)} [{_short(noise.elo.low)},"
        f" {_short(noise.elo.high)}]"
        f" Elo at depth {PRICED_DEPTH}; more games or a narrower --prior lower it"
    )


def _short(value: float | None) -> str:
    return "?" if value is None else f"{value:.1f}" if value < 10 else f"{value:.0f}"
