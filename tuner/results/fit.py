"""The result of a fit, its findings and its history, and how values of self-play agree with games.

The store of a run has them as plain data; the terminal, `--json` and the page show the same
records. Parts that a run does not have are None."""

from __future__ import annotations

from dataclasses import dataclass, field

from tuner.core.estimates import Estimate
from tuner.core.records import Amount, Count, Number, Scalar, optional

FINDINGS = "findings"  # their name in the store of a run


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
class Ratio:
    """A weight of the headline as a multiple of the first, `to`."""

    parameter: str
    to: str = ""
    ratio: Estimate = Estimate()


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
    before: their score from 0 to 1, and their Elo, None if all pairs ended alike; how
    far the round moved values, and the change of the loss of the results of held-out games; the
    `share` of the way to the optimum, of a step that is tried."""

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
class Result:
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
