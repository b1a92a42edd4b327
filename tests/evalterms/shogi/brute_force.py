"""A second implementation of the terms of shogi with python-shogi: square by square, side by side,
no sets.

`counts(board, color)` says how often each number applies to one side, by its label in the layout.
"""

from collections import Counter

import shogi

NAMES = {
    shogi.PAWN: "pawn",
    shogi.LANCE: "lance",
    shogi.KNIGHT: "knight",
    shogi.SILVER: "silver",
    shogi.GOLD: "gold",
    shogi.BISHOP: "bishop",
    shogi.ROOK: "rook",
    shogi.KING: "king",
    shogi.PROM_PAWN: "promoted_pawn",
    shogi.PROM_LANCE: "promoted_lance",
    shogi.PROM_KNIGHT: "promoted_knight",
    shogi.PROM_SILVER: "promoted_silver",
    shogi.PROM_BISHOP: "horse",
    shogi.PROM_ROOK: "dragon",
}
PLAIN = {
    "promoted_pawn": "pawn",
    "promoted_lance": "lance",
    "promoted_knight": "knight",
    "promoted_silver": "silver",
    "horse": "bishop",
    "dragon": "rook",
}
MOBILE = {
    "lance": "lance",
    "knight": "knight",
    "silver": "silver",
    "gold": "gold",
    "promoted_pawn": "gold",
    "promoted_lance": "gold",
    "promoted_knight": "gold",
    "promoted_silver": "gold",
    "bishop": "bishop",
    "rook": "rook",
    "horse": "horse",
    "dragon": "dragon",
}


def place(square: int, us: int) -> tuple[int, int]:
    """Row from the own camp and column from the left, as a side sees a square of python-shogi (0 is
    9a)."""
    row, column = 8 - square // 9, square % 9
    return (row, column) if us == shogi.BLACK else (8 - row, 8 - column)


def men(board: shogi.Board, colour: int) -> list[tuple[int, str]]:
    """The squares and names of the men of one side."""
    found = []
    for square in shogi.SQUARES:
        piece = board.piece_at(square)
        if piece and piece.color == colour:
            found.append((square, NAMES[piece.piece_type]))
    return found


def counts(board: shogi.Board, us: int) -> Counter[str]:
    found, them = Counter(), 1 - us
    king = None
    for square, name in men(board, us):
        row, column = place(square, us)
        found[f"piece_square.{name}[{row}][{column}]"] += 1
        if name == "king":
            king = row, column
        elif name in PLAIN:
            found[f"promoted.{PLAIN[name]}"] += 1
        else:
            found[f"material.{name}"] += 1
        if name in MOBILE:
            reached = [
                to
                for to in shogi.SQUARES
                if square in board.attackers(us, to)
                and not (board.piece_at(to) and board.piece_at(to).color == us)
            ]
            found[f"mobility.{MOBILE[name]}[{len(reached)}]"] += 1
    for kind, number in board.pieces_in_hand[us].items():
        found[f"hand.{NAMES[kind]}"] += number
    if board.turn == us:
        found["turn.tempo"] += 1
    for square in shogi.SQUARES:
        row, column = place(square, us)
        if max(abs(row - king[0]), abs(column - king[1])) == 1 and board.is_attacked_by(
            them, square
        ):
            found[f"king_ring.attacked[{row - king[0] + 1}][{column - king[1] + 1}]"] += 1
    for owner, whose in ((us, "our"), (them, "their")):
        for square, name in men(board, owner):
            row, column = place(square, us)
            if name != "king":
                found[
                    f"king_relative.{whose}_{name}[{row - king[0] + 8}][{abs(column - king[1])}]"
                ] += 1
    return found
