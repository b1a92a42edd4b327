"""Evaluations: the weights of a parameter file, or a network. They play, evaluate and learn through
one interface."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from rich.console import Console

from games.record import Game, available
from games.search.searcher import Searcher
from games.streams import InputError
from games.system import available_cpus
from tuner.evaluation.engine import CompiledTerms, MovedPositions, counted_positions
from tuner.evaluation.explain import explain, learned_wins, show
from tuner.evaluation.loading import (
    EvaluationSpec,
    engine_of,
    evaluation_spec,
    load_engine,
    parameter_path,
)
from tuner.evaluation.networks.evaluation import (
    evaluation_of,
    network_evaluation,
    neuron,
    terms_encoding,
)
from tuner.evaluation.networks.files import (
    NetworkFile,
    holds_network,
    require_network_writable,
    weights_path,
)
from tuner.evaluation.networks.players import NetworkPlayer
from tuner.evaluation.own_numbers import with_numbers
from tuner.fit.device.choose import device_named
from tuner.fit.learners.steps import RULES
from tuner.io.files import BUNDLED, LEARNED, replace_file, require_writable
from tuner.options.option import refuse
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters

PARAMS = "params.yaml"  # in the folder of a run
PlainEvaluation: TypeAlias = EvaluationSpec | NetworkFile


class Differentiable(Protocol):
    """Positions with the derivatives of their values."""

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with some weights."""

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the gradient, in the shape of the weights, of the sum of factor (n,) times v =
        tanh(scale * evaluation), in the unit in which update rules move the weights."""


class Evaluation(Protocol):
    """An evaluation that plays, evaluates and learns."""

    @property
    def game(self) -> Game: ...

    @property
    def scale(self) -> float:
        """v = tanh(scale * evaluation)."""

    @property
    def weights(self) -> np.ndarray:
        """(stages, columns) in centipawns, or of a network (size,)."""

    def with_weights(self, weights: np.ndarray) -> Evaluation:
        """Return the same with different weights of the same shape."""

    def with_numbers(
        self, values: Mapping[str, str], place: str
    ) -> tuple[Evaluation, dict[str, int]]:
        """Return the same with the weights and search constants that `values` name like engine
        options. InputError, which begins with `place`, for names that are neither."""

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's
        view."""

    def compiled(self, positions: np.ndarray) -> np.ndarray:
        """Return the compiled evaluation of searches."""

    def scorer(self, device: str) -> Callable[[np.ndarray], np.ndarray]:
        """Return a function like `values` for many positions, on a device by its name. InputError
        for a device without passes for this evaluation."""

    def explain(self, words: np.ndarray) -> dict[str, Any]:
        """Return the evaluation of a position (words,), with its parts."""

    def show(self, console: Console, found: dict[str, Any], every: bool) -> None:
        """Print what `explain` found; `every` parameter, not only terms."""

    def searcher(self, playing: bool = True, megabytes: int = 16, lean: bool = True) -> Searcher:
        """Return a search with this evaluation, for one thread; InputError if the game has none.
        `lean`: faster where it can be, but `bind` works only without it."""

    def bind(self, searcher: Searcher) -> None:
        """Let a search use this evaluation, of the same form as its own."""

    def free(self, fixed: Sequence[str]) -> np.ndarray:
        """Return the weights that learn, as a mask, without the names in `fixed`.
        InputError if none is left, and for what cannot be followed."""

    def limits(self) -> tuple[Any, Any]:
        """Return the least and the largest weights, numbers or in the shape of the weights."""

    def rate(self, rule: str) -> float:
        """Return the usual learning rate of an update rule."""

    def rates(self, output: float) -> Any:
        """Return factors of the learning rate, a number or in the shape of the weights; `output` is
        that of the last layer. InputError for evaluations without layers."""

    def positions(
        self, positions: np.ndarray, gradient: str = "analytic", step: float | None = None
    ) -> Differentiable:
        """Return positions (n, words) to learn from, with derivatives of this kind."""

    @property
    def small(self) -> float:
        """A small change of weights."""

    def headline(self) -> dict[str, float]:
        """Return some weights by their names, to follow a run by."""

    @property
    def program(self) -> str:
        """A hash of the compiled code."""

    def tuned_by(self, name: str, games: str) -> list[str]:
        """Return the command that learns such an evaluation, of the file `name`, from games."""

    @property
    def online(self) -> bool:
        """Whether it learns after every ply, in compiled games one roll deep, and not from batches
        of games."""

    def spec(self) -> PlainEvaluation:
        """Return the evaluation as plain data, see `evaluation_from`."""

    def player(self) -> NetworkPlayer:
        """Return a player of compiled games, for one thread. ValueError for an evaluation that is
        not linear."""

    @property
    def file_name(self) -> str:
        """The usual name of its file in a folder."""

    def place(self, path: Path, source: Path | None) -> None:
        """Write the evaluation of a file `source` to another file, to begin a run with; None: of no
        file."""

    def write(self, path: Path, learned: Mapping[str, Any]) -> None:
        """Write the evaluation to a file, with how it was `learned`."""


class WeightsEvaluation(NamedTuple):
    """An engine with parameters of its layout; methods are those of `Evaluation`."""

    engine: CompiledTerms
    parameters: Parameters

    @property
    def game(self) -> Game:
        return self.engine.game

    @property
    def scale(self) -> float:
        return self.parameters.scale

    @property
    def weights(self) -> np.ndarray:
        return self.parameters.weights

    def with_weights(self, weights: np.ndarray) -> WeightsEvaluation:
        return self._replace(parameters=self.parameters.with_weights(weights))

    def with_numbers(
        self, values: Mapping[str, str], place: str
    ) -> tuple[WeightsEvaluation, dict[str, int]]:
        changed, constants = with_numbers(self.game, self.parameters, values, place)
        assert changed is not None, "of parameters that are there"
        return self._replace(parameters=changed), constants

    def values(self, positions: np.ndarray) -> np.ndarray:
        return self.engine.values(positions, self.weights)

    def compiled(self, positions: np.ndarray) -> np.ndarray:
        return self.engine.evaluate(positions, self.parameters)

    def scorer(self, device: str) -> Callable[[np.ndarray], np.ndarray]:
        if device == "gpu" and self.engine.composition.curved:
            raise InputError(
                f"--device gpu: term {self.engine.composition.curved[0]} is not linear in its"
                " weights, which GPUs have no passes for; choose --device cpu"
            )
        workers = available_cpus()
        passes = device_named(device, workers)
        return lambda positions: self.engine.evaluate_many(
            positions, self.parameters, workers, passes
        )

    def explain(self, words: np.ndarray) -> dict[str, Any]:
        return explain(self.engine, self.parameters, words)

    def show(self, console: Console, found: dict[str, Any], every: bool) -> None:
        show(console, found, every, self.game.wording, learned_wins(self.parameters))

    def searcher(self, playing: bool = True, megabytes: int = 16, lean: bool = True) -> Searcher:
        return self.engine.searcher(self.parameters, playing, megabytes, lean)

    def bind(self, searcher: Searcher) -> None:
        self.engine.bind(searcher, self.parameters)

    def free(self, fixed: Sequence[str]) -> np.ndarray:
        for what in ("tied", "symmetric"):
            for name in getattr(self.parameters, what):
                raise InputError(
                    f"`{what}` names {name}, but self-play learns each number alone; delete"
                    f" `{what}`, or learn from games with `tuner tune`"
                )
        learns = ~self.parameters.mask((*self.parameters.fixed, *fixed))
        if not learns.any():
            raise InputError(
                "every parameter is fixed, by --fixed or `fixed` in the file: nothing to learn;"
                " free some"
            )
        return learns

    def limits(self) -> tuple[Any, Any]:
        return self.parameters.limits()

    def rate(self, rule: str) -> float:
        return RULES[rule].rate

    def rates(self, output: float) -> float:
        refuse(((f"--output-rate {output:g}", output != 1, "a parameter file has no layers"),))
        return 1.0

    def positions(
        self, positions: np.ndarray, gradient: str = "analytic", step: float | None = None
    ) -> Differentiable:
        if gradient == "analytic" or step is None:
            return counted_positions(self.engine, positions, len(self.weights))
        return MovedPositions(self.engine, positions, step, gradient == "finite-difference")

    @property
    def small(self) -> float:
        return 1.0  # exact where it is linear

    def headline(self) -> dict[str, float]:
        return self.parameters.headline()

    @property
    def program(self) -> str:
        return self.engine.composition.name

    def tuned_by(self, name: str, games: str) -> list[str]:
        return ["tuner", "tune", name, games, "-o", "learned.yaml"]

    @property
    def online(self) -> bool:
        return False

    def spec(self) -> EvaluationSpec:
        return evaluation_spec(self.engine, self.parameters)

    def player(self) -> NetworkPlayer:
        return NetworkPlayer(
            neuron(self.weights[[0, -1]], self.scale),
            terms_encoding(self.engine.composition),
            self.game.contest.whole_games,
            self.game.points,
        )

    @property
    def file_name(self) -> str:
        return PARAMS

    def place(self, path: Path, source: Path | None) -> None:
        if source is None or source.is_relative_to(BUNDLED):
            write_parameters(path, self.parameters)  # its comments are about the bundled numbers
        else:
            replace_file(path, source.read_bytes())

    def write(self, path: Path, learned: Mapping[str, Any]) -> None:
        parameters = self.parameters.with_weights(
            self.weights, learned=dict(learned), standard_errors=None
        )
        write_parameters(path, parameters)


def load_evaluation(
    name: str | Path, terms: Sequence[str | Path] = (), add_missing: bool = False
) -> Evaluation:
    """Return the evaluation of a parameter file, as `load_engine` has it, or of a network, which
    has no terms. InputError as for these."""
    path = parameter_path(name)
    if holds_network(path):
        return network_evaluation(path)
    return WeightsEvaluation(*load_engine(path, terms, add_missing))


def evaluation_from(spec: PlainEvaluation) -> Evaluation:
    """Return the evaluation of plain data, whose code this process makes once."""
    if isinstance(spec, NetworkFile):
        return evaluation_of(spec)
    return WeightsEvaluation(engine_of(spec.engine), spec.parameters)


def copy_evaluation(path: Path, copy: Path) -> None:
    """Copy the file of an evaluation, of a network its weights, too."""
    replace_file(copy, path.read_bytes())
    if holds_network(path):
        replace_file(weights_path(copy), weights_path(path).read_bytes())


def require_evaluation_writable(
    start: str, output: Path, reads: Sequence[str | None], folder: Path | None
) -> None:
    """InputError before a long computation unless an evaluation learned from `start`, a file or for
    a new network the name of a game, can be written to `output`, outside the `folder` of the
    run."""
    if start in available() or holds_network(parameter_path(start)):
        require_network_writable(output, reads, folder)
    else:
        require_writable(output, LEARNED, reads, folder)


def quiescence_of(game: Game, name: str) -> WeightsEvaluation:
    """Return the evaluation of the quiescence search, whose terms may differ from the evaluation
    that learns."""
    return WeightsEvaluation(*load_engine(parameter_path(name, game.name)))
