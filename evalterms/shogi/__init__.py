"""The terms of the shogi evaluation."""

from evalterms.shogi.king import king_relative, king_ring
from evalterms.shogi.material import hand, material, promoted, turn
from evalterms.shogi.mobility import mobility
from evalterms.shogi.piece_square import piece_square

TERMS = (material, promoted, hand, turn, king_ring, piece_square, mobility, king_relative)
