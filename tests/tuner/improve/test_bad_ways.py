"""What can be wrong with an engine, its build, its source, its plan and its runs: one line each,
and nothing else happened.

Each way runs `tuner improve` on a small engine. Its folder stays as it was, to the bytes and times,
and no process that was started lives on."""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from games.protocol import client
from games.protocol import player as players
from tests.commands.support import Ran, tuner
from tests.tuner.core.support import write_settings
from tests.tuner.improve.small import NAMES, PARAMS, SOURCE, write_small
from tests.tuner.improve.support import processes
from tuner.datasets.rows import row_engine
from tuner.improve import rounds
from tuner.measured import copies, measure

Prepare = Callable[[Path], object]
ROOT = os.geteuid() == 0


@dataclass(frozen=True)
class Way:
    """What is wrong: with the engine as it plays, its rows, or the plan; `prepare` changes the
    folder first. `said` is in the line."""

    said: str
    how: str = ""
    rows: str = ""
    plan: dict = field(default_factory=dict)
    prepare: Prepare = lambda folder: None
    run: str = "run"
    long: bool = False  # whether games are played first


def source(text: str, into: str) -> Prepare:
    """Change the source with the numbers."""

    def prepare(folder: Path) -> None:
        path = folder / "engine" / "src" / "eval.h"
        content = path.read_bytes()
        assert text.encode() in content
        path.write_bytes(content.replace(text.encode(), into.encode("latin-1")))

    return prepare


def write(name: str, content: str | bytes) -> Prepare:
    """Write a file beside the plan."""

    def prepare(folder: Path) -> None:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())

    return prepare


def build(before: str = "", after: str = "") -> dict:
    """Another build, around the one that works."""
    return {"build": f"{before}\nsh build.sh\n{after}".strip()}


def prebuilt(folder: Path) -> None:
    """The author has built."""
    subprocess.run(["sh", "build.sh"], cwd=folder / "engine", check=True)


TOUCHED = "changed during the build, which may write into its copy alone"
BUILDS = {
    "fails": Way(
        "ended with status 3: src/eval.h:3: error: oops",
        plan={"build": "echo 'src/eval.h:3: error: oops'; echo make: stopped; exit 3"},
    ),
    "fails and says nothing": Way(
        "ended with status 1: it printed nothing", plan={"build": "exit 1"}
    ),
    "leaves no program": Way("no such program after `exit 0`", plan={"build": "exit 0"}),
    "leaves no program of rows": Way(
        "rows: ./other rows: no such program", plan={"rows": "./other rows"}
    ),
    "program is a folder": Way("no such program", plan={"build": "mkdir myengine"}),
    "program may not be executed": Way("is not executable", plan=build(after="chmod -x myengine")),
    "program is empty": Way(
        "Exec format error", plan={"build": "touch myengine; chmod +x myengine"}
    ),
    "program is for another machine": Way(
        "Exec format error",
        plan={
            "build": "printf '\\177ELF123456789012345678901234567890' > myengine; chmod +x myengine"
        },
    ),
    "hangs": Way("took more than", plan={"build": "echo begins; sleep 3600"}),
    "is killed": Way("ended by signal 9", plan={"build": "kill -9 $$"}),
    "prints what is no text": Way(
        "ended with status 2",
        plan={"build": "printf '\\033[31merror: \\377\\001 no\\033[0m\\n'; exit 2"},
    ),
    "prints without end": Way("printed more than", plan={"build": "while :; do echo error; done"}),
    "is no command of a shell": Way("ended with status 2", plan={"build": "make 'all"}),
    "is no program": Way("ended with status 127", plan={"build": "no-such-make all"}),
    "needs a file beside the folder": Way(
        "shared.h", plan={"build": "cat ../shared.h"}, prepare=write("shared.h", "x")
    ),
    "removes the sources": Way("src/eval.h: no such file", plan=build(after="rm src/eval.h")),
    "removes everything": Way("no such program", plan=build(after="rm -rf ./*")),
    "reads its input": Way("ended with status 1", plan={"build": "read answer"}),
    "writes into the author's folder": Way(
        TOUCHED, plan=build(after="touch ../../../engine/new.o")
    ),
    "changes the author's sources": Way(
        TOUCHED, plan=build(after="echo // >> ../../../engine/src/eval.h")
    ),
    "names the author's folder": Way(
        "build names FOLDER/engine itself", plan={"build": "make -C FOLDER/engine"}
    ),
    "leaves the program as it was": Way(
        "as it was although src/eval.h", plan={"build": ":"}, prepare=prebuilt, long=True
    ),
    "fails once numbers change": Way(
        "of round 1",
        plan={"build": "grep -q 'KnightValue = 60' src/eval.h && sh build.sh"},
        long=True,
    ),
}
ENGINES = {
    "crashes as it starts": Way("exited with status 3", how="crash"),
    "is killed as it starts": Way("ended by signal 11", how="signal"),
    "hangs as it starts": Way("no `uciok` within", how="hang"),
    "says nothing and closes": Way("closed its output", how="closed"),
    "prints without end as it starts": Way("a line of more than", how="endless"),
    "floods as it starts": Way("`uciok`", how="flood"),
    "says no uciok": Way("no `uciok` within", how="no uciok"),
    "crashes at isready": Way("exited", how="crash:isready"),
    "hangs at isready": Way("no `readyok` within", how="hang:isready"),
    "crashes at a position": Way("exited with status 3", how="crash:position"),
    "crashes at go": Way("exited with status 3", how="crash:go"),
    "hangs at go": Way("did not move within", how="hang:go"),
    "closes its output at go": Way("closed its output", how="closed:go"),
    "prints a line without end": Way("a line of more than", how="endless:go"),
    "floods": Way("did not move within", how="flood:go"),
    "crashes after ten moves": Way("crash", how="crash:10"),
    "hangs after ten moves": Way("stall", how="hang:10"),
    "plays an illegal move": Way("illegal move", how="illegal"),
    "plays 0000": Way("0000", how="null"),
    "plays (none)": Way("illegal move: (none)", how="none"),
    "never moves": Way("did not move within", how="no move"),
    "has no score": Way("score", how="no score", long=True),
    "has always a mate": Way(
        "scores that are not mates", how="mates", plan={"learn": {}}, long=True
    ),
    "has scores that are no numbers": Way("score", how="garbage", long=True),
    "has scores beyond all bounds": Way("score", how="infinite", plan={"learn": {}}, long=True),
    "ignores the depth": Way("try `limit: {nodes: ", how="ignores"),
    "ignores the nodes": Way(
        "try `limit: {depth: 1}` in the plan", how="ignores", plan={"limit": {"nodes": 100}}
    ),
    "crashes in the match only": Way("crash", how="late crash:go", long=True),
    "plays illegal moves in the match only": Way("illegal", how="late illegal", long=True),
    "does not start in the match only": Way("exited", how="late crash", long=True),
    "has no such option": Way("Hsah", plan={"options": {"Hsah": 8}}),
    "has the option for other values": Way("Hash", plan={"options": {"Hash": 100}}),
    "is a word of no program": Way("./engine2", plan={"plays": "./engine2"}),
    "is a command with an open quotation": Way("plays", plan={"plays": "./myengine 'play"}),
    "is of an unknown protocol": Way("ucci", plan={"plays": "ucci:./myengine"}),
    "is a protocol alone": Way("plays", plan={"plays": "uci:"}),
    "speaks another protocol": Way("usi", plan={"plays": "usi:./myengine play"}),
}
ROWS = {
    "ends at once": Way("exited with status 3 after 0 answers", rows="crash"),
    "is killed": Way("ended by signal 11", rows="signal"),
    "hangs": Way("printed nothing within", rows="hang"),
    "closes its output": Way("closed its output", rows="closed"),
    "prints nothing": Way("exited with status 0 after 0 answers", rows="silent"),
    "prints text": Way("total 17", rows="text"),
    "prints half of a row": Way("not a row in JSON", rows="half"),
    "prints arrays": Way("[1, 2]", rows="array"),
    "prints each row twice": Way("answer 2 has the fen", rows="twice"),
    "prints NaN": Way("eval", rows="nan"),
    "prints huge numbers": Way("eval", rows="huge"),
    "prints words for numbers": Way("eval", rows="words"),
    "names numbers that are none": Way("material.dragon", rows="unknown"),
    "prints counts as a list": Way("counts", rows="list"),
    "counts nothing": Way("not its evaluation", rows="nothing"),
    "counts pawns twice": Way("not its evaluation", rows="doubled"),
    "has the view of the side to move": Way("not its evaluation", rows="mover"),
    "is off by a constant": Way("not its evaluation", rows="offset"),
    "is off by anything": Way("not its evaluation", rows="noise"),
    "answers another position": Way("was asked", rows="other"),
    "has no row for any position": Way("I do not like it", rows="error"),
    "has no evaluation": Way("eval", rows="no eval"),
    "prints a line without end": Way("a line of more than", rows="endless"),
    "floods": Way("no row", rows="flood"),
    "ends in the middle": Way("after 100 answers", rows="crash:100"),
    "hangs in the middle": Way("printed nothing within", rows="hang:100"),
    "prints text in the middle": Way("total 17", rows="text:100"),
    "is wrong in the middle": Way("not its evaluation", rows="offset:3000"),
    "is wrong once numbers change": Way(
        "the rows of round 1 are not", rows="late offset", long=True
    ),
    "ends once numbers change": Way("exited with status 3", rows="late crash", long=True),
    "is a word of no program": Way("./trace", plan={"rows": "./trace"}),
    "is a command with an open quotation": Way("rows", plan={"rows": "./myengine 'rows"}),
    "is the engine that plays": Way(
        "exited with status 0 after 0 answers", plan={"rows": "./myengine play"}
    ),
}


def links(folder: Path) -> None:
    (folder / "engine" / "loop").symlink_to("loop")
    (folder / "engine" / "src" / "up").symlink_to("..")


def outside(folder: Path) -> None:
    path = folder / "engine" / "src" / "eval.h"
    path.rename(folder / "eval.h")
    path.symlink_to(folder / "eval.h")


def a_folder(name: str) -> Prepare:
    def prepare(folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    return prepare


def files(*names: str) -> dict:
    return {"source": {"folder": "engine", "files": list(names), "map": "names.yaml"}}


SOURCES = {
    "params are not there": Way("start.yaml", prepare=lambda f: (f / "start.yaml").unlink()),
    "params are empty": Way("start.yaml", prepare=write("start.yaml", "")),
    "params are no YAML": Way("start.yaml", prepare=write("start.yaml", "game: [chess")),
    "params are a folder": Way("start.yaml", prepare=a_folder("start.yaml")),
    "params are of an unknown game": Way(
        "chexx", prepare=write("start.yaml", PARAMS.replace("chess", "chexx"))
    ),
    "params are of another game": Way(
        "shogi has no uci engines", prepare=write("start.yaml", PARAMS.replace("chess", "shogi"))
    ),
    "params are of terms of ours": Way("classic: no such file", plan={"params": "classic"}),
    "params have a number that the source lacks": Way(
        "material.dragon",
        prepare=write("start.yaml", PARAMS.replace("queen: 0", "queen: 0, dragon: 0")),
    ),
    "map is not there": Way("names.yaml", prepare=lambda f: (f / "names.yaml").unlink()),
    "map is no YAML": Way("names.yaml", prepare=write("names.yaml", "a: [")),
    "map is a list": Way("names.yaml", prepare=write("names.yaml", "- a\n- b\n")),
    "map names an unknown parameter": Way(
        "names.yaml", prepare=write("names.yaml", NAMES + "material.dragon: Dragon\n")
    ),
    "map lacks a number": Way(
        "material.queen",
        prepare=write("names.yaml", NAMES.replace("material.queen: QueenValue\n", "")),
    ),
    "map names what is not in the source": Way(
        "QueenWorth", prepare=write("names.yaml", NAMES.replace("QueenValue", "QueenWorth"))
    ),
    "source lacks a number": Way("QueenValue", prepare=source("const int QueenValue = 60;\n", "")),
    "source has it in a comment": Way(
        "QueenValue", prepare=source("const int QueenValue", "// const int QueenValue")
    ),
    "source has a number twice": Way(
        "QueenValue",
        prepare=source("const int Tempo", "const int QueenValue = 9;\nconst int Tempo"),
    ),
    "number is an expression": Way(
        "QueenValue", prepare=source("QueenValue = 60", "QueenValue = 6 * TEN")
    ),
    "number is a word": Way("QueenValue", prepare=source("QueenValue = 60", "QueenValue = SIXTY")),
    "number is a list": Way(
        "QueenValue", prepare=source("QueenValue = 60", "QueenValue[2] = {60, 61}")
    ),
    "list is too long": Way("Tempo", prepare=source("Tempo[1] = {10}", "Tempo[3] = {10, 11, 12}")),
    "source is empty": Way("PawnValue is defined nowhere", prepare=write("engine/src/eval.h", "")),
    "source is a folder": Way("eval.h", prepare=a_folder("engine/src/eval.h")),
    "source is binary": Way("eval.h", prepare=write("engine/src/eval.h", bytes(range(256)) * 9)),
    "source is not there": Way("none.h: no such file", plan=files("none.h")),
    "source is beside the folder": Way("is not in", plan=files("../start.yaml")),
    "source is named by an absolute path": Way("is not in", plan=files("/etc/passwd")),
    "source is named twice": Way("twice", plan=files("src/eval.h", "src/eval.h")),
    "source is of an unknown language": Way("names no known language", plan=files("build.sh")),
    "source is a link out of the folder": Way("leads by a link to", prepare=outside),
    "folder is not there": Way(
        "which is no folder", plan={"source": {"folder": "nowhere", "files": ["src/eval.h"]}}
    ),
    "folder is a file": Way(
        "which is no folder", plan={"source": {"folder": "start.yaml", "files": ["src/eval.h"]}}
    ),
    "folder is too large": Way("expected the folder of an engine", prepare=lambda f: truncate(f)),
}


def truncate(folder: Path) -> None:
    """A file of many zeros, which takes no room."""
    with open(folder / "engine" / "large.bin", "wb") as stream:
        stream.truncate(copies.LARGEST_FOLDER + 1)


PLANS = {
    "is no YAML": Way("improve.yaml", prepare=write("improve.yaml", "plays: [")),
    "is empty": Way("improve.yaml", prepare=write("improve.yaml", "")),
    "is a list": Way("is not a mapping", prepare=write("improve.yaml", "- plays\n")),
    "is a text": Way("is not a mapping", prepare=write("improve.yaml", "plays\n")),
    "is binary": Way("improve.yaml", prepare=write("improve.yaml", bytes(range(256)))),
    "is a folder": Way("improve.yaml", prepare=a_folder("improve.yaml")),
    "is not there": Way("improve.yaml", prepare=lambda f: (f / "improve.yaml").unlink()),
    "has a key twice": Way(
        "improve.yaml", prepare=lambda f: append(f / "improve.yaml", "rounds: 3\nrounds: 4\n")
    ),
    "has an unknown key": Way("did you mean rounds?", plan={"round": 3}),
    "has an unknown key of source": Way(
        "did you mean files?", plan={"source": {"folder": "engine", "file": ["src/eval.h"]}}
    ),
    "has an unknown key of match": Way("did you mean games?", plan={"match": {"game": 2}}),
    "has games in words": Way("games", plan={"games": "many"}),
    "has no games": Way("games is 0", plan={"games": 0}),
    "has too many games": Way("games", plan={"games": 10**18}),
    "has half a round": Way("rounds", plan={"rounds": 2.5}),
    "has an odd match": Way("expected an even number", plan={"match": {"games": 7}}),
    "has an odd pool": Way("expected an even number", plan={"match": {"pool_games": 7}}),
    "has a negative pool": Way("pool_games", plan={"match": {"pool_games": -2}}),
    "has a test of one bound": Way("sprt", plan={"match": {"sprt": [0]}}),
    "has a test of three bounds": Way("sprt", plan={"match": {"sprt": [0, 5, 10]}}),
    "has a test the wrong way round": Way("sprt", plan={"match": {"sprt": [10, 0]}}),
    "has two limits": Way("limit", plan={"limit": {"depth": 3, "nodes": 100}}),
    "has an unknown limit": Way("limit", plan={"limit": {"seconds": 3}}),
    "has a limit of nothing": Way("limit", plan={"limit": {"depth": 0}}),
    "has a limit in words": Way("limit", plan={"limit": {"depth": "six"}}),
    "has half a depth": Way("depth", plan={"limit": {"depth": 2.5}}),
    "has a limit that is infinite": Way("limit", plan={"limit": {"movetime": float("inf")}}),
    "has a limit that is no number": Way("limit", plan={"limit": {"movetime": float("nan")}}),
    "has a negative seed": Way("seed", plan={"seed": -1}),
    "has an unknown option to play": Way("depht", plan={"play": {"depht": 3}}),
    "has an unknown option to read": Way("per-gmae", plan={"read": {"per-gmae": 3}}),
    "has an unknown option to learn": Way("pior", plan={"learn": {"pior": 3}}),
    "plays into another folder": Way(
        "the loop itself sets output", plan={"play": {"output": "elsewhere"}}
    ),
    "goes on with other games": Way(
        "the loop itself sets resume", plan={"play": {"resume": "elsewhere"}}
    ),
    "reads rows of another engine": Way(
        "the loop itself sets engine", plan={"read": {"engine": "./other"}}
    ),
    "learns into another file": Way(
        "the loop itself sets output", plan={"learn": {"output": "elsewhere.yaml"}}
    ),
    "has an option with a wrong value": Way("prior", plan={"learn": {"prior": "strong"}}),
    "has an option with a list": Way("learn", plan={"learn": {"prior": [1, 2]}}),
    "has options as a list": Way("options", plan={"options": ["Hash=3"]}),
    "names a player that is not there": Way("no-such", plan={"against": ["uci:no-such-engine"]}),
    "names a player as a text": Way("against", plan={"against": "uci:toga2"}),
    "names a player of another game": Way(
        "plays shogi, expected chess", plan={"against": ["shogi/random"]}
    ),
    "names openings that are not there": Way("book.epd", plan={"match": {"openings": "book.epd"}}),
    "names openings that are none": Way(
        "book.epd", plan={"match": {"openings": "book.epd"}}, prepare=write("book.epd", "hello\n")
    ),
    "has an empty build": Way("build is empty", plan={"build": " "}),
}


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def begin_match(folder: Path) -> None:
    (folder / "run").mkdir()
    write_settings(folder / "run", "match", {"a": "b"})


RUNS = {
    "is not empty": Way("contains unrelated files", prepare=write("run/mine.txt", "mine")),
    "is a file": Way("run: cannot create", prepare=write("run", "mine")),
    "is of another command": Way("contains a run of `tuner match`", prepare=begin_match),
    "is the engine's folder": Way("contains unrelated files", run="engine"),
    "is around the engine's folder": Way("contains unrelated files", run="."),
}


def evals(how: str = "", **changes: object) -> dict:
    """A plan with a program that evaluates, and does something wrong."""
    return {"evals": f"./myengine evals {how}".strip(), **changes}


EVALS = {
    "crashes": Way("ended with status 3", plan=evals("crash")),
    "hangs": Way("did not end within", plan=evals("hang")),
    "prints without end": Way("printed without end", plan=evals("endless")),
    "prints text": Way("its first other line is 'total", plan=evals("text")),
    "prints pawns": Way("expected centipawns", plan=evals("pawns")),
    "is random": Way("another evaluation the second time", plan=evals("twice")),
    "is nothing": Way("evals is empty", plan={"evals": " "}),
    "is no program": Way("no such program", plan={"evals": "./other evals"}),
    "has a line that is none": Way("eval_line", plan=evals(eval_line="(a)")),
    "is of uci without a line": Way("eval_line is None", plan={"evals": "uci:./myengine play"}),
    "is of another game": Way("game: checkers", plan=evals(game="checkers")),
    "finds no numbers": Way(
        "no definition with numbers", plan=evals(source=dict(SOURCE, only=["none"]))
    ),
    "sees no change of numbers": Way(
        "does not see the change of a number",
        plan=evals(build="cp src/made myengine"),
        prepare=lambda folder: os.system(
            f"cd {folder}/engine && sh build.sh && mv myengine src/made"
        ),
    ),
    "and rows": Way(
        "evals and rows", plan={"evals": "./myengine evals", "rows": "./myengine rows"}
    ),
    "takes too long": Way(
        "more than 30% of the minutes",
        plan=evals("slow", minutes=0.01, games=None, match={}),
    ),
}
WAYS = {
    f"{kind}: {name}": way
    for kind, ways in {
        "build": BUILDS,
        "engine": ENGINES,
        "rows": ROWS,
        "evals": EVALS,
        "source": SOURCES,
        "plan": PLANS,
        "run": RUNS,
    }.items()
    for name, way in ways.items()
}
SHORT = {
    "games": 6,
    "match": {"games": 4, "pool_games": 2, "verdict_games": 4},
    "rounds": 1,
    "play": {
        "plies": 60,
        "workers": 1,
        "play-on": 0,
        "resign": "movecount=1 score=60 twosided=true",
    },
}


def state(folder: Path) -> dict[str, tuple]:
    """All that is in a folder: kinds, permissions, times, contents."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        about = path.lstat()
        content = path.read_bytes() if path.is_file() and about.st_size < 1 << 24 else None
        found[str(path)] = (about.st_mode, about.st_mtime_ns, about.st_size, content)
    return found


@pytest.fixture
def hasty(monkeypatch):
    """Patience of a second or two."""
    monkeypatch.setattr(rounds, "PACE_GAMES", 2)
    monkeypatch.setattr(copies, "BUILD_SECONDS", 2.0)
    monkeypatch.setattr(copies, "LARGEST_LOG", 1 << 20)
    monkeypatch.setattr(copies, "LOOK_SECONDS", 0.1)
    monkeypatch.setattr(client, "START_SECONDS", 2.0)
    monkeypatch.setattr(client, "READY_SECONDS", 2.0)
    monkeypatch.setattr(players, "STALL_SECONDS", 1.0)
    monkeypatch.setattr(client, "LEAST_PATIENCE", 0.5)
    monkeypatch.setattr(client, "PATIENCE", 1.0)
    monkeypatch.setattr(row_engine, "PATIENCE", 1.0)
    monkeypatch.setattr(measure, "FIRST_SECONDS", 2.0)


def attempt(folder: Path, way: Way) -> Ran:
    """Try a way: what the command printed, once it is known that nothing else happened."""
    plan = write_small(folder, way.how, way.rows, **{**SHORT, **way.plan})
    if plan.exists():
        plan.write_text(plan.read_text().replace("FOLDER", str(folder)))
    way.prepare(folder)
    before = state(folder / "engine")
    ran = tuner("improve", plan, "--run", folder / way.run)
    if way.said != TOUCHED:
        assert state(folder / "engine") == before
    assert processes(folder) == []
    return ran


# of engines and rows, which the tests of their clients have, these and not all
FEW = {
    *(f"engine: {name}" for name in ("crashes at go", "hangs at isready", "plays an illegal move")),
    *(f"rows: {name}" for name in ("prints text", "is off by a constant", "hangs in the middle")),
}


def is_long(name: str) -> bool:
    """Whether a way takes seconds that `make test` saves."""
    return WAYS[name].long or name.startswith(("engine: ", "rows: ")) and name not in FEW


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] * is_long(name)) for name in WAYS]
)
def test_a_bad_way_ends_in_one_line(tmp_path, hasty, name):
    ran = attempt(tmp_path, WAYS[name])
    *_, last = ran.err.splitlines()
    print(last)
    assert ran.status == 2 and ran.out == ""
    assert last.startswith("tuner") and last.isprintable() and "Traceback" not in ran.err
    assert WAYS[name].said.replace("FOLDER", str(tmp_path)) in last
