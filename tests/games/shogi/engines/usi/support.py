"""A conversation with the engine, line by line, and the engine as a program of its own."""

import sys

from games.record import find
from games.shogi.engines.usi import lines_of, serve
from tests.games.protocol.talk import Talk
from tests.games.shogi.support import loaded
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.served import ServedEvaluation

COMMAND = f"{sys.executable} -m tests.games.shogi.engines.usi.support"


def evaluation(settable: bool = True) -> ServedEvaluation:
    """The evaluation of a bundled file of parameters."""

    def load(name: str | None):
        if name not in (None, "hand", "classic"):
            raise ValueError(f"{name}: no such file")
        return WeightsEvaluation(*loaded(name or "hand"))

    return ServedEvaluation(lambda name: (find("shogi"), load(name).parameters), load, settable)


def talk_to_engine() -> Talk:
    """A conversation with the USI engine."""
    return Talk(serve, evaluation(), "hand")


if __name__ == "__main__":
    serve(
        evaluation(), lines_of(sys.stdin.buffer), lambda line: print(line, flush=True), "it", "hand"
    )
