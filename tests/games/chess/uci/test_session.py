"""From `uci` to `quit`, and the options."""

from __future__ import annotations

import chess
import pytest

from games.chess.uci import serve
from games.streams import InputError
from tests.games.chess.uci.support import Small, Talk


def test_uci_is_answered_without_making_a_search():
    class Unused(Small):
        """An evaluation of which no search is made."""

        def searcher(self, name):
            pytest.fail("made a search")

    talk = Talk(Unused())
    talk.say("uci", "setoption name Hash value 2", "debug on", "stop")
    talk.hear("uciok")
    options = [line.split(" type ")[0].removeprefix("option name ") for line in talk.heard if line.startswith("option")]
    assert options == ["Hash", "Clear Hash", "Ponder", "Move Overhead", "UCI_Chess960", "EvalFile"]
    assert talk.leave() == []


@pytest.mark.parametrize("line", ["quit", None])
@pytest.mark.parametrize("go", ["go depth 0", "go searchmoves e2e5", "go ponder", "go movetime 1000000", "go nodes 0"])
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
    assert [text.split()[0] for text in rest].count("bestmove") == 1 and rest[-1].startswith("bestmove")
    assert talk.searches == 1


def test_a_wrong_file_on_the_command_line_is_the_caller_s_error():
    class Missing(Small):
        """An evaluation whose file is missing."""

        def searcher(self, name):
            raise InputError("nowhere.yaml: no such file")

    with pytest.raises(InputError, match="nowhere.yaml"):
        serve(Missing(), ["uci", "isready", "quit"], lambda line: None, "it", "nowhere.yaml")


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
