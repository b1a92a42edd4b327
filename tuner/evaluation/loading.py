"""An engine and an evaluation as plain data, for work in separate processes; each process
makes an engine once."""

from __future__ import annotations

import difflib
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evalterms.framework.compose import compose, load_terms
from evalterms.term import Term
from games.record import available, find
from games.streams import InputError, plain_name
from tuner.core.text import listed
from tuner.evaluation.engine import CompiledTerms, rows_of
from tuner.io.files import BUNDLED, bundled, sha256_of
from tuner.options.option import refuse
from tuner.parameters.parameters import DEFAULT_GAME, Layout, Parameters, Spans, layout_of, steps_of
from tuner.parameters.reader import (
    Heading,
    completing,
    game_of,
    heading_of,
    read_parameters,
)

KEPT = 8  # engines of a process

_engines: OrderedDict[EngineSpec, CompiledTerms] = OrderedDict()
_making = threading.Lock()


@dataclass(frozen=True)
class TermFile:
    """A user's file of terms: its name without folders, and its content."""

    name: str
    content: bytes


@dataclass(frozen=True)
class EngineSpec:
    """A game, the names of the terms that are composed into one evaluation, in order, the user's
    files of terms, and the spans of the stages."""

    game: str
    terms: tuple[str, ...]
    files: tuple[TermFile, ...] = ()
    spans: Spans = ()


@dataclass(frozen=True)
class EvaluationSpec:
    """An engine and parameters of its layout."""

    engine: EngineSpec
    parameters: Parameters


def spec_of(engine: CompiledTerms) -> EngineSpec:
    """Return the spec of an engine, which this process need not make again. InputError if a file of
    its terms has changed."""
    files = []
    for path, sha256 in engine.layout.files:
        if not Path(path).is_file() or sha256_of(path) != sha256:
            raise InputError(
                f"{path}: has changed since its terms were read; put it back, or start again"
            )
        files.append(TermFile(Path(path).name, Path(path).read_bytes()))
    spec = EngineSpec(
        engine.game.name,
        tuple(term.name for term in engine.composition.terms),
        tuple(files),
        engine.spans,
    )
    with _making:
        _keep(spec, engine)
    return spec


def evaluation_spec(engine: CompiledTerms, parameters: Parameters) -> EvaluationSpec:
    """Return an engine with parameters as plain data, without what only files of parameters
    need."""
    return EvaluationSpec(
        spec_of(engine), replace(parameters, comments=(), learned={}, standard_errors=None)
    )


def engine_of(spec: EngineSpec) -> CompiledTerms:
    """Return the engine of a spec, made once in each process. InputError for terms that are wrong
    here."""
    with _making:
        engine = _engines.get(spec)
        if engine is None:
            engine = _made(spec)
        _keep(spec, engine)
    return engine


def _keep(spec: EngineSpec, engine: CompiledTerms) -> None:
    """Remember an engine; forget the one that was not used for the longest time, if there are too
    many."""
    _engines[spec] = engine
    _engines.move_to_end(spec)
    if len(_engines) > KEPT:
        _engines.popitem(last=False)


def _made(spec: EngineSpec) -> CompiledTerms:
    paths = []
    for number, file in enumerate(spec.files):
        # kept: compiled code names its source
        folder = Path(tempfile.mkdtemp(prefix="evaltune-terms-")) / str(number)
        folder.mkdir()
        (folder / file.name).write_bytes(file.content)
        paths.append(folder / file.name)
    by_name = {term.name: term for term in loaded_terms(spec.game, paths)}
    if missing := [name for name in spec.terms if name not in by_name]:
        raise InputError(
            f"{spec.game} has no term {missing[0]!r} here; install the same version of evaltune"
            " everywhere"
        )
    terms = tuple(by_name[name] for name in spec.terms)
    return _composed(spec.game, terms, paths, spec.spans)


SAMPLES = "samples"  # the name of the bundled games of each game


def loaded_terms(game: str, terms: Sequence[str | Path]) -> tuple[Term, ...]:
    """Return the terms of a game and of the user's files; InputError if a term is wrong."""
    find(game)  # reports an unknown game first
    try:
        return load_terms(game, [Path(path) for path in terms])
    except ValueError as problem:
        raise InputError(str(problem)) from None


def _taking_part(
    path: Path, heading: Heading, files: Sequence[str | Path], add_missing: bool
) -> tuple[Term, ...]:
    """Return the terms that a parameter file names, and with `add_missing` the terms of the user's
    files, too; InputError for a term of theirs that is missing otherwise."""
    loaded = loaded_terms(heading.game, files)
    own = (
        {term.name for term in loaded} - {term.name for term in loaded_terms(heading.game, ())}
        if files
        else set()
    )
    missing = [
        f"{term.name}.{parameter.name}"
        for term in loaded
        if term.name in own - set(heading.terms)
        for parameter in term.parameters
    ]
    if missing and not add_missing:
        raise InputError(
            f"{path}: weights lacks {listed(missing)};"
            f" `{completing(path, layout_of(loaded, files))}` adds zeros"
        )
    if not heading.terms or set(heading.terms) - {term.name for term in loaded}:
        return loaded  # the reader names what is missing or unknown
    return tuple(term for term in loaded if term.name in own | set(heading.terms))


def make_layout(game: str, terms: Sequence[str | Path] = ()) -> Layout:
    """Return the parameters of a game's own terms and of the user's files; InputError if a term is
    wrong."""
    return layout_of(loaded_terms(game, terms), terms)


def make_engine(game: str, terms: Sequence[str | Path] = ()) -> CompiledTerms:
    """Return the engine of a game with its own terms and the terms of the user's files; InputError
    if a term is wrong."""
    return _composed(game, loaded_terms(game, terms), terms)


def _composed(
    game: str, terms: tuple[Term, ...], files: Sequence[str | Path], spans: Spans = ()
) -> CompiledTerms:
    layout = layout_of(terms, files)
    phases = layout.phases or steps_of(game)
    return CompiledTerms(find(game), compose(game, terms, rows_of(phases, spans)), layout, spans)


def parameter_path(name: str | Path, game: str = DEFAULT_GAME) -> Path:
    """Return the path of a parameter file, given a path or the name of a bundled file: `classic`,
    or `shogi/classic` for another game. An existing file with such a name takes precedence, a
    folder does not."""
    path, known = Path(name), bundled()
    if os.path.isfile(path) or path.suffix:
        return path
    known_path = known.get(str(path) if len(path.parts) == 2 else f"{game}/{path}")
    if known_path is not None:
        return known_path
    if os.path.lexists(path):
        return path
    named = str(path.parent if len(path.parts) == 2 else path)
    folder = named if named in available() else game
    typed = {file: text.removeprefix(f"{DEFAULT_GAME}/") for text, file in sorted(known.items())}
    own = {file.stem: text for file, text in typed.items() if file.parent.name == folder}
    near = [own[stem] for stem in difflib.get_close_matches(path.name, own, 1)] or [
        text for file, text in typed.items() if file.stem == path.name
    ]
    if near:
        raise InputError(f"{name}: no such file; the nearest bundled name is {' or '.join(near)}")
    names = ", ".join(own.values())
    raise InputError(f"{name}: no such file; bundled parameter files: {names}")


def bundled_games(game: str) -> Path | None:
    """Return the file of the bundled games of a game; None if it has none."""
    files = sorted((BUNDLED.parent / "games" / SAMPLES).glob("*.zst"))
    return next(
        (file for file in files if plain_name(file.name).endswith(find(game).files.suffixes)), None
    )


def games_path(name: str, game: str = DEFAULT_GAME) -> str:
    """Return the path of games, given a path or the name of the bundled ones: `samples`, or
    `shogi/samples` for another game. An existing file or folder with such a name takes
    precedence."""
    prefix, _, last = name.rpartition("/")
    if last != SAMPLES or (prefix and prefix not in available()) or os.path.lexists(name):
        return name
    return str(bundled_games(prefix or game) or name)


def sources_for(params: str | Path, names: Sequence[str]) -> list[str]:
    """Return the paths of games, see `games_path`, for a parameter file; InputError for a parameter
    file among the games."""
    known = bundled()
    for name in names:
        if (
            name.endswith((".yaml", ".yml"))
            or not os.path.lexists(name)
            and (name in known or f"{DEFAULT_GAME}/{name}" in known)
        ):
            exchanged = Path(params).suffix not in (".yaml", ".yml") and (
                os.path.exists(params) or Path(params).name == SAMPLES
            )
            raise InputError(
                f"{params} is no parameter file, but {name} is one: exchange the two"
                if exchanged
                else f"{name}: a parameter file, expected games; `{SAMPLES}` names the bundled ones"
            )
    game = (
        game_of(parameter_path(params))
        if any(Path(name).name == SAMPLES for name in names)
        else DEFAULT_GAME
    )
    return [games_path(name, game) for name in names]


def load_parameters(
    path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False
) -> Parameters:
    """Read the parameters of a file, without compiling anything. Their layout has the terms that
    the file names; with `add_missing` also the terms of the user's files, with zeros.
    InputError for files of terms if another program counts."""
    return _read(parameter_path(path), terms, add_missing)[1]


def load_engine(
    path: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False
) -> tuple[CompiledTerms, Parameters]:
    """Return the engine for a parameter file, whose terms are those that take part, and its
    parameters; see `load_parameters`. InputError for a file whose terms another program counts."""
    path = parameter_path(path)
    taking_part, parameters = _read(path, terms, add_missing)
    if parameters.of_rows:
        read_parameters(path, Layout(()), parameters.game)  # says what cannot be done with it
    return _composed(parameters.game, taking_part, terms, parameters.spans), parameters


def _read(
    path: Path, files: Sequence[str | Path], add_missing: bool
) -> tuple[tuple[Term, ...], Parameters]:
    """Return the terms that take part, none if another program counts them, and the parameters of a
    file."""
    heading = heading_of(path)
    if not heading.of_rows:
        terms = _taking_part(path, heading, files, add_missing)
        return terms, read_parameters(path, layout_of(terms, files), heading.game, add_missing)
    refuse(
        (
            f"--terms {own}",
            True,
            f"another program counts the terms of {path}, so the file itself says which there are",
        )
        for own in files
    )
    return (), read_parameters(path, None, heading.game)
