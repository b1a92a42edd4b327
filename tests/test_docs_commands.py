"""Every command of the documentation runs, page by page, from an empty folder, with fewer games."""

import re
import shlex
import shutil
import sys
import textwrap
from pathlib import Path

import pytest
import zstandard

from games.streams import pieces
from tests.commands.support import done, tuner
from tests.games.support import REPOSITORY
from tests.tools import tool
from tests.tuner.trace.support import ENGINES, compile_mini, folder_of

GAMES = 80
PAGES = sorted(
    page
    for page in (REPOSITORY / "docs").glob("*.md")
    if re.search(r"^    tuner ", page.read_text(encoding="utf-8"), re.MULTILINE)
)
# an open page, a machine of its own, hours: these have tests of their own
ELSEWHERE = (
    *("watch ", "uci ", "improve ", "tcp://", "--device gpu", "gpusi", "usi:gpsusi"),
    *("--learn", "my-games", "match my.yaml"),  # of a file that learns while it plays
)
SMALLER = (
    (r"--games \d+", "--games 4"),
    (r"--own-games \d+", "--own-games 12"),
    (r"--depth \d", "--depth 1"),
    (r"--nodes \d+", "--nodes 60"),
    (r"--sprt 0 \S+", "--games 4"),
    (r"--movetime \S+", "--movetime 0.02"),
    (r"--tc \S+", "--nodes 60"),
    (r"--measure-every \d+", "--measure-every 2 --measure-games 6 --measure-plies 30"),
    (r"--measure pubeval", "--measure pubeval --measure-games 6"),
    (r"--plies \d+", "--plies 40"),
    (r"--per-game \d+", "--per-game 1"),
    (r"^(tune shogi/classic samples)", r"\1 --depth 1"),
    (r"^(tune shogi/hand samples)", r"\1 --per-game 1"),
    (r"^(tournament|selfplay) (?!.*--games)", r"\1 --games 4 "),
    (r"^games modern (.*)--games 4", r"games modern \1--games 40 --depth 1"),
    (r"1400:2400:200", "1400:1500:100"),
    (r"(\d+):20:(4|5)", r"\1:20:20"),
    (
        r"^tune classic (games.pgn|samples)(?!.*--(method|teacher))",
        r"tune classic \1 --depth 1 --per-game 1",
    ),
    (r"^optimize (.* --options)", r"optimize --match-games 0 \1"),
)
PROGRAMS = {
    "uci:toga2": ("toga2", "toga2"),
    "uci:stockfish": ("stockfish", "stockfish"),
    "usi:fairy-stockfish": ("fairy-stockfish", "fairy-stockfish"),
    "gnubg": ("gnubg", "gnubg"),
}
SOURCES = {
    "eval.c": "int material_pawn = 80; int material_knight = 300; int mobility_knight[9] = {1, 2};",
    "psqt.c": f"int piece_square_knight[64] = {{{', '.join(map(str, range(64)))}}}; int tempo = 9;",
}
SMALL = REPOSITORY / "tests" / "tuner" / "measured" / "engines"
TERMS = """\
from evalterms.term import Term
from games.bits import popcount

mine = Term("mine")
PAIR = mine.parameter("bishops")


@mine.counts
def count_mine(us, them, emit):
    emit(PAIR, popcount(us.bishops))
"""
ENGINE = """\
#!/bin/sh
if [ "$1" = trace ]; then exec {mini} trace; fi
exec {python} -m tuner uci material --options
"""


def commands_of(page: Path) -> list[str]:
    """The commands in the blocks of a page, without `tuner`."""
    text = page.read_text(encoding="utf-8")
    return [line.split("  # ")[0] for line in re.findall(r"^    tuner (.*)", text, re.MULTILINE)]


def prepare(lines: list[str]) -> None:
    """Write what a page expects of its reader: games with scores, terms, numbers."""
    # scores of classic predict results, material has more draws
    for name, start, depth in (("games.pgn", "classic", 2), ("games.pgn.zst", "material", 1)):
        done("games", start, "--run", start, "--depth", depth, "--games", GAMES)
        text = b"".join(
            piece for path in sorted(Path(start).glob("*.zst")) for piece in pieces(path)
        )
        Path(name).write_bytes(zstandard.compress(text) if name.endswith("zst") else text)
    Path("my_terms.py").write_text(TERMS)
    Path("sts.epd").write_text('k7/2K5/8/8/8/8/8/6Q1 w - - bm Qa1+; id "mate";')
    numbers = tuner("optimize", "classic", "--list").out.splitlines(keepends=True)
    Path("numbers.txt").write_text("".join(numbers[:2]))


def write_sources() -> None:
    """Write sources with numbers."""
    for name, text in SOURCES.items():
        Path("src", name).write_text(text)


def prepare_measured() -> None:
    """Write the sources of an engine that evaluates, and the plan of the page."""
    text = (SMALL / "small.c").read_text()
    begin, end = text.index("static const int PawnSquare"), text.index("const int AttackTable")
    Path("src", "psqt.c").write_text(text[begin:end])
    Path("src", "eval.c").write_text(f'{text[:begin]}#include "psqt.c"\n{text[end:]}')
    shutil.copy(SMALL / "body.h", "src")
    files = "source: {folder: ., files: [src/eval.c, src/psqt.c]}"
    build = "build: gcc src/eval.c -o measured"
    Path("plan.yaml").write_text(f"evals: ./measured evals\n{files}\n{build}\n")


def prepare_engine(folder: Path) -> None:
    """Write an engine that plays, prints rows and has its numbers in a source."""
    Path("src").mkdir()
    write_sources()
    mini = compile_mini("c", folder_of("c", folder))
    for name in ("myengine", "myengine-rows", "before"):
        Path(name).write_text(ENGINE.format(mini=mini.program, python=sys.executable))
        Path(name).chmod(0o755)
    shutil.copy(ENGINES / "mini.yaml", "mini.yaml")
    Path("src/eval.h").write_text(tuner("export", "mini.yaml", "--format", "c").out)


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_command_of_a_page_runs_from_an_empty_folder(page, here):
    lines = commands_of(page)
    prepare(lines)
    if any("./myengine" in line or "src/" in line for line in lines):
        prepare_engine(here)
    for line in lines:
        if any(word in line + " " for word in ELSEWHERE):
            continue
        if any(name in line and not tool(*names) for name, names in PROGRAMS.items()):
            continue
        if re.search(r"(?<!-o )learned\.yaml", line) and not Path("learned.yaml").exists():
            shutil.copy(REPOSITORY / "params" / "chess" / "material.yaml", "learned.yaml")
        if line.startswith("dataset games.pgn --source"):
            prepare_measured()
        if line.startswith("params --new --from src/eval.c"):
            write_sources()
        if line.startswith("dataset games.pgn --engine"):
            shutil.copy("mini.yaml", "start.yaml")  # of the engine that prints these rows
        for pattern, smaller in SMALLER:
            line = re.sub(pattern, smaller, line)
        ran = tuner(*shlex.split(line))
        assert ran.status == 0, f"{line}\n{textwrap.shorten(ran.err, 900)}"
