"""USI engines as sources of evaluations: our own, whose evaluations are known, and
fairy-stockfish."""

import numpy as np
import pytest

from games.record import SearchLimits
from games.search.searcher import Limits
from games.shogi.engines.contest import PATTERNS, evaluator
from games.shogi.game import GAME
from games.streams import InputError
from tests.commands.support import tuner
from tests.games.shogi.engines.usi.support import COMMAND
from tests.games.shogi.support import loaded, searcher_of
from tests.games.shogi.test_players import FAIRY, needs_fairy
from tuner.learn.teacher import game_evaluated_by

START, DROP = "startpos", "4k4/9/9/9/9/9/9/9/4K4 w R2p 1"
MATE, MATED = "4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1"


def positions(*texts: str) -> np.ndarray:
    return np.array([GAME.position(text) for text in texts])


def test_evaluations_and_searches_are_those_of_the_engine_from_the_first_player_s_view():
    engine, parameters = loaded("hand")
    client = evaluator(COMMAND, {"USI_Hash": 1})
    try:
        asked = client.asked(positions(START, DROP, MATE, MATED))
        assert asked.second.tolist() == [False, True, False, True] and asked.checked.tolist() == [
            False,
            False,
            False,
            True,
        ]
        found = client.evaluations(asked)
        assert found[:3].tolist() == [0.0, 1150.0 - 220.0, 760.0] and np.isnan(found[3])
        client.set({"hand.rook": 900})
        assert client.evaluations(asked)[1] == 900.0 - 220.0
        client.restart()
        quiet, drop, mate, mated = client.searches(asked, SearchLimits(depth=1))
        assert drop.score == 680.0 and drop.mate is None
        assert (mate.score, mate.mate, mate.pv) == (np.inf, 1, ("G*5b",)) and (
            mated.score,
            mated.mate,
        ) == (np.inf, 0)
        searched = searcher_of("hand", playing=True).search([GAME.start()], Limits(depth=1))
        assert quiet.score == round(searched.value) and quiet.pv[0] in map(
            str, _names(GAME.start())
        )
    finally:
        client.close()


def _names(words: np.ndarray) -> list[str]:
    return [GAME.move_name(words, move) for move in GAME.legal_moves(words)]


def test_plies_to_a_mate_are_told_in_moves():
    client = evaluator(COMMAND, {})
    try:
        two = "8k/9/7+P1/9/9/9/9/9/4K4 b G 1"
        plies = searcher_of("hand", playing=False).search(positions(two), Limits(depth=5)).win_in
        (found,) = client.searches(client.asked(positions(two)), SearchLimits(depth=5))
        assert plies is not None and plies % 2 == 1 and found.mate == (plies + 1) // 2
    finally:
        client.close()


@needs_fairy
def test_fairy_stockfish_evaluates_turned_positions_alike():
    first, turned = "4k4/9/9/9/4P4/9/9/9/4K4 b RB 1", "4k4/9/9/9/4p4/9/9/9/4K4 w rb 1"
    client = evaluator(FAIRY, {"Contempt": 0})
    try:
        one, other = client.evaluations(client.asked(positions(first, turned)))
        assert one > 1000 and other == pytest.approx(
            -one, rel=0.1
        )  # its tables are not those of a turned board
        assert client.asked(positions(first)).variant is False and set(PATTERNS) == {
            "tuner",
            "fairy-stockfish",
        }
    finally:
        client.close()


@needs_fairy
def test_shogi_is_probed_and_judged_by_usi_engines(tmp_path):
    games = tmp_path / "some.sfen"
    games.write_text(
        "".join(f"startpos moves 7g7f 3c3d {move}\n" for move in ("2g2f", "6g6f", "8h2b+", "1g1f"))
    )
    ran = tuner(
        *("network", "hand", str(games), "-o", str(tmp_path / "net.yaml")),
        *("--teacher", f"uci:{FAIRY}", "--nodes", "10"),
    )
    assert ran.status == 2
    assert (
        game_evaluated_by(f"usi:{FAIRY}") == "shogi"
        and game_evaluated_by("uci:stockfish") == "chess"
    )


@pytest.mark.parametrize(
    ("command", "fault"),
    [
        (
            "no-such-program",
            "no-such-program: no such program, expected the command of a usi engine",
        ),
        ("true", "true: exited with status 0; is it a usi engine?"),
    ],
)
def test_what_does_not_start_is_refused_in_one_line(command, fault):
    with pytest.raises(InputError) as problem:
        evaluator(command, {})
    assert str(problem.value) == fault
