"""Load engines and parameters by the names that users give."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from evalterms.compose import compose, load_terms
from games.record import find
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.io.files import BUNDLED
from tuner.parameters.layout import Layout, layout_of
from tuner.parameters.parameters import DEFAULT_GAME, Parameters
from tuner.parameters.reader import game_of, read_parameters

SAMPLES = BUNDLED.parent / "games" / "samples" / "stockfish400.pgn.zst"


def _loaded(game: str, terms: Sequence[str | Path]) -> tuple:
    find(game)  # reports an unknown game first
    try:
        return load_terms(game, [Path(path) for path in terms])
    except ValueError as problem:
        raise InputError(str(problem)) from None


def make_layout(game: str, terms: Sequence[str | Path] = ()) -> Layout:
    """Return the parameters of a game's own terms and of the user's files; InputError if a term is wrong."""
    return layout_of(_loaded(game, terms), terms)


def make_engine(game: str, terms: Sequence[str | Path] = ()) -> Engine:
    """Return the engine of a game with its own terms and those of the user's files; InputError if a term is wrong."""
    loaded = _loaded(game, terms)
    return Engine(find(game), compose(game, loaded), layout_of(loaded, terms))


def parameter_path(name: str | Path, game: str = DEFAULT_GAME) -> Path:
    """Return the path of a parameter file, given a path or the name of a bundled file: `classic`, or `tictactoe/classic` for
    another game. An existing file with such a name takes precedence, a folder does not."""
    path = Path(name)
    bundled = BUNDLED / f"{path}.yaml" if len(path.parts) == 2 else BUNDLED / game / f"{path}.yaml"
    if os.path.isfile(path) or path.suffix:
        return path
    if os.path.isfile(bundled) and bundled.is_relative_to(BUNDLED):
        return bundled
    if os.path.lexists(path):
        return path
    folder = path.parent if len(path.parts) == 2 and (BUNDLED / path.parent).is_dir() else Path(game)
    names = ", ".join(sorted(file.stem for file in (BUNDLED / folder).glob("*.yaml")))
    raise InputError(f"{name}: no such file; bundled parameter files: {names}")


def load_parameters(path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False) -> Parameters:
    """Read the parameters of a file, without compiling anything."""
    path = parameter_path(path)
    game = game_of(path)
    return read_parameters(path, make_layout(game, terms), game, add_missing)


def load_engine(path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False) -> tuple[Engine, Parameters]:
    """Return the engine for a parameter file, and its parameters."""
    path = parameter_path(path)
    engine = make_engine(game_of(path), terms)
    return engine, read_parameters(path, engine.layout, engine.game.name, add_missing)


def quiescence_of(engine: Engine, name: str) -> Parameters:
    """Return the parameters of the quiescence search; terms that are missing from the file get zeros."""
    return read_parameters(parameter_path(name, engine.game.name), engine.layout, engine.game.name, add_missing=True)
