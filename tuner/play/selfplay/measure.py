"""The strength of a learner, measured during its run: points a game against a player, one roll
deep, in compiled games.

Both games of a pair have the same dice with sides swapped, and every measurement has the dice of
the first. They differ from the training games, and nothing is learned from them."""

import threading
import time
from typing import Any

from games.record import Game
from tuner.core.records import InputError
from tuner.evaluation.evaluation import Evaluation, load_evaluation
from tuner.evaluation.networks.players import CompiledPlayer, play_games
from tuner.options.option import refuse
from tuner.options.selfplay import LearningOptions
from tuner.play.players import EVALUATION, Named, understood
from tuner.results.selfplay import MeasuredGames
from tuner.statistics.pentanomial import mean_points

WITH_DICE, WITHOUT_DICE, TIMES = 1000, 100, 20  # games of a measurement; measurements of a run
DICE = 1 << 40  # added to the seed of a run, for dice of its own


class Measurement:
    """Measures players of a game against an opponent, in `games` games, after every `every` games
    of training. `seconds` of CPU time went into it. InputError for an opponent that compiled games
    do not have."""

    key = "measured"  # of a line of the history

    def __init__(self, game: Game, settings: LearningOptions, terms: tuple[str, ...] = ()) -> None:
        self.seconds, self._settings = 0.0, settings
        self._whole, self._games = game.contest.whole_games, settings.measure_games
        opponent, *more = settings.measure
        refuse((f"--measure {name}", True, "games with dice measure once") for name in more)
        plies = settings.measure_plies
        refuse(((f"--measure-plies {plies}", plies, "games with dice end by themselves"),))
        named = understood(opponent)
        if named.game not in (None, game.name):
            raise InputError(f"--measure {opponent}: plays {named.game}, the learner {game.name}")
        self._name, self._opponent = named.name, _opponent(opponent, named, game, terms)

    def due(self, before: int, games: int) -> bool:
        """Return whether to measure after `games` games, if there were `before` a batch earlier."""
        return due(self._settings, before, games)

    def measured(
        self, evaluation: Evaluation, interrupted: threading.Event | None = None
    ) -> MeasuredGames:
        """Measure an evaluation."""
        begun, seed = time.thread_time(), self._settings.seed + DICE
        points = mean_points(
            play_games(
                self._whole, evaluation.player(), self._opponent, self._games, seed=seed
            ).points
        ).found
        self.seconds += time.thread_time() - begun
        return MeasuredGames(self._name, points.rounded(4), self._games)


def due(settings: LearningOptions, before: int, games: int) -> bool:
    """Return whether to measure after `games` games, if there were `before` a batch earlier."""
    every = settings.measure_every
    return games // every > before // every or before < games == settings.games


def _opponent(text: str, named: Named, game: Game, terms: tuple[str, ...]) -> Any:
    if named.kind == EVALUATION:
        try:
            return load_evaluation(named.what, terms, add_missing=True).player()
        except ValueError as problem:
            if isinstance(problem, InputError):
                raise
            raise InputError(f"--measure {text}: {problem}") from None
    players = game.contest.whole_games.players
    if named.kind not in ("own", "random") or named.name not in players:
        raise InputError(
            f"--measure {text}: expected {', '.join(players)}, a parameter file or a network, which"
            " compiled games have; tuner match plays the rest"
        )
    return CompiledPlayer(players[named.name], 1 if named.name == "random" else 0)
