"""Make what games need from the settings: openings of a file, and the noise of the copies."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from games.record import Game
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.datagen.noise import spread_of
from tuner.datagen.play import MEGABYTES, Recipe
from tuner.datagen.settings import Settings
from tuner.datagen.table import random_opening
from tuner.engine.engine import Engine
from tuner.engine.spec import evaluation_spec
from tuner.match.openings import Book, Opening
from tuner.parameters.parameters import Parameters

SAMPLE_GAMES, SAMPLE_PLIES = 16, 100  # whose positions measure what noise does to evaluations


def recipe_of(engine: Engine, parameters: Parameters, settings: Settings, book: Book | None) -> Recipe:
    """Return how games are played. InputError for an evaluation that has no search, and for a game with dice
    or without files of games."""
    game = engine.game
    if game.roll is not None:
        raise InputError(f"games of {game.name} differ by their dice, not by noise in evaluations; `tuner match {settings.start} "
                         f"{settings.start} --pgn OUT` plays games to learn from")
    judge = engine.searcher(parameters, megabytes=MEGABYTES)  # refuses a game without a search
    if game.matches.text is None:
        raise InputError(f"{game.name} has no files of games to write; its games come from elsewhere")
    positions = sample_of(game, judge, (book.opening(number) if book else random_opening(game, settings, number, judge)
                                        for number in range(SAMPLE_GAMES)))
    spread = spread_of(engine, parameters, positions, settings.noise, settings.seed)
    return Recipe(evaluation=evaluation_spec(engine, parameters), settings=settings, spread=spread,
                  name=Path(settings.start).stem)


def book_of(game: Game, settings: Settings, note: Callable[[str], None]) -> Book | None:
    """Return the openings of the file that the settings name; None without one."""
    if settings.openings is None:
        return None
    if game.matches.openings is None:
        raise InputError(f"{game.name} reads no openings; --random-plies N makes some")
    return Book(game.matches.openings(settings.openings, note), "random", settings.seed)


def sample_of(game: Game, searcher: Searcher, openings: Iterable[Opening]) -> np.ndarray:
    """Return positions (n, words) of games that searches of depth 1 play from some openings."""
    positions: list[np.ndarray] = []
    for number, found in enumerate(openings):
        line = [found.start]
        for move in found.moves:
            line.append(game.play(line[-1], move))
        searcher.clear()
        searcher.choose_by(number + 1)
        while game.result(line) is None and len(line) < SAMPLE_PLIES:
            best = searcher.search(line, Limits(depth=1)).move
            assert best is not None, "the game is not over"
            line.append(game.play(line[-1], best))
        positions += line[len(found.moves):]
    return np.array(positions)
