"""A second implementation of the terms of chess with python-chess: square by square, color by
color, no bitboards.

`counts(board, color)` says how often each number applies to one side, by its label in the layout.
"""

import itertools
from collections import Counter

import chess
from chess import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK

from tests.evalterms.chess.board_side import PIECES, Side, king_moves
from tests.evalterms.chess.brute_force_tactics import tactics, turn


def counts(board: chess.Board, us: chess.Color) -> Counter[str]:
    found = Counter()
    for topic in TOPICS:
        found.update(topic(Side(board, us), Side(board, not us)))
    return found


def material(us: Side, them: Side) -> Counter[str]:
    return Counter(f"material.{PIECES[kind]}" for kind in us.men.values() if kind != KING)


def piece_square(us: Side, them: Side) -> Counter[str]:
    return Counter(
        f"piece_square.{PIECES[kind]}[{us.row(square)}][{square % 8}]"
        for square, kind in us.men.items()
    )


def mobility(us: Side, them: Side) -> Counter[str]:
    found = Counter()
    for square in us.squares(KNIGHT, BISHOP, ROOK, QUEEN):
        reached = [
            to
            for to in us.board.attacks(square)
            if us.men.get(to) not in (PAWN, KING) and not them.attacks(to, PAWN)
        ]
        found[f"mobility.{PIECES[us.men[square]]}[{len(reached)}]"] += 1
    return found


def pawns(us: Side, them: Side) -> Counter[str]:
    found = Counter()
    for square in us.squares(PAWN):
        row, file, step = us.row(square), square % 8, us.ahead(square)
        beside = us.pawns_on(file - 1) + us.pawns_on(file + 1)
        enemies_ahead = [r for r in map(us.seen, them.pawns_on(file)) if r > row]
        doubled = any(r > row for r in us.pawns_on(file))
        supporters = [r for r in beside if r <= row]
        sentries = [
            r for f in (file - 1, file + 1) for r in map(us.seen, them.pawns_on(f)) if r > row
        ]
        weakness = None
        if not beside:
            weakness = "isolated"
        elif not supporters and them.attacks(step, PAWN):
            weakness = "backward"
        found["pawns.doubled"] += doubled
        if weakness:
            found[f"pawns.{weakness}"] += 1
            found[f"pawns.{weakness}_exposed"] += not enemies_ahead
        found[f"pawns.defended[{row}]"] += us.attacks(square, PAWN)
        found[f"pawns.phalanx[{row}]"] += row in beside
        found[f"pawns.blocked[{row}]"] += them.men.get(step) == PAWN
        if doubled or enemies_ahead:
            continue
        if sentries:
            found[f"pawns.candidate[{row}]"] += len(supporters) >= len(sentries)
            continue
        found[f"pawns.passed[{row}]"] += 1
        found[f"pawns.passed_blocked[{row}]"] += step in them.men
        found[f"pawns.passed_safe_step[{row}]"] += step not in them.men and not them.attacks(step)
        found[f"pawns.passed_defended[{row}]"] += us.attacks(square, PAWN)
        found[f"pawns.passed_our_king[{king_moves(us.king, step)}]"] += 1
        found[f"pawns.passed_their_king[{king_moves(them.king, step)}]"] += 1
    return found


def light(square: int) -> bool:
    return (square % 8 + square // 8) % 2 == 1


def is_outpost(us: Side, them: Side, square: int) -> bool:
    """Held by a pawn, on rows 4 to 6, and no enemy pawn can come to attack it."""
    if not 3 <= us.row(square) <= 5 or not us.attacks(square, PAWN):
        return False
    return not any(
        us.seen(r) > us.row(square)
        for f in (square % 8 - 1, square % 8 + 1)
        for r in them.pawns_on(f)
    )


def pieces(us: Side, them: Side) -> Counter[str]:
    found = Counter()
    bishops = us.squares(BISHOP)
    found["pieces.bishop_pair"] = len({light(square) for square in bishops}) == 2
    for square in bishops:
        found["pieces.bishop_pawns"] += sum(
            light(pawn) == light(square) for pawn in us.squares(PAWN)
        )
    for square in chess.SQUARES:
        if is_outpost(us, them, square):
            kind = us.men.get(square)
            found["pieces.knight_outpost"] += kind == KNIGHT
            found["pieces.bishop_outpost"] += kind == BISHOP
            found["pieces.knight_near_outpost"] += kind is None and us.attacks(square, KNIGHT)
    for square in us.squares(KNIGHT, BISHOP):
        step = us.ahead(square)
        found["pieces.minor_behind_pawn"] += us.men.get(step) == PAWN or them.men.get(step) == PAWN
    for square in us.squares(ROOK):
        if not us.pawns_on(square % 8):
            found[
                (
                    "pieces.rook_half_open_file"
                    if them.pawns_on(square % 8)
                    else "pieces.rook_open_file"
                )
            ] += 1
        queens = us.squares(QUEEN) + them.squares(QUEEN)
        found["pieces.rook_queen_file"] += any(queen % 8 == square % 8 for queen in queens)
    if us.row(them.king) == 7 or any(us.row(pawn) == 6 for pawn in them.squares(PAWN)):
        for kind in (ROOK, QUEEN):
            found[f"pieces.{PIECES[kind]}_seventh"] += sum(
                us.row(square) == 6 for square in us.squares(kind)
            )
    return found


def king(us: Side, them: Side) -> Counter[str]:
    found = Counter()
    for file in range(us.king % 8 - 1, us.king % 8 + 2):
        if 0 <= file <= 7:
            beside = "" if file == us.king % 8 else "_beside"
            found[f"king.shelter{beside}[{min(us.pawns_on(file), default=0)}]"] += 1
            found[f"king.storm{beside}[{min(map(us.seen, them.pawns_on(file)), default=0)}]"] += 1
    ring = [square for square in chess.SQUARES if king_moves(square, them.king) <= 1]
    zone = {
        *ring,
        *(square for square in map(them.ahead, set(ring) - {them.king}) if square is not None),
    }
    kinds = 0
    for kind in (KNIGHT, BISHOP, ROOK, QUEEN):
        attacked = sum(us.attacks(square, kind) for square in zone)
        found[f"king.zone_{PIECES[kind]}"] = attacked
        kinds += attacked > 0
        found[f"king.check_{PIECES[kind]}"] = sum(
            us.attacks(square, kind)
            and square not in us.men
            and not them.attacks(square)
            and gives_check(us, kind, square, them.king)
            for square in chess.SQUARES
        )
    found[f"king.zone_attackers[{kinds}]"] = 1
    found["king.zone_weak"] = sum(
        us.attacks(square) and len(them.attackers[square]) < 2 and not them.attacks(square, PAWN)
        for square in zone
    )
    return found


def gives_check(us: Side, kind: int, square: int, target: int) -> bool:
    """Whether a piece of this kind, added on a square, would attack the target."""
    board = us.board.copy(stack=False)
    board.set_piece_at(square, chess.Piece(kind, us.colour))
    return target in board.attacks(square)


def threats(us: Side, them: Side) -> Counter[str]:
    found = Counter()

    def count(name, hit):
        found[f"threats.{name}"] += bool(hit)

    for square, kind in them.men.items():
        loose, held_by_pawn = not them.attacks(square), them.attacks(square, PAWN)
        minor, name = kind in (KNIGHT, BISHOP), PIECES[kind]
        if kind in (KNIGHT, BISHOP, ROOK, QUEEN):
            count(f"pawn_attacks_{name}", us.attacks(square, PAWN))
            count("pawn_push", not us.attacks(square, PAWN) and square in push_attacks(us, them))
        if us.attacks(square, KNIGHT, BISHOP):
            count("minor_attacks_minor", minor)
            count("minor_attacks_rook", kind == ROOK)
            count("minor_attacks_queen", kind == QUEEN)
            count("minor_attacks_loose_pawn", kind == PAWN and loose)
        if us.attacks(square, ROOK):
            count("rook_attacks_loose_pawn", kind == PAWN and loose)
            count("rook_attacks_loose_minor", minor and not held_by_pawn)
            count("rook_attacks_queen", kind == QUEEN)
        count("king_attacks_loose", us.attacks(square, KING) and loose)
        count("hanging", kind not in (PAWN, KING) and us.attacks(square) and loose)
    for square in set(chess.SQUARES) - us.men.keys() - them.men.keys():
        count(
            "restricted",
            us.attacks(square)
            and len(them.attackers[square]) == 1
            and not them.attacks(square, PAWN),
        )
    return found


def push_attacks(us: Side, them: Side) -> set[int]:
    """Squares that pawns would attack after one or two steps to where they do not hang."""
    reached = set()
    for pawn in us.squares(PAWN):
        square = pawn
        for _ in range(2 if us.row(pawn) == 1 else 1):
            square = us.ahead(square)
            if square in us.men or square in them.men:
                break
            if not them.attacks(square, PAWN) and (us.attacks(square) or not them.attacks(square)):
                reached |= set(chess.SquareSet(chess.BB_PAWN_ATTACKS[us.colour][square]))
    return reached


def space(us: Side, them: Side) -> Counter[str]:
    found = Counter({"space.tempo": int(us.board.turn == us.colour)})
    for square in chess.SQUARES:
        if 2 <= square % 8 <= 5 and 1 <= us.row(square) <= 3:
            safe = us.men.get(square) != PAWN and not them.attacks(square, PAWN)
            found["space.safe_squares"] += safe
            behind = any(r > us.row(square) for r in us.pawns_on(square % 8))
            found["space.behind_pawns"] += safe and behind and not them.attacks(square)
    return found


def imbalance(us: Side, them: Side) -> Counter[str]:
    found, kinds = Counter(), (PAWN, KNIGHT, BISHOP, ROOK, QUEEN)
    for a, first in enumerate(kinds):
        ours = us.squares(first)
        for b, second in enumerate(kinds[a:]):
            name = f"imbalance.{PIECES[first]}s_with" + (f"[{b}]" if first != QUEEN else "")
            pairs = (
                itertools.combinations(ours, 2)
                if first == second
                else itertools.product(ours, us.squares(second))
            )
            found[name] = len(list(pairs))
        for b, second in enumerate(kinds[a + 1 :]):
            name = f"imbalance.against_{PIECES[first]}s" + (f"[{b}]" if first != ROOK else "")
            found[name] = len(us.squares(second)) * len(them.squares(first))
    return found


def king_danger(us: Side, them: Side) -> Counter[str]:
    found = Counter({"king_danger.base": 1, "king_danger.no_queen": int(not us.squares(QUEEN))})
    ring = [square for square in chess.SQUARES if king_moves(square, them.king) <= 1]
    zone = {
        *ring,
        *(square for square in map(them.ahead, set(ring) - {them.king}) if square is not None),
    }
    unsafe = set()
    for kind in (KNIGHT, BISHOP, ROOK, QUEEN):
        found[f"king_danger.zone_{PIECES[kind]}"] = sum(us.attacks(square, kind) for square in zone)
        for square in chess.SQUARES:
            if (
                us.attacks(square, kind)
                and square not in us.men
                and gives_check(us, kind, square, them.king)
            ):
                if not them.attacks(square):
                    found[f"king_danger.check_{PIECES[kind]}"] += 1
                elif kind != QUEEN:
                    unsafe.add(square)
    found["king_danger.check_unsafe"] = len(unsafe)
    found["king_danger.zone_weak"] = sum(
        us.attacks(square) and len(them.attackers[square]) < 2 and not them.attacks(square, PAWN)
        for square in zone
    )
    found["king_danger.defended"] = sum(them.attacks(square, KNIGHT, BISHOP) for square in zone)
    near = [square for square in chess.SQUARES if abs(square % 8 - them.king % 8) <= 1]
    found["king_danger.flank"] = sum(
        us.row(square) >= 4 and us.attacks(square) and not them.attacks(square, PAWN)
        for square in near
    )
    before = {square for part in zone for square in (part, them.ahead(part)) if square is not None}
    pawns = sum(square in near and square in before for square in them.squares(PAWN))
    found[f"king_danger.shelter[{min(pawns, 3)}]"] += 1
    return found


def late_scale(us: Side, them: Side) -> Counter[str]:
    minors, rooks, queens, bishops = (
        [len(side.squares(*kinds)) for side in (us, them)]
        for kinds in ((KNIGHT, BISHOP), (ROOK,), (QUEEN,), (BISHOP,))
    )
    ours, theirs = len(us.squares(PAWN)), len(them.squares(PAWN))
    found = Counter({f"late_scale.our_pawns[{ours}]": 1, f"late_scale.their_pawns[{theirs}]": 1})
    for name, (ours, theirs), most in (
        ("minors", minors, 8),
        ("rooks", rooks, 4),
        ("queens", queens, 2),
    ):
        found[f"late_scale.{name}[{min(ours + theirs, most)}]"] += 1
        if ours != theirs:
            found[
                f"late_scale.more_{name}[{0 if ours < theirs else 1 if ours == theirs + 1 else 2}]"
            ] += 1
    if bishops == [1, 1]:
        colours = {
            (square // 8 + square) % 2 for side in (us, them) for square in side.squares(BISHOP)
        }
        alone = sum(minors) == 2 and not sum(rooks) + sum(queens)
        found["late_scale.opposite_bishops" + "_alone" * alone] += len(colours) == 2
    found["late_scale.rook_ending"] += rooks == [1, 1] and not sum(minors) + sum(queens)
    files = {square % 8 // 4 for side in (us, them) for square in side.squares(PAWN)}
    found["late_scale.one_flank"] += len(files) < 2
    return found


TOPICS = (
    material,
    piece_square,
    mobility,
    pawns,
    pieces,
    king,
    threats,
    space,
    imbalance,
    king_danger,
    late_scale,
    tactics,
    turn,
)
