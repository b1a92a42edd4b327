"""Two small engines print rows that explain their evaluations, and faults that they do not explain;
numbers return to them."""

import json
import subprocess
from collections import Counter

import chess
import pytest

from tests.tuner.trace.support import (
    NUMBERS,
    Mini,
    compile_mini,
    compiler_of,
    evaluation,
    folder_of,
    mini_parameters,
    sample_fens,
)

BISHOPS = "4k1b1/p7/8/8/8/8/P6P/2B1K3 w - - 0 1"  # of opposite colors: half the endgame
both = pytest.mark.parametrize("language", NUMBERS)


@pytest.fixture(scope="module")
def engines(tmp_path_factory):
    """The engine of a language, compiled once."""
    made: dict[str, Mini] = {}

    def engine(language: str) -> Mini:
        compiler_of(language)
        if language not in made:
            made[language] = compile_mini(
                language, folder_of(language, tmp_path_factory.mktemp(language))
            )
        return made[language]

    return engine


@both
def test_counts_times_weights_and_the_rest_are_the_evaluation(engines, language):
    fens = [*sample_fens(), BISHOPS]
    rows, p = engines(language).rows(fens), mini_parameters()
    assert [row["fen"] for row in rows] == fens and len(fens) > 500
    assert max(abs(row["eval"] - evaluation(p, row)) for row in rows) < 1.001  # whole centipawns
    assert [int(text) for text in engines(language).answers("eval", fens)] == [
        row["eval"] for row in rows
    ]
    assert (
        sum("rest" in row for row in rows) > 50
        and [row["scale"] for row in rows if "scale" in row][-1] == 0.5
    )


@both
def test_counts_are_those_of_python_chess(engines, language):
    values = {
        chess.PAWN: "pawn",
        chess.KNIGHT: "knight",
        chess.BISHOP: "bishop",
        chess.ROOK: "rook",
        chess.QUEEN: "queen",
        chess.KING: "king",
    }
    fens = sample_fens()[::20]
    for fen, row in zip(fens, engines(language).rows(fens), strict=True):
        board, expected = chess.Board(fen), Counter()
        for square, piece in board.piece_map().items():
            sign, own = (1, square) if piece.color else (-1, chess.square_mirror(square))
            name = values[piece.piece_type]
            expected[f"piece_square.{name}[{own // 8}][{own % 8}]"] += sign
            if name != "king":
                expected[f"material.{name}"] += sign
            if name not in ("pawn", "king"):
                moves = len(board.attacks(square) - board.occupied_co[piece.color])
                expected[f"mobility.{name}[{moves}]"] += sign
        expected["tempo.tempo"] = 1 if board.turn else -1
        for color, sign in ((True, 1), (False, -1)):
            expected["bishop.pair"] += sign * (len(board.pieces(chess.BISHOP, color)) >= 2)
        counted = {
            name: count for name, count in row["counts"].items() if not name.startswith("pawns.")
        }
        assert counted == {name: count for name, count in expected.items() if count}


def test_both_engines_answer_alike(engines):
    fens = [*sample_fens()[::5], BISHOPS]
    assert engines("c").rows(fens) == engines("rust").rows(fens)


@both
def test_every_fault_shows(engines, language, tmp_path):
    """What is planted is what it says: the row check of `tuner` has to name it."""
    fens, p = sample_fens()[::4], mini_parameters()
    sound = engines(language).rows(fens)
    folder_of(language, tmp_path)
    found = {
        fault: compile_mini(language, tmp_path, fault).rows(fens)
        for fault in ("perspective", "swapped", "doubled", "missing")
    }
    for rows in found.values():
        assert max(abs(row["eval"] - evaluation(p, row)) for row in rows) > 5
    for fen, before, row in zip(fens, sound, found["perspective"], strict=True):
        assert row == {**before, "eval": before["eval"] * (1 if " w " in fen else -1)}
    for before, row in zip(sound, found["doubled"], strict=True):
        twice = {
            name: count * (2 if name == "bishop.pair" else 1)
            for name, count in before["counts"].items()
        }
        assert row == {**before, "counts": twice}
    for before, row in zip(sound, found["missing"], strict=True):
        assert row == {
            **before,
            "counts": {
                name: n for name, n in before["counts"].items() if not name.startswith("pawns.")
            },
        }
    assert [row["counts"] for row in found["swapped"]] == [row["counts"] for row in sound]
    exchanged = p.weights.copy()
    (knight,) = [place.columns for place in p.layout.places if place.path == "mobility.knight"]
    exchanged[:, knight] = exchanged[::-1, knight]
    assert (
        max(
            abs(row["eval"] - evaluation(p.with_weights(exchanged), row))
            for row in found["swapped"]
        )
        < 1.001
    )


@both
def test_an_answer_is_printed_at_once_and_a_bad_position_has_one(engines, language):
    """Positions are sent one by one; the next is sent when the answer is there."""
    with subprocess.Popen(
        [engines(language).program, "trace"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as run:
        for fen in (chess.STARTING_FEN, 'no "position" \\', BISHOPS):
            run.stdin.write(f"{fen}\n\n")  # empty lines have no answer
            run.stdin.flush()
            answer = json.loads(run.stdout.readline())
            assert answer["fen"] == fen and ("error" in answer) == ("position" in fen)
        run.stdin.close()
        assert run.stdout.read() == "" and run.wait(10) == 0
