"""Mistakes in the command line of `tuner match`: one line, status 2, and nothing is written."""

from pathlib import Path

import pytest

from tests.commands.support import done, refused
from tests.tuner.core.support import change_settings

FILES = {
    "book.epd": "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1\n",
    "empty.epd": "",
    "words.pgn": "dear reader,",
    "tiny.yaml": "game: chess\nstages: [mg, eg]\nweights: {}\n",
    "broken.yaml": "game: chess\nstages: [mg, eg]\nweights: {}\n",
    "notes.txt": "x",
}
CASES = {
    "match": "match: expected two players, A and B, or --resume DIR",
    "match classic": "match: expected two players, A and B",
    "match classic nothing": (
        "nothing: no such file; bundled parameter files: classic, material, modern, pesto, zero; or"
        ' random, an engine on the PATH, or "uci:COMMAND"'
    ),
    "match nothing.yaml classic": "nothing.yaml: no such file",
    "match classic broken.yaml": "broken.yaml:3: weights names no term",
    "match classic uci:no-such-engine": (
        "no-such-engine: no such program, expected the command of a uci engine"
    ),
    "match classic xboard:no-such-engine": (
        "no-such-engine: no such program, expected the command of an xboard engine"
    ),
    "match classic uci:": "'': no such program",
    "match classic uci:/bin/false": "/bin/false: exited with status 1; is it a uci engine?",
    "match classic tictactoe/random": (
        "classic plays chess, tictactoe/random plays tictactoe: name players of one game"
    ),
    "match shogi/classic classic": (
        "shogi/classic plays shogi, classic plays chess: name players of one game"
    ),
    "match pubeval tiny.yaml": (
        "backgammon/pubeval plays backgammon, tiny.yaml plays chess: name players of one game"
    ),
    "match usi:engine backgammon/network": (
        "usi:engine plays shogi, backgammon/network plays backgammon: name players"
    ),
    "match gnubg pubeval": "gnubg: expected gnubg:PLIES with 0 to 2 plies, where 0 is one roll",
    "match uci classic": "'': no such program, expected the command of a uci engine",
    "match network pubeval": (
        "network: no such file; the nearest bundled name is backgammon/network; or random, "
    ),
    "match backgammon/ pubeval": (
        "backgammon/: no such file; bundled parameter files: backgammon/classic, "
    ),
    "match backgammon pubeval": (
        "backgammon: no such file; bundled parameter files: backgammon/classic, "
    ),
    "match shogi/nothing shogi/random": (
        "shogi/nothing: no such file; bundled parameter files: shogi/classic, shogi/hand, "
        'shogi/zero; or random, an engine on the PATH, or "uci:COMMAND"'
    ),
    "match tictactoe/classic tictactoe/random": (
        "tictactoe has no search to play classic with; tictactoe/random can play"
    ),
    "match tictactoe/random uci:/bin/false": "tictactoe has no uci engines",
    "match tictactoe/random tictactoe/random --openings book.epd": (
        "tictactoe reads no openings; --random-plies N makes some"
    ),
    "match classic pesto --games 7": (
        "games is 7, expected an even number of 2 or more: games are played in pairs"
    ),
    "match classic pesto --games 0": (
        "games is 0, expected an even number of 2 or more: games are played in pairs"
    ),
    "match classic pesto --games -2": "games is -2, expected an even number of 2 or more",
    "match classic pesto --sprt 5 0": "SPRT from elo0 5 to elo1 0: elo0 must be less than elo1",
    "match classic pesto --sprt 0 5 --alpha 0": (
        "SPRT with alpha 0, beta 0.05: both must be positive"
    ),
    "match classic pesto --sprt 0 5 --model ordinal": "argument --model: invalid choice: 'ordinal'",
    "match classic pesto --depth 3 --nodes 5": (
        "argument --nodes: not allowed with argument --depth"
    ),
    "match classic pesto --depth-a 3 --nodes-a 5": (
        "--depth-a and --nodes-a: both limit a search; leave one out"
    ),
    "match classic pesto --tc fast": (
        'tc is "fast", expected a time control in seconds, such as 10+0.1'
    ),
    "match classic pesto --tc 0+1": (
        'tc is "0+1", expected a time control in seconds, such as 10+0.1'
    ),
    "match classic pesto --movetime 0": "movetime is 0, expected a positive number",
    "match classic pesto --openings nowhere.epd": "nowhere.epd: no such file",
    "match classic pesto --openings empty.epd": (
        "empty.epd: no openings found; expected lines of EPD"
    ),
    "match classic pesto --openings words.pgn": "words.pgn: no openings found",
    "match classic pesto --openings hollow": "hollow: cannot be read: Is a directory",
    "match classic pesto --openings book.epd --random-plies 4": (
        "--random-plies and --openings: both choose openings"
    ),
    "match classic pesto --random-plies 900 --games 2": (
        "no balanced position after 900 random plies in"
    ),
    "match classic pesto --resign score": (
        "--resign score: expected a whole number of 1 or more after score="
    ),
    "match classic pesto --draw moves=3": (
        "--draw moves=3: unknown, expected movenumber=N, movecount=N, score=N"
    ),
    "match classic pesto --option-a Hash=3": (
        "classic Hash: chess has no such weight, nor such a constant of its search"
    ),
    "match classic pesto --option-b Hash": "--option-b Hash: expected NAME=VALUE",
    "match classic pesto --pgn nowhere/a.pgn": (
        "nowhere: no such folder to write a.pgn in; make it first"
    ),
    "match classic pesto --pgn hollow": "hollow: is a folder, expected the name of a file to write",
    "match classic pesto --run notes.txt": "notes.txt: cannot create this folder: File exists",
    "match classic pesto --run used": (
        "used: contains a run already; continue it with --resume used, or choose another folder"
    ),
    "match classic pesto --workers 0": ("workers is 0, expected a whole number of 1 or more"),
    "match classic pesto --terms nothing.py": "nothing.py: no such file",
    "match --resume nowhere": ("nowhere: no such folder, expected that of a run"),
    "games --resume used": "used: contains a run of `tuner match`, expected one of `tuner games`",
    "match --resume torn": "torn/run.db: cannot be used: file is not a database; restore it",
    "match classic --resume used": (
        "classic: a resumed run keeps its settings; with --resume only --games, --pgn, --log,"
    ),
    "match --resume used --depth 3": (
        "--depth: a resumed run keeps its settings; with --resume only --games, --pgn, --log,"
    ),
    "match --resume used --pgn used/a.pgn": "used/a.pgn: is in the folder of a run",
    "match --resume moved": (
        "book.epd: has changed since the match began; put it back, or start another match"
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        (folder / name).write_text(content)
    (folder / "hollow").mkdir()
    (folder / "torn").mkdir()
    (folder / "torn" / "run.db").write_text("match: [\n" * 99)
    (folder / "moving.epd").write_text(FILES["book.epd"])
    done(
        "match",
        "random",
        "random",
        "--games",
        2,
        "--plies",
        6,
        "--run",
        folder / "used",
        "--random-plies",
        0,
    )
    done(
        "match",
        "random",
        "random",
        "--games",
        2,
        "--plies",
        6,
        "--run",
        folder / "moved",
        "--openings",
        folder / "book.epd",
    )
    change_settings(folder / "moved", files={str(folder / "book.epd"): "f" * 64})
    return folder


@pytest.mark.parametrize(("command", "said"), CASES.items(), ids=list(CASES))
def test_a_mistake_is_one_line_and_status_2_and_nothing_is_written(
    folder, monkeypatch, command, said
):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("tuner.play.openings.HOPELESS", 30)
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    assert said in refused(*command.split())
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()} == before
