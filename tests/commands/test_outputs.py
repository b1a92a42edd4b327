"""No command overwrites its inputs, nor a file that this program did not make: over all commands
and options."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.scored import scored_positions
from tests.commands.support import done, tictactoe_file, tuner
from tests.games.support import REPOSITORY
from tests.support import refusal
from tests.tuner.core.support import put, read_records, write_records
from tuner.evaluation.loading import load_parameters
from tuner.findings.findings import findings
from tuner.io.files import LEARNED, require_other, require_writable
from tuner.io.run_folder import MOVED, mark_of
from tuner.parameters.writer import write_parameters

CHESS = "--depth 1 --plies 6 --random-plies 0"
# for each option that names a file: the command, what it reads, a suffix that it wants; all inputs
# look as if made here
WRITERS = {
    "tune -o": (
        "tune old.yaml games.ttt --prior none -o {out}",
        ["old.yaml", "games.ttt"],
        ".yaml",
    ),
    "tune --terms -o": (
        "tune full.yaml games.ttt --prior none --terms lines.py -o {out}",
        ["full.yaml", "lines.py"],
        ".yaml",
    ),
    "selfplay -o": (
        (
            f"selfplay chess.yaml --games 2 --batch 2 {CHESS} --openings book.pgn --opponent"
            " other.yaml --run fresh -o {out}"
        ),
        ["chess.yaml", "book.pgn", "other.yaml"],
        ".yaml",
    ),
    "match --pgn": (
        "match chess.yaml other.yaml --games 2 --depth 1 --plies 6 --openings book.pgn --pgn {out}",
        ["chess.yaml", "other.yaml", "book.pgn"],
        ".pgn",
    ),
    "tournament --pgn": (
        "tournament chess.yaml other.yaml --player a.yaml depth=1 --games 2 --depth 1 --plies 6"
        " --openings book.pgn --pgn {out}",
        ["chess.yaml", "other.yaml", "a.yaml", "book.pgn"],
        ".pgn",
    ),
    "match uci: --pgn": (
        f"match random 'uci:{sys.executable} book.pgn' --games 2 --depth 1 --pgn {{out}}",
        ["book.pgn"],
        ".pgn",
    ),
    "export -o": ("export old.yaml --format c -o {out}", ["old.yaml"], ".h"),
    "export --from -o": (
        "export old.yaml --from values.h --only lines.win -o {out}",
        ["old.yaml", "values.h"],
        ".yaml",
    ),
    "trace -o": ("trace old.yaml --language c -o {out}", ["old.yaml"], ".h"),
    "params -o": (
        "params old.yaml --add-missing --terms lines.py -o {out}",
        ["old.yaml", "lines.py"],
        ".yaml",
    ),
    "network -o": (
        "network old.yaml games.ttt --method logistic --held-out 0.4 --epochs 2 -o {out}",
        ["old.yaml", "games.ttt"],
        ".yaml",
    ),
    "selfplay network -o": (
        "selfplay net.yaml --games 4 --run fresh -o {out}",
        ["net.yaml"],
        ".yaml",
    ),
    "report -o": ("report tuned -o {out}", [], ".html"),
    "wdl -o": ("wdl scored.epd -o {out}", ["scored.epd"], ".h"),
    "wdl --page": ("wdl scored.epd --page {out}", ["scored.epd"], ".html"),
}
# the same for folders of datasets and of runs
DATASETS = {
    "dataset -o": ("dataset games.ttt --params old.yaml -o {out}", ["games.ttt", "old.yaml"]),
    "dataset merge -o": ("dataset merge a.ds b.ds -o {out}", ["a.ds", "b.ds"]),
    "dataset split -o": ("dataset split a.ds -o fresh {out} --held-out 0.3", ["a.ds"]),
}
RUNS = {
    "tune": "tune old.yaml games.ttt --prior none -o fresh.yaml --run {out}",
    "selfplay": f"selfplay chess.yaml --games 2 --batch 2 {CHESS} --run {{out}}",
    "games": f"games chess.yaml --games 2 {CHESS} --run {{out}}",
    "match": "match b.yaml a.yaml --games 2 --depth 1 --plies 6 --random-plies 0 --run {out}",
    "optimize": (
        "optimize b.yaml --options lines.txt --games 2 --depth 1 --plies 6 --random-plies 0"
        " --match-games 0 --run {out}"
    ),
    "tournament": (
        "tournament b.yaml a.yaml --games 2 --depth 1 --plies 6 --random-plies 0 --run {out}"
    ),
}
TERMS = """from evalterms.term import Term
from games.bits import popcount

lines2 = Term("lines2")
MARKS = lines2.parameter("marks")

@lines2.counts
def count_lines2(us, them, emit):
    emit(MARKS, popcount(us.marks))
"""


def words(command: str, out: object) -> list[str]:
    import shlex

    return [word.format(out=out) for word in shlex.split(command)]


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    """A folder with inputs, runs and datasets."""
    folder = tmp_path_factory.mktemp("made")
    before = os.getcwd()
    os.chdir(folder)
    try:
        tictactoe_file(folder, 200)
        (folder / "lines.py").write_text(TERMS)
        (folder / "lines.txt").write_text("material.pawn.mg, int, 100, 50, 150, 10, 0.002\n")
        scored_positions(folder / "scored.epd")
        (folder / "values.h").write_text(
            "/*\ngame: tictactoe\nweights:\nlearned:\n*/\nint lines_win = 7;\n"
        )
        done(
            "tune",
            "tictactoe/classic",
            "games.ttt",
            "--prior",
            "none",
            "-o",
            "old.yaml",
            "--run",
            "tuned",
        )
        done("params", "old.yaml", "--terms", "lines.py", "--add-missing", "-o", "full.yaml")
        chess = replace(
            load_parameters("material"), learned={"command": "tuner tune", "games": 300}
        )
        for name in ("chess.yaml", "other.yaml", "a.yaml", "b.yaml"):
            write_parameters(folder / name, chess)
        done(
            "match",
            "random",
            "random",
            "--games",
            4,
            "--plies",
            8,
            "--pgn",
            "book.pgn",
            "--run",
            "matched",
        )
        done(
            "selfplay", "chess.yaml", "--games", 2, "--batch", 2, *CHESS.split(), "--run", "played"
        )
        done(
            "selfplay",
            "backgammon",
            "--hidden",
            0,
            "--games",
            4,
            "--run",
            "network",
            "-o",
            "net.yaml",
        )
        for name in ("a.ds", "b.ds"):
            done("dataset", "games.ttt", "--params", "old.yaml", "-o", name)
    finally:
        os.chdir(before)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch) -> Path:
    shutil.copytree(made, tmp_path / "here")
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def contents(folder: Path) -> dict[str, bytes | None]:
    """What every name stands for; None for a folder. Without what a process under way says of
    itself, once a second."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
        if not path.is_fifo() and not path.name.startswith("run.db")
    }


def refused(here: Path, command: str, out: object) -> str:
    before = contents(here)
    ran = tuner(*words(command, out))
    assert (ran.status, ran.out) == (2, ""), ran.err
    line = ran.err.splitlines()[-1]
    assert line.startswith(f"tuner: {out}: "), line
    assert contents(here) == before
    return line


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("way", ["itself", "link", "hard link", "long way"])
def test_a_file_that_is_read_is_not_replaced_under_any_name(here, writer, way):
    command, inputs, suffix = WRITERS[writer]
    for i, name in enumerate(inputs):
        out = Path(name)
        if way == "link":
            (out := Path(f"link{i}{suffix}")).symlink_to(name)
        elif way == "hard link":
            os.link(name, out := Path(f"hard{i}{suffix}"))
        elif way == "long way":
            out = Path("tuned") / ".." / name
        assert (
            "is an input of this command and would be overwritten; choose another name"
            in refused(here, command, out)
        )


@pytest.mark.parametrize("writer", WRITERS)
def test_what_was_not_made_here_is_not_replaced(here, writer):
    command, _, suffix = WRITERS[writer]
    os.mkfifo("pipe" + suffix)
    Path("folder" + suffix).mkdir()
    shutil.copy(REPOSITORY / "params/chess/classic.yaml", "classic" + suffix)
    Path("letter" + suffix).write_text("dear reader")
    Path("alias" + suffix).symlink_to("letter" + suffix)
    Path("round" + suffix).symlink_to("round" + suffix)
    Path("device" + suffix).symlink_to("/dev/null")
    # a game of somebody else behind ours
    Path("more" + suffix).write_bytes(
        Path("book.pgn").read_bytes() + b'[Event "The match"]\n[Result "1-0"]\n\n1. e4 1-0\n\n'
    )
    for name, said in (
        ("letter", "exists and is not "),
        ("alias", "exists and is not "),
        ("classic", "exists and is not "),
        ("more", "exists and is not "),
        ("folder", "is a folder"),
        ("pipe", "is a device or a pipe"),
        ("device", "is a device or a pipe"),
        ("round", "is a device or a pipe"),
    ):
        assert said in refused(here, command, name + suffix), name
    if suffix != ".html":  # pages lie there
        assert "is in the folder of a run" in refused(here, command, "played/new" + suffix)
    assert "File name too long" in refused(here, command, "x" * 300 + suffix)
    assert "no such folder to write" in tuner(*words(command, "nowhere/out" + suffix)).err
    bundled = REPOSITORY / "params/chess/new"
    assert "is in the folder of the bundled" in refused(here, command, f"{bundled}{suffix}")
    ran = tuner(*words(command, "a\0b" + suffix))
    assert ran.status == 2 and ran.err.count("\n") == 1 and "zero byte" in ran.err


# a file of numbers from a source is a start for people to edit, so it is not replaced
@pytest.mark.parametrize(
    "writer", [name for name in WRITERS if "uci:" not in name and "--from" not in name]
)
def test_its_own_output_and_an_empty_file_are_replaced_and_a_link_stays_one(here, writer):
    command, _, suffix = WRITERS[writer]
    out, link = Path(f"out{suffix}"), Path(f"to{suffix}")
    out.write_bytes(b"")
    done(*words(command, out))
    first = out.read_bytes()
    assert first
    shutil.rmtree("fresh", ignore_errors=True)
    link.symlink_to(out)
    done(*words(command, link))
    assert link.is_symlink() and out.read_bytes()


@pytest.mark.parametrize(
    ("players", "options", "name"),
    [
        ("classic pesto", CHESS, "played.pgn"),
        ("shogi/hand shogi/zero", CHESS, "played.csa"),
        ("backgammon/pubeval random", "", "played.mat"),
        ("tictactoe/random tictactoe/random", "--random-plies 0", "played.ttt"),
    ],
)
def test_games_of_a_match_are_replaced_by_another_and_other_games_are_not(
    here, players, options, name
):
    command = f"match {players} {options} --games 2 --seed {{seed}} --pgn {name}".split()
    done(*[word.format(seed=1) for word in command])
    first = Path(name).read_bytes()
    assert first
    done(*[word.format(seed=2) for word in command])
    assert Path(name).read_bytes()
    others = {
        ".pgn": first + b'\n[Event "club"]\n\n1. e4 e5 *\n',
        ".csa": first.replace(b"$EVENT:tuner match", b"$EVENT:title match"),
        ".mat": first.partition(b"\n")[2],
        ".ttt": first.partition(b"  #")[0] + b"\n",
    }
    Path(name).write_bytes(others[Path(name).suffix])
    ran = tuner(*[word.format(seed=3) for word in command])
    assert ran.status == 2 and f"{name}: exists and is not games of `tuner match`" in ran.err
    assert Path(name).read_bytes() == others[Path(name).suffix]


@pytest.mark.parametrize("form", ["c", "rust", "json", "uci", "spsa"])
def test_an_export_replaces_an_export(here, form):
    for _ in range(2):
        done("export", "old.yaml", "--format", form, "-o", "out.txt")
    Path("out.txt").write_text("pawn, int, 100, 50, 150, 5, 0.002\n")  # written by hand
    assert "exists and is not an export" in refused(
        here, f"export old.yaml --format {form} -o {{out}}", "out.txt"
    )


@pytest.mark.parametrize("writer", DATASETS)
def test_a_dataset_replaces_nothing_but_a_dataset_that_is_not_read(here, writer):
    command, inputs = DATASETS[writer]
    Path("link").symlink_to(inputs[0])
    Path("letter").write_text("dear reader")
    Path("site").mkdir()
    # as web applications have it
    Path("site/manifest.json").write_text('{"name": "a page", "icons": []}')
    shutil.copytree("b.ds", "noted.ds")
    Path("noted.ds/notes.txt").write_text("keep me")
    os.mkfifo("pipe")
    for name in (*inputs, "link"):
        assert "is an input of this command" in refused(here, command, name)
    for name in ("letter", "site", "noted.ds", "pipe", "/dev/null", "."):
        assert "exists and is not a dataset; choose another name" in refused(here, command, name)
    shutil.copytree("b.ds", "out.ds")
    Path("to.ds").symlink_to("out.ds")
    assert "is a link to a dataset" in refused(here, command, "to.ds")
    done(*words(command, "out.ds"))


@pytest.mark.parametrize("kind", RUNS)
def test_a_run_begins_in_a_new_or_empty_folder_only(here, kind):
    command = RUNS[kind]
    Path("full").mkdir()
    Path("full/letter").write_text("dear reader")
    Path("alias").symlink_to("full")
    Path("gone").symlink_to("nowhere")
    other, no_folder = "contains unrelated files", "cannot create this folder: File exists"
    for name, said in (
        (".", other),
        ("full", f"{other} (letter)"),
        ("alias", other),
        ("a.yaml", no_folder),
        ("/dev/null", no_folder),
        ("gone", "a broken link"),
        ("a.ds", other),
    ):
        assert said in refused(here, command, name), name
    for other, name in (("tune", "tuned"), ("selfplay", "played"), ("match", "matched")):
        said = refused(here, command, name)
        if kind == other and kind != "tune":
            assert (
                f"contains a run already; continue it with --resume {name}, or choose another"
                " folder" in said
            )
        else:
            assert (
                f"contains a run of `tuner {other}` already; choose another folder, or remove"
                " that run" in said
            )
    done("selfplay", "--resume", "played")
    done("match", "--resume", "matched")
    Path("empty").mkdir()
    done(*words(command, "empty"))
    Path("fresh.yaml").unlink(missing_ok=True)
    done(*words(command, "new/deep"))


def content(folder: Path) -> dict[str, bytes | None]:
    """All names below a folder, with the content of the files."""
    paths = sorted(folder.rglob("*"))
    return {str(path): None if path.is_dir() else path.read_bytes() for path in paths}


TEMPORARY = ".params.yaml.77.tmp"
MINE = [
    *("start.yaml", "params.yaml", "config.yaml", TEMPORARY, "letter", "lock", "run.db"),
    *("run.db-wal", "games/mine", "unfinished/mine", "round-1/mine", "checkpoints/1.yaml"),
]


@pytest.mark.parametrize("kind", RUNS)
def test_files_of_the_user_are_neither_changed_nor_removed(here, kind):
    for names in (*([name] for name in MINE), MINE):
        for killed in (False, True) if "run.db" not in names else (False,):
            shutil.rmtree("begun", ignore_errors=True)
            if killed:  # before its run was there; what it wrote is in no way of the next
                Path("begun").mkdir()
                write_records(Path("begun"), [])
                Path("begun", "b.yaml").write_text("half")
                moved = {"b.yaml": mark_of(Path("begun", "b.yaml"))}
                put(Path("begun"), MOVED, json.dumps(moved).encode())
            for name in names:
                Path("begun", name).parent.mkdir(parents=True, exist_ok=True)
                Path("begun", name).write_text("mine")
            before = content(Path("begun"))
            if names == [TEMPORARY]:  # it is in nobody's way
                done(*words(RUNS[kind], "begun"))
                Path("fresh.yaml").unlink(missing_ok=True)
            elif killed and names[0].startswith(("lock", "run.db", "unfinished")):
                continue  # ours, by their names
            else:
                ran = tuner(*words(RUNS[kind], "begun"))
                assert ran.status == 2 and "contains unrelated files" in ran.err
            mine = {name: before[str(Path("begun", name))] for name in names}
            after = content(Path("begun"))
            assert {name: after.get(str(Path("begun", name))) for name in names} == mine


@pytest.mark.parametrize("kind", RUNS)
def test_a_folder_in_which_a_run_was_killed_before_it_began_is_taken_again(here, kind):
    name = {"match": "a.yaml", "tournament": "1.yaml"}.get(kind, "start.yaml")
    for left in ((), (name, "unfinished/half", "games/half")):
        shutil.rmtree("begun", ignore_errors=True)
        Path("begun").mkdir()
        for path in (*left, ".config.yaml.77.tmp"):
            Path("begun", path).parent.mkdir(exist_ok=True)
            Path("begun", path).write_text("half")
        if left:
            moved = {each: mark_of(Path("begun", each)) for each in (name, "games")}
            write_records(Path("begun"), [{"left": 1}])
            put(Path("begun"), MOVED, json.dumps(moved).encode())
        else:
            Path("begun", "run.db").touch()
        done(*words(RUNS[kind], "begun"))
        Path("fresh.yaml").unlink(missing_ok=True)
        found = content(Path("begun"))
        assert [path for path in found if found[path] == b"half"] == ["begun/.config.yaml.77.tmp"]


def test_a_signal_leaves_no_probe_of_an_output(here, monkeypatch):
    def interrupted(path, *arguments, **more):
        Path.open(path, "a").close()
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "touch", interrupted)
    with pytest.raises(KeyboardInterrupt):
        require_writable(Path("fresh.yaml"), LEARNED, ())
    assert not [name for name in os.listdir() if name.endswith(".tmp")]


def test_a_run_whose_files_cannot_move_is_not_there_and_the_file_in_their_way_stays(
    here, monkeypatch
):
    def found(*arguments):
        Path("mine/start.yaml").write_text("mine")
        return findings(*arguments)

    monkeypatch.setattr("tuner.learn.run.findings", found)
    ran = tuner(*words(RUNS["tune"], "mine"))
    assert ran.status == 2 and "mine/start.yaml: is new in the folder of this run" in ran.err
    assert content(Path("mine")) == {"mine/start.yaml": b"mine"}


def test_a_tune_that_fails_leaves_its_folder_as_it_was(here):
    Path("empty").mkdir()
    Path("draws.ttt").write_text(
        "1/2-1/2 b2 a1 c1 a3 a2 c2 b3 b1 c3\n1/2-1/2 b2 a1 a3 c1 b1 b3 a2 c2 c3\n"
    )
    for folder in ("empty", "new"):
        ran = tuner("tune", "old.yaml", "draws.ttt", "-o", "fresh.yaml", "--run", folder)
        assert ran.status == 2 and "there is nothing to learn" in ran.err
    assert list(Path("empty").iterdir()) == [] and not Path("new").exists()


@pytest.mark.long
def test_leftovers_of_a_killed_tune_are_replaced_and_a_folder_is_locked(here):
    """Held by a stream that is slower than the command, until it is killed."""
    command = [
        sys.executable,
        "-m",
        "tuner",
        *words(RUNS["tune"].replace("games.ttt", "-"), "slow"),
    ]
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ},
    )
    process.stdin.write(Path("games.ttt").read_bytes())
    process.stdin.flush()
    until = time.monotonic() + 60
    while (
        not list(Path("slow").rglob("score.npy")) and time.monotonic() < until
    ):  # the last file before it waits
        time.sleep(0.01)
    assert "another process is using this folder" in refused(here, RUNS["tune"], "slow")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdin.close()
    done(*words(RUNS["tune"], "slow"))
    assert read_records(Path("slow"))[0]["iteration"] == 0


@pytest.mark.parametrize("protocol", ["uci", "xboard", "usi", "ubgi"])
def test_the_files_of_an_engine_are_not_overwritten(tmp_path, protocol):
    engine = tmp_path / "engine.py"
    engine.touch()
    assert "is an input of this command" in refusal(
        require_other, engine, [f"{protocol}:python {engine} --fast"]
    )


def test_a_file_that_is_replaced_keeps_its_mode(tmp_path):
    path = tmp_path / "weights.h"
    done("export", "classic", "--format", "c", "-o", path)
    path.chmod(0o640)
    done("export", "pesto", "--format", "c", "-o", path)
    assert path.stat().st_mode & 0o777 == 0o640
