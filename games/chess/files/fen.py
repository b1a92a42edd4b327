"""FEN: parse FEN and the positions of EPD lines in compiled code, write FEN.

Chess960 castling rights are read as X-FEN and Shredder-FEN and written as X-FEN. An en passant
square is kept only if the capture is legal."""

from functools import cache

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, leading_zeros, lowest, popcount
from games.chess.files import faults
from games.chess.rules import entry, inner
from games.chess.rules.position import (
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

bytes_type = types.Array(types.uint8, 1, "C", readonly=True)
START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
LETTERS = " PNBRQK"
RANK_BYTES = 9  # of a rank with its slash
CASTLING_BITS = 0xFFFF << 1
# bits of castling with rooks of the a and h files, and the letters that they have then
USUAL_ROOKS = {1 << 8: "K", 1 << 1: "Q", 1 << 16: "k", 1 << 9: "q"}
SPACE, SLASH, DASH, SEMICOLON, COMMA, BAR, QUOTE, PLUS, DIGIT_0, DIGIT_3, DIGIT_6 = (
    ord(letter) for letter in ' /-;,|"+036'
)
_P, _N, _B, _R, _Q, _K = (ord(letter) for letter in "PNBRQK")
_LOWER = 32  # code of a lower-case letter minus its capital
_A, _H, _LOWER_A, _LOWER_H = ord("A"), ord("H"), ord("a"), ord("h")
_W, _LOWER_B = ord("w"), ord("b")


@inner(types.int64(types.int64))
def kind_of_letter(letter):
    """Return the kind of a capital piece letter; 0 for an unknown letter."""
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
    while (
        i < end and text[i] > SPACE and text[i] != SEMICOLON and text[i] != COMMA and text[i] != BAR
    ):
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64))
def _number_end(text, i, end):
    """Return the index after a field of digits, otherwise i: `1.0` and `1-0` after a position are
    results."""
    stop = _field_end(text, i, end)
    for k in range(i, stop):
        if text[k] < DIGIT_0 or text[k] > DIGIT_0 + 9:
            return i
    return stop


@inner(types.boolean(bytes_type, types.int64, types.int64))
def _counts_checks(text, i, end):
    """Whether the field at i is that of three-check: `3+3`, or `+0+0` behind the numbers."""
    i += i < end and text[i] == PLUS
    return (
        _field_end(text, i, end) == i + 3
        and text[i + 1] == PLUS
        and DIGIT_0 <= text[i] <= DIGIT_0 + 9
        and DIGIT_0 <= text[i + 2] <= DIGIT_0 + 9
    )


@inner(types.int64(bytes_type, types.int64, types.int64, types.int64))
def _number(text, i, end, most):
    value = np.int64(0)
    for k in range(i, end):
        value = min(value * 10 + np.int64(text[k]) - DIGIT_0, most)
    return value


HALF_MOVES, MOVES = (int.from_bytes(name, "little") for name in (b"hmvc", b"fmvn"))


@inner(types.int64(bytes_type, types.int64, types.int64, types.int64, types.int64))
def _operand(text, i, end, opcode, usual):
    """Return the number behind an opcode of four letters among the operations of an EPD line, or
    the usual one; quoted text has no operations."""
    first, quoted = True, False  # at the first letter of an operation
    while i + 4 < end:
        letter = text[i]
        if letter == QUOTE:
            quoted = not quoted
        elif letter == SEMICOLON and not quoted:
            first = True
        elif letter > SPACE:
            word = np.int64(0)
            for k in range(4 if first else 0):
                word |= np.int64(text[i + k]) << (8 * k)
            if word == opcode and text[i + 4] == SPACE:
                at = _skip_spaces(text, i + 4, end)
                stop = _number_end(text, at, end)
                return _number(text, at, stop, 65535) if stop > at else usual
            first = False
        i += 1
    return usual


@inner(types.int64(types.int64, types.uint64, types.uint64))
def _castling_rook(letter, king, rooks):
    """Return the file of the rook that a capital castling letter means, on the first rank; -1 if
    there is none."""
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
def _possible_material(p, side):
    """Whether promoted pawns account for all pieces beyond the initial ones."""
    pawns = popcount(p.pawns & side)
    surplus = (
        max(popcount(p.knights & side) - 2, 0)
        + max(popcount(p.bishops & side) - 2, 0)
        + max(popcount(p.rooks & side) - 2, 0)
        + max(popcount(p.queens & side) - 1, 0)
    )
    return pawns + surplus <= 8


@inner(types.int64(position_type))
def men_fault(p):
    """Return the fault of the pieces of a position: kings, pawns on the last ranks, more men
    than possible; OK if nothing."""
    if popcount(p.kings & p.white) != 1 or popcount(p.kings & p.black) != 1:
        return faults.FEN_KINGS
    if p.pawns & (FILES_MASK | FILES_MASK << LAST_RANK_SHIFT):
        return faults.FEN_PAWNS
    return (
        faults.OK
        if _possible_material(p, p.white) and _possible_material(p, p.black)
        else faults.FEN_MATERIAL
    )


@inner(types.uint64(position_type, types.int64, types.boolean))
def en_passant_state(p, target, black):
    """Return the bits of the state for a capture en passant on the target square by the side to
    move, if it is legal."""
    passer = bit(target + 8 if black else target - 8)
    crossed = bit(target) | bit(target - 8 if black else target + 8)  # by the pawn's double step
    if (
        passer & p.pawns & (p.white if black else p.black)
        and crossed & (p.white | p.black) == EMPTY
    ):
        return en_passant_file(p, passer, bit(target), black) << EP_SHIFT
    return EMPTY


@inner(types.boolean(words_type))
def completed(words):
    """Write the key of a position that lacks it; False if its side to move could take the king."""
    p = load(words)
    if leaves_king_hanging(p):
        return False
    words[9] = full_key(p)
    return True


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
    wrong = men_fault(p)
    if wrong != faults.OK:
        return -wrong

    rights = EMPTY
    stop = _field_end(text, i, end)
    if not (stop == i + 1 and text[i] == DASH):
        while i < stop:
            letter = np.int64(text[i])
            lower = letter > _LOWER + _A - 1
            side, shift = (p.black, LAST_RANK_SHIFT) if lower else (p.white, EMPTY)
            rook = _castling_rook(
                letter - _LOWER if lower else letter,
                (p.kings & side) >> shift & FILES_MASK,
                (p.rooks & side) >> shift & FILES_MASK,
            )
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
        state |= en_passant_state(p, np.int64(text[i]) - _LOWER_A + (16 if black else 40), black)
    i = _skip_spaces(text, stop, end)
    if _counts_checks(text, i, end):
        return -faults.FEN_COUNTS
    stop = _number_end(text, i, end)
    clock, number = np.int64(0), np.int64(1)
    if stop == i:
        clock, number = _operand(text, i, end, HALF_MOVES, 0), _operand(text, i, end, MOVES, 1)
    else:
        clock = _number(text, i, stop, 255)
        i = _skip_spaces(text, stop, end)
        stop = _number_end(text, i, end)
        if stop > i:
            number = _number(text, i, stop, 65535)
            i = stop
            if _counts_checks(text, _skip_spaces(text, i, end), end):
                return -faults.FEN_COUNTS
    words[8] = state | np.uint64(min(clock, 255)) << CLOCK_SHIFT | np.uint64(number) << NUMBER_SHIFT
    return i if completed(words) else -faults.FEN_CHECK


@entry(types.int64(bytes_type, words_type))
def _parse_fen(text, words):
    return parse_fen(text, 0, len(text), words)


def position(text: str) -> np.ndarray:
    """Parse a FEN of four to six fields into a position (10,) uint64; ValueError names the
    fault."""
    words = np.zeros(WORDS, np.uint64)
    fault = _parse_fen(np.frombuffer(text.strip().encode("latin-1", "replace"), np.uint8), words)
    if fault < 0:
        raise ValueError(f"{faults.SENTENCES[-fault]}: {text!r}")
    return words


def fens(positions: np.ndarray) -> list[str]:
    """Return positions (n, 10) as FEN."""
    return [
        f"{board} {'b' if state & 1 else 'w'}"
        f" {_usual_rights(state & CASTLING_BITS) or _rights(words)} {_en_passant(state)}"
        f" {state >> 24 & 255} {state >> 32 & 0xFFFF}"
        for board, words, state in zip(
            _boards(positions), positions, positions[:, 8].tolist(), strict=True
        )
    ]


def fen(words: np.ndarray) -> str:
    """Return a position (10,) as FEN."""
    return fens(words[None])[0]


def _boards(positions: np.ndarray) -> list[str]:
    """Return the first field of each FEN: all boards are one text, in which runs of empty squares
    are replaced."""
    text = np.full((len(positions), 8, RANK_BYTES), SLASH, np.uint8)
    text[:, -1, -1] = ord("\n")
    letters = np.full((len(positions), 8, 8), ord("1"), np.uint8)
    black = _squares(positions[:, 1])
    for kind, letter in enumerate(LETTERS[1:]):
        squares = _squares(positions[:, 2 + kind])
        letters[squares & ~black], letters[squares & black] = ord(letter), ord(letter.lower())
    text[:, :, :8] = letters[:, ::-1]  # from the last rank on
    joined = text.tobytes().decode("ascii")
    for run in range(8, 1, -1):
        joined = joined.replace("1" * run, str(run))
    return joined.split("\n")[:-1]


def _squares(sets: np.ndarray) -> np.ndarray:
    """Return (n, 8, 8) bool, by rank and file, which squares are in each of n sets."""
    octets = np.ascontiguousarray(sets.astype("<u8")).view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little").reshape(-1, 8, 8).astype(np.bool_)


@cache
def _usual_rights(castling: int) -> str:
    """Return the third field, empty if a castling rook is not on its usual file."""
    letters = "".join(letter for bit, letter in USUAL_ROOKS.items() if castling & bit)
    return "" if castling.bit_count() != len(letters) else letters or "-"


def _rights(words: np.ndarray) -> str:
    """Return the third field of a position in X-FEN: K and Q denote the outermost rook, inner rooks
    are named by their files."""
    white, black, *kinds, state, _ = words.tolist()
    rights = ""
    for side, pieces, row, letters, first in (
        (0, white, 0, "KQ", _A),
        (8, black, 56, "kq", _LOWER_A),
    ):
        king = (kinds[KING - 1] & pieces).bit_length() - 1 - row
        rooks = [file for file in range(8) if (pieces & kinds[ROOK - 1]) >> row + file & 1]
        for file in reversed([file for file in range(8) if state >> 1 + side + file & 1]):
            outermost = file == (max(rooks) if file > king else min(rooks))
            rights += letters[file < king] if outermost else chr(first + file)
    return rights


def _en_passant(state: int) -> str:
    file = state >> 17 & 15
    return "abcdefgh"[file - 1] + ("3" if state & 1 else "6") if file else "-"
