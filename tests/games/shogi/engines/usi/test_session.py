"""Conversations with the USI engine; cshogi checks the moves."""

import re

import pytest

cshogi = pytest.importorskip("cshogi")

from games.protocol.server import Server  # noqa: E402
from games.shogi.engines.usi import USI  # noqa: E402
from games.shogi.engines.usi_go import Go, parse_go  # noqa: E402
from tests.games.shogi.engines.usi.support import evaluation, talk_to_engine  # noqa: E402

INFO = re.compile(
    r"info depth \d+ score (?:cp|mate) -?\d+ nodes \d+ nps \d+ hashfull \d+ time \d+ pv (?P<pv>.+)"
)


@pytest.fixture(scope="module")
def talk():
    talk = talk_to_engine()
    yield talk
    assert talk.leave() == []


def check_info(lines: list[str], sfen: str) -> None:
    """Every line of information is complete, and its variation legal."""
    found = [INFO.fullmatch(line) for line in lines if line.startswith("info depth")]
    assert found
    for match in found:
        board = cshogi.Board(sfen)
        for name in match["pv"].split():
            move = board.move_from_usi(name)
            assert board.is_legal(move)
            board.push(move)


def test_the_engine_introduces_itself(talk):
    talk.say("usi")
    talk.hear("usiok")
    assert talk.heard[0] == "id name it"
    assert "option name USI_Hash type spin default 16 min 1 max 65536" in talk.heard
    assert any(
        line.startswith("option name material.rook type spin default 950 ") for line in talk.heard
    )


def test_a_search_ends_with_a_legal_move_and_its_variation(talk):
    best = talk.best("usinewgame", "position startpos moves 7g7f 3c3d", "go depth 4")
    board = cshogi.Board()
    for name in ("7g7f", "3c3d", *best[:1]):
        assert board.push_usi(name)
    assert best[1] == "ponder"
    board = cshogi.Board()
    board.push_usi("7g7f")
    board.push_usi("3c3d")
    check_info(talk.heard, board.sfen())


def test_mates_are_counted_in_plies_and_lost_games_resigned(talk):
    assert talk.best("position sfen 4k4/9/4P4/9/9/9/9/9/4K4 b G 1", "go depth 3") == ["G*5b"]
    assert any(" score mate 1 " in line for line in talk.heard)
    assert talk.best("position sfen 4k4/4G4/4P4/9/9/9/9/9/4K4 w - 1", "go nodes 100") == ["resign"]
    assert talk.best(
        "position sfen 4K4/+R+B+P+P+P+P+P+P+P/+P8/9/9/9/9/9/4k4 b RB 1", "go byoyomi 100"
    ) == ["win"]


def test_clocks_byoyomi_ponder_and_stop(talk):
    assert talk.best("position startpos", "go btime 1000 wtime 1000 binc 0 winc 0")
    assert talk.best("go btime 0 wtime 0 byoyomi 200")
    talk.say("go ponder btime 1000 wtime 1000")
    found = talk.ask("setoption name USI_Hash value 4")
    assert [line for line in found if not line.startswith("info depth")] == [
        "info string setoption while searching; send stop first"
    ]
    assert talk.best("ponderhit")
    talk.say("go infinite")
    assert talk.best("stop")
    talk.say("go mate infinite")
    assert talk.hear("checkmate") == "checkmate notimplemented"
    talk.ask("gameover draw")


def test_weights_are_options_that_change_the_play(talk):
    talk.ask("position sfen 4k4/9/9/9/9/9/9/9/4K4 b R 1")
    talk.say("eval")
    assert talk.hear("static") == "static evaluation 1150.0 cp (black side)"
    talk.ask("setoption name hand.rook value 900")
    talk.say("eval")
    assert talk.hear("static") == "static evaluation 900.0 cp (black side)"
    talk.ask(
        "setoption name EvalFile value classic",
        "setoption name EvalFile value hand",
        "setoption name USI_Hash value 2",
        "setoption name NetworkDelay value 0",
        "setoption name USI_Ponder value true",
    )


@pytest.mark.parametrize(
    ("line", "answer"),
    [
        (
            "hello",
            (
                "unknown command 'hello'; expected usi, isready, setoption, usinewgame, position,"
                " go, eval, stop, ponderhit, gameover, quit"
            ),
        ),
        ("position startpos moves 7g7f 7g7f", "illegal move '7g7f' at ply 2"),
        ("position", "0 fields in '', expected board, side to move, hands and move number"),
        ("setoption", "setoption without a name; expected setoption name NAME [value VALUE]"),
        ("setoption name USI_Hash value 0", "USI_Hash 0 is not from 1 to 65536"),
        ("setoption name USI_Ponder value 7", "USI_Ponder '7' is neither true nor false"),
        (
            "setoption name Other value 7",
            (
                "unknown option 'Other'; expected USI_Hash, USI_Ponder, MultiPV, NetworkDelay,"
                " EvalFile or one of 38 numbers, such as material.pawn"
            ),
        ),
        ("setoption name EvalFile value x", "x: no such file"),
    ],
)
def test_a_wrong_line_is_answered_by_one_line_and_ignored(talk, line, answer):
    assert talk.ask(line) == [f"info string {answer}"]


def test_a_wrong_go_is_answered_by_a_move(talk):
    assert talk.best("position startpos", "go depth x")
    assert talk.heard[0] == "info string depth 'x' is not a whole number; ignored"
    assert parse_go(["depth", "3", "hello", "byoyomi"]) == (
        Go(depth=3),
        [
            (
                "go: unknown argument 'hello'; expected depth, nodes, movetime, btime, wtime,"
                " byoyomi, binc, winc, infinite, ponder or searchmoves"
            ),
            "byoyomi has no number; ignored",
        ],
    )


def test_of_searchmoves_alone_one_is_played(talk):
    board = cshogi.Board()
    for name in ("9g9f", "1i1h", "5i5h"):
        assert talk.best("position startpos", f"go depth 3 searchmoves {name}")[0] == name
        check_info(talk.heard, board.sfen())
    best = talk.best("position startpos", "go depth 3 searchmoves 9i9h 1g1f 9i9h")
    assert best[0] in ("9i9h", "1g1f")
    assert talk.best("go nodes 500 searchmoves 5i5h 5a5b")[0] == "5i5h"
    assert talk.heard[0] == "info string searchmoves: illegal move '5a5b'; ignored"


def test_a_network_delay_is_kept_of_byoyomi_unless_set_otherwise():
    server = Server(USI, evaluation(), lambda line: None, "it", "hand")
    line = USI.new_line()

    def seconds(text: str) -> float:
        return USI.task(text.split(), line, server.options)[0].limits.seconds

    assert seconds("byoyomi 1000") == pytest.approx(0.88)
    assert seconds("btime 0 byoyomi 10000") == pytest.approx(9.88)
    assert seconds("byoyomi 100") == pytest.approx(0.05)
    server.obey("setoption name NetworkDelay value 300")
    assert seconds("byoyomi 1000") == pytest.approx(0.7)


def test_byoyomi_is_time_for_each_move_besides_the_clock():
    assert Go(byoyomi=1000).limits(False, 0.0).seconds == pytest.approx(1.0)
    clock = Go(btime=60_000, wtime=60_000)
    both = Go(btime=60_000, wtime=60_000, byoyomi=1000)
    assert both.limits(True, 0.0).soft_seconds == pytest.approx(
        clock.limits(True, 0.0).soft_seconds + 0.5
    )
    assert Go(infinite=True, btime=1).limits(False, 0.0).seconds is None
