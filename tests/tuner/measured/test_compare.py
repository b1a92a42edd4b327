"""Rows that an engine prints are compared with measured counts, number by number."""

import pytest
import yaml

from tests.commands.support import done
from tests.tuner.trace.support import ENGINES, SAMPLES, compile_mini, folder_of

FAULTS = {
    "doubled": ("bishop.pair.mg", "bishop.pair.eg"),
    "missing": ("pawns.passed",),
    "swapped": ("mobility.knight",),
}


@pytest.mark.long
@pytest.mark.parametrize("fault", ["", *FAULTS])
def test_counts_of_marks_are_compared_with_measured_ones(tmp_path, monkeypatch, fault):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "engine").mkdir()
    folder = folder_of("c", tmp_path / "engine")
    mini = compile_mini("c", folder, *([fault] if fault else []))
    source = {"folder": "engine", "files": ["eval.h"], "flip": True}
    source["map"] = str(ENGINES / "eval.h.yaml")
    plan = {"evals": "./measured eval", "source": source, "workers": 2}
    plan["build"] = f"g++ -std=c++17 -D{fault.upper() or 'NONE'} mini.cpp -o measured"
    (tmp_path / "plan.yaml").write_text(yaml.safe_dump(plan))
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
