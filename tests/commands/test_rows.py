"""Every command with rows that another program counted, of chess and of a game that is not known
here, says what is true."""

import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from games.streams import pieces
from tests.commands.support import Ran, done, tuner
from tests.tuner.learn.test_engine_rows import FAKE, PARAMETERS
from tests.tuner.trace.support import SAMPLES

OTHELLO = """game: othello
scale: 0.01
stages: [open, end]
terms: rows
phases: 60
weights:
  discs:
    corner: {open: 20, end: 30}
    edge: {open: [1, 2, 3], end: [4, 5, 6]}
"""
# what nobody can do with rows
WORDS = ("rootstrap", "--method rootstrap", "our own search", "tuner match my.yaml")


def othello_rows(path: Path, scores: bool = False) -> None:
    """Rows of 300 games whose results follow the counts."""
    random = np.random.default_rng(4)
    lines = []
    for game in range(300):
        for phase in (10, 30, 50):
            counts = {
                "discs.corner": int(random.integers(-2, 3)),
                "discs.edge[1]": int(random.integers(-3, 4)),
            }
            share = phase / 60
            value = share * (20 * counts["discs.corner"] + 2 * counts["discs.edge[1]"]) + (
                1 - share
            ) * (30 * counts["discs.corner"] + 5 * counts["discs.edge[1]"])
            result = 1 if random.random() < 1 / (1 + np.exp(-0.03 * value)) else 0
            row = {"game": game, "result": result, "phase": phase, "eval": value, "counts": counts}
            lines.append(
                json.dumps({**row, **({"score": round(1.1 * value, 1)} if scores else {})})
            )
    path.write_text("\n".join(lines) + "\n")


@pytest.fixture(scope="module")
def chess(tmp_path_factory) -> Path:
    """A folder with my.yaml, games.pgn, and rows.ds that an engine counted."""
    folder = tmp_path_factory.mktemp("chess")
    (folder / "my.yaml").write_text(PARAMETERS)
    games = b"".join(pieces(SAMPLES)).split(b"[Event ")[1:201]
    (folder / "games.pgn").write_bytes(b"".join(b"[Event " + game for game in games))
    ran = done(
        "dataset",
        folder / "games.pgn",
        "--engine",
        FAKE,
        "--params",
        folder / "my.yaml",
        "--per-game",
        4,
        "-o",
        folder / "rows.ds",
    )
    assert (
        "read 200 games, used 200" in ran.err
        and "(100 %) agree with the engine's evaluation" in ran.err
    )
    return folder


@pytest.fixture(scope="module")
def othello(tmp_path_factory) -> Path:
    """A folder with my.yaml and rows.ds of a game without rules here."""
    folder = tmp_path_factory.mktemp("othello")
    (folder / "my.yaml").write_text(OTHELLO)
    othello_rows(folder / "rows.jsonl")
    done("dataset", folder / "rows.jsonl", "--params", folder / "my.yaml", "-o", folder / "rows.ds")
    return folder


@pytest.fixture(params=["chess", "othello"])
def folder(request) -> Path:
    return request.getfixturevalue(request.param)


def tuned(folder: Path, into: Path) -> Ran:
    return done(
        "tune",
        folder / "my.yaml",
        folder / "rows.ds",
        "-o",
        into / "learned.yaml",
        "--run",
        into / "run",
    )


def true(ran: Ran) -> str:
    """The output, which names nothing that needs rules or a search."""
    text = ran.out + ran.err
    assert not [word for word in WORDS if word in text], text
    return text


def test_they_are_learned_from_reported_and_compared(folder, tmp_path):
    text = true(tuned(folder, tmp_path))
    assert (
        "logistic: learns from the results alone" in text and "see what changed: tuner diff" in text
    )
    true(done("report", tmp_path / "run"))
    page = (tmp_path / "run" / "report.html").read_text()
    assert not [word for word in WORDS if word in page]
    text = true(done("diff", folder / "my.yaml", tmp_path / "learned.yaml", "--show", 0))
    assert "material.pawn" in text or "discs.corner" in text


def test_results_of_games_are_learned_for_play(folder, tmp_path):
    tuned(folder, tmp_path)
    note = yaml.safe_load((tmp_path / "learned.yaml").read_text())["learned"]
    assert note["prior"] == "play" and "share" in note["play"] and note["slopes"]


def test_a_dry_run_says_what_they_identify(folder):
    text = true(done("tune", folder / "my.yaml", folder / "rows.ds", "--dry-run"))
    assert "free weights" in text


def test_parameter_files_are_described_and_exported(folder):
    text = true(done("params", folder / "my.yaml"))
    assert "counted by another program" in text and ("24 steps" in text or "60 steps" in text)
    code = true(done("export", folder / "my.yaml", "--format", "c"))
    assert (
        "static const int material_pawn[2] = {100, 100};" in code
        or "discs_corner[2] = {20, 30};" in code
    )


def test_scores_in_rows_are_learned_from(tmp_path):
    (tmp_path / "my.yaml").write_text(OTHELLO)
    othello_rows(tmp_path / "rows.jsonl", scores=True)
    words = ("tune", tmp_path / "my.yaml", tmp_path / "rows.jsonl", "-o", tmp_path / "learned.yaml")
    assert "--method scores learns from the scores" in true(done(*words))
    text = true(done(*words, "--method", "scores"))
    assert (
        "learns from the scores in these files; --method logistic learns from the results alone"
        in text
    )


def test_games_in_place_of_rows_are_refused_with_the_command_that_makes_rows(chess, tmp_path):
    ran = tuner("tune", chess / "my.yaml", chess / "games.pgn", "-o", tmp_path / "learned.yaml")
    assert (
        ran.status == 2
        and ran.err
        == f"tuner: {chess}/games.pgn: not rows, but another program counts the terms of"
        f" {chess}/my.yaml; name rows, or let it count: tuner dataset {chess}/games.pgn --engine"
        f" COMMAND --params {chess}/my.yaml -o rows.ds\n"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["games.pgn", "--engine", FAKE],
            "without --params it is not known what its rows count; add --params FILE",
        ),
        (
            ["rows.ds", "--engine", FAKE, "--params", "my.yaml"],
            "needs positions; rows.ds holds rows, which are counts of another program",
        ),
        (["rows.ds"], "dataset: needs positions; rows.ds holds rows, which are counts of another"),
        (
            ["rows.jsonl", "--engine", FAKE, "--params", "my.yaml"],
            "has no use for rows.jsonl, which are rows already; leave it out",
        ),
        (
            ["games.pgn", "--engine", "./missing", "--params", "my.yaml"],
            "./missing: no such program, expected the command of an engine that prints rows",
        ),
        (["games.pgn", "--engine", FAKE, "--params", "missing.yaml"], "missing.yaml: no such file"),
        (["inspect", "rows.ds", "--engine", FAKE], "--engine: has no use here"),
        (["games.pgn", "--teacher", "uci:x"], "--teacher uci:x: it scores the rows of --engine"),
        (
            ["games.pgn", "--engine", FAKE, "--params", "my.yaml", "--depth", "5"],
            "--depth 5: there is no --teacher",
        ),
        (
            ["games.pgn", "--engine", FAKE, "--params", "my.yaml", "--teacher", "uci:./missing"],
            "./missing: no such program",
        ),
        (
            ["games.pgn", "--not-linear", "king safety"],
            "is not a file of rows; leave it out, or add --engine COMMAND",
        ),
    ],
)
def test_mistakes_with_engines_are_one_line(chess, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(chess)
    outputs = [] if arguments[0] == "inspect" else ["-o", tmp_path / "new.ds"]
    ran = tuner("dataset", *arguments, *outputs)
    assert (
        ran.status == 2
        and words in ran.err
        and ran.err.count("\n") == 1
        and not (tmp_path / "new.ds").exists()
    )


def test_an_export_of_a_dataset_of_games_says_that_it_has_no_positions(chess, tmp_path):
    (tmp_path / "games.ttt").write_text("1-0 b2 a1 c1 a3 a2 b1 c2\n")
    done(
        "dataset", tmp_path / "games.ttt", "-o", tmp_path / "games.ds", "--params", "tictactoe/zero"
    )
    ran = done("dataset", "export", tmp_path / "games.ds", "-o", tmp_path / "games.jsonl")
    assert (
        ran.err
        == f"{tmp_path / 'games.ds'}: holds counts, but not the positions that were counted: the"
        " rows have no `fen`\n"
    )
    assert (
        "`fen`"
        not in done("dataset", "export", chess / "rows.ds", "-o", tmp_path / "rows.jsonl").err
    )
