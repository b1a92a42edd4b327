"""Read games in viriformat, the binary format of Viridithas and of tools that train networks.

A game is a packed board (`games.chess.packed_board`) and four bytes per move: the move, and White's score of the search that
chose it, which belongs to the position before it. Four zero bytes end the game. A move has the source in its low six bits, then
the target (six bits; of castling, the rook), the promoted piece (two, from the knight) and what it is (two: 1 en passant,
2 castling, 3 promotion). A record that begins with eight zero bytes is an extension of the format: its number (two bytes), its
length (two bytes), so many bytes, four zero bytes; it is skipped.

Nothing in a damaged file says where its next game begins: reading ends at the first fault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from numba.core import types

from games.chess import faults
from games.chess.comment_scores import decided
from games.chess.fen import bytes_type
from games.chess.game_row import (
    BEGIN,
    FAULT,
    FAULT_AT,
    FAULT_PLY,
    FIRST_MOVE,
    FIRST_SCORE,
    HAS_FEN,
    HAS_TAGS,
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
from games.chess.movegen import MAX_MOVES, generate
from games.chess.moves import CASTLING, EN_PASSANT, make, move_flag, move_promotion
from games.chess.packed_board import DRAW, SIZE, WORD_BYTES, unpack
from games.chess.packed_board import RESULT as RESULT_OFFSET
from games.chess.pgn import Collector, ParsedGames, parsed
from games.chess.position import KNIGHT, load
from games.chess.tokens import NO_TAG
from games.chess.unit import entry, inner
from games.record import PositionBatch, ReadOptions, ReadReport
from games.streams import InputError

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
        if candidate & SQUARES == move & SQUARES and move_promotion(candidate) == promotion and move_flag(candidate) == flag:
            return candidate
    return -1


@entry(types.int64(bytes_type, types.boolean, rows_type, positions_type, moves_type, scores_type, row_type, moves_type))
def read_packed_games(text, final, games, positions, moves, scores, counts, legal):
    """Read games from the start of `text`, up to the first fault, the end, or the end of the room for games.

    Arrays are those of `games.chess.movetext.read_games`; `legal` (MAX_MOVES,) is scratch space. Returns the index to continue
    at.
    """
    i, n, end = 0, counts[0], len(text)
    while n < len(games) and i < end:
        stop = _game_end(text, i, end)
        if stop > end and not final:
            return i
        game, words = games[n], positions[n]
        game[:] = 0
        game[HAS_TAGS], game[HAS_FEN], game[TAG_RESULT], game[BEGIN] = 1, 1, NO_TAG, i
        game[FIRST_MOVE], game[FIRST_SCORE] = counts[1], counts[1] + n
        result = np.int64(text[i + RESULT_OFFSET]) if stop <= end and stop - i > SIZE else 0
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
                note_score(game, scores, ply, decided(float(score - 65536 if score >= 32768 else score)))
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

    mark = b""

    def __init__(self) -> None:
        super().__init__()
        self._legal = np.zeros(MAX_MOVES, np.uint32)

    def parse(self, text: np.ndarray, final: bool) -> int:
        """Parse games from the start of a text; returns the number of bytes used."""
        self.reserve(len(text))
        counts = np.zeros(2, np.int64)
        used = read_packed_games(text, final, self.rows, self.starts, self.moves, self.scores, counts, self._legal)
        self.count, self.text = int(counts[0]), text
        return int(used)


def read(source: str | Path, stream: Iterator[bytes], options: ReadOptions, report: ReadReport,
         note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the wanted positions of a file, whose bytes come from `stream`. InputError at the first fault, after the games
    before it."""
    collector, before = Collector(options, report), 0
    for found, place in parsed(source, stream, PackedGames()):
        rows = found.rows[:found.count]
        report.games += found.count
        report.bytes = place + len(found.text)
        yield from collector.positions(found, before)
        before += found.count
        if rows[-1, FAULT]:
            fault = faults.SENTENCES[int(rows[-1, FAULT])].format(ply=int(rows[-1, FAULT_PLY]))
            raise InputError(f"{source}: game {before} (byte {place + rows[-1, FAULT_AT]}): {fault}; expected viriformat, which "
                             "cannot be read behind a fault")
