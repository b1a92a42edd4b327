"""External engines as players: our own over USI, fairy-stockfish, and programs that do something
else."""

import shutil
import sys

import numpy as np
import pytest

from examples.sample_games import shogi as make_games
from games.protocol import player as playing
from games.protocol.player import EnginePlayer
from games.record import CRASH, ILLEGAL, RESIGNS, STALL, Control, Forfeit, Left, find
from games.shogi.engines import contest as players
from games.shogi.files import sfen
from games.shogi.game import GAME
from tests.commands.support import done, refused
from tests.games.shogi.engines.usi.support import COMMAND
from tests.support import file_with, refusal
from tuner.options.games import USUAL_DRAW, USUAL_RESIGN
from tuner.play.own_games.settings import default_rules

FAIRY = shutil.which("fairy-stockfish")
needs_fairy = pytest.mark.skipif(
    FAIRY is None, reason="no fairy-stockfish; install the Debian package fairy-stockfish"
)


def play(player: EnginePlayer, plies: int) -> list[np.ndarray]:
    """Let a player play both sides."""
    line, moves = [GAME.start()], []
    player.begin("1/1/1/0", GAME.start())
    for _ in range(plies):
        if GAME.result(line) is not None:
            break
        choice = player.choose(np.array(line), moves, None)
        assert choice.move in GAME.legal_moves(line[-1])
        assert choice.depth > 0
        moves.append(choice.move)
        line.append(GAME.play(line[-1], choice.move))
    return line


def test_our_engine_plays_through_the_protocol():
    player = players.external("usi", COMMAND, {}, Control(nodes=2000), 4)
    try:
        assert len(play(player, 8)) == 9
    finally:
        player.close()


@needs_fairy
@pytest.mark.parametrize(
    "control",
    [
        Control(depth=3),
        Control(nodes=500),
        pytest.param(Control(movetime=0.3), marks=pytest.mark.long),
    ],
    ids=lambda c: c.text,
)
def test_fairy_stockfish_plays(control):
    player = players.external("usi", FAIRY, {}, control, 16)
    try:
        assert len(play(player, 8)) == 9
        if control.depth:
            mate = sfen.position("4k4/9/4P4/9/9/9/9/9/4K4 b G 1")
            player.begin("1/1/1/0", mate)
            assert player.choose(mate[None], [], None).win_in == 1
    finally:
        player.close()


@needs_fairy
def test_clocks_are_sent_for_both_sides():
    player = players.external(
        "usi", FAIRY, {"Skill Level": "0"}, Control(base=2.0, increment=0.1), None
    )
    try:
        player.begin("1/1/1/0", GAME.start())
        assert player.choose(np.array([GAME.start()]), [], Left(0.3, 2.0)).move in GAME.legal_moves(
            GAME.start()
        )
    finally:
        player.close()


@pytest.mark.parametrize(
    ("control", "left", "said"),
    [
        (Control(base=2.0, increment=0.1), (0.3, 2.0), "btime 300 wtime 2000 binc 100 winc 100"),
        (Control(base=2.0, byoyomi=1.5), (0.0, 2.0), "btime 0 wtime 2000 byoyomi 1500"),
        (Control(movetime=0.5), None, "btime 0 wtime 0 byoyomi 500"),
    ],
)
def test_what_an_engine_is_told_of_the_clock(control, left, said, tmp_path):
    (tmp_path / "engine.py").write_text(
        ENGINE.format(answer="open('said', 'w').write(line); print('bestmove 7g7f', flush=True)")
    )
    command = f"sh -c 'cd {tmp_path} && exec {sys.executable} engine.py'"
    player = players.external("usi", command, {}, control, None)
    try:
        player.begin("1/1/1/0", GAME.start())
        player.choose(np.array([GAME.start()]), [], left and Left(*left))
    finally:
        player.close()
    assert (tmp_path / "said").read_text() == f"go {said}\n"


ENGINE = """import sys
for line in sys.stdin:
    if line == "usi\\n": print("usiok", flush=True)
    if line == "isready\\n": print("readyok", flush=True)
    if line.startswith("go"):
        {answer}
"""


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        ("print('bestmove 7g7e', flush=True)", ILLEGAL, "7g7e"),
        ("print('bestmove win', flush=True)", ILLEGAL, "win"),
        ("print('bestmove', flush=True)", ILLEGAL, "no move"),
        ("print('bestmove resign', flush=True)", RESIGNS, ""),
        ("sys.exit(3)", CRASH, "exited with status 3"),
        ("pass", STALL, "no move within 0.1 s"),
    ],
)
def test_an_engine_that_plays_wrongly_forfeits(answer, kind, detail, tmp_path, monkeypatch):
    if kind == STALL:
        monkeypatch.setattr(playing, "STALL_SECONDS", 0.1)
    script = file_with(tmp_path / "engine.py", ENGINE.replace("{answer}", answer))
    player = players.external("usi", f"{sys.executable} {script}", {}, Control(nodes=1), None)
    player.begin("1/1/1/0", GAME.start())
    with pytest.raises(Forfeit) as forfeit:
        player.choose(np.array([GAME.start()]), [], None)
    assert (forfeit.value.kind, forfeit.value.detail) == (kind, detail)
    player.close()


@pytest.mark.parametrize(
    ("protocol", "command", "options", "fault"),
    [
        ("uci", "x", {}, "uci:x: shogi has no protocol 'uci', expected usi"),
        (
            "usi",
            "no-such-program",
            {},
            "no-such-program: no such program, expected the command of a usi engine",
        ),
        ("usi", "true", {}, "true: exited with status 0; is it a usi engine?"),
    ],
)
def test_what_does_not_start_is_refused_in_one_line(protocol, command, options, fault):
    assert refusal(players.external, protocol, command, options, Control(nodes=1), None) == fault


@needs_fairy
def test_an_unknown_option_is_refused():
    assert "has no option 'Other'" in refusal(
        players.external, "usi", FAIRY, {"Other": "1"}, Control(nodes=1), None
    )


@pytest.mark.long
@needs_fairy
def test_sample_games_depend_on_their_number_alone():
    one, other = (make_games.play_share((FAIRY, 3, numbers)) for numbers in (range(2), range(1, 2)))
    assert one[1:] == other
    assert one[0] != one[1]
    assert all("\n%" in text and "\n'** " not in text for _, text in one)


@needs_fairy
def test_an_engine_without_its_protocol_speaks_usi_in_shogi(tmp_path):
    """As `tuner match shogi/hand fairy-stockfish` names it."""
    ran = done(
        "match",
        "shogi/hand",
        FAIRY,
        "--nodes",
        50,
        "--games",
        2,
        "--plies",
        20,
        "--random-plies",
        2,
    )
    assert "Results of hand vs Fairy-Stockfish" in ran.out
    assert f'uci:{FAIRY}: shogi has no uci engines; expected "usi:COMMAND"' in refused(
        "match", "shogi/hand", f"uci:{FAIRY}", "--games", 2
    )


def test_scores_that_decide_games_of_shogi_are_those_of_its_scale():
    """As in chess, whose scale is 0.00255: the same value of a position, and no draws by scores."""
    resign, draw = default_rules(find("chess"))
    assert (resign, draw) == (USUAL_RESIGN, USUAL_DRAW)
    assert default_rules(GAME) == ((resign[0], "score=3000", resign[2]), None)
    assert np.tanh(0.0005 * 3000) == pytest.approx(np.tanh(0.00255 * 600), abs=0.01)
