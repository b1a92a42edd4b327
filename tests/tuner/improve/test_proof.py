"""The engine that plays has the weights of its sources, or improve says that it has not."""

import re

import numpy as np
import pytest

from tests.support import refusal
from tests.tuner.improve.small import write_small
from tuner.core.records import convert
from tuner.evaluation.loading import load_parameters
from tuner.improve import proof
from tuner.improve.plan import LoopPlan, read_plan
from tuner.improve.versions import Version, build
from tuner.measured.copies import copy_folder, touch_sources
from tuner.parameters.writer import write_parameters

# `play.o` does not depend on the numbers, as an object whose header the makefile does not know;
# every build leaves another program
MAKEFILE = """\
SHELL := /bin/sh
all: myengine myrows
myengine: play.o rows.o
\t(cat play.o; echo "# `cat rows.o | wc -c` $$$$") > $@; chmod +x $@
myrows: rows.o
\tcp $< $@; chmod +x $@
play.o: src/engine.c
\tsh build.sh; mv myengine $@
rows.o: src/engine.py src/eval.h
\tsh build.sh; mv myengine $@
"""


def versions(folder, build_command: str, change: int) -> tuple[Version, Version]:
    """Two versions of the small engine, of which the second has other numbers."""
    write_small(folder, build=build_command, plays="./myengine play", rows="./myrows rows")
    (folder / "engine" / "Makefile").write_text(MAKEFILE)
    (folder / "engine" / "src" / "engine.c").write_text("// stands for the source of the object\n")
    plan = convert(read_plan(folder / "improve.yaml"), LoopPlan, "plan")
    before, after = (Version(name, folder / name, plan) for name in ("before", "after"))
    for version in (before, after):
        version.folder.mkdir()
        copy_folder(folder / "engine" if version is before else before.tree, version.tree)
        header = version.tree / "src" / "eval.h"
        if version is after:
            header.write_text(header.read_text().replace("= 60;", f"= {60 + change};"))
            touch_sources(version.tree)
        build(version)
        start = load_parameters(folder / "start.yaml")
        worth = 60 + change * (version is after)
        numbers = np.array([[100.0, *[worth] * 4, 10.0]])
        write_parameters(version.params, start.with_weights(numbers))
    return before, after


@pytest.mark.long
def test_sources_are_newer_than_objects_so_that_everything_is_built(tmp_path):
    before, after = versions(tmp_path, "make", 240)
    found = proof.require_weights(after, before)
    assert abs(found["slope"]["value"] - 1) < 0.15 and found["slope"]["standard_error"] < 0.1


def test_a_player_with_the_weights_of_before_is_refused(tmp_path):
    before, after = versions(tmp_path, "test -f play.o && make -o play.o || make", 240)
    assert (before.tree / "myengine").read_bytes() != (after.tree / "myengine").read_bytes()
    assert re.search(
        r"does not play with the new weights: .* are unchanged",
        refusal(proof.require_weights, after, before),
    )


def test_changes_that_rounding_hides_prove_nothing(tmp_path):
    before, after = versions(tmp_path, "test -f play.o && make -o play.o || make", 0)
    found = proof.require_weights(after, before)
    assert found == {"remark": "the new weights change too few evaluations for a comparison"}


# an engine, as the scores of its searches from evaluations of the root and a generator
ENGINES = {
    "of evaluations": lambda root, dice: root,
    "rounded": lambda root, dice: np.round(root),
    "with a tempo": lambda root, dice: root + 25,
    "with the tempo of the leaf": lambda root, dice: root - 40,
    "with threats": lambda root, dice: root + dice.normal(size=len(root)) * 60,
    "with a capture at the leaf": lambda root, dice: root + dice.integers(-1, 2, len(root)) * 80,
    "in pawns": lambda root, dice: root / 100,
    "in units of 256": lambda root, dice: 2.56 * root,
    "with zeros": lambda root, dice: np.where(dice.random(len(root)) < 0.5, 0, root),
    "with mates": lambda root, dice: np.where(dice.random(len(root)) < 0.1, np.inf, root),
    "with other terms": lambda root, dice: root + dice.normal(size=len(root)) * 30,
    "scaled by the endgame": lambda root, dice: root * dice.uniform(0.5, 1, len(root)),
}
NONE = {
    "only zeros": lambda root, dice: 0 * root,
    "of chance": lambda root, dice: dice.normal(size=len(root)) * 100,
    "of the other side": lambda root, dice: -root,
}


def scores_of(engine, stale: bool, seed: int) -> dict:
    dice = np.random.default_rng(seed)
    old = np.round(dice.normal(size=190) * 150)
    new = old + np.round(dice.normal(size=190) * 20)
    new[:5] = np.nan
    before, after = (
        engine(np.nan_to_num(each), np.random.default_rng(seed + 1)) for each in (old, new)
    )
    return proof.compare(["fen"] * 190, old, new, before, before if stale else after)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("engine", ENGINES)
def test_scores_of_sound_engines_pass_and_those_of_before_are_stale(engine, seed):
    assert "stale" not in scores_of(ENGINES[engine], False, seed)
    assert scores_of(ENGINES[engine], True, seed)["stale"]


@pytest.mark.parametrize("engine", NONE)
@pytest.mark.parametrize("stale", [False, True])
def test_scores_that_do_not_follow_evaluations_are_a_remark(engine, stale):
    found = scores_of(NONE[engine], stale, 1)
    assert "stale" not in found and found["remark"]


def test_one_program_for_player_and_rows_needs_no_proof(tmp_path):
    write_small(tmp_path)
    plan = convert(read_plan(tmp_path / "improve.yaml"), LoopPlan, "plan")
    version = Version("first", tmp_path / "first", plan)
    version.folder.mkdir()
    copy_folder(tmp_path / "engine", version.tree)
    build(version)
    write_parameters(version.params, load_parameters(tmp_path / "start.yaml"))
    assert "one program" in proof.require_weights(version, version)["remark"]


def test_a_slope_is_that_of_least_squares():
    dice = np.random.default_rng(1)
    x = dice.normal(size=400)
    slopes = []
    for _ in range(200):
        found = proof.slope_of(x, 0.8 * x + dice.normal(size=400))
        slopes.append(found.value)
    assert abs(np.mean(slopes) - 0.8) < 0.02
    assert abs(np.std(slopes) / found.standard_error - 1) < 0.2
