"""The options of `tuner optimize` and `tuner.optimize`, and the settings of their runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from tuner.core.records import (
    MAX_COUNT,
    Positive,
    PositiveCount,
)
from tuner.options.match import EvenGames, GameOptions, MatchSettings
from tuner.options.option import option

SECTION = "optimize"  # of config.yaml
DEFAULT_GAMES = 20_000
DEFAULT_MATCH_GAMES = 10_000
EvenOrNone = Annotated[
    int, Meta(ge=0, le=MAX_COUNT, multiple_of=2, description="an even number of 0 or more")
]


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions(GameOptions):
    """The options of an optimization. None: not given, and no such limit, file or rule."""

    options: str | Path | None = option(
        "the numbers: lines `name, int or float, value, min, max, c_end, r_end` of OpenBench, or"
        " the JSON of weather-factory",
        metavar="FILE",
    )
    games: EvenGames | None = option(
        f"number of games, even (default: {DEFAULT_GAMES:,}); with --resume a larger total",
        metavar="N",
        resume=True,
    )
    opponent: str | None = option(
        "both sides of a pair play two games each against this player (default: one another)",
        metavar="PLAYER",
    )
    match_games: EvenOrNone = option(
        f"largest number of games of the final match (default: {DEFAULT_MATCH_GAMES:,}); 0: none",
        DEFAULT_MATCH_GAMES,
        metavar="N",
    )
    gain: Positive = option(
        "the Elo gain that the final SPRT tests for (default: 5); in points a game"
        " where games win several points (default: 0.05)",
        metavar="N",
    )
    run: str | Path | None = option(
        "keep everything in this folder (default: optimize-1, ...)", anew=True, metavar="DIR"
    )


@dataclass(frozen=True, kw_only=True)
class OptimizeSettings(OptimizeOptions, MatchSettings):
    """The settings of a run and of its games, in which a and b are the same player; `planned` is
    the number of pairs that its schedule was made for."""

    planned: PositiveCount = 1

    @property
    def each(self) -> int:
        """The games that are played with the same two settings of the numbers."""
        return 2 if self.opponent is None else 4
