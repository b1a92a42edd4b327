"""Engines and searches of shogi."""

from pathlib import Path

from games.compile.jit import Unit
from games.search.searcher import Searcher
from games.shogi.rules import CORE
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.loading import load_engine
from tuner.parameters.parameters import Parameters


def unit_of(test_file: str) -> Unit:
    """A compile unit for wrappers in one test file; an edit to the core compiles them anew."""
    return Unit("tests", lambda: [Path(test_file)], salt=CORE.name)


def loaded(name: str) -> tuple[CompiledTerms, Parameters]:
    """A bundled file of parameters, and the engine of its terms."""
    return load_engine(f"shogi/{name}")


def searcher_of(name: str, playing: bool, megabytes: int = 16) -> Searcher:
    """A search with a bundled file of parameters."""
    engine, parameters = loaded(name)
    return engine.searcher(parameters, playing=playing, megabytes=megabytes)
