"""A session of UCI: options, searches that go on until they are stopped, other evaluations, its
end."""

import re
import time

import chess
import numpy as np
import pytest

from games.chess.engines.uci import serve
from games.record import find
from games.search.context import CONSTANTS
from games.streams import InputError
from tests.games.chess.engines.uci.support import ONLY_MOVE, Small, Talk, board_of
from tests.support import refusal
from tuner.evaluation.loading import load_engine
from tuner.export.numbers import each_number, rounded


def test_uci_is_answered_without_making_a_search():
    class Unused(Small):
        """An evaluation of which no search is made."""

        def searcher(self, name):
            pytest.fail("made a search")

    talk = Talk(Unused())
    talk.say("uci", "setoption name Hash value 2", "debug on", "stop")
    talk.hear("uciok")
    options = [
        line.split(" type ")[0].removeprefix("option name ")
        for line in talk.heard
        if line.startswith("option")
    ]
    assert options == [
        "Hash",
        "Clear Hash",
        "Ponder",
        "MultiPV",
        "Move Overhead",
        "UCI_Chess960",
        "EvalFile",
    ]
    assert talk.leave() == []


@pytest.mark.parametrize("line", ["quit", None])
@pytest.mark.parametrize(
    "go", ["go depth 0", "go searchmoves e2e5", "go ponder", "go movetime 1000000", "go nodes 0"]
)
def test_a_go_just_before_the_end_is_answered_once(go, line):
    talk = Talk()
    talk.say(go)  # before any position: from the start of the game
    said = [text for text in talk.leave(line) if text.startswith("bestmove")]
    assert len(said) == 1 and chess.Move.from_uci(said[0].split()[1]) in chess.Board().legal_moves


@pytest.mark.parametrize("line", ["quit", None])
def test_quit_and_the_end_of_the_input_end_it_and_a_search_still_answers_once(line):
    talk = Talk()
    talk.ask()
    talk.say("go infinite")
    talk.hear("info depth 3")
    rest = talk.leave(line)
    assert [text.split()[0] for text in rest].count("bestmove") == 1 and rest[-1].startswith(
        "bestmove"
    )
    assert talk.searches == 1


def test_a_wrong_file_on_the_command_line_is_the_caller_s_error():
    class Missing(Small):
        """An evaluation whose file is missing."""

        def searcher(self, name):
            raise InputError("nowhere.yaml: no such file")

    assert "nowhere.yaml" in refusal(
        serve, Missing(), ["uci", "isready", "quit"], lambda line: None, "it", "nowhere.yaml"
    )


def test_a_table_too_large_for_memory_is_reported_whenever_it_is_requested():
    class Stiff:
        """A search whose table cannot grow."""

        def __init__(self, searcher) -> None:
            self._searcher = searcher

        def __getattr__(self, name: str):
            return getattr(self._searcher, name)

        def resize(self, megabytes: int) -> None:
            if megabytes > 16:
                raise MemoryError
            self._searcher.resize(1)

    class WithStiff(Small):
        """An evaluation with such searches."""

        def searcher(self, name):
            return Stiff(super().searcher(name))

    talk = Talk(WithStiff())
    talk.say("setoption name Hash value 17")
    assert talk.ask() == ["info string not enough memory for Hash 17; using 16"]
    assert talk.ask("setoption name Hash value 99") == ["info string not enough memory for Hash 99"]
    assert talk.ask("setoption name Hash value 9", "ucinewgame") == []
    talk.best("go depth 2")
    assert talk.leave() == []


def test_another_evaluation_gives_other_scores_and_a_wrong_one_leaves_the_old(talk):
    def score() -> str:
        talk.best("ucinewgame", "position startpos moves e2e4", "go depth 1")
        return talk.heard[0].split(" nodes")[0]

    classic = score()
    assert talk.ask("setoption name EvalFile value zero") == []
    assert score() == "info depth 1 score cp 0" != classic
    (said,) = talk.ask("setoption name EvalFile value nowhere.yaml")
    assert said.startswith("info string nowhere.yaml: no such file")
    assert score() == "info depth 1 score cp 0"
    assert talk.ask("setoption name evalfile value <empty>") == []
    assert score() == classic


POSITION = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4"
SPIN = re.compile(r"option name (\S+) type spin default (-?\d+) min (-?\d+) max (-?\d+)")


@pytest.fixture(scope="module")
def settable():
    talk = Talk(Small(settable=True))
    yield talk
    assert talk.leave() == []


def value(talk: Talk, *lines: str) -> float:
    talk.say(*lines, "eval")
    found = re.fullmatch(
        r"static evaluation (\S+) cp \(white side\)", talk.hear("static evaluation")
    )
    return float(found[1])


def test_every_weight_and_constant_of_the_search_is_an_option_by_its_name(settable):
    settable.say("uci")
    settable.hear("uciok")
    # behind Hash and MultiPV
    spins = [match.groups() for match in map(SPIN.fullmatch, settable.heard) if match][2:]
    r = rounded(load_engine("classic")[1])
    assert [(name, int(default)) for name, default, *_ in spins] == [
        *((name, r.weights[s, i]) for name, s, i in each_number(r)),
        *((constant.name, constant.value) for constant in CONSTANTS),
    ]
    assert all(int(low) <= int(default) <= int(high) for _, default, low, high in spins)


def test_a_weight_changes_the_evaluation_by_its_count_and_the_search_obeys(settable):
    engine, parameters = load_engine("classic")
    words = find("chess").position(POSITION)
    before = value(settable, f"position fen {POSITION}")
    assert before == pytest.approx(engine.evaluate(words[None], parameters)[0], abs=0.1)
    assert before == pytest.approx(engine.evaluate_many(words[None], parameters)[0], abs=1e-9)
    rows, labels = engine.coefficients(words[None]), engine.layout.labels()
    k = int(np.flatnonzero(rows.count > 0)[0])
    share, label = int(rows.phase[0]) / engine.phases, labels[rows.index[k]]
    old = parameters.weights[0, rows.index[k]]
    settable.best("go depth 3")
    score = settable.heard[0]
    assert settable.ask(f"setoption name {label}.mg value {round(old) + 300}") == []
    assert value(settable) - before == pytest.approx(
        rows.count[k] * share * (round(old) + 300 - old), abs=1e-9
    )
    settable.best("go depth 3")
    assert settable.heard[0].split(" nodes")[0] != score.split(" nodes")[0]
    assert settable.ask("setoption name EvalFile value classic") == []
    assert value(settable) == before


def test_wrong_values_and_names_are_one_line_and_change_nothing(settable):
    before = value(settable, "position startpos")
    for line, said in (
        ("material.knight.mg value 30000", "material.knight.mg 30000 is not from -20000 to 20000"),
        ("material.knight.mg value much", "material.knight.mg 'much' is not a whole number"),
        ("material.knight value 3", "unknown option 'material.knight'; expected Hash, "),
    ):
        (heard,) = settable.ask(f"setoption name {line}")
        assert heard.startswith(f"info string {said}")
    assert value(settable) == before


def test_without_the_flag_no_weight_is_an_option_and_eval_answers(talk):
    talk.say("uci")
    talk.hear("uciok")
    assert not any("material" in line for line in talk.heard)
    (said,) = talk.ask("setoption name material.knight.mg value 3")
    assert said.startswith(
        "info string unknown option 'material.knight.mg'; expected Hash, Clear Hash"
    )
    assert value(talk, "position startpos") == load_engine("classic")[1].weights[0, -1]  # the tempo


def test_infinite_goes_on_until_stop_and_is_answered_then(talk):
    talk.say("position startpos", "go infinite")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("stop")
    talk.hear("bestmove")
    assert talk.ask("stop") == []


def test_a_stop_that_comes_at_once_is_not_missed(talk):
    for _ in range(50):
        assert talk.best("position startpos moves d2d4", "go infinite", "stop")[0] != "(none)"
    assert talk.ask() == []


def test_without_any_limit_a_finished_search_waits_for_stop(talk):
    talk.say(f"position fen {ONLY_MOVE}", "go infinite depth 2")
    talk.hear("info depth 2")
    assert talk.ask() == []
    talk.say("stop")
    talk.hear("bestmove")


def test_pondering_goes_on_until_the_hit_and_then_by_the_clock(talk):
    talk.say("position startpos moves e2e4", "go ponder wtime 1000 btime 1000")
    time.sleep(0.1)  # longer than the clock would have allowed
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder movetime 50")
    assert not [line for line in talk.ask() if line.startswith("bestmove")]
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder depth 1")
    talk.hear("info depth 1")
    talk.say("ponderhit")
    talk.hear("bestmove")
    talk.say("go ponder")
    talk.say("stop")
    talk.hear("bestmove")


def test_on_the_clock_an_only_move_is_played_at_once(talk):
    talk.say(f"position fen {ONLY_MOVE}", "go wtime 36000000 btime 36000000")  # ten hours
    talk.hear("bestmove h1g2")


def test_while_searching_only_what_concerns_the_search_is_obeyed(talk):
    talk.say("position startpos moves e2e4 e7e5", "go infinite")
    orders = ("ucinewgame", "setoption name Hash value 1", "ponderhit", "uci", "debug on")
    said = [
        line for line in talk.ask(*orders) if not line.startswith(("info depth", "option", "id"))
    ]
    assert [line.split(";")[0] for line in said] == [
        "info string ucinewgame while searching",
        "info string setoption while searching",
        "info string ponderhit without go ponder",
        "uciok",
    ]
    talk.say("stop", "position startpos moves e2e4", "go depth 2")  # does not wait for the answer
    for board in (board_of("startpos moves e2e4 e7e5"), board_of("startpos moves e2e4")):
        assert chess.Move.from_uci(talk.hear("bestmove").split()[1]) in board.legal_moves


@pytest.mark.parametrize(
    "first",
    ["go infinite", "go ponder", "go ponder wtime 1000 btime 1000", "go", "go movetime 100000"],
)
def test_a_go_while_searching_ends_that_search_and_both_are_answered(talk, first):
    talk.say(
        "position startpos moves e2e4 e7e5", first, "position startpos moves e2e4", "go depth 2"
    )
    for board in (board_of("startpos moves e2e4 e7e5"), board_of("startpos moves e2e4")):
        assert chess.Move.from_uci(talk.hear("bestmove").split()[1]) in board.legal_moves
        if board.turn:
            assert "info string go while searching; the search before it is stopped" in talk.heard
    assert talk.ask() == []
