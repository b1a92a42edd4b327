"""The options of `tuner optimize` and `tuner.optimize`, and the settings of their runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta

from tuner.core.records import (
    MAX_COUNT,
    Count,
    Positive,
    PositiveCount,
    Settings,
)
from tuner.options.match import EvenGames, MatchOptions, MatchSettings
from tuner.options.option import as_field, option, options_in

SECTION = "optimize"  # of config.yaml
DEFAULT_GAMES = 20_000
DEFAULT_MATCH_GAMES = 10_000
EvenOrNone = Annotated[
    int, Meta(ge=0, le=MAX_COUNT, multiple_of=2, description="an even number of 0 or more")
]
OF_MATCH = (
    "depth nodes movetime tc byoyomi timemargin openings book_plies order random_plies plies"
    " resign draw syzygy hash restart seed workers"
)


def _of_match(name: str) -> Any:
    """Return an option of matches as a field."""
    return as_field(options_in(MatchOptions, name)[0])


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions(Settings):
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
    method: Literal["local", "spsa"] = option(
        "local (default): a local model of strength, with intervals; spsa: SPSA as in fishtest and"
        " OpenBench",
        default="local",
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
    depth: int | None = _of_match("depth")
    nodes: int | None = _of_match("nodes")
    movetime: float | None = _of_match("movetime")
    tc: tuple[float, float] | None = _of_match("tc")
    byoyomi: float | None = _of_match("byoyomi")
    timemargin: float | None = _of_match("timemargin")
    openings: str | Path | None = _of_match("openings")
    book_plies: int | None = _of_match("book_plies")
    order: str = _of_match("order")
    random_plies: int | None = _of_match("random_plies")
    plies: int = _of_match("plies")
    resign: tuple[str, ...] | None = _of_match("resign")
    draw: tuple[str, ...] | None = _of_match("draw")
    syzygy: str | None = _of_match("syzygy")
    hash: int | None = _of_match("hash")
    restart: bool | None = _of_match("restart")
    seed: Count = _of_match("seed")
    workers: PositiveCount | None = _of_match("workers")
    run: str | Path | None = option(
        "keep everything in this folder (default: optimize-1, ...)", anew=True, metavar="DIR"
    )


@dataclass(frozen=True, kw_only=True)
class OptimizeSettings(MatchSettings):
    """The settings of a run and of its games, in which a and b are the same player; `method`,
    the pairs that its schedule was `planned` for, the `opponent`, and the match at the end."""

    method: Literal["local", "spsa"] = option(
        "the method",
        default="local",
    )
    planned: PositiveCount = 1
    opponent: str | None = None
    match_games: EvenOrNone = DEFAULT_MATCH_GAMES
    gain: Positive = 5.0

    @property
    def each(self) -> int:
        """The games that are played with the same two settings of the numbers."""
        return 2 if self.opponent is None else 4
