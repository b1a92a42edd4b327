"""An engine and an evaluation as plain data, for work that runs in other processes; each process makes an engine once."""

from __future__ import annotations

import tempfile
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from pathlib import Path

from evalterms.compose import compose
from games.record import find
from games.streams import InputError
from tuner.engine.engine import Engine
from tuner.engine.loading import loaded_terms
from tuner.io.files import sha256_of
from tuner.parameters.layout import layout_of
from tuner.parameters.parameters import Parameters

KEPT = 8  # engines of a process

_engines: OrderedDict[EngineSpec, Engine] = OrderedDict()
_making = threading.Lock()


@dataclass(frozen=True)
class TermFile:
    """A user's file of terms: its name without folders, and its content."""

    name: str
    content: bytes


@dataclass(frozen=True)
class EngineSpec:
    """A game, the names of the terms that are composed into one evaluation, in order, and the user's files of terms."""

    game: str
    terms: tuple[str, ...]
    files: tuple[TermFile, ...] = ()


@dataclass(frozen=True)
class EvaluationSpec:
    """An engine and parameters of its layout."""

    engine: EngineSpec
    parameters: Parameters


def spec_of(engine: Engine) -> EngineSpec:
    """Return the spec of an engine, which this process need not make again. InputError if a file of its terms has changed."""
    files = []
    for path, sha256 in engine.layout.files:
        if not Path(path).is_file() or sha256_of(path) != sha256:
            raise InputError(f"{path}: has changed since its terms were read; put it back, or start again")
        files.append(TermFile(Path(path).name, Path(path).read_bytes()))
    spec = EngineSpec(engine.game.name, tuple(term.name for term in engine.composition.terms), tuple(files))
    with _making:
        _keep(spec, engine)
    return spec


def evaluation_spec(engine: Engine, parameters: Parameters) -> EvaluationSpec:
    """Return an engine with parameters as plain data, without what only files of parameters need."""
    return EvaluationSpec(spec_of(engine), replace(parameters, comments=(), learned={}, standard_errors=None))


def engine_of(spec: EngineSpec) -> Engine:
    """Return the engine of a spec, made once in each process. InputError for terms that are wrong here."""
    with _making:
        found = _engines.get(spec)
        if found is None:
            found = _made(spec)
        _keep(spec, found)
    return found


def _keep(spec: EngineSpec, engine: Engine) -> None:
    """Remember an engine; forget the one that was not used for the longest time, if there are too many."""
    _engines[spec] = engine
    _engines.move_to_end(spec)
    if len(_engines) > KEPT:
        _engines.popitem(last=False)


def _made(spec: EngineSpec) -> Engine:
    paths = []
    for number, file in enumerate(spec.files):
        folder = Path(tempfile.mkdtemp(prefix="evaltune-terms-")) / str(number)  # kept: compiled code names its source
        folder.mkdir()
        (folder / file.name).write_bytes(file.content)
        paths.append(folder / file.name)
    by_name = {term.name: term for term in loaded_terms(spec.game, paths)}
    if missing := [name for name in spec.terms if name not in by_name]:
        raise InputError(f"{spec.game} has no term {missing[0]!r} here; install the same version of evaltune everywhere")
    terms = tuple(by_name[name] for name in spec.terms)
    return Engine(find(spec.game), compose(spec.game, terms), layout_of(terms, paths))
