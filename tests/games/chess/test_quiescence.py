"""Quiescence search against a search without pruning on python-chess boards, and the positions that
it selects."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest
from numba.core import types

from games.chess.files.fen import fen, position
from games.chess.game import after
from games.chess.rules.position import words_type
from games.chess.search import SEARCH
from games.search.context import DECIDED, INFINITE, MATE, Context
from games.search.quiescence import evaluate_at
from tests.games.chess.swapping import quiescence
from tests.games.support import random_boards, read, rows, unit_of
from tests.support import file_with

UNIT = unit_of(__file__)
CENTIPAWN = 256
quiesce, is_quiet, resolve = (
    SEARCH.quiescence.quiesce,
    SEARCH.quiescence.is_quiet,
    SEARCH.quiescence.resolve,
)
WEIGHTS = np.array([0, 97, 309, 331, 502, 941, 0], np.int64) * CENTIPAWN


@UNIT.entry(types.int64(types.CPointer(types.uint64), types.CPointer(types.int64), types.int64))
def score(words, weights, sums):
    """Material by weights, and up to 63/256 of a centipawn from the key, which tells positions
    apart."""
    total = np.int64(0)
    for kind in range(1, 7):
        pieces = words[1 + kind]
        for square in range(64):
            here = np.uint64(1) << np.uint64(square)
            if pieces & here:
                total += weights[kind] if words[0] & here else -weights[kind]
    total += np.int64(words[9] & np.uint64(63))
    return -total if words[8] & np.uint64(1) else total


@UNIT.entry(types.int64(SEARCH.contexts_type, types.int64, types.int64))
def search_context(contexts, alpha, beta):
    return quiesce(contexts[0], 0, 0, alpha, beta)


@UNIT.entry(types.boolean(SEARCH.contexts_type))
def quiet_context(contexts):
    return is_quiet(contexts[0])


@UNIT.entry(types.boolean(SEARCH.contexts_type))
def resolved_context(contexts):
    return resolve(contexts[0])


class Memory(Context):
    """A context, with what the tests ask of it."""

    def __init__(self, evaluation: tuple[int, int]) -> None:
        super().__init__(SEARCH.dtype, *evaluation)

    def place(self, words: np.ndarray) -> Memory:
        self.records["stack"][0, 0] = words
        return self

    def value(self, alpha: int = -INFINITE, beta: int = INFINITE) -> int:
        return search_context(self.records, alpha, beta)

    @property
    def leaf(self) -> np.ndarray:
        """Where the principal variation ends."""
        words = self.records["stack"][0, 0].copy()
        for move in self.records["pv"][0, 0, : self.records["pv_lengths"][0, 0]]:
            words = after(words, int(move))
        return words


@UNIT.entry(types.int64(types.int64, types.int64, words_type))
def evaluation_at(function, weights, words):
    return evaluate_at(function, weights, 0, words)


def evaluate(board: chess.Board) -> int:
    """What `score` gives, by python-chess."""
    total = sum(
        int(WEIGHTS[piece.piece_type]) * (1 if piece.color else -1)
        for piece in board.piece_map().values()
    )
    total += int(position(board.fen())[9]) & 63
    return total if board.turn else -total


@pytest.fixture(scope="module")
def evaluation() -> tuple[int, int]:
    return score.address(), WEIGHTS.ctypes.data


@pytest.fixture(scope="module")
def boards() -> list[chess.Board]:
    """Positions of random games, of which a good part is in check or has captures."""
    rng = random.Random(68)
    found = [board for board in random_boards(68, 30, 120) if any(board.legal_moves)]
    checks = [board for board in found if board.is_check()]
    return rng.sample(found, 150) + rng.sample(checks, 50)


@pytest.fixture(scope="module")
def known(boards) -> list[tuple[int, set[str]]]:
    """Value and leaves of each board by the plain search."""
    return [quiescence(board.copy(stack=False), evaluate) for board in boards]


def test_the_evaluation_is_called_by_address(boards, evaluation):
    for board in boards[:50]:
        assert evaluation_at(*evaluation, position(board.fen())) == evaluate(board)


def test_the_value_is_that_of_a_search_without_pruning(boards, known, evaluation):
    memory = Memory(evaluation)
    for board, (value, leaves) in zip(boards, known, strict=True):
        memory.place(position(board.fen()))
        assert memory.value() == value, board.fen()
        leaf = memory.leaf
        assert fen(leaf) in leaves, board.fen()
        assert leaf[9] == position(fen(leaf))[9]  # its key


def test_a_bound_is_on_the_right_side_of_the_value(boards, known, evaluation):
    """Fail-soft: at or below alpha an upper bound, at or above beta a lower one, and exact
    between."""
    rng, memory = random.Random(62), Memory(evaluation)
    for board, (value, _) in zip(boards, known, strict=True):
        for _ in range(6):
            alpha = value + rng.randrange(-300, 300) * CENTIPAWN
            beta = alpha + rng.choice([1, 50 * CENTIPAWN, 400 * CENTIPAWN])
            memory.place(position(board.fen()))
            found = memory.value(alpha, beta)
            if value <= alpha:
                assert value <= found <= alpha
            elif value >= beta:
                assert beta <= found <= value
            else:
                assert found == value


def test_a_position_is_quiet_where_the_value_is_the_evaluation_and_there_is_no_check(
    boards, known, evaluation
):
    memory, count = Memory(evaluation), 0
    for board, (value, _) in zip(boards, known, strict=True):
        memory.place(position(board.fen()))
        wanted = not board.is_check() and value == evaluate(board)
        assert bool(quiet_context(memory.records)) == wanted, board.fen()
        count += wanted
    assert 30 < count < 170


def test_resolving_gives_the_leaf_unless_the_game_is_over_there(boards, known, evaluation):
    memory = Memory(evaluation)
    for board, (value, leaves) in zip(boards, known, strict=True):
        memory.place(position(board.fen()))
        assert bool(resolved_context(memory.records)) == (abs(value) < DECIDED)
        assert fen(memory.records["stack"][0, 0]) in leaves


def test_mates_and_forced_lines_are_seen(evaluation):
    memory = Memory(evaluation)
    for text, wanted in [
        ("7k/8/6K1/8/8/8/8/R7 b - - 0 1", None),
        ("R6k/8/6K1/8/8/8/8/8 b - - 0 1", -MATE),
    ]:
        memory.place(position(text))
        value = memory.value()
        assert value == (evaluate(chess.Board(text)) if wanted is None else wanted)
        assert bool(resolved_context(memory.records)) == (wanted is None)


@pytest.fixture(scope="module")
def games_file(tmp_path_factory):
    """Random games, their boards and what the plain search says of them."""
    path, lines = tmp_path_factory.mktemp("quiet") / "games.pgn", []
    for board in random_boards(63, 4, 50):
        if not board.move_stack:
            lines.append([])
        lines[-1].append(board.copy())
    path.write_text(
        "".join(f"{chess.Board().variation_san(line[-1].move_stack)} 1-0\n\n" for line in lines)
    )
    boards = [board for line in lines for board in line]
    return path, boards, [quiescence(board.copy(stack=False), evaluate) for board in boards]


@pytest.mark.long
@pytest.mark.parametrize("name", ["games.pgn", "games.epd"])
def test_reading_quiet_positions_keeps_those_and_no_others(name, games_file, evaluation, tmp_path):
    path, boards, found = games_file
    if name.endswith("epd"):
        path = file_with(tmp_path / name, "".join(f"{board.fen()} [1.0]\n" for board in boards))
    batches, report, _ = read(path, positions="quiet", evaluation=evaluation)
    wanted = [
        position(board.fen())
        for board, (value, _) in zip(boards, found, strict=True)
        if not board.is_check() and value == evaluate(board)
    ]
    assert np.array_equal(rows(batches), wanted)
    assert report.positions == len(wanted) < len(boards)


@pytest.mark.long
def test_reading_resolved_positions_gives_the_leaves(games_file, evaluation):
    path, _, found = games_file
    batches, _, _ = read(path, positions="resolve", evaluation=evaluation)
    wanted = [leaves for value, leaves in found if abs(value) < DECIDED]
    assert [fen(words) in leaves for words, leaves in zip(rows(batches), wanted, strict=True)] == [
        True
    ] * len(wanted)
