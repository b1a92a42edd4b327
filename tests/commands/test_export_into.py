"""`tuner export --into`: a source of all bundled numbers, what is printed, --check, and files that
stay as they were."""

import json
import os
from pathlib import Path

import pytest

from tests.commands.export_support import write_learned
from tests.commands.support import done, refused, tuner
from tuner.evaluation.loading import load_parameters


@pytest.fixture
def learned(here) -> Path:
    """The current folder has a learned file and a header with the numbers of `classic`."""
    done("export", "classic", "--format", "c", "-o", "weights.h")
    return write_learned(Path("learned.yaml"))


def test_check_lists_the_differences_and_exits_with_status_1(learned):
    before = Path("weights.h").read_bytes()
    said = done("export", "classic", "--into", "weights.h", "--check")
    assert said.out == "weights.h: all 1,230 numbers are those of classic\n"
    ran = tuner("export", learned, "--into", "weights.h", "--check")
    first, *_, last = ran.out.splitlines()
    p = load_parameters(learned)
    assert (ran.status, ran.err) == (
        1,
        "",
    ) and first == f"weights.h:10: material.pawn.mg is 82, learned.yaml has {p.weights[0, 0]:.0f}"
    assert " of 1,230 numbers differ; rounded to whole numbers: errors of at most 0.5" in last
    ran = tuner(
        "export", learned, "--into", "weights.h", "--check", "--json", "--only", "material.*"
    )
    found = json.loads(ran.out)
    assert (
        ran.status == 1
        and found["numbers"] == 10
        and found["differences"][0]
        == {
            "name": "material.pawn.mg",
            "file": "weights.h",
            "line": 10,
            "source": 82.0,
            "parameters": round(p.weights[0, 0]),
        }
    )
    assert Path("weights.h").read_bytes() == before


def test_mode_bytes_and_links_are_kept(learned):
    text = b"\xef\xbb\xbf// \xe9t\xe9 5\r\n\tint MaterialPawn[2] = { 7, 7 };\t// \xff\r\n"
    Path("real").mkdir()
    source = Path("real/eval.h")
    source.write_bytes(text)
    source.chmod(0o750)
    Path("link.h").symlink_to("real/eval.h")
    done("export", "pesto", "--into", "link.h", "--only", "material.pawn")
    assert source.read_bytes() == text.replace(b"{ 7, 7 }", b"{ 82, 94 }")
    assert source.stat().st_mode & 0o777 == 0o750 and Path("link.h").is_symlink()
    inode, time = source.stat().st_ino, source.stat().st_mtime_ns
    done("export", "pesto", "--into", "link.h", "--only", "material.pawn")
    # nothing to compile again
    assert (source.stat().st_ino, source.stat().st_mtime_ns) == (
        inode,
        time,
    )
    assert sorted(os.listdir("real")) == ["eval.h"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            "--into weights.h -o out.h",
            "-o out.h: --into writes into the source itself; leave out -o",
        ),
        ("--from weights.h", "--from: expected -o FILE, the parameter file to write"),
        (
            "--from weights.h -o new.yaml --decimals 1",
            "--decimals: --from reads the numbers of the source unchanged; leave it out",
        ),
        (
            "--from weights.h -o weights.h",
            "weights.h: is an input of this command and would be overwritten",
        ),
        (
            "--from weights.h -o new.yaml --check",
            "--check: only --into SOURCE uses it; leave it out",
        ),
        ("--format c --check", "--check: only --into SOURCE uses it; leave it out"),
        ("--format c --map names.yaml", "--map: only --into SOURCE uses it; leave it out"),
        ("--format c --only material", "--only: only --into SOURCE uses it; leave it out"),
        ("--format c --into weights.h", "argument --into: not allowed with argument --format"),
        (
            "--into nothing.h",
            "nothing.h: no such file; --into takes the source that holds the numbers",
        ),
        ("--into weights.h --map nothing.yaml", "nothing.yaml: no such file"),
        (
            "--into weights.h --into ./weights.h",
            "weights.h: is an input of this command and would be overwritten",
        ),
        (
            "--into learned.yaml",
            "learned.yaml: is an input of this command and would be overwritten",
        ),
        ("--into folder.h", "folder.h: is a folder, expected a source file"),
        ("--into zero.h", "zero.h: holds zero bytes, expected source text"),
        ("--into readonly.h", "readonly.h: is read-only; make it writable first"),
        ("--into twice.h", "twice.h: has more names (hard links), which would keep the old"),
    ],
)
def test_what_makes_no_sense_is_refused_and_nothing_written(learned, words, said):
    Path("folder.h").mkdir()
    Path("zero.h").write_bytes(b"i\0n\0t\0")
    Path("readonly.h").write_bytes(Path("weights.h").read_bytes())
    Path("readonly.h").chmod(0o444)
    Path("once.h").write_bytes(Path("weights.h").read_bytes())
    os.link("once.h", "twice.h")
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    assert said in refused("export", learned, *words.split())
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before
