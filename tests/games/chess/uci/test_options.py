"""Weights as options, and `eval`: the static evaluation by the weights that are set."""

from __future__ import annotations

import re

import numpy as np
import pytest

from games.record import find
from tests.games.chess.uci.support import Small, Talk
from tuner.engine.loading import load_engine
from tuner.export.numbers import each_number, rounded

POSITION = "r1bqkb1r/pppp1ppp/2n2n2/4p3/2B1P3/5N2/PPPP1PPP/RNBQ1RK1 b kq - 5 4"
SPIN = re.compile(r"option name (\S+) type spin default (-?\d+) min (-?\d+) max (-?\d+)")


@pytest.fixture(scope="module")
def settable():
    talk = Talk(Small(settable=True))
    yield talk
    assert talk.leave() == []


def value(talk: Talk, *lines: str) -> float:
    talk.say(*lines, "eval")
    found = re.fullmatch(r"static evaluation (\S+) cp \(white side\)", talk.hear("static evaluation"))
    return float(found[1])


def test_every_weight_is_an_option_by_the_names_of_the_export(settable):
    settable.say("uci")
    settable.hear("uciok")
    spins = [match.groups() for match in map(SPIN.fullmatch, settable.heard) if match][1:]  # behind Hash
    r = rounded(load_engine("classic")[1])
    assert [(name, int(default)) for name, default, *_ in spins] == [(name, r.weights[s, i]) for name, s, i in each_number(r)]
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
    assert value(settable) - before == pytest.approx(rows.count[k] * share * (round(old) + 300 - old), abs=1e-9)
    settable.best("go depth 3")
    assert settable.heard[0].split(" nodes")[0] != score.split(" nodes")[0]
    assert settable.ask("setoption name EvalFile value classic") == []
    assert value(settable) == before


def test_wrong_values_and_names_are_one_line_and_change_nothing(settable):
    before = value(settable, "position startpos")
    for line, said in (("material.knight.mg value 30000", "material.knight.mg 30000 is not from -20000 to 20000"),
                       ("material.knight.mg value much", "material.knight.mg 'much' is not a whole number"),
                       ("material.knight value 3", "unknown option 'material.knight'; expected Hash, ")):
        (heard,) = settable.ask(f"setoption name {line}")
        assert heard.startswith(f"info string {said}")
    assert value(settable) == before


def test_without_the_flag_no_weight_is_an_option_and_eval_answers(talk):
    talk.say("uci")
    talk.hear("uciok")
    assert not any("material" in line for line in talk.heard)
    (said,) = talk.ask("setoption name material.knight.mg value 3")
    assert said.startswith("info string unknown option 'material.knight.mg'; expected Hash, Clear Hash")
    assert value(talk, "position startpos") == load_engine("classic")[1].weights[0, -1]  # the tempo
