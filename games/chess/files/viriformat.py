"""Read games in viriformat, whose start is a packed board of marlinformat (32 bytes,
little-endian, squares from a1 = 0 to h8 = 63).

0-7     occupied squares 8-23    a nibble per occupied square, in order, the low one first: the kind
(pawn 0 to king 5; 6 is a rook that may castle),
        plus 8 for Black
24      target square of en passant, or 64; plus 128 if Black is to move
25, 26  halfmove clock; move number (two bytes)
28      score (two bytes)
30, 31  White's result: 0, 1 (draw) or 2; an unused byte
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numba.core import types

from games.bits import EMPTY, ONE, bit, lowest, popcount, without_lowest
from games.chess.files import faults, pgn
from games.chess.files.fen import FILES_MASK, bytes_type, completed, en_passant_state, men_fault
from games.chess.files.movetext import decided
from games.chess.files.pgn import ParsedGames
from games.chess.files.tokens import (
    BEGIN,
    FAULT,
    FIRST_MOVE,
    FIRST_SCORE,
    HAS_FEN,
    HAS_TAGS,
    NO_TAG,
    PLIES,
    RESULT,
    TAG_RESULT,
    moves_type,
    note,
    note_score,
    positions_type,
    row_type,
    rows_type,
    scores_type,
)
from games.chess.rules import entry, inner
from games.chess.rules.movegen import MAX_MOVES, generate
from games.chess.rules.position import (
    CASTLING,
    CASTLING_SHIFT,
    CLOCK_SHIFT,
    EN_PASSANT,
    KNIGHT,
    NUMBER_SHIFT,
    WORDS,
    load,
    make,
    move_flag,
    move_promotion,
    words_type,
)
from games.record import PositionBatch, ReadOptions, ReadReport

SIZE = 32  # bytes
PIECES, SIDE_AND_EP, CLOCK, NUMBER, RESULT_BYTE = 8, 24, 25, 26, 30  # offsets
NO_SQUARE = 64
KING_CODE, CASTLING_ROOK, ROOK_KIND, BLACK_CODE = 5, 6, 4, 8
DRAW = 1
WORD_BYTES = 8


@inner(types.boolean(bytes_type, types.int64, words_type))
def unpack(text, i, words):
    """Write the position of the board at text[i:i + SIZE] to `words`; whether it is a legal one."""
    occupied = EMPTY
    for k in range(WORD_BYTES - 1, -1, -1):
        occupied = occupied << np.uint64(8) | np.uint64(text[i + k])
    for word in range(WORDS):
        words[word] = EMPTY
    if popcount(occupied) > SIZE:
        return False
    rights, rest, n = EMPTY, occupied, 0
    while rest:
        square = lowest(rest)
        code = np.int64(text[i + PIECES + n // 2])
        code = code >> 4 if n & 1 else code & 15
        black, kind = code >= BLACK_CODE, code & 7
        if kind > CASTLING_ROOK:
            return False
        if kind == CASTLING_ROOK:
            if square >> 3 != (7 if black else 0):
                return False
            rights |= bit((square & 7) + (8 if black else 0))
            kind = ROOK_KIND - 1
        words[1 if black else 0] |= bit(square)
        words[2 + kind] |= bit(square)
        rest = without_lowest(rest)
        n += 1
    p = load(words)
    if (
        men_fault(p) != faults.OK
        or (rights & FILES_MASK and lowest(p.kings & p.white) > 7)
        or (rights > FILES_MASK and lowest(p.kings & p.black) < 56)
    ):
        return False
    side = np.int64(text[i + SIDE_AND_EP])
    black, target = side >= 128, side & 127
    if target > NO_SQUARE:
        return False
    state = rights << CASTLING_SHIFT | (ONE if black else EMPTY)
    if target != NO_SQUARE:
        if target >> 3 != (2 if black else 5):
            return False
        state |= en_passant_state(p, target, black)
    number = np.uint64(text[i + NUMBER]) | np.uint64(text[i + NUMBER + 1]) << np.uint64(8)
    words[8] = state | np.uint64(text[i + CLOCK]) << CLOCK_SHIFT | number << NUMBER_SHIFT
    return completed(words)


@entry(types.boolean(bytes_type, words_type))
def _unpack(text, words):
    return unpack(text, 0, words)


def begins_with_board(start: bytes) -> bool:
    """Whether some bytes begin with a packed board and its result; no text does."""
    return (
        len(start) >= SIZE
        and start[RESULT_BYTE] <= 2 * DRAW
        and bool(_unpack(np.frombuffer(start[:SIZE], np.uint8), np.zeros(WORDS, np.uint64)))
    )


PAIR = 4  # bytes of a move and its score, and of the end of a game
PROMOTION = 3  # the kinds 1 and 2 are our flags EN_PASSANT and CASTLING
EXTENSION = 12  # bytes before the content of an extension
SQUARES = 0xFFF  # source and target of a move, as in ours


@inner(types.int64(bytes_type, types.int64))
def _word_at(text, i):
    """Return two bytes as a number."""
    return np.int64(text[i]) | np.int64(text[i + 1]) << 8


@inner(types.boolean(bytes_type, types.int64))
def _ends_at(text, i):
    """Whether four zero bytes are at i."""
    return _word_at(text, i) == 0 and _word_at(text, i + 2) == 0


@inner(types.boolean(bytes_type, types.int64))
def _is_extension(text, i):
    found = np.int64(0)
    for k in range(i, i + WORD_BYTES):
        found |= np.int64(text[k])
    return found == 0


@inner(types.int64(bytes_type, types.int64, types.int64))
def _game_end(text, i, end):
    """Return the index after the game or extension at i; more than `end` if it is incomplete."""
    if i + EXTENSION > end:
        return end + 1
    if _is_extension(text, i):
        return i + EXTENSION + _word_at(text, i + WORD_BYTES + 2) + PAIR
    k = i + SIZE
    while k + PAIR <= end and not _ends_at(text, k):
        k += PAIR
    return k + PAIR


@inner(types.int64(types.int64, moves_type, types.int64))
def _legal(move, legal, count):
    """Return our form of a move, one of legal[:count]; -1 if it is none of them."""
    kind = move >> 14
    promotion = (move >> 12 & 3) + KNIGHT if kind == PROMOTION else 0
    flag = kind if kind == EN_PASSANT or kind == CASTLING else 0
    for k in range(count):
        candidate = np.int64(legal[k])
        if (
            candidate & SQUARES == move & SQUARES
            and move_promotion(candidate) == promotion
            and move_flag(candidate) == flag
        ):
            return candidate
    return -1


@entry(
    types.int64(
        bytes_type,
        types.boolean,
        rows_type,
        positions_type,
        moves_type,
        scores_type,
        row_type,
        moves_type,
    )
)
def read_packed_games(text, final, games, positions, moves, scores, counts, legal):
    """Read games from the start of `text`, up to the first fault, the end, or the end of the room
    for games.

    Arrays are those of `games.chess.files.movetext.read_games`; `legal` (MAX_MOVES,) is scratch
    space. Returns the index to continue at."""
    i, n, end = 0, counts[0], len(text)
    while n < len(games) and i < end:
        stop = _game_end(text, i, end)
        if stop > end and not final:
            return i
        game, words = games[n], positions[n]
        game[:] = 0
        game[HAS_TAGS], game[HAS_FEN], game[TAG_RESULT], game[BEGIN] = 1, 1, NO_TAG, i
        game[FIRST_MOVE], game[FIRST_SCORE] = counts[1], counts[1] + n
        result = np.int64(text[i + RESULT_BYTE]) if stop <= end and stop - i > SIZE else 0
        if stop > end:
            note(game, faults.PACKED_END, i, i, 0)
        elif _is_extension(text, i):
            if _ends_at(text, stop - PAIR):
                i = stop
                continue
            note(game, faults.PACKED_BOARD, i, i, 0)
        elif not unpack(text, i, words):
            note(game, faults.PACKED_BOARD, i, i, 0)
        elif result > 2 * DRAW:
            note(game, faults.PACKED_RESULT, i, i, 0)
        else:
            game[RESULT] = result - DRAW
            p, ply = load(words), 0
            for k in range(i + SIZE, stop - PAIR, PAIR):
                move = _legal(_word_at(text, k), legal, generate(p, False, legal))
                if move < 0:
                    note(game, faults.PACKED_MOVE, k, k, ply + 1)
                    break
                score = _word_at(text, k + 2)
                note_score(
                    game, scores, ply, decided(float(score - 65536 if score >= 32768 else score))
                )
                moves[counts[1] + ply] = np.uint32(move)
                p = make(p, move)
                ply += 1
            game[PLIES] = ply
        counts[1] += game[PLIES]
        n += 1
        counts[0] = n
        i = min(stop, end)
        if game[FAULT]:
            break
    return i


class PackedGames(ParsedGames):
    """The games of one window of viriformat."""

    mark, resumes = b"", False

    def __init__(self) -> None:
        super().__init__()
        self._legal = np.zeros(MAX_MOVES, np.uint32)

    def parse(self, text: np.ndarray, final: bool) -> int:
        """Parse games from the start of a text; returns the number of bytes used."""
        self.reserve(len(text))
        counts = np.zeros(2, np.int64)
        used = read_packed_games(
            text, final, self.rows, self.starts, self.moves, self.scores, counts, self._legal
        )
        self.count, self.text = int(counts[0]), text
        return int(used)


def read(
    source: str | Path,
    stream: Iterator[bytes],
    options: ReadOptions,
    report: ReadReport,
    note: Callable[[str], None],
) -> Iterator[PositionBatch]:
    """Yield the wanted positions of a file, whose bytes come from `stream`. InputError at the first
    fault, after the games before it."""
    return pgn.read(source, stream, options, report, note, PackedGames())
