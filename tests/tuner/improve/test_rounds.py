"""Rounds that make an engine stronger, with matches that end as the numbers deserve."""

import itertools
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.commands.support import done
from tests.support import refusal
from tests.tuner.core.support import write_settings
from tests.tuner.improve.small import write_small
from tests.tuner.improve.support import (
    BEST,
    BUILD,
    Commands,
    improve,
    pairs_of,
    run_of,
    write_engine,
)
from tuner.core.records import convert
from tuner.evaluation.loading import load_parameters
from tuner.improve.plan import LoopPlan, read_plan
from tuner.improve.versions import Version
from tuner.parameters.writer import write_parameters


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.skipif(shutil.which("git") is None, reason="no git; install the Debian package git")
def test_rounds_go_on_while_they_win_and_end_in_a_patch(tmp_path):
    plan = write_engine(tmp_path)
    before = contents(tmp_path / "engine")
    result = improve(plan, tmp_path / "run", Commands())
    assert result.result["kept"] != "the first version"
    assert contents(tmp_path / "engine") == before
    learned = load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel()
    assert abs(learned - list(BEST.values())).max() <= 15
    subprocess.run(["git", "-C", tmp_path / "engine", "apply", result.result["patch"]], check=True)
    assert (
        f"PawnValue = {learned[0]:g};  // in centipawns"
        in (tmp_path / "engine" / "src" / "eval.h").read_text()
    )
    assert (tmp_path / "engine" / "notes.txt").read_text() == "mine"


def test_half_of_the_way_is_tried_where_all_of_it_loses(tmp_path):
    """What is learned goes twice as far as it should: half of it is best."""
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: 2.0))
    assert result.result["kept"] == "round 1 by half"
    assert load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel().tolist() == list(
        BEST.values()
    )


def test_the_rows_of_both_steps_are_checked_on_the_games_of_the_round(tmp_path):
    commands = Commands(lambda number: 5.0)
    improve(write_engine(tmp_path, rounds=1), tmp_path / "run", commands)
    checked = [words[1] for words in commands.words if words[0] == "dataset"]
    assert checked == ["samples", *3 * [str(tmp_path / "run" / "round-1" / "games")]]


@pytest.mark.parametrize(
    ("learn", "weight"),
    [({}, "0.9"), ({"lambda": 0.5}, "0.5"), ({"blend": "result"}, None), ({"prior": 7}, "0.9")],
)
def test_the_weight_of_later_scores_is_that_of_their_blend(tmp_path, learn, weight):
    commands = Commands()
    improve(write_engine(tmp_path, learn=learn, rounds=1), tmp_path / "run", commands)
    (words,) = (words for words in commands.words if words[0] == "tune")
    option = dict(zip(words, words[1:], strict=False))
    assert option.get("--lambda") == weight
    assert option["--prior"] == str(learn.get("prior", 20))


def test_nothing_is_written_where_nothing_wins(tmp_path):
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: -1.0))
    assert result.result["kept"] == "the first version"
    assert not (tmp_path / "run" / "improve.patch").exists()
    assert "no version is expected to gain" in result.lines[-1]


def test_a_round_after_one_that_does_not_win_learns_from_the_games_of_both(tmp_path):
    commands = Commands(lambda number: -1.0 if number == 1 else 0.5)
    result = improve(write_engine(tmp_path, rounds=3), tmp_path / "run", commands)
    learned = [words for words in commands.words if words[0] == "tune"]
    rows = [[Path(word).parent.name for word in words if word.endswith(".ds")] for words in learned]
    assert rows == [["round-1"], ["round-1", "round-2"], ["round-3"]]
    starts = [Path(words[1]).parent.name for words in learned]
    assert starts == ["first", "first", "whole"] and "round 2" in result.lines[1]


class Decided(Commands):
    """The match that decides ends with this difference in Elo, whatever those before showed."""

    def __init__(self, elo: float) -> None:
        super().__init__()
        self.elo = elo

    def perform(self, words, seconds=math.inf):
        found = super().perform(words, seconds)
        if Path(run_of(words)).name == "final":
            found["pentanomial"] = pairs_of(self.elo, 1000)
        return found


@pytest.mark.parametrize(
    ("elo", "kept"), [(30.0, "round 4"), (5.0, "the first version"), (-30.0, "the first version")]
)
def test_a_match_of_its_own_decides(tmp_path, elo, kept):
    """Its seed is new, its Elo alone is said, and nothing is written unless it is above 0 by its
    interval."""
    commands = Decided(elo)
    result = improve(write_engine(tmp_path), tmp_path / "run", commands)
    matches = [words for words in commands.words if words[0] == "match" and "--seed" in words]
    seeds = [words[words.index("--seed") + 1] for words in matches]
    assert seeds.count(seeds[-1]) == 1, "the same openings give the same games again"
    assert result.result["kept"] == kept
    assert round(result.result["rating"]["value"]) == elo
    for name in ("improve.patch", "learned.yaml"):
        assert (tmp_path / "run" / name).exists() == (kept == "round 4")
    said = "\n".join(result.lines)
    assert f"round 4: {elo:+.0f} +/-" in said and ("--write" in said) == (kept != "round 4")


def test_a_patch_is_written_without_a_gain_if_it_is_asked_for(tmp_path):
    run = tmp_path / "run"
    improve(write_engine(tmp_path), run, Decided(-5.0))
    assert not (run / "improve.patch").exists()
    assert improve(None, run, Decided(-5.0), write=True).result["kept"] == "round 4"
    assert (run / "improve.patch").exists()


def test_decimals_of_the_plan_are_followed(tmp_path):
    source = {"folder": "engine", "files": ["src/eval.h"], "map": "names.yaml", "decimals": 2}
    assert "expected a float for --decimals 2" in refusal(
        improve, write_engine(tmp_path, source=source), tmp_path / "run", Commands()
    )


def test_the_result_has_standard_errors(tmp_path):
    class Uncertain(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            if words[0] == "tune":
                path = Path(words[words.index("-o") + 1])
                learned = load_parameters(path)
                errors = np.full_like(learned.weights, 2.0)
                write_parameters(path, replace(learned, standard_errors=errors))
            return found

    improve(write_engine(tmp_path), tmp_path / "run", Uncertain())
    assert (load_parameters(tmp_path / "run" / "learned.yaml").standard_errors == 2.0).all()


@pytest.mark.skipif(shutil.which("git") is None, reason="no git; install the Debian package git")
def test_the_patch_holds_numbers_alone_if_the_build_edits_the_sources(tmp_path):
    stamp = "printf '// built %s\n' $(wc -c < src/eval.h) >> src/eval.h"
    plan = write_engine(tmp_path, build=f"{BUILD}; {stamp}")
    result = improve(plan, tmp_path / "run", Commands())
    assert "built" not in Path(result.result["patch"]).read_text()
    subprocess.run(["git", "-C", tmp_path / "engine", "apply", result.result["patch"]], check=True)


@pytest.mark.parametrize(
    "touch",
    [
        "echo x >> ENGINE/notes.txt; exit 1",
        "chmod +x ENGINE/notes.txt",
        "printf more > n; touch -r ENGINE/notes.txt n; cp -p n ENGINE/notes.txt",
        "case $PWD in */round-1/*) echo x >> ENGINE/notes.txt;; esac",
    ],
    ids=["fails", "mode", "same size and time", "later round"],
)
def test_a_build_that_changes_the_author_s_folder_is_one_line(tmp_path, touch):
    engine = tmp_path / "engine"
    author = "${PWD%%/run/*}/engine"
    plan = write_engine(tmp_path, build=f"{BUILD}; {touch.replace('ENGINE', author)}")
    assert re.search(
        f"{engine}/notes.txt changed during the build",
        refusal(improve, plan, tmp_path / "run", Commands()),
    )


def test_sources_that_were_corrected_are_built_again(tmp_path):
    """The check of a round's rows fails; the author corrects the sources, and resumes."""

    class Wrong(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            wrong = words[0] == "dataset" and "--per-game" in words and "round-1" in " ".join(words)
            return found | ({"row_check": {"fits": False}} if wrong else {})

    run = tmp_path / "run"
    assert "does this step again" in refusal(improve, write_engine(tmp_path), run, Wrong())
    (run / "source" / "notes.txt").write_text("corrected")
    commands = Commands()
    improve(None, run, commands)
    for version in ("first", "round-1/whole"):
        assert (run / version / "engine" / "notes.txt").read_text() == "corrected"
    # the rows of the round are of the corrected sources, too, and so is what is learned from them
    done = [words[0] for words in commands.words if "round-1/" in " ".join(words)]
    assert done[:3] == ["dataset", "tune", "export"]
    assert not any(str(run / "round-1" / "games") in words[3:4] for words in commands.words)


def test_learning_that_was_interrupted_goes_on_unless_the_plan_was_corrected(tmp_path):
    class Killed(Commands):
        def perform(self, words, seconds=math.inf):
            if words[0] == "tune":
                run = Path(words[words.index("--run") + 1])
                run.mkdir()
                write_settings(run, "tune", {})
                raise KeyboardInterrupt
            return super().perform(words, seconds)

    class Resumed(Commands):
        def perform(self, words, seconds=math.inf):
            if words[:2] == ["tune", "--resume"]:
                self.words.append(list(words))
                raise KeyboardInterrupt
            return super().perform(words, seconds)

    run, again = tmp_path / "run", Resumed()
    improve(write_engine(tmp_path), run, Killed())
    assert improve(None, run, again).interrupted
    assert again.words == [["tune", "--resume", str(run / "round-1" / "learn")]]
    (run / "round-1" / "learn.command").write_text("tune other.yaml")
    again = Resumed()
    improve(None, run, again)
    assert [words[0] for words in again.words[:1]] == ["tune"] and "--run" in again.words[0]


def test_an_interruption_writes_nothing_that_no_match_has_decided(tmp_path):
    class Interrupted(Commands):
        def perform(self, words, seconds=math.inf):
            if "round-2" in " ".join(words):
                raise KeyboardInterrupt
            return super().perform(words, seconds)

    result = improve(write_engine(tmp_path), tmp_path / "run", Interrupted())
    assert result.interrupted and "--resume" in result.lines[-1]
    assert "round 1 is kept so far" in "\n".join(result.lines)
    assert result.result["kept"] == "the first version"
    assert not (tmp_path / "run" / "improve.patch").exists()


@pytest.mark.parametrize("busy", [1.0, 3.0], ids=["idle", "a load begins"])
@pytest.mark.parametrize("minutes", [20, 100])
@pytest.mark.parametrize("pace", [0.05, 0.4, 1.0, 6.0])
def test_the_minutes_are_kept_and_every_step_is_judged(tmp_path, monkeypatch, minutes, pace, busy):
    """Though learning and builds take time, and though everything takes three times as long once a
    third of the minutes has passed."""
    now, played, final = [0.0], dict[str, int](), [0.0]
    monkeypatch.setattr("tuner.improve.rounds.time.monotonic", lambda: now[0])

    class Slow(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            slow = busy if now[0] > 20 * minutes else 1.0
            took = slow * (60.0 if words[0] == "tune" else 2.0)
            if words[0] in ("games", "match"):
                run = run_of(words)
                before = played.get(run, 0) if run else 0
                wanted = int(words[words.index("--games") + 1]) - before
                each = slow * pace * (4 if Path(run).name == "final" else 1)
                fit = min(wanted, int(max(seconds - took, 0) / each)) if seconds < 1e9 else wanted
                played[run] = found["games"] = before + fit
                took += fit * each
                final[0] += took * (Path(run).name == "final")
            now[0] += took
            return found

    plan = write_engine(tmp_path, minutes=minutes, rounds=None, games=None, match={})
    result = improve(plan, tmp_path / "run", Slow())
    steps = result.result["steps"]
    assert 1 <= result.result["rounds"] <= 4
    assert now[0] <= 60 * minutes * 1.1
    assert final[0] >= 60 * minutes * 0.05
    learned = {step["round"] for step in steps if step["step"] == "learn"}
    assert learned == {step["round"] for step in steps if step["step"].endswith("verdict")}
    said = "\n".join(result.lines)
    assert "time: measuring" in said and "expected, so it is kept; the round took" in said


def test_a_gain_against_the_version_before_alone_is_not_enough(tmp_path):
    """The pool holds an engine against which the learned version is no better."""

    class Misled(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            if words[0] == "match" and words[2] == "uci:cat":
                found["pentanomial"] = (
                    [0, 0, 200, 0, 0] if "first" in words[1] else [90, 60, 40, 8, 2]
                )
            return found

    commands = Misled(lambda number: 0.1)
    result = improve(write_engine(tmp_path, against=["uci:cat"]), tmp_path / "run", commands)
    assert result.result["kept"] == "the first version"


def test_a_loop_that_is_interrupted_before_any_command_ends_in_the_same_patch(tmp_path):
    whole = improve(write_engine(tmp_path / "whole"), tmp_path / "whole" / "run", Commands())
    expected = Path(whole.result["patch"]).read_bytes()
    plan = write_engine(tmp_path / "cut")

    class Killed(BaseException):
        pass

    for stop in itertools.count(1):
        count = itertools.count(1)

        def interrupt(count=count):
            if next(count) == 4:  # a version and its check are done together
                raise Killed

        try:
            run = tmp_path / "cut" / "run"
            commands = Commands(interrupt=interrupt)
            result = improve(plan if stop == 1 else None, run, commands)
            break
        except Killed:
            continue
    assert stop > 5
    assert Path(result.result["patch"]).read_bytes() == expected


@pytest.mark.parametrize(
    ("build", "named"),
    [
        ("echo 'src/eval.h:3: error: oops' >&2; exit 3", "status 3: src/eval.h:3: error: oops"),
        ("exit 0", "./myengine: no such program after `exit 0`"),
        (
            f"cp ../../../first/engine/myengine . 2>/dev/null || ({BUILD})",
            "as it was although src/eval.h",
        ),
    ],
)
def test_a_build_that_does_not_build_is_one_line(tmp_path, build, named):
    before = write_engine(tmp_path, build=build)
    assert named in refusal(improve, before, tmp_path / "run", Commands())


def test_a_program_behind_another_one_is_looked_at(tmp_path):
    """An engine that does not flush its output is started by another program, which no build
    changes."""
    plan = write_engine(tmp_path, plays="env ./myengine")
    assert improve(plan, tmp_path / "run", Commands()).result["kept"] != "the first version"


def test_rows_that_are_not_the_evaluation_end_the_loop(tmp_path):
    class Wrong(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            return found | ({"row_check": {"fits": False}} if words[0] == "dataset" else {})

    assert "rows of the first version are not its evaluation" in refusal(
        improve, write_engine(tmp_path), tmp_path / "run", Wrong()
    )


@pytest.mark.parametrize(("rms", "fits"), [(6.9, True), (7.1, False)])
def test_what_rows_lack_must_not_grow_with_the_numbers(tmp_path, rms, fits):
    """Where a part is not linear, its size tells whether the engine evaluates as was learned."""

    class Grows(Commands):
        def perform(self, words, seconds=math.inf):
            found = super().perform(words, seconds)
            if words[0] == "dataset" and "round-1/whole" in " ".join(words):
                found["remainder"]["rms"] = rms
            return found

    plan = write_engine(tmp_path, read={"not_linear": "king safety"}, rounds=1)
    if fits:
        assert improve(plan, tmp_path / "run", Grows()).result["kept"] == "round 1"
    else:
        assert "grew from 4.0 to 7.1 centipawns with the learned" in refusal(
            improve, plan, tmp_path / "run", Grows()
        )


def test_a_program_may_be_a_folder_of_classes(tmp_path):
    plan = write_engine(tmp_path, plays="sh -cp ./build Main")
    version = Version("", tmp_path, convert(read_plan(plan), LoopPlan, "plan"))
    (tmp_path / "engine" / "build").mkdir()
    assert "no such program after" in refusal(version.programs, "plays")
    (tmp_path / "engine" / "build" / "Eval.class").touch()
    assert version.programs("plays") == [tmp_path / "engine" / "build" / "Eval.class"]


class OfResults(Commands):
    """The optimum for results is `far` times as far away as the best numbers, and the learned file
    goes a tenth of the way there."""

    def __init__(self, far: float) -> None:
        super().__init__(lambda number: far)

    def perform(self, words, seconds=math.inf):
        found = super().perform(words, seconds)
        if words[0] == "tune":
            start, path = load_parameters(words[1]), Path(words[words.index("-o") + 1])
            optimum = load_parameters(path).weights
            step = start.weights + 0.1 * (optimum - start.weights)
            learned = start.with_weights(step)
            errors = np.ones_like(step)
            write_parameters(path, replace(learned, optimum=optimum, standard_errors=errors))
        return found


@pytest.mark.parametrize(
    ("far", "kept"),
    [
        (1.0, "round 1, all of the way"),
        (2.0, "round 1, 50 % of the way"),
        (4.0, "round 1, 25 % of the way"),
        (10.0, "round 1"),
        (-1.0, "the first version"),
    ],
)
def test_the_best_step_of_results_is_kept(tmp_path, far, kept):
    """No own games are played; the results of others teach, and steps of several lengths play."""
    games, run, commands = tmp_path / "games.pgn", tmp_path / "run", OfResults(far)
    games.write_text("")
    plan = write_engine(tmp_path, games=None, results="games.pgn")
    result = improve(plan, run, commands)
    assert result.result["kept"] == kept and result.result["rounds"] == 1
    assert (run / "improve.patch").exists() == (kept != "the first version")
    assert not any(words[0] == "games" for words in commands.words)
    (tune,) = (words for words in commands.words if words[0] == "tune")
    assert tune[tune.index("--method") + 1] == "logistic" and "--blend" not in tune
    rows = [words[1] for words in commands.words if words[0] == "dataset" and "-o" in words]
    assert rows.count(str(games)) == 5  # the rows, and the checks of four versions
    if kept != "the first version":
        learned = load_parameters(run / "learned.yaml")
        assert abs(learned.weights.ravel() - list(BEST.values())).max() <= 1


def test_rounds_of_results_end_where_no_step_wins(tmp_path):
    (tmp_path / "games.pgn").write_text("")
    plan = write_engine(tmp_path, games=None, results="games.pgn", rounds=3)
    result = improve(plan, tmp_path / "run", OfResults(-1.0))
    assert result.result["rounds"] == 1 and "no step is expected to gain" in result.lines[0]


@pytest.mark.long
def test_an_engine_learns_from_results_of_others(tmp_path, small_pgn):
    """From the games to the final match, with programs that play and print rows."""
    plan = write_small(
        tmp_path, results=str(small_pgn), rounds=1, games=None, learn={}, read={"per_game": 3}
    )
    ran = done("improve", plan, "--run", tmp_path / "run", "--json")
    steps = [step["step"] for step in json.loads(ran.out)["steps"]]
    assert "games" not in steps and {"rows", "learn", "way-100 match before"} <= set(steps)
