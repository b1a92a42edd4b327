"""Linear evaluations as networks of one neuron over the counts of their terms, so that they learn
and play in the same loops.

Outputs are sigmoids: (1 + v) / 2 with v = tanh(scale * centipawns), for the first player. Each
stage has its own columns."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from scipy.sparse import csr_array

from evalterms.framework.compose import Composition
from evalterms.framework.emit import UNIT
from evalterms.framework.encoding import Encoding, encoding_named, encodings_of
from games.record import Game, find
from games.search.searcher import SMALL_ADVANTAGE, Searcher
from games.streams import InputError
from tuner.evaluation.explain import expected_of, expected_text
from tuner.evaluation.networks.compiled import NETWORKS, address_of, score, scores
from tuner.evaluation.networks.files import NetworkFile, read_network, write_network
from tuner.evaluation.networks.learn import logit_factor, logits
from tuner.evaluation.networks.model import Layer, Network, NetworkMemory, inputs_of
from tuner.evaluation.networks.players import NetworkPlayer
from tuner.evaluation.own_numbers import with_numbers
from tuner.fit.learners.steps import RULES
from tuner.io.terminal import show_lines
from tuner.options.option import refuse
from tuner.options.selfplay import BOARD, BOTH, TERMS
from tuner.parameters.parameters import DEFAULT_GAME

NET = "net.yaml"  # in the folder of a run
NEW_RATE, NEW_BATCH = 0.005, 2  # of Adam with a new network
CERTAIN = 1 - 1e-12  # the largest value: atanh of it is finite


def terms_encoding(composition: Composition) -> Encoding:
    """Return the counts of an evaluation, for the first stage and for the last, as an encoding;
    ValueError if a term is not linear."""
    if composition.curved:
        raise ValueError(
            f"{', '.join(composition.curved)}: not linear, so that its counts are not inputs of a"
            " neuron"
        )
    units = np.full(2 * composition.size, 1 / composition.glue.PHASES)
    return Encoding(
        "terms",
        units,
        False,
        composition.glue.write_counts,
        "counts of terms, for the first stage and for the last",
    )


def neuron(weights: np.ndarray, scale: float) -> Network:
    """Return weights (2, columns) in centipawns as a network of one neuron without bias."""
    return Network((Layer(2 * scale * weights.reshape(-1, 1), np.zeros(1), "sigmoid"),))


@dataclass(frozen=True)
class NetworkEvaluation:
    """A network that evaluates positions of a game; see `network_evaluation`."""

    game: Game
    encoding: Encoding
    file: NetworkFile
    scale: float  # 1 / centipawns

    @property
    def network(self) -> Network:
        return self.file.network

    @property
    def weights(self) -> np.ndarray:
        """All weights and biases (size,)."""
        return self.network.flat()

    def with_weights(self, weights: np.ndarray) -> NetworkEvaluation:
        """Return the same with different weights and biases (size,)."""
        network = self.network.with_flat(weights)
        return replace(self, file=replace(self.file, network=network))

    def with_numbers(
        self, values: Mapping[str, str], place: str
    ) -> tuple[NetworkEvaluation, dict[str, int]]:
        """Return the same, and the constants of its search that `values` name. InputError, which
        begins with `place`, for unknown names."""
        return self, with_numbers(self.game, None, values, place).constants

    @property
    def share(self) -> float:
        """The points of a value of 1 as a share of the most points of a game."""
        return self.file.points / self.game.points

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's
        view."""
        sums = logits(self.network, inputs_of(self.encoding, positions)) / 2
        if self.share < 1:
            sums = np.arctanh(self.share * np.tanh(sums))
        return (
            np.where(self.encoding.for_mover & second_to_move(self.game, positions), -sums, sums)
            / self.scale
        )

    def compiled(self, positions: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) that a search finds: the same up to single precision and
        1/256 centipawn."""
        out, memory = np.zeros(len(positions), np.int64), self.memory()
        scores(np.ascontiguousarray(positions).ravel(), positions.shape[1], memory.data, out)
        return np.where(second_to_move(self.game, positions), -out, out) / UNIT

    def memory(self) -> NetworkMemory:
        """Return the memory of compiled code, for one thread."""
        return NetworkMemory(
            _in_steps(self.network, self.scale if self.share == 1 else UNIT),
            self.encoding,
            self.game.words,
            shares=(self.share, UNIT / self.scale),
        )

    def scorer(self, device: str) -> Callable[[np.ndarray], np.ndarray]:
        """Return `values`; InputError for a GPU."""
        refuse((("--device gpu", device == "gpu", "networks are evaluated on the CPU"),))
        return self.values

    @property
    def wins(self) -> bool:
        """Whether it learned that every win is one point, in a game that wins several."""
        return self.share < 1

    def explain(self, words: np.ndarray) -> dict[str, Any]:
        """Return the evaluation of a position (words,), and the network that has it."""
        centipawns = float(self.values(words[None])[0])
        v = math.tanh(self.scale * centipawns)
        return {
            "position": self.game.text(words),
            "evaluation": round(centipawns, 2),
            "value": round(v, 4),
            **expected_of(v, self.game, self.wins),
            "encoding": self.encoding.name,
            "network": self.size_text,
        }

    def show(self, console: Console, found: dict[str, Any], every: bool) -> None:
        """Print what `explain` found; `every` makes no difference."""
        wording = self.game.wording
        unit = wording.unit + (" with every win as one point" if self.wins else "")
        seen = f"{found['encoding']}, {found['network']}: {found['evaluation']:+.2f} {unit}"
        expected = expected_text(found, wording, self.wins)
        show_lines(console, f"{seen}, {wording.view}", expected)

    def searcher(self, playing: bool = True, megabytes: int = 16, lean: bool = True) -> Searcher:
        """Return a search with this evaluation, for one thread; InputError if the game has none.
        `lean` makes no difference."""
        if self.game.contest.searcher is None:
            raise InputError(f"{self.game.name} has no search that a network could play with")
        memory = self.memory()
        found = self.game.contest.searcher(
            address_of(score), memory.data, playing, SMALL_ADVANTAGE / self.scale, megabytes
        )
        found.weights = memory  # kept alive by the searcher that reads it
        return found

    def bind(self, searcher: Searcher) -> None:
        """Let a search use this network."""
        memory = self.memory()
        searcher.bind(address_of(score), memory.data)
        searcher.weights = memory

    def free(self, fixed: Sequence[str]) -> np.ndarray:
        """Return a mask (size,) of all weights; InputError if some should not."""
        nameless = "the weights of a network have no names"
        refuse((f"--fixed {name}", True, nameless) for name in fixed)
        return np.ones(self.network.size, bool)

    def limits(self) -> tuple[float, float]:
        """Return infinite limits."""
        return -np.inf, np.inf

    def rate(self, rule: str) -> float:
        """Return the usual learning rate of an update rule."""
        return RULES[rule].network_rate

    def rates(self, output: float) -> np.ndarray:
        """Return factors (size,) of the learning rate: `output` in the last layer."""
        last = self.network.layers[-1]
        found = np.ones(self.network.size)
        found[-(last.weights.size + last.biases.size) :] = output
        return found

    def positions(
        self, positions: np.ndarray, gradient: str = "analytic", step: float | None = None
    ) -> NetworkPositions:
        """Return positions (n, words) to learn from; InputError for finite differences."""
        refuse(((f"--gradient {gradient}", gradient != "analytic", "networks backpropagate"),))
        seconds = self.encoding.for_mover & second_to_move(self.game, positions)
        return NetworkPositions(self, inputs_of(self.encoding, positions), 1.0 - 2.0 * seconds)

    @property
    def small(self) -> float:
        """A change of weights that moves values in proportion."""
        return 1e-4

    def headline(self) -> dict[str, float]:
        """Return no weights: they have no names."""
        return {}

    @property
    def program(self) -> str:
        """A hash of the compiled code."""
        return NETWORKS.name

    def tuned_by(self, name: str, games: str) -> list[str]:
        """Return the command that learns a network from games; its scale is that of `classic`."""
        start = "classic" if self.game.name == DEFAULT_GAME else f"{self.game.name}/classic"
        return ["tuner", "network", start, games, "-o", "learned.yaml"]

    @property
    def online(self) -> bool:
        """Whether it learns after every ply: where games have dice."""
        return self.game.has_dice

    def spec(self) -> NetworkFile:
        """Return the network as plain data."""
        return self.file

    def player(self) -> NetworkPlayer:
        """Return a player of compiled games, for one thread."""
        whole = self.game.contest.whole_games
        return NetworkPlayer(self.network, self.encoding, whole, self.file.points)

    @property
    def file_name(self) -> str:
        """The usual name of its file in a folder."""
        return NET

    def place(self, path: Path, source: Path | None) -> None:
        """Write the network to a file, to begin a run with."""
        write_network(path, self.file)

    def write(self, path: Path, learned: Mapping[str, Any]) -> None:
        """Write the network with how it was `learned`, in single precision."""
        origin = ", ".join(f"{name} {value}" for name, value in learned.items())
        made = self.network.with_flat(self.weights.astype(np.float32))
        write_network(path, replace(self.file, network=made, origin=origin))

    @cached_property
    def size_text(self) -> str:
        """The layers in words: 768-64-1."""
        return "-".join(
            str(width)
            for width in (
                self.network.inputs,
                *(len(layer.biases) for layer in self.network.layers),
            )
        )


@dataclass(frozen=True)
class NetworkPositions:
    """Positions as `inputs` (n, inputs) of a network, with derivatives by backpropagation; `signs`
    (n,) are -1 where its output is for the second player."""

    evaluation: NetworkEvaluation
    inputs: csr_array
    signs: np.ndarray

    def evaluations(self, weights: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) in centipawns, first player's view, with some weights
        (size,)."""
        return self.signs * np.arctanh(self._values(weights)) / self.evaluation.scale

    def slopes(self, factors: np.ndarray, scale: float, weights: np.ndarray) -> np.ndarray:
        """Return the gradient (size,) of the sum of factor * v."""
        share, value = self.evaluation.share, self._values(weights)
        by_logit = share * (1 - (value / share) ** 2) / 2
        network = self._linear(weights)
        errors = factors * self.signs * by_logit * logit_factor(self.evaluation.network)
        return network.pull(self.inputs, errors[:, None])

    def _values(self, weights: np.ndarray) -> np.ndarray:
        """Return v (n,) for the player that the output is for, short of 1."""
        sums = self._linear(weights).outputs(self.inputs)[:, 0]
        values = np.tanh(logit_factor(self.evaluation.network) * sums / 2)
        return self.evaluation.share * np.clip(values, -CERTAIN, CERTAIN)

    def _linear(self, weights: np.ndarray) -> Network:
        network = self.evaluation.network.with_flat(weights)
        last = replace(network.layers[-1], activation="linear")
        return Network((*network.layers[:-1], last))


def chosen_encoding(game: str, name: str | None, inputs: str = BOARD) -> Encoding:
    """Return an encoding of a game by its name, by default the first for the side to move; with
    `inputs` the encoding of terms, or both. InputError if there is none."""
    known = encodings_of(game)
    if not known:
        raise InputError(f"{game} has no encodings for networks")
    refuse(((f"--encoding {name}", name and inputs == TERMS, "--inputs terms sees no board"),))
    board = name or next(iter(each for each in known if known[each].for_mover), next(iter(known)))
    try:
        return encoding_named(game, {BOARD: board, TERMS: TERMS, BOTH: f"{board}+{TERMS}"}[inputs])
    except ValueError:
        raise InputError(f"--encoding {name}: {game} has {', '.join(known)}") from None


def usual_of_new(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the usual settings of self-play without dice of a new network, in addition to the
    given ones."""
    rate = {} if "learner" in given else {"learning_rate": NEW_RATE}
    return {**rate, "batch": NEW_BATCH, "average": 0.0}


def network_evaluation(path: Path) -> NetworkEvaluation:
    """Read a network that evaluates positions. InputError if it is not one, has no scale, or has
    outputs that searches cannot use."""
    return evaluation_of(
        read_network(path, lambda game, encoding: encoding_named(game, encoding).size), str(path)
    )


def evaluation_of(file: NetworkFile, name: str = "the network") -> NetworkEvaluation:
    """Return a network, from the file of this name, as an evaluation; InputError as for
    `network_evaluation`."""
    encoding = encoding_named(file.game, file.encoding)
    if file.scale is None:
        raise InputError(
            f"{name}: has no scale, so its outputs are no centipawns; expected a network of `tuner"
            " network` or `tuner selfplay`"
        )
    try:
        logit_factor(file.network)
    except ValueError as problem:
        raise InputError(f"{name}: {problem}") from None
    game = find(file.game)
    if file.points > game.points:
        raise InputError(
            f"{name}: points is {file.points}, but a game of {game.name} wins {game.points} at"
            " most; correct it"
        )
    return NetworkEvaluation(game, encoding, file, file.scale)


def second_to_move(game: Game, positions: np.ndarray) -> np.ndarray:
    """Return in which positions (n, words) the second player is to move, (n,) bool."""
    return np.fromiter(map(game.second_to_move, positions), bool, len(positions))


def _in_steps(network: Network, scale: float) -> Network:
    """Return the network whose output is the evaluation in steps of the search."""
    last = network.layers[-1]
    factor = UNIT * logit_factor(network) / (2 * scale)
    return replace(
        network,
        layers=(*network.layers[:-1], Layer(last.weights * factor, last.biases * factor, "linear")),
    )
