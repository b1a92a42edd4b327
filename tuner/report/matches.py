"""Read the folder of a match without changing it: the match may still be running."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from games.streams import InputError
from tuner.io.run_folder import CONFIG, HISTORY, read_config
from tuner.match.report import openings_text
from tuner.match.result_text import result_block, result_dict
from tuner.match.settings import SECTION, Settings
from tuner.match.setup import COPIES, test_of
from tuner.match.tally import Tally
from tuner.parameters.yaml_tree import read_tree
from tuner.report.history import read_history
from tuner.report.schema import OUTCOME, TEXT, WHOLE, Exactly, Kind, Needed
from tuner.statistics.pentanomial import summarise
from tuner.statistics.sprt import Sprt


def _is_forfeit(value: object) -> bool:
    return isinstance(value, str) and value[:2] in ("a ", "b ")


LINE = {"leg": Needed(WHOLE), "pair": Needed(WHOLE), "outcomes": Needed(Exactly(Needed(OUTCOME), 2)),
        "plies": Needed(Exactly(Needed(WHOLE), 2)), "ends": Needed(Exactly(Needed(TEXT), 2)),
        "reasons": Exactly(Needed(TEXT), 2), "forfeits": [Kind('"a" or "b" and a reason', _is_forfeit)]}
POINTS = 400  # rows of `running`, at most


@dataclass(frozen=True)
class Match:
    """The result of a match. `plain` is what `tuner match --json` prints of it; `reasons` are those for which games ended;
    `running` are rows of games, Elo, low, high and LLR (NaN without a test) over the match; `copies` are the players' parameter
    files in the folder, `learned` the numbers of games that these were learned from, None if unknown."""

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
        """The number of games that ended, including those after the decision of a test."""
        return sum(count for _, count in self.reasons)


def read_match(folder: Path) -> Match:
    """Read the match in a folder so far; InputError if there is none or a line is damaged."""
    settings = read_config(folder, SECTION, Settings)
    path = folder / HISTORY
    lines = read_history(path, LINE, torn=True) if path.exists() else []
    test, names, conditions, openings = _read_settings(folder / CONFIG, settings)
    tally = Tally(test)
    running: list[tuple[float, ...]] = []
    reasons: Counter[str] = Counter()
    first = [line for line in lines if line["leg"] == 0]
    step = max(1, len(first) // POINTS)
    for i, line in enumerate(first):
        tally.add({key: value for key, value in line.items() if value is not None})
        reasons.update(line.get("reasons") or line["ends"])
        if i % step == 0 or i == len(first) - 1:
            elo = summarise(tally.results.pairs).elo
            running.append((2 * (i + 1), elo.value, elo.low, elo.high, tally.llr if test else math.nan))
    results = tally.results
    forfeits = [(f"{names['ab'.index(key[0])]} lost by {key[2:]}", n) for key, n in sorted(tally.forfeits.items())]
    a, b = (folder / copy if (folder / copy).exists() else None for copy in COPIES)
    return Match(folder, names, conditions, openings, settings.seed,
                 result_block(results, names, test),
                 result_dict(results, names, test), test, tally.decision, reasons.most_common(),
                 tally.plies / results.games if results.games else math.nan, forfeits, running, (a, b),
                 (_games_learned(a) if a else None, _games_learned(b) if b else None))


def _read_settings(path: Path, settings: Settings) -> tuple[Sprt | None, tuple[str, str], str, str]:
    """The test, the names of the players, the conditions and the openings; InputError for damaged settings."""
    try:
        names = settings.names
        if not (isinstance(names, tuple) and len(names) == 2 and all(isinstance(name, str) for name in names)):
            raise TypeError("names are not two texts")
        conditions = " : ".join(dict.fromkeys(settings.control(i).text for i in range(2)))
        return test_of(settings), names, conditions, openings_text(settings)
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    except (TypeError, ValueError, LookupError, AttributeError, OverflowError) as problem:  # whatever a wrong type causes
        raise InputError(f"{path}: damaged settings of a match: {problem}") from None


def _games_learned(path: Path) -> float | None:
    """How many games the weights of a parameter file were learned from; None if unknown."""
    root = read_tree(path).value
    learned = root["learned"].value if isinstance(root, dict) and "learned" in root else None
    games = learned.get("games") if isinstance(learned, dict) else None
    try:
        return float(games.value) if games and isinstance(games.value, str) else None
    except ValueError:
        return None
