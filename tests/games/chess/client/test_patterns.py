"""Lines of engines: options of every type, and static evaluations of several programs and versions."""

from __future__ import annotations

import pytest

from games.chess.client.patterns import PATTERNS
from games.evaluators import EngineOption, chosen
from games.protocol.declared import compiled, option_of
from games.streams import InputError


@pytest.mark.parametrize(("line", "option"), [
    ("option name Hash type spin default 16 min 1 max 33554432", EngineOption("Hash", "spin", "16", 1, 33554432)),
    ("option name Piece Square Activity type spin default -5 min -10 max 400\r",
     EngineOption("Piece Square Activity", "spin", "-5", -10, 400)),
    ("option name Order type spin min 0 max 9 default 3", EngineOption("Order", "spin", "3", 0, 9)),
    ("option name Clear Hash type button", EngineOption("Clear Hash", "button")),
    ("option name Ponder type check default false", EngineOption("Ponder", "check", "false")),
    ("option name Style type combo default Very Risky var Solid var Very Risky",
     EngineOption("Style", "combo", "Very Risky", None, None, ("Solid", "Very Risky"))),
    ("option name Path type string default /usr/share/my books/", EngineOption("Path", "string", "/usr/share/my books/")),
    ("option name Empty type string default", EngineOption("Empty", "string")),
    ("option name Broken type spin default x min 0 max 9", None), ("option name Broken type spin default 3", None),
    ("option name Odd type float default 3", None), ("info string option name", None)])
def test_options_are_read_as_declared(line, option):
    assert option_of(line) == option


@pytest.mark.parametrize(("pattern", "answer", "number"), [
    ("stockfish", "NNUE evaluation        +0.19 (white side)\nFinal evaluation       +0.25 (white side) [hybrid]", "+0.25"),
    ("stockfish", "Final evaluation: -1.18 (white side)", "-1.18"), ("stockfish", "Total evaluation: 0.30 (white side)", "0.30"),
    ("stockfish", "Final evaluation: none (in check)", None),
    ("stockfish-classical", "Classical evaluation: 2.5 (white side)", "2.5"),
    ("stockfish-classical", "Classical evaluation   +0.02 (white side)", "+0.02"),
    ("tuner", "static evaluation -12.041666666666666 cp (white side)", "-12.041666666666666"),
    ("tuner", "static evaluation 1e-05 cp (white side)", "1e-05")])
def test_static_evaluations_of_several_programs_are_found(pattern, answer, number):
    found = compiled(PATTERNS[pattern]).findall(b"info string x\n" + answer.encode() + b"\n")
    assert found == ([] if number is None else [number.encode()])


def test_options_are_chosen_by_name_or_glob_in_the_engine_s_order():
    names = ["King Safety", "Pawns[0].mg", "Pawns[1].mg", "Passed Pawns"]
    assert chosen(names, ["*pawns*"]) == names[1:]
    assert chosen(names, ["passed pawns", "King Safety"]) == ["King Safety", "Passed Pawns"]
    assert chosen(names, ["Pawns[0].mg"]) == ["Pawns[0].mg"]  # a name before a glob
    with pytest.raises(InputError, match=r"'Mobility' names no option of the engine that is a number; it has King Safety, "):
        chosen(names, ["*", "Mobility"])
