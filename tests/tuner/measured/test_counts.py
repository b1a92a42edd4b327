"""Counts that are measured are those that the sources say, in five languages."""

import numpy as np
import pytest

from tests.tuner.measured.support import SMALL, as_columns, measure, positions, small_plan

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


@pytest.mark.parametrize("language", SMALL)
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
