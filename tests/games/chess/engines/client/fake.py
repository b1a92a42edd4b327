"""A UCI engine with a known evaluation and options, which misbehaves on request: `fake.py HOW
[POSITION]`, at that position.

It needs no package, so that it starts quickly. Its evaluation is `Alpha` times the pawns, White's
minus Black's, plus `Beta` times the knights, plus 3; `Curve` squared counts in units of 1/100 for
each bishop, and `Alpha` times `Mix` / 100 for each rook."""

import os
import subprocess
import sys
import time

OPTIONS = {
    "Alpha": (100, 0, 400),
    "Beta Weight": (300, -500, 900),
    "Curve": (20, 0, 200),
    "Mix": (10, 0, 100),
}


def say(text: str) -> None:
    sys.stdout.write(text + "\n")


def count(board: str, piece: str) -> int:
    return board.count(piece.upper()) - board.count(piece)


def evaluation(board: str, values: dict[str, int]) -> float:
    return (
        values["Alpha"] * count(board, "p")
        + values["Beta Weight"] * count(board, "n")
        + 3
        + values["Curve"] ** 2 / 100 * count(board, "b")
        + values["Alpha"] * values["Mix"] / 100 * count(board, "r")
    )


def misbehave(how: str) -> bool:
    """Whether nothing is to be answered."""
    if how == "crash" and "FAKE_MENDED" not in os.environ:
        sys.stdout.flush()
        os._exit(3)
    if how == "silent":
        sys.stdout.flush()
        time.sleep(3600)
    if how == "flood":
        while True:
            say("info string chatter " * 100)
    if how == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if how == "orphan":
        child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
        with open(os.environ["FAKE_CHILDREN"], "a") as file:
            file.write(f"{child.pid}\n")
        os._exit(0)
    if how == "bare":
        say("bestmove e2e4")
    return how in ("skip", "bare")


def main(how: str, at: int) -> None:
    values, board, mover, searched = (
        {name: value for name, (value, *_) in OPTIONS.items()},
        "",
        1,
        0,
    )
    for line in sys.stdin:
        words = line.split() or [""]
        if words[0] == "uci":
            if how == "mute":
                time.sleep(3600)
            say("id name Fake 1")
            for name, (value, low, high) in OPTIONS.items():
                say(f"option name {name} type spin default {value} min {low} max {high}")
            say("option name Style type combo default Solid var Solid var Very Risky")
            say("option name OwnBook type check default true")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "setoption":
            name, _, value = line.strip().removeprefix("setoption name ").partition(" value ")
            if name in values:
                values[name] = int(value)
        elif words[0] == "position":
            board, mover = words[2], 1 if words[3] == "w" else -1
        elif words[0] == "go":
            searched += 1
            if searched == at and misbehave(how):
                sys.stdout.flush()
                continue
            score = evaluation(board, values)
            say("info depth 1 multipv 2 score cp 999 pv h2h4")
            say(f"info depth 1 multipv 1 score cp {mover * round(score)} pv e2e4 e7e5")
            say("info depth 2 score cp 888 lowerbound pv a2a3\ninfo string score cp 777")
            if how == "mate":
                say(f"info depth 3 score mate {-2 if mover < 0 else 3} pv e2e4")
            say("bestmove e2e4")
        elif words[0] == "quit":
            return
        sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "", int(sys.argv[2]) if len(sys.argv) > 2 else 0)
