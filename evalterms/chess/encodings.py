"""Inputs of networks for chess: the seven boards of Hui's dissertation.

All see the board from the side to move, up the board, and outputs are for that side: positions with
colors exchanged have the same counts. Pieces are ordered pawn, rook, knight, bishop, queen, king
as there, squares from a1 to h8.

    mailbox64         a number for each square: 1 to 6 for ours, negative for theirs
    bitboard768       for each kind of piece the squares of ours, then for each kind those of theirs
    antisymmetric384  for each kind the squares of ours minus theirs
    pieces384         a list of pieces with four coordinates each: rank, 9 - rank, file, 9 - file; 0
                      without the piece. For each
                      kind there is room for all that promotion allows, first for ours, then for
                      theirs
    pieces192         the same with two coordinates: rank, file
    compressed200     as pieces384, with room for 4 rooks, knights, bishops and queens; further ones
                      are left out
    compressed100     as compressed200 with two coordinates
"""

from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from evalterms.chess.view import CORE
from evalterms.framework.emit import count_at, count_emitter, count_emitter_type, sources_of
from evalterms.framework.encoding import Encoding, native
from evalterms.term import row_function
from games.bits import flip, lowest, without_lowest
from games.chess.rules.position import WORDS, black_to_move, load
from games.compile import jit

UNIT = jit.Unit("encodings-chess", lambda: sources_of(Path(__file__).parent), salt=CORE.name)
KINDS, SQUARES = 6, 64
ROOM, COMPRESSED = (8, 10, 10, 10, 9, 1), (8, 4, 4, 4, 4, 1)  # in a list, of each kind
row_of = row_function(WORDS)


class Pieces(NamedTuple):
    """The squares (uint64) of a side's pieces, seen from the side to move."""

    pawns: np.uint64
    rooks: np.uint64
    knights: np.uint64
    bishops: np.uint64
    queens: np.uint64
    king: np.uint64


pieces_type = numba.typeof(Pieces(*np.zeros(KINDS, np.uint64)))


@UNIT.inner(types.UniTuple(pieces_type, 2)(types.CPointer(types.uint64)), forceinline=True)
def both(position):
    """Return the pieces of the side to move and of its opponent."""
    p = load(row_of(position))
    if black_to_move(p):
        ours, theirs = flip(p.black), flip(p.white)
        pawns, rooks, knights = flip(p.pawns), flip(p.rooks), flip(p.knights)
        bishops, queens, kings = flip(p.bishops), flip(p.queens), flip(p.kings)
    else:
        ours, theirs, pawns, rooks, knights = p.white, p.black, p.pawns, p.rooks, p.knights
        bishops, queens, kings = p.bishops, p.queens, p.kings
    return (
        Pieces(
            pawns & ours, rooks & ours, knights & ours, bishops & ours, queens & ours, kings & ours
        ),
        Pieces(
            pawns & theirs,
            rooks & theirs,
            knights & theirs,
            bishops & theirs,
            queens & theirs,
            kings & theirs,
        ),
    )


@UNIT.inner(count_emitter_type(types.CPointer(types.int32), types.int64), forceinline=True)
def cleared(row, size):
    """Return an emitter into a row whose first counts are set to zero."""
    for i in range(size):
        row[i] = np.int32(0)
    return count_emitter(row, 1)


@UNIT.inner(types.void(types.uint64, types.int64, count_emitter_type), forceinline=True)
def emit_squares(squares, count, emit):
    """Count each square of a set a number of times."""
    while squares:
        emit(lowest(squares), count)
        squares = without_lowest(squares)


@UNIT.inner(
    types.void(pieces_type, types.int64, types.int64, types.int64, count_emitter_type),
    forceinline=True,
)
def emit_kinds(pieces, count, step, apart, emit):
    """Count the squares of each kind of piece, count + step * kind times each, kinds `apart` inputs
    from one another."""
    emit_squares(pieces.pawns, count, count_at(emit, 0))
    emit_squares(pieces.rooks, count + step, count_at(emit, apart))
    emit_squares(pieces.knights, count + 2 * step, count_at(emit, 2 * apart))
    emit_squares(pieces.bishops, count + 3 * step, count_at(emit, 3 * apart))
    emit_squares(pieces.queens, count + 4 * step, count_at(emit, 4 * apart))
    emit_squares(pieces.king, count + 5 * step, count_at(emit, 5 * apart))


@UNIT.inner(types.int64(types.uint64, types.int64, types.int64, types.int64, count_emitter_type))
def emit_places(squares, room, coordinates, first, emit):
    """Count the coordinates of the first `room` squares of a set, from the number `first` on;
    return the number after them."""
    at, end = first, first + room * coordinates
    while squares and at < end:
        square = lowest(squares)
        rank, file = (square >> 3) + 1, (square & 7) + 1
        if coordinates == 2:
            emit(at, rank)
            emit(at + 1, file)
        else:
            emit(at, rank)
            emit(at + 1, 9 - rank)
            emit(at + 2, file)
            emit(at + 3, 9 - file)
        at += coordinates
        squares = without_lowest(squares)
    return end


@UNIT.inner(
    types.void(
        types.CPointer(types.uint64),
        types.int64,
        types.int64,
        types.int64,
        types.int64,
        count_emitter_type,
    )
)
def emit_list(position, pieces, queens, pawns, coordinates, emit):
    """Count the coordinates of a list with room for this number of rooks, knights or bishops,
    queens and pawns a side."""
    us, them = both(position)
    at = emit_places(us.pawns, pawns, coordinates, 0, emit)
    at = emit_places(them.pawns, pawns, coordinates, at, emit)
    at = emit_places(us.rooks, pieces, coordinates, at, emit)
    at = emit_places(them.rooks, pieces, coordinates, at, emit)
    at = emit_places(us.knights, pieces, coordinates, at, emit)
    at = emit_places(them.knights, pieces, coordinates, at, emit)
    at = emit_places(us.bishops, pieces, coordinates, at, emit)
    at = emit_places(them.bishops, pieces, coordinates, at, emit)
    at = emit_places(us.queens, queens, coordinates, at, emit)
    at = emit_places(them.queens, queens, coordinates, at, emit)
    at = emit_places(us.king, 1, coordinates, at, emit)
    emit_places(them.king, 1, coordinates, at, emit)


@UNIT.entry(native)
def write_mailbox64(position, row):
    us, them = both(position)
    emit = cleared(row, SQUARES)
    emit_kinds(us, 1, 1, 0, emit)
    emit_kinds(them, -1, -1, 0, emit)
    return SQUARES


@UNIT.entry(native)
def write_bitboard768(position, row):
    us, them = both(position)
    emit = cleared(row, 2 * KINDS * SQUARES)
    emit_kinds(us, 1, 0, SQUARES, emit)
    emit_kinds(them, 1, 0, SQUARES, count_at(emit, KINDS * SQUARES))
    return 2 * KINDS * SQUARES


@UNIT.entry(native)
def write_antisymmetric384(position, row):
    us, them = both(position)
    emit = cleared(row, KINDS * SQUARES)
    emit_kinds(us, 1, 0, SQUARES, emit)
    emit_kinds(them, -1, 0, SQUARES, emit)
    return KINDS * SQUARES


@UNIT.entry(native)
def write_pieces384(position, row):
    emit_list(position, 10, 9, 8, 4, cleared(row, 384))
    return 384


@UNIT.entry(native)
def write_pieces192(position, row):
    emit_list(position, 10, 9, 8, 2, cleared(row, 192))
    return 192


@UNIT.entry(native)
def write_compressed200(position, row):
    emit_list(position, 4, 4, 8, 4, cleared(row, 200))
    return 200


@UNIT.entry(native)
def write_compressed100(position, row):
    emit_list(position, 4, 4, 8, 2, cleared(row, 100))
    return 100


ORDER = (
    "pawn, rook, knight, bishop, queen, king; squares a1, b1, ... h8, seen from the side to move"
)


def _list(name: str, room: tuple[int, ...], coordinates: int, write) -> Encoding:
    which = "rank, file" if coordinates == 2 else "rank, 9 - rank, file, 9 - file"
    return Encoding(
        name,
        np.full(2 * coordinates * sum(room), 1 / 8),
        True,
        write,
        f"{which} of each piece, from 1 to 8, 0 without it; with room for"
        f" {', '.join(map(str, room))} of the kinds, first ours and then theirs, by {ORDER}",
    )


OF_THE_BOARD = ("material", "piece_square")
UNITS_OF_TERMS: dict[str, float] = {
    "space.behind_pawns": 1 / 8,
    "space.safe_squares": 1 / 8,
    "threats.restricted": 1 / 8,
    "turn.attacked_squares": 1 / 16,
    "imbalance.pawns_with": 1 / 8,
    "imbalance.against_pawns": 1 / 8,
}
ENCODINGS = {
    each.name: each
    for each in (
        Encoding(
            "bitboard768",
            np.ones(2 * KINDS * SQUARES),
            True,
            write_bitboard768,
            f"1 at each piece: 64 squares for each kind of ours, then of theirs, by {ORDER}",
        ),
        Encoding(
            "mailbox64",
            np.full(SQUARES, 1 / KINDS),
            True,
            write_mailbox64,
            "the number of the piece on each square, negative for theirs; pieces are numbered from"
            f" 1 as {ORDER}",
        ),
        Encoding(
            "antisymmetric384",
            np.ones(KINDS * SQUARES),
            True,
            write_antisymmetric384,
            f"1 at each of our pieces, -1 at each of theirs: 64 squares for each kind, by {ORDER}",
        ),
        _list("pieces384", ROOM, 4, write_pieces384),
        _list("pieces192", ROOM, 2, write_pieces192),
        _list("compressed200", COMPRESSED, 4, write_compressed200),
        _list("compressed100", COMPRESSED, 2, write_compressed100),
    )
}
