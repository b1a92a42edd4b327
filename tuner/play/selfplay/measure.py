"""How strong what a run learns is, measured as it learns: points a game against a player, one roll
deep, in compiled games.

Both games of a pair have the same dice with sides swapped, and every measurement has the dice of
the first. They are not those of the games learned from, and nothing is learned from them."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from games.record import Game
from games.streams import InputError
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.networks.players import CompiledPlayer, play_games
from tuner.play.players import EVALUATION, Named, understood
from tuner.statistics.intervals import quantile
from tuner.statistics.pentanomial import mean_points

GAMES, TIMES = 1000, 20  # of a measurement; measurements of a run
DICE = 1 << 40  # added to the seed of a run, for dice of its own


@dataclass(frozen=True)
class MeasuredGames:
    """Points a game against an opponent, half the 95 % interval of this mean, from pairs, and the
    games played."""

    opponent: str
    points: float
    error: float
    games: int

    @property
    def plain(self) -> dict:
        return {
            "opponent": self.opponent,
            "points": round(self.points, 4),
            "error": round(self.error, 4),
            "games": self.games,
        }

    @property
    def text(self) -> str:
        return f"{self.points:+.3f} +/- {self.error:.3f} points a game against {self.opponent}"


class Measurement:
    """Measures players of a game against an opponent, in so many games, after every so many games
    learned from. `seconds` of CPU time went into it. InputError for an opponent that compiled games
    do not have."""

    def __init__(
        self,
        game: Game,
        opponent: str,
        games: int,
        every: int,
        seed: int,
        terms: tuple[str, ...] = (),
    ) -> None:
        if game.contest.whole_games is None:
            raise InputError(
                f"--measure {opponent}: plays games one roll deep, and {game.name} has no dice;"
                " play tuner match"
            )
        self.seconds = 0.0
        self._whole, self._games, self._every, self._seed = (
            game.contest.whole_games,
            games,
            every,
            seed + DICE,
        )
        named = understood(opponent)
        if named.game not in (None, game.name):
            raise InputError(f"--measure {opponent}: plays {named.game}, the learner {game.name}")
        self._name, self._opponent = named.name, _opponent(opponent, named, game, terms)

    def due(self, before: int, games: int, total: int) -> bool:
        """Return whether to measure after `games` games of `total`, if there were `before` a batch
        earlier."""
        return games // self._every > before // self._every or before < games == total

    def of(self, player: Any) -> MeasuredGames:
        """Measure a player."""
        begun = time.thread_time()
        found = mean_points(
            play_games(self._whole, player, self._opponent, self._games, seed=self._seed).points
        )
        self.seconds += time.thread_time() - begun
        return MeasuredGames(
            self._name, found.mean, quantile(self._games // 2) * found.error, self._games
        )


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
            " compiled games have; tuner match plays others"
        )
    return CompiledPlayer(players[named.name], 1 if named.name == "random" else 0)
