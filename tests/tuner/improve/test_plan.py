"""The plan of a loop: its keys, its paths, and one line for whatever is wrong with it."""

import re
import shutil

import pytest
import yaml

from tests.games.support import REPOSITORY
from tests.support import refusal
from tests.tuner.improve.support import write_engine
from tuner.core.records import convert
from tuner.improve.plan import LoopPlan, command_in, read_plan, words_of


def test_paths_are_relative_to_the_plan(tmp_path, monkeypatch):
    plan = write_engine(tmp_path / "mine")
    monkeypatch.chdir(tmp_path)
    found = convert(read_plan(plan.relative_to(tmp_path)), LoopPlan, "plan")
    mine = tmp_path / "mine"
    assert found.params == str(mine / "start.yaml")
    assert found.source.folder == str(mine / "engine")
    assert found.source.map == str(mine / "names.yaml")
    assert found.rounds == 4 and found.match_limit == {"nodes": 20000}


@pytest.mark.parametrize(
    ("limit", "own", "final"),
    [
        ({"nodes": 5e6}, None, {"nodes": 2e7}),
        ({"depth": 6}, None, {"depth": 8}),
        ({"nodes": 900}, {"depth": 3}, {"depth": 3}),
        ({"nodes": 900}, {"movetime": 0.5}, {"movetime": 0.5}),
    ],
)
def test_the_final_match_searches_deeper_unless_the_plan_says_so(tmp_path, limit, own, final):
    match = {} if own is None else {"limit": own}
    path = write_engine(tmp_path, limit=limit, match=match)
    plan = convert(read_plan(path), LoopPlan, "plan")
    assert plan.match_limit == final and plan.limit == limit


@pytest.mark.parametrize("word", ["true", "True", "yes", "on", "false", "FALSE", "no", "off"])
def test_words_of_yaml_for_true_and_false_are_flags_where_the_plan_has_them(tmp_path, word):
    plan = write_engine(tmp_path, options={"Ponder": "PONDER"}, read={"strict": "STRICT"})
    text = plan.read_text().replace("PONDER", word).replace("STRICT", word)
    text = text.replace("source:\n", f"source:\n  flip: {word}\n")
    plan.write_text(text)
    found = convert(read_plan(plan), LoopPlan, "plan")
    meant = word.lower() in ("true", "yes", "on")
    assert found.source.flip is found.read["strict"] is meant
    assert found.options == {"Ponder": word}  # of the engine, to which it is sent as it is


def test_the_plan_of_the_page_is_read_as_it_is_printed(tmp_path):
    page = (REPOSITORY / "docs" / "improve.md").read_text(encoding="utf-8")
    text = re.search(r"```yaml\n(# improve.yaml\n.*?)```", page, re.DOTALL)[1]
    (tmp_path / "src").mkdir()
    for name in ("src/eval.c", "src/psqt.c"):
        (tmp_path / name).write_text("")
    (tmp_path / "improve.yaml").write_text(text)
    found = convert(read_plan(tmp_path / "improve.yaml"), LoopPlan, "plan")
    assert found.evals and found.minutes == 60 and found.workers == 2
    numbers = re.search(r"`(games: 4000)` \(per round\) and `(match: .*?\}\})`", page, re.DOTALL)
    lines = [line for line in text.splitlines(True) if not line.startswith("minutes")]
    (tmp_path / "improve.yaml").write_text("".join(lines) + "\n".join(numbers.groups()) + "\n")
    found = convert(read_plan(tmp_path / "improve.yaml"), LoopPlan, "plan")
    assert (found.games, found.match.games, found.match_limit) == (4000, 2000, {"depth": 8})


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"play": {"depht": 3}, "gmaes": 5}, "no key 'gmaes'; did you mean games?"),
        ({"source": {"file": ["a"]}}, "source has no key 'file'; did you mean files?"),
        ({"games": "many"}, 'games is "many", expected a whole number'),
        ({"games": 0}, "games is 0, expected a whole number of 1 or more"),
        ({"results": "x.pgn"}, "results and games: no own games are played to learn from"),
        ({"results": "x.pgn", "games": None, "play": {}}, "results and play: no own games"),
        ({"results": "x.pgn", "games": None}, "x.pgn: no such file"),
        ({"minutes": 9}, "minutes and games: numbers of games follow from the minutes"),
        ({"minutes": 9, "games": None}, "minutes and match.games: numbers of games follow"),
        ({"minutes": -9, "games": None, "match": {}}, "minutes is -9, expected a positive number"),
        ({"rounds": 0}, "rounds is 0, expected a whole number of 1 or more"),
        ({"match": {"games": 7}}, "match.games is 7, expected an even number"),
        ({"limit": {"depth": 3, "nodes": 5}}, "limit is {'depth': 3, 'nodes': 5}, expected one of"),
        ({"limit": {"seconds": 3}}, "expected one of depth, nodes and a number"),
        ({"limit": {"depth": 0}}, "expected one of depth, nodes and a number"),
        ({"source": {"files": []}}, "source.files is empty"),
        ({"source": {"files": ["eval.c"], "folder": "engine"}}, "eval.c: no such file"),
        ({"source": {"files": ["../x.c"], "folder": "engine"}}, "../x.c is not in"),
        ({"source": {"files": ["x"], "folder": "nowhere"}}, "which is no folder"),
        ({"source": {"files": ["x"], "folder": "x" * 300}}, "which is no folder"),
        ({"source": {"files": ["x" * 300], "folder": "engine"}}, "no such file"),
        ({"params": "x" * 300}, "x: no such file"),
        ({"source": "engine"}, "source is not a mapping"),
        ({"play": {"outp": "/x"}}, "play: the loop itself sets outp; leave it out"),
        ({"build": ""}, "build is empty, expected a command"),
        ({"plays": ["a"]}, "plays is a list of 1, expected a text"),
    ],
)
def test_a_wrong_plan_is_one_line_that_names_the_place(tmp_path, changes, said):
    plan = write_engine(tmp_path, **changes)
    text = refusal(read_plan, plan)
    assert text.startswith(str(plan)) and said in text


@pytest.mark.parametrize("key", ["plays", "rows", "params", "source", "build"])
def test_what_every_loop_needs_is_asked_for(tmp_path, key):
    plan = write_engine(tmp_path)
    content = yaml.safe_load(plan.read_text())
    del content[key]
    plan.write_text(yaml.safe_dump(content))
    said = "expected evals" if key in ("rows", "params") else f"lacks '{key}'"
    assert re.search(said, refusal(read_plan, plan))


def test_options_are_words_of_a_command():
    options = {"prior": 20, "max-difference": 50.5, "flip": True, "strict": False, "map": None}
    assert words_of({"nodes": 2e7}) == ["--nodes", "20000000"]
    assert words_of(options) == ["--prior", "20", "--max-difference", "50.5", "--flip"]


def test_commands_are_those_of_the_copy(tmp_path):
    (tmp_path / "engine").touch()
    assert command_in(tmp_path, "./engine trace") == f"{tmp_path}/engine trace"
    assert command_in(tmp_path, "engine -x") == f"{tmp_path}/engine -x"
    assert command_in(tmp_path, "java -jar ./e.jar") == f"java -jar {tmp_path}/e.jar"
    assert command_in(tmp_path, "stockfish engine") == "stockfish engine"


def test_a_plan_whose_sources_are_gone_is_not_resumed(tmp_path):
    from tests.tuner.improve.support import Commands, improve

    plan = write_engine(tmp_path)
    improve(plan, tmp_path / "run", Commands())
    shutil.rmtree(tmp_path / "engine")
    assert "is no folder" in refusal(improve, None, tmp_path / "run", Commands())


def test_true_and_false_are_flags_of_commands_and_texts_of_engines(tmp_path):
    plan = write_engine(tmp_path, options={"Book": False}, read={"strict": True})
    found = convert(read_plan(plan), LoopPlan, "plan")
    assert found.options == {"Book": "false"} and words_of(found.read) == ["--strict"]


@pytest.mark.parametrize(("minutes", "rounds"), [(3, 1), (39, 1), (40, 2), (60, 3), (600, 4)])
def test_short_loops_have_few_rounds(tmp_path, minutes, rounds):
    plan = write_engine(tmp_path, minutes=minutes, games=None, match={})
    assert convert(read_plan(plan), LoopPlan, "plan").planned_rounds == rounds
