"""A UCI or xboard engine that misbehaves on request: `fake_engine.py HOW [PLY]`, from its PLY-th
move on."""

import os
import random
import subprocess
import sys
import time

import chess


def say(text: str) -> None:
    print(text, flush=True)


def misbehave(how: str, board: chess.Board) -> str | None:
    """What it answers instead of a move; None: it moves as it should."""
    if how == "crash":
        sys.exit(3)
    if how == "hang":
        time.sleep(3600)
    if how == "slow":
        time.sleep(1.0)
    if how == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if how in ("flood", "newlines"):
        text = "\n" * 65536 if how == "newlines" else "info depth 3 score cp 1 pv e2e4\n" * 2000
        while True:
            sys.stdout.write(text)
    if how == "errors":
        for _ in range(400):
            sys.stderr.write("x" * 65536)
    if how == "ignores":  # its limits
        for depth in range(1, 12):
            say(f"info depth {depth} nodes {1000 << depth} score cp 20")
    if how in ("parent", "orphan"):
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        with open(os.environ["FAKE_CHILDREN"], "a") as file:
            file.write(f"{child.pid}\n")
        if how == "orphan":
            os._exit(0)
    if how == "closed":
        os.close(1)
        time.sleep(3600)
    if how == "garbage":
        for text in (
            "\x00\xff!!",
            "info score banana",
            "info depth x score cp",
            "bestmov e2e4",
            "readyok",
            "x" * 5000,
        ):
            say(text)
    return {
        "illegal": "e2e5",
        "nonsense": "castle",
        "none": "(none)",
        "null": "0000",
        "nowhere": "a1a1",
        "empty": "",
        "other": next(
            (m.uci() for m in chess.Board().legal_moves if m not in board.legal_moves), "a1a1"
        ),
    }.get(how)


def uci(how: str, ply: int) -> None:
    board, moves, dice = chess.Board(), 0, random.Random(1)
    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "uci":
            if how == "mute":
                time.sleep(3600)
            if how.startswith("start "):
                misbehave(how.removeprefix("start "), board)
            say("id name fake")
            say("option name Hash type spin default 1 min 1 max 64")
            say("option name Style type combo default Solid var Solid var Risky")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "position":
            cut = words.index("moves") if "moves" in words else len(words)
            board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:cut]))
            for move in words[cut + 1 :]:
                board.push_uci(move)
        elif words[0] == "go":
            moves += 1
            answer = misbehave(how, board) if moves >= ply else None
            if answer is None:
                say("info depth 3 seldepth 5 score cp -12 nodes 77 pv e2e4")
                if how in ("steady", "by nodes"):  # no two of its games with the same limits differ
                    dice.seed(f"{board.fen()} {words if how == 'by nodes' else ''}")
                answer = dice.choice(sorted(move.uci() for move in board.legal_moves))
            say(f"bestmove {answer}")
        elif words[0] == "quit" and how == "deaf":
            time.sleep(3600)
        elif words[0] == "quit":
            return


def xboard(how: str, ply: int) -> None:
    board, moves, dice, forced = chess.Board(), 0, random.Random(1), False

    def think() -> None:
        nonlocal moves
        moves += 1
        answer = misbehave(how, board) if moves >= ply else None
        if how == "resign" and moves >= ply:
            say(f"{'0-1' if board.turn else '1-0'} {{resigns}}")
            return
        if answer is None:
            answer = dice.choice(sorted(move.uci() for move in board.legal_moves))
            say("3 -12 1 77 e2e4")
            board.push_uci(answer)
        say(f"move {answer}")

    for line in sys.stdin:
        words = line.split()
        if not words:
            continue
        if words[0] == "protover":
            say(
                'feature ping=1 usermove=1 nps=1 san=0 reuse=1 sigint=0 sigterm=0 myname="fake"'
                + (" done=1" if how == "edit" else " setboard=1 done=1")
            )
        elif words[0] == "ping":
            say(f"pong {words[1]}")
        elif words[0] == "new":
            board, forced = chess.Board(), False
        elif words[0] == "edit" and how == "edit":
            colour = chess.WHITE
            for piece in map(str.strip, sys.stdin):
                if piece == "#":
                    board.clear_board()
                elif piece == "c":
                    colour = not colour
                elif piece == ".":
                    break
                else:
                    man = chess.Piece.from_symbol(piece[0] if colour else piece[0].lower())
                    board.set_piece_at(chess.parse_square(piece[1:]), man)
            board.castling_rights, board.ep_square = chess.BB_CORNERS, None
            board.castling_rights = board.clean_castling_rights()
        elif words[0] == "setboard" and how != "edit":
            board = chess.Board(" ".join(words[1:]))
        elif words[0] == "force":
            forced = True
        elif (
            forced and words[0][:1].islower() and words[0][1:2].isdigit()
        ):  # a move without `usermove`
            board.push_uci(words[0])
        elif words[0] == "go":
            forced = False
            think()
        elif words[0] == "usermove":
            board.push_uci(words[1])
            if not forced:
                think()
        elif words[0] == "quit":
            return


if __name__ == "__main__":
    sys.stdout.reconfigure(errors="surrogateescape")
    protocol, how, ply = sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 1
    {"uci": uci, "xboard": xboard}[protocol](how, ply)
