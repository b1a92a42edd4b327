"""Linear evaluations as networks of one neuron over the counts of their terms, so that they learn and play in the same loops.

Outputs are sigmoids: (1 + v) / 2 with v = tanh(scale * centipawns), for the first player. Each stage has its own columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from evalterms.compose import Composition
from tuner.networks.model import Layer, Network


@dataclass(frozen=True)
class TermsEncoding:
    """The counts of linear terms, for the first stage and for the last, as an encoding (`tuner.networks.calls.Encoding`)."""

    name: str
    units: np.ndarray
    write: Any
    for_mover: bool = False

    @property
    def size(self) -> int:
        return len(self.units)


def terms_encoding(composition: Composition) -> TermsEncoding:
    """Return the counts of an evaluation as an encoding; ValueError if a term is not linear."""
    if composition.curved:
        raise ValueError(f"{', '.join(composition.curved)}: not linear, so that its counts are not inputs of a neuron")
    units = np.full(2 * composition.size, 1 / composition.glue.PHASES)
    return TermsEncoding("terms", units, composition.glue.write_counts)


def neuron(weights: np.ndarray, scale: float) -> Network:
    """Return weights (2, columns) in centipawns as a network of one neuron without bias."""
    return Network((Layer(2 * scale * weights.reshape(-1, 1), np.zeros(1), "sigmoid"),))


def weights_of(network: Network, scale: float) -> np.ndarray:
    """Return the weights (2, columns) in centipawns of a network of one neuron; its bias is left out."""
    return network.layers[0].weights.reshape(2, -1) / (2 * scale)
