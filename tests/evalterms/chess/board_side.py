"""One color of a board of python-chess, for the second implementation of the terms."""

import chess
from chess import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK

PIECES = {
    PAWN: "pawn",
    KNIGHT: "knight",
    BISHOP: "bishop",
    ROOK: "rook",
    QUEEN: "queen",
    KING: "king",
}


class Side:
    """Questions about one color; `row` 0 is its own first rank."""

    def __init__(self, board: chess.Board, colour: chess.Color) -> None:
        self.board, self.colour = board, colour
        self.forward = 1 if colour else -1
        self.men = {
            square: piece.piece_type
            for square, piece in board.piece_map().items()
            if piece.color == colour
        }
        self.king = board.king(colour)
        self.attackers = {
            square: [self.men[a] for a in board.attackers(colour, square)]
            for square in chess.SQUARES
        }

    def row(self, square: int) -> int:
        return square // 8 if self.colour else 7 - square // 8

    def squares(self, *kinds: int) -> list[int]:
        return [square for square, kind in self.men.items() if kind in kinds]

    def pawns_on(self, file: int) -> list[int]:
        """Rows, as this side sees them, of its pawns on a file; none off the board."""
        return [self.row(square) for square in self.squares(PAWN) if square % 8 == file]

    def attacks(self, square: int, *kinds: int) -> bool:
        return any(not kinds or kind in kinds for kind in self.attackers[square])

    def ahead(self, square: int) -> int | None:
        """The square before this one; None at the edge."""
        return square + 8 * self.forward if self.row(square) < 7 else None

    def seen(self, row: int) -> int:
        """A row of the opponent's, as this side counts."""
        return 7 - row


def king_moves(a: int, b: int) -> int:
    return max(abs(a % 8 - b % 8), abs(a // 8 - b // 8))
