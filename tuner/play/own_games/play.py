"""Games of an evaluation against its copies, to learn from: the noise of the copies, the openings,
and single games.

Scores are in centipawns, first player's view.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES, Control, Game, find
from games.search.searcher import Searcher
from games.streams import InputError
from tuner.evaluation.engine import Engine
from tuner.evaluation.loading import EvaluationSpec, engine_of, games_path, parameter_path
from tuner.io.run_folder import read_config
from tuner.options.games import SECTION, USUAL_DRAW, USUAL_RESIGN, GamesSettings
from tuner.options.option import no_use, sensible
from tuner.parallel import Job
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import heading_of
from tuner.play.adjudication import BY_SCORES, Adjudicator
from tuner.play.game import Course, Ending, Stopped, by_length, by_rules, play_out, score_of
from tuner.play.openings import Generator, Opening
from tuner.play.players import SearchPlayer

DRAWS = 16  # of noise, to measure what it does to evaluations
COPY = 1  # numbers the stream of random numbers of the copies; 0 is that of the measurement


def copy_of(parameters: Parameters, spread: float, seed: int, number: int) -> Parameters:
    """Return copy `number` of the parameters: every weight but those that are 0 in all stages moves
    by normal noise with standard deviation `spread`, in centipawns."""
    moved = _noise(parameters, np.random.default_rng([seed, COPY, number]))
    return parameters.with_weights(parameters.weights + spread * moved)


def spread_of(
    engine: Engine, parameters: Parameters, positions: np.ndarray, noise: float, seed: int
) -> float:
    """Return the standard deviation of the noise of one weight at which evaluations of positions
    (n, words) move by `noise` centipawns (root mean square). InputError if all weights are 0."""
    if not parameters.weights.any():
        raise InputError(
            "all weights are 0, so that every move would be chosen at random; start from other"
            " values, such as material"
        )
    before, squares = engine.evaluate_many(positions, parameters), []
    dice = np.random.default_rng([seed, 0])
    for _ in range(DRAWS):
        moved = parameters.with_weights(parameters.weights + _noise(parameters, dice))
        squares.append(np.mean((engine.evaluate_many(positions, moved) - before) ** 2))
    unit = float(np.sqrt(np.mean(squares)))
    return noise / unit if unit else 0.0


def _noise(parameters: Parameters, dice: np.random.Generator) -> np.ndarray:
    """Return noise of 1 centipawn (stages, columns) on the weights that take part."""
    weights = parameters.weights
    return np.where((weights != 0).any(axis=0), dice.standard_normal(weights.shape), 0.0)


def default_rules(game: Game) -> tuple[tuple[float, int], tuple[float, int, int] | None]:
    """Return `resign` and `draw` of a game by default: no draws by scores in games in which level
    games are seldom drawn."""
    contest = game.contest
    return (
        contest.lost_in_practice,
        USUAL_RESIGN[1],
    ), (USUAL_DRAW if contest.level_is_drawn else None)


def settings_for(
    start: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> GamesSettings:
    """Return the settings of new games of a parameter file: what was given, and else what is usual
    for its game. InputError for options that no games can have."""
    heading = heading_of(parameter_path(start))
    if given.get("openings") is not None and given.get("random_plies") is not None:
        raise InputError("--random-plies and --openings: both choose openings; leave one out")
    values: dict[str, Any] = {"openings": None, "syzygy": None}
    if not heading.of_rows:
        values["resign"], values["draw"] = default_rules(find(heading.game))
    if given.get("nodes") is not None:
        values["depth"] = None
    if given.get("openings") is not None:
        values["random_plies"] = 0
    values |= given
    if values["openings"] is not None:
        values["openings"] = os.path.abspath(games_path(str(values["openings"]), heading.game))
    if values["syzygy"] is not None:
        values["syzygy"] = os.path.abspath(os.path.expanduser(values["syzygy"]))
    return sensible(
        GamesSettings(**values, start=start, terms=tuple(os.path.abspath(path) for path in terms))
    )


def holds_own_games(source: str) -> bool:
    """Return whether a source is a folder that `tuner games` wrote."""
    if not Path(source).is_dir():
        return False
    try:
        read_config(Path(source), SECTION, GamesSettings)
    except InputError:
        return False
    return True


SEEDS = 1 << 40  # game number n of seed s draws its opening from the seed s * SEEDS + n


def adjudicator_of(game: Game, settings: GamesSettings) -> Adjudicator:
    """Return the rules in force. InputError for tables that cannot be read."""
    tables = None
    if settings.syzygy is not None:
        if game.contest.tablebase is None:
            raise InputError(
                no_use(f"--syzygy {settings.syzygy}", f"{game.name} has no tables of endings")
            )
        tables = game.contest.tablebase(settings.syzygy)
    return Adjudicator(settings.resign, settings.draw, game.contest.drawn_ending, tables)


def random_opening(game: Game, settings: GamesSettings, number: int, judge: Searcher) -> Opening:
    """Return the opening of a game: random plies to a position that the searcher finds balanced."""
    if settings.random_plies == 0:
        return Opening(game.start(), [])
    return Generator(
        game, settings.random_plies, settings.seed * SEEDS + number, judge, _no_note
    ).opening(0)


def _no_note(text: str) -> None:
    """A single opening is never repeated, which is all that there would be to note."""


# of a transposition table: a search of some plies fills no more, and it is cleared for each game
MEGABYTES = 1


class Checked(NamedTuple):
    """A game that was played on after its verdict, to check the rule: outcomes of the verdict and
    of the end."""

    rule: str
    outcome: float
    end: float


@dataclass(frozen=True)
class Generated:
    """A game: its text for a file, its number of plies, the outcome for the first player and for
    the evaluation itself (not its copy), and how it ended, one of
    `tuner.play.own_games.play.ENDS`."""

    number: int
    text: str
    plies: int
    outcome: float
    own: float
    end: str
    checked: Checked | None = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How games are played, as plain data: the game with a given number depends on this and its
    opening alone. `spread` is the noise of a weight of the copies."""

    evaluation: EvaluationSpec
    settings: GamesSettings
    spread: float
    name: str  # of the evaluation, for the tags of games


class GameTask(NamedTuple):
    """A game to play: its number, and its opening if that is of a file; None: random plies, drawn
    from the number."""

    number: int
    opening: Opening | None


class Seat:
    """One thread's searchers: of the evaluation itself, and of the copy that plays at present.
    InputError for tables that cannot be read."""

    def __init__(self, recipe: Recipe, stopped: Callable[[], bool]) -> None:
        self.recipe, self.stopped = recipe, stopped
        self.engine = engine_of(recipe.evaluation.engine)
        self.own = self.engine.searcher(recipe.evaluation.parameters, megabytes=MEGABYTES)
        self.copy = self.own
        self.adjudicator = adjudicator_of(self.engine.game, recipe.settings)

    def ready(self) -> None:
        """Nothing is started later."""

    def abort(self) -> None:
        """End the search under way soon; from another thread."""
        self.own.stop()
        self.copy.stop()

    def close(self) -> None:
        """There is nothing to release."""


class _Verdicts:
    """The judge of one game by its scores, endings and tables. A game that is played on is only
    ended by tables after its first verdict by scores, which is `kept`, with the plies until
    then."""

    def __init__(self, adjudicator: Adjudicator, played_on: bool) -> None:
        self._adjudicator, self._played_on = adjudicator, played_on
        self._scores: list[float] = []
        self.kept: Ending | None = None
        self.plies = 0

    def judge(self, course: Course) -> Ending | None:
        """Judge a game before each move."""
        words = course.line[-1]
        if course.choices:
            score = score_of(course.choices[-1], 0.0)
            self._scores.append(-score if course.mover else score)
        if self.kept:
            return self._adjudicator.by_tables(words)
        ending = self._adjudicator.verdict(words, self._scores, len(course.moves))
        if not (ending and self._played_on and ending.end in BY_SCORES):
            return ending
        self.kept, self.plies = ending, len(course.moves)
        return None


def games_job(recipe: Recipe) -> Job:
    """Return the work of generating games."""
    return Job(Seat, play_game, recipe, game_text)


def game_text(task: GameTask) -> str:
    """Name a game by its number, as it is in the files of games."""
    return f"game {task.number + 1}"


def play_game(seat: Seat, task: GameTask) -> Generated | None:
    """Play a game and return it; None if it was stopped. In even games the evaluation itself moves
    first, and two games in a row have the same copy."""
    number, recipe, engine, settings = task.number, seat.recipe, seat.engine, seat.recipe.settings
    copy = copy_of(recipe.evaluation.parameters, recipe.spread, settings.seed, number // 2)
    seat.copy = engine.searcher(copy, megabytes=MEGABYTES)
    opening = task.opening or random_opening(engine.game, settings, number, seat.own)
    control, first = Control(depth=settings.depth, nodes=settings.nodes), number & 1
    players = [SearchPlayer(engine.game, searcher, control) for searcher in (seat.own, seat.copy)][
        :: 1 - 2 * first
    ]
    plays_on = random.Random(f"{settings.seed} play on {number}").random() < settings.play_on
    course, verdicts = Course(engine.game, opening), _Verdicts(seat.adjudicator, plays_on)
    try:
        end = play_out(
            course,
            players,
            (by_rules, verdicts.judge, by_length(settings.plies)),
            seat.stopped,
            [f"{settings.seed}/{number}/0/{turn}" for turn in (0, 1)],
        )
    except Stopped:
        return None
    final, plies = verdicts.kept or end, verdicts.plies if verdicts.kept else len(course.moves)
    assert final.outcome is not None and end.outcome is not None, (
        "games are drawn at their greatest length"
    )
    checked = Checked(final.end, final.outcome, end.outcome) if verdicts.kept else None
    names = (recipe.name, f"{recipe.name} copy {number // 2 + 1}")[:: 1 - 2 * first]
    text = _text(course, final, plies, number, (names[0], names[1]), settings.control)
    return Generated(
        number,
        text,
        plies,
        final.outcome,
        -final.outcome if first else final.outcome,
        final.end,
        checked,
    )


def _text(
    course: Course, final: Ending, plies: int, number: int, names: tuple[str, str], control: str
) -> str:
    """Return the first plies of a game as text, with the verdict."""
    end = final.end if final.end in (RULES, PLIES) else RESIGN_RULE if final.outcome else DRAW_RULE
    loser = None if not final.outcome else int(final.outcome > 0)
    text = course.game.files.game_text
    assert text is not None, "required before the first game"
    return text(
        replace(
            course.played(Ending(end, final.outcome, loser), plies),
            seconds=[],
            players=names,
            round=str(number + 1),
            control=control,
            event="tuner games",
        )
    )
