"""Read the folder of a match, without changing it: it may still be running. Damage is an error of
one line."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from games.record import Game
from games.streams import InputError
from tuner.io.run_folder import CONFIG, HISTORY, read_config
from tuner.options.match import SECTION, MatchSettings
from tuner.parameters.yaml_tree import read_tree
from tuner.play.match.journal import read_pairs
from tuner.play.match.results import Difference, Tally, difference_of, openings_text, result_of
from tuner.play.match.setup import game_of_folder, test_of
from tuner.statistics.sprt import Sprt

ROWS = 400  # of `running`, at most


@dataclass(frozen=True)
class Match:
    """The result of a match. `plain` is what `tuner match --json` prints of it; `reasons` are those
    for which games ended; `running` are rows of games, difference, low, high and LLR (NaN without a
    test) over the match, in the unit of `difference`; `copies` are the players' parameter files in
    the folder, `learned` the numbers of games that these were learned from, None if unknown."""

    folder: Path
    names: tuple[str, str]
    conditions: str
    openings: str
    seed: int
    block: str
    plain: dict
    difference: Difference
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
    settings = read_config(folder, SECTION, MatchSettings)
    path = folder / HISTORY
    test, names, conditions, openings, game = _read_settings(folder, settings)
    lines = read_pairs(path, game.points) if path.exists() else []
    tally = Tally(test, game.points)
    running: list[tuple[float, ...]] = []
    reasons: Counter[str] = Counter()
    first = [line for line in lines if line.leg == 0]
    step = max(1, len(first) // ROWS)
    for i, line in enumerate(first):
        tally.add(line)
        reasons.update(line.reasons or line.ends)
        if i % step == 0 or i == len(first) - 1:
            so_far = (
                math.nan if number is None else number
                for number in difference_of(tally, game).interval
            )
            running.append((2 * (i + 1), *so_far, tally.llr if test else math.nan))
    block, plain = result_of(tally, names, test, game, settings.judge)
    played = plain["games"]
    forfeits = [
        (f"{names['ab'.index(key[0])]} lost by {key[2:]}", n)
        for key, n in sorted(tally.forfeits.items())
    ]
    a, b = (
        copy if (copy := folder / entrant.copy).exists() else None for entrant in settings.entrants
    )
    return Match(
        folder,
        names,
        conditions,
        openings,
        settings.seed,
        "\n".join(block),
        plain,
        difference_of(tally, game),
        test,
        tally.decision,
        reasons.most_common(),
        tally.plies / played if played else math.nan,
        forfeits,
        running,
        (a, b),
        (_games_learned(a) if a else None, _games_learned(b) if b else None),
    )


def _read_settings(
    folder: Path, settings: MatchSettings
) -> tuple[Sprt | None, tuple[str, str], str, str, Game]:
    """Return the test, the names of the players, the conditions, the openings and the game;
    InputError for damaged settings."""
    path = folder / CONFIG
    try:
        names = settings.names
        if not (
            isinstance(names, tuple)
            and len(names) == 2
            and all(isinstance(name, str) for name in names)
        ):
            raise TypeError("names are not two texts")
        conditions = settings.conditions
        game = game_of_folder(settings, folder)
        return test_of(settings, game), names, conditions, openings_text(settings, game), game
    except InputError as problem:
        raise InputError(f"{path}: {problem}") from None
    except (
        TypeError,
        ValueError,
        LookupError,
        AttributeError,
        OverflowError,
    ) as problem:  # whatever a wrong type causes
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
