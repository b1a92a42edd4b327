"""The options of `tuner games` and `tuner.play_games`, and the settings of their runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

from msgspec import Meta

from tuner.core.records import (
    Centipawns,
    Count,
    PositiveCount,
    Settings,
    Unit,
)
from tuner.options.option import draw, option, resign, seed, workers

SECTION = "games"  # of config.yaml
MAX_PLIES = 10_000  # plies of a game
Plies = Annotated[int, Meta(ge=0, le=MAX_PLIES, description="a whole number of 0 or more")]
PositivePlies = Annotated[int, Meta(ge=1, le=MAX_PLIES, description="a whole number of 1 or more")]
ENGINE_DEPTH, ENGINE_PART, VARY = 6, 20, 0.1  # of games of an engine, by default
USUAL_RESIGN = ("movecount=2", "score=600", "twosided=true")
USUAL_DRAW = ("movenumber=40", "movecount=8", "score=10")


@dataclass(frozen=True, kw_only=True)
class GamesOptions(Settings):
    """The options of games of an evaluation against its copies, or of an engine. Scores and noise
    are in centipawns. None: not given, and no such limit."""

    games: PositiveCount = option("number of games (default: 6000)", 6000, metavar="N", resume=True)
    depth: PositiveCount | None = option(
        "plies per search (default: 3, of engines 6; with --nodes no limit)",
        3,
        metavar="N",
    )
    nodes: PositiveCount | None = option(
        "nodes per search; with --depth, whichever is reached first", metavar="N"
    )
    noise: Centipawns = option(
        "noise of a copy in centipawns, root mean square (default: 10); a new copy plays every two"
        " games",
        10.0,
        metavar="CP",
    )
    vary: Unit | None = option(
        "vary the nodes of each move by up to this share, or search this share of the moves one ply"
        " less deep (default: 0.1)",
        metavar="SHARE",
        seldom=True,
    )
    hash: PositiveCount | None = option(
        "size of the engine's transposition table (default: its own)", metavar="MB"
    )
    options: tuple[str, ...] = option(
        "option of the engine; may be repeated",
        default=(),
        flags="--option",
        metavar="NAME=VALUE",
        action="append",
    )
    random_plies: Plies = option(
        "begin with N random plies that lead to a balanced position (default: 8)",
        8,
        metavar="N",
    )
    openings: str | None = option(
        "openings of this file of positions or games, also .gz, .bz2, .zst, .zip", metavar="FILE"
    )
    plies: PositivePlies = option(
        "end games as draws after N plies (default: 300)", 300, metavar="N"
    )
    resign: tuple[str, ...] | None = resign(
        "movecount=2 score=600 twosided=true, in shogi score=3000"
    )
    draw: tuple[str, ...] | None = draw("movenumber=40 movecount=8 score=10, in shogi off")
    play_on: Unit = option(
        "play this share of the games to their end, to measure how reliable adjudication is"
        " (default: 0.02)",
        0.02,
        metavar="SHARE",
        seldom=True,
    )
    syzygy: str | None = option(
        "adjudicate by the Syzygy tablebases in this folder",
        metavar="DIR",
    )
    seed: Count = seed()
    workers: PositiveCount | None = workers(
        "games played at once; they are the same for any number", resume=True
    )

    @property
    def control(self) -> str:
        """The limits of a search in words, also for the tags of games."""
        depth = f"depth {self.depth}" if self.depth is not None else ""
        nodes = f"{self.nodes:,} nodes a move" if self.nodes is not None else ""
        return ", ".join(filter(None, (depth, nodes)))

    @property
    def words(self) -> str:
        """How the players search, as the beginning of a sentence."""
        noise = f"noise of {self.noise:g} centipawns" if self.vary is None else ""
        varied = f"varied by {self.vary:g}" if self.vary else ""
        return "".join(f"{each}, " for each in (self.control, noise, varied) if each)


@dataclass(frozen=True, kw_only=True)
class GamesSettings(GamesOptions):
    """The options with everything that games depend on. `start` is PARAMS as the user named it,
    `part` is the number of games in a file, and `evaluation` is a hash of the terms and the
    program."""

    resign: tuple[str, ...] | None = USUAL_RESIGN
    draw: tuple[str, ...] | None = USUAL_DRAW
    start: str
    part: PositiveCount = 20
    terms: tuple[str, ...] = ()
    evaluation: str | None = None

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        if self.depth is None and self.nodes is None and self.vary != 0:  # of engines with dice
            yield "depth and nodes are both null, expected one of them"
