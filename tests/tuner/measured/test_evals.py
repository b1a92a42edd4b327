"""Programs that print evaluations, and what is wrong with some."""

import os
import re
import stat
import textwrap

import numpy as np
import pytest

from tests.commands.support import done, refused
from tests.support import file_with, refusal
from tests.tuner.measured.support import measure, positions, small_plan
from tuner.measured.evals import Evals, EvalsFault, evaluate
from tuner.measured.measure import Base
from tuner.measured.plan import evals_of, read_evals_plan

# what a program does with the positions of its input
PROGRAM = """
import sys
lines = sys.stdin.read().splitlines()
def worth(fen):
    board = fen.split()[0]
    numbers = dict(P=100, N=300, B=310, R=500, Q=900)
    return sum(n * (board.count(p) - board.count(p.lower())) for p, n in numbers.items())
values = [worth(line) for line in lines]
"""


def program(tmp_path, body):
    """The command of a program with this body after the common part."""
    path = file_with(tmp_path / "program.py", PROGRAM + textwrap.dedent(body))
    return f"{os.sys.executable} {path}"


GOOD = {
    "plain": "for v in values: print(v)",
    "greeting": "print('engine 1.0 by somebody')\nfor v in values: print(f'  {v:+d} ')",
    "remarks": "for v in values: print('info string hello'); print(v)",
}
BAD = {
    "floats": ("for v in values: print(v / 100)", "printed 0 numbers for 300 positions; its first"),
    "mates": ("for v in values: print('mate 3')", "its first other line is 'mate 3'"),
    "fewer": ("for v in values[:-1]: print(v)", "printed 299 numbers for 300 positions"),
    "more": ("for v in values: print(v); print(v)", "printed 600 numbers"),
    "nothing": ("", "printed 0 numbers for 300 positions"),
    "status": ("for v in values: print(v)\nsys.exit(4)", "ended with status 4"),
    "signal": ("import os; os.kill(os.getpid(), 11)", "ended by signal 11"),
    "complains": (
        "sys.exit('no such piece')",
        "status 1, and complained: no such piece",
    ),
    "hangs": ("import time; time.sleep(60)", "did not end within 2 s"),
    "huge": ("for v in values: print(10**9)", "printed 1e+09, expected centipawns"),
    "endless": ("while True: print('x' * 65536)", "printed without end"),
}


@pytest.mark.parametrize("body", GOOD.values(), ids=list(GOOD))
def test_numbers_are_read_among_other_lines(tmp_path, body):
    found = evaluate(Evals(program(tmp_path, body)), positions())
    assert len(found) == 300 and np.abs(found).max() > 100


@pytest.mark.parametrize("name", BAD)
def test_a_program_that_prints_something_else_is_told_in_one_line(tmp_path, name):
    body, said = BAD[name]
    command = program(tmp_path, body)
    seconds = 2.0 if name == "hangs" else 60.0
    text = refusal(evaluate, Evals(command), positions(), seconds, error=EvalsFault)
    assert text.startswith(command) and said in text


def test_there_is_no_program(tmp_path):
    assert "no such program" in refusal(evaluate, Evals(str(tmp_path / "nothing")), positions())


BASES = {
    "random": ("import random\nfor v in values: print(v + random.randrange(9))", "the second time"),
    "cached": ("for k, v in enumerate(values): print(v + k % 7)", "in another order"),
    "pawns": ("for v in values: print(v // 100)", "expected centipawns"),
}


@pytest.mark.parametrize("name", BASES)
def test_evaluations_that_say_nothing_of_a_position_are_refused(tmp_path, name):
    body, said = BASES[name]
    assert re.search(said, refusal(Base, "chess", Evals(program(tmp_path, body)), positions(500)))


def test_the_view_of_evaluations_is_found(tmp_path):
    texts = positions(500)
    own = "for v, l in zip(values, lines): print(v if ' w ' in l else -v)"
    of_white = Base("chess", Evals(program(tmp_path, "for v in values: print(v)")), texts)
    assert not of_white.own_view and of_white.antisymmetric == 1 and of_white.lines == []
    known = of_white.evaluations(texts)
    of_mover = Base("chess", Evals(program(tmp_path, own)), texts)
    assert of_mover.own_view and (of_mover.evaluations(texts) == known).all()
    odd = "for v, l in zip(values, lines): print(v + 40 * l.split()[0].count('p'))"
    assert "a fault of the engine" in Base("chess", Evals(program(tmp_path, odd)), texts).lines[0]


UCI = """
import sys
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print("id name small\\nuciok", flush=True)
    elif words[0] == "position":
        board = words[2]
    elif words[0] == "eval":
        numbers = dict(P=1, N=3, B=3, R=5, Q=9)
        worth = sum(n * (board.count(p) - board.count(p.lower())) for p, n in numbers.items())
        print(f"NNUE evaluation 7.00\\nFinal evaluation {worth:+.2f} (white side)")
    elif words[0] == "quit":
        break
"""


def test_the_eval_of_a_uci_engine_is_in_pawns_or_centipawns(tmp_path):
    path = file_with(tmp_path / "uci.py", UCI)
    command = f"uci:{os.sys.executable} {path}"
    evals = evals_of(command, r"Final evaluation +([-+]?[\d.]+)", {}, "plan")
    found = evaluate(evals, positions())
    assert np.abs(found).max() >= 100 and (found % 100 == 0).all()
    for line in (None, "(a)(b)", "(", "none"):
        assert "eval_line" in refusal(evals_of, command, line, {}, "plan")


PLANS = {
    "no files": ("source: {folder: engine, files: []}", "source.files is empty"),
    "no file": ("source: {folder: engine, files: [other.c]}", "no such file"),
    "outside": ("source: {folder: engine, files: [../small.c]}", "is not in"),
    "unknown": ("sources: {folder: engine}", "lacks"),
    "text": ("source: {folder: engine, files: [notes.txt]}", "names no known language"),
    "no build": ("build: ' '", "build is empty"),
    "game": ("game: checkers", "expected"),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_that_cannot_be_is_told_in_one_line(tmp_path, name):
    small_plan(tmp_path / "engine")
    (tmp_path / "engine" / "notes.txt").write_text("mine")
    changed, said = PLANS[name]
    lines = {
        "evals": "./small evals",
        "build": "make",
        "source": "{folder: engine, files: [small.c]}",
    }
    key, _, value = changed.partition(": ")
    lines = {k: v for k, v in lines.items() if key != "sources" or k != "source"}
    plan = file_with(
        tmp_path / "plan.yaml", "".join(f"{k}: {v}\n" for k, v in (lines | {key: value}).items())
    )
    text = refusal(read_evals_plan, plan)
    assert text.startswith(str(tmp_path)) and (name == "unknown" or said in text)


def test_a_build_that_does_not_see_the_numbers_is_told(tmp_path):
    plan = small_plan(tmp_path / "engine", build="true")
    os.system(f"cd {tmp_path / 'engine'} && gcc small.c -o small")
    assert "does not see the change of a number" in refusal(measure, tmp_path / "run", plan)


def test_the_folder_of_the_engine_is_not_touched(tmp_path):
    engine = tmp_path / "engine"
    plan = small_plan(engine)
    before = {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in engine.iterdir()}
    measure(tmp_path / "run", plan)
    assert {p.name: (p.read_bytes(), p.stat().st_mtime_ns) for p in engine.iterdir()} == before


def test_a_program_may_understand_lines_that_set_numbers(tmp_path):
    engine = tmp_path / "engine"
    plan = small_plan(engine)
    script = file_with(
        engine / "evals.py",
        "import sys\nworth = {'PieceValue': 0}\n"
        "numbers = dict(zip('PNBRQ', (82, 330, 345, 480, 1000)))\n"
        "for line in sys.stdin:\n"
        "    if line.startswith('set '):\n"
        "        name, value = line.split()[1:]\n"
        "        if name.startswith('piece.value_mg'):\n"
        "            numbers['PNBRQ'[int(name[-2])]] = float(value)\n"
        "        continue\n"
        "    b = line.split()[0]\n"
        "    print(int(sum(n * (b.count(p) - b.count(p.lower())) for p, n in numbers.items())))\n",
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    plan = small_plan(engine, evals=f"{os.sys.executable} ./evals.py")
    said = []
    made = measure(tmp_path / "run", plan, said.append)
    assert said[-1].endswith("by lines `set NAME VALUE`")
    counts = made.counts(
        made.sample(positions()), range(len(made.numbers.sites)), lambda done: None
    )
    weights = [made.numbers.labels[k] for k, found in counts.items() if not found.reason]
    assert weights == [f"piece.value_mg[{k}]" for k in range(5)]


@pytest.mark.parametrize("language", ["c", "c++", "rust", "go", "java", "c#"])
def test_the_lines_that_print_evaluations_are_shown(language):
    shown = done("trace", "--language", language).out
    assert "evals" in shown and len(shown.splitlines()) <= 12
    assert "expected c or rust" in refused("trace", "classic", "--language", "go")
