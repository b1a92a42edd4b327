"""Standard algebraic notation (SAN): parse a token into a move, write a move."""

import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest, without_lowest
from games.chess.files import faults
from games.chess.files.fen import LETTERS, bytes_type, kind_of_letter
from games.chess.rules import inner
from games.chess.rules.attacks import bishop_attacks, king_attacks, knight_attacks, rook_attacks
from games.chess.rules.movegen import SQUARES, can_castle, has_moves, in_check, moves_of, play
from games.chess.rules.position import (
    BISHOP,
    CASTLING,
    EN_PASSANT,
    FILES_MASK,
    KING,
    KNIGHT,
    LAST_RANK_SHIFT,
    NO_KIND,
    PAWN,
    QUEEN,
    ROOK,
    black_to_move,
    castling_rights,
    checkers,
    en_passant_square,
    kind_at,
    leaves_king_hanging,
    make,
    pack_move,
    position_type,
)

_A, _H, _1, _8 = ord("a"), ord("h"), ord("1"), ord("8")
_CAPTURE, _DASH, _EQUALS, _PLUS, _MATE, _CAPITAL_O, _0 = (ord(c) for c in "x-=+#O0")
_LOWER = 32
FILE_A = np.uint64(0x0101010101010101)


@inner(types.int64(position_type, types.boolean))
def castling_move(p, king_side):
    """Return the castling move to one side, or minus a fault."""
    black = black_to_move(p)
    ours, theirs = (p.black, p.white) if black else (p.white, p.black)
    king = lowest(p.kings & ours)
    rights = castling_rights(p)
    rooks = (rights >> np.uint64(8) << LAST_RANK_SHIFT) if black else rights & FILES_MASK
    while rooks:
        rook = lowest(rooks)
        if (rook > king) == king_side:
            if checkers(p) == EMPTY and can_castle(p, king, rook, p.white | p.black, theirs, black):
                return pack_move(king, rook, KING, NO_KIND, NO_KIND, CASTLING)
            return -faults.ILLEGAL
        rooks = without_lowest(rooks)
    return -faults.ILLEGAL


@inner(types.uint64(types.int64, types.int64, types.uint64))
def piece_attacks(kind, square, occupied):
    """Return the squares a knight, bishop, rook, queen or king attacks."""
    if kind == KNIGHT:
        return knight_attacks(square)
    if kind == KING:
        return king_attacks(square)
    attacked = EMPTY
    if kind != ROOK:
        attacked = bishop_attacks(square, occupied)
    if kind != BISHOP:
        attacked |= rook_attacks(square, occupied)
    return attacked


@inner(types.int64(position_type, types.int64, types.int64, types.int64, types.int64))
def piece_move(p, kind, target, file, rank):
    """Return the only move of such a piece to the target, from a file and rank unless negative; or
    minus a fault."""
    black = black_to_move(p)
    ours = p.black if black else p.white
    if ours & bit(target):
        return -faults.ILLEGAL
    squares = p.knights
    if kind != KNIGHT:
        squares = (
            p.bishops
            if kind == BISHOP
            else (p.rooks if kind == ROOK else (p.queens if kind == QUEEN else p.kings))
        )
    candidates = squares & ours & piece_attacks(kind, target, p.white | p.black)
    if file >= 0:
        candidates &= FILE_A << np.uint64(file)
    if rank >= 0:
        candidates &= FILES_MASK << np.uint64(8 * rank)
    if candidates == EMPTY:
        return -faults.ILLEGAL
    captured = kind_at(p, bit(target))
    if without_lowest(candidates) == EMPTY:
        return pack_move(lowest(candidates), target, kind, captured, NO_KIND, 0)
    found = np.int64(-faults.ILLEGAL)
    while candidates:
        move = pack_move(lowest(candidates), target, kind, captured, NO_KIND, 0)
        candidates = without_lowest(candidates)
        if not leaves_king_hanging(make(p, move)):
            if found >= 0:
                return -faults.AMBIGUOUS
            found = move
    return found


@inner(types.int64(position_type, types.int64, types.int64, types.int64, types.int64))
def pawn_move(p, target, file, rank, promotion):
    """Return the pawn move to the target, from a file and rank unless negative; or minus a
    fault."""
    black = black_to_move(p)
    ours = (p.black if black else p.white) & p.pawns
    up = -8 if black else 8
    captured, flag = kind_at(p, bit(target)), 0
    behind = target - up
    if behind < 0 or behind > 63:
        return -faults.ILLEGAL
    if file < 0 or file == target & 7:
        if captured:
            return -faults.ILLEGAL
        source = behind
        double_rank = 4 if black else 3
        if target >> 3 == double_rank and kind_at(p, bit(behind)) == NO_KIND:
            source = behind - up
    else:
        if abs(file - (target & 7)) != 1:
            return -faults.ILLEGAL
        source = (behind & 56) + file
        if captured == NO_KIND:
            if target != en_passant_square(p):
                return -faults.ILLEGAL
            captured, flag = PAWN, EN_PASSANT
        elif (p.black if black else p.white) & bit(target):
            return -faults.ILLEGAL
    if ours & bit(source) == EMPTY or (rank >= 0 and source >> 3 != rank):
        return -faults.ILLEGAL
    if (target >> 3 == 0 or target >> 3 == 7) != (promotion != NO_KIND):
        return -faults.ILLEGAL if promotion else -faults.PROMOTION
    if promotion == PAWN or promotion == KING:
        return -faults.ILLEGAL
    return pack_move(source, target, PAWN, captured, promotion, flag)


@inner(types.int64(bytes_type, types.int64, types.int64))
def _castling_length(text, i, end):
    """Return 2 for O-O, 3 for O-O-O (letters, capital or not, or zeros), otherwise 0."""
    n = end - i
    if n != 3 and n != 5:
        return 0
    letter = text[i]
    if letter != _CAPITAL_O and letter != _CAPITAL_O + _LOWER and letter != _0:
        return 0
    for k in range(1, n):
        if text[i + k] != (_DASH if k & 1 else letter):
            return 0
    return 2 if n == 3 else 3


@inner(types.int64(position_type, bytes_type, types.int64, types.int64))
def read_san(p, text, i, end):
    """Parse text[i:end] (SAN, long algebraic or coordinates) into a move, or minus a fault.

    The move is legal unless it leaves the own king attacked, which the caller must check after
    making it."""
    while end > i and (text[end - 1] == _PLUS or text[end - 1] == _MATE):
        end -= 1
    if end - i < 2:
        return -faults.NOT_A_MOVE
    kind = kind_of_letter(np.int64(text[i]))
    if kind == NO_KIND:
        castling = _castling_length(text, i, end)
        if castling:
            return castling_move(p, castling == 2)
    else:
        i += 1
    promotion = np.int64(NO_KIND)
    last = np.int64(text[end - 1])
    if last > _8:
        promotion = kind_of_letter(last - _LOWER if last >= _A else last)
        if promotion == NO_KIND:
            return -faults.NOT_A_MOVE
        end -= 1
        if end > i and text[end - 1] == _EQUALS:
            end -= 1
    if end - i < 2:
        return -faults.NOT_A_MOVE
    target_file, target_rank = np.int64(text[end - 2]) - _A, np.int64(text[end - 1]) - _1
    if target_file < 0 or target_file > 7 or target_rank < 0 or target_rank > 7:
        return -faults.NOT_A_MOVE
    end -= 2
    file, rank = np.int64(-1), np.int64(-1)
    if i < end and _A <= text[i] <= _H:
        file = np.int64(text[i]) - _A
        i += 1
    if i < end and _1 <= text[i] <= _8:
        rank = np.int64(text[i]) - _1
        i += 1
    if i < end and (text[i] == _CAPTURE or text[i] == _DASH):
        i += 1
    if i != end:
        return -faults.NOT_A_MOVE
    target = target_rank * 8 + target_file
    if kind == NO_KIND:
        kind = np.int64(PAWN)
        if file >= 0 and rank >= 0:
            source = rank * 8 + file
            kind = kind_at(p, bit(source))
            if kind == NO_KIND:
                return -faults.ILLEGAL
            # two squares from the e file, or onto the own rook: castling
            ours = p.black if black_to_move(p) else p.white
            if (
                kind == KING
                and ours & bit(source)
                and source >> 3 == target >> 3
                and castling_rights(p)
            ):
                if ours & p.rooks & bit(target) or (
                    file == 4 and (target_file == 6 or target_file == 2)
                ):
                    return castling_move(p, target > source)
    if kind == PAWN:
        return pawn_move(p, target, file, rank, promotion)
    if promotion:
        return -faults.ILLEGAL
    return piece_move(p, kind, target, file, rank)


def san(words: np.ndarray, move: int) -> str:
    """Return a legal move of a position (10,) in standard algebraic notation."""
    source, target, kind = move & 63, move >> 6 & 63, move >> 12 & 7
    captured, promotion, flag = move >> 15 & 7, move >> 18 & 7, move >> 21 & 3
    if flag == CASTLING:
        text = "O-O" if target > source else "O-O-O"
    elif kind == PAWN:
        text = (SQUARES[source][0] + "x" if captured else "") + SQUARES[target]
        text += "=" + LETTERS[promotion] if promotion else ""
    else:
        others = [
            other & 63
            for other in moves_of(words)
            if other >> 12 & 7 == kind
            and other >> 6 & 63 == target
            and other & 63 != source
            and other >> 21 & 3 != CASTLING
        ]
        name = SQUARES[source]
        if not others:
            name = ""
        elif all(other & 7 != source & 7 for other in others):
            name = name[0]
        elif all(other >> 3 != source >> 3 for other in others):
            name = name[1]
        text = LETTERS[kind] + name + ("x" if captured else "") + SQUARES[target]
    after = np.empty_like(words)
    play(words, move, after)
    if not in_check(after):
        return text
    return text + ("+" if has_moves(after) else "#")
