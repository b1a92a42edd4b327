"""The result of the rounds of `tuner tune`, and when another round follows."""

from __future__ import annotations

from typing import NamedTuple

from tuner.fit.result import FitResult
from tuner.tuning.options import TuneOptions
from tuner.tuning.reading import Read

FAR = 0.02  # mean change of values above which leaves and search values are computed again, and own games played again


class Fitted(NamedTuple):
    """The result of all rounds: the last dataset and fit, a summary of the first dataset, and the options, with the width of
    the prior if the data chose it."""

    read: Read
    summary: dict
    result: FitResult
    options: TuneOptions
