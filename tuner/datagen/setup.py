"""Make what games need from the settings: openings, rules, and the noise of the copies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from games.record import Game
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.datagen.adjudicate import Adjudicator
from tuner.datagen.noise import spread_of
from tuner.datagen.play import MEGABYTES, Recipe
from tuner.datagen.settings import Settings
from tuner.engine.engine import Engine
from tuner.match.openings import Book, Generator, Opening
from tuner.parameters.parameters import Parameters

SAMPLE_GAMES, SAMPLE_PLIES = 16, 100  # whose positions measure what noise does to evaluations
SEEDS = 1 << 40  # game number n of seed s draws its opening from the seed s * SEEDS + n


def recipe_of(engine: Engine, parameters: Parameters, settings: Settings, note: Callable[[str], None]) -> Recipe:
    """Return how games are played. InputError for an evaluation that has no search, or a game without files of games."""
    game = engine.game
    judge = engine.searcher(parameters, megabytes=MEGABYTES)  # refuses a game without a search
    if game.matches.text is None:
        raise InputError(f"{game.name} has no files of games to write; its games come from elsewhere")
    opening = openings_of(game, settings, note)
    positions = sample_of(game, judge, opening)
    spread = spread_of(engine, parameters, positions, settings.noise, settings.seed)
    return Recipe(engine=engine, parameters=parameters, settings=settings, spread=spread, opening=opening,
                  adjudicator=adjudicator_of(game, settings), name=Path(settings.start).stem)


def adjudicator_of(game: Game, settings: Settings) -> Adjudicator:
    """Return the rules in force. InputError for tables that cannot be read."""
    tables = None
    if settings.syzygy is not None:
        if game.matches.tablebase is None:
            raise InputError(f"--syzygy {settings.syzygy}: {game.name} has no tables of endings; leave it out")
        tables = game.matches.tablebase(settings.syzygy)
    return Adjudicator(settings.resign, settings.draw, game.matches.drawn_ending, tables)


def openings_of(game: Game, settings: Settings, note: Callable[[str], None]) -> Callable[[int, Searcher], Opening]:
    """Return a function from the number of a game and a searcher to its opening: of a file, or random plies to a position that
    the searcher finds balanced."""
    if settings.openings is not None:
        if game.matches.openings is None:
            raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
        book = Book(game.matches.openings(settings.openings, note), "random", settings.seed)
        return lambda number, judge: book.opening(number)
    if settings.random_plies == 0:
        return lambda number, judge: Opening(game.start(), [])
    return lambda number, judge: Generator(
        game, settings.random_plies, settings.seed * SEEDS + number, judge, note).opening(0)


def sample_of(game: Game, searcher: Searcher, opening: Callable[[int, Searcher], Opening]) -> np.ndarray:
    """Return positions (n, words) of games that searches of depth 1 play from the first openings."""
    positions: list[np.ndarray] = []
    for number in range(SAMPLE_GAMES):
        found = opening(number, searcher)
        line = [found.start]
        for move in found.moves:
            line.append(game.play(line[-1], move, None))
        searcher.clear()
        searcher.choose_by(number + 1)
        while game.result(line) is None and len(line) < SAMPLE_PLIES:
            best = searcher.search(line, Limits(depth=1)).move
            assert best is not None, "the game is not over"
            line.append(game.play(line[-1], best, None))
        positions += line[len(found.moves):]
    return np.array(positions)
