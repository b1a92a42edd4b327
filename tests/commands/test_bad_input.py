"""Mistakes of a user: one line on where and what to do, exit status 2, and nothing is written."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from games.record import available
from tests.commands.bad_files import fill
from tests.commands.support import refused, tuner, without_compiling
from tests.support import file_with

CASES = {
    # the games; a line of its own tells of each bad game before
    "tune classic nowhere.pgn -o out.yaml": "nowhere.pgn: no such file",
    "tune classic good.pgn nowhere.pgn -o out.yaml": "nowhere.pgn: no such file",
    "tune classic empty.pgn -o out.yaml": (
        "empty.pgn: no games found; expected files of the kinds .pgn, .epd, .fen"
    ),
    "tune classic words.pgn -o out.yaml": (
        "words.pgn: no position left of 1 game (1 bad); expected games that can be read"
    ),
    "tune classic page.pgn -o out.yaml": (
        "page.pgn: no position left of 1 game (1 bad); expected games that can be read"
    ),
    "tune classic binary.pgn -o out.yaml": "binary.pgn: no position left of ",
    "tune classic open.pgn -o out.yaml": (
        "open.pgn: no position left of 1 game (1 undecided); expected games with a result"
    ),
    "tune classic one.pgn -o out.yaml": (
        "only 1 game to learn from (read 1 game, used 1); expected at least 2"
    ),
    "tune classic same.pgn -o out.yaml": (
        "only 1 game to learn from (read 5 games, used 1, 4 duplicates); expected at least 2"
    ),
    "tune classic draws.pgn -o out.yaml": (
        "every one of the 3 games is a draw (read 3 games, used 3): there is nothing to learn; "
        "expected games with different results"
    ),
    "tune classic wins.pgn -o out.yaml": (
        "every one of the 3 games is a loss of White (read 3 games"
    ),
    "tune classic illegal.pgn -o out.yaml --strict": (
        "illegal.pgn: game 1 (byte 93): illegal move 'Qxh7' at ply 13; fix it, or "
        "leave out --strict"
    ),
    "tune classic good.pgn -o out.yaml --min-elo 4000": (
        "good.pgn: no position left of 150 games (150 below the Elo wanted)"
    ),
    "tune classic good.pgn -o out.yaml --skip-start 900": (
        "good.pgn: no position left of 150 games (150 without a position that is wanted); expected"
        " fewer plies left out by"
    ),
    "tune classic hollow -o out.yaml": (
        "hollow: holds no .pgn or .epd or .fen or .plain file and is not a dataset"
    ),
    "tune classic a.ttt -o out.yaml": (
        "a.ttt: is named as a file of tictactoe (.ttt) and does not begin as one of chess; give "
        "parameters of tictactoe, such as tictactoe/classic, or files of chess (.pgn, "
    ),
    "dataset a.ttt -o out.ds": "a.ttt: is named as a file of tictactoe (.ttt)",
    "tune tictactoe/zero a.ttt -o out.yaml --positions quiet": (
        "tictactoe has no 'quiet' positions; choose 'auto' or 'all'"
    ),
    "tune classic cut.pgn.gz -o out.yaml": (
        "cut.pgn.gz: truncated gz archive: it ends at byte 30000 before its last block is"
    ),
    "tune classic cut.pgn.bz2 -o out.yaml": (
        "cut.pgn.bz2: truncated bz2 archive: it ends at byte 30000"
    ),
    "tune classic cut.pgn.zst -o out.yaml": (
        "cut.pgn.zst: truncated zst archive: it ends at byte 30000"
    ),
    "tune classic bad.pgn.gz -o out.yaml": "bad.pgn.gz: corrupt gz archive between bytes ",
    "tune classic bad.pgn.bz2 -o out.yaml": "bad.pgn.bz2: corrupt bz2 archive between bytes ",
    "tune classic bad.pgn.zst -o out.yaml": "bad.pgn.zst: corrupt zst archive between bytes ",
    "dataset cut.pgn.gz -o out.ds": "cut.pgn.gz: truncated gz archive: it ends at byte 30000",
    "dataset bad.pgn.zst -o out.ds": "bad.pgn.zst: corrupt zst archive",
    "dataset empty.pgn -o out.ds": "empty.pgn: no games found",
    # exchanged arguments
    "tune good.pgn classic -o out.yaml": (
        "good.pgn is no parameter file, but classic is one: exchange the two"
    ),
    "tune hollow shogi/hand -o out.yaml": (
        "hollow is no parameter file, but shogi/hand is one: exchange the two"
    ),
    "network good.pgn classic -o net.yaml": (
        "good.pgn is no parameter file, but classic is one: exchange the two"
    ),
    "tune classic nan.yaml -o out.yaml": (
        "nan.yaml: a parameter file, expected games; `samples` names the bundled ones"
    ),
    "dataset classic -o out.ds": (
        "classic: a parameter file, expected games; `samples` names the bundled ones"
    ),
    "tune tictactoe/zero samples -o out.yaml": "samples: no such file",
    # the parameters
    "tune nothing good.pgn -o out.yaml": (
        "nothing: no such file; bundled parameter files: classic, material, modern, pesto, zero"
    ),
    "tune tictactoe/nothing good.pgn -o out.yaml": (
        "tictactoe/nothing: no such file; bundled parameter files: "
        "tictactoe/classic, tictactoe/zero"
    ),
    "tune nothing.yaml good.pgn -o out.yaml": "nothing.yaml: no such file",
    "tune hollow good.pgn -o out.yaml": "hollow: cannot be read: Is a directory",
    "tune nan.yaml good.pgn -o out.yaml": (
        "nan.yaml:8: material.pawn.mg is '.nan', expected a number"
    ),
    "tune inf.yaml good.pgn -o out.yaml": (
        "inf.yaml:8: material.pawn.mg is '.inf', expected a number"
    ),
    "tune true.yaml good.pgn -o out.yaml": (
        "true.yaml:8: material.pawn.mg is 'true', expected a number"
    ),
    "tune text.yaml good.pgn -o out.yaml": (
        "text.yaml:8: material.pawn.mg is 'many', expected a number"
    ),
    "tune twice.yaml good.pgn -o out.yaml": "twice.yaml:9: 'pawn' is there twice; first on line 8",
    "tune term.yaml good.pgn -o out.yaml": (
        "term.yaml:7: unknown term 'matter'; known: material, piece_square, "
    ),
    "tune parameter.yaml good.pgn -o out.yaml": (
        "parameter.yaml:9: unknown parameter material.horse; material has: pawn, knight,"
    ),
    "tune shape.yaml good.pgn -o out.yaml": (
        "shape.yaml:17: piece_square.pawn.mg has 7 numbers, the term declares 8"
    ),
    "tune row.yaml good.pgn -o out.yaml": (
        "row.yaml:15: piece_square.pawn.mg has 7 rows, the term declares 8"
    ),
    "tune game.yaml good.pgn -o out.yaml": (
        f"game.yaml:3: unknown game 'chss'; available: {', '.join(available())}"
    ),
    "tune other.yaml good.pgn -o out.yaml": (
        "other.yaml:5: stages are ['mg', 'eg'], expected ['all'] for tictactoe"
    ),
    "tune cycle.yaml good.pgn -o out.yaml": (
        "cycle.yaml:2: anchors and aliases are not supported; write the values out"
    ),
    "tune bomb.yaml good.pgn -o out.yaml": (
        "bomb.yaml:1: anchors and aliases are not supported; write the values out"
    ),
    "tune huge.yaml good.pgn -o out.yaml": "huge.yaml: 5,",
    "tune deep.yaml good.pgn -o out.yaml": (
        "deep.yaml:2: nested more than 12 deep, expected a parameter file"
    ),
    "tune tabs.yaml good.pgn -o out.yaml": (
        "tabs.yaml:2: not YAML: found a tab character that violates indentation"
    ),
    "tune escape.yaml good.pgn -o out.yaml": "escape.yaml:1: not YAML: control character '\\x1b'",
    "tune empty.yaml good.pgn -o out.yaml": "empty.yaml: empty, expected a parameter file",
    "tune latin.yaml good.pgn -o out.yaml": (
        "latin.yaml: byte 9 is not UTF-8 text; expected a YAML file"
    ),
    "tune code.yaml good.pgn -o out.yaml": (
        "code.yaml:4: tag 'tag:yaml.org,2002:python/object/apply:os.system' is not supported"
    ),
    "tune stage.yaml good.pgn -o out.yaml": (
        "stage.yaml:5: stages are ['mg', 'late'], expected ['mg', 'eg'] for chess"
    ),
    "tune outside.yaml good.pgn -o out.yaml": (
        "outside.yaml: bounds of material.pawn are [150, 200], but it is 82; expected a start"
        " within its bounds: move one or the other"
    ),
    "tune bounds.yaml good.pgn -o out.yaml": (
        "bounds.yaml:6: bounds of material.pawn are [9, 1], expected low < high"
    ),
    "tune prior.yaml good.pgn -o out.yaml": (
        "prior.yaml:6: sd of the prior of material.pawn is 0, expected centipawns between"
    ),
    "tune fixed.yaml good.pgn -o out.yaml": (
        "every parameter is fixed, by --fixed, --only or `fixed` in the file: nothing to"
    ),
    "tune missing.yaml good.pgn -o out.yaml": (
        "missing.yaml:6: weights lacks material.knight; `tuner params missing.yaml "
        "--add-missing -o missing-full.yaml` adds zeros"
    ),
    "eval nan.yaml startpos": "nan.yaml:8: material.pawn.mg is '.nan'",
    "diff classic nan.yaml": "nan.yaml:8: material.pawn.mg is '.nan'",
    "params nan.yaml": "nan.yaml:8: material.pawn.mg is '.nan'",
    "dataset good.pgn -o out.ds --params nan.yaml": "nan.yaml:8: material.pawn.mg is '.nan'",
    # the output
    "tune classic good.pgn -o nowhere/out.yaml": (
        "nowhere: no such folder to write out.yaml in; make it first"
    ),
    "tune classic good.pgn -o hollow": "hollow: is a folder, expected the name of a file to write",
    "tune classic good.pgn -o -": (
        "-: is not standard output here, expected the name of a file to write"
    ),
    "tune classic good.pgn -o good.pgn": (
        "good.pgn: is an input of this command and would be overwritten; choose another name"
    ),
    "tune classic good.pgn -o pipe": (
        "pipe: is a device or a pipe, expected the name of a file to write"
    ),
    f"tune classic good.pgn -o {'x' * 300}": (
        f"{'x' * 300}: cannot be written: File name too long; choose another place"
    ),
    "tune classic good.pgn -o out.yaml --run notes.txt": (
        "notes.txt: cannot create this folder: File exists"
    ),
    "dataset good.pgn -o notes.txt": "notes.txt: exists and is not a dataset; choose another name",
    "dataset good.pgn -o hollow": "hollow: exists and is not a dataset; choose another name",
    "dataset good.pgn -o notes.txt/out.ds": "notes.txt/out.ds: cannot be written: Not a directory",
    "dataset split good.ds -o out.ds out.ds": "out.ds: named twice, expected two datasets to write",
    "dataset split good.ds -o out.ds held.ds --held-out 0": (
        "held.ds: would hold no game; choose another share or seed"
    ),
    "params classic -o out.yaml": (
        "-o out.yaml: only --add-missing, --stages, --new and --from-rows write a file; add one,"
        " or leave out -o"
    ),
    # datasets
    "tune tictactoe/zero good.ds -o out.yaml": "good.ds: a dataset of chess, expected tictactoe",
    "tune classic wider.ds -o out.yaml": (
        "wider.ds: counted with different parameters (616 in place of 615); build the dataset again"
    ),
    "tune classic older.ds -o out.yaml": (
        "older.ds: counted by another version of the terms; build the dataset again"
    ),
    "tune classic damaged.ds -o out.yaml": "damaged.ds/count.npy: damaged (",
    "tune classic wild.ds -o out.yaml": (
        "wild.ds/index.npy: entry 0 is damaged, expected a column below 615; build the dataset"
    ),
    "dataset inspect damaged.ds": "damaged.ds/count.npy: damaged (",
    "dataset merge good.ds damaged.ds -o out.ds": "damaged.ds/count.npy: damaged (",
    "dataset inspect good.pgn": (
        "good.pgn: not a dataset (no manifest.json); make one with `tuner dataset GAMES -o DIR`"
    ),
    "dataset merge good.ds nowhere -o out.ds": "nowhere: not a dataset (no manifest.json)",
    # options
    "tune classic good.ds -o out.yaml --fixed pawns.nothing": (
        "--fixed pawns.nothing: names no parameter; try a glob such as"
    ),
    "tune classic good.ds -o out.yaml --only x": (
        "--only x: names no parameter; try a glob such as 'material.*'"
    ),
    "tune classic good.ds -o out.yaml --only material.* --fixed material": (
        "every parameter is fixed"
    ),
    "tune classic good.pgn -o out.yaml --quiescence nothing": (
        "nothing: no such file; bundled parameter files: classic"
    ),
    "tune classic good.ds -o out.yaml --terms nothing.py": (
        "nothing.py: no such file; --terms takes a Python file with terms"
    ),
    "tune classic good.ds -o out.yaml --terms syntax.py": "syntax.py:1: ",
    "tune classic good.ds -o out.yaml --held-out 1": (
        "held-out is 1, expected a number from 0 to below 1, such as 0.1; see"
    ),
    "tune classic good.ds -o out.yaml --prior -3": (
        'prior is "-3", expected centipawns from 0.001 to 1e+06, such as'
    ),
    "tune classic good.ds -o out.yaml --prior=nan": (
        'prior is "nan", expected centipawns from 0.001 to 1e+06, such as 50'
    ),
    "tune classic good.ds -o out.yaml --prior 1e-200": ('prior is "1e-200", expected centipawns'),
    "tune classic good.ds -o out.yaml --scale 0": (
        "scale is 0, expected a number between 1e-06 and 1, such as 0.00255; see"
    ),
    "tune classic good.ds -o out.yaml --scale inf": (
        "scale is Infinity, expected a number between"
    ),
    "tune classic good.ds -o out.yaml --learning-rate 0": (
        "learning-rate is 0, expected a positive number; see"
    ),
    "tune classic good.ds -o out.yaml --learning-rate nan": (
        "learning-rate is NaN, expected a positive number"
    ),
    "tune classic good.ds -o out.yaml --iterations 0": (
        "iterations is 0, expected a whole number of 1 or more; see"
    ),
    "tune classic good.ds -o out.yaml --batch 1.5": (
        "batch is 1.5, expected a whole number of 1 or more"
    ),
    "tune classic good.ds -o out.yaml --seed -1": (
        "seed is -1, expected a whole number of 0 or more"
    ),
    f"tune classic good.pgn -o out.yaml --seed {10**30}": (
        f"seed is {10**30}, expected at most 1,000,000,000,000,000"
    ),
    f"tune classic good.pgn -o out.yaml --skip-start {10**30}": (
        f"skip-start is {10**30}, expected at most"
    ),
    f"tune classic good.pgn -o out.yaml --per-game {10**30}": (
        f"per-game is {10**30}, expected at most"
    ),
    "tune classic good.ds -o out.yaml --learner magic": (
        "argument --learner: invalid choice: 'magic' (choose from "
    ),
    "tune classic good.ds -o out.yaml --loss hinge": "argument --loss: invalid choice: 'hinge'",
    "tune classic good.ds -o out.yaml --no-such-option": (
        "tuner tune: no option --no-such-option; see tuner tune --help"
    ),
    "tune classic good.ds": "expected -o OUT, the parameter file to write, or --dry-run",
    "tune": "tune: expected PARAMS and GAMES, or --resume DIR; see tuner tune --help",
    "turn": "tuner: no command 'turn'; did you mean tune? See tuner --help",
    "dataset good.pgn": (
        "dataset: -o names 0 datasets to write, expected 1; see tuner dataset --help"
    ),
    "dataset split good.ds -o out.ds": "dataset split: -o names 1 datasets to write, expected 2",
    "dataset merge -o out.ds": "dataset merge: no dataset named",
    "dataset inspect good.ds good.ds": "dataset inspect: 2 datasets named, expected one",
    "diff classic tictactoe/zero": "tictactoe/zero is for tictactoe, but classic is for chess",
    "diff classic pesto tictactoe/zero": (
        "tictactoe/zero is for tictactoe, but classic is for chess"
    ),
    "match classic zero --tc=--": "argument --tc: '--' is no value",
    "match classic zero --run=": "argument --run: is empty; expected a value",
    "diff classic": "the following arguments are required: LEARNED; see tuner diff --help",
    "diff classic pesto nothing": "nothing: no such file; bundled parameter files: classic",
    "diff classic pesto --show supported": (
        "pesto: no standard_errors, so no change can be tested; expected"
    ),
    "diff classic" + " pesto" * 26: "27 files named, expected at most 26",
    "export nonexistent.yaml --format c": "nonexistent.yaml: no such file",
    "export nothing --format c": (
        "nothing: no such file; bundled parameter files: classic, material, modern, pesto, zero"
    ),
    "export nan.yaml --format json": "nan.yaml:8: material.pawn.mg is '.nan', expected a number",
    "export good.pgn --format c": "good.pgn:",
    "export classic": (
        "one of the arguments --format --into --from is required; see tuner export --help"
    ),
    "export classic --format cobol": "argument --format: invalid choice: 'cobol' (choose from ",
    "export classic --format c -o nowhere/out.h": (
        "nowhere: no such folder to write out.h in; make it first"
    ),
    "export classic --format c -o hollow": (
        "hollow: is a folder, expected the name of a file to write"
    ),
    "export classic --format c -o pipe": (
        "pipe: is a device or a pipe, expected the name of a file to write"
    ),
    "export zero --format c --scale-to 100": (
        "--scale-to 100: material.pawn is 0 (mean of its stages), expected a"
    ),
    "export modern --format c --scale-to 100": (
        "--scale-to 100: a function is applied to the sum of king_danger, which does not"
    ),
    "export classic --format c --scale-to 0": (
        "scale-to is 0, expected a number between 0 and 1e+06, such as 100;"
    ),
    "export classic --format c --decimals 9": (
        "argument --decimals: invalid choice: 9 (choose from "
    ),
    "export classic --format uci --decimals 1": (
        "--decimals 1: --format uci holds whole numbers; use --scale-to N"
    ),
    "export classic --format uci --flip": (
        "--flip: --format uci names every number, so there is no order"
    ),
    "export classic --format c --terms nothing.py": (
        "nothing.py: no such file; --terms takes a Python file with terms"
    ),
    "eval classic 8/8/8/8 w": (
        "the piece placement of the FEN is not eight ranks of eight squares: '8/8/8/8 w'"
    ),
    "eval classic nowhere.epd": "nowhere.epd: no such file, nor a position: ",
    "eval classic nowhere/positions": "nowhere/positions: no such file, nor a position: ",
    "eval classic hollow": "hollow: is a folder, expected a position or a file of positions",
    "eval shogi/hand nowhere.sfen": (
        "nowhere.sfen: no such file, nor a position: 1 field in 'nowhere.sfen', expected board, "
    ),
    "eval backgammon/classic nowhere.txt.gz": "nowhere.txt.gz: no such file, nor a position: ",
    "eval tictactoe/classic nowhere.txt": "nowhere.txt: no such file, nor a position: ",
    "tune classic good.ds -o out.yaml --device gpu --gradient forward-difference": (
        "--device gpu: finite differences"
    ),
    "eval modern good.pgn --device gpu": (
        "--device gpu: term king_danger is not linear in its weights, which GPUs have no passes"
    ),
    "eval classic": "the following arguments are required: POSITION|FILE; see tuner eval --help",
    "eval tictactoe/classic xxx/ooo/... x": "'xxx/ooo/... x': no game leads to this position",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory, small_pgn, small_dataset) -> Path:
    """All good and bad files in one place."""
    folder = tmp_path_factory.mktemp("bad")
    fill(folder, small_pgn, small_dataset)
    return folder


def contents(folder: Path) -> dict[str, tuple]:
    return {
        str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns)
        for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("command", "said"), CASES.items(), ids=[command[:80] or "nothing" for command in CASES]
)
def test_a_mistake_is_one_line_and_status_2_and_nothing_is_written(
    folder, monkeypatch, command, said
):
    monkeypatch.chdir(folder)
    before = contents(folder)
    last = refused(*command.split())
    assert said in last and len(last) < 300 + len(command)
    assert contents(folder) == before


def test_a_name_with_a_line_end_is_still_one_line(folder, monkeypatch):
    monkeypatch.chdir(folder)
    for name in ("broken\nname.pgn", "no\nfile", "\x1b[31mred"):
        assert refused("tune", "classic", name, "-o", "out.yaml")
    assert tuner("tune", "classic", "good.ds", "-o", "out.yaml", "--b\nad").err.count("\n") == 1


def test_an_older_result_stays_when_a_command_fails(folder, monkeypatch, tmp_path):
    monkeypatch.chdir(folder)
    old = file_with(tmp_path / "old.yaml", "precious")
    shutil.copytree("good.ds", tmp_path / "old.ds")
    before = contents(tmp_path)
    assert tuner("tune", "classic", "cut.pgn.gz", "-o", old).status == 2
    assert tuner("dataset", "cut.pgn.gz", "-o", tmp_path / "old.ds").status == 2
    assert contents(tmp_path) == before


def test_standard_input_is_called_so(folder):
    for stdin, said in (
        (b"", "-: no games found"),
        (gzip.compress(b"[Event")[:-3], "standard input: truncated gz archive"),
    ):
        assert said in refused("dataset", "-", "-o", folder / "out.ds", stdin=stdin)
    assert not (folder / "out.ds").exists()


def test_the_process_itself_ends_with_status_2_and_one_line(folder):
    ran = subprocess.run(
        [sys.executable, "-m", "tuner", "tune", "twice.yaml", "good.pgn", "-o", "out.yaml"],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert (
        without_compiling(ran.stderr)
        == "tuner: twice.yaml:9: 'pawn' is there twice; first on line 8\n"
    )
