"""Random games played by us and by cshogi side by side."""

import random
from collections import Counter

import cshogi
import numpy as np

from games.shogi.files import sfen
from games.shogi.files import sfen as notation
from games.shogi.rules import endings, movegen

# for the side to move
REPEATED = {
    cshogi.REPETITION_DRAW: 0,
    cshogi.REPETITION_WIN: 1,
    cshogi.REPETITION_LOSE: -1,
}
# the same board with more or less in hand, which cshogi finds first and which are no end by the
# rules
BETTER_OR_WORSE = cshogi.REPETITION_SUPERIOR, cshogi.REPETITION_INFERIOR
LONGEST = 400


def after(words: np.ndarray, move: int) -> np.ndarray:
    """Return the position after a move."""
    found = np.empty_like(words)
    movegen.play(words, move, found)
    return found


def compare(words: np.ndarray, board: cshogi.Board) -> list[int]:
    """Compare the legal moves, the noisy ones, the check and the SFEN, both ways; returns the legal
    moves."""
    legal = movegen.moves_of(words)
    assert sorted(notation.move_name(words, move) for move in legal) == sorted(
        cshogi.move_to_usi(move) for move in board.legal_moves
    ), board.sfen()
    text = sfen.text(words)
    assert text == board.sfen()
    assert np.array_equal(sfen.position(text), words), text
    assert bool(int(words[13]) & 2) == board.is_check(), text
    noisy = np.empty(movegen.MAX_MOVES, np.uint32)
    found = noisy[: movegen.legal_moves(words, True, noisy)]
    assert sorted(found.tolist()) == sorted(
        move for move in legal if move >> 18 & 15 or move >> 22 & 1
    ), text
    return legal


def play_games(positions: int, seed: int) -> Counter:
    """Compare random games from the start until so many positions are met; returns how many games
    ended how."""
    rng, met, ends = random.Random(seed), 0, Counter()
    while met < positions:
        board, line = cshogi.Board(), [sfen.position("startpos")]
        while len(line) <= LONGEST:
            met += 1
            legal = compare(line[-1], board)
            ending = endings.ending(line)
            assert board.is_game_over() == (not legal)
            assert not legal or board.is_nyugyoku() == (
                ending is not None and ending[1] == endings.DECLARATION
            ), board.sfen()
            if ending:
                ends[ending[1]] += 1
                break
            move = rng.choice(legal)
            board.push_usi(notation.move_name(line[-1], move))
            line.append(after(line[-1], move))
    return ends


def end_games(starts: list[str], games: int, seed: int) -> Counter:
    """Play random games that go back and forth a lot from these positions, and compare how they
    end; counts of the ends.

    cshogi judges by the last occurrence of a position, we by all four: only where they agree on the
    moves in between is its answer compared."""
    rng, ends = random.Random(seed), Counter()
    for number in range(games):
        text = starts[number % len(starts)]
        board, line, played = cshogi.Board(text), [sfen.position(text)], []
        while len(line) <= 120:
            ending = endings.ending(line)
            legal = movegen.moves_of(line[-1])
            assert board.is_game_over() == (not legal)
            if ending:
                ends[ending[1]] += 1
                mover = 1 if board.turn == cshogi.BLACK else -1
                said = board.is_draw()
                if ending[1] == endings.REPETITION:
                    assert said != cshogi.NOT_REPETITION
                elif ending[1] == endings.PERPETUAL_CHECK:
                    assert said in BETTER_OR_WORSE or REPEATED[said] == ending[0] * mover, text
                elif ending[1] == endings.DECLARATION:
                    assert board.is_nyugyoku() and ending[0] == mover
                break
            checks = [move for move in legal if int(after(line[-1], move)[13]) & 2]
            back = [
                move
                for move in legal
                if len(played) > 1 and notation.move_name(None, move)[:4] == reverse(played[-2])
            ]
            choice = rng.random()
            move = rng.choice(
                back if back and choice < 0.85 else checks if checks and choice < 0.95 else legal
            )
            played.append(move)
            board.push_usi(notation.move_name(line[-1], move))
            line.append(after(line[-1], move))
    return ends


def reverse(move: int) -> str:
    """Return the name of the move back; that of a drop is no name."""
    name = notation.move_name(None, move)
    return name[2:4] + name[:2]
