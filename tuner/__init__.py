"""Tune the weights of a hand-written evaluation.

    >>> import tuner
    >>> classic = tuner.load("classic")
    >>> learned = tuner.tune(classic, "games.pgn")        # doctest: +SKIP
    >>> print(learned)                                    # doctest: +SKIP

`docs/python.md` shows everything that the names below offer.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tuner.version import __version__ as __version__

if TYPE_CHECKING:
    from games.streams import InputError
    from tuner.api.commands import (
        TrainedNetwork,
        build_rows,
        fit_wdl,
        measure_counts,
        read_from_source,
        train_network,
        write_into_source,
        write_trace,
    )
    from tuner.api.evaluation import Evaluation, Network, load, load_network
    from tuner.api.learning import Tuned, build_dataset, open_dataset, tune
    from tuner.api.runs import (
        SelfPlayed,
        improve_engine,
        learn_by_selfplay,
        optimize_numbers,
        play_games,
        play_match,
        play_tournament,
        write_report,
    )
    from tuner.datasets.dataset import Dataset
    from tuner.results.improved import Improved
    from tuner.results.match import MatchResult
    from tuner.results.optimized import Optimized
    from tuner.results.own_games import OwnGames
    from tuner.results.result import CommandResult
    from tuner.results.standings import Standings
    from tuner.results.wdl import Wdl

__all__ = [
    "CommandResult",
    "Dataset",
    "Evaluation",
    "Improved",
    "InputError",
    "MatchResult",
    "Network",
    "Optimized",
    "OwnGames",
    "SelfPlayed",
    "Standings",
    "TrainedNetwork",
    "Tuned",
    "Wdl",
    "build_dataset",
    "build_rows",
    "fit_wdl",
    "improve_engine",
    "learn_by_selfplay",
    "load",
    "load_network",
    "measure_counts",
    "open_dataset",
    "optimize_numbers",
    "play_games",
    "play_match",
    "play_tournament",
    "read_from_source",
    "train_network",
    "tune",
    "write_into_source",
    "write_report",
    "write_trace",
]

_HOMES = {
    "CommandResult": "tuner.results.result",
    "Dataset": "tuner.datasets.dataset",
    "Evaluation": "tuner.api.evaluation",
    "Improved": "tuner.results.improved",
    "InputError": "games.streams",
    "MatchResult": "tuner.results.match",
    "Network": "tuner.api.evaluation",
    "Optimized": "tuner.results.optimized",
    "OwnGames": "tuner.results.own_games",
    "SelfPlayed": "tuner.api.runs",
    "Standings": "tuner.results.standings",
    "TrainedNetwork": "tuner.api.commands",
    "Tuned": "tuner.api.learning",
    "Wdl": "tuner.results.wdl",
    "build_dataset": "tuner.api.learning",
    "build_rows": "tuner.api.commands",
    "measure_counts": "tuner.api.commands",
    "fit_wdl": "tuner.api.commands",
    "improve_engine": "tuner.api.runs",
    "learn_by_selfplay": "tuner.api.runs",
    "load": "tuner.api.evaluation",
    "load_network": "tuner.api.evaluation",
    "open_dataset": "tuner.api.learning",
    "optimize_numbers": "tuner.api.runs",
    "play_games": "tuner.api.runs",
    "play_match": "tuner.api.runs",
    "play_tournament": "tuner.api.runs",
    "read_from_source": "tuner.api.commands",
    "train_network": "tuner.api.commands",
    "tune": "tuner.api.learning",
    "write_into_source": "tuner.api.commands",
    "write_report": "tuner.api.runs",
    "write_trace": "tuner.api.commands",
}


if (
    not TYPE_CHECKING
):  # type checkers know the names from the imports above, and would accept any name

    def __getattr__(name: str) -> Any:
        """Import a public name when it is first used, so that `import tuner` takes no time."""
        if name not in _HOMES:
            raise AttributeError(f"module 'tuner' has no attribute {name!r}")
        require_own_packages()
        return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def require_own_packages() -> None:
    """ImportError in one line where a file of the user's hides a package of ours."""
    for package in ("games", "evalterms"):
        ours, found = Path(__file__).resolve().parent.parent / package, find_spec(package)
        origin = found and found.origin
        if not origin or Path(origin).resolve().parent != ours:
            raise ImportError(
                f"{origin or package}: hides the package {package!r} of evaltune; rename it, or"
                " start from another folder"
            )
