"""Make players, openings and rules from the settings of a match."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from games.contest import Control
from games.record import Game, find
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.engine.loading import load_engine, make_engine, parameter_path
from tuner.io.pairs import named_values
from tuner.match.adjudicate import adjudication_of
from tuner.match.defaults import require_suitable
from tuner.match.entrants import (
    NETWORK,
    OWN,
    PARAMETERS,
    RANDOM,
    Named,
    PlayerSpec,
    bundled,
    external_player,
    game_between,
    named_file,
    names_of,
    network_player,
    search_player,
    understood,
)
from tuner.match.ladder import BASELINES
from tuner.match.loop import Rules
from tuner.match.openings import Book, Generator, Start
from tuner.match.settings import Settings
from tuner.networks.evaluation import network_evaluation
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.parameters.reader import read_parameters
from tuner.statistics.sprt import Sprt

JUDGE = "classic"  # the bundled evaluation that checks openings
LUCK_COPY, LUCK_CONTROL = "luck.yaml", Control(depth=1)
COPIES = ("a.yaml", "b.yaml")  # of parameter files in the folder of a match, so that later edits of the originals have no effect
OPENING_MEGABYTES = 1


@dataclass(frozen=True)
class Contestants:
    """The pairings: the two named players first, then the baselines of a ladder."""

    game: Game
    legs: list[tuple[PlayerSpec, PlayerSpec]]
    opponent: int  # 0 or 1: the common opponent of a ladder, a or b
    engine: Engine | None
    luck: PlayerSpec | None = None  # measures that of games with dice

    @property
    def terms(self) -> str | None:
        """A name for the terms of the evaluation, None without one."""
        return self.engine.composition.name if self.engine else None


def contestants_of(settings: Settings, folder: Path | None = None) -> Contestants:
    """Make the players, those of a resumed match from the copies in its folder; InputError for a user's mistake."""
    sides = [_side(settings, folder, i) for i in range(2)]
    for side, copy in zip(sides, COPIES, strict=True):
        if folder and side.kind in (PARAMETERS, NETWORK) and not (folder / copy).exists():
            raise InputError(f"{folder / copy}: is missing, the {side.kind} of {side.what} when the match began; put it back")
    game = game_of_match(*sides)
    name = game.name
    require_suitable(settings, game)
    ladder = settings.plies > 0 and RANDOM in (side.kind for side in sides)
    engine = None
    if PARAMETERS in (side.kind for side in sides) or (game.searcher is not None and (ladder or needs_search(settings))):
        engine = make_engine(name, settings.terms)
    names = settings.names if settings.names[0] else names_of(*sides)
    players = [_player(side, names[i], game, engine, settings, i) for i, side in enumerate(sides)]
    legs = [(players[0], players[1])]
    opponent = 0 if sides[0].kind == RANDOM and sides[1].kind != RANDOM else 1
    if ladder and engine is not None and game.searcher is not None:
        legs += _baselines(engine, sides, players, opponent, settings)
    luck = None if settings.luck is None else _luck(settings.luck, game, folder, settings.terms)
    return Contestants(game, legs, opponent, engine, luck)


def _side(settings: Settings, folder: Path | None, i: int) -> Named:
    """Return a player, as its copy in the folder of the match is if it has one."""
    text, copy = (settings.a, settings.b)[i], COPIES[i]
    return _of_copy(text, folder / copy) if folder and (folder / copy).exists() else understood(text)


def game_of_folder(settings: Settings, folder: Path) -> Game:
    """Return the game of the match in a folder, which one player names if the other is gone; InputError if both are."""
    known, problems = [], []
    for i in range(2):
        try:
            known.append(_side(settings, folder, i).game)
        except InputError as problem:
            problems.append(problem)
    if not known:
        raise problems[0]
    return find(next(filter(None, known), DEFAULT_GAME))


def game_of_match(a: Named, b: Named) -> Game:
    """Return the game of two players; InputError if it has no matches."""
    game = find(game_between(a, b))
    if game.contest is None:
        raise InputError(f"{game.name} has no matches")
    return game


def _luck(text: str, game: Game, folder: Path | None, terms: Sequence[str]) -> PlayerSpec:
    """Return the evaluation that measures luck, that of a resumed match from the copy in its folder; InputError for another
    kind of player."""
    copy = folder / LUCK_COPY if folder else None
    if copy is not None and not copy.exists():
        raise InputError(f"{copy}: is missing, the evaluation that measured luck when the match began; put it back")
    judge = understood(text) if copy is None else _of_copy(text, copy)
    if judge.kind not in (PARAMETERS, NETWORK):
        raise InputError(f"--luck {text}: has no values of rolls; expected a parameter file or a network")
    if judge.game != game.name:
        raise InputError(f"--luck {text}: plays {judge.game}, the players {game.name}")
    if judge.kind == NETWORK:
        return network_player(judge.name, network_evaluation(Path(judge.what)).file, LUCK_CONTROL, None)
    return search_player(judge.name, *load_engine(judge.what, terms), LUCK_CONTROL, None)


def needs_search(settings: Settings) -> bool:
    """Whether our search chooses the openings."""
    return settings.openings is None and settings.random_plies != 0


def _of_copy(text: str, copy: Path) -> Named:
    return named_file(copy, Path(text).stem)


def _player(side: Named, name: str, game: Game, engine: Engine | None, settings: Settings, i: int) -> PlayerSpec:
    control, options = settings.control(i), named_values((settings.option_a, settings.option_b)[i], f"--option-{'ab'[i]}")
    if side.kind == RANDOM:
        _refuse_options(options, "ab"[i], name)
        return PlayerSpec(name, control)
    if side.kind == OWN:
        _refuse_options(options, "ab"[i], name)
        return PlayerSpec(name, control, OWN, command=side.what)
    if side.kind == PARAMETERS:
        _refuse_options(options, "ab"[i], name)
        if game.searcher is None or engine is None:
            raise InputError(f"{game.name} has no search to play {name} with; {game.name}/random can play")
        parameters = read_parameters(Path(side.what), engine.layout, game.name)
        return search_player(name, engine, parameters, control, settings.hash)
    if side.kind == NETWORK:
        _refuse_options(options, "ab"[i], name)
        if game.searcher is None:
            raise InputError(f"{game.name} has no search to play {name} with; {game.name}/random can play")
        return network_player(name, network_evaluation(Path(side.what)).file, control, settings.hash)
    return external_player(side, name, game, options, control, settings.hash)


def _refuse_options(options: dict[str, str], side: str, name: str) -> None:
    if options:
        raise InputError(f"--option-{side} {next(iter(options))}: {name} is not an external engine and has no options")


def _baselines(engine: Engine, sides: list[Named], players: list[PlayerSpec], opponent: int,
               settings: Settings) -> list[tuple[PlayerSpec, PlayerSpec]]:
    """Legs of baselines without learning, at the same depth against the same opponent."""
    legs = []
    for baseline in BASELINES:
        path = bundled(engine.game.name, baseline)
        if path is None or any(side.kind == PARAMETERS and side.what == str(path) for side in sides):
            continue
        parameters = read_parameters(path, engine.layout, engine.game.name, add_missing=True)
        rung = search_player(baseline, engine, parameters, settings.control(1 - opponent), settings.hash)
        legs.append((rung, players[1]) if opponent else (players[0], rung))
    return legs


def openings_of(settings: Settings, contestants: Contestants, note: Callable[[str], None]) -> Book | Generator | Start:
    """The openings of the games."""
    game = contestants.game
    if settings.openings is not None:
        openings = game.matches.openings
        if openings is None:
            raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
        book = Book(openings(settings.openings, note), settings.order, settings.seed)
        if settings.games is not None and settings.games > 2 * book.size:
            note(f"{settings.openings}: {book.size:,} openings for {settings.games // 2:,} pairs: they are repeated")
        return book
    plies = settings.random_plies
    if plies == 0:
        return Start(game)
    searcher = None
    if game.searcher is not None:
        judge = load_engine(parameter_path(JUDGE, game.name))
        searcher = judge[0].searcher(judge[1], megabytes=OPENING_MEGABYTES)
    return Generator(game, plies, settings.seed, searcher, note)


def rules_of(settings: Settings) -> Rules:
    return Rules(settings.plies, adjudication_of(settings.resign, settings.draw))


def test_of(settings: Settings, game: Game) -> Sprt | None:
    if settings.sprt is None:
        return None
    return Sprt(*settings.sprt, settings.alpha, settings.beta, settings.model, game.points)
