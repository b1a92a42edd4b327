"""External engines: valid moves are played, faults lose the game, and the next game starts
afresh."""

import itertools
import os
import re
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from games import process as processes
from games.chess.engines.players import external
from games.chess.engines.xboard import option_of
from games.protocol import client
from games.protocol import player as players
from games.record import (
    CLAIM,
    CRASH,
    ILLEGAL,
    PLIES,
    RESIGNS,
    STALL,
    TIME,
    Choice,
    Control,
    Forfeit,
    Left,
    find,
)
from games.streams import InputError
from tests.games.chess.engines.client.support import installed
from tests.support import file_with, refusal
from tuner.play.game import Course, play_out
from tuner.play.openings import Opening
from tuner.play.rules import by_length, by_rules

GAME = find("chess")
FAKE = f"{sys.executable} {Path(__file__).with_name('fake_engine.py')}"
DEPTH = Control(depth=2)
CLOCK = Control(base=1.0, increment=0.1)


@pytest.fixture
def engine(monkeypatch):
    """A function that starts a fake engine, ended after the test."""
    started = []
    # Python and python-chess, on a busy machine
    monkeypatch.setattr(client, "START_SECONDS", 60.0)

    def start(
        how: str,
        ply: int = 1,
        protocol: str = "uci",
        control: Control = DEPTH,
        options: dict | None = None,
    ):
        started.append(
            external(protocol, f"{FAKE} {protocol} {how} {ply}", options or {}, control, None)
        )
        return started[-1]

    yield start
    for player in started:
        player.close()


def play(player, plies: int = 6, left=None) -> list[str]:
    """Let it play against itself; the names of its moves."""
    line, moves, names = [GAME.start()], [], []
    player.begin("1", line[0])
    for _ in range(plies):
        choice = player.choose(np.array(line), moves, left)
        names.append(GAME.move_name(line[-1], choice.move))
        moves.append(choice.move)
        line.append(GAME.play(line[-1], choice.move))
    return names


@pytest.mark.parametrize("protocol", ["uci", "xboard"])
def test_an_engine_plays_and_tells_what_it_thinks(engine, protocol):
    player = engine("fine", protocol=protocol)
    assert len(play(player)) == 6
    player.begin("2", GAME.start())
    choice = player.choose(GAME.start()[None], [], None)
    assert (choice.score, choice.win_in, choice.depth) == (-12.0, None, 3)


@pytest.mark.parametrize(
    "text",
    [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 3 9",
        "8/5k2/8/8/3P4/8/2K5/7r w - - 0 1",
    ],
)
def test_an_engine_without_setboard_is_given_positions_by_edit(engine, text):
    player, start = engine("edit", protocol="xboard"), GAME.position(text)
    player.begin("1", start)
    choice = player.choose(start[None], [], None)
    assert choice.move in GAME.legal_moves(start)


@pytest.mark.parametrize(
    "text", ["r3k2r/8/8/8/8/8/8/R3K2R w Qk - 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1"]
)
def test_what_edit_cannot_say_is_one_line(engine, text):
    player = engine("edit", protocol="xboard")
    assert re.search(
        "has no `setboard`, and cannot be given .*; choose openings that are games",
        refusal(player.require, GAME.position(text)[None], 3),
    )


@pytest.mark.parametrize(
    "text", [None, "r3k2r/p6p/8/8/8/8/P6P/R3K2R b KQkq - 3 9", "8/5k2/8/8/3P4/8/2K5/7r w - - 0 1"]
)
def test_fairy_max_plays_from_positions(text):
    player = external("xboard", installed("fairymax"), {}, Control(movetime=0.05), None)
    try:
        line, moves = [GAME.start() if text is None else GAME.position(text)], []
        player.begin("1", line[0])
        for _ in range(8):
            moves.append(player.choose(np.array(line), moves, None).move)
            assert moves[-1] in GAME.legal_moves(line[-1])
            line.append(GAME.play(line[-1], moves[-1]))
    finally:
        player.close()


@pytest.mark.parametrize(
    ("how", "kind", "detail"),
    [
        ("crash", CRASH, ""),
        ("illegal", ILLEGAL, "e2e5"),
        ("nonsense", ILLEGAL, "castle"),
        ("none", ILLEGAL, "(none)"),
        ("null", ILLEGAL, "0000"),
        ("nowhere", ILLEGAL, "a1a1"),
        ("empty", ILLEGAL, "no move"),
    ],
)
def test_a_fault_forfeits_and_the_engine_is_started_again(engine, how, kind, detail):
    player = engine(how, ply=3)
    for _ in range(2):
        with pytest.raises(Forfeit) as fault:
            play(player)
        assert fault.value.kind == kind and detail in fault.value.detail
    assert len(play(player, plies=2)) == 2


def test_garbage_between_the_lines_is_passed_over(engine):
    assert len(play(engine("garbage"))) == 6


def test_no_answer_is_a_stall_soon_after_the_limit(engine, monkeypatch):
    monkeypatch.setattr(players, "EXTRA_SECONDS", 0.3)
    monkeypatch.setattr(players, "STALL_SECONDS", 0.3)
    for control, left in (
        (Control(movetime=0.01), None),
        (DEPTH, None),
        (Control(base=1.0), Left(0.05, 1.0)),
    ):
        with pytest.raises(Forfeit) as fault:
            play(engine("hang", control=control), left=left)
        assert fault.value.kind == STALL


def test_an_xboard_engine_may_resign_and_lose_by_an_illegal_move(engine):
    for how, kind in (("resign", RESIGNS), ("illegal", ILLEGAL), ("crash", CRASH)):
        with pytest.raises(Forfeit) as fault:
            play(engine(how, ply=2, protocol="xboard"))
        assert fault.value.kind == kind


def test_clocks_are_those_of_the_side_to_move(engine, monkeypatch):
    player = engine("fine", control=Control(base=10.0, increment=0.1))
    sent = []
    say = player._engine._process.say
    monkeypatch.setattr(player._engine._process, "say", lambda text: (sent.append(text), say(text)))
    play(player, 2, left=Left(9.0, 7.0))
    assert [text for text in sent if b"go" in text.split()] == [
        b"position startpos\ngo wtime 9000 btime 7000 winc 100 binc 100\n",
        b"position startpos moves %b\ngo wtime 7000 btime 9000 winc 100 binc 100\n"
        % sent[-1].split()[3],
    ]


def test_chess960_castling_goes_both_ways(engine):
    player = engine("fine")
    start = GAME.position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1")
    player.begin("1", start)
    castled = GAME.move_named(start, "e1g1")
    choice = player.choose(np.array([start, GAME.play(start, castled)]), [castled], None)
    assert choice.move


def test_options_are_set_and_wrong_ones_are_errors(engine):
    assert play(engine("fine", options={"Hash": "8", "Style": "Risky"}), 1)
    for options, said in (
        ({"Hash": "100"}, "is 100, expected 1 to 64"),
        ({"Nothing": "1"}, "has no option 'Nothing'"),
        ({"Style": "Wild"}, "expected Solid, Risky"),
        ({"Hash": "x"}, "expected a whole number"),
    ):
        assert said in refusal(engine, "fine", options=options)


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("no-such-program-here", "no such program"),
        ("", "no such program"),
        ("'open", "not a command"),
        ("/bin/false", "is it a uci engine"),
        (
            f"{FAKE} uci mute",
            "no `uciok` within 0.3 s; is it a uci engine? If it answers in a terminal",
        ),
    ],
)
def test_what_cannot_play_is_an_error_of_one_line(command, said, monkeypatch):
    monkeypatch.setattr(client, "START_SECONDS", 0.3 if "mute" in command else 60.0)
    assert said in refusal(external, "uci", command, {}, DEPTH, None)


@pytest.mark.parametrize(
    ("how", "detail"),
    [
        ("endless", "a line of more than 1,048,576 bytes"),
        ("closed", "closed its output"),
        ("orphan", "exited with status 0"),
    ],
)
@pytest.mark.parametrize("protocol", ["uci", "xboard"])
def test_an_engine_that_can_answer_no_more_loses_at_once(engine, children, protocol, how, detail):
    player = engine(how, ply=2, protocol=protocol)
    before = memory()
    for _ in range(2):
        with pytest.raises(Forfeit) as fault:
            play(player)
        assert (fault.value.kind, fault.value.detail) == (CRASH, detail)
    assert memory() - before < 50_000
    assert all(ended(child) for child in children())


@pytest.mark.long
@pytest.mark.parametrize("how", ["flood", "newlines"])
def test_lines_without_end_are_a_stall_that_costs_no_memory(engine, monkeypatch, how):
    monkeypatch.setattr(players, "STALL_SECONDS", 1.0)
    before = memory()
    with pytest.raises(Forfeit) as fault:
        play(engine(how, ply=2))
    assert fault.value.kind == STALL and memory() - before < 50_000


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("endless", "a line of more than 1,048,576 bytes; is it a uci engine?"),
        ("flood", "more than 33,554,432 bytes without `uciok`"),
        ("closed", "closed its output"),
        ("orphan", "exited with status 0; is it a uci engine?"),
    ],
)
def test_an_engine_that_starts_so_is_an_error_of_one_line(engine, children, how, said):
    assert said in refusal(external, "uci", f"{FAKE} uci 'start {how}'", {}, DEPTH, None)
    assert all(ended(child) for child in children())


def test_the_standard_error_of_an_engine_is_discarded(engine):
    assert len(play(engine("errors"), 2)) == 2


@pytest.mark.parametrize("how", ["parent", "deaf"])
def test_an_engine_and_its_children_end_when_it_is_closed(engine, children, monkeypatch, how):
    monkeypatch.setattr(processes, "QUIT_SECONDS", 0.5)
    player = engine(how)
    play(player, 3)
    process = player._engine._process._process.pid
    assert len(children()) == (3 if how == "parent" else 0)
    player.close()
    assert ended(process) and all(ended(child) for child in children())


@pytest.fixture
def children(tmp_path, monkeypatch):
    """A function that gives the process numbers of what fake engines have started."""
    path = tmp_path / "children"
    path.touch()
    monkeypatch.setenv("FAKE_CHILDREN", str(path))
    return lambda: [int(line) for line in path.read_text().splitlines()]


def memory() -> int:
    """The most memory that this process ever had, in kB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def ended(process: int) -> bool:
    """Whether a process is gone, or nothing but the number that its parent has not asked for."""
    for _ in range(500):
        try:
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def test_no_process_is_left_behind(engine, monkeypatch):
    monkeypatch.setattr(players, "STALL_SECONDS", 0.2)
    player = engine("hang", ply=2)
    process = player._engine._process._process.pid
    assert refusal(play, player, error=Forfeit)
    assert ended(process)


def script(tmp_path, body: str, options: str = "") -> str:
    """The command of a UCI engine that plays the first legal move; `body` runs before each answer
    to the line whose words are `w`."""
    path = file_with(
        tmp_path / "engine.py",
        "import sys, time, chess\n"
        "def say(text): print(text, flush=True)\n"
        "for line in sys.stdin:\n"
        "    w = line.split()\n"
        "    with open(sys.argv[1], 'a') as log: log.write(line)\n"
        f"    {body}\n"
        f"    if w[0] == 'uci': say('id name Script\\n{options}uciok')\n"
        "    if w[0] == 'isready': say('readyok')\n"
        "    if w[0] == 'position':\n"
        "        cut = w.index('moves') if 'moves' in w else len(w)\n"
        "        board = chess.Board() if w[1] == 'startpos' else chess.Board(' '.join(w[2:cut]))\n"
        "        for move in w[cut + 1:]: board.push_uci(move)\n"
        "    if w[0] == 'go': say(f'bestmove {next(iter(board.legal_moves))}')\n"
        "    if w[0] == 'quit': break\n",
    )
    return f"{sys.executable} {path} {tmp_path / 'log'}"


@pytest.mark.parametrize(
    ("said", "thought"),
    [
        ("depth 8 score cp 20 pv e2e4\\ninfo depth 9 score cp -900 upperbound", (20.0, None, 8)),
        ("depth 8 score cp 20\\ninfo depth 9 score cp 900 nodes 5 lowerbound", (20.0, None, 8)),
        ("depth 5 multipv 1 score cp 10\\ninfo depth 5 multipv 2 score cp -900", (10.0, None, 5)),
        ("depth 5 score cp 10\\ninfo depth 11 currmove e2e4 currmovenumber 3", (10.0, None, 5)),
        ("depth 7 score mate -2\\ninfo string score cp 5", (None, -4, 7)),
        ("depth 9 score cp 900 lowerbound", (None, None, 0)),
    ],
)
def test_only_exact_scores_of_the_best_line_count(tmp_path, said, thought):
    body = f"if w[0] == 'go': say('info {said}')"
    player = external("uci", script(tmp_path, body), {}, DEPTH, None)
    try:
        player.begin("1", GAME.start())
        assert player.choose(GAME.start()[None], [], None)[1:] == thought
    finally:
        player.close()


def test_a_new_game_is_announced_and_awaited_before_the_clock_runs(tmp_path):
    clock = Control(base=4.0, increment=0.1)
    body = "if w[0] == 'ucinewgame': time.sleep(4.2)"
    players_ = [external("uci", script(tmp_path, body), {}, clock, None) for _ in range(2)]
    try:
        course = Course(GAME, Opening(GAME.start()))
        limited = [by_rules, by_length(6)]
        ending = play_out(course, players_, limited, lambda: False, ["1", "2"], [clock, clock])
    finally:
        for each in players_:
            each.close()
    assert ending.end == PLIES
    log = (tmp_path / "log").read_text().split("\n")
    assert log.count("ucinewgame") == 2 and log[log.index("ucinewgame") + 1] == "isready"


@pytest.mark.parametrize(
    ("line", "noted"),
    [
        ("option name Foo", True),
        ("option name Foo type spin default 5", True),
        ("option name Foo type string empty", False),
        ("option name Foo type spin default 99 min 0 max 5", False),
        ("option name Foo type combo default solid var Solid var Risky", False),
        ("option name max depth type spin default 1 min 0 max 9", False),
    ],
)
def test_a_malformed_option_is_ignored_with_a_note(tmp_path, caplog, line, noted):
    player = external("uci", script(tmp_path, "pass", f"{line}\\n"), {}, DEPTH, None)
    player.close()
    assert player.name == "Script"
    assert ("declares no valid option" in caplog.text) == noted


def test_options_take_true_and_false_and_choices_in_any_case(tmp_path):
    declared = (
        "option name UCI_LimitStrength type check default false\\n"
        "option name Style type combo default Solid var Solid var Risky\\n"
    )
    options = {"uci_limitstrength": "False", "Style": "risky"}
    external("uci", script(tmp_path, "pass", declared), options, DEPTH, None).close()
    log = (tmp_path / "log").read_text()
    assert "setoption name UCI_LimitStrength value false\n" in log
    assert "setoption name Style value Risky\n" in log
    for value in ("0", "off", "no"):
        with pytest.raises(InputError, match=f"is '{value}', expected true or false"):
            command = script(tmp_path, "pass", declared)
            external("uci", command, {"UCI_LimitStrength": value}, DEPTH, None)


def test_chess960_is_set_for_its_games_alone_and_refused_without_the_option(tmp_path):
    start = GAME.position("1r2k1r1/8/8/8/8/8/8/1R2K1R1 w GBgb - 0 1")
    assert "no option UCI_Chess960, and some positions are of" in refusal(
        external("uci", script(tmp_path, "pass"), {}, DEPTH, None).require, [start], 3
    )
    declared = "option name UCI_Chess960 type check default false\\n"
    player = external("uci", script(tmp_path, "pass", declared), {}, DEPTH, None)
    for each in (start, GAME.start()):
        player.begin("1", each)
    player.close()
    lines = (tmp_path / "log").read_text().splitlines()
    assert [line for line in lines if line.startswith("setoption")] == [
        "setoption name UCI_Chess960 value true",
        "setoption name UCI_Chess960 value false",
    ]


def test_an_engine_that_takes_long_to_get_ready_is_told_from_one_that_is_none(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(client, "READY_SECONDS", 0.3)
    command = script(tmp_path, "if w[0] == 'isready': time.sleep(60)")
    assert "no `readyok` within 0.3 s of uciok; a smaller --hash" in refusal(
        external, "uci", command, {}, DEPTH, None
    )


def test_a_path_with_blanks_needs_no_quotes(tmp_path):
    folder = tmp_path / "my engines"
    folder.mkdir()
    program = file_with(folder / "an engine", f"#!/bin/sh\nexec {FAKE} uci fine\n")
    program.chmod(0o755)
    assert play(external("uci", f"{program} with words", {}, DEPTH, None), 2)


@pytest.mark.parametrize(
    ("answer", "kind", "detail"),
    [
        ("1/2-1/2 {Draw by repetition}", CLAIM, "1/2-1/2 {Draw by repetition}"),
        ("1-0 {White mates}", CLAIM, "1-0 {White mates}"),
        ("0-1 {White resigns}", RESIGNS, ""),
        ("resign", RESIGNS, ""),
        ("Error (unknown command): go", ILLEGAL, "says 'Error (unknown command): go'"),
        ("move a1a1", ILLEGAL, "a1a1"),
    ],
)
def test_xboard_engines_may_claim_and_resign(tmp_path, answer, kind, detail):
    player = external("xboard", xboard_script(tmp_path, answer), {}, Control(movetime=1.0), None)
    try:
        player.begin("1", GAME.start())
        with pytest.raises(Forfeit) as fault:
            player.choose(GAME.start()[None], [], None)
        assert (fault.value.kind, fault.value.detail) == (kind, detail)
    finally:
        player.close()


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (Control(nodes=100), "knows no `nps`, the limit of nodes; use --depth 4 or --movetime 1"),
        (Control(depth=3), "knows no `sd`, the limit of plies; use --nodes 5000 or --movetime 1"),
    ],
)
def test_limits_that_an_xboard_engine_lacks_are_refused_at_its_start(tmp_path, control, said):
    assert re.search(
        said, refusal(external, "xboard", xboard_script(tmp_path, "move e2e4"), {}, control, None)
    )


def xboard_script(tmp_path, answer: str) -> str:
    """The command of an xboard engine without a limit of plies, which answers so to `go`."""
    path = file_with(
        tmp_path / "xboard.py",
        "import sys\n"
        "for line in sys.stdin:\n"
        "    w = line.split()\n"
        "    if w[0] == 'protover': print('feature ping=1 setboard=1 usermove=1 done=1')\n"
        "    if w[0] == 'ping': print('pong', w[1])\n"
        "    if w[0] == 'sd': print('Error (unknown command): sd')\n"
        f"    if w[0] == 'go': print({answer!r})\n"
        "    sys.stdout.flush()\n",
    )
    return f"{sys.executable} {path}"


class Mover:
    """A player of the first legal move."""

    def begin(self, seed, start):
        pass

    def choose(self, line, moves, left):
        return Choice(GAME.legal_moves(line[-1])[0])


@pytest.mark.parametrize(
    ("fen", "control", "ending"),
    [
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", Control(base=0.1), (TIME, 0, 0)),
        ("4k3/7p/8/8/8/8/4P3/4K3 w - - 0 1", Control(base=0.1), (TIME, -1, 0)),
        ("4k3/7p/8/8/8/8/4P3/4K3 w - - 0 1", Control(movetime=0.1, margin=0.05), (TIME, -1, 0)),
        ("4k3/7p/8/8/8/8/4P3/4K3 w - - 0 1", Control(movetime=0.01), (PLIES, 0, None)),
        ("4k3/7p/8/8/8/8/4P3/4K3 w - - 0 1", Control(movetime=0.01, margin=0.0), (TIME, -1, 0)),
    ],
)
def test_late_moves_lose_unless_the_opponent_cannot_win(fen, control, ending):
    course = Course(GAME, Opening(GAME.position(fen)))
    judges = [by_rules, by_length(2)]
    clock = itertools.count(0.0, 0.2).__next__  # each move takes 0.2 s
    found = play_out(
        course, [Mover(), Mover()], judges, lambda: False, ["1", "2"], [control] * 2, clock
    )
    assert found[:3] == ending


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("Contempt -spin 0 -100 100", ("Contempt", "spin", -100, 100, ())),
        ("Own Book -check 1", ("Own Book", "check", None, None, ())),
        ("Style -combo Solid /// *Risky", ("Style", "combo", None, None, ("Solid", "Risky"))),
        ("Path -file /tmp/a b", ("Path", "string", None, None, ())),
        ("Clear -reset", ("Clear", "button", None, None, ())),
        ("Bad -spin 0 100", None),
        (f"Bad -spin 0 1 {'9' * 5000}", None),
        ("Bad -colour red", None),
        ("Bad", None),
    ],
)
def test_options_of_xboard_are_read_as_declared(text, option):
    found = option_of(text)
    fields = found and (found.name, found.kind, found.low, found.high, found.choices)
    assert fields == option


def test_features_of_xboard_are_words_and_quoted_texts_however_long(tmp_path):
    """Quotations are not those of a shell, whose splitting takes the square of the time."""
    (tmp_path / "first").write_text(
        f'  feature ping=1 myname="It\'s\x1b[31m" debug="{"x" * 900_000}"'
    )
    (tmp_path / "engine.py").write_text(
        "import sys\n"
        "for line in sys.stdin:\n"
        "    w = line.split()\n"
        "    if w[0] == 'protover':\n"
        "        print(open(sys.argv[1]).read(), flush=True)\n"
        "        print(' feature option=\"Depth -spin 3 1 9\" done=1', flush=True)\n"
        "    if w[0] == 'ping': print('\\tpong', w[1], flush=True)\n"
    )
    command = f"{sys.executable} {tmp_path}/engine.py {tmp_path}/first"
    begun = time.process_time()
    player = external("xboard", command, {"Depth": 5}, Control(movetime=1.0), None)
    player.close()
    assert player.name == r"It's\x1b[31m" and time.process_time() - begun < 10
    assert "option 'Depth' is 10, expected 1 to 9" in refusal(
        external, "xboard", command, {"Depth": 10}, Control(movetime=1.0), None
    )


@pytest.mark.parametrize("blanks", ["  ", "\t", " \t "])
def test_lines_that_begin_with_blanks_are_read(tmp_path, blanks):
    text = script(tmp_path, "pass", "option name A type check default true\\n")
    path = tmp_path / "engine.py"
    path.write_text(path.read_text().replace("print(text,", f"print({blanks!r} + text,"))
    player = external("uci", text, {"A": "false"}, DEPTH, None)
    try:
        assert player.name == "Script" and len(play(player)) == 6
    finally:
        player.close()


def test_control_characters_of_a_name_are_shown_and_option_values_may_be_any_bytes(tmp_path):
    declared = "option name Book type string default\\n"
    text = script(tmp_path, "pass", declared)
    path = tmp_path / "engine.py"
    path.write_text(path.read_text().replace("id name Script", r"id name \x1b[2JScript\x07"))
    value = os.fsdecode(b"caf\xe9.bin")
    command = f"env PYTHONIOENCODING=latin-1 {text}"
    player = external("uci", command, {"Book": value}, DEPTH, None)
    player.close()
    assert player.name == r"\x1b[2JScript\x07"
    assert "setoption name Book value caf\xe9.bin" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(("how", "kind"), [("fine", None), ("crash", CRASH), ("hang", STALL)])
def test_engines_play_where_pipes_cannot_be_polled(engine, monkeypatch, how, kind):
    monkeypatch.setattr(processes, "POLLS", False)
    if kind == STALL:
        monkeypatch.setattr(players, "STALL_SECONDS", 0.5)
    player = engine(how, ply=2)
    if kind is None:
        assert len(play(player)) == 6
    else:
        with pytest.raises(Forfeit) as fault:
            play(player)
        assert fault.value.kind == kind


def test_an_engine_that_dies_of_its_options_is_started_again(tmp_path):
    """With the options: it dies of a change alone."""
    declared = "option name Size type spin default 1 min 1 max 9\\n"
    body = "if w[0] == 'go': played = True\n    if w[0] == 'setoption' and 'played' in dir(): break"
    player = external("uci", script(tmp_path, body, declared), {}, DEPTH, None)
    try:
        assert len(play(player, 2)) == 2
        player.set({"Size": "3"})
        assert len(play(player, 2)) == 2
    finally:
        player.close()
    assert (tmp_path / "log").read_text().count("setoption name Size value 3") == 2


def test_an_xboard_engine_that_knows_no_time_of_its_opponent_plays(tmp_path):
    lines = "Error (unknown command): otim\nmoves left: 40\nmove e2e4"
    player = external("xboard", xboard_script(tmp_path, lines), {}, CLOCK, None)
    try:
        player.begin("1", GAME.start())
        choice = player.choose(GAME.start()[None], [], Left(1.0, 1.0))
        assert GAME.move_name(GAME.start(), choice.move) == "e2e4"
    finally:
        player.close()
