"""Generate legal moves, and tell which give check without making them."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.bits import EMPTY, bit, lowest, popcount, without_lowest
from games.chess.rules import entry, inner
from games.chess.rules.attacks import (
    NOT_A,
    NOT_H,
    between,
    bishop_attacks,
    king_attacks,
    knight_attacks,
    pawn_attacks_from,
    rook_attacks,
    through,
)
from games.chess.rules.position import (
    BISHOP,
    CASTLING,
    EN_PASSANT,
    FILES_MASK,
    KING,
    KNIGHT,
    LAST_RANK_SHIFT,
    PAWN,
    QUEEN,
    ROOK,
    attackers,
    black_to_move,
    castling_rights,
    checkers,
    en_passant_is_safe,
    en_passant_square,
    kind_at,
    load,
    make,
    move_flag,
    move_kind,
    move_promotion,
    move_source,
    move_target,
    pack_move,
    position_type,
    store,
    words_type,
)

MAX_MOVES = 256  # no legal position has more than 218
moves_type = types.Array(types.uint32, 1, "C")
RANK_1, RANK_8 = np.uint64(0xFF), np.uint64(0xFF << 56)
RANK_3, RANK_6 = np.uint64(0xFF << 16), np.uint64(0xFF << 40)
LAST_RANKS = RANK_1 | RANK_8
ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
LIGHT = np.uint64(0x55AA55AA55AA55AA)
ONE_ROW, CAPTURE_LEFT, CAPTURE_RIGHT = np.uint64(8), np.uint64(7), np.uint64(9)


class Safety(NamedTuple):
    """Restrictions of the side to move: pieces giving check, own pinned pieces, squares that parry
    the check."""

    checkers: np.uint64
    pinned: np.uint64
    answers: np.uint64


safety_type = numba.typeof(Safety(*np.zeros(3, np.uint64)))


@inner(safety_type(position_type, types.int64, types.uint64, types.uint64, types.boolean))
def king_safety(p, king, ours, theirs, black):
    """Find the checks and pins against one king."""
    checks = (knight_attacks(king) & p.knights | pawn_attacks_from(king, black) & p.pawns) & theirs
    snipers = (
        rook_attacks(king, theirs) & (p.rooks | p.queens)
        | bishop_attacks(king, theirs) & (p.bishops | p.queens)
    ) & theirs
    pinned = EMPTY
    while snipers:
        sniper = lowest(snipers)
        blockers = between(king, sniper) & ours
        if blockers == EMPTY:
            checks |= bit(sniper)
        elif without_lowest(blockers) == EMPTY:
            pinned |= blockers
        snipers = without_lowest(snipers)
    answers = ALL
    if checks:
        answers = EMPTY if without_lowest(checks) else between(king, lowest(checks)) | checks
    return Safety(checks, pinned, answers)


@inner(
    types.boolean(
        position_type, types.int64, types.int64, types.uint64, types.uint64, types.boolean
    )
)
def can_castle(p, king, rook, occupied, theirs, black):
    """Whether castling with this rook is legal now: no piece in the way, no attacked square on the
    king's path."""
    row = king & 56
    king_to, rook_to = (row + 6, row + 5) if rook > king else (row + 2, row + 3)
    way = (
        between(king, king_to)
        | between(rook, rook_to)
        | bit(king_to)
        | bit(rook_to)
        | between(king, rook)
    )
    others = occupied & ~bit(king) & ~bit(rook)
    if way & others:
        return False
    walked = between(king, king_to) | bit(king_to)
    while walked:
        if attackers(p, lowest(walked), others | bit(rook_to), theirs, not black):
            return False
        walked = without_lowest(walked)
    return True


@inner(types.int64(position_type, moves_type, types.int64, types.int64, types.uint64, types.int64))
def _add_targets(p, moves, n, source, targets, kind):
    while targets:
        target = lowest(targets)
        moves[n] = pack_move(source, target, kind, kind_at(p, bit(target)), 0, 0)
        n += 1
        targets = without_lowest(targets)
    return n


@inner(
    types.int64(
        position_type, moves_type, types.int64, types.uint64, types.int64, types.uint64, types.int64
    )
)
def _add_pawns(p, moves, n, targets, step, pinned, king):
    """Write the pawn moves to these targets, from `step` squares before them."""
    while targets:
        target = lowest(targets)
        source = target - step
        targets = without_lowest(targets)
        if pinned & bit(source) and through(king, source) & bit(target) == EMPTY:
            continue
        move = pack_move(source, target, PAWN, kind_at(p, bit(target)), 0, 0)
        if bit(target) & LAST_RANKS:
            for promotion in range(QUEEN, PAWN, -1):
                moves[n] = move | promotion << 18
                n += 1
        else:
            moves[n] = move
            n += 1
    return n


@inner(types.int64(position_type, types.boolean, moves_type))
def generate(p, noisy, moves):
    """Write all legal moves, or only captures and promotions, to `moves` (MAX_MOVES,); returns
    their number."""
    black = black_to_move(p)
    ours, theirs = (p.black, p.white) if black else (p.white, p.black)
    occupied = ours | theirs
    king = lowest(p.kings & ours)
    safety = king_safety(p, king, ours, theirs, black)
    pinned, answers = safety.pinned, safety.answers
    wanted = theirs if noisy else ~ours
    n = 0

    targets = king_attacks(king) & wanted
    while targets:
        target = lowest(targets)
        if attackers(p, target, occupied ^ bit(king), theirs, not black) == EMPTY:
            moves[n] = pack_move(king, target, KING, kind_at(p, bit(target)), 0, 0)
            n += 1
        targets = without_lowest(targets)
    if answers == EMPTY:
        return n

    # knights, bishops, rooks, queens
    allowed = wanted & answers
    pieces = ours & ~(p.pawns | p.kings)
    while pieces:
        source = lowest(pieces)
        here = bit(source)
        pieces = without_lowest(pieces)
        if here & p.knights:
            kind = KNIGHT
            targets = knight_attacks(source)
        else:
            kind = BISHOP if here & p.bishops else (ROOK if here & p.rooks else QUEEN)
            targets = EMPTY
            if kind != ROOK:
                targets = bishop_attacks(source, occupied)
            if kind != BISHOP:
                targets |= rook_attacks(source, occupied)
        targets &= allowed
        if pinned & here:
            targets &= through(king, source)
        n = _add_targets(p, moves, n, source, targets, kind)

    # pawns
    pawns = p.pawns & ours
    up = -8 if black else 8
    empty = ~occupied
    if black:
        single = pawns >> ONE_ROW & empty
        double = (single & RANK_6) >> ONE_ROW & empty
        west, east = (pawns & NOT_A) >> CAPTURE_RIGHT, (pawns & NOT_H) >> CAPTURE_LEFT
    else:
        single = pawns << ONE_ROW & empty
        double = (single & RANK_3) << ONE_ROW & empty
        west, east = (pawns & NOT_A) << CAPTURE_LEFT, (pawns & NOT_H) << CAPTURE_RIGHT
    if noisy:
        single, double = single & LAST_RANKS, EMPTY
    n = _add_pawns(p, moves, n, single & answers, up, pinned, king)
    n = _add_pawns(p, moves, n, double & answers, 2 * up, pinned, king)
    n = _add_pawns(p, moves, n, west & theirs & answers, up - 1, pinned, king)
    n = _add_pawns(p, moves, n, east & theirs & answers, up + 1, pinned, king)
    passed = en_passant_square(p)
    if passed >= 0:
        candidates = pawn_attacks_from(passed, not black) & pawns
        while candidates:
            source = lowest(candidates)
            if en_passant_is_safe(p, bit(source), bit(passed), bit(passed - up), black):
                moves[n] = pack_move(source, passed, PAWN, PAWN, 0, EN_PASSANT)
                n += 1
            candidates = without_lowest(candidates)

    if not noisy and safety.checkers == EMPTY:
        rights = castling_rights(p)
        rooks = (rights >> np.uint64(8) << LAST_RANK_SHIFT) if black else rights & FILES_MASK
        while rooks:
            rook = lowest(rooks)
            if can_castle(p, king, rook, occupied, theirs, black):
                moves[n] = pack_move(king, rook, KING, 0, 0, CASTLING)
                n += 1
            rooks = without_lowest(rooks)
    return n


@inner(types.boolean(position_type))
def insufficient_material(p):
    """Whether no sequence of moves can mate: bare kings, one minor piece, or bishops on squares of
    one color."""
    if p.pawns | p.rooks | p.queens:
        return False
    if p.knights:
        return popcount(p.knights | p.bishops) == 1
    return p.bishops & LIGHT == EMPTY or p.bishops & ~LIGHT == EMPTY


@entry(types.int64(words_type, types.boolean, moves_type))
def legal_moves(words, noisy, moves):
    """Write the legal moves (noisy: captures and promotions only) of a position to `moves`; returns
    their number."""
    return generate(load(words), noisy, moves)


@entry(types.void(words_type, types.int64, words_type))
def play(words, move, after):
    """Write the position after a legal move to `after`."""
    store(after, make(load(words), move))


def moves_of(words: np.ndarray) -> list[int]:
    """Return the legal moves of a position (10,)."""
    moves = np.empty(MAX_MOVES, np.uint32)
    return [int(move) for move in moves[: legal_moves(words, False, moves)]]


def has_moves(words: np.ndarray) -> bool:
    """Whether the side to move has a legal move."""
    return legal_moves(words, False, np.empty(MAX_MOVES, np.uint32)) > 0


@entry(types.boolean(words_type))
def in_check(words):
    """Whether the side to move is in check."""
    return checkers(load(words)) != EMPTY


@entry(types.boolean(words_type))
def is_dead(words):
    """Whether no sequence of moves can mate."""
    return insufficient_material(load(words))


SQUARES = [file + rank for rank in "12345678" for file in "abcdefgh"]
PROMOTIONS = " pnbrq"  # by kind


def move_name(words: np.ndarray, move: int, chess960: bool = False) -> str:
    """Return a move of a position (10,) in coordinates."""
    source, target, promotion, flag = move & 63, move >> 6 & 63, move >> 18 & 7, move >> 21 & 3
    if flag == CASTLING and not chess960:
        target = (source & 56) + (6 if target > source else 2)
    return SQUARES[source] + SQUARES[target] + (PROMOTIONS[promotion] if promotion else "")


def move_named(words: np.ndarray, name: str) -> int:
    """Return the legal move of a position (10,) with this name, castling in either notation;
    ValueError if there is none.

    If a king can both step to a square and castle to it, the name means the step.
    """
    legal = moves_of(words)
    for chess960 in (True, False):  # f1g1: castling takes precedence only as king takes rook
        for move in legal:
            if move_name(words, move, chess960) == name:
                return move
    raise ValueError(f"illegal move {name!r}")


class ChessAims(NamedTuple):
    """Squares from which a piece of the side to move attacks the enemy king, by kind; own pieces
    alone between an own slider and that king; the king's square. All but the last are sets."""

    pawns: np.uint64
    knights: np.uint64
    diagonal: np.uint64
    straight: np.uint64
    blockers: np.uint64
    king: np.int64


NO_AIMS = ChessAims(EMPTY, EMPTY, EMPTY, EMPTY, EMPTY, np.int64(0))
aims_type = numba.typeof(NO_AIMS)


@inner(types.boolean(position_type))
def is_checked(p):
    """Whether the side to move is in check."""
    return checkers(p) != EMPTY


@inner(aims_type(position_type))
def aims_of(p):
    """Find what `gives_check` needs to know of a position."""
    black = black_to_move(p)
    ours, theirs = (p.black, p.white) if black else (p.white, p.black)
    occupied = ours | theirs
    king = lowest(p.kings & theirs)
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    beside = (diagonal | straight) & ours
    behind = occupied ^ beside
    snipers = (
        bishop_attacks(king, behind) & ~diagonal & (p.bishops | p.queens)
        | rook_attacks(king, behind) & ~straight & (p.rooks | p.queens)
    ) & ours
    blockers = EMPTY
    while snipers:
        blockers |= between(king, lowest(snipers)) & beside
        snipers = without_lowest(snipers)
    return ChessAims(
        pawn_attacks_from(king, not black), knight_attacks(king), diagonal, straight, blockers, king
    )


@inner(types.boolean(position_type, aims_type, types.int64), forceinline=True)
def gives_check(p, aims, move):
    """Whether a legal move gives check; `aims` belong to the position."""
    if move_flag(move) | move_promotion(move):
        return is_checked(make(p, move))
    kind, source, target = move_kind(move), move_source(move), bit(move_target(move))
    squares = EMPTY
    if kind == PAWN:
        squares = aims.pawns
    elif kind == KNIGHT:
        squares = aims.knights
    elif kind == BISHOP:
        squares = aims.diagonal
    elif kind == ROOK:
        squares = aims.straight
    elif kind == QUEEN:
        squares = aims.diagonal | aims.straight
    if squares & target:
        return True
    return aims.blockers & bit(source) != EMPTY and through(aims.king, source) & target == EMPTY
