"""The terms of the chess evaluation."""

from evalterms.chess.imbalance import imbalance
from evalterms.chess.king import king
from evalterms.chess.king_danger import king_danger
from evalterms.chess.late_scale import late_scale
from evalterms.chess.material import material
from evalterms.chess.mobility import mobility
from evalterms.chess.pawns import pawns
from evalterms.chess.piece_square import piece_square
from evalterms.chess.pieces import pieces
from evalterms.chess.space import space
from evalterms.chess.tactics import tactics
from evalterms.chess.threats import threats
from evalterms.chess.turn import turn

TERMS = (material, piece_square, mobility, pawns, pieces, king, threats, space, imbalance, tactics, turn,
         king_danger, late_scale)
