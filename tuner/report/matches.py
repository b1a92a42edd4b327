"""The folder of a match, read without touching it: it may still be playing."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from games.streams import InputError
from tuner.match.report import openings_text
from tuner.match.settings import SECTION, Settings
from tuner.match.setup import COPIES, test_of
from tuner.match.tally import Tally
from tuner.proof.block import result_block, result_dict
from tuner.proof.pentanomial import summarise
from tuner.proof.sprt import Sprt
from tuner.report.history import read_history
from tuner.runs import HISTORY, read_config
from tuner.yamltree import read_tree

NEEDED = ("leg", "pair", "outcomes", "plies", "ends")
POINTS = 400  # of a running result, at most


@dataclass(frozen=True)
class Match:
    """What a match found. `plain` is what `tuner match --json` prints of the result; `reasons` why its games ended;
    `running` lines of games, Elo, low, high and LLR (NaN without a test) as it went on; `copies` the players' parameter
    files in the folder, and `learned` how many games each had learnt from, as far as these are known."""

    folder: Path
    names: tuple[str, str]
    conditions: str
    openings: str
    seed: int
    block: str
    plain: dict
    test: Sprt | None
    decision: str | None
    reasons: list[tuple[str, int]]
    plies: float
    forfeits: list[tuple[str, int]]
    running: list[tuple[float, ...]]
    copies: tuple[Path | None, Path | None]
    learned: tuple[float | None, float | None]

    @property
    def finished(self) -> int:
        """Games that ended, those behind the end of a test too."""
        return sum(count for _, count in self.reasons)


def read_match(folder: Path) -> Match:
    """The match in a folder so far; InputError if there is none, or a line is damaged."""
    settings = read_config(folder, SECTION, Settings)
    path = folder / HISTORY
    lines = read_history(path, NEEDED, torn=True) if path.exists() else []
    test = test_of(settings)
    tally, running, reasons = Tally(test), [], Counter()
    first = [line for line in lines if line["leg"] == 0]
    step = max(1, len(first) // POINTS)
    try:
        for i, line in enumerate(first):
            tally.add(line)
            reasons.update(line.get("reasons", line["ends"]))
            if i % step == 0 or i == len(first) - 1:
                elo = summarise(tally.results.pairs).elo
                running.append((2 * (i + 1), elo.value, elo.low, elo.high, tally.llr if test else math.nan))
    except (TypeError, ValueError, IndexError, KeyError):
        raise InputError(f"{path}: line of pair {line.get('pair')} is damaged, expected what tuner match writes") from None
    names, results = settings.names, tally.results
    conditions = " : ".join(dict.fromkeys(settings.control(i).text for i in range(2)))
    forfeits = [(f"{names['ab'.index(key[0])]} lost by {key[2:]}", n) for key, n in sorted(tally.forfeits.items())]
    copies = tuple(folder / copy if (folder / copy).exists() else None for copy in COPIES)
    learned = tuple(_games_learned(copy) if copy else None for copy in copies)
    return Match(folder, names, conditions, openings_text(settings), settings.seed,
                 result_block(results, names, test),
                 result_dict(results, names, test), test, tally.decision, reasons.most_common(),
                 tally.plies / results.games if results.games else math.nan, forfeits, running, copies, learned)


def _games_learned(path: Path) -> float | None:
    """How many games the weights of a parameter file were learnt from; None if it does not say."""
    root = read_tree(path).value
    learned = root["learned"].value if isinstance(root, dict) and "learned" in root else None
    games = learned.get("games") if isinstance(learned, dict) else None
    try:
        return float(games.value)
    except (AttributeError, TypeError, ValueError):
        return None
