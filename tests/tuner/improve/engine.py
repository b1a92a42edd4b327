"""A small UCI engine: `engine.py play|rows|evals [HOW]`. Its build puts the numbers of `eval.h`
before it as the text EVAL; they are worth of pieces and of the move. It looks one move ahead, and
at whether the piece that moved can be taken. HOW is what it does wrong: from its start, or after a
colon from a later command on; `late HOW` only where a version with other numbers is built."""

import json
import os
import re
import signal
import sys
import time
import zlib

BUILT = globals()  # the build adds texts: EVAL, and AUTHOR, the numbers that the author has
NUMBERS = [int(number) for number in re.findall(r"= \{?(-?\d+)", BUILT["EVAL"])]
WORTH = dict(zip("PNBRQ", NUMBERS, strict=False)) | {"K": 0}
TEMPO = NUMBERS[5]
NAMES = dict(zip("PNBRQ", ("pawn", "knight", "bishop", "rook", "queen"), strict=True))


def say(text: str) -> None:
    print(text, flush=True)


def counts_of(fen: str) -> dict[str, int]:
    board, mover = fen.split()[:2]
    counts = {
        f"material.{name}": board.count(piece) - board.count(piece.lower())
        for piece, name in NAMES.items()
    }
    return counts | {"tempo.tempo": 1 if mover == "w" else -1}


def evaluation(counts: dict[str, int]) -> int:
    return sum(n * worth for n, worth in zip(counts.values(), NUMBERS, strict=True))


def misbehave(how: str) -> None:
    """Do what can be wrong at any time."""
    if how == "crash":
        sys.exit(3)
    if how == "signal":
        os.kill(os.getpid(), signal.SIGSEGV)
    if how == "slow":
        time.sleep(0.0002)
    if how == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        time.sleep(3600)
    if how == "closed":
        os.close(1)
        time.sleep(3600)
    if how == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if how == "flood":
        while True:
            sys.stdout.write("info string still here\n" * 2000)


def rows(how: str) -> None:
    name, _, after = how.partition(":")
    for number, line in enumerate(sys.stdin):
        counts = counts_of(line)
        row = {"fen": line.strip(), "eval": evaluation(counts), "counts": counts}
        if number >= int(after or 0) and how:
            misbehave(name)
            if name == "silent":
                continue
            if name == "text":
                say("total 17")
                continue
            if name == "half":
                say('{"fen": "' + line.strip())
                continue
            if name == "array":
                say("[1, 2]")
                continue
            if name == "twice":
                say(json.dumps(row))
            row |= {
                "nan": {"eval": float("nan")},
                "huge": {"eval": 10**12},
                "words": {"eval": "much"},
                "unknown": {"counts": {"material.dragon": 1}},
                "list": {"counts": [1, 2, 3]},
                "nothing": {"counts": {}},
                "doubled": {"counts": counts | {"material.pawn": 2 * counts["material.pawn"]}},
                "mover": {"eval": row["eval"] * counts["tempo.tempo"]},
                "offset": {"eval": row["eval"] + 37},
                "noise": {"eval": row["eval"] + zlib.crc32(line.encode()) % 100},
                "other": {"fen": "8/8/8/8/8/8/8/K1k5 w - - 0 1"},
                "error": {"error": "I do not like it"},
                "no eval": {"eval": None},
            }.get(name, {})
            row = {key: value for key, value in row.items() if value is not None}
        say(json.dumps(row))


def evals(how: str) -> None:
    """Print evaluations."""
    for line in sys.stdin:
        misbehave(how)
        found = evaluation(counts_of(line))
        say(
            {
                "twice": str(found + os.getpid() % 7),
                "pawns": str(found // 100),
                "text": f"total {found}",
                "doubled": str(2 * found),
            }.get(how, str(found))
        )


def play(how: str) -> None:
    import chess

    name, _, after = how.partition(":")
    board, moves, deep = chess.Board(), 0, 2
    if not after:
        misbehave(name)
    for line in sys.stdin:
        words = line.split()
        if after and words[:1] == [after]:
            misbehave(name)
        if words[:1] == ["uci"]:
            say("id name small")
            say("option name Hash type spin default 1 min 1 max 64")
            if name != "no uciok":
                say("uciok")
        elif words[:1] == ["isready"]:
            say("readyok")
        elif words[:1] == ["position"]:
            cut = words.index("moves") if "moves" in words else len(words)
            board = chess.Board() if words[1] == "startpos" else chess.Board(" ".join(words[2:cut]))
            for move in words[cut + 1 :]:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            moves += 1
            if after.isdecimal() and moves > int(after):
                misbehave(name)
            if name == "ignores":
                for deep in range(1, 12):
                    say(f"info depth {deep} nodes {1000 << deep} score cp 20 pv e2e4")
            score, move = best(board)
            text = {"mates": "mate 3", "garbage": "banana", "infinite": "cp 99999999"}.get(
                name, f"cp {score}"
            )
            if name != "no score":
                say(f"info depth 1 nodes 30 score {text} pv {move}")
            answer = {"illegal": "e2e5", "null": "0000", "none": "(none)"}.get(name, move)
            if name != "no move" and (after != "late" or board.fullmove_number < 30):
                say(f"bestmove {answer}")
        elif words[:1] == ["quit"]:
            return


def best(board) -> tuple[int, str]:
    """The best move and its score; among equal ones, one by chance that the position says."""
    values = {"p": 0, "n": 1, "b": 2, "r": 3, "q": 4, "k": 5}
    worth = [*NUMBERS[:5], 0]
    seed = zlib.crc32(board.fen().encode())
    us = 1 if board.turn else -1
    now = us * evaluation(counts_of(board.fen())) - 2 * TEMPO
    found = []
    for place, move in enumerate(board.legal_moves):
        victim = board.piece_at(move.to_square)
        gain = worth[values[victim.symbol().lower()]] if victim else 0
        if move.promotion:
            gain += worth[move.promotion - 1] - worth[0]
        kind = (move.promotion or board.piece_type_at(move.from_square)) - 1
        board.push(move)
        if board.is_checkmate():
            gain += 20000
        elif kind < 5 and board.is_attacked_by(board.turn, move.to_square):
            gain -= worth[kind]
        board.pop()
        found.append((gain, (seed ^ (place * 2654435761)) % 997, move.uci()))
    gain, _, move = max(found)
    return now + gain, move


if __name__ == "__main__":
    what, how = sys.argv[1], " ".join(sys.argv[2:])
    if how.startswith("late "):  # only once the numbers are others than those of the author
        how = "" if [int(number) for number in BUILT["AUTHOR"].split()] == NUMBERS else how[5:]
    {"play": play, "rows": rows, "evals": evals}[what](how)
