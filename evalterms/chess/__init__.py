"""The terms of the chess evaluation."""

from evalterms.chess.king import king
from evalterms.chess.king_danger import king_danger
from evalterms.chess.material import imbalance, late_scale, material
from evalterms.chess.pawns import pawns
from evalterms.chess.piece_square import piece_square
from evalterms.chess.pieces import mobility, pieces, space
from evalterms.chess.tactics import tactics, threats
from evalterms.chess.turn import turn

TERMS = (
    material,
    piece_square,
    mobility,
    pawns,
    pieces,
    king,
    threats,
    space,
    imbalance,
    tactics,
    turn,
    king_danger,
    late_scale,
)
