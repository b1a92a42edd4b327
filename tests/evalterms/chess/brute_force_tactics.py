"""Tactics and the turn, square by square along lines."""

from collections import Counter
from itertools import product

import chess
from chess import BISHOP, KNIGHT, PAWN, QUEEN, ROOK

from tests.evalterms.chess.board_side import PIECES, Side, king_moves


def pieces_on_line(us: Side, them: Side, step: tuple[int, int]) -> list[int]:
    """The squares of pieces on a line from our king, the nearest first."""
    found, (file, row) = [], (us.king % 8, us.king // 8)
    while 0 <= (file := file + step[0]) <= 7 and 0 <= (row := row + step[1]) <= 7:
        if (square := 8 * row + file) in us.men or square in them.men:
            found.append(square)
    return found


def tactics(us: Side, them: Side) -> Counter[str]:
    found = Counter(
        dict.fromkeys(
            (
                "tactics.pinned_attacked",
                "tactics.discovered_check",
                *(f"tactics.pinned_{PIECES[kind]}" for kind in (PAWN, KNIGHT, BISHOP, ROOK, QUEEN)),
            ),
            0,
        )
    )
    for step in product((-1, 0, 1), repeat=2):
        line = pieces_on_line(us, them, step) if any(step) else []
        if len(line) < 2 or them.men.get(line[1]) not in (BISHOP if all(step) else ROOK, QUEEN):
            continue
        if line[0] in us.men:
            found[f"tactics.pinned_{PIECES[us.men[line[0]]]}"] += 1
            found["tactics.pinned_attacked"] += them.attacks(line[0], PAWN)
        else:
            found["tactics.discovered_check"] += them.men[line[0]] != PAWN
    queens = them.squares(QUEEN)
    found["tactics.knight_near_queen"] = len(queens) == 1 and sum(
        us.attacks(square, KNIGHT)
        and square not in us.men
        and not them.attacks(square)
        and queens[0] in chess.SquareSet(chess.BB_KNIGHT_ATTACKS[square])
        for square in chess.SQUARES
    )
    ring = [square for square in chess.SQUARES if king_moves(square, them.king) <= 1]
    zone = {
        *ring,
        *(square for square in map(them.ahead, set(ring) - {them.king}) if square is not None),
    }
    found["tactics.zone_twice"] = sum(len(us.attackers[square]) > 1 for square in zone)
    return found


def turn(us: Side, them: Side) -> Counter[str]:
    found = Counter(dict.fromkeys(("turn.queen", "turn.pawn_push", "turn.attacked_squares"), 0))
    if us.board.turn != us.colour:
        return found
    found["turn.queen"] = bool(us.squares(QUEEN))
    near = sum(
        king_moves(square, them.king) == 1
        and us.attacks(square)
        and len(them.attackers[square]) < 2
        for square in chess.SQUARES
    )
    found[f"turn.king_zone[{min(near, 7)}]"] += 1
    reached = set()
    for pawn in us.squares(PAWN):
        step = us.ahead(pawn)
        if (
            step not in us.men
            and step not in them.men
            and not them.attacks(step, PAWN)
            and (us.attacks(step) or not them.attacks(step))
        ):
            reached |= set(chess.SquareSet(chess.BB_PAWN_ATTACKS[us.colour][step]))
    found["turn.pawn_push"] = sum(
        square in reached and not us.attacks(square, PAWN)
        for square in them.squares(KNIGHT, BISHOP, ROOK, QUEEN)
    )
    found["turn.attacked_squares"] = sum(
        us.attacks(square) and square not in us.men and not them.attacks(square, PAWN)
        for square in chess.SQUARES
    )
    return found
