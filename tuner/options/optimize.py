"""The options of `tuner optimize` and `tuner.optimize`, and the settings of their runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from tuner.options.kinds import COUNT, POSITIVE, POSITIVE_COUNT, whole
from tuner.options.match import MatchOptions, MatchSettings
from tuner.options.option import as_field, option, options_in

SECTION = "optimize"  # of config.yaml
DEFAULT_GAMES = 20_000
DEFAULT_MATCH_GAMES = 10_000
OF_MATCH = (
    "depth nodes movetime tc byoyomi timemargin openings book_plies order random_plies plies"
    " resign draw syzygy hash restart seed workers"
)


def _of_match(name: str) -> Any:
    """Return an option of matches as a field."""
    return as_field(options_in(MatchOptions, name)[0])


@dataclass(frozen=True, kw_only=True)
class OptimizeOptions:
    """The options of an optimization. None: not given, and no such limit, file or rule."""

    options: str | Path | None = option(
        "the numbers: lines `name, int or float, value, min, max, c_end, r_end` of OpenBench, or"
        " the JSON of weather-factory",
        metavar="FILE",
    )
    games: int | None = option(
        f"number of games, even (default: {DEFAULT_GAMES:,}); with --resume a larger total",
        POSITIVE_COUNT,
        metavar="N",
        resume=True,
    )
    method: str = option(
        "local (default): a local model of strength, with intervals; spsa: SPSA as in fishtest and"
        " OpenBench",
        default="local",
        choices=("local", "spsa"),
    )
    opponent: str | None = option(
        "both sides of a pair play two games each against this player (default: one another)",
        metavar="PLAYER",
    )
    match_games: int = option(
        f"largest number of games of the final match (default: {DEFAULT_MATCH_GAMES:,}); 0: none",
        COUNT,
        DEFAULT_MATCH_GAMES,
        metavar="N",
    )
    gain: float = option(
        "the Elo gain that the final SPRT tests for (default: 5); in points a game"
        " where games win several points (default: 0.05)",
        POSITIVE,
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
    seed: int = _of_match("seed")
    workers: int | None = _of_match("workers")
    run: str | Path | None = option(
        "keep everything in this folder (default: optimize-1, ...)", metavar="DIR"
    )


@dataclass(frozen=True, kw_only=True)
class OptimizeSettings(MatchSettings):
    """The settings of a run and of its games, in which a and b are the same player; `method`,
    the pairs that its schedule was `planned` for, the `opponent`, and the match at the end."""

    ORDER: ClassVar = f"{MatchSettings.ORDER} method planned opponent match_games gain"
    method: str = option("the method", default="local", choices=("local", "spsa"))
    planned: int = 1
    opponent: str | None = None
    match_games: int = DEFAULT_MATCH_GAMES
    gain: float = 5.0

    @property
    def each(self) -> int:
        """The games that are played with the same two settings of the numbers."""
        return 2 if self.opponent is None else 4

    def require_sense(self) -> None:
        """ValueError for numbers that no run can have."""
        super().require_sense()
        whole(1).require("planned", self.planned)
        if self.match_games % 2:
            raise ValueError(f"match_games is {self.match_games}, expected an even number")
        POSITIVE.require("gain", self.gain)
