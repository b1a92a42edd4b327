"""Linear evaluations as networks of one neuron over the counts of their terms, so that they learn
and play in the same loops.

Outputs are sigmoids: (1 + v) / 2 with v = tanh(scale * centipawns), for the first player. Each
stage has its own columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from evalterms.framework.compose import Composition
from evalterms.framework.emit import UNIT
from evalterms.framework.encoding import Encoding, encoding_named, encodings_of
from games.record import Game, find
from games.search.searcher import SMALL_ADVANTAGE, Searcher
from games.streams import InputError
from tuner.evaluation.networks.compiled import address_of, score, scores
from tuner.evaluation.networks.files import NetworkFile, read_network
from tuner.evaluation.networks.learn import logit_factor, logits
from tuner.evaluation.networks.model import Layer, Network, NetworkMemory, inputs_of


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

    def with_weights(self, weights: np.ndarray) -> NetworkEvaluation:
        """Return the same with other weights and biases (size,)."""
        network = self.network.with_flat(weights)
        return replace(self, file=replace(self.file, network=network))

    @property
    def share(self) -> float:
        """The share of the points that a value of 1 stands for among the most that a game wins."""
        return self.file.points / self.game.points

    def values(self, positions: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) of positions (n, words) in centipawns, first player's
        view."""
        found = logits(self.network, inputs_of(self.encoding, positions)) / 2
        if self.share < 1:
            found = np.arctanh(self.share * np.tanh(found))
        return (
            np.where(self.encoding.for_mover & second_to_move(self.game, positions), -found, found)
            / self.scale
        )

    def compiled(self, positions: np.ndarray) -> np.ndarray:
        """Return the evaluations (n,) that a search finds: the same up to single precision and
        1/256 centipawn."""
        out, memory = np.zeros(len(positions), np.int64), self.memory()
        scores(np.ascontiguousarray(positions).ravel(), positions.shape[1], memory.data, out)
        return np.where(second_to_move(self.game, positions), -out, out) / UNIT

    def memory(self) -> NetworkMemory:
        """Return what compiled code needs of the network, for one thread."""
        return NetworkMemory(
            _in_steps(self.network, self.scale if self.share == 1 else UNIT),
            self.encoding,
            self.game.words,
            shares=(self.share, UNIT / self.scale),
        )

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


def chosen_encoding(game: str, name: str | None) -> Encoding:
    """Return an encoding of a game by its name, or the first for the side to move. InputError if
    there is none."""
    known = encodings_of(game)
    if not known:
        raise InputError(f"{game} has no encodings for networks")
    if name is not None and name not in known:
        raise InputError(f"--encoding {name}: {game} has {', '.join(known)}")
    return known[
        name or next(iter(each for each in known if known[each].for_mover), next(iter(known)))
    ]


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
