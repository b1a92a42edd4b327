"""The match after a round of own games: the learned weights against those that the round began with."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tuner.io.progress import Display
from tuner.match.match import Ways, new_match
from tuner.match.settings import DEFAULT_DEPTH, DEFAULT_RANDOM_PLIES, settings_of
from tuner.parallel import Executor
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

FEWEST, MOST, PART = 40, 400, 15  # games of the match: one for so many own games, within these limits


class Verdict(NamedTuple):
    """What a match of some games found: the score of the learned weights from 0 to 1, and their Elo with half of its 95 %
    interval; None if all pairs ended alike."""

    games: int
    score: float
    elo: float | None
    error: float | None

    @property
    def better(self) -> bool:
        """Whether the learned weights are more likely better than not."""
        return self.score > 0.5

    def __str__(self) -> str:
        elo = "" if self.elo is None or self.error is None else f" ({self.elo:+.0f} +/- {self.error:.0f} Elo)"
        return f"{100 * self.score:.1f} % of {self.games:,} games at depth {DEFAULT_DEPTH}{elo}"


def played(before: Parameters, after: Parameters, own_games: int, seed: int, terms: Sequence[str | Path],
           executor: Executor, command: str, display: Display) -> Verdict:
    """Play the learned weights `after` against those `before`, on the executor. KeyboardInterrupt if the match is interrupted."""
    games = min(max(own_games // PART // 2 * 2, FEWEST), MOST)
    limits = {"depth": DEFAULT_DEPTH}
    with tempfile.TemporaryDirectory(prefix="evaltune-") as folder:
        players = [str(Path(folder) / f"{name}.yaml") for name in ("learned", "before")]
        for path, parameters in zip(players, (after, before), strict=True):
            write_parameters(Path(path), parameters)
        settings = settings_of(*players, games=games, controls=(limits, dict(limits)), seed=seed, terms=tuple(map(str, terms)),
                               random_plies=DEFAULT_RANDOM_PLIES)
        found = new_match(settings, None, Ways(executor), command, display)
    if found.interrupted:
        raise KeyboardInterrupt
    return Verdict(games, found.plain["score"], found.plain["elo"]["value"], found.plain["elo"]["error"])
