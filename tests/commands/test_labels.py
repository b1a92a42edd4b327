"""Labels that are reversed, random or one-sided: no improvement is announced that a constant would
beat."""

import functools
import json
import random

import pytest

from tests.commands.support import done
from tests.games.support import random_boards

VALUES = {1: 1, 2: 3, 3: 3, 4: 5, 5: 9, 6: 0}
CONSTANT = "before: a constant, which predicts better than the starting values"


@functools.cache
def balances() -> list[tuple[str, int]]:
    """Positions of random games, and their balance of material in pawns."""
    return [
        (
            board.fen(),
            sum(VALUES[p.piece_type] * (1 if p.color else -1) for p in board.piece_map().values()),
        )
        for board in random_boards(7, 40, 80)
    ]


def write_labels(path, label) -> None:
    """Write positions of random games, each labeled by its material balance in pawns."""
    lines = []
    for number, (fen, balance) in enumerate(balances()):
        lines.append(f'{fen} [{label(balance)}]; id "{number // 4}"\n')
    path.write_text("".join(lines))


@pytest.fixture(scope="module")
def dice() -> random.Random:
    return random.Random(5)


def sign(balance: int) -> float:
    return 0.5 + 0.5 * ((balance > 1) - (balance < -1))


@pytest.mark.parametrize(
    "what",
    [
        "reversed",
        *(pytest.param(what, marks=pytest.mark.long) for what in ("random", "right", "mostly won")),
    ],
)
def test_what_is_said_of_labels(what, dice, tmp_path):
    label = {
        "right": sign,
        "reversed": lambda balance: 1 - sign(balance),
        "random": lambda balance: dice.choice([0, 0.5, 1]),
        "mostly won": lambda balance: float(dice.random() < 0.9),
    }[what]
    write_labels(tmp_path / "a.epd", label)
    words = ("tune", "material", tmp_path / "a.epd", "-o", tmp_path / "a.yaml", "--prior", "300")
    words += ("--only", "material.*")
    ran = done(*words, "--method", "logistic", "--held-out", "0.3")
    plain = json.loads(done(*words, "--method", "logistic", "--held-out", "0.3", "--json").out)
    assert ("look reversed: the starting values predict the opposite" in ran.out) == (
        what == "reversed"
    )
    assert (
        (CONSTANT in ran.out)
        == (what != "right")
        == plain["held_out_results"].get("constant", False)
    )
    change = plain["held_out_results"]
    if what in ("random", "mostly won"):
        assert change["difference"]["high"] >= 0 or change["after"] > change["before"]
    if what == "reversed":
        assert "material.pawn is -" in ran.out and "values    in units" not in ran.out
    assert ", prior 300 centipawns" in ran.out


def test_scores_of_rows_have_the_prior_of_scores(tmp_path):
    """Rows of which a piece is hardly ever there alone: its value stays near its start."""
    lines = []
    dice = random.Random(1)
    for game in range(400):
        counts = {"material.pawn": dice.randint(-3, 3), "material.queen": int(dice.random() < 0.01)}
        score = 100 * counts["material.pawn"] + 3000 * counts["material.queen"]
        won = dice.random() < 1 / (1 + 10 ** (-score / 400))
        row = {"game": game, "result": float(won), "score": score, "phase": 12}
        lines.append(json.dumps(row | {"counts": {k: v for k, v in counts.items() if v}}))
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    (tmp_path / "start.yaml").write_text(
        "game: chess\nstages: [mg, eg]\nterms: rows\nscale: 0.0025\nweights:\n  material:\n"
        "    pawn: {mg: 100, eg: 100}\n    queen: {mg: 900, eg: 900}\n"
    )
    words = ("tune", tmp_path / "start.yaml", tmp_path / "rows.jsonl", "--method", "scores")
    narrow = done(*words, "-o", tmp_path / "a.yaml")
    wide = done(*words, "-o", tmp_path / "b.yaml", "--prior", "none")
    assert ", prior 5 centipawns" in narrow.out and "changed by more than half" not in narrow.out
    assert ", prior none\n" in wide.out and "queen 900 -> " in wide.out
    start = tmp_path / "start.yaml"
    start.write_text(start.read_text() + "prior:\n  material.queen: {sd: 1}\n")
    own = done(*words, "-o", tmp_path / "c.yaml", "--prior", "none")
    assert ", prior none and that of the file\n" in own.out and "queen 900 ->" not in own.out
