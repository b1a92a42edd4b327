"""An engine that prints rows of pawns, and misbehaves on request: `row_fake.py HOW [POSITION]`, at
that position (from 0).

It needs no package, so that it starts quickly. Its output is buffered unless it is `prompt`.
"""

import json
import os
import subprocess
import sys
import time


def row(fen: str) -> dict:
    board = fen.split()[0]
    pawns = board.count("P") - board.count("p")
    return {"fen": fen, "eval": 100 * pawns, "phase": 0, "counts": {"material.pawn": pawns}}


def misbehave(how: str, fen: str) -> str:
    """The answer in place of a row."""
    if how == "crash":
        sys.stdout.flush()
        print("eval.h:7: an index out of range", file=sys.stderr, flush=True)
        os._exit(3)
    if how == "half":
        sys.stdout.write(json.dumps(row(fen))[:30])
        sys.stdout.flush()
        os._exit(0)
    if how == "silent":
        sys.stdout.flush()
        time.sleep(3600)
    if how == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if how == "orphan":
        child = subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(3600)"])
        with open(os.environ["FAKE_CHILDREN"], "a") as file:
            file.write(f"{child.pid}\n")
        sys.stdout.flush()
        os._exit(0)
    return {
        "chatty": "info string hello",
        "name": json.dumps({**row(fen), "counts": {"material.pwan": 1}}),
        "other": json.dumps(row("4k3/8/8/8/8/8/8/4K3 w - - 0 1")),
        "missing": json.dumps({"fen": fen, "error": "in check"}),
        "array": "[1, 2]",
        "cut": '{"fen": "',
        "phase": json.dumps({**row(fen), "phase": -1}),
        "above": json.dumps({**row(fen), "phase": 99}),
        "twice": 2 * (json.dumps(row(fen)) + "\n"),
        "skip": "",
    }[how]


def main(how: str = "", at: str = "0") -> None:
    if how == "greeting":
        print("Fake 1 by nobody\n\nready")
    seen, wrong = set(), ""
    for number, line in enumerate(sys.stdin):
        fen = line.strip()
        wrong = fen if number == int(at) else wrong
        if how == "hash":  # a position that was seen before has no counts
            print(json.dumps({**row(fen), "counts": {}} if fen in seen else row(fen)))
            seen.add(fen)
        elif how not in ("", "greeting", "prompt", "every", "more") and fen == wrong:
            print(misbehave(how, fen))
        else:
            print(
                '{"error": "no rows today"}' if how == "every" else json.dumps(row(fen)),
                flush=how == "prompt",
            )
    if how == "more":
        print(json.dumps(row(fen)))


main(*sys.argv[1:])
