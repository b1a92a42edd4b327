"""An engine of shogi, which is not registered yet: parameters, evaluation, search."""

from __future__ import annotations

import functools
from pathlib import Path

from evalterms.compose import compose
from evalterms.shogi import TERMS
from games.jit import Unit
from games.search.searcher import Searcher
from games.shogi.shogi import GAME
from games.shogi.unit import CORE
from tuner.engine.engine import Engine
from tuner.io.files import BUNDLED
from tuner.parameters.layout import layout_of
from tuner.parameters.parameters import Parameters
from tuner.parameters.reader import read_parameters
from tuner.parameters.yaml_tree import read_tree


def unit_of(test_file: str) -> Unit:
    """A compile unit for wrappers in one test file; an edit to the core compiles them anew."""
    return Unit("tests", lambda: [Path(test_file)], salt=CORE.name)


@functools.cache
def engine_of(names: tuple[str, ...] = ()) -> Engine:
    """The engine with these terms, all of them by default."""
    terms = tuple(term for term in TERMS if not names or term.name in names)
    return Engine(GAME, compose("shogi", terms), layout_of(terms, ()))


@functools.cache
def loaded(name: str) -> tuple[Engine, Parameters]:
    """A bundled file of parameters, and the engine of its terms."""
    path = BUNDLED / "shogi" / f"{name}.yaml"
    engine = engine_of(tuple(read_tree(path).value["weights"].value))
    return engine, read_parameters(path, engine.layout, "shogi")


def searcher_of(name: str, playing: bool, megabytes: int = 16) -> Searcher:
    """A search with a bundled file of parameters."""
    engine, parameters = loaded(name)
    return engine.searcher(parameters, playing=playing, megabytes=megabytes)
