"""Every term against a second derivation from the counts, and the rolls that hit against the
rules."""

import ctypes

import numpy as np
import pytest

from evalterms.backgammon import TERMS
from evalterms.backgammon.encodings import ENCODINGS
from evalterms.framework.compose import compose
from evalterms.framework.emit import pack
from games.backgammon.rules.board import contact, counts_of, packed, pips, turn_of, with_dice
from games.backgammon.rules.play import afterstates
from tests.games.backgammon.support import random_board, rolls_of_games
from tests.tuner.evaluation.networks.support import counts_of_positions

NAMES = [
    f"{term.name}.{parameter.name}" + (f"[{i}]" if parameter.shape else "")
    for term in TERMS
    for parameter in term.parameters
    for i in range(parameter.size)
]


@pytest.fixture(scope="module")
def composition():
    return compose("backgammon", TERMS)


@pytest.fixture(scope="module")
def positions() -> np.ndarray:
    random = np.random.default_rng(1)
    return np.array(
        [with_dice(words, (0, 0)) for words in rolls_of_games(2, 1500)]
        + [random_board(random, int(random.integers(4, 26))) for _ in range(500)]
    )


def rows_of(composition, positions: np.ndarray) -> np.ndarray:
    """Counts (n, 2, columns) by compiled code, through the address that loops over whole games
    use."""
    found = np.zeros((len(positions), 2 * composition.size), np.int32)
    native = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(
        composition.glue.write_counts.address()
    )
    for words, row in zip(positions, found, strict=True):
        assert native(words.ctypes.data, row.ctypes.data) == found.shape[1]
    return found.reshape(len(positions), 2, -1)


def run_of(made: list[bool]) -> int:
    best = now = 0
    for each in made:
        now = now + 1 if each else 0
        best = max(best, now)
    return best


def side_counts(own: np.ndarray, other: np.ndarray, moves: bool) -> dict[str, int]:
    """What a side counts, by name, from the counts (26,) of both sides; without the rolls that
    hit."""
    found: dict[str, int] = {}

    def emit(name: str, number: int) -> None:
        found[name] = found.get(name, 0) + int(number)

    for place in range(1, 25):
        for k in range(4):
            emit(
                f"points.checkers[{4 * (place - 1) + k}]",
                own[place] > k if k < 3 else max(own[place] - 3, 0),
            )
    emit("points.bar", own[25])
    emit("points.off", own[0])
    places = np.arange(26)
    lead = int(other @ places - own @ places)
    for k in range(10):
        emit(f"race.lead[{k}]", lead > 8 * k)
    emit("race.crossovers", sum(own[place] * ((place - 1) // 6) for place in range(1, 26)))
    emit("race.gaps", sum(own[place] == 0 for place in range(1, 7)))
    for place in (1, 2, 3):
        emit(f"race.wasted[{place - 1}]", max(own[place] - 2, 0))
    there = [other[place] >= 2 for place in range(1, 7)]  # their home points
    made = sum(there)
    emit(f"safety.bar[{made}]", own[25])
    enemies = [25 - place for place in range(1, 26) if other[place]]
    for place in range(1, 25):
        if own[place] == 1 and enemies and min(enemies) < place:
            emit(f"safety.loss[{(place - 1) // 6}]", 1)
    points = [False, *(own[place] >= 2 for place in range(1, 25))]
    if (run := min(run_of(points), 6)) > 1:
        emit(f"structure.prime[{run - 2}]", 1)
    trapped = [place for place in range(1, 7) if other[25 - place]]
    if trapped and (run := min(run_of(points[min(trapped) :]), 6)) > 1:
        emit(f"structure.blocked[{run - 2}]", 1)
    for place in range(19, 25):
        emit(f"structure.anchor[{place - 19}]", points[place])
    if sum(points[1:7]):
        emit(f"structure.home_points[{sum(points[1:7]) - 1}]", 1)
    emit("structure.stacked", sum(max(own[place] - 3, 0) for place in range(1, 25)))
    if back := int(own[19:26].sum()):
        emit(f"structure.back[{min(back, 4) - 1}]", 1)
    emit("roll.next", moves)
    return found


def test_counts_are_those_of_the_definitions(composition, positions):
    found = rows_of(composition, positions)
    for words, row in zip(positions, found, strict=True):
        first, second = counts_of(words)
        one, other = (
            side_counts(a, b, turn_of(words) == k)
            for k, (a, b) in enumerate(((first, second), (second, first)))
        )
        expected = np.array([one.get(name, 0) - other.get(name, 0) for name in NAMES])
        kept = [not name.startswith("safety.shots") for name in NAMES]
        stage = 0 if contact(words) else 1
        assert (row[stage][kept] == expected[kept]).all(), [
            NAMES[k] for k in np.flatnonzero(row[stage] != expected)
        ]
        assert not row[1 - stage].any()


def test_rolls_that_hit_are_those_of_the_rules(composition, positions):
    """All but a few: dice that must be played otherwise, and two checkers on the bar."""
    shots = [k for k, name in enumerate(NAMES) if name.startswith("safety.shots")]
    same, seen = 0, 0
    for words in positions[::4]:
        counts = counts_of(words)
        if not contact(words) or counts[:, 25].any():
            continue
        total = []
        for side in range(2):
            hits = 0
            for a in range(1, 7):
                for b in range(1, 7):
                    rolled = packed(counts, 1 - side, (a, b))
                    hits += any(counts_of(after)[side, 25] for after in afterstates(rolled)[0])
            total.append(hits)
        made = [int((counts[1 - side, 1:7] >= 2).sum()) for side in range(2)]
        expected = np.zeros(7, np.int64)
        np.add.at(expected, made, np.array(total) * [1, -1])
        row = rows_of(composition, words[None])[0, 0, shots]
        same += bool((row == expected).all())
        seen += 1
        assert abs(row - expected).max() <= 6
    assert seen > 50 and same > 0.97 * seen, (same, seen)


def test_the_evaluation_is_counts_times_weights_and_changes_sign_with_the_sides(
    composition, positions
):
    weights = np.random.default_rng(3).integers(-50, 50, (2, composition.size)).astype(np.float64)
    out = np.zeros(len(positions), np.int64)
    composition.glue.scores(positions, pack(*weights), out)
    rows = rows_of(composition, positions)
    assert (out / 256 == (rows * weights).sum((1, 2))).all()
    swapped = np.ascontiguousarray(positions[:, [2, 3, 0, 1, 4]])
    swapped[:, 4] ^= np.uint64(1)
    assert (rows_of(composition, swapped) == -rows).all()


def test_counts_of_datasets_are_those_of_whole_games(composition, positions):
    from tuner.evaluation.engine import Counter

    rows = Counter(composition).count(positions)
    dense = rows.dense(composition.size)
    found = rows_of(composition, positions)
    assert (dense == found.sum(1)).all()
    assert (rows.phase == [int(contact(words)) for words in positions]).all()


@pytest.mark.parametrize("name", ENCODINGS)
def test_encodings_have_tesauros_numbers(name, positions):
    encoding = ENCODINGS[name]
    found = counts_of_positions(encoding, positions) * encoding.units
    for words, row in zip(positions, found, strict=True):
        expected = []
        for own in counts_of(words):
            for place in range(1, 25):
                n = own[place]
                expected += [n >= 1, n >= 2, n >= 3, (n - 3) / 2 if n > 3 else 0]
            expected += [own[25] / 2, own[0] / 15]
        if name == "tesauro198":
            expected += [turn_of(words) == 0, turn_of(words) == 1]
        elif turn_of(words):
            expected = expected[98:] + expected[:98]
        assert np.allclose(row, expected, atol=1e-12)


def test_pips_of_both_sides_follow_from_either_numbering(positions):
    for words in positions[:200]:
        counts = counts_of(words)
        assert [pips(words, side) for side in range(2)] == (counts @ np.arange(26)).tolist()
