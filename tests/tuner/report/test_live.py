"""The page of a run under way: what it says of each state, and what making it costs."""

import os
import shutil
import time

import pytest

from tests.support import refusal
from tests.tuner.core.support import put, write_settings
from tests.tuner.report.support import match_run, selfplay_run, tune_run
from tuner.core.records import to_json
from tuner.core.store import Store, read_records
from tuner.io.now import NOW, CurvePoint, GameNow, Now
from tuner.report import live
from tuner.report.live import LivePage

CHESS = GameNow("chess", ["one", "<two>"], "8/8/8/4k3/8/3K4/4P3/8 b - - 0 1", 12, "Ke5")
SHOGI = GameNow("shogi", [], "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1", 0)


def now(state="running", **more) -> Now:
    return Now(**{"state": state, "began": time.time() - 60, "written": time.time()} | more)


def write(folder, found: Now) -> None:
    put(folder, NOW, to_json(found))


@pytest.fixture
def folder(tmp_path):
    return match_run(tmp_path / "match", [(1, 0), (-1, 1), (1, 1)] * 4)


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(live, "REPORT_LEAST", 0.0)
    monkeypatch.setattr(live, "NOW_LEAST", 0.0)
    monkeypatch.setattr(live, "REPORT_SHARE", 1e9)
    monkeypatch.setattr(live, "NOW_SHARE", 1e9)


def test_a_run_under_way_shows_its_progress_and_its_games(folder):
    found = now(step="playing", text="a & b", done=25, total=100, left=90.0, games=[CHESS, SHOGI])
    write(folder, found)
    answer = LivePage(folder).now()
    assert (answer.wait, answer.title) == (2, "25 % – match")
    for text in ("Playing.", "90 s", "a &amp; b", "one – &lt;two&gt;", "the last Ke5", "<svg"):
        assert text in answer.html
    assert "Black is to move" in answer.html and answer.html.count("<article>") == 2


def test_boards_that_nobody_follows_are_said_to_be_missing(folder):
    write(folder, now(step="playing"))
    assert "No board: games on a cluster" in LivePage(folder).now().html
    write(folder, now(step="computing"))
    assert "No board" not in LivePage(folder).now().html


@pytest.mark.parametrize(
    ("found", "wait", "said", "resumed"),
    [
        (now("ended"), 0, "The run ended at ", False),
        (now("interrupted"), 10, "The run was interrupted at ", True),
        (now("failed", note="disk <full>"), 10, "disk &lt;full&gt;", False),
        (now(written=time.time() - 100), 10, "No word from the run since ", True),
        (None, 10, "Nothing here says that the run is under way", False),
    ],
    ids=["ended", "interrupted", "failed", "killed", "older"],
)
def test_a_run_that_is_not_under_way_says_what_it_is(folder, found, wait, said, resumed):
    if found:
        write(folder, found)
    answer = LivePage(folder).now()
    assert answer.wait == wait and said in answer.html
    assert (f"tuner match --resume {folder}" in answer.html) == resumed


def test_a_loop_shows_the_step_that_plays_and_else_its_own(tmp_path):
    write_settings(tmp_path, "improve", {})
    write(tmp_path, now(began=1.0, note="round 1, whole build (2 s so far): `make`"))
    match = tmp_path / "round-1" / "whole" / "match-before"
    match.mkdir(parents=True)
    write(match, now("ended", began=2.0, step="playing"))
    assert "Round 1, whole build (2 s so far)." in LivePage(tmp_path).now().html
    own = {"step": "round 1, whole match before", "note": "at most about 12 min left"}
    write(tmp_path, now(began=1.0, **own))
    write(match, now(began=2.0, step="playing", games=[CHESS]))
    html = LivePage(tmp_path).now().html
    assert "Round 1, whole match before: playing." in html and "<svg" in html
    assert own["note"] in html
    write(match, now(began=2.0, written=time.time() - 100, step="playing"))
    assert "whole match before." in LivePage(tmp_path).now().html


@pytest.mark.parametrize("name", ["params.yaml", "run.db"])
@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_is_no_file_is_not_read(folder, name, kind):
    path = folder / name
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")
    assert f"{name}: is no file" in LivePage(folder).page()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"state": 3}'])
def test_a_damaged_state_says_why(folder, content):
    put(folder, NOW, content)
    assert "The state of the run is unknown: " in LivePage(folder).page()


def test_a_name_that_is_no_text_has_escapes(folder):
    odd = folder.with_name(os.fsdecode(b"odd\xff"))
    shutil.move(folder, odd)
    write(odd, now(step="playing"))
    LivePage(odd).page().encode()
    assert "odd" in LivePage(odd).now().title


def test_a_folder_that_is_deleted_and_a_run_that_goes_on_are_noticed(folder):
    write(folder, now(step="playing"))
    page = LivePage(folder)
    before = page.page()
    kept = folder.with_name("kept")
    shutil.move(folder, kept)
    answer = page.now()
    assert "not there any more" in answer.html and answer.wait == 10
    assert '<section id="match' in page.page() and "Playing." not in page.page()
    shutil.move(kept, folder)
    write(folder, now("interrupted"))
    assert "was interrupted" in page.now().html
    write(folder, now(step="playing"))
    assert "Playing." in page.now().html and page.page().count("<section") == before.count(
        "<section"
    )


@pytest.mark.parametrize(
    "make",
    [
        pytest.param(tune_run, marks=pytest.mark.long),
        pytest.param(selfplay_run, marks=pytest.mark.long),
        lambda path: match_run(path, [(1, 0)]),
    ],
)
def test_every_report_lives(tmp_path, make):
    folder = make(tmp_path / "run")
    page = LivePage(folder).page()
    assert page.count('<section id="now"') == 1 and 'data-report="' in page
    assert page.count("<section ") > 2 and "connect-src 'self'" in page


def test_a_report_that_cannot_be_made_yet_says_why(tmp_path):
    curve = [CurvePoint(i, 1 / (i + 1), 0.3) for i in range(5)]
    write(tmp_path, now(step="fitting", curve=curve))
    page = LivePage(tmp_path).page()
    assert "The report begins when" in page and "Loss by iteration" in page
    assert "contains no run" in refusal(LivePage, tmp_path.parent)


def test_games_to_learn_from_have_no_report(tmp_path):
    write_settings(tmp_path, "games", {})
    write(tmp_path, now(step="playing", games=[CHESS]))
    page = LivePage(tmp_path).page()
    assert "have no report of their own" in page and "the last Ke5" in page


def test_a_report_is_made_again_when_its_files_change_and_else_not(folder, monkeypatch):
    write(folder, now(step="playing"))
    page = LivePage(folder)
    made, original = [], live.render
    monkeypatch.setattr(live, "render", lambda *given: made.append(1) or original(*given))
    first = page.now().report
    for _ in range(5):
        write(folder, now(step="playing", done=len(made)))
        assert page.now().report == first
    assert len(made) == 1
    with Store(folder) as store:
        store.append(read_records(folder)[0] | {"pair": 12})
        assert page.now().report != first and len(made) == 2
