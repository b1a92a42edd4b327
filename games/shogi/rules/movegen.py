"""Legal moves: checks and pins, the generator, and the number of moves and of sequences of
moves."""

from typing import NamedTuple

import numba
import numpy as np
from numba.core import types

from games.search.perft import count_sequences, make_perft, rows_type
from games.shogi.rules import entry, inner
from games.shogi.rules.attacks import (
    BISHOP,
    DRAGON,
    GOLD,
    HORSE,
    KING,
    KNIGHT,
    LANCE,
    PAWN,
    PROMOTED,
    ROOK,
    SILVER,
    ahead,
    all_gold_attacks,
    all_king_attacks,
    all_knight_attacks,
    all_silver_attacks,
    attacks_of,
    between,
    bishop_attacks,
    lance_attacks,
    rook_attacks,
    steps_from,
    through,
    whole_files,
)
from games.shogi.rules.moves import (
    NOWHERE,
    PROMOTION,
    is_drop,
    make,
    move_kind,
    move_promotes,
    move_source,
    move_target,
    pack_move,
)
from games.shogi.rules.position import (
    attackers,
    held,
    in_check,
    kind_at,
    kinds_of,
    kinds_type,
    load,
    position_type,
    store,
    white_to_move,
    words_type,
)
from games.shogi.rules.squares import (
    BOARD,
    EMPTY,
    Squares,
    bit,
    lowest,
    of_rank,
    popcount,
    squares_type,
    without_lowest,
)

# where men of Black's, then of White's, promote; the ranks from which a lance or pawn, and a
# knight, could not move on
ZONE_OF_BLACK, ZONE_OF_WHITE = (
    of_rank(0) | of_rank(1) | of_rank(2),
    of_rank(6) | of_rank(7) | of_rank(8),
)
LAST_OF_BLACK, LAST_OF_WHITE = of_rank(0), of_rank(8)
LAST_TWO_OF_BLACK, LAST_TWO_OF_WHITE = of_rank(0) | of_rank(1), of_rank(7) | of_rank(8)


class Node(NamedTuple):
    """A position for the generators: who moves, the sets of both sides, and the
    restrictions by checks and pins."""

    white: np.int64
    king: np.int64  # square of the own king, -1 without one
    ours: Squares
    theirs: Squares
    occupied: Squares
    pinned: Squares
    answers: Squares  # squares that parry all checks
    zone: Squares  # where own men promote
    last: Squares  # where pawns and lances must promote
    last_two: Squares  # where knights must promote


_ZERO = np.int64(0)
node_type = numba.typeof(Node(_ZERO, _ZERO, *[EMPTY] * 8))


@inner(squares_type(kinds_type, squares_type, types.int64, squares_type))
def attacked_by(kinds, men, white, occupied):
    """Return the squares that the men of one side attack if `occupied` blocks the lines."""
    found = (
        ahead(kinds.pawns & men, white)
        | all_knight_attacks(kinds.knights & men, white)
        | all_silver_attacks(kinds.silvers & men, white)
        | all_gold_attacks(kinds.golds & men, white)
        | all_king_attacks((kinds.kings | kinds.horses | kinds.dragons) & men)
    )
    rest = kinds.lances & men
    while rest:
        found |= lance_attacks(white, lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = kinds.bishops & men
    while rest:
        found |= bishop_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    rest = kinds.rooks & men
    while rest:
        found |= rook_attacks(lowest(rest), occupied)
        rest = without_lowest(rest)
    return found


@inner(squares_type(kinds_type, types.int64, squares_type, squares_type, squares_type, types.int64))
def pinned_men(kinds, king, ours, theirs, occupied, white):
    """Return the men of one side that alone block a line to their king."""
    snipers = (
        rook_attacks(king, theirs) & kinds.rooks
        | bishop_attacks(king, theirs) & kinds.bishops
        | lance_attacks(white, king, theirs) & kinds.lances
    ) & theirs
    pinned = EMPTY
    while snipers:
        blockers = between(king, lowest(snipers)) & occupied
        if blockers and not without_lowest(blockers):
            pinned |= blockers
        snipers = without_lowest(snipers)
    return pinned & ours


@inner(node_type(position_type, kinds_type))
def node_of(p, kinds):
    """Find checks and pins once for a position."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    occupied = ours | theirs
    own_king = kinds.kings & ours
    king, pinned, answers = np.int64(-1), EMPTY, BOARD
    if own_king:
        king = lowest(own_king)
        pinned = pinned_men(kinds, king, ours, theirs, occupied, white)
        if in_check(p):
            checkers = attackers(kinds, king, occupied, 1 - white) & theirs
            answers = (
                EMPTY if without_lowest(checkers) else between(king, lowest(checkers)) | checkers
            )
    return Node(
        white,
        king,
        ours,
        theirs,
        occupied,
        pinned,
        answers,
        ZONE_OF_WHITE if white else ZONE_OF_BLACK,
        LAST_OF_WHITE if white else LAST_OF_BLACK,
        LAST_TWO_OF_WHITE if white else LAST_TWO_OF_BLACK,
    )


@inner(types.boolean(kinds_type, node_type, types.int64))
def drop_mates(kinds, node, square):
    """Whether a pawn dropped in front of the enemy king mates."""
    white, occupied = node.white, node.occupied | bit(square)
    king = lowest(kinds.kings & node.theirs)
    # another man than the king captures the pawn
    others = attackers(kinds, square, occupied, 1 - white) & node.theirs & ~kinds.kings
    if others:
        pinned = pinned_men(kinds, king, node.theirs, node.ours, node.occupied, 1 - white)
        free = others & (~pinned | through(king, square))
        if free:
            return False
    without_king = occupied ^ bit(king)
    escapes = steps_from(white, KING, king) & ~node.theirs
    while escapes:
        if not attackers(kinds, lowest(escapes), without_king, white) & node.ours:
            return False
        escapes = without_lowest(escapes)
    return True


@inner(squares_type(kinds_type, node_type, squares_type))
def pawn_targets(kinds, node, targets):
    """Return those squares among `targets` where a pawn may be dropped."""
    targets &= ~(whole_files(kinds.pawns & node.ours) | node.last)
    front = ahead(kinds.kings & node.theirs, 1 - node.white) & targets
    if front and drop_mates(kinds, node, lowest(front)):
        targets ^= front
    return targets


@inner(squares_type(node_type, types.int64, squares_type), forceinline=True)
def allowed_to(node, source, targets):
    """Return the targets of a man that respect its pin."""
    if node.pinned & bit(source):
        return targets & through(node.king, source)
    return targets


class Aims(NamedTuple):
    """Squares from which a bishop, a rook, a lance of the side to move attacks the enemy king; own
    men alone between an own sliding man and that king; its square (-1: there is none) and who
    moves."""

    diagonal: Squares
    straight: Squares
    forward: Squares
    blockers: Squares
    king: np.int64
    white: np.int64


NO_AIMS = Aims(EMPTY, EMPTY, EMPTY, EMPTY, np.int64(0), np.int64(0))
aims_type = numba.typeof(NO_AIMS)


@inner(aims_type(position_type))
def aims_of(p):
    """Find what `gives_check` needs to know of a position."""
    white = np.int64(1) if white_to_move(p) else np.int64(0)
    ours, theirs = (p.white, p.black) if white else (p.black, p.white)
    kinds = kinds_of(p)
    target = kinds.kings & theirs
    if not target:
        return Aims(EMPTY, EMPTY, EMPTY, EMPTY, np.int64(-1), white)
    king, occupied = lowest(target), ours | theirs
    diagonal, straight = bishop_attacks(king, occupied), rook_attacks(king, occupied)
    forward = lance_attacks(1 - white, king, occupied)
    beside = (diagonal | straight) & ours
    behind = occupied ^ beside
    snipers = (
        bishop_attacks(king, behind) & ~diagonal & kinds.bishops
        | rook_attacks(king, behind) & ~straight & kinds.rooks
        | lance_attacks(1 - white, king, behind) & ~forward & kinds.lances
    ) & ours
    blockers = EMPTY
    while snipers:
        blockers |= between(king, lowest(snipers)) & beside
        snipers = without_lowest(snipers)
    return Aims(diagonal, straight, forward, blockers, king, white)


@inner(types.boolean(position_type, aims_type, types.int64))
def gives_check(p, aims, move):
    """Whether a legal move gives check; `aims` belong to the position."""
    if aims.king < 0:
        return False
    kind = move_kind(move) + PROMOTED * move_promotes(move)
    target = bit(move_target(move))
    squares = steps_from(1 - aims.white, kind, aims.king)
    if kind == BISHOP or kind == HORSE:
        squares |= aims.diagonal
    elif kind == ROOK or kind == DRAGON:
        squares |= aims.straight
    elif kind == LANCE:
        squares = aims.forward
    if squares & target:
        return True
    if is_drop(move):
        return False
    source = move_source(move)
    return bool(aims.blockers & bit(source)) and not (through(aims.king, source) & target)


MAX_MOVES = 600  # no position has more than 593
moves_type = types.Array(types.uint32, 1, "C")


@inner(
    types.int64(
        position_type,
        moves_type,
        types.int64,
        types.int64,
        squares_type,
        types.int64,
        node_type,
        types.boolean,
        squares_type,
    )
)
def _add(p, moves, n, source, targets, kind, node, noisy, forced):
    """Write the moves of one man that may promote; it must where `forced`. Noisy ones: captures and
    promotions only."""
    inside = bool(bit(source) & node.zone)
    while targets:
        target = lowest(targets)
        captured = kind_at(p, target)
        move = pack_move(source, target, kind, captured)
        if inside or bit(target) & node.zone:
            moves[n] = move | PROMOTION
            n += 1
        if not (bit(target) & forced) and (captured != 0 or not noisy):
            moves[n] = move
            n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(position_type, moves_type, types.int64, types.int64, squares_type, types.int64))
def _add_plain(p, moves, n, source, targets, kind):
    """Write the moves of one man that cannot promote."""
    while targets:
        target = lowest(targets)
        moves[n] = pack_move(source, target, kind, kind_at(p, target))
        n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(moves_type, types.int64, squares_type, types.int64))
def _add_drops(moves, n, targets, kind):
    while targets:
        moves[n] = pack_move(NOWHERE, lowest(targets), kind, 0)
        n += 1
        targets = without_lowest(targets)
    return n


@inner(types.int64(position_type, types.boolean, moves_type))
def generate(p, noisy, moves):
    """Write all legal moves, or only captures and promotions, to `moves` (MAX_MOVES,); returns
    their number."""
    kinds = kinds_of(p)
    node = node_of(p, kinds)
    white, ours, theirs, occupied = node.white, node.ours, node.theirs, node.occupied
    n = 0
    if node.king >= 0:
        targets = steps_from(white, KING, node.king) & (theirs if noisy else ~ours)
        if targets:
            targets &= ~attacked_by(kinds, theirs, 1 - white, occupied ^ bit(node.king))
            n = _add_plain(p, moves, n, node.king, targets, KING)
    if not node.answers:
        return n
    allowed = node.answers & ~ours
    wanted = allowed & (theirs | node.zone) if noisy else allowed  # of men outside the zone
    men = kinds.pawns & ours & ahead(wanted, 1 - white)
    while men:
        source = lowest(men)
        targets = allowed_to(node, source, ahead(bit(source), white) & wanted)
        n = _add(p, moves, n, source, targets, PAWN, node, noisy, node.last)
        men = without_lowest(men)
    men = ours & (
        kinds.lances | kinds.knights | kinds.silvers | (kinds.bishops | kinds.rooks) & ~p.bit3
    )
    while men:
        source = lowest(men)
        kind = kind_at(p, source)
        forced = node.last if kind == LANCE else node.last_two if kind == KNIGHT else EMPTY
        targets = attacks_of(white, kind, source, occupied) & (
            allowed if bit(source) & node.zone else wanted
        )
        n = _add(p, moves, n, source, allowed_to(node, source, targets), kind, node, noisy, forced)
        men = without_lowest(men)
    final = allowed & theirs if noisy else allowed
    men = ours & (kinds.golds | kinds.horses | kinds.dragons)
    while men:
        source = lowest(men)
        kind = kind_at(p, source)
        n = _add_plain(
            p,
            moves,
            n,
            source,
            allowed_to(node, source, attacks_of(white, kind, source, occupied) & final),
            kind,
        )
        men = without_lowest(men)
    if noisy:
        return n
    empty = node.answers & ~occupied & BOARD
    if not empty:
        return n
    for kind in range(PAWN, GOLD + 1):
        if held(p.hands, white, kind):
            targets = empty
            if kind == PAWN:
                targets = pawn_targets(kinds, node, empty)
            elif kind == LANCE:
                targets &= ~node.last
            elif kind == KNIGHT:
                targets &= ~node.last_two
            n = _add_drops(moves, n, targets, kind)
    return n


@inner(
    types.int64(node_type, types.int64, squares_type, squares_type, squares_type, types.boolean),
    forceinline=True,
)
def _count_men(node, kind, men, allowed, forced, may_promote):
    """Count the moves of men of one kind to allowed squares, with and without promotion, which is
    `forced` on some."""
    n = 0
    while men:
        source = lowest(men)
        targets = allowed_to(
            node, source, attacks_of(node.white, kind, source, node.occupied) & allowed
        )
        n += popcount(targets)
        if may_promote:
            n += popcount(targets if node.zone & bit(source) else targets & node.zone) - popcount(
                targets & forced
            )
        men = without_lowest(men)
    return n


@inner(types.int64(position_type))
def count_moves(p):
    """Count the legal moves without listing them."""
    kinds = kinds_of(p)
    node = node_of(p, kinds)
    white, ours, occupied = node.white, node.ours, node.occupied
    n = 0
    if node.king >= 0:
        targets = steps_from(white, KING, node.king) & ~ours
        if targets:
            n = popcount(
                targets & ~attacked_by(kinds, node.theirs, 1 - white, occupied ^ bit(node.king))
            )
    if not node.answers:
        return n
    allowed = node.answers & ~ours & BOARD
    pawns = kinds.pawns & ours
    targets = ahead(pawns & ~node.pinned, white) & allowed
    pawns &= node.pinned
    while pawns:
        source = lowest(pawns)
        targets |= allowed_to(node, source, ahead(bit(source), white) & allowed)
        pawns = without_lowest(pawns)
    n += popcount(targets) + popcount(targets & node.zone) - popcount(targets & node.last)
    n += _count_men(node, LANCE, kinds.lances & ours, allowed, node.last, True)
    n += _count_men(node, KNIGHT, kinds.knights & ours & ~node.pinned, allowed, node.last_two, True)
    n += _count_men(node, SILVER, kinds.silvers & ours, allowed, EMPTY, True)
    n += _count_men(node, BISHOP, kinds.bishops & ours & ~p.bit3, allowed, EMPTY, True)
    n += _count_men(node, ROOK, kinds.rooks & ours & ~p.bit3, allowed, EMPTY, True)
    n += _count_men(node, GOLD, kinds.golds & ours, allowed, EMPTY, False)
    n += _count_men(node, HORSE, kinds.horses & ours, allowed, EMPTY, False)
    n += _count_men(node, DRAGON, kinds.dragons & ours, allowed, EMPTY, False)
    empty = node.answers & ~occupied & BOARD
    if empty:
        if held(p.hands, white, PAWN):
            n += popcount(pawn_targets(kinds, node, empty))
        if held(p.hands, white, LANCE):
            n += popcount(empty & ~node.last)
        if held(p.hands, white, KNIGHT):
            n += popcount(empty & ~node.last_two)
        for kind in range(SILVER, GOLD + 1):
            n += (held(p.hands, white, kind) != 0) * popcount(empty)
    return n


_perft = make_perft(inner, position_type, generate, make, count_moves)


@entry(types.int64(words_type, types.int64, types.boolean, rows_type))
def _perft_from(words, depth, bulk, moves):
    return _perft(load(words), depth, bulk, moves)


def perft(words: np.ndarray, depth: int, bulk: bool = True) -> int:
    """Count the sequences of `depth` legal moves; `bulk` counts the last ply without making its
    moves."""
    return count_sequences(_perft_from, words, depth, bulk, MAX_MOVES)


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
    """Return the legal moves of a position (15,)."""
    moves = np.empty(MAX_MOVES, np.uint32)
    return [int(move) for move in moves[: legal_moves(words, False, moves)]]


def has_moves(words: np.ndarray) -> bool:
    """Whether the side to move has a legal move."""
    return legal_moves(words, False, np.empty(MAX_MOVES, np.uint32)) > 0
