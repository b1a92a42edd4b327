"""`tuner probe` from an engine to rows, a parameter file and a table; `tuner match --with` sets
what was learned."""

import json
import shlex
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.sparse import load_npz

from tests.commands.match_support import play
from tests.commands.support import done, tuner
from tests.games.chess.engines.client.fake import OPTIONS, count, evaluation
from tests.games.chess.engines.client.support import FAKE
from tests.games.support import REPOSITORY
from tests.tuner.probe.support import CHESS, boards
from tuner.evaluation.loading import load_parameters
from tuner.parameters.layout import Layout, Place
from tuner.parameters.writer import write_parameters

PATTERN = ("--eval-pattern", r"^Evaluation: (\S+)")
ENGINE = f"uci:{FAKE}"
LAYOUT = Layout((Place("options", "Alpha", (), 0), Place("options", "Beta_Weight", (), 1)))
PLAYER = (
    f"uci:{shlex.quote(sys.executable)}"
    f" {REPOSITORY / 'tests/games/chess/engines/contest/fake_engine.py'} uci fine"
)


@pytest.fixture
def labelled(tmp_path, monkeypatch) -> Path:
    """Positions with results, in a folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    texts = [CHESS.text(words) for words in boards(np.random.default_rng(3), 50)]
    path = tmp_path / "positions.epd"
    path.write_text(
        "".join(f"{text}; {('1-0', '1/2-1/2', '0-1')[i % 3]}\n" for i, text in enumerate(texts))
    )
    return path


def test_rows_and_parameters_are_written_and_the_table_says_what_is_linear(labelled):
    ran = done(
        "probe",
        ENGINE,
        labelled,
        "--options",
        "Alpha",
        "beta*",
        "Curve",
        "--fixed",
        "Mix=0",
        *PATTERN,
        "-o",
        "rows.npz",
        "--workers",
        2,
    )
    assert "Fake 1: static evaluations; deviations of more than" in ran.out
    table = [
        line.split() for line in ran.out.splitlines() if line.startswith(("Alpha", "Beta", "Curve"))
    ]
    assert [cells[-4] for cells in table] == [
        "yes",
        "yes",
        "no",
    ]  # then the share of deviations, and the largest
    assert (
        "2 of 3 options are linear" in ran.out
        and "50 rows\nwrote rows.npz and rows.yaml" in ran.out
    )
    with np.load("rows.npz", allow_pickle=False) as file:
        places = [text.decode().split()[0] for text in file["fen"]]
        rest, found = file["rest"], file["eval"]
        assert (
            file["result"].tolist() == [(1, 0.5, 0)[i % 3] for i in range(50)]
            and len(file["game"]) == 50
        )
    counts = load_npz("rows.npz").toarray()
    np.testing.assert_allclose(
        counts, [[count(place, "p"), count(place, "n")] for place in places], atol=1e-6
    )
    usual = {name: value for name, (value, *_) in OPTIONS.items()} | {"Mix": 0}
    np.testing.assert_allclose(found, [evaluation(place, usual) for place in places], atol=1e-4)
    np.testing.assert_allclose(
        rest, [3 + 4 * count(place, "b") for place in places], atol=1e-3
    )  # the curve is not tuned
    path = Path("rows.yaml")
    p = load_parameters(path)
    assert p.weights.tolist() == [[100, 300]] and p.stages == ("all",)
    done(
        "probe", ENGINE, labelled, "--options", "Alpha", *PATTERN, "-o", "rows.npz"
    )  # what it wrote it may replace
    assert p.bounds == (("options.Alpha", (0, 400)), ("options.Beta_Weight", (-500, 900)))


def test_of_large_sources_a_sample_is_drawn_from_the_first_games(labelled, monkeypatch):
    others = labelled.with_name("others.epd")
    others.write_text(labelled.read_text().replace("1-0", "0-1"))
    monkeypatch.setattr("tuner.commands.probe.READ_FOR_EACH", 5)
    for sample, rest in (
        (5, "; positions are drawn from these games, the others are not read"),
        (40, ""),
    ):
        ran = done(
            "probe",
            ENGINE,
            labelled,
            others,
            "--options",
            "Alpha",
            *PATTERN,
            "--sample",
            sample,
            "-o",
            "rows.npz",
            "--duplicates",
            "keep",
        )
        assert ("the others are not read" in ran.err) == bool(rest) and rest in ran.err
        with np.load("rows.npz", allow_pickle=False) as file:
            assert len(file["fen"]) == sample


def test_every_option_is_probed_at_the_values_of_a_file(labelled):
    Path("start.txt").write_text("Curve=40\nMix=30\n")
    found = json.loads(
        done(
            "probe",
            ENGINE,
            labelled,
            "--options",
            "*",
            "--every",
            "--with",
            "start.txt",
            *PATTERN,
            "-o",
            "rows.npz",
            "--json",
        ).out
    )
    assert [option["value"] for option in found["options"]] == [100, 300, 40, 30] and found[
        "rows"
    ] == 50
    with np.load("rows.npz", allow_pickle=False) as file:
        places = [text.decode().split()[0] for text in file["fen"]]
    np.testing.assert_allclose(
        load_npz("rows.npz").toarray()[:, 2],
        [0.8 * count(place, "b") for place in places],
        atol=1e-6,
    )


def test_rounds_of_probes_learn_what_is_not_linear(tmp_path, monkeypatch):
    """Results drawn from the evaluation at other values: they are found again, a square among
    them."""
    monkeypatch.chdir(tmp_path)
    random = np.random.default_rng(8)
    true = {name: value for name, (value, *_) in OPTIONS.items()} | {"Curve": 60, "Mix": 0}
    texts = [CHESS.text(words) for words in boards(random, 1500)]
    wins = random.random(1500) < [
        1 / (1 + np.exp(-2 * 0.0025 * evaluation(text.split()[0], true))) for text in texts
    ]
    Path("p.epd").write_text(
        "".join(
            f"{text}; {'1-0' if win else '0-1'}\n" for text, win in zip(texts, wins, strict=True)
        )
    )
    ran = done(
        "probe",
        ENGINE,
        "p.epd",
        "--options",
        "Alpha",
        "Beta*",
        "Curve",
        "--fixed",
        "Mix=0",
        "--every",
        "--rounds",
        6,
        "--delta",
        4,
        *PATTERN,
        "-o",
        "rows.npz",
        "--workers",
        1,
    )
    assert ran.err.count("fitted to 1,500 positions") > 1 and "Curve 20 -> " in ran.err
    alpha, beta, curve = load_parameters("rows.yaml").weights[0]
    assert abs(beta / alpha - 3) < 0.6 and abs(curve**2 / 100 / alpha - 36 / 100) < 0.12
    refused = tuner(
        "probe", ENGINE, "p.epd", "--options", "Alpha", "--rounds", 2, *PATTERN, "-o", "rows.npz"
    )
    assert (
        refused.status == 2
        and "--rounds 2: fits all options that are named, linear or not; add --every" in refused.err
    )


def test_scores_of_searches_say_where_they_mislead(labelled):
    ran = done(
        "probe", f"{ENGINE} moody", labelled, "--options", "Alpha", "--depth", 1, "-o", "rows.npz"
    )
    assert "scores of searches to depth 1, while their PV stays the same" in ran.out
    assert "where the PV changes, scores mislead: " in ran.out and "whose PV changed" in ran.out


def test_an_option_without_effect_is_not_called_linear(labelled):
    """`Mix` is of rooks alone, and here there are none."""
    labelled.write_text(
        "".join(f"4k3/{'p' * k}{8 - k}/8/8/8/8/PPP5/4K3 w - - 0 1; 1-0\n" for k in range(1, 8))
    )
    ran = done("probe", ENGINE, labelled, "--options", "Alpha", "Mix", *PATTERN, "-o", "rows.npz")
    table = {
        line.split()[0]: line for line in ran.out.splitlines() if line.startswith(("Alpha", "Mix"))
    }
    assert (
        " yes " in table["Alpha"] and " no effect " in table["Mix"] and " yes " not in table["Mix"]
    )
    assert "1 of 2 options are linear, 1 changed no evaluation" in ran.out
    refused = tuner("probe", ENGINE, labelled, "--options", "Mix", *PATTERN, "-o", "other.npz")
    assert (
        refused.status == 2
        and refused.err.splitlines()[-1]
        == f"tuner: {ENGINE}: the option 'Mix' changes no static evaluation in 7 positions, so that"
        " there is nothing to learn; name other options, or --depth for scores of searches"
    )
    assert not Path("other.npz").exists() and not Path("other.yaml").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "'{engine}' p.epd --options Alpha -o rows.txt",
            "rows.txt: expected a name that ends in .npz",
        ),
        (
            "'{engine}' p.epd --options Alpha -o nowhere/rows.npz",
            "nowhere: no such folder to write rows.npz in",
        ),
        (
            "'{engine}' p.epd --options Gamma -o rows.npz {pattern}",
            "'Gamma' names no option of the engine that is a number; it has ",
        ),
        (
            "'{engine}' p.epd --options Style -o rows.npz {pattern}",
            "'Style' names no option of the engine that is a number",
        ),
        (
            "'{engine}' p.epd --options Alpha -o rows.npz",
            "has no command `eval` whose answer is known; give --eval-",
        ),
        (
            "'{engine}' p.epd --options Curve -o rows.npz {pattern}",
            "no option of 1 acts linearly within",
        ),
        (
            "'{engine}' nowhere.epd --options Alpha -o rows.npz {pattern}",
            "nowhere.epd: no such file",
        ),
        (
            "'{engine}' p.epd --options Alpha -o rows.npz --fixed Alpha",
            "--fixed Alpha: expected NAME=VALUE",
        ),
        (
            "'{engine}' p.epd --options Alpha -o rows.npz --fixed Delta=1 {pattern}",
            "has no option 'Delta'",
        ),
        (
            "'{engine}' p.epd --options Alpha -o rows.npz --eval-unit 100",
            "--eval-unit and --eval-side belong to --eval-pattern",
        ),
        (
            "'{engine} crash 30' p.epd --options Alpha -o rows.npz {pattern}",
            "exited with status 3; 0 of 50 positions were done",
        ),
        (
            "stockfish p.epd --options Alpha -o rows.npz",
            'stockfish: not an engine that evaluates positions, expected "uci:COMMAND"',
        ),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(labelled, arguments, said):
    labelled.rename("p.epd")
    ran = tuner("probe", *shlex.split(arguments.format(engine=ENGINE, pattern=shlex.join(PATTERN))))
    assert ran.status == 2 and said in ran.err.splitlines()[-1], ran.err
    assert [path.name for path in Path().iterdir()] == ["p.epd"]


def test_a_match_sets_what_a_file_says_and_resumes_with_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("setoption name Hash value 3\n")
    Path("b.txt").write_text("Style=Risky\nHash=5\n")
    command = (PLAYER, PLAYER, "--games", 2, "--plies", 6, "--random-plies", 0, "--depth", 1)
    wanted = play(
        *command, "--with", "a.txt", "--with-b", "b.txt", "--option-b", "Hash=7", "--run", "run"
    )
    settings = yaml.safe_load(Path("run/config.yaml").read_text())["match"]
    assert settings["option_a"] == ["Hash=3"] and settings["option_b"] == [
        "Style=Risky",
        "Hash=5",
        "Hash=7",
    ]
    Path("a.txt").unlink()
    Path("run/history.jsonl").write_text("")
    assert play("--resume", "run")["games"] == wanted["games"] == 2


def test_a_match_plays_with_the_weights_of_a_probe(labelled):
    done(
        "probe",
        ENGINE,
        labelled,
        "--options",
        "Alpha",
        "Beta*",
        "--fixed",
        "Mix=0",
        *PATTERN,
        "-o",
        "rows.npz",
    )
    path = Path("rows.yaml")
    p = load_parameters(path)
    write_parameters(Path("learned.yaml"), replace(p, weights=np.array([[130.4, 280.0]])))
    ran = tuner(
        "match",
        ENGINE,
        "random",
        "--with",
        "learned.yaml",
        "--games",
        2,
        "--plies",
        2,
        "--depth",
        1,
        "--run",
        "run",
    )
    assert "learned.yaml: 1 of 2 values are rounded to whole numbers, by at most 0.4" in ran.err
    assert yaml.safe_load(Path("run/config.yaml").read_text())["match"]["option_a"] == [
        "Alpha=130",
        "Beta Weight=280",
    ]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "classic pesto --with a.txt",
            "--with a.txt: classic is not a uci engine, whose options a file could set",
        ),
        ("classic '{player}' --with-b nowhere.txt", "nowhere.txt: no such file"),
        ("'{player}' classic --with a.txt", "a.txt:1: python has no option 'Alpha'"),
        ("'{player}' classic --with high.txt", "high.txt:1: 'Hash' is 99, python accepts 1 to 64"),
        ("'{player}' classic --with empty.txt", "empty.txt: sets no option"),
        ("'uci:no-such-engine' classic --with a.txt", "no-such-engine: no such program"),
    ],
)
def test_a_file_that_cannot_be_set_is_one_line(tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    for name, text in (("a.txt", "Alpha=1\n"), ("high.txt", "Hash=99\n"), ("empty.txt", "")):
        Path(name).write_text(text)
    ran = tuner("match", *shlex.split(arguments.format(player=PLAYER)))
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert said.replace("python", Path(sys.executable).name) in ran.err
