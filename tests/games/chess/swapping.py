"""Exchanges and quiescence in plain Python on python-chess boards: slow, and written from the
definition."""

from collections.abc import Callable, Iterator

import chess

VALUES = {
    None: 0,
    chess.PAWN: 100,
    chess.KNIGHT: 300,
    chess.BISHOP: 300,
    chess.ROOK: 500,
    chess.QUEEN: 900,
    chess.KING: 10000,
}
LIMIT, RECAPTURE_PLIES, EVASION_PLIES = 30, 6, 2  # as games.search.quiescence
MATE = 1 << 30


def gain(board: chess.Board, square: int, at_stake: int) -> int:
    """What the side to move wins by taking on a square, where a piece of that value stands, or not:
    never below zero.

    Both sides take with their least kind of piece, pinned or not; a king does not take what is
    protected."""
    attackers = board.attackers(board.turn, square)
    if not attackers:
        return 0
    taker = min(attackers, key=lambda s: (board.piece_type_at(s), s))
    kind = board.piece_type_at(taker)
    after = board.copy(stack=False)
    after.remove_piece_at(taker)
    after.set_piece_at(square, chess.Piece(kind, board.turn))
    after.turn = not board.turn
    if kind == chess.KING and after.attackers(after.turn, square):
        return 0
    return max(0, at_stake - gain(after, square, VALUES[kind]))


def exchange(board: chess.Board, move: chess.Move) -> int:
    """What a capture or promotion wins once the exchange on its square is over, in hundredths of a
    pawn."""
    captured = chess.PAWN if board.is_en_passant(move) else board.piece_type_at(move.to_square)
    placed = move.promotion or board.piece_type_at(move.from_square)
    won = VALUES[captured] + (VALUES[placed] - VALUES[chess.PAWN] if move.promotion else 0)
    after = board.copy(stack=False)
    after.push(move)
    return won - gain(after, move.to_square, VALUES[placed])


def forced_exchange(board: chess.Board, square: int) -> int | None:
    """What the side to move wins on a square by legal captures, least kind first; None where more
    than the exchange has a say: a pin, a check or a promotion."""
    if board.is_check() or any(
        board.is_pinned(board.turn, s) for s in board.attackers(board.turn, square)
    ):
        return None
    moves = [move for move in board.legal_moves if move.to_square == square]
    if not moves:
        return 0
    move = min(moves, key=lambda m: (board.piece_type_at(m.from_square), m.from_square))
    if move.promotion:
        return None
    taken = VALUES[board.piece_type_at(square)]
    board.push(move)
    reply = forced_exchange(board, square)
    board.pop()
    return None if reply is None else max(0, taken - reply)


def noisy(board: chess.Board) -> Iterator[chess.Move]:
    """Captures and promotions to a queen that win material."""
    for move in board.legal_moves:
        if (board.is_capture(move) or move.promotion) and move.promotion in (None, chess.QUEEN):
            if exchange(board, move) >= 1:
                yield move


def quiescence(
    board: chess.Board, evaluate: Callable[[chess.Board], int], ply: int = 0, entered: int = -1
) -> tuple[int, set[str]]:
    """Value for the side to move, without pruning, and the FENs of all leaves that have it."""
    check = ply <= EVASION_PLIES and board.is_check()
    best, leaves = -(1 << 50), set()
    if not check:
        best, leaves = evaluate(board), {board.fen()}
    elif not any(board.legal_moves):
        return ply - MATE, {board.fen()}
    for move in board.legal_moves if check else noisy(board):
        if ply >= RECAPTURE_PLIES and move.to_square != entered:
            continue
        board.push(move)
        value, below = quiescence(board, evaluate, ply + 1, move.to_square)
        board.pop()
        if -value > best:
            best, leaves = -value, below
        elif -value == best:
            leaves = leaves | below
    return best, leaves
