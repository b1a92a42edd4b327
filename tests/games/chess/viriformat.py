"""A writer of viriformat, driven by python-chess."""

import struct

import chess

KINDS = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
EN_PASSANT, CASTLING, PROMOTION = 1 << 14, 2 << 14, 3 << 14


def packed_board(board: chess.Board, result: int) -> bytes:
    """A board in 32 bytes; `result` is White's: 1, 0 or -1."""
    codes = []
    for square in chess.scan_forward(board.occupied):
        piece = board.piece_at(square)
        code = 6 if board.castling_rights >> square & 1 else KINDS.index(piece.piece_type)
        codes.append(code + (8 if piece.color == chess.BLACK else 0))
    codes += [0] * (32 - len(codes))
    nibbles = bytes(low | high << 4 for low, high in zip(codes[::2], codes[1::2], strict=True))
    side = (64 if board.ep_square is None else board.ep_square) | (
        128 if board.turn == chess.BLACK else 0
    )
    return struct.pack(
        "<Q16sBBHhBB",
        board.occupied,
        nibbles,
        side,
        board.halfmove_clock,
        board.fullmove_number,
        0,
        result + 1,
        0,
    )


def packed_move(board: chess.Board, move: chess.Move) -> int:
    """A legal move of a board that castles in Chess960 fashion."""
    found = move.from_square | move.to_square << 6
    if board.is_castling(move):
        return found | CASTLING
    if board.is_en_passant(move):
        return found | EN_PASSANT
    return found | (move.promotion - 2 << 12 | PROMOTION if move.promotion else 0)


def packed_game(
    start: chess.Board, moves: list[chess.Move], scores: list[int], result: int
) -> bytes:
    """A game with a score per move."""
    board, content = start.copy(), packed_board(start, result)
    for move, score in zip(moves, scores, strict=True):
        content += struct.pack("<Hh", packed_move(board, move), score)
        board.push(move)
    return content + bytes(4)
