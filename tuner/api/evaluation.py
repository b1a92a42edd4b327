"""Evaluations: loaded, evaluated, explained, compared and exported."""

from __future__ import annotations

import abc
import io
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from games.streams import InputError
from tuner.api.arguments import paths_of, shown, typed
from tuner.core.text import plural
from tuner.evaluation import evaluation as plays
from tuner.evaluation.engine import CompiledTerms
from tuner.evaluation.loading import (
    EngineSpec,
    engine_of,
    games_path,
    load_engine,
    load_parameters,
    parameter_path,
    sources_for,
    spec_of,
)
from tuner.evaluation.networks.evaluation import (
    NetworkEvaluation,
    evaluation_of,
    network_evaluation,
)
from tuner.evaluation.networks.files import (
    NetworkFile,
    require_network_writable,
    write_network,
)
from tuner.export.text import FORMATS, exported
from tuner.io.files import LEARNED, require_writable
from tuner.parameters import diff
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

WIDTH = 110  # columns of a printed table


class Board(Protocol):
    """A board with its position as a FEN, such as `chess.Board`."""

    def fen(self) -> str:
        """The position as text."""


POSITIONS = "a text such as a FEN, a board, or a packed position"
# a packed position is (words,) uint64
Position: TypeAlias = str | Board | NDArray[np.uint64]
Item = TypeVar("Item", covariant=True)


class Several(Protocol[Item]):
    """A list, a tuple or another sequence. Not a text, which is one position: its `__contains__`
    takes texts only."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Item]: ...

    def __contains__(self, item: object, /) -> bool: ...


class Player(abc.ABC):
    """An `Evaluation` or a `Network`: it evaluates positions, and can play. Scores are
    from the first player's point of view (White's)."""

    name: str
    path: str | None  # of its file, if it is in one
    terms: tuple[str, ...] = ()  # files of terms of your own

    @property
    @abc.abstractmethod
    def evaluation(self) -> plays.Evaluation:
        """The evaluation for searches."""

    @abc.abstractmethod
    def save(self, path: str | Path) -> Path:
        """Write its file; InputError where `path` is another kind of file, or cannot be written."""

    @property
    def scale(self) -> float:
        """v = tanh(scale * centipawns) is the value of a position, (1 + v) / 2 the expected
        score."""
        return self.evaluation.scale

    def position(self, position: Position) -> NDArray[np.uint64]:
        """(words,) a position as the game packs it. InputError for a text that is not a
        position."""
        words = self.evaluation.game.words
        if isinstance(position, np.ndarray):
            if position.dtype != np.uint64 or position.shape != (words,):
                raise InputError(
                    f"a position is {position.dtype} of shape {position.shape}, expected uint64 of"
                    f" ({words},)"
                )
            return position
        text = (
            position
            if isinstance(position, str)
            else position.fen()
            if hasattr(position, "fen")
            else None
        )
        if text is None:
            raise InputError(f"position: found {shown(position)}, expected {POSITIONS}")
        try:
            return self.evaluation.game.position(text)
        except ValueError as problem:
            raise InputError(str(problem)) from None

    @overload
    def evaluate(self, positions: str | Board) -> float: ...

    @overload
    def evaluate(
        self, positions: Several[Position] | NDArray[np.uint64]
    ) -> NDArray[np.float64]: ...

    def evaluate(self, positions: Any) -> Any:
        """The static evaluation in centipawns, first player's view: of one FEN or `chess.Board` a
        number, of a sequence of them, or of an array (n, words) of packed positions, an array
        (n,)."""
        if isinstance(positions, str) or hasattr(positions, "fen"):
            return float(self.evaluate([positions])[0])
        if isinstance(positions, np.ndarray):
            words = positions if positions.ndim == 2 else positions[None]
            if words.dtype != np.uint64 or words.shape[1:] != (self.evaluation.game.words,):
                raise InputError(
                    f"positions are {positions.dtype} of shape {positions.shape}, expected uint64"
                    f" of (n, {self.evaluation.game.words})"
                )
        elif not isinstance(positions, Iterable):
            raise InputError(
                f"evaluate: found {shown(positions)}, expected {POSITIONS}, or several of them"
            )
        else:
            words = np.array(
                [self.position(position) for position in positions], np.uint64
            ).reshape(-1, self.evaluation.game.words)
        centipawns: NDArray[np.float64] = self.evaluation.scorer("cpu")(words)
        return centipawns

    @overload
    def expected_score(self, positions: str | Board) -> float: ...

    @overload
    def expected_score(
        self, positions: Several[Position] | NDArray[np.uint64]
    ) -> NDArray[np.float64]: ...

    def expected_score(self, positions: Any) -> Any:
        """The score that the evaluation predicts for the first player, from 0 to 1; of positions as
        for `evaluate`."""
        return 0.5 + 0.5 * np.tanh(self.scale * self.evaluate(positions))

    def explain(self, position: Position) -> str:
        """A table of what every term contributes to the evaluation of a position, or what a network
        makes of it."""
        explained = self.evaluation.explain(self.position(position))
        return _printed(lambda console: self.evaluation.show(console, explained, False))


class Evaluation(Player):
    """The evaluation of a game: its terms, and a number for each parameter and stage.

    Make one with `tuner.load`. Numbers are centipawns, scores are from the first player's point of
    view (White's)."""

    def __init__(
        self,
        engine: CompiledTerms | None,
        parameters: Parameters,
        name: str,
        path: str | None,
        terms: tuple[str, ...] = (),
    ) -> None:
        self.counted_by, self.parameters, self.name, self.path, self.terms = (
            engine,
            parameters,
            name,
            path,
            terms,
        )

    @property
    def engine(self) -> CompiledTerms:
        """The engine that counts its terms; InputError if another program does (`terms: rows` in
        the file)."""
        if self.counted_by is None:
            raise InputError(
                f"{self.name}: another program counts its terms, so that positions cannot be"
                " evaluated here; its numbers can be learned from rows"
            )
        return self.counted_by

    @property
    def evaluation(self) -> plays.Evaluation:
        """See `Player`; InputError as for `engine`."""
        return plays.WeightsEvaluation(self.engine, self.parameters)

    @property
    def scale(self) -> float:
        """See `Player`."""
        return self.parameters.scale

    @property
    def game(self) -> str:
        """The name of the game, such as "chess"."""
        return self.parameters.game

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages that numbers are given for, such as ("mg", "eg")."""
        return self.parameters.stages

    @property
    def names(self) -> list[str]:
        """All parameters, such as "material.pawn"."""
        return [place.path for place in self.parameters.layout.places]

    def __getitem__(self, name: str) -> dict[str, NDArray[np.float64]]:
        """The weights of a parameter for each stage; a table keeps its shape. KeyError for
        an unknown name."""
        return self._numbers(name, self.parameters.weights)

    def standard_errors(self, name: str) -> dict[str, NDArray[np.float64]] | None:
        """The standard errors of a parameter's numbers, as for `evaluation[name]`; None in a file
        without them."""
        if self.parameters.standard_errors is None:
            return None
        return self._numbers(name, self.parameters.standard_errors)

    def _numbers(self, name: str, values: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
        for place in self.parameters.layout.places:
            if place.path == name:
                return {
                    stage: line[place.columns].reshape(place.shape)
                    for stage, line in zip(self.stages, values, strict=True)
                }
        raise KeyError(f"no parameter {name!r}; `names` lists them")

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    @typed
    def compare(self, other: Evaluation) -> str:
        """A table of what changes from this evaluation to another one, as `tuner diff --show all`
        prints it."""
        if other.game != self.game:
            raise InputError(
                f"{other.name} is for {other.game}, expected {self.game} as {self.name}"
            )
        if other.names != self.names:
            raise InputError(
                f"{other.name} and {self.name} have different terms; load both with the same terms"
                " and add_missing"
            )
        view = diff.View((self.name, other.name), 1, False, False)
        return _printed(
            lambda console: diff.show(
                console, diff.compare([self.parameters, other.parameters]), view
            )
        )

    @typed
    def export(
        self,
        format: str = "c",
        *,
        scale_to: float | None = None,
        decimals: int = 0,
        flip: bool = False,
    ) -> str:
        """The numbers as text for engines, as `tuner export` writes them: "c", "rust", "json",
        "uci" or "spsa"."""
        if format not in FORMATS:
            raise InputError(f"export: format is {format!r}, expected one of {', '.join(FORMATS)}")
        return exported(self.parameters, self.name, format, scale_to, decimals, flip)[0]

    @typed
    def save(self, path: str | Path) -> Path:
        """Write the parameter file; InputError where `path` is another kind of file, or cannot be
        written."""
        path = Path(path)
        require_writable(path, LEARNED, ())
        write_parameters(path, self.parameters)
        return path

    def __reduce__(self) -> tuple[Any, ...]:
        """Compiled code stays here: another process compiles its own."""
        spec = None if self.counted_by is None else spec_of(self.counted_by)
        return _unpickled, (spec, self.parameters, self.name, self.path, self.terms)

    def __repr__(self) -> str:
        return (
            f"<Evaluation {self.name}: {self.game},"
            f" {plural(self.parameters.weights.size, 'number')}, scale"
            f" {self.scale:.5f}>"
        )


class Network(Player):
    """A network that evaluates positions; make one with `tuner.load_network`."""

    def __init__(self, found: NetworkEvaluation, name: str, path: str | None = None) -> None:
        self.name, self.path = name, path
        self._found = found

    @property
    def evaluation(self) -> plays.Evaluation:
        """See `Player`."""
        return self._found

    @property
    def game(self) -> str:
        """The name of the game, such as "chess"."""
        return self._found.game.name

    def expected_score(self, positions: Any) -> Any:
        """The score that the network predicts for the first player, from 0 to 1; the probability of
        winning, of one that learned from wins alone. See `Player`."""
        points = self._found.game.points if self._found.wins else 1
        value = np.tanh(self.scale * self.evaluate(positions))
        return np.clip(0.5 + 0.5 * points * value, 0.0, 1.0)

    @typed
    def save(self, path: str | Path) -> Path:
        """Write the network, with its weights in an .npz next to it; see `Player`."""
        path = Path(path)
        require_network_writable(path, (), None)
        write_network(path, self._found.file)
        return path

    def __reduce__(self) -> tuple[Any, ...]:
        return _network, (self._found.file, self.name, self.path)

    def __repr__(self) -> str:
        size = f"{self._found.encoding.name}, {self._found.size_text}"
        return f"<Network {self.name}: {self.game}, {size}, scale {self.scale:.5f}>"


def _network(file: NetworkFile, name: str, path: str | None) -> Network:
    return Network(evaluation_of(file), name, path)


def _unpickled(spec: EngineSpec | None, *others: Any) -> Evaluation:
    return Evaluation(None if spec is None else engine_of(spec), *others)


@typed
def load(
    parameters: str | Path = "classic", terms: Sequence[str | Path] = (), add_missing: bool = False
) -> Evaluation:
    """Load an evaluation: `parameters` is a parameter file, or the name of a bundled one
    ("classic", "zero", "pesto", "shogi/classic"); `terms` are Python files with terms of your
    own, whose numbers are 0 with `add_missing` if the file lacks them. InputError names the file
    and the line of a mistake.

    A file with `terms: rows` has no terms that could be counted here: its numbers are learned from
    rows of another program."""
    paths = tuple(str(path) for path in terms)
    loaded = load_parameters(str(parameters), paths, add_missing)
    engine = None if loaded.of_rows else load_engine(str(parameters), paths, add_missing)[0]
    # numbers that the file lacks are in no file yet
    return Evaluation(
        engine, loaded, str(parameters), None if add_missing else str(parameters), paths
    )


@typed
def load_network(network: str | Path) -> Network:
    """Load a network of `tuner network` or `tuner selfplay`: its .yaml, or the name of a bundled
    one ("backgammon/network"). InputError in one line if it is not one."""
    name = str(network)
    return Network(network_evaluation(parameter_path(name)), name, name)


def _printed(draw: Any) -> str:
    stream = io.StringIO()
    draw(
        Console(
            file=stream, width=WIDTH, highlight=False, markup=False, emoji=False, color_system=None
        )
    )
    return stream.getvalue()


Start: TypeAlias = Evaluation | str | Path
Games: TypeAlias = str | Path | Iterable[str | Path]


def file_of(evaluation: Player | str | Path, folder: Path) -> tuple[str, tuple[str, ...]]:
    """Return the file of an evaluation, written into the folder if it is in none, and its files of
    terms."""
    if not isinstance(evaluation, Player):
        return str(evaluation), ()
    if evaluation.path is None:
        folder.mkdir(exist_ok=True)
        return str(evaluation.save(folder / f"{evaluation.name}.yaml")), evaluation.terms
    return evaluation.path, evaluation.terms


def sources_of(start: Start, games: Games) -> list[str]:
    """The paths of games for an evaluation, with the name of bundled ones replaced."""
    if isinstance(start, Evaluation):
        return [games_path(path, start.game) for path in paths_of(games)]
    return sources_for(start, paths_of(games))
