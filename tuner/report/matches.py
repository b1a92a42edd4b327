"""Read the folder of a match without changing it: the match may still be running."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from games.record import Game
from games.streams import InputError
from tuner.io.run_folder import CONFIG, HISTORY, read_config
from tuner.match.points_text import estimates
from tuner.match.report import openings_text, result_of
from tuner.match.settings import SECTION, Settings
from tuner.match.setup import COPIES, game_of_folder, test_of
from tuner.match.tally import Tally
from tuner.parameters.yaml_tree import read_tree
from tuner.report.history import read_history
from tuner.report.schema import NUMBER, TEXT, WHOLE, Exactly, Kind, Needed, outcome_of
from tuner.statistics.pentanomial import summarise
from tuner.statistics.sprt import Sprt


def _is_forfeit(value: object) -> bool:
    return isinstance(value, str) and value[:2] in ("a ", "b ")


LINE = {"leg": Needed(WHOLE), "pair": Needed(WHOLE), "luck": Exactly(Needed(NUMBER), 2),
        "plies": Needed(Exactly(Needed(WHOLE), 2)), "ends": Needed(Exactly(Needed(TEXT), 2)),
        "reasons": Exactly(Needed(TEXT), 2), "forfeits": [Kind('"a" or "b" and a reason', _is_forfeit)]}
ROWS = 400  # of `running`, at most
ELO, POINTS = "Elo", "points a game"  # what results are measured in


@dataclass(frozen=True)
class Match:
    """The result of a match. `plain` is what `tuner match --json` prints of it; `reasons` are those for which games ended;
    `running` are rows of games, the estimate, low, high and LLR (NaN without a test) over the match; `copies` are the players'
    parameter files in the folder, `learned` the numbers of games that these were learned from, None if unknown."""

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
    def unit(self) -> str:
        """What the result is measured in, ELO or POINTS."""
        return POINTS if "points_a_game" in self.plain else ELO

    @property
    def digits(self) -> int:
        """Digits after the point of numbers in that unit."""
        return 3 if self.unit == POINTS else 0

    @property
    def estimate(self) -> dict:
        """The result in that unit with its interval."""
        return self.plain["points_a_game" if self.unit == POINTS else "elo"]

    @property
    def pairs(self) -> list[int]:
        """The pairs by their score, from the lowest."""
        return self.plain["pairs_by_points" if self.unit == POINTS else "pentanomial"]

    @property
    def finished(self) -> int:
        """The number of games that ended, including those after the decision of a test."""
        return sum(count for _, count in self.reasons)


def read_match(folder: Path) -> Match:
    """Read the match in a folder so far; InputError if there is none or a line is damaged."""
    settings = read_config(folder, SECTION, Settings)
    path = folder / HISTORY
    game = game_of_folder(settings, folder)
    shape = LINE | {"outcomes": Needed(Exactly(Needed(outcome_of(game.points)), 2))}
    lines = read_history(path, shape, torn=True) if path.exists() else []
    test, names, conditions, openings = _read_settings(folder / CONFIG, settings, game)
    tally = Tally(test, game.points)
    running: list[tuple[float, ...]] = []
    reasons: Counter[str] = Counter()
    first = [line for line in lines if line["leg"] == 0]
    step = max(1, len(first) // ROWS)
    for i, line in enumerate(first):
        tally.add({key: value for key, value in line.items() if value is not None})
        reasons.update(line.get("reasons") or line["ends"])
        if i % step == 0 or i == len(first) - 1:
            running.append((2 * (i + 1), *_estimate(tally, game), tally.llr if test else math.nan))
    results = tally.results
    forfeits = [(f"{names['ab'.index(key[0])]} lost by {key[2:]}", n) for key, n in sorted(tally.forfeits.items())]
    block, plain = result_of(tally, names, test, game)
    a, b = (folder / copy if (folder / copy).exists() else None for copy in COPIES)
    return Match(folder, names, conditions, openings, settings.seed,
                 "\n".join(block), plain, test, tally.decision, reasons.most_common(),
                 tally.plies / results.games if results.games else math.nan, forfeits, running, (a, b),
                 (_games_learned(a) if a else None, _games_learned(b) if b else None))


def _estimate(tally: Tally, game: Game) -> tuple[float, float, float]:
    """Return the result so far and the ends of its interval; NaN if unknown."""
    if game.points == 1:
        elo = summarise(tally.results.pairs).elo
        return elo.value, elo.low, elo.high
    found = estimates(tally.point_results)[0].plain
    value, low, high = (math.nan if found[name] is None else found[name] for name in ("value", "low", "high"))
    return value, low, high


def _read_settings(path: Path, settings: Settings, game: Game) -> tuple[Sprt | None, tuple[str, str], str, str]:
    """The test, the names of the players, the conditions and the openings; InputError for damaged settings."""
    try:
        names = settings.names
        if not (isinstance(names, tuple) and len(names) == 2 and all(isinstance(name, str) for name in names)):
            raise TypeError("names are not two texts")
        conditions = " : ".join(dict.fromkeys(settings.control(i).text for i in range(2)))
        return test_of(settings, game), names, conditions, openings_text(settings, game)
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
