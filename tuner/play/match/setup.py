"""Players, openings and judges of a match, made from its settings."""

import contextlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeAlias

from games.process import logged
from games.record import Control, Game, find
from games.streams import InputError, pieces
from games.system import CPUS
from tuner.core.text import plural
from tuner.evaluation.evaluation import (
    Evaluation,
    evaluation_from,
    load_evaluation,
    quiescence_of,
)
from tuner.evaluation.own_numbers import require_terms
from tuner.io.files import LOGFILE, bundled, require_writable, sha256_of
from tuner.options.match import Entrant, MatchSettings, TournamentSettings
from tuner.options.option import named_values, no_use, refuse
from tuner.play.openings import JUDGE, Book, Generator, book_from, start_of
from tuner.play.players import (
    EVALUATION,
    OURS,
    RANDOM,
    Named,
    PlayerSpec,
    external_player,
    game_between,
    introduced,
    named_file,
    names_of,
    own_player,
    search_player,
    understood,
)
from tuner.statistics.sprt import POINTS, Sprt

AnySettings: TypeAlias = MatchSettings | TournamentSettings
PIPE = "a pipe"  # in place of a sha256: a match that needs it again cannot go on


def hash_of(path: str | Path) -> str:
    """The sha256 of the bytes of a file; InputError if it is unreadable. PIPE for what can be read
    only once, or has no end."""
    if Path(path).is_fifo() or Path(path).is_char_device():
        return PIPE
    try:
        return sha256_of(path)
    except OSError:
        next(pieces(path), None)
        raise


def changed_files(settings: AnySettings) -> list[str]:
    """Files that a match depends on and that have changed since it began."""
    return [
        path
        for path, sha256 in settings.files.items()
        if not os.path.isfile(path) or hash_of(path) != sha256
    ]


class UsualMatch(NamedTuple):
    """The depth of searches, the random plies of openings, the model of a sequential test, and the
    evaluation that measures luck in a game with dice."""

    depth: int
    random_plies: int
    model: str
    luck: str | None


def usual_of(game: Game) -> UsualMatch:
    """Return the usual settings of matches of a game."""
    known = bundled()
    judge = next(filter(known.get, (f"{game.name}/{name}" for name in game.usual.judge)), None)
    return UsualMatch(
        game.usual.match_depth,
        game.usual.match_random_plies,
        POINTS if game.in_points else "normalized",
        judge,
    )


@contextlib.contextmanager
def logged_engines(
    path: str | Path | None, pgn: str | Path | None, cluster: str | None = None
) -> Iterator[None]:
    """Write what passes between this process and its engines to a file, see `games.process.logged`.
    InputError if it cannot be written, is the file of games, or for engines on a cluster."""
    if path is not None:
        is_pgn = pgn is not None and os.path.realpath(path) == os.path.realpath(pgn)
        refuse(
            (
                (f"--log {path}", is_pgn, "is the file of --pgn"),
                ("--log", cluster, "the engines of --cluster are elsewhere"),
            )
        )
        require_writable(Path(path), LOGFILE, ())
    with logged(path):
        yield


def require_suitable(settings: AnySettings, game: Game) -> None:
    """InputError for settings that games of this kind do not have."""
    name, dice, points = game.name, game.has_dice, game.in_points
    ended = f"games of {name} are played to the end, which decides how many points they win"
    clocks = any(control.get("byoyomi") for control in settings.controls)
    refuse(
        (
            (
                f"--luck {settings.luck}",
                settings.luck is not None and not dice,
                f"games of {name} have no dice",
            ),
            (
                f"--openings {settings.openings}",
                settings.openings is not None and dice,
                f"games of {name} begin with their own dice",
            ),
            (
                f"--random-plies {settings.random_plies}",
                settings.random_plies and dice,
                f"games of {name} differ by their dice",
            ),
            ("--affinity", settings.affinity and not CPUS, "only Linux binds programs to cores"),
            (
                "--tc",
                "usi" in game.contest.protocols
                and any(control.get("moves") for control in settings.controls),
                "the protocol of shogi has no time for a number of moves",
            ),
            ("--resign", settings.resign and points, ended),
            ("--draw", settings.draw and points, ended),
            ("--plies", settings.plies and points, ended),
            (
                f"--syzygy {settings.syzygy}",
                settings.syzygy is not None and game.contest.tablebase is None,
                f"{name} has no tables of endings",
            ),
            (
                "--byoyomi",
                clocks and not game.contest.byoyomi,
                f"clocks of {name} have increments (--tc 60+0.6)",
            ),
            (
                "--hash",
                settings.hash is not None and game.contest.deepest is not None,
                f"the search of {name} keeps no table",
            ),
        )
    )
    if game.contest.deepest is not None:
        for side, control in enumerate(settings.controls):
            limits = {limit for limit, value in control.items() if value}
            if limits != {"depth"} or (control["depth"] or 0) > game.contest.deepest:
                raise InputError(
                    f"{name} supports --depth 1 to {game.contest.deepest} only, not"
                    f" {settings.control(side).text}"
                )


def require_suitable_test(settings: MatchSettings, game: Game) -> None:
    """InputError for a sequential test that matches of this game do not have."""
    if settings.sprt is None:
        return
    if game.in_points and settings.model != POINTS:
        raise InputError(
            no_use(f"--model {settings.model}", f"matches of {game.name} are in points a game")
        )
    if settings.model == POINTS and not game.in_points:
        raise InputError(
            f"--model {settings.model}: a game of {game.name} wins one point; choose normalized or"
            " logistic"
        )


LUCK_COPY, LUCK_CONTROL = "luck.yaml", Control(depth=1)
OPENING_MEGABYTES, BOOK_PLIES = 1, 8


@dataclass(frozen=True)
class Contestants:
    """The pairings: the two named players first, then the baselines of a ladder."""

    game: Game
    legs: list[tuple[PlayerSpec, PlayerSpec]]
    opponent: int  # 0 or 1: the common opponent of a ladder, a or b
    program: str | None  # see `Field`
    luck: PlayerSpec | None = None  # measures that of games with dice


class Field(NamedTuple):
    """The players of a run, as they were named and as they play; a hash of the compiled code of all
    evaluations, None without any; and the player that measures luck."""

    game: Game
    sides: list[Named]
    players: list[PlayerSpec]
    program: str | None
    luck: PlayerSpec | None


def field_of(settings: AnySettings, folder: Path | None) -> Field:
    """Make the players, for a resumed run from the copies in its folder; InputError for a
    user's mistake."""
    entrants = settings.entrants
    sides = [_side(entrant, folder) for entrant in entrants]
    for side, entrant in zip(sides, entrants, strict=True):
        if folder and side.kind == EVALUATION and not (folder / entrant.copy).exists():
            raise InputError(
                f"{folder / entrant.copy}: is missing, what {side.what} was when the games began;"
                " put it back"
            )
    game = game_of_players(sides)
    require_suitable(settings, game)
    require_terms((side.what for side in sides if side.kind == EVALUATION), settings.terms)
    names = settings.names
    if not all(names):
        usual = names_of([introduced(side, game) for side in sides])
        names = tuple(given or usual[i] for i, given in enumerate(names))
        if len(set(names)) < len(names):
            raise InputError(f"both players have the name {names[0]}; give --name-a or --name-b")
    players = [
        _player(side, name, game, entrant, settings)
        for side, name, entrant in zip(sides, names, entrants, strict=True)
    ]
    luck = None if settings.luck is None else _luck(settings.luck, game, folder, settings.terms)
    evaluations = [evaluation_from(player.evaluation) for player in players if player.evaluation]
    if game.contest.searcher is not None and needs_search(settings):
        evaluations.append(quiescence_of(game, JUDGE))
    programs = sorted({evaluation.program for evaluation in evaluations})
    return Field(game, sides, players, "-".join(programs) or None, luck)


def contestants_of(settings: MatchSettings, folder: Path | None = None) -> Contestants:
    """Make the players of a match, see `field_of`."""
    ladder = settings.plies > 0 and any(
        understood(entrant.text).kind == RANDOM for entrant in settings.entrants
    )
    field = field_of(settings, folder)
    require_suitable_test(settings, field.game)
    sides, players = field.sides, field.players
    legs = [(players[0], players[1])]
    opponent = 0 if sides[0].kind == RANDOM and sides[1].kind != RANDOM else 1
    if ladder and field.game.contest.searcher is not None:
        legs += _baselines(field, opponent, settings)
    return Contestants(field.game, legs, opponent, field.program, field.luck)


def _side(entrant: Entrant, folder: Path | None) -> Named:
    """Return a player: its copy in the folder of the run if there is one."""
    copy = folder / entrant.copy if folder else None
    return _of_copy(entrant.text, copy) if copy and copy.exists() else understood(entrant.text)


def game_of_players(players: Sequence[Named]) -> Game:
    """Return the game of players; InputError if they play different ones."""
    return find(game_between(players))


def _luck(text: str, game: Game, folder: Path | None, terms: Sequence[str]) -> PlayerSpec:
    """Return the evaluation that measures luck, for a resumed match from the copy in its folder;
    InputError for another kind of player."""
    copy = folder / LUCK_COPY if folder else None
    if copy is not None and not copy.exists():
        raise InputError(
            f"{copy}: is missing, the evaluation that measured luck when the match began; put it"
            " back"
        )
    judge = understood(text) if copy is None else _of_copy(text, copy)
    if judge.kind != EVALUATION:
        raise InputError(
            f"--luck {text}: has no values of rolls; expected a parameter file or a network"
        )
    if judge.game != game.name:
        raise InputError(f"--luck {text}: plays {judge.game}, the players {game.name}")
    return own_player(
        judge, judge.name, game, LUCK_CONTROL, None, lambda path: load_evaluation(path, terms)
    )


def needs_search(settings: AnySettings) -> bool:
    """Whether our search chooses the openings."""
    return settings.openings is None and settings.random_plies != 0


def _of_copy(text: str, copy: Path) -> Named:
    return named_file(copy, Path(text).stem)


def _player(
    side: Named, name: str, game: Game, entrant: Entrant, settings: AnySettings
) -> PlayerSpec:
    control, options = entrant.limits, named_values(entrant.options, entrant.flag)
    if side.kind not in OURS:
        return external_player(side, name, game, options, control, settings.hash)

    def load(path: str) -> Evaluation:
        return load_evaluation(path, settings.terms)

    return own_player(side, name, game, control, settings.hash, load, options)


def _baselines(
    field: Field, opponent: int, settings: MatchSettings
) -> list[tuple[PlayerSpec, PlayerSpec]]:
    """Legs of baselines without learning, at the same depth against the same opponent."""
    legs, known = [], bundled()
    for baseline in BASELINES:
        path = known.get(f"{field.game.name}/{baseline}")
        if path is None or str(path) in (side.what for side in field.sides):
            continue
        rung = search_player(
            baseline, load_evaluation(path), settings.control(1 - opponent), settings.hash
        )
        legs.append((rung, field.players[1]) if opponent else (field.players[0], rung))
    return legs


def openings_of(settings: AnySettings, game: Game, note: Callable[[str], None]) -> Book | Generator:
    """The openings of the games."""
    moves = None if settings.openings is None else game.files.book(settings.openings)
    if settings.book_plies is not None and moves is None:
        raise InputError(
            no_use("--book-plies", "is for Polyglot books, given with --openings FILE.bin")
        )
    if settings.openings is not None:
        if moves is not None:
            plies = settings.book_plies or BOOK_PLIES
            return Generator(game, plies, settings.seed, None, note, moves, settings.openings)
        book = book_from(game, settings.openings, settings.order, settings.seed, note)
        if settings.games is not None and settings.games > 2 * book.size:
            note(
                f"{settings.openings}: {plural(book.size, 'opening')} for"
                f" {plural(settings.games // 2, 'pair')}:"
                " they are repeated"
            )
        return book
    plies = settings.random_plies
    if plies == 0:
        return start_of(game)
    searcher = None
    if game.contest.searcher is not None:
        searcher = quiescence_of(game, JUDGE).searcher(megabytes=OPENING_MEGABYTES)
    return Generator(game, plies, settings.seed, searcher, note)


def test_of(settings: MatchSettings, game: Game) -> Sprt | None:
    if settings.sprt is None:
        return None
    return Sprt(*settings.sprt, settings.alpha, settings.beta, settings.model, game.points)


BASELINES = ("material", "zero")
