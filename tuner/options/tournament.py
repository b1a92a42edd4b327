"""The options of `tuner tournament`, and the settings of its runs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import ClassVar

from tuner.options.kinds import COUNT, POSITIVE_COUNT, whole
from tuner.options.match import DEFAULT_RANDOM_PLIES, Entrant, PairsOptions, PairsSettings
from tuner.options.option import option, require_sense

SECTION = "tournament"  # of config.yaml
USUAL_GAMES = 20  # of each pairing
MOST_PLAYERS = 200


@dataclass(frozen=True, kw_only=True)
class TournamentOptions(PairsOptions):
    """The options of tournaments."""

    games: int = option(
        f"games of each pairing, even (default: {USUAL_GAMES}); with --resume a new number",
        POSITIVE_COUNT,
        USUAL_GAMES,
        metavar="N",
        resume=True,
    )
    player: tuple[list[str], ...] = option(
        "one more player, with limits and options of its own: name=NAME, depth=N, nodes=N,"
        " movetime=S, tc=BASE+INC, byoyomi=S, option.NAME=VALUE; may be repeated",
        default=(),
        nargs="+",
        metavar=("PLAYER", "NAME=VALUE"),
        action="append",
    )
    gauntlet: bool = option(
        "the first player plays all others, which do not play each other",
        default=False,
        action="store_true",
    )
    ladder: tuple[str, str] | None = option(
        "the player against levels of another: LEVELS is NAME=FROM:TO:STEP, an option of the engine"
        " or depth or nodes; levels far from it play few games, and those of UCI_Elo are ratings",
        nargs=2,
        metavar=("PLAYER", "LEVELS"),
    )
    random_plies: int = option(
        "without --openings: balanced positions after N random plies (default: 8; with dice 0)",
        COUNT,
        metavar="N",
    )
    plies: int = option("adjudicate a draw after N plies (default: never)", COUNT, 0, metavar="N")
    anchor: tuple[str, ...] = option(
        "the rating of a player is this number (default: the mean of all is 0); may be repeated",
        default=(),
        metavar="NAME=ELO",
        action="append",
    )


@dataclass(frozen=True, kw_only=True)
class TournamentSettings(TournamentOptions, PairsSettings):
    """All that the games of a tournament depend on, and how they are played: `players` as they were
    named, `options` of their engines. A run records what `ORDER` names."""

    ORDER: ClassVar = (
        "players names games gauntlet ladder anchor controls options openings order random_plies"
        " seed plies resign draw hash terms files evaluation luck restart syzygy book_plies"
    )
    RARE: ClassVar = "ladder luck restart syzygy book_plies"
    players: tuple[str, ...]
    names: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    openings: str | None = None
    random_plies: int = DEFAULT_RANDOM_PLIES

    def require_sense(self) -> None:
        """ValueError for numbers that no tournament can have."""
        require_sense(self)
        whole().require("random_plies", self.random_plies)
        if self.games % 2:
            raise ValueError(f"games is {self.games}, expected an even number")
        number = len(self.players)
        if not 2 <= number <= MOST_PLAYERS:
            raise ValueError(f"{number} players, expected 2 to {MOST_PLAYERS}")
        if {len(self.names), len(self.controls), len(self.options)} != {number}:
            raise ValueError("players, names, controls and options are not of one length")
        self.require_limits()

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """See `PairsSettings`."""
        return tuple(
            Entrant(text, control, tuple(options), "--player option.NAME=VALUE:", f"{i}.yaml")
            for i, (text, control, options) in enumerate(
                zip(self.players, self.controls, self.options, strict=True), 1
            )
        )

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """See `PairsSettings`."""
        number = len(self.players)
        if self.gauntlet:
            return [(0, other) for other in range(1, number)]
        return list(itertools.combinations(range(number), 2))
