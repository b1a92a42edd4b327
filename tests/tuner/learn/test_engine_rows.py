"""Rows that an engine prints for positions of games become a dataset; whatever goes wrong is one
line, and leaves nothing."""

import os
import re
import shlex
import signal
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from games import process
from games.record import PositionBatch, ReadOptions, ReadReport, available, find
from games.streams import pieces
from tests.games.tictactoe.support import random_games
from tests.support import refusal
from tests.tuner.trace.support import SAMPLES
from tuner.datasets.reader import open_dataset
from tuner.datasets.rows import row_engine
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.evaluation.loading import load_engine, load_parameters, parameter_path
from tuner.learn import engine_rows
from tuner.learn.build import Scores, prepared, recorded_scores
from tuner.learn.build import build as build_games
from tuner.learn.engine_rows import build_engine_rows
from tuner.learn.sources import sources_of

FAKE = (
    f"{shlex.quote(sys.executable)} -S {shlex.quote(str(Path(__file__).with_name('row_fake.py')))}"
)
CHESS = find("chess")
LABELS = """4k3/8/8/8/8/8/PP6/4K3 w - - 0 1 [1.0]
4k3/pp6/8/8/8/8/8/4K3 b - - 0 1 [0.0]
r3k3/2p5/8/3N4/8/4P3/5PP1/4KB2 b - - 0 20 [0.5]
4k3/8/8/8/8/8/P7/R3K3 b - - 0 1 [1.0]
"""
PARAMETERS = """game: chess
scale: 0.003
stages: [mg, eg]
terms: rows
phases: 24
weights:
  material:
    pawn: {mg: 100, eg: 100}
"""


@pytest.fixture(scope="module")
def quiescence() -> WeightsEvaluation:
    return WeightsEvaluation(*load_engine(parameter_path("classic")))


@pytest.fixture
def build(tmp_path, quiescence, monkeypatch):
    """A function that makes a dataset with the fake engine; the notes are kept in its attribute."""
    (tmp_path / "games.epd").write_text(LABELS)
    (tmp_path / "my.yaml").write_text(PARAMETERS)
    monkeypatch.setattr(process, "QUIT_SECONDS", 0.2)
    monkeypatch.setattr(row_engine, "PATIENCE", 2.0)

    def made(
        how: str = "",
        source: Path | None = None,
        options: ReadOptions | None = None,
        command: str | None = None,
        scores: Scores = recorded_scores,
    ):
        p = load_parameters(tmp_path / "my.yaml")
        named = [str(source or tmp_path / "games.epd")]
        games = sources_of(named, find(p.game)) if p.game in available() else ()
        return build_engine_rows(
            command or f"{FAKE} {how}",
            games,
            tmp_path / "rows.ds",
            p,
            options or ReadOptions(),
            quiescence,
            None,
            made.notes.append,
            lambda done: None,
            scores,
        )

    made.notes = []
    return made


def refused(build, tmp_path, how: str, **arguments) -> str:
    """The error of an engine that misbehaves; nothing is left of the dataset."""
    before = sorted(tmp_path.iterdir())
    said = refusal(build, how, **arguments)
    assert sorted(tmp_path.iterdir()) == before
    return said.removeprefix(f"{FAKE} {how}: ")


def test_scores_are_those_of_a_teacher_where_there_is_one(build):
    asked = []

    def teach(batch: PositionBatch) -> np.ndarray:
        asked.extend(CHESS.texts(batch.positions))
        return np.arange(len(batch.positions)) * 10.0

    data, *_ = build(scores=teach)
    assert data.texts(np.arange(4)) == asked and data.score.tolist() == [0, 10, 20, 30]
    assert not len(build()[0].score)


@pytest.mark.parametrize("how", ["", "prompt", "greeting"])
def test_rows_have_the_results_of_the_games(build, how):
    data, check, totals, report = build(how)
    assert data.texts(np.arange(4)) == [line.rpartition(" ")[0] for line in LABELS.splitlines()]
    assert data.outcome.tolist() == [1, -1, 0, 1] and data.evaluation.tolist() == [
        200,
        -200,
        200,
        100,
    ]
    assert check.fits and totals.rows == report.positions == 4
    assert (
        data.manifest["options"]["engine"] == f"{FAKE} {how}"
        and data.manifest["sources"][0]["file"] == "games.epd"
    )


def test_games_and_positions_are_those_of_the_games_dataset(
    build, tmp_path, quiescence, monkeypatch
):
    """Quiet positions, some of each game; batches are cut where they like."""
    monkeypatch.setattr(engine_rows, "AHEAD", 50)
    text = b"".join(b"[Event " + game for game in _sample_games(40))
    (tmp_path / "games.pgn").write_bytes(text)
    options = ReadOptions(per_game=7, skip_start=12)
    data, check, *_ = build(source=tmp_path / "games.pgn", options=options)
    other, _ = build_games(
        quiescence.engine,
        sources_of([str(tmp_path / "games.pgn")], quiescence.engine.game),
        tmp_path / "games.ds",
        options,
        quiescence,
        print,
    )
    assert check.fits and data.positions == other.positions > 200
    assert all(
        np.array_equal(getattr(data, name), getattr(other, name))
        for name in ("game", "first", "opening")
    )
    assert np.array_equal(data.outcome, other.outcome)
    options = prepared(options, quiescence)
    batches = CHESS.files.read(str(tmp_path / "games.pgn"), options, ReadReport(), print)
    expected = np.concatenate([batch.positions for batch in batches])
    assert data.texts(np.arange(data.positions)) == CHESS.texts(expected)


def _sample_games(n: int) -> list[bytes]:
    return b"".join(pieces(SAMPLES)).split(b"[Event ")[1 : n + 1]


def test_recorded_scores_are_kept(build, tmp_path):
    (tmp_path / "scores.txt").write_text(
        "".join(
            f"{line.rpartition(' ')[0]} | {score} | {result}\n"
            for line, score, result in zip(
                LABELS.splitlines(), (250, -180, 31, 700), ("1.0", "0.0", "0.5", "1.0"), strict=True
            )
        )
    )
    data, *_ = build(source=tmp_path / "scores.txt")
    assert data.score.tolist() == [250, -180, 31, 700] and data.outcome.tolist() == [1, -1, 0, 1]


def test_positions_without_a_row_are_left_out_and_counted(build):
    data, check, totals, _ = build("missing 1")
    assert data.outcome.tolist() == [1, 0, 1] and totals.rows == 3 and check.fits
    assert build.notes == ["skipped 1 position without a row: in check"]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            "crash 2",
            (
                "exited with status 3 after 2 answers, and complained: eval.h:7: an index out of"
                " range; expected a line of JSON for each line of standard input; try echo"
                " 'r3k3/2p5/8/3N4/8/4P3/5PP1/4KB2 b - - 0 20' | "
            ),
        ),
        (
            "half 1",
            'exited with status 0 within the line {"fen": "4k3/pp6/8/8/8/8/8/4K3 after 1 answer;',
        ),
        ("silent 3", "printed nothing within 2 s after 3 answers;"),
        ("endless 1", "printed a line of more than 1,048,576 bytes after 1 answer;"),
        ("orphan 1", "exited with status 0 after 1 answer;"),
        ("chatty 2", "printed info string hello, which is no row, after 2 answers;"),
        ("array 2", "printed [1, 2], which is no row, after 2 answers;"),
        (
            "skip 1",
            (
                "answer 2 has the fen 'r3k3/2p5/8/3N4/8/4P3/5PP1/4KB2 b - - 0 20', but"
                " '4k3/pp6/8/8/8/8/8/4K3 b - - 0 1' was asked"
            ),
        ),
        (
            "hash",
            (
                "4 of 4 positions that were sent twice have different rows the second time; in"
                " 4k3/8/8/8/8/8/PP6/4K3 w - - 0 1 material.pawn is counted 2 times, and then 0; a"
                " pawn hash or a cache"
            ),
        ),
        ("more", "after its 4 answers; expected one line for each position, since"),
        (
            "twice 1",
            (
                "answer 3 has the fen '4k3/pp6/8/8/8/8/8/4K3 b - - 0 1', but"
                " 'r3k3/2p5/8/3N4/8/4P3/5PP1/4KB2 b - - 0 20' was "
            ),
        ),
        (
            "other 1",
            (
                "answer 2 has the fen '4k3/8/8/8/8/8/8/4K3 w - - 0 1', but '4k3/pp6/8/8/8/8/8/4K3 b"
                " - - 0 1' was asked"
            ),
        ),
        ("every", "printed no row for any of 4 positions, but the error 'no rows today'"),
    ],
)
def test_what_goes_wrong_is_one_line_and_leaves_nothing(build, tmp_path, monkeypatch, how, words):
    monkeypatch.setenv("FAKE_CHILDREN", str(tmp_path / "children"))
    (tmp_path / "children").touch()
    assert words in refused(build, tmp_path, how)
    for child in (tmp_path / "children").read_text().split():
        assert not _runs(int(child))


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (
            "name 2",
            (
                "line 3: 'material.pwan' is not a number of the parameter file; did you mean"
                " material.pawn"
            ),
        ),
        ("cut 1", "line 2: not a row in JSON"),
        ("phase 1", "line 2: phase is -1; expected a whole number of 0 to the `phases` of the"),
    ],
)
def test_a_bad_row_is_named_by_its_line(build, tmp_path, how, words):
    assert words in refused(build, tmp_path, how).removeprefix(f"answers of {FAKE} {how}: ")


@pytest.mark.parametrize("how", ["phase 30", "name 0", "cut 200"])
def test_a_few_rows_that_cannot_be_are_left_out_and_counted(build, tmp_path, how):
    (tmp_path / "games.pgn").write_bytes(b"".join(b"[Event " + game for game in _sample_games(40)))
    options = ReadOptions(per_game=7, skip_start=12)
    whole, *_ = build(source=tmp_path / "games.pgn", options=options)
    build.notes.clear()
    data, check, totals, _ = build(how, source=tmp_path / "games.pgn", options=options)
    at = int(how.split()[1])
    kept = np.delete(np.arange(whole.positions), at)
    assert totals.rows == data.positions == whole.positions - 1 > 200 and check.fits
    assert data.texts(np.arange(data.positions)) == whole.texts(kept)
    assert np.array_equal(data.outcome, whole.outcome[kept])
    (note,) = build.notes
    assert note.startswith("left out 1 faulty row, the first: ")
    assert note.endswith(f"; it is of {whole.texts(np.array([at]))[0]}")


def test_rows_with_a_phase_above_the_largest_are_left_out_and_counted(build):
    data, check, totals, _ = build("above 1")
    assert (totals.rows, totals.above, totals.largest) == (4, 1, 99) and data.positions == 3
    assert check is not None and check.checked == 3


def test_what_is_no_program_or_another_program_is_said(build, tmp_path):
    assert (
        refused(build, tmp_path, "", command="./no-such-engine trace")
        == "./no-such-engine: no such program, expected the command of an engine that prints rows"
    )
    assert (
        "printed nothing within 2 s after 0 answers (its last line: Fake 1 by nobody);"
        in refused(build, tmp_path, "", command="sh -c 'echo Fake 1 by nobody; sleep 100'")
    )


def test_an_interrupt_ends_the_engine(build, tmp_path, monkeypatch):
    """Ctrl-C arrives while rows are waited for: as a signal, which ends the wait (`interrupt_main`
    would not)."""
    main = threading.main_thread().ident
    assert main == threading.get_ident()

    ended = threading.Event()

    def interrupt() -> None:
        """Once, and again if that one came while something in this process swallowed it, such as a
        collection of garbage."""
        signal.pthread_kill(main, signal.SIGINT)
        while not ended.wait(10):
            signal.pthread_kill(main, signal.SIGINT)

    # what a shell starts in the background ignores Ctrl-C
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)

    monkeypatch.setattr(row_engine, "PATIENCE", 60.0)
    before, threads = sorted(tmp_path.iterdir()), threading.active_count()
    read, timers = row_engine.RowEngine._read, [threading.Timer(0.5, interrupt)]

    def interrupted_soon(engine: row_engine.RowEngine) -> None:
        """Begin to read; the interrupt does not arrive earlier, where an import could swallow
        it."""
        while timers:
            timers.pop().start()
        read(engine)

    monkeypatch.setattr(row_engine.RowEngine, "_read", interrupted_soon)
    try:
        with pytest.raises(KeyboardInterrupt):
            build("silent 1")
    finally:
        ended.set()
        signal.signal(signal.SIGINT, handler)
    assert sorted(tmp_path.iterdir()) == before
    end = time.monotonic() + 60
    while threading.active_count() > threads and time.monotonic() < end:
        time.sleep(0.05)
    assert threading.active_count() <= threads


def test_games_that_are_not_read_here_are_refused(build, tmp_path):
    (tmp_path / "my.yaml").write_text(PARAMETERS.replace("chess", "othello"))
    assert re.search(
        f"games of othello are not read here, only of {', '.join(available())}; let the engine",
        refusal(build),
    )


def test_other_games_are_sent_in_their_notation(tmp_path, build):
    (tmp_path / "games.ttt").write_text("\n".join(random_games(1, 20)) + "\n")
    (tmp_path / "my.yaml").write_text(PARAMETERS.replace("chess", "tictactoe"))
    evaluator = WeightsEvaluation(*load_engine(parameter_path("classic", "tictactoe")))
    p = load_parameters(tmp_path / "my.yaml")
    data, *_ = build_engine_rows(
        FAKE,
        sources_of([str(tmp_path / "games.ttt")], find("tictactoe")),
        tmp_path / "rows.ds",
        p,
        ReadOptions(),
        evaluator,
        None,
        print,
        lambda done: None,
    )
    assert all(
        find("tictactoe").position(text) is not None
        for text in data.texts(np.arange(data.positions))
    )
    assert open_dataset(tmp_path / "rows.ds").games == data.games


def _runs(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return False
        except OSError:
            return False
        time.sleep(0.05)
    return True
