"""What a game needs beside players, from the settings: its random opening, and the rules that end it."""

from __future__ import annotations

from games.record import Game
from games.search.searcher import Searcher
from games.streams import InputError
from tuner.datagen.adjudicate import Adjudicator
from tuner.datagen.settings import Settings
from tuner.match.openings import Generator, Opening

SEEDS = 1 << 40  # game number n of seed s draws its opening from the seed s * SEEDS + n


def adjudicator_of(game: Game, settings: Settings) -> Adjudicator:
    """Return the rules in force. InputError for tables that cannot be read."""
    tables = None
    if settings.syzygy is not None:
        if game.matches.tablebase is None:
            raise InputError(f"--syzygy {settings.syzygy}: {game.name} has no tables of endings; leave it out")
        tables = game.matches.tablebase(settings.syzygy)
    return Adjudicator(settings.resign, settings.draw, game.matches.drawn_ending, tables)


def random_opening(game: Game, settings: Settings, number: int, judge: Searcher) -> Opening:
    """Return the opening of a game: random plies to a position that the searcher finds balanced."""
    if settings.random_plies == 0:
        return Opening(game.start(), [])
    return Generator(game, settings.random_plies, settings.seed * SEEDS + number, judge, _no_note).opening(0)


def _no_note(text: str) -> None:
    """A single opening is never repeated, which is all that there would be to note."""
