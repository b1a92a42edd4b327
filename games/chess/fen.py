"""FEN: parse FEN and the positions of EPD lines in compiled code, write FEN.

Chess960 castling rights are read as X-FEN and Shredder-FEN and written as X-FEN. An en passant square is kept only if the
capture is legal.
"""

from __future__ import annotations

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, leading_zeros, lowest, popcount
from games.chess import faults
from games.chess.position import (
    CASTLING_SHIFT,
    CLOCK_SHIFT,
    EP_SHIFT,
    FILES_MASK,
    KING,
    LAST_RANK_SHIFT,
    NUMBER_SHIFT,
    ROOK,
    WORDS,
    en_passant_file,
    full_key,
    leaves_king_hanging,
    load,
    position_type,
    words_type,
)
from games.chess.unit import entry, inner

bytes_type = types.Array(types.uint8, 1, "C", readonly=True)
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LETTERS = " PNBRQK"
SPACE, SLASH, DASH, SEMICOLON, COMMA, BAR, DIGIT_0, DIGIT_3, DIGIT_6 = (ord(letter) for letter in " /-;,|036")
_P, _N, _B, _R, _Q, _K = (ord(letter) for letter in "PNBRQK")
_LOWER = 32  # code of a lower-case letter minus that of its capital
_A, _H, _LOWER_A, _LOWER_H = ord("A"), ord("H"), ord("a"), ord("h")
_W, _LOWER_B = ord("w"), ord("b")


@inner(types.int64(types.int64))
def kind_of_letter(letter):
    """Return the kind of a capital piece letter; 0 for other letters."""
    if letter == _P:
        return 1
    if letter == _N:
        return 2
    if letter == _B:
        return 3
    if letter == _R:
        return 4
    if letter == _Q:
        return 5
    return 6 if letter == _K else 0


@inner(types.int64(bytes_type, types.int64, types.int64))
def _skip_spaces(text, i, end):
    while i < end and text[i] == SPACE:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64))
def _field_end(text, i, end):
    while i < end and text[i] > SPACE and text[i] != SEMICOLON and text[i] != COMMA and text[i] != BAR:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64))
def _number_end(text, i, end):
    """Return the index after a field of digits, otherwise i: `1.0` and `1-0` after a position are results."""
    stop = _field_end(text, i, end)
    for k in range(i, stop):
        if text[k] < DIGIT_0 or text[k] > DIGIT_0 + 9:
            return i
    return stop


@inner(types.int64(bytes_type, types.int64, types.int64, types.int64))
def _number(text, i, end, most):
    value = np.int64(0)
    for k in range(i, end):
        value = min(value * 10 + np.int64(text[k]) - DIGIT_0, most)
    return value


@inner(types.int64(types.int64, types.uint64, types.uint64))
def _castling_rook(letter, king, rooks):
    """Return the file of the rook that a capital castling letter means, on the first rank; -1 if there is none."""
    if king == EMPTY or rooks == EMPTY:
        return -1
    king_file = lowest(king)
    file = letter - _A
    if letter == _K:
        file = 63 - leading_zeros(rooks)
        return file if file > king_file else -1
    if letter == _Q:
        file = lowest(rooks)
        return file if file < king_file else -1
    if file < 0 or file > 7 or rooks & bit(file) == EMPTY:
        return -1
    return file


@inner(types.boolean(position_type, types.uint64))
def possible_material(p, side):
    """Whether promoted pawns account for all pieces beyond the initial ones."""
    pawns = popcount(p.pawns & side)
    surplus = (max(popcount(p.knights & side) - 2, 0) + max(popcount(p.bishops & side) - 2, 0)
               + max(popcount(p.rooks & side) - 2, 0) + max(popcount(p.queens & side) - 1, 0))
    return pawns + surplus <= 8


@inner(types.int64(bytes_type, types.int64, types.int64, words_type))
def parse_fen(text, i, end, words):
    """Parse a FEN, or the position of an EPD line, from text[i:end] into `words`.

    Returns the index after it, or minus a fault.
    """
    for word in range(WORDS):
        words[word] = EMPTY
    i = _skip_spaces(text, i, end)
    rank, file = 7, 0
    while i < end and text[i] != SPACE:
        letter = np.int64(text[i])
        i += 1
        if letter == SLASH:
            if file != 8 or rank == 0:
                return -faults.FEN_PLACEMENT
            rank, file = rank - 1, 0
        elif DIGIT_0 < letter <= DIGIT_0 + 8:
            file += letter - DIGIT_0
        else:
            black = letter > _LOWER + _A
            kind = kind_of_letter(letter - _LOWER if black else letter)
            if kind == 0 or file > 7:
                return -faults.FEN_PLACEMENT
            square = bit(rank * 8 + file)
            words[1 if black else 0] |= square
            words[1 + kind] |= square
            file += 1
        if file > 8:
            return -faults.FEN_PLACEMENT
    if rank != 0 or file != 8:
        return -faults.FEN_PLACEMENT

    i = _skip_spaces(text, i, end)
    if i >= end:
        return -faults.FEN_SHORT
    if (text[i] != _W and text[i] != _LOWER_B) or _field_end(text, i, end) != i + 1:
        return -faults.FEN_SIDE
    black = text[i] == _LOWER_B
    i = _skip_spaces(text, i + 1, end)
    if i >= end:
        return -faults.FEN_SHORT
    p = load(words)
    if popcount(p.kings & p.white) != 1 or popcount(p.kings & p.black) != 1:
        return -faults.FEN_KINGS
    if p.pawns & (FILES_MASK | FILES_MASK << LAST_RANK_SHIFT):
        return -faults.FEN_PAWNS
    if not (possible_material(p, p.white) and possible_material(p, p.black)):
        return -faults.FEN_MATERIAL

    rights = EMPTY
    stop = _field_end(text, i, end)
    if not (stop == i + 1 and text[i] == DASH):
        while i < stop:
            letter = np.int64(text[i])
            lower = letter > _LOWER + _A - 1
            side, shift = (p.black, LAST_RANK_SHIFT) if lower else (p.white, EMPTY)
            rook = _castling_rook(letter - _LOWER if lower else letter, (p.kings & side) >> shift & FILES_MASK,
                                  (p.rooks & side) >> shift & FILES_MASK)
            if rook < 0:
                return -faults.FEN_CASTLING
            rights |= bit(rook + 8 if lower else rook)
            i += 1
    i = _skip_spaces(text, stop, end)
    if i >= end:
        return -faults.FEN_SHORT
    state = rights << CASTLING_SHIFT | (ONE if black else EMPTY)
    stop = _field_end(text, i, end)
    if stop != i + 1 or text[i] != DASH:
        wanted = DIGIT_3 if black else DIGIT_6
        if stop != i + 2 or not (_LOWER_A <= text[i] <= _LOWER_H) or text[i + 1] != wanted:
            return -faults.FEN_EN_PASSANT
        target = np.int64(text[i]) - _LOWER_A + (16 if black else 40)
        passer = bit(target + 8 if black else target - 8)
        crossed = bit(target) | bit(target - 8 if black else target + 8)  # by the pawn's double step
        theirs = p.white if black else p.black
        if passer & p.pawns & theirs and crossed & (p.white | p.black) == EMPTY:
            state |= en_passant_file(p, passer, bit(target), black) << EP_SHIFT
    clock, number = 0, 1
    i = _skip_spaces(text, stop, end)
    stop = _number_end(text, i, end)
    if stop > i:
        clock = _number(text, i, stop, 255)
        i = _skip_spaces(text, stop, end)
        stop = _number_end(text, i, end)
        if stop > i:
            number = _number(text, i, stop, 65535)
            i = stop
    words[8] = state | np.uint64(clock) << CLOCK_SHIFT | np.uint64(number) << NUMBER_SHIFT
    p = load(words)
    if leaves_king_hanging(p):
        return -faults.FEN_CHECK
    words[9] = full_key(p)
    return i


@entry(types.int64(bytes_type, words_type))
def _parse_fen(text, words):
    return parse_fen(text, 0, len(text), words)


def position(text: str) -> np.ndarray:
    """Parse a FEN of four to six fields into a position (10,) uint64; ValueError names the fault."""
    words = np.zeros(WORDS, np.uint64)
    found = _parse_fen(np.frombuffer(text.strip().encode("latin-1", "replace"), np.uint8), words)
    if found < 0:
        raise ValueError(f"{faults.SENTENCES[-found]}: {text!r}")
    return words


def fen(words: np.ndarray) -> str:
    """Return a position (10,) as FEN."""
    white, black, *kinds, state, _ = (int(word) for word in words)
    ranks = []
    for rank in range(7, -1, -1):
        line = ""
        for square in range(8 * rank, 8 * rank + 8):
            kind = next((k for k, squares in enumerate(kinds, 1) if squares >> square & 1), 0)
            line += LETTERS[kind].lower() if black >> square & 1 else LETTERS[kind]
        for run in range(8, 0, -1):
            line = line.replace(" " * run, str(run))
        ranks.append(line)
    rights = ""
    for side, pieces, row, letters in ((0, white, 0, "KQ"), (8, black, 56, "kq")):
        king = (kinds[KING - 1] & pieces).bit_length() - 1 - row
        rooks = [file for file in range(8) if (pieces & kinds[ROOK - 1]) >> row + file & 1]
        for file in reversed([file for file in range(8) if state >> 1 + side + file & 1]):
            outermost = file == (max(rooks) if file > king else min(rooks))
            letter = letters[file < king] if outermost else chr((_A if side == 0 else _LOWER_A) + file)
            rights += letter
    ep = state >> 17 & 15
    ep_text = "abcdefgh"[ep - 1] + ("3" if state & 1 else "6") if ep else "-"
    return f"{'/'.join(ranks)} {'b' if state & 1 else 'w'} {rights or '-'} {ep_text} {state >> 24 & 255} {state >> 32 & 0xFFFF}"
