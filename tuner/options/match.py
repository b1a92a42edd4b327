"""The options of `tuner match`, `tournament` and `optimize`, which share most, and the settings of
their runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta

from tuner.core.records import (
    MAX_COUNT,
    Amount,
    Count,
    NotNegative,
    Number,
    Positive,
    PositiveCount,
    Settings,
)
from tuner.options.option import (
    Table,
    TimeControl,
    Title,
    draw,
    option,
    options_in,
    resign,
    seed,
    time_control,
    workers,
)

if TYPE_CHECKING:
    from games.record import Control

SECTION = "match"  # of config.yaml
DEFAULT_DEPTH = 4
DEFAULT_GAMES = 100
DEFAULT_RANDOM_PLIES = 8
EvenGames = Annotated[
    int,
    Meta(
        ge=2,
        le=MAX_COUNT,
        multiple_of=2,
        description="an even number of 2 or more: games are played in pairs",
    ),
]
Limits: TypeAlias = dict[str, Amount | None]
LIMITS = {"depth", "nodes", "movetime", "base", "increment", "moves", "byoyomi", "margin"}
SEARCHES = ("depth", "nodes", "movetime", "base")  # limits without which a search has no end


@dataclass(frozen=True, kw_only=True)
class GameOptions(Settings):
    """The options of games between players. None: not given, and no such limit, file or rule."""

    depth: PositiveCount | None = option(
        "plies per search of all players (default: 4; with dice 1)", metavar="N"
    )
    nodes: PositiveCount | None = option("nodes per move of all players", metavar="N")
    movetime: Positive | None = option("seconds per move of all players", metavar="S")
    tc: TimeControl | None = option(
        "time control of all players: seconds per game, or for every MOVES moves, + seconds added"
        " after each move",
        read=time_control,
        metavar="[MOVES/]BASE+INC",
    )
    byoyomi: Positive | None = option(
        "shogi, with --tc: seconds for each move once the clock is used up",
        metavar="S",
        seldom=True,
    )
    timemargin: NotNegative | None = option(
        "seconds by which a move may exceed its time (default: with --tc 0, with --movetime 0.5)",
        metavar="S",
        seldom=True,
    )
    openings: str | Path | None = option(
        "openings: EPD, PGN or a Polyglot book (.bin), for shogi SFEN or CSA, also .gz, .bz2, .zst,"
        " .zip",
        metavar="FILE",
    )
    book_plies: PositiveCount | None = option(
        "with a Polyglot book: openings of N plies, drawn by its weights (default: 8)",
        metavar="N",
        seldom=True,
    )
    hash: PositiveCount | None = option(
        "size of the transposition table (default: 16)", metavar="MB"
    )
    order: Literal["random", "sequential"] = option(
        "order of the openings (default: random)",
        default="random",
        seldom=True,
    )
    random_plies: Count = option(
        "without --openings: balanced positions after N random plies (default: 8; with dice, and in"
        " a match with `random` and --plies, 0)",
        metavar="N",
    )
    plies: Count = option(
        "adjudicate a draw after N plies (default: never); in a match against `random`, also play"
        " `zero` and `material` against it",
        0,
        flags="--plies --max-moves",
        metavar="N",
    )
    resign: tuple[str, ...] | None = resign("off")
    draw: tuple[str, ...] | None = draw("off")
    syzygy: str | None = option(
        "chess: adjudicate by the Syzygy tablebases in this folder",
        metavar="DIR",
    )
    restart: bool | None = option(
        "restart engines before every ten games, in optimize every two, so that a resumed run plays"
        " the same games",
        action="store_true",
    )
    seed: Count = seed()
    workers: PositiveCount | None = workers("games played at once", resume=True)


@dataclass(frozen=True, kw_only=True)
class PairsOptions(GameOptions):
    """The options that matches and tournaments share."""

    pgn: str | Path | None = option(
        "write the games to this file; sorted when the match ends",
        anew=True,
        metavar="OUT",
        resume=True,
    )
    run: str | Path | None = option(
        "keep everything in this folder, so that it can be resumed", anew=True, metavar="DIR"
    )
    log: str | Path | None = option(
        "write what passes between tuner and the engines to this file: each line with its time and"
        " its engine",
        anew=True,
        metavar="OUT",
        resume=True,
        seldom=True,
    )
    affinity: bool = option(
        "bind the engines of each game to a core of their own",
        default=False,
        action="store_true",
        seldom=True,
    )
    luck: str | None = option(
        "with dice: parameter file or network for luck adjustment (default: the best bundled one)",
        metavar="FILE",
        seldom=True,
    )


# of matches and tournaments, in the order of their help
GAMES = (
    "order random_plies book_plies plies resign draw syzygy byoyomi timemargin luck restart"
    " affinity seed"
)


def games_of(record: type) -> Table:
    """Return the options on games that a record of a match or a tournament has."""
    return (Title("games"), *options_in(record, GAMES))


@dataclass(frozen=True, kw_only=True)
class MatchOptions(PairsOptions):
    """The options of matches."""

    games: EvenGames | None = option(
        "number of games, even (default: 100); with --sprt the largest number (default: no limit);"
        " with --resume a larger one",
        metavar="N",
        resume=True,
    )
    depth_a: PositiveCount | None = option("plies per search of A alone", metavar="N")
    nodes_a: PositiveCount | None = option("nodes per move of A alone", metavar="N")
    depth_b: PositiveCount | None = option("plies per search of B alone", metavar="N")
    nodes_b: PositiveCount | None = option("nodes per move of B alone", metavar="N")
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
        nargs=2,
        metavar=("ELO0", "ELO1"),
    )
    model: Literal["normalized", "logistic"] = option(
        "Elo model of --sprt (default: normalized)", seldom=True
    )
    alpha: Number = option(
        "probability of accepting ELO1 if ELO0 is true (default: 0.05)",
        0.05,
        metavar="P",
        seldom=True,
    )
    beta: Number = option(
        "probability of accepting ELO0 if ELO1 is true (default: 0.05)",
        0.05,
        metavar="P",
        seldom=True,
    )


@dataclass(frozen=True)
class Entrant:
    """A player as the user named it, with its limits and the options of its engine; `flag` gave
    these, and `copy` names its file in the folder of a run."""

    text: str
    control: Limits
    options: tuple[str, ...]
    flag: str
    copy: str

    @property
    def limits(self) -> Control:
        """The limits as a record."""
        from games.record import Control

        return Control(**self.control)  # type: ignore[arg-type]  # by name


@dataclass(frozen=True, kw_only=True)
class PairsSettings(Settings):
    """The settings of all runs of pairs of games, in addition to their options. `game` is the name
    of the game, `names` are those of the players, `controls` their limits, `evaluation` is a hash
    of the terms and the program, `files` are the files that the games depend on, with their
    sha256."""

    game: str
    names: tuple[str, ...] = ()
    controls: tuple[Limits, ...] = ()
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

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        if not all(any(control.get(name) for name in SEARCHES) for control in self.controls):
            yield "controls have no limit, expected depth, nodes, movetime or base"
        if unknown := set().union(*self.controls) - LIMITS:
            yield f"controls name {unknown.pop()}, expected {', '.join(sorted(LIMITS))}"


@dataclass(frozen=True, kw_only=True)
class MatchSettings(MatchOptions, PairsSettings):
    """All that the games of a match depend on, and how they are played."""

    a: str
    b: str
    names: tuple[str, str] = ("", "")
    model: str = "normalized"  # type: ignore[assignment]  # a test of points has its own
    controls: tuple[Limits, Limits] = ({"depth": DEFAULT_DEPTH}, {"depth": DEFAULT_DEPTH})
    openings: str | None = None
    random_plies: Count = DEFAULT_RANDOM_PLIES

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        yield from super().faults()
        if self.games is None and self.sprt is None:
            yield "games and sprt are both null, expected one of them"

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

    games: EvenGames = option(
        f"games of each pairing, even (default: {USUAL_GAMES}); with --resume a new number",
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
    random_plies: Count = option(
        "without --openings: balanced positions after N random plies (default: 8; with dice 0)",
        metavar="N",
    )
    plies: Count = option("adjudicate a draw after N plies (default: never)", 0, metavar="N")
    anchor: tuple[str, ...] = option(
        "fix the rating of a player (default: the mean is 0); may be repeated",
        default=(),
        metavar="NAME=ELO",
        action="append",
    )


@dataclass(frozen=True, kw_only=True)
class TournamentSettings(TournamentOptions, PairsSettings):
    """All that the games of a tournament depend on, and how they are played: `players` as they were
    named, `options` of their engines."""

    players: tuple[str, ...]
    names: tuple[str, ...] = ()
    options: tuple[tuple[str, ...], ...] = ()
    openings: str | None = None
    random_plies: Count = DEFAULT_RANDOM_PLIES

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        yield from super().faults()
        number = len(self.players)
        if not 2 <= number <= MOST_PLAYERS:
            yield f"{number} players, expected 2 to {MOST_PLAYERS}"
        if {len(self.names), len(self.controls), len(self.options)} != {number}:
            yield "players, names, controls and options are not of one length"

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


OPTIMIZE_SECTION = "optimize"  # of config.yaml
OPTIMIZE_GAMES = 20_000
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
        f"number of games, even (default: {OPTIMIZE_GAMES:,}); with --resume a larger total",
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
