"""`tuner report`: from a run to a page, and errors for folders that contain no run."""

import json

import pytest

from tests.commands.support import done, refused, tictactoe_file
from tests.tuner.core.support import execute, put
from tests.tuner.report.support import findings, match_run, tune_run
from tuner.core.store import RESULT
from tuner.io.run_folder import SETTINGS
from tuner.results.fit import FINDINGS


def test_a_fit_to_games_becomes_a_page(tmp_path):
    """The whole way, for a game without an 8x8 board, in a file with a name that would like to be
    more."""
    games = tmp_path / "<script>alert(1)<&script>.ttt"
    tictactoe_file(tmp_path).rename(games)
    done(
        "tune",
        "tictactoe/classic",
        games,
        "-o",
        tmp_path / "learned.yaml",
        "--run",
        tmp_path / "run",
    )
    result = json.loads(done("report", tmp_path / "run", "--json").out)
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert result["output"] == str(tmp_path / "run" / "report.html") and result["bytes"] == len(
        page.encode()
    )
    assert result["kind"] == "tune" and result["matches"] == []
    assert {"values", "learning", "lists", "numbers", "data", "repeat"} <= set(result["sections"])
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;&amp;script&gt;.ttt" in page
    for number in ("lines.open[1]", "squares.tempo"):
        assert number in page
    before = {
        path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()
    }
    assert "wrote" in done("report", tmp_path / "run", "-o", tmp_path / "other.html").out
    assert (tmp_path / "other.html").read_text(
        encoding="utf-8"
    ) == page  # the same run, the same page
    assert {
        path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.is_file()
    } == before


def test_selfplay_and_a_match_become_pages(tmp_path):
    done(
        "selfplay",
        "--games",
        6,
        "--depth",
        1,
        "--plies",
        30,
        "--batch",
        2,
        "--run",
        tmp_path / "run",
    )
    done(
        "match",
        tmp_path / "run" / "params.yaml",
        "material",
        "--games",
        4,
        "--depth",
        1,
        "--plies",
        30,
        "--run",
        tmp_path / "match",
    )
    result = json.loads(
        done("report", tmp_path / "run", "--match", tmp_path / "match", "--json").out
    )
    assert result["kind"] == "selfplay" and {"match-1", "learning", "tables"} <= set(
        result["sections"]
    )
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert (
        "whether params is better than material" in page
        and "4 games, depth 1, 8 random plies" in page
    )
    assert json.loads(done("report", tmp_path / "match", "--json").out)["sections"] == [
        "match-1",
        "repeat",
    ]


def damaged(folder, name: str, content: bytes | None):
    """A run with one file, record or blob replaced, or without it."""
    if name.endswith(".yaml"):
        path = folder / name
        path.unlink() if content is None else path.write_bytes(content)
    elif name == RESULT:
        execute(folder, "UPDATE records SET json = ? WHERE number = 1", content.decode())
    elif content is None:
        execute(folder, "DELETE FROM blobs WHERE name = ?", name)
    else:
        put(folder, name, content)
    return folder


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (SETTINGS, None, "holds no run (no run.db with its settings)"),
        (SETTINGS, b"just words", "run.db: settings: not JSON"),
        (SETTINGS, b"{}", "run.db: settings: lacks 'section'"),
        (RESULT, b"{", "result 1: damaged, not JSON"),
        (RESULT, b"[1]", "result 1: damaged, not a JSON object"),
        (RESULT, b'{"batch": 1}', "result 1: lacks 'iteration'"),
        ("params.yaml", None, "params.yaml: no such file"),
        ("params.yaml", b"game: chess\n", "params.yaml:1: stages is missing"),
        ("params.yaml", b"game: go\n", "params.yaml:1: unknown game 'go'"),
        ("start.yaml", b"game: chess\n", "start.yaml:1: game is 'chess', expected tictactoe"),
        (FINDINGS, b"{", "findings: not JSON"),
        (FINDINGS, b"[]", "findings: not a JSON object"),
        (
            FINDINGS,
            b'{"result": {"ratios": {"a": 1}}}',
            "findings: result.ratios is an object, expected a list",
        ),
        (
            FINDINGS,
            b'{"calibration": {"results": {"after": [{"predicted": 1}]}}}',
            "findings: calibration.results.after[0] lacks 'actual'",
        ),
        (
            FINDINGS,
            b'{"result": {"advice": [3]}}',
            "findings: result.advice[0] is 3, expected a text",
        ),
        (
            FINDINGS,
            b'{"summary": {"phases": ["many"]}}',
            'summary.phases[0] is "many", expected a number of 0 or more',
        ),
    ],
)
def test_a_damaged_run_is_reported_in_one_line(tmp_path, name, content, said):
    folder = damaged(tune_run(tmp_path / "run", "tictactoe/classic", findings()), name, content)
    assert said in refused("report", folder)
    assert not (folder / "report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nowhere",), "nowhere: no such folder (no run.db"),
        (("empty",), "empty: holds no run"),
        (("run/params.yaml",), "run/params.yaml: no such folder"),
        (("run", "--match", "run"), "expected one of `tuner match`"),
        (("run", "--match", "nowhere"), "nowhere: no such folder"),
        (("run", "--match", "damaged"), "run.db: result 0: damaged"),
        (("run", "-o", "run/params.yaml"), "run/params.yaml: expected the name of an HTML page"),
        (("run", "-o", "nowhere/page.html"), "nowhere: no such folder to write page.html in"),
        (("run", "-o", "folder.html"), "folder.html: is a folder"),
    ],
)
def test_mistakes_are_reported_in_one_line(here, arguments, said):
    tune_run(here / "run", "tictactoe/classic", findings())
    (here / "empty").mkdir()
    (here / "folder.html").mkdir()
    match_run(here / "damaged", [(1, 0)])
    execute(here / "damaged", "UPDATE records SET json = '{}'")
    text = refused("report", *arguments)
    assert said in text and "Traceback" not in text
    assert not (here / "run" / "report.html").exists()
