"""Counts that are measured are those that the sources say, in five languages."""

import numpy as np
import pytest
import yaml

from tests.commands.support import done
from tests.tuner.measured.support import SMALL, as_columns, measure, positions, small_plan
from tests.tuner.trace.support import ENGINES, SAMPLES, compile_mini, folder_of

# the names of columns by what is proposed for the sources, in lower case without signs
ALIAS = {
    "piecevaluemg": "mg",
    "piecemg": "mg",
    "piecevalueeg": "eg",
    "pieceeg": "eg",
    "pawnsquare": "pawn",
    "attacktable": "attack",
    "table": "attack",
    "bishoppair": "pair",
    "nopawns": "no pawns",
    "nopawnseg": "no pawns",
    "tempo": "tempo",
}
STRUCTURE = {"fewpawns", "extra", "mostphase", "half", "pawn", "size"}


def plain(label: str) -> tuple[str, str]:
    """A name without signs, and its index as of one list."""
    name, _, index = label.partition("[")
    words = name.lower().replace("_", "").split(".")
    short = words[1] if words[1].startswith(words[0]) else "".join(words)
    places = [int(k) for k in index.rstrip("]").split("][")] if index else []
    flat = places[0] * 8 + places[1] if len(places) == 2 else (places or [""])[0]
    return short, f"[{flat}]" if index else ""


SLOW = ("Java", "Rust")  # their compilers take seconds


@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[pytest.mark.long] * (name in SLOW)) for name in SMALL],
)
def test_counts_are_those_of_the_sources(tmp_path, language):
    made = measure(tmp_path / "run", small_plan(tmp_path / "engine", language))
    texts = positions()
    sample = made.sample(texts)
    counts = made.counts(sample, range(len(made.numbers.sites)), lambda done: None)
    known, seen = as_columns(texts), set()
    for k, label in enumerate(made.numbers.labels):
        name, index = plain(label)
        found = counts[k]
        if name == "unused" or name == "nopawnsmg":
            assert found.reason == "changes no evaluation"
        elif name in STRUCTURE:
            assert found.reason, label
        elif name != "knightunits":  # may be either: a step of one would be another entry
            column = ALIAS[name] + index
            wanted = known.get(column, np.zeros(len(texts)))
            if not wanted.any():
                assert found.reason in ("", "changes no evaluation")
                continue
            seen.add(column)
            assert found.reason == "", label
            got = np.zeros(len(texts))
            got[found.places] = found.counts
            # a change is rounded to whole centipawns, once before and once after
            assert np.abs(got - wanted).max() <= 1.01 / 24, label
    lacking = {name for name in known if known[name].any()} - seen
    assert lacking == (
        {name for name in lacking if name.startswith(("pawn", "attack"))}
        if language == "Rust"
        else set()
    )


FAULTS = {
    "doubled": ("bishop.pair.mg", "bishop.pair.eg"),
    "missing": ("pawns.passed",),
    "swapped": ("mobility.knight",),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_counts_of_marks_are_compared_with_measured_ones(here, fault):
    (here / "engine").mkdir()
    folder = folder_of("c", here / "engine")
    mini = compile_mini("c", folder, *([fault] if fault else []))
    source = {"folder": "engine", "files": ["eval.h"], "flip": True}
    source["map"] = str(ENGINES / "eval.h.yaml")
    plan = {"evals": "./measured eval", "source": source, "workers": 2}
    plan["build"] = f"g++ -std=c++17 -D{fault.upper() or 'NONE'} mini.cpp -o measured"
    (here / "plan.yaml").write_text(yaml.safe_dump(plan))
    ran = done(
        *("dataset", SAMPLES, "--per-game", 2, "--engine", f"{mini.program} trace"),
        *("--params", ENGINES / "mini.yaml", "--source", "plan.yaml", "-o", "rows.ds"),
    )
    lines = ran.out.splitlines()[1:]
    if not fault:
        assert len(lines) == 1 and "are those that are measured" in lines[0]
        return
    assert all(line.startswith(FAULTS[fault]) or line.startswith("and ") for line in lines)
    assert "the rows count something else, furthest in " in lines[0]
