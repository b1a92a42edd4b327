"""The public Python interface: one evaluation loaded, evaluated, tuned, played and reported."""

import html
import importlib
import inspect
import json
import pickle
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest

import tuner
from evalterms.framework.encoding import encoding_named
from games.record import ReadOptions, ReadReport
from games.record import find as game_named
from tests.commands.support import done
from tests.evalterms.chess.test_counts import played_boards
from tests.games.support import REPOSITORY
from tests.support import file_with, refusal
from tests.tuner.evaluation.networks.support import network
from tests.tuner.improve.support import Commands, write_engine
from tuner.api.evaluation import Network
from tuner.evaluation.networks.evaluation import evaluation_of
from tuner.evaluation.networks.files import NetworkFile, write_network
from tuner.options.option import all_in

FENS = [
    chess.STARTING_FEN,
    "8/8/8/8/8/2k5/2p5/2K5 w - - 0 1",
    "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3",
]


@pytest.fixture(scope="module")
def games(tmp_path_factory) -> Path:
    """A file of random games of tic-tac-toe."""
    path = tmp_path_factory.mktemp("api") / "games.ttt"
    random = np.random.default_rng(5)
    lines = []
    for _ in range(400):
        squares = [f"{file}{rank}" for file in "abc" for rank in "123"]
        random.shuffle(squares)
        lines.append(_played(squares))
    path.write_text("\n".join(lines) + "\n")
    return path


def _played(squares: list[str]) -> str:
    """A game by its moves: until three in a row, or the board is full."""
    rows = [{f"{file}{rank}" for file in "abc"} for rank in "123"] + [
        {f"{file}{rank}" for rank in "123"} for file in "abc"
    ]
    rows += [{"a1", "b2", "c3"}, {"a3", "b2", "c1"}]
    for n in range(5, 10):
        own = set(squares[(n + 1) % 2 : n : 2])
        if any(row <= own for row in rows):
            return f"{'1-0' if n % 2 else '0-1'} {' '.join(squares[:n])}"
    return f"1/2-1/2 {' '.join(squares)}"


def test_importing_is_quick_and_brings_nothing_along():
    code = (
        "import sys, tuner; print(sorted(set(sys.modules) & {'numpy', 'numba', 'scipy', 'rich'}),"
        " sorted(tuner.__all__)[:2])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY, check=True
    )
    assert ran.stdout == "[] ['CommandResult', 'Dataset']\n"


def test_every_public_name_is_there_and_documented():
    assert set(tuner.__all__) <= set(dir(tuner))
    for name in tuner.__all__:
        assert getattr(tuner, name).__doc__, name
    with pytest.raises(AttributeError, match="nothing_of_the_kind"):
        tuner.nothing_of_the_kind  # noqa: B018


def test_texts_boards_and_arrays_are_evaluated_alike_and_as_by_the_command():
    classic = tuner.load("classic")
    one = [classic.evaluate(fen) for fen in FENS]
    assert (
        one
        == [classic.evaluate(chess.Board(fen)) for fen in FENS]
        == classic.evaluate(FENS).tolist()
    )
    words = np.array([classic.position(fen) for fen in FENS])
    assert (
        classic.evaluate(words).tolist() == one and classic.evaluate(words[0]).tolist() == one[:1]
    )
    assert len(classic.evaluate([])) == 0
    assert json.loads(done("eval", "classic", FENS[2], "--json").out)[
        "evaluation"
    ] == pytest.approx(one[2], abs=0.05)
    assert classic.expected_score(FENS[0]) == pytest.approx(
        0.5 + 0.5 * np.tanh(classic.scale * one[0])
    )
    assert "total" in classic.explain(FENS[0])


def test_numbers_have_names_stages_and_shapes():
    classic = tuner.load("classic")
    assert set(classic["material.pawn"]) == set(classic.stages) == {"mg", "eg"}
    assert (
        classic["piece_square.knight"]["mg"].shape == (8, 8)
        and "material.pawn" in classic
        and "nothing" not in classic
    )
    with pytest.raises(KeyError, match="no parameter 'nothing'"):
        classic["nothing"]
    assert "classic" in repr(classic) and "chess" in repr(classic)


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda: tuner.load("no such file.yaml"), "no such file"),
        (lambda: tuner.load().evaluate("hello"), "hello"),
        (lambda: tuner.load().compare(tuner.load("tictactoe/classic")), "expected chess"),
        (lambda: tuner.tune("classic", "nothing.pgn"), "nothing.pgn"),
        (
            lambda: tuner.tune("classic", [], loss="texel"),
            'loss is "texel", expected one of cross-entropy, mse',
        ),
        (
            lambda: tuner.tune("classic", [], method="magic"),
            'method is "magic", expected one of',
        ),
        (lambda: tuner.tune("classic", [], prior="off"), 'prior is "off", expected centipawns'),
        (
            lambda: tuner.tune("classic", [], positions="some"),
            'positions is "some", expected one of',
        ),
        (lambda: tuner.tune("classic", [], run="run"), "run needs output"),
        (
            lambda: tuner.load().evaluate(np.zeros((2, 3))),
            "positions are float64 of shape (2, 3), expected uint64",
        ),
        (lambda: tuner.load().evaluate([np.zeros(3, np.uint64)]), "of shape (3,)"),
        (lambda: tuner.play_match("classic", "zero", depth=0), "depth"),
        (lambda: tuner.open_dataset("nothing"), "not a dataset"),
        (lambda: tuner.write_report("nothing"), "nothing"),
    ],
)
def test_mistakes_are_one_line(mistake, said, here):
    assert said in refusal(mistake)


def test_tuning_returns_an_evaluation_like_that_of_the_command(games, tmp_path):
    found = tuner.tune(
        "tictactoe/zero",
        games,
        output=tmp_path / "a.yaml",
        run=tmp_path / "run",
        prior=None,
        method="logistic",
    )
    done(
        "tune",
        "tictactoe/zero",
        games,
        "-o",
        tmp_path / "b.yaml",
        "--prior",
        "none",
        "--method",
        "logistic",
    )
    other = tuner.load(tmp_path / "b.yaml")
    assert (
        found.evaluation.parameters.weights == other.parameters.weights
    ).all() and found.evaluation.scale == other.scale
    assert found.run == tmp_path / "run" and "results  " in str(found)
    assert any(note.startswith("read 400 games") for note in found.notes)
    page = tuner.write_report(found.run)
    assert page == tmp_path / "run" / "report.html" and page.stat().st_size > 10_000
    shown = re.fullmatch(r'<iframe srcdoc="([^"]*)" style="[^"]*"></iframe>', found._repr_html_())
    assert html.unescape(shown[1]) == page.read_text()
    shutil.rmtree(found.run)
    assert found._repr_html_().startswith("<pre>") and "results  " in found._repr_html_()


def test_an_evaluation_that_was_learned_can_be_learned_from_saved_and_compared(games, tmp_path):
    first = tuner.tune(
        tuner.load("tictactoe/zero"), [games], prior=None, method="logistic", fixed="squares.*"
    ).evaluation
    assert first["squares.centre"]["all"] == 0 and first.path is None
    again = tuner.tune(first, games, prior=None, method="logistic").evaluation
    assert again["squares.centre"]["all"] != 0 and "squares.centre" in first.compare(again)
    assert (
        tuner.load(again.save(tmp_path / "c.yaml")).parameters.weights == again.parameters.weights
    ).all()
    assert "run needs a start that is in a file" in refusal(
        tuner.tune, first, games, output=tmp_path / "d.yaml", run=tmp_path / "run"
    )
    assert "not" in refusal(again.save, games)


def test_a_dataset_is_a_sparse_matrix(games, tmp_path):
    data = tuner.build_dataset(games, tmp_path / "games.ds", "tictactoe/classic", positions="all")
    matrix, evaluation = data.matrix(), tuner.load("tictactoe/classic")
    assert matrix.shape == (data.positions, data.columns) and "400 games" in repr(
        tuner.open_dataset(tmp_path / "games.ds")
    )
    report = ReadReport()
    read = evaluation.engine.game.files.read(
        str(games), ReadOptions(positions="all"), report, lambda text: None
    )
    positions = np.concatenate([batch.positions for batch in read])
    np.testing.assert_allclose(
        matrix @ evaluation.parameters.weights[0], evaluation.evaluate(positions), rtol=0, atol=1e-9
    )
    assert set(np.unique(data.outcome)) <= {-1, 0, 1}


def test_matches_are_played_between_evaluations_and_files(tmp_path):
    found = tuner.play_match(
        tuner.load("classic"), "material", games=4, depth=1, pgn=tmp_path / "a.pgn"
    )
    assert found.wins + found.draws + found.losses == 4 and "classic vs material" in str(found)
    assert (tmp_path / "a.pgn").read_text().count("[Result ") == 4 and repr(found).startswith(
        "<MatchResult +"
    )
    assert "games" in refusal(tuner.play_match, "classic", "material", games=3)


def test_a_tournament_is_that_of_the_command(tmp_path):
    found = tuner.play_tournament(
        [tuner.load("classic"), "material", "random"], games=4, depth=1, run=tmp_path / "run"
    )
    words = ("tournament", "classic", "material", "random", "--games", 4, "--depth", 1, "--json")
    said = json.loads(done(*words).out)
    assert found.result["players"] == said["players"]
    assert list(found.ratings) == ["classic", "material", "random"]
    assert "<iframe" in found._repr_html_() and "Round robin of 3 players" in str(found)


@pytest.mark.parametrize(
    ("start", "options"),
    [
        ("material", {"depth": 1, "lambda_": 0.5}),
        ("chess", {"depth": 1, "hidden": (4,), "batch": 4}),
        ("backgammon", {"hidden": (4,), "wins": True}),
    ],
    ids=["weights", "network", "dice"],
)
def test_self_play_is_that_of_the_command(tmp_path, start, options):
    found = tuner.learn_by_selfplay(start, games=16, run=str(tmp_path / "a"), **options)
    typed = [
        word
        for name, value in options.items()
        for word in (
            f"--{name.rstrip('_')}",
            *(() if value is True else value if isinstance(value, tuple) else (value,)),
        )
    ]
    done("selfplay", start, "--games", 16, "--run", tmp_path / "b", *typed)
    assert found.result["games"] == 16 and "learned from 16 games" in str(found)
    if start == "material":
        by_command = tuner.load(tmp_path / "b" / "params.yaml").parameters
        assert (by_command.weights == found.learned.parameters.weights).all()
    else:
        words = np.array([game_named(start).start()])
        by_command = tuner.load_network(tmp_path / "b" / "net.yaml")
        assert by_command.evaluate(words) == found.learned.evaluate(words)
    assert "<iframe" in found._repr_html_()


def test_self_play_without_a_folder_leaves_nothing(here):
    found = tuner.learn_by_selfplay(tuner.load("material"), games=8, depth=1)
    assert not list(here.iterdir()) and found.learned["material.queen"]["mg"] > 1100
    assert tuner.play_match(found.learned, "material", games=2, depth=1).result["games"] == 2
    network = tuner.learn_by_selfplay("chess", games=4, depth=1, hidden=(4,)).learned
    assert tuner.play_match(network, "random", games=2, depth=1).result["games"] == 2
    assert "has no meaning for networks of games with dice" in refusal(
        tuner.learn_by_selfplay, "backgammon", hidden=(4,), depth=1
    )


def test_a_network_evaluates_and_plays_as_by_the_commands(tmp_path):
    made = network(encoding_named("chess", "bitboard768").size, [(8, "relu"), (1, "sigmoid")])
    file = NetworkFile("chess", "bitboard768", made, 1, "a test", 0.00255)
    write_network(tmp_path / "net.yaml", file)
    found = tuner.load_network(tmp_path / "net.yaml")
    assert found.game == "chess" and found.scale == pytest.approx(0.00255)
    fens = [board.fen() for board in played_boards(20)]
    shown = done("eval", tmp_path / "net.yaml", fens[7], "--json").out
    by_command = json.loads(shown)["evaluation"]
    values = found.evaluate(fens)
    assert values[7] == pytest.approx(by_command, abs=0.006) == found.evaluate(fens[7])
    assert 0 < found.expected_score(fens[7]) < 1
    assert "768-8-1" in found.explain(fens[7])
    copy = pickle.loads(pickle.dumps(found))
    assert (copy.evaluate(fens) == values).all() and repr(copy) == repr(found)
    found.save(tmp_path / "copy.yaml")
    assert (tuner.load_network(tmp_path / "copy.yaml").evaluate(fens) == values).all()
    match = tuner.play_match(found, "random", games=4, depth=1)
    assert match.wins + match.draws + match.losses == 4
    games = tuner.play_games(found, tmp_path / "games", games=4, depth=1)
    assert games.result["games"] == 4
    assert "expected a parameter file" in refusal(tuner.tune, str(tmp_path / "net.yaml"), "samples")


@pytest.mark.parametrize("hiding", ["games.py", "evalterms.py", "games/__init__.py"])
def test_a_file_that_hides_a_package_is_one_line(tmp_path, hiding):
    (tmp_path / hiding).parent.mkdir(exist_ok=True)
    (tmp_path / hiding).write_text("")
    ran = subprocess.run(
        [sys.executable, "-m", "tuner", "--help"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{REPOSITORY}", "PATH": ""},
    )
    assert (
        ran.returncode == 2
        and ran.stderr.count("\n") == 1
        and hiding in ran.stderr
        and "rename it" in ran.stderr
    )


def test_a_folder_of_parameters_hides_nothing(tmp_path):
    (tmp_path / "params").mkdir()
    (tmp_path / "params" / "__init__.py").write_text("")
    ran = subprocess.run(
        [sys.executable, "-m", "tuner", "params", "classic"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{REPOSITORY}", "PATH": ""},
    )
    assert ran.returncode == 0, ran.stderr


def test_nothing_names_a_temporary_file(games, tmp_path):
    """Where the start or the learned file has no name, no command and no record speaks of one."""
    found = tuner.tune("tictactoe/zero", games, prior=None, method="logistic")
    again = tuner.tune(
        found.evaluation, games, prior=None, method="logistic", output=tmp_path / "again.yaml"
    )
    assert "evaltune-" not in json.dumps(
        [found.result, again.result, found.evaluation.parameters.learned]
    )
    assert (
        "evaltune-" not in (tmp_path / "again.yaml").read_text()
        and again.result["start"] == "learned"
    )


@pytest.mark.long
def test_games_are_played_into_a_folder_and_learned_from(tmp_path):
    changed = tuner.load("material")
    changed.parameters.weights[:] *= 1.01
    own = tuner.play_games(
        tuner.Evaluation(changed.engine, changed.parameters, "mine", None),
        tmp_path / "own",
        games=6,
        depth=1,
        plies=80,
        play_on=0.0,
        workers=1,
    )
    assert (
        own.folder == tmp_path / "own" and own.result["games"] == sum(own.result["outcomes"]) == 6
    )
    assert (
        "tune" not in own.result
        and str(own).startswith(f"wrote 6 games to {own.folder}")
        and "tuner tune" not in str(own)
    )
    assert repr(own) == f"<OwnGames {own.folder}: 6 games>"
    learned = tuner.tune(
        "material", [], own_games=20, own_rounds=1, only="material.*", per_game=3, workers=1
    )
    assert learned.result["own_games"] == 20 and any(
        "round 1: 20 games of material" in note for note in learned.notes
    )
    for options, said in (
        ({"games": 0}, "games is 0"),
        ({"noise": -1.0}, "noise is -1.0"),
        ({"resign": ("score=0",)}, "--resign score=0: expected a whole number"),
        ({"depth": None}, "depth and nodes are both null"),
    ):
        assert re.search(said, refusal(tuner.play_games, "material", tmp_path / "new", **options))


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda: tuner.load(3), "load: parameters is 3, expected str or Path"),
        (
            lambda: tuner.load().evaluate(3),
            (
                "evaluate: found 3, expected a text such as a FEN, a board, or a "
                "packed position, or several of them"
            ),
        ),
        (lambda: tuner.load().evaluate([3]), "position: found 3, expected a text such as a FEN"),
        (lambda: tuner.load().explain(None), "position: found None, expected a text"),
        (lambda: tuner.load().compare("zero"), "compare: other is 'zero', expected Evaluation"),
        (lambda: tuner.load().save(3), "save: path is 3, expected str or Path"),
        (
            lambda: tuner.load().export("c++"),
            "export: format is 'c++', expected one of c, rust, json, uci, spsa",
        ),
        (
            lambda: tuner.tune("classic", 42),
            "tune: games is 42, expected str, Path or several of str or Path",
        ),
        (
            lambda: tuner.tune("classic", [42]),
            "tune: games is [42], expected str, Path or several of str or Path",
        ),
        (
            lambda: tuner.tune("classic", "samples", workers="2"),
            'tune: workers is "2", expected a whole number of 1 or more',
        ),
        (
            lambda: tuner.tune("classic", "samples", held_out="a"),
            'tune: held_out is "a", expected a number from 0 to below 1',
        ),
        (
            lambda: tuner.tune("classic", "samples", strict=1),
            "tune: strict is 1, expected true or false",
        ),
        (
            lambda: tuner.tune("classic", "samples", depth=True),
            "tune: depth is true, expected a whole number of 1 or more",
        ),
        (
            lambda: tuner.tune("samples", "classic"),
            "samples is no parameter file, but classic is one: exchange the two",
        ),
        (
            lambda: tuner.play_games("classic", "new", resign=3),
            "play_games: resign is 3, expected a list",
        ),
        (
            lambda: tuner.play_match("classic", "zero", depth="4"),
            'play_match: depth is "4", expected a whole number of 1 or more',
        ),
        (lambda: tuner.open_dataset(None), "open_dataset: path is None, expected str or Path"),
        (
            lambda: tuner.fit_wdl("games.pgn", held_out=2),
            "fit_wdl: held_out is 2, expected a number from 0 to below 1",
        ),
        (
            lambda: tuner.write_trace("classic", "a.pl", language="perl"),
            'write_trace: language is "perl", expected one of c, c++, rust',
        ),
        (
            lambda: tuner.write_into_source(tuner.load("classic", add_missing=True), "a.c"),
            "<Evaluation classic: chess, 1,230 numbers, scale 0.00255> is in no"
            " file; write it with save, and load that",
        ),
        (lambda: tuner.write_report(1), "write_report: run is 1, expected str or Path"),
    ],
)
def test_a_wrong_type_is_one_line(mistake, said, here):
    assert refusal(mistake).startswith(said)


def test_every_option_of_the_commands_is_a_keyword_with_its_default():
    """Completion and `help` know them."""
    pairs = {
        tuner.play_games: ("games", {"run", "resume", "cluster", "terms"}),
        tuner.play_match: ("match", {"resume", "cluster", "terms"}),
        tuner.play_tournament: ("tournament", {"resume", "cluster", "terms"}),
        tuner.learn_by_selfplay: (  # a program plays several seeds itself
            "selfplay",
            {"resume", "results", "repeats", "cluster", "terms"},
        ),
        tuner.tune: ("tune", {"dry_run", "resume", "cluster", "terms"}),
        tuner.build_dataset: (
            "dataset",
            {
                *("output", "engine", "teacher", "nodes", "depth", "not_linear", "params"),
                *("cluster", "terms", "held_out", "source", "minutes"),
            },
        ),
        tuner.fit_wdl: ("wdl", set()),
        tuner.train_network: ("network", {"output", "terms"}),
        tuner.measure_counts: (
            "dataset",
            {
                *("output", "params", "source", "engine", "not_linear"),
                *("held_out", "cluster", "terms"),
            },
        ),
        tuner.build_rows: (
            "dataset",
            {"output", "params", "cluster", "held_out", "terms", "minutes"},
        ),
        tuner.write_trace: ("trace", {"output", "terms"}),
        tuner.write_into_source: ("export", {"into", "sources", "format", "output", "terms"}),
        tuner.read_from_source: (
            "export",
            {"into", "sources", "format", "check", "scale_to", "decimals", "output", "terms"},
        ),
    }
    for function, (command, missing) in pairs.items():
        keywords = inspect.signature(function).parameters
        assert not [name for name, one in keywords.items() if one.kind is one.VAR_KEYWORD]
        options = {
            each.name: each.default
            for each in all_in(importlib.import_module(f"tuner.commands.{command}").TABLE)
            if each.names[0].startswith("-")
        }
        assert {name: default for name, default in options.items() if name not in missing} == {
            name: keywords[name].default for name in options if name not in missing
        }, command


def test_numbers_of_numpy_are_numbers(games, tmp_path):
    found = tuner.tune(
        "tictactoe/zero",
        games,
        held_out=np.float64(0.2),
        seed=np.int64(3),
        workers=np.int32(1),
        output=tmp_path / "a.yaml",
        run=tmp_path / "run",
    )
    assert (
        found.result["held_out_games"] > 60
        and "seed: 3" in (tmp_path / "run" / "config.yaml").read_text()
    )


def test_columns_of_a_dataset_have_names(games, tmp_path):
    data = tuner.build_dataset(games, tmp_path / "games.ds", "tictactoe/classic")
    assert (
        data.column_names[:2] == ["lines.open[0]", "lines.open[1]"]
        and len(data.column_names) == data.columns
    )


@pytest.mark.parametrize("form", ["c", "rust", "json", "uci", "spsa"])
def test_exports_are_those_of_the_command(form):
    assert (
        tuner.load("classic").export(form, scale_to=100)
        == done("export", "classic", "--format", form, "--scale-to", 100).out
    )


def test_numbers_are_optimized_as_by_the_command(tmp_path):
    numbers = file_with(
        tmp_path / "numbers.txt", "material.knight.mg, int, 337, 200, 450, 30, 0.002\n"
    )
    options = {"depth": 1, "games": 40, "match_games": 4}
    found = tuner.optimize_numbers(
        "classic", options=numbers, run=tmp_path / "a", depth=1, games=40, match_games=4
    )
    typed = [w for name, n in options.items() for w in (f"--{name.replace('_', '-')}", n)]
    words = ("optimize", "classic", "--options", numbers, "--run", tmp_path / "b", *typed, "--json")
    said = json.loads(done(*words).out)
    assert found.best == said["best"] and found.better is said["better"] is False
    assert found.folder == tmp_path / "a" and repr(found) == "<Optimized 1 number: 40 games>"


def test_an_evaluation_can_be_pickled():
    classic = tuner.load("classic")
    copy = pickle.loads(pickle.dumps(classic))
    assert copy.evaluate(FENS) == pytest.approx(classic.evaluate(FENS)) and copy.path == "classic"


def test_an_engine_is_improved_in_a_folder_in_which_it_goes_on(tmp_path, monkeypatch):
    """The loop's own commands are those of a test: they play, count and learn nothing."""
    commands = Commands()
    monkeypatch.setattr("tuner.api.runs.perform", commands.perform)
    monkeypatch.setattr("tuner.api.runs.require_command", commands.require)
    monkeypatch.setattr("tuner.improve.rounds.require_weights", lambda *versions: {})
    plan = write_engine(tmp_path)
    found = tuner.improve_engine(plan, tmp_path / "run")
    assert found.version.startswith("round ") and found.patch == tmp_path / "run" / "improve.patch"
    assert "git" in str(found) and found.result["rating"]["los"] > 0.95
    performed = len(commands.words)
    again = tuner.improve_engine(plan, tmp_path / "run")
    assert again.lines == found.lines and len(commands.words) == performed
    assert "no such file" in refusal(
        tuner.improve_engine, tmp_path / "none.yaml", tmp_path / "other"
    )


def test_the_expected_score_of_a_network_of_wins_is_its_probability_of_winning():
    whole = tuner.load_network("backgammon/network")
    found = Network(evaluation_of(replace(whole.evaluation.file, points=1)), "wins")
    start = found.evaluation.game.start()
    wanted = found.evaluation.explain(start)["win_probability"]
    assert found.expected_score(start[None])[0] == pytest.approx(wanted, abs=1e-4)
    value = float(np.tanh(found.scale * found.evaluate(start[None])[0]))
    assert wanted == pytest.approx((1 + 3 * value) / 2, abs=1e-4) and abs(value) > 1e-3


def test_words_of_the_command_line_mean_the_same_in_python(games):
    one, two = (
        tuner.tune("tictactoe/zero", games, prior=prior, method="logistic")
        for prior in ("none", None)
    )
    assert one.fit.prior == two.fit.prior == "none"
    assert (one.evaluation.parameters.weights == two.evaluation.parameters.weights).all()
