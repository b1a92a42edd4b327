"""The parameter files that come with the program."""

import functools

import chess
import numpy as np
import pytest
import yaml

from games.chess.files.fen import fen
from games.record import available
from tests.evalterms.support import some_positions
from tests.support import file_with
from tuner.evaluation.loading import load_engine, load_parameters, parameter_path
from tuner.evaluation.networks.evaluation import network_evaluation
from tuner.evaluation.networks.files import holds_network
from tuner.io.files import BUNDLED
from tuner.parameters.reader import game_of
from tuner.parameters.writer import to_text, write_parameters

FOUND = sorted(path for path in BUNDLED.glob("*/*.yaml") if path.parent.name in available())
FILES, NETWORKS = (
    [path for path in FOUND if holds_network(path) == network] for network in (False, True)
)
every_file = pytest.mark.parametrize(
    "path", FILES, ids=[f"{path.parent.name}-{path.stem}" for path in FILES]
)

# Rofchade's numbers as Ronald Friederich published them: piece values, and rows of the tables from
# a to h
VALUES = {
    "pawn": (82, 94),
    "knight": (337, 281),
    "bishop": (365, 297),
    "rook": (477, 512),
    "queen": (1025, 936),
}
TABLE_ROWS = {
    ("pawn", "mg", 7): (98, 134, 61, 95, 68, 126, 34, -11),
    ("pawn", "mg", 2): (-35, -1, -20, -23, -15, 24, 38, -22),
    ("pawn", "eg", 7): (178, 173, 158, 134, 147, 132, 165, 187),
    ("knight", "mg", 8): (-167, -89, -34, -49, 61, -97, -15, -107),
    ("knight", "eg", 1): (-29, -51, -23, -15, -22, -18, -50, -64),
    ("bishop", "mg", 1): (-33, -3, -14, -21, -13, -12, -39, -21),
    ("bishop", "eg", 8): (-14, -21, -11, -8, -7, -9, -17, -24),
    ("rook", "mg", 1): (-19, -13, 1, 17, 16, 7, -37, -26),
    ("rook", "eg", 7): (11, 13, 13, 11, -3, 3, 8, 3),
    ("queen", "mg", 8): (-28, 0, 29, 12, 59, 44, 43, 45),
    ("queen", "eg", 1): (-33, -28, -22, -43, -5, -32, -20, -41),
    ("king", "mg", 1): (-15, 36, 12, -54, 8, -28, 24, 14),
    ("king", "eg", 8): (-74, -35, -18, -18, -11, 15, 4, -17),
}


@every_file
def test_a_copy_of_a_bundled_file_is_written_back_to_the_same_bytes(path, tmp_path):
    game = game_of(path)
    assert game == path.parent.name
    copy = file_with(tmp_path / "copy.yaml", path.read_bytes())
    parameters = load_parameters(copy)
    assert to_text(parameters) == path.read_text(encoding="utf-8")
    write_parameters(copy, parameters)
    assert copy.read_bytes() == path.read_bytes()


@every_file
def test_a_bundled_file_begins_with_what_it_is_and_keeps_that_to_itself(path):
    """Learned weights are no longer those that the comment is about."""
    text = path.read_text(encoding="utf-8")
    comment = text[: text.index("game: ")]
    assert all(line.startswith("# ") for line in comment.splitlines()) and len(comment) > 20
    assert to_text(load_parameters(path)) == text.removeprefix(comment)


def test_the_chess_files_are_there_by_name():
    for name in ("zero", "material", "pesto", "classic", "modern"):
        assert parameter_path(name).is_file()


def test_modern_is_classic_and_more():
    classic, modern = load_parameters("classic"), load_parameters("modern")
    assert modern.layout.places[: len(classic.layout.places)] == classic.layout.places
    assert (
        modern.weights[:, : classic.layout.size] == classic.weights
    ).all() and modern.scale == classic.scale


def test_zero_is_zero_and_material_counts_pieces_only():
    assert not load_engine("zero")[1].weights.any()
    parameters = load_engine("material")[1]
    assert parameters.weights[:, :5].tolist() == [[100, 400, 400, 600, 1200]] * 2
    assert not parameters.weights[:, 5:].any()


@functools.cache
def pesto() -> dict:
    return yaml.safe_load(parameter_path("pesto").read_text())["weights"]


@pytest.mark.parametrize("piece", VALUES)
def test_pesto_has_the_published_piece_values(piece):
    assert pesto()["material"][piece] == dict(zip(("mg", "eg"), VALUES[piece], strict=True))


@pytest.mark.parametrize(("piece", "stage", "rank"), TABLE_ROWS)
def test_pesto_has_the_published_tables_with_the_eighth_rank_on_top(piece, stage, rank):
    assert pesto()["piece_square"][piece][stage][8 - rank] == list(TABLE_ROWS[piece, stage, rank])


def pesto_evaluation(board: chess.Board, weights: dict) -> float:
    """Tapered piece-square evaluation for White, in centipawns, by the recipe of the Chess
    Programming Wiki."""
    total, phase = {"mg": 0, "eg": 0}, 0
    for square, piece in board.piece_map().items():
        name = chess.piece_name(piece.piece_type)
        row = 7 - square // 8 if piece.color else square // 8  # of the printed table
        for stage in total:
            value = weights["piece_square"][name][stage][row][square % 8]
            value += weights["material"][name][stage] if name != "king" else 0
            total[stage] += value if piece.color else -value
        phase += {"knight": 1, "bishop": 1, "rook": 2, "queen": 4}.get(name, 0)
    phase = min(phase, 24)
    return (total["mg"] * phase + total["eg"] * (24 - phase)) / 24


def test_pesto_evaluates_as_an_implementation_of_its_own_does():
    compiled, parameters = load_engine("pesto")
    rows = some_positions("chess")
    rows = rows[np.random.default_rng(8).permutation(len(rows))[:200]]
    weights = pesto()
    expected = [pesto_evaluation(chess.Board(fen(words)), weights) for words in rows]
    assert np.abs(compiled.evaluate(rows, parameters) - expected).max() <= 1 / 256
    assert np.ptp(expected) > 500


@pytest.mark.parametrize("path", NETWORKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_bundled_network_is_one_of_its_game_and_plays(path):
    evaluation = network_evaluation(path)
    assert evaluation.game.name == path.parent.name and path.read_text(encoding="utf-8").startswith(
        "# "
    )
    assert evaluation.searcher() is not None and path.with_suffix(".npz").stat().st_size < 40_000
