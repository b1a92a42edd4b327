"""How games to learn from are played, from their settings: who plays, and the openings."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from games.process import words_of
from games.record import Control, Game, find
from games.streams import InputError
from tuner.evaluation.evaluation import Evaluation, load_evaluation, quiescence_of
from tuner.evaluation.own_numbers import require_linear
from tuner.io.files import sha256_of
from tuner.options.games import GamesSettings
from tuner.options.kinds import named_values
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.play.openings import JUDGE, Book
from tuner.play.own_games.play import MEGABYTES, Recipe, random_opening, sample_of, spread_of
from tuner.play.players import Named, engine_named, external_player

START = "start.yaml"
SAMPLE_GAMES = 16  # whose positions measure what noise does to evaluations


@dataclass(frozen=True)
class Prepared:
    """All that games need: how they are played, the game, the openings of a file, the evaluation
    (None: an engine plays), and a name of the program that plays."""

    recipe: Recipe
    game: Game
    book: Book | None
    evaluation: Evaluation | None
    program: str | None


def prepared(
    settings: GamesSettings,
    folder: Path | None,
    start: Evaluation | None,
    note: Callable[[str], None],
) -> Prepared:
    """Return what the games of the settings need, of a folder if they go on there; `start` is the
    evaluation, if it is not that of the settings. InputError for an evaluation that has no search,
    and for a game with dice or without files of games."""
    if (named := engine_named(settings.start)) is not None:
        game = find(named.game or DEFAULT_GAME)
        book, recipe = book_of(game, settings, note), engine_recipe(named, game, settings)
        return Prepared(recipe, game, book, None, program_of(named))
    name = folder / START if folder else settings.start
    if start is None:
        require_linear(name, (f"--terms {file}" for file in settings.terms))
    evaluation = start or load_evaluation(name, settings.terms)
    if folder is None:  # the file has fewer digits, and resumed games read it
        with tempfile.TemporaryDirectory(prefix="evaltune-") as place:
            evaluation.place(Path(place) / START, None)
            evaluation = load_evaluation(Path(place) / START, settings.terms)
    book = book_of(evaluation.game, settings, note)
    recipe = recipe_of(evaluation, settings, book)
    return Prepared(recipe, evaluation.game, book, evaluation, evaluation.program)


def recipe_of(evaluation: Evaluation, settings: GamesSettings, book: Book | None) -> Recipe:
    """Return how games of an evaluation are played. InputError for one that has no search, and for
    a game with dice or without files of games."""
    game = evaluation.game
    if game.has_dice:
        raise InputError(
            f"games of {game.name} differ by their dice, not by noise in evaluations; `tuner match"
            f" {settings.start} {settings.start} --pgn OUT` plays games to learn from"
        )
    judge = evaluation.searcher(megabytes=MEGABYTES)  # refuses a game without a search
    if game.files.game_text is None:
        raise InputError(
            f"{game.name} has no files of games to write; its games come from elsewhere"
        )
    positions = sample_of(
        game,
        judge,
        (
            book.opening(number) if book else random_opening(game, settings, number, judge)
            for number in range(SAMPLE_GAMES)
        ),
    )
    spread = spread_of(evaluation, positions, settings.noise, settings.seed)
    return Recipe(
        game=game.name,
        evaluation=evaluation.spec(),
        settings=settings,
        spread=spread,
        name=Path(settings.start).stem,
    )


def engine_recipe(named: Named, game: Game, settings: GamesSettings) -> Recipe:
    """Return how games of an engine are played."""
    control = Control(depth=settings.depth, nodes=settings.nodes, vary=settings.vary or 0.0)
    options = named_values(settings.options, "--option")
    player = external_player(named, named.name, game, options, control, settings.hash)
    judge = None
    if settings.random_plies and game.contest.searcher is not None:
        judge = quiescence_of(game, JUDGE).spec()
    return Recipe(
        game=game.name, evaluation=judge, settings=settings, name=named.name, engine=player
    )


def program_of(named: Named) -> str | None:
    """Return a hash of the program of an engine; None where its name is not a command: gnubg:0."""
    if named.what.isdecimal():
        return None
    return sha256_of(words_of(named.what, f"a {named.kind} engine")[0])


def book_of(game: Game, settings: GamesSettings, note: Callable[[str], None]) -> Book | None:
    """Return the openings of the file that the settings name; None without one."""
    if settings.openings is None:
        return None
    if game.files.openings is None:
        raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
    return Book(game.files.openings(settings.openings, note), "random", settings.seed)
