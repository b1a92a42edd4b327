"""The options of `tuner match` and `tuner.play_match`, those that tournaments share, and the
settings of their runs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tuner.options.kinds import (
    COUNT,
    LARGEST_COUNT,
    POSITIVE,
    POSITIVE_COUNT,
    NumberKind,
    time_control,
    whole,
)
from tuner.options.option import option, require_sense
from tuner.options.shared import draw, resign, seed, workers

if TYPE_CHECKING:
    from games.record import Control


SECTION = "match"  # of config.yaml
DEFAULT_DEPTH = 4
DEFAULT_GAMES = 100
DEFAULT_RANDOM_PLIES = 8
SEARCHES = ("depth", "nodes", "movetime", "base")  # limits without which a search has no end


@dataclass(frozen=True, kw_only=True)
class PairsOptions:
    """The options that matches and tournaments share. None: not given, and no such limit, file or
    rule."""

    depth: int | None = option(
        "plies per search of all players (default: 4; with dice 1)", POSITIVE_COUNT, metavar="N"
    )
    nodes: int | None = option("nodes per move of all players", POSITIVE_COUNT, metavar="N")
    movetime: float | None = option("seconds per move of all players", POSITIVE, metavar="S")
    tc: tuple[float, float] | None = option(
        "time control of all players: seconds per game + seconds added after each move",
        time_control,
        metavar="BASE+INC",
    )
    byoyomi: float | None = option(
        "shogi, with --tc: seconds for each move once the clock is used up",
        POSITIVE,
        metavar="S",
        seldom=True,
    )
    timemargin: float | None = option(
        "seconds by which a move may exceed its time (default: with --tc 0, with --movetime 0.5)",
        POSITIVE,
        metavar="S",
        seldom=True,
    )
    openings: str | Path | None = option(
        "openings: EPD, PGN or a Polyglot book (.bin), for shogi SFEN or CSA, also .gz, .bz2, .zst,"
        " .zip",
        metavar="FILE",
    )
    book_plies: int | None = option(
        "with a Polyglot book: openings of N plies, drawn by its weights (default: 8)",
        POSITIVE_COUNT,
        metavar="N",
        seldom=True,
    )
    pgn: str | Path | None = option(
        "write the games to this file; sorted when the match ends",
        metavar="OUT",
        resume=True,
    )
    run: str | Path | None = option(
        "keep everything in this folder, so that it can be resumed", metavar="DIR"
    )
    hash: int | None = option(
        "size of the transposition table (default: 16)", POSITIVE_COUNT, metavar="MB"
    )
    order: str = option(
        "order of the openings (default: random)",
        default="random",
        choices=("random", "sequential"),
        seldom=True,
    )
    random_plies: int = option(
        "without --openings: balanced positions after N random plies (default: 8; with dice, and in"
        " a match with `random` and --plies, 0)",
        COUNT,
        metavar="N",
    )
    plies: int = option(
        "adjudicate a draw after N plies (default: never); in a match against `random`, also play"
        " `zero` and `material` against it",
        COUNT,
        0,
        metavar="N",
    )
    resign: tuple[str, ...] | None = resign(
        "a player resigns after 3 moves in a row with scores of -400 centipawns or less (default:"
        " off)"
    )
    draw: tuple[str, ...] | None = draw("off")
    syzygy: str | None = option(
        "chess: adjudicate by the Syzygy tablebases in this folder",
        metavar="DIR",
    )
    luck: str | None = option(
        "with dice: parameter file or network for luck adjustment (default: the best bundled one)",
        metavar="FILE",
        seldom=True,
    )
    restart: bool | None = option(
        "restart engines before every pair, so that a resumed match plays the same games",
        action="store_true",
    )
    seed: int = seed()
    workers: int | None = workers("games played at once", resume=True)


@dataclass(frozen=True, kw_only=True)
class MatchOptions(PairsOptions):
    """The options of matches."""

    games: int | None = option(
        "number of games, even (default: 100); with --sprt the largest number (default: no limit);"
        " with --resume a larger one",
        COUNT,
        metavar="N",
        resume=True,
    )
    depth_a: int | None = option("plies per search of A alone", POSITIVE_COUNT, metavar="N")
    nodes_a: int | None = option("nodes per move of A alone", POSITIVE_COUNT, metavar="N")
    depth_b: int | None = option("plies per search of B alone", POSITIVE_COUNT, metavar="N")
    nodes_b: int | None = option("nodes per move of B alone", POSITIVE_COUNT, metavar="N")
    name_a: str | None = option(
        "name of A (default: the `id name` of an engine, or the name of the file)",
        metavar="NAME",
        seldom=True,
    )
    name_b: str | None = option("name of B", metavar="NAME", seldom=True)
    option_a: tuple[str, ...] = option(
        "option of the engine A; may be repeated", default=(), metavar="NAME=VALUE", action="append"
    )
    option_b: tuple[str, ...] = option(
        "option of the engine B; may be repeated", default=(), metavar="NAME=VALUE", action="append"
    )
    with_a: str | Path | None = option(
        "set options of the engine A from a file: lines NAME=VALUE, or for our own engine a"
        " parameter file; --option-a takes precedence",
        flags="--with --with-a",
        metavar="FILE",
    )
    with_b: str | Path | None = option("the same for the engine B", metavar="FILE")
    sprt: tuple[float, float] | None = option(
        "play until the SPRT accepts one of two Elo differences (backgammon: points per game)",
        float,
        nargs=2,
        metavar=("ELO0", "ELO1"),
    )
    model: str = option(
        "Elo model of --sprt (default: normalized)", choices=("normalized", "logistic"), seldom=True
    )
    alpha: float = option(
        "probability of accepting ELO1 if ELO0 is true (default: 0.05)",
        float,
        0.05,
        metavar="P",
        seldom=True,
    )
    beta: float = option(
        "probability of accepting ELO0 if ELO1 is true (default: 0.05)",
        float,
        0.05,
        metavar="P",
        seldom=True,
    )


@dataclass(frozen=True)
class Entrant:
    """A player as the user named it, with its limits and the options of its engine; `flag` gave
    these, and `copy` names its file in the folder of a run."""

    text: str
    control: dict[str, Any]
    options: tuple[str, ...]
    flag: str
    copy: str

    @property
    def limits(self) -> Control:
        """The limits as a record."""
        from games.record import Control

        return Control(**self.control)


@dataclass(frozen=True, kw_only=True)
class PairsSettings:
    """The settings of all runs of pairs of games, in addition to their options. `names` are the
    names of the players, `controls` their limits, `evaluation` is a hash of the terms and the
    program, `files` are the files that the games depend on, with their sha256."""

    names: tuple[str, ...] = ()
    controls: tuple[dict, ...] = ()
    terms: tuple[str, ...] = ()
    files: dict[str, str] = field(default_factory=dict)
    evaluation: str | None = None

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """The players."""
        raise NotImplementedError

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """Who plays whom, by the numbers of the players."""
        raise NotImplementedError

    def control(self, side: int) -> Control:
        """Return the limits of a player."""
        return self.entrants[side].limits

    @property
    def conditions(self) -> str:
        """The limits of all players in words."""
        texts = dict.fromkeys(self.control(i).text for i in range(len(self.controls)))
        return " : ".join(texts)

    @property
    def judge(self) -> str | None:
        """The name of the evaluation that measures luck, None in games without dice."""
        luck: str | None = getattr(self, "luck", None)
        return None if luck is None else Path(luck).stem

    def require_limits(self) -> None:
        """ValueError for controls that no player can have."""
        from games.record import Control

        for control in self.controls:
            if not control or not set(control) <= {each.name for each in fields(Control)}:
                raise ValueError("controls are not limits of depth, nodes or time")
            for name, value in control.items():
                of_whole = name in ("depth", "nodes")
                if (
                    value is not None
                    and type(value) is not int
                    and (of_whole or type(value) is not float)
                ):
                    raise ValueError(f"{name} of controls is {value!r}, expected a number")
                if value is not None:
                    NumberKind(int(of_whole), LARGEST_COUNT, "a number of 0 or more").require(
                        f"{name} of controls", value
                    )
            if not any(control.get(name) for name in SEARCHES):
                raise ValueError("controls have no limit, expected depth, nodes, movetime or base")


@dataclass(frozen=True, kw_only=True)
class MatchSettings(MatchOptions, PairsSettings):
    """All that the games of a match depend on, and how they are played. A run records what `ORDER`
    names."""

    ORDER: ClassVar = (
        "a b names games sprt model alpha beta controls openings order random_plies seed plies"
        " resign draw hash option_a option_b terms files evaluation luck restart syzygy book_plies"
    )
    RARE: ClassVar = "restart syzygy book_plies"
    a: str
    b: str
    names: tuple[str, str] = ("", "")
    model: str = option(
        "the model of its sequential test, which may be one of points", default="normalized"
    )
    controls: tuple[dict, dict] = ({"depth": DEFAULT_DEPTH}, {"depth": DEFAULT_DEPTH})
    openings: str | None = None
    random_plies: int = DEFAULT_RANDOM_PLIES

    def require_sense(self) -> None:
        """ValueError for numbers that no match can have; all other mistakes are found where
        settings are used."""
        require_sense(self)
        whole().require("random_plies", self.random_plies)
        if self.games is not None and (self.games < 2 or self.games % 2):
            raise ValueError(f"games is {self.games}, expected an even number")
        if self.games is None and self.sprt is None:
            raise ValueError("games and sprt are both null, expected one of them")
        self.require_limits()

    @property
    def entrants(self) -> tuple[Entrant, ...]:
        """See `PairsSettings`."""
        return (
            Entrant(self.a, self.controls[0], self.option_a, "--option-a", "a.yaml"),
            Entrant(self.b, self.controls[1], self.option_b, "--option-b", "b.yaml"),
        )

    @property
    def pairings(self) -> list[tuple[int, int]]:
        """See `PairsSettings`."""
        return [(0, 1)]


TOURNAMENT_SECTION = "tournament"  # of config.yaml
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
        "add a player with its own limits and options: name=NAME, depth=N, nodes=N,"
        " movetime=S, tc=BASE+INC, byoyomi=S, option.NAME=VALUE; may be repeated",
        default=(),
        nargs="+",
        metavar=("PLAYER", "NAME=VALUE"),
        action="append",
    )
    gauntlet: bool = option(
        "the first player plays against all the rest",
        default=False,
        action="store_true",
    )
    ladder: tuple[str, str] | None = option(
        "play against levels of PLAYER: LEVELS is NAME=FROM:TO:STEP, where NAME is an engine"
        " option, depth or nodes; with UCI_Elo the levels have known ratings",
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
        "fix the rating of a player (default: the mean is 0); may be repeated",
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
