"""Play one game of an evaluation against a noisy copy of it."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from games.contest import DRAW_RULE, PLIES, RESIGN_RULE, RULES, Choice, Control, PlayedGame
from games.record import Game
from tuner.datagen.adjudicate import BY_SCORES, CERTAIN, Verdict
from tuner.datagen.noise import copy_of
from tuner.datagen.settings import Settings
from tuner.datagen.table import adjudicator_of, random_opening
from tuner.engine.spec import EvaluationSpec, engine_of
from tuner.match.openings import Opening
from tuner.match.players import SearchPlayer
from tuner.parallel import Job

MEGABYTES = 1  # of a transposition table: a search of some plies fills no more, and it is cleared for each game

class Checked(NamedTuple):
    """A game that was played on after its verdict, to check the rule: outcomes of the verdict and of the end."""

    rule: str
    outcome: float
    end: float


@dataclass(frozen=True)
class Generated:
    """A game: its text for a file, its number of plies, the outcome for the first player and for the evaluation itself (not its
    copy), and how it ended, one of `tuner.datagen.adjudicate.ENDS`."""

    number: int
    text: str
    plies: int
    outcome: float
    own: float
    end: str
    checked: Checked | None = None


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How games are played, as plain data: the game with a given number depends on this and its opening alone. `spread` is the
    noise of a weight of the copies."""

    evaluation: EvaluationSpec
    settings: Settings
    spread: float
    name: str  # of the evaluation, for the tags of games


class GameTask(NamedTuple):
    """A game to play: its number, and its opening if that is of a file; None: random plies, drawn from the number."""

    number: int
    opening: Opening | None


class Seat:
    """One thread's searchers: of the evaluation itself, and of the copy that plays at present. InputError for tables that cannot
    be read."""

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


class _Record:
    """A game under way: positions in a buffer, moves, choices, and the scores for the first player."""

    def __init__(self, game: Game, longest: int, opening: Opening) -> None:
        self._play = game.play
        self._room = np.zeros((max(longest, len(opening.moves)) + 2, game.words), np.uint64)
        self._room[0] = opening.start
        self.moves: list[int] = []
        self.choices: list[Choice] = []
        self.scores: list[float] = []
        for move in opening.moves:
            self.add(move)

    @property
    def line(self) -> np.ndarray:
        """The positions so far (n, words)."""
        return self._room[:len(self.moves) + 1]

    def add(self, move: int) -> None:
        n = len(self.moves)
        self._room[n + 1] = self._play(self._room[n], move)
        self.moves.append(move)

    def add_choice(self, choice: Choice, turn: int) -> None:
        self.add(choice.move)
        self.choices.append(choice)
        score = choice.score or 0.0 if choice.win_in is None else CERTAIN if choice.win_in > 0 else -CERTAIN
        self.scores.append(-score if turn else score)


def games_job(recipe: Recipe) -> Job:
    """Return the work of generating games."""
    return Job(Seat, play_game, recipe, game_text)


def game_text(task: GameTask) -> str:
    """Name a game by its number, as it is in the files of games."""
    return f"game {task.number + 1}"


def play_game(seat: Seat, task: GameTask) -> Generated | None:
    """Play a game and return it; None if it was stopped. In even games the evaluation itself moves first, and two games in a row
    have the same copy."""
    number, recipe, engine, settings = task.number, seat.recipe, seat.engine, seat.recipe.settings
    copy = copy_of(recipe.evaluation.parameters, recipe.spread, settings.seed, number // 2)
    seat.copy = engine.searcher(copy, megabytes=MEGABYTES)
    opening = task.opening or random_opening(engine.game, settings, number, seat.own)
    control, first = Control(depth=settings.depth, nodes=settings.nodes), number & 1
    players = [SearchPlayer(engine.game, searcher, control) for searcher in (seat.own, seat.copy)][::1 - 2 * first]
    for turn, player in enumerate(players):
        player.begin(f"{settings.seed}/{number}/0/{turn}")
    record = _Record(engine.game, settings.plies, opening)
    plays_on = random.Random(f"{settings.seed} play on {number}").random() < settings.play_on
    kept: tuple[Verdict, int] | None = None  # the verdict of a game that is played on, and its plies until then
    second = engine.game.second_to_move
    while (verdict := _ended(seat, record, kept is not None)) is None or (
            plays_on and kept is None and verdict.rule in BY_SCORES):
        if verdict is not None:
            kept = verdict, len(record.moves)
            continue
        turn = int(second(record.line[-1]))
        choice = players[turn].choose(record.line, record.moves, None)
        if seat.stopped():
            return None
        record.add_choice(choice, turn)
    final, plies = kept or (verdict, len(record.moves))
    checked = Checked(final.rule, final.outcome, verdict.outcome) if kept else None
    names = (recipe.name, f"{recipe.name} copy {number // 2 + 1}")[::1 - 2 * first]
    text = _text(seat, record, final, plies, len(opening.moves), number, (names[0], names[1]))
    return Generated(number, text, plies, final.outcome, -final.outcome if first else final.outcome, final.rule, checked)


def _ended(seat: Seat, record: _Record, played_on: bool) -> Verdict | None:
    """Return how the game ends here; a game that is played on ends by its rules, by tables or at its greatest length."""
    outcome = seat.engine.game.result(record.line)
    if outcome is not None:
        return Verdict(outcome, RULES)
    plies, adjudicator = len(record.moves), seat.adjudicator
    found = adjudicator.by_tables(record.line[-1]) if played_on else adjudicator.verdict(record.line[-1], record.scores, plies)
    return found or (Verdict(0, PLIES) if plies >= seat.recipe.settings.plies else None)


def _text(seat: Seat, record: _Record, verdict: Verdict, plies: int, book: int, number: int, names: tuple[str, str]) -> str:
    """Return the first plies of a game as text, with the verdict."""
    end = verdict.rule if verdict.rule in (RULES, PLIES) else RESIGN_RULE if verdict.outcome else DRAW_RULE
    loser = None if not verdict.outcome else int(verdict.outcome > 0)
    text = seat.engine.game.matches.text
    assert text is not None, "required before the first game"
    return text(PlayedGame(record.line[:plies + 1], record.moves[:plies], book, record.choices[:plies - book], [],
                           verdict.outcome, end, loser, players=names, round=str(number + 1),
                           control=seat.recipe.settings.control, event="tuner games"))
