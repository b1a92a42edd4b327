"""A UCI engine whose strength is an option: of `Looks` legal moves, drawn by the position, it plays
the one that wins most material at once. Its other option, `Mood`, does nothing."""

import random
import sys

import chess

WORTH = {chess.PAWN: 1, chess.KNIGHT: 3, chess.BISHOP: 3, chess.ROOK: 5, chess.QUEEN: 9}
options = {"looks": "1"}


def material(board: chess.Board) -> int:
    """Of the side to move, less that of the other."""
    return sum(
        worth * (len(board.pieces(kind, board.turn)) - len(board.pieces(kind, not board.turn)))
        for kind, worth in WORTH.items()
    )


def after(board: chess.Board, move: chess.Move) -> float:
    """What a move wins, less what the best reply takes."""
    board.push(move)
    value = 1000.0 if board.is_checkmate() else -material(board)
    taken = [
        WORTH.get(board.piece_type_at(reply.to_square) or 0, 0)
        for reply in board.generate_legal_captures()
    ]
    board.pop()
    return value - max(taken, default=0)


def answer(board: chess.Board) -> str:
    if sys.argv[2:] == ["crash"] and board.fullmove_number > 4:
        sys.exit(3)
    dice = random.Random(board.fen())
    moves = sorted(board.legal_moves, key=str)
    looked = dice.sample(moves, min(len(moves), int(options["looks"])))
    best = max(looked, key=lambda move: after(board, move))
    return f"info depth 1 score cp {100 * material(board)}\nbestmove {best.uci()}"


def main() -> None:
    board = chess.Board()
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            print("option name Looks type spin default 1 min 1 max 40")
            print("option name Mood type spin default 0 min -9 max 9")
            print("option name Style type combo default Solid var Solid var Wild")
            print("option name Hash type spin default 1 min 1 max 8\nuciok")
        elif words[:1] == ["isready"]:
            print("readyok")
        elif words[:2] == ["setoption", "name"]:
            options[words[2].lower()] = words[4]
            if len(sys.argv) > 1:
                with open(sys.argv[1], "a") as log:
                    log.write(f"{words[2]}={words[4]}\n")
        elif words[:2] == ["position", "startpos"]:
            board = chess.Board()
            for move in words[3:]:
                board.push_uci(move)
        elif words[:2] == ["position", "fen"]:
            board = chess.Board(" ".join(words[2:8]))
            for move in words[9:]:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            print(answer(board))
        elif words[:1] == ["quit"]:
            return
        sys.stdout.flush()


main()
