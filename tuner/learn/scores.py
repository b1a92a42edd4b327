"""Scores as targets: where they come from, what is wrong with them by the evaluations of the same
positions, and the dataset whose outcomes they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from types import TracebackType

import numpy as np
from scipy.optimize import minimize_scalar

from games.record import Control, Game, PositionBatch
from games.streams import InputError
from tuner.core.estimates import estimate_of
from tuner.core.text import listed, plural
from tuner.datasets.dataset import BLOCK, Dataset, whole_games
from tuner.datasets.files import ArrayWriter
from tuner.fit.result import FitResult
from tuner.fit.setup import FitOptions, make_problem
from tuner.io.terminal import Display
from tuner.learn.build import NothingLeft, selected
from tuner.learn.methods import fitting_of
from tuner.learn.searches import Making
from tuner.learn.targets import Read, ScoreScale, Targets
from tuner.learn.teacher import Teacher
from tuner.options.option import no_use
from tuner.parameters.parameters import Parameters

SCORES, TARGETS = "scores.npy", "targets.npy"


class Scores(Targets):
    """Targets blended of scores and results, see `blended`: the scores that the files record, or
    those of a teacher. Positions without a score are left out, unless lambda is 1."""

    replaces = True

    def __init__(self, making: Making) -> None:
        self._made, options = making, making.options
        self._what = "scores of the teacher" if options.teacher else "recorded scores"
        self._teacher: Teacher | None = None
        self._scores: ArrayWriter | None = None  # of games that are read
        self._unknown = 0  # positions left out

    def __enter__(self) -> Scores:
        options, game = self._made.options, self._made.start.game
        if options.teacher is not None:
            assert game is not None, "rows are refused, see `require_sources`"
            limits = Control(nodes=options.nodes)
            self._teacher = Teacher(
                game, options.teacher, limits, self._made.executor, searched=self._made.searched
            ).__enter__()
        return self

    def __call__(self, batch: PositionBatch) -> tuple[PositionBatch, np.ndarray]:
        scores = self._teacher.scores(batch) if self._teacher else batch.recorded
        known = np.full(len(scores), self._made.options.lambda_ == 1) | ~np.isnan(scores)
        if self._scores is None:
            self._scores = ArrayWriter(self._made.folder / SCORES, np.float32)
        self._scores.append(scores[known])
        self._unknown += int((~known).sum())
        batch = batch if known.all() else batch.only(known)
        return batch, batch.outcomes

    def __exit__(
        self, kind: type | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._scores is not None and kind:
            self._scores.abandon()
        if self._teacher:
            self._teacher.__exit__(kind, value, trace)
        if isinstance(value, NothingLeft) and self._unknown:
            assert self._made.start.game is not None, "its games were read"
            raise unscored(self._made.start.game, self._unknown) from None

    def finish(self, read: Read) -> Read:
        """Return what was read with targets as outcomes, in files in the folder.

        Scores of the starting values' own searches are on the scale of the file; the rest is scaled
        by the results of the games. Positions without a score (unless lambda is 1), and those whose
        score is further than `max_difference` from the evaluation of the start, are left out."""
        data, options = read.data, self._made.options
        if self._scores is not None:
            self._scores.close()
            scores = np.load(self._made.folder / SCORES, mmap_mode="r")
        elif not len(data.score):
            raise InputError(
                f"{data.path}: has no scores; learn from results with --method logistic, or build"
                " the dataset again from games that record scores"
            )
        else:
            scores = np.asarray(data.score)
        results = np.asarray(data.outcome if read.results is None else read.results)
        lambda_, most = options.lambda_ or 0.0, options.max_difference
        games = np.repeat(data.game, np.diff(data.first))
        keep = np.full(len(scores), True) if lambda_ == 1 else ~np.isnan(scores)
        unknown = self._unknown + int((~keep).sum())
        scale, lines = None, [self._teacher.text] if self._teacher else []
        if options.own_scores:
            own, count = self._made.parameters.scale, int(np.isfinite(scores).sum())
            scale = ScoreScale(own, 0.0, data.games, count)
        elif lambda_ < 1 or most is not None:
            scale = fit_score_scale(scores, results, games, self._what)
            lines.append(scale_line(scale, self._what))
        judged = lambda_ < 1 and not options.own_scores  # by evaluations, if there are any
        judged = judged and bool(self._made.start.parameters.weights.any())
        static = self._evaluations(data) if judged or most is not None else None
        if judged and static is not None:
            lines += remarks_on(scores, static)
        if unknown:
            lines.append(f"{plural(unknown, 'position')} without a score left out")
        if scale and most is not None and static is not None:
            near = close(scores, static, scale.value, most)
            far = int((keep & ~near).sum())
            keep &= near
            lines.append(
                f"--max-difference {most:g}: {far:,} of {plural(len(near), 'position')} left out"
            )
            if not keep.any():
                raise InputError(
                    f"--max-difference {most:g}: leaves out every position; expected more"
                    " centipawns"
                )
        positions = read.positions
        if not keep.all():
            data, results = selected(data, keep, self._made.folder / "chosen"), results[keep]
            scores, positions = scores[keep], None if positions is None else positions[keep]
        unit = scale.value if scale else 0.0
        writer = ArrayWriter(self._made.folder / TARGETS, np.float32)
        for first in blocks_of_games(data.first):
            part = slice(first[0], first[-1])
            block = scores[part], results[part], unit, lambda_
            later = options.blend == "later"
            writer.append(later_blended(*block, first - first[0]) if later else blended(*block))
        writer.close()
        outcome = np.asarray(np.load(self._made.folder / TARGETS, mmap_mode="r"))
        return read._replace(
            data=replace(data, outcome=outcome),
            lines=(*read.lines, *lines),
            results=results,
            positions=positions,
            scale=scale,
        )

    def fit(
        self, data: Dataset, start: Parameters, options: FitOptions, display: Display
    ) -> FitResult:
        """See `Targets`. Numbers that know only who is to move are held where another program's
        scores teach: it sees the threats of the side to move, which our search finds by itself."""
        made, game = self._made.options, self._made.start.game
        own = made.teacher is None and (made.own_scores or made.own_results)
        if game is not None and game.searchable and not (own or made.only or made.lambda_ == 1):
            free = ~start.mask((*start.fixed, *options.fixed))
            held = [name for name in names_of_the_move(data) if free[start.mask((name,))].any()]
            options = replace(options, fixed=(*options.fixed, *held))
            if held:
                display.note(
                    f"held: {listed(held)}, since the scores see what the side to move threatens,"
                    " which a search finds by itself; --only names what is learned all the same"
                )
        return super().fit(data, start, options, display)

    def _evaluations(self, data: Dataset) -> np.ndarray:
        """Return the static evaluations (n,) of all positions in centipawns, first player's
        view."""
        start, options = self._made.start, self._made.options
        if not start.parameters.weights.any():
            raise InputError(
                no_use(
                    "--max-difference",
                    "the starting values are all zero, so there is no evaluation to compare "
                    "scores with",
                )
            )
        every = np.arange(data.games)
        device = start.engine.cpu(options.workers) if start.engine else None
        fitting, scale = fitting_of(options, device), start.parameters.scale
        problem = make_problem(data, start.parameters, fitting, every, scale)
        return problem.datafit.evaluations(problem.start, whole_games(data, every))


def names_of_the_move(data: Dataset) -> list[str]:
    """Return the parameters that know only who is to move: those with the same count, but for its
    sign, in each of many positions."""
    places = np.linspace(0, data.positions - 1, min(COMPARED, data.positions)).astype(np.int64)
    if len(places) < COMPARED:
        return []
    counts = np.zeros((len(places), data.columns))
    for i, place in enumerate(places):
        part = slice(*data.row[place : place + 2])
        np.add.at(counts[i], data.column[data.index[part]], data.count[part])
    sizes = np.abs(counts)
    alike = np.flatnonzero((sizes.min(axis=0) > 0) & (sizes == sizes[0]).all(axis=0))
    return [place.path for place in data.layout.places if place.first in alike and place.size == 1]


def blocks_of_games(first: np.ndarray) -> Iterator[np.ndarray]:
    """Yield parts of `first` (games + 1,), the first positions of the games of a dataset and its
    end: each of whole games with about BLOCK positions, and its end."""
    begin = 0
    while begin < len(first) - 1:
        end = max(begin + 1, int(np.searchsorted(first, first[begin] + BLOCK, "right")) - 1)
        yield first[begin : end + 1]
        begin = end


def unscored(game: Game, positions: int) -> Unscored:
    """Return the error for positions of a game of which none has a score."""
    where, targets = game.wording.scores, OTHERS if game.searchable else "choose --method logistic"
    text = f"none of {plural(positions, 'position')} has a score; " + (
        f"expected {where}" if where else f"files of {game.name} record none"
    )
    engines = game.contest.evaluator
    return Unscored(text, targets, "name an engine with --teacher" if engines else "")


LOWEST, HIGHEST = 1e-5, 0.1  # plausible scales, as for evaluations
COMPARED = 500  # positions from which it is seen what a parameter knows
STEPS = 41  # of the grid on which the fit begins: the sum of squares may have several minima
FEWEST_GAMES = 20
CERTAIN = 3.0  # standard errors from zero
SAMPLE = 1_000_000  # positions: enough for three digits
UNDECIDED = 1.5  # scale * score up to which a position is not decided: a score of 95 %
SHOWN_CENTIPAWNS = 100.0  # centipawns, in lines for people
OTHERS = "choose --method logistic or rootstrap"  # in place of scores


class Unscored(InputError):
    """Positions without scores to learn from, or with scores that cannot be used. `found` describes
    them; different `targets`, and an engine as `teacher`, are what to do."""

    def __init__(self, found: str, targets: str, teacher: str = "") -> None:
        super().__init__(
            "; ".join(filter(None, (found, ", or ".join(filter(None, (targets, teacher))))))
        )
        self.found = found


def fit_score_scale(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray, what: str = "recorded scores"
) -> ScoreScale:
    """Return the scale at which scores predict results best. InputError if there are too few games,
    or if scores do not predict the results; `what` names them there."""
    scores, results, group = _finite(scores, results, games)
    count = int(group.max(initial=-1)) + 1
    if count < FEWEST_GAMES:
        raise Unscored(
            f"{what}: only {count} games with scores that are not mates, expected at least"
            f" {FEWEST_GAMES} to scale scores by the results of the games",
            OTHERS,
        )

    def loss(log_scale: float) -> float:
        return float(((results - np.tanh(np.exp(log_scale) * scores)) ** 2).mean())

    grid = np.linspace(np.log(LOWEST), np.log(HIGHEST), STEPS)
    best = int(np.argmin([loss(point) for point in grid]))
    if 0 < best < STEPS - 1:
        best_scale = minimize_scalar(
            loss, bounds=(grid[best - 1], grid[best + 1]), method="bounded", options={"xatol": 1e-7}
        )
        scale = float(np.exp(best_scale.x))
        error = _error(scale, scores, results, group, count)
        if scale >= CERTAIN * error:
            return ScoreScale(scale, error, count, len(scores))
    raise Unscored(
        f"{what}: do not predict the results of these {plural(count, 'game')}, so they cannot be"
        " scaled; expected scores of the first player's view in centipawns",
        OTHERS,
    )


def _finite(
    scores: np.ndarray, results: np.ndarray, games: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the finite scores, their results as float64, and the number of the game of each; of
    whole games if there are more than SAMPLE."""
    known = np.isfinite(scores)
    _, group = np.unique(games[known], return_inverse=True)
    some = slice(None)
    if (every := len(group) // SAMPLE) > 1:
        some = group % every == 0
        _, group = np.unique(group[some], return_inverse=True)
    return scores[known][some].astype(np.float64), results[known][some].astype(np.float64), group


def _error(
    scale: float, scores: np.ndarray, results: np.ndarray, group: np.ndarray, count: int
) -> float:
    """Return the cluster-robust standard error of a fitted scale (sandwich estimator)."""
    values = np.tanh(scale * scores)
    slope = scores * (1 - values**2)
    sums = np.bincount(group, slope * (results - values), count)
    return float(np.sqrt((sums**2).sum() * count / (count - 1)) / (slope**2).sum())


def scale_line(found: ScoreScale, what: str = "recorded scores") -> str:
    """Return a line about a fitted scale, with a 95 % interval."""
    value = np.tanh(found.value * SHOWN_CENTIPAWNS)
    error = found.error * SHOWN_CENTIPAWNS * (1 - value**2) / 2
    score = estimate_of((1 + value) / 2, error).times(100)
    return (
        f"{what}: +{SHOWN_CENTIPAWNS:g} centipawns score {score.text(1)} % in"
        f" these games ({plural(found.scores, 'score')} of {plural(found.games, 'game')})"
    )


def blended(scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float) -> np.ndarray:
    """Return the targets (n,) float32: (1 - lambda) * tanh(scale * score) + lambda * result; NaN
    where the score is unknown, except for lambda 1, which needs none."""
    if lambda_ == 1:
        return results.astype(np.float32)
    return ((1 - lambda_) * np.tanh(scale * scores.astype(np.float64)) + lambda_ * results).astype(
        np.float32
    )


def later_blended(
    scores: np.ndarray, results: np.ndarray, scale: float, lambda_: float, first: np.ndarray
) -> np.ndarray:
    """Return the targets (n,) float32 of the positions of whole games, which begin at `first`
    (games + 1,): (1 - lambda) * tanh(scale * score) + lambda * target of the next position of the
    game, and of the last one the result: the lambda-returns of Sutton (1988)."""
    if lambda_ == 1:
        return results.astype(np.float32)
    targets = np.tanh(scale * scores.astype(np.float64))
    begins, ends = first[:-1], first[1:]
    for back in range(1, int((ends - begins).max(initial=0)) + 1):  # the last positions first
        places = ends[ends - begins >= back] - back
        later = results[places] if back == 1 else targets[places + 1]
        targets[places] = (1 - lambda_) * targets[places] + lambda_ * later
    return targets.astype(np.float32)


def close(scores: np.ndarray, evaluations: np.ndarray, scale: float, most: float) -> np.ndarray:
    """Return which positions (n,) bool have a score that differs by at most `most` centipawns from
    our static evaluation (n,).

    Scores are brought to the unit of the evaluation by the factor with the least sum of absolute
    differences, over positions that are not decided; `scale` is the scale of the scores. A mate
    differs from every evaluation."""
    used = (np.abs(scores) * scale < UNDECIDED) & (scores != 0)  # without unknown scores too
    ratios, weights = evaluations[used] / scores[used], np.abs(scores[used].astype(np.float64))
    order = np.argsort(ratios, kind="stable")
    sums = np.cumsum(weights[order])
    factor = float(ratios[order[np.searchsorted(sums, sums[-1] / 2)]]) if len(sums) else 0.0
    if factor <= 0:
        raise InputError(
            no_use(
                "--max-difference",
                "the evaluations of the starting values do not rise with the scores",
                "start from different values",
            )
        )
    return np.abs(scores * factor - evaluations) <= most


FEWEST = 200  # scores, below which nothing is said
FAR, WON = 100.0, 1500.0  # centipawns: of positions that are not even, and of those left out
ZEROS, CAPPED = 0.1, 0.001  # shares: of scores 0 where positions are not even, of the largest score
FEWEST_CAPPED = 20  # scores that are equal to the largest one
# correlations with evaluations: the least of sound scores, the largest of the other side's scores
FOLLOWS, AGAINST = 0.1, -0.2
PAWNS = 0.05  # slope of scores on evaluations below which scores are in pawns
LARGEST, LOWEST_CAP = 5000.0, 2000.0  # centipawns: no search scores as high; caps are lower
FEW_LARGE = 0.005  # share of such scores; tables of endings make a few


def remarks_on(scores: np.ndarray, evaluations: np.ndarray) -> list[str]:
    """Return what is wrong with scores (n,) in centipawns of the first player's view, NaN or
    infinite where there is none, as lines; none for scores that follow the static evaluations (n,)
    of their positions."""
    used = np.isfinite(scores) & (np.abs(evaluations) < WON)
    found, static = scores[used].astype(np.float64), evaluations[used]
    far = np.abs(static) >= FAR
    if far.sum() < FEWEST:
        return []
    lines, zero = [], (found == 0) & far
    if (share := zero.sum() / far.sum()) >= ZEROS:
        lines.append(
            f"{share:.0%} of the scores are 0 where the evaluation is {FAR:g} centipawns or more:"
            " they are not those of searches"
        )
    size = np.abs(found)
    large = size >= LARGEST
    if large.mean() >= FEW_LARGE:
        lines.append(
            f"{large.mean():.1%} of the scores are {LARGEST:,.0f} centipawns or more: wins that"
            " are written as numbers, not as mates, are learned from as scores"
        )
    rest = ~zero & ~large
    found, static, size = found[rest], static[rest], size[rest]
    if len(found) < FEWEST or not found.std():
        return lines
    at_top = int((size == size.max()).sum())
    if at_top >= max(FEWEST_CAPPED, CAPPED * len(size)) and size.max() < LOWEST_CAP:
        lines.append(
            f"{at_top / len(size):.1%} of the scores are +/-{size.max():g}: they are capped"
        )
    correlation = float(np.corrcoef(found, static)[0, 1])
    slope = float(found @ static / (static @ static))
    if correlation < AGAINST:
        lines.append("scores fall where evaluations rise: they are those of the other side")
    elif correlation < FOLLOWS:
        lines.append(
            f"scores do not follow the evaluations of their positions (correlation"
            f" {correlation:.2f}): they are of other positions, or of the side to move"
        )
    elif slope < PAWNS:
        lines.append(
            f"100 centipawns of evaluation are {100 * slope:.1f} of score: scores are in pawns,"
            " expected centipawns"
        )
    return lines
