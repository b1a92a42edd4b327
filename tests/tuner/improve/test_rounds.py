"""Rounds that make an engine stronger, with matches that end as the numbers deserve."""

import itertools
import shutil
import subprocess
from pathlib import Path

import pytest

from games.streams import InputError
from tests.tuner.improve.support import BEST, BUILD, Commands, improve, pairs_of, write_engine
from tuner.evaluation.loading import load_parameters


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.skipif(shutil.which("git") is None, reason="no git; install the Debian package git")
def test_rounds_go_on_while_they_win_and_end_in_a_patch(tmp_path):
    plan = write_engine(tmp_path)
    before = contents(tmp_path / "engine")
    result = improve(plan, tmp_path / "run", Commands())
    assert result.plain["kept"] != "the first version"
    assert contents(tmp_path / "engine") == before
    learned = load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel()
    assert abs(learned - list(BEST.values())).max() <= 15
    subprocess.run(["git", "-C", tmp_path / "engine", "apply", result.plain["patch"]], check=True)
    assert (
        f"PawnValue = {learned[0]:g};  // in centipawns"
        in (tmp_path / "engine" / "src" / "eval.h").read_text()
    )
    assert (tmp_path / "engine" / "notes.txt").read_text() == "mine"


def test_half_of_the_way_is_tried_where_all_of_it_loses(tmp_path):
    """What is learned goes twice as far as it should: half of it is best."""
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: 2.0))
    assert result.plain["kept"] == "round 1 by half"
    assert load_parameters(tmp_path / "run" / "learned.yaml").weights.ravel().tolist() == list(
        BEST.values()
    )


def test_nothing_is_written_where_nothing_wins(tmp_path):
    result = improve(write_engine(tmp_path), tmp_path / "run", Commands(lambda number: -1.0))
    assert result.plain["kept"] == "the first version"
    assert not (tmp_path / "run" / "improve.patch").exists()
    assert "no version is better than the first one with 95 %" in result.lines[-1]


def test_a_round_after_one_that_does_not_win_learns_from_the_games_of_both(tmp_path):
    commands = Commands(lambda number: -1.0 if number == 1 else 0.5)
    result = improve(write_engine(tmp_path, rounds=3), tmp_path / "run", commands)
    learned = [words for words in commands.words if words[0] == "tune"]
    rows = [[Path(word).parent.name for word in words if word.endswith(".ds")] for words in learned]
    assert rows == [["round-1"], ["round-1", "round-2"], ["round-3"]]
    starts = [Path(words[1]).parent.name for words in learned]
    assert starts == ["first", "first", "whole"] and "round 2" in result.lines[1]


class Drawish(Commands):
    """Matches that show little: a gain of ten Elo in a hundred pairs of games, of `after` in later
    matches."""

    def __init__(self, after: float) -> None:
        super().__init__(lambda number: 0.1)
        self.after, self.matches = after, 0

    def perform(self, words):
        found = super().perform(words)
        if words[0] == "match" and "--run" in words:
            self.matches += 1
            elo = 14.0 if self.matches == 1 else self.after
            found["pentanomial"] = pairs_of(elo, 100 if self.matches == 1 else 2000)
        return found


@pytest.mark.parametrize(
    ("after", "kept"), [(12.0, "round 1"), (-12.0, "the first version")], ids=["more", "less"]
)
def test_a_version_that_is_likely_better_plays_the_first_one_again_at_the_end(
    tmp_path, after, kept
):
    """What is likely is the base of the next round, and what is written is sure."""
    commands = Drawish(after)
    result = improve(write_engine(tmp_path, rounds=1), tmp_path / "run", commands)
    assert "so it is likely better" in result.lines[0]
    matches = [words for words in commands.words if words[0] == "match" and "--run" in words]
    assert len(matches) == 2
    seeds, runs = (
        [words[words.index(name) + 1] for words in matches] for name in ("--seed", "--run")
    )
    assert len(set(seeds)) == len(set(runs)) == 2, "the same openings give the same games again"
    assert result.plain["kept"] == kept
    assert (tmp_path / "run" / "improve.patch").exists() == (kept == "round 1")


def test_the_last_match_is_another_one_than_that_of_the_pool(tmp_path):
    class Level(Drawish):
        """Two rounds that are likely better, and a pool that does not show it."""

        def perform(self, words):
            found = super().perform(words)
            if "match-first" in " ".join(words):
                found["pentanomial"] = pairs_of(20.0, 20)
            elif "match-before" in " ".join(words):
                found["pentanomial"] = pairs_of(16.0, 100)
            return found

    commands = Level(0.0)
    improve(write_engine(tmp_path, rounds=2), tmp_path / "run", commands)
    runs = [words[words.index("--run") + 1] for words in commands.words if "--run" in words]
    names = [Path(run).name for run in runs if "match" in Path(run).name]
    assert names == ["match-before", "match-before", "match-first", "match-last"]


def test_an_interruption_leaves_the_patch_of_the_rounds_before(tmp_path):
    class Interrupted(Commands):
        def perform(self, words):
            if "round-2" in " ".join(words):
                raise KeyboardInterrupt
            return super().perform(words)

    result = improve(write_engine(tmp_path), tmp_path / "run", Interrupted())
    assert result.interrupted and "--resume" in result.lines[-1]
    assert result.plain["kept"] == "round 1" and Path(result.plain["patch"]).exists()


def test_the_numbers_of_games_follow_from_the_minutes(tmp_path, monkeypatch):
    """One second for each game: half of the time is for own games."""
    now = [0.0]
    monkeypatch.setattr("tuner.improve.rounds.time.monotonic", lambda: now[0])

    class Slow(Commands):
        def perform(self, words):
            if words[0] in ("games", "match"):
                now[0] += float(words[words.index("--games") + 1])
            return super().perform(words)

    commands = Slow()
    improve(
        write_engine(tmp_path, minutes=100, rounds=2, games=None, match={}),
        tmp_path / "run",
        commands,
    )
    played = [
        int(words[words.index("--games") + 1])
        for words in commands.words
        if words[0] in ("games", "match")
    ]
    assert played[:4] == [40, 40, 1500, 750]
    assert 300 in played[4:]


def test_a_gain_against_the_version_before_alone_is_not_enough(tmp_path):
    """The pool holds an engine against which the learned version is no better."""

    class Misled(Commands):
        def perform(self, words):
            found = super().perform(words)
            if words[0] == "match" and words[2] == "uci:cat":
                found["pentanomial"] = (
                    [0, 0, 200, 0, 0] if "first" in words[1] else [90, 60, 40, 8, 2]
                )
            return found

    commands = Misled(lambda number: 0.1)
    result = improve(write_engine(tmp_path, against=["uci:cat"]), tmp_path / "run", commands)
    assert result.plain["kept"] == "the first version"


def test_a_loop_that_is_interrupted_before_any_command_ends_in_the_same_patch(tmp_path):
    whole = improve(write_engine(tmp_path / "whole"), tmp_path / "whole" / "run", Commands())
    expected = Path(whole.plain["patch"]).read_bytes()
    plan = write_engine(tmp_path / "cut")

    class Killed(BaseException):
        pass

    for stop in itertools.count(1):
        count = itertools.count(1)

        def interrupt(count=count):
            if next(count) == 3:
                raise Killed

        try:
            run = tmp_path / "cut" / "run"
            commands = Commands(interrupt=interrupt)
            result = improve(plan if stop == 1 else None, run, commands)
            break
        except Killed:
            continue
    assert stop > 5
    assert Path(result.plain["patch"]).read_bytes() == expected


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
    with pytest.raises(InputError) as problem:
        improve(before, tmp_path / "run", Commands())
    assert named in str(problem.value) and "\n" not in str(problem.value)


def test_a_program_behind_another_one_is_looked_at(tmp_path):
    """An engine that does not flush its output is started by another program, which no build
    changes."""
    plan = write_engine(tmp_path, plays="env ./myengine")
    assert improve(plan, tmp_path / "run", Commands()).plain["kept"] != "the first version"


def test_rows_that_are_not_the_evaluation_end_the_loop(tmp_path):
    class Wrong(Commands):
        def perform(self, words):
            found = super().perform(words)
            return found | ({"row_check": {"fits": False}} if words[0] == "dataset" else {})

    with pytest.raises(InputError, match="rows of the first version are not its evaluation"):
        improve(write_engine(tmp_path), tmp_path / "run", Wrong())
