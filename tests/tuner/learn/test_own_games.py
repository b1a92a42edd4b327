"""Rounds of own games: another one while the last one won its match, and a later one that did not
is undone."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.support import refusal
from tuner.core.estimates import Estimate, estimate_of
from tuner.evaluation.loading import load_engine
from tuner.io.terminal import Display
from tuner.learn import own_games
from tuner.learn.own_games import MIN_GAMES, learn_with_own_games
from tuner.learn.rounds import FAR, Fitted
from tuner.learn.sources import sources_of
from tuner.learn.targets import Start
from tuner.options.tune import TuneSettings
from tuner.parallel import OnThreads
from tuner.results.fit import Change, RoundMatch

BETTER, EQUAL, WORSE = (
    RoundMatch(400, 0.53, estimate_of(21.0, 30.0, 1.0)),
    RoundMatch(400, 0.5, estimate_of(0.0, 30.0, 1.0)),
    RoundMatch(400, 0.47, estimate_of(-21.0, 30.0, 1.0)),
)
CHANGE = Change(0.5, 0.498, Estimate(-0.002, low=-0.003, high=-0.001), games=60)


class Notes(Display):
    def __init__(self) -> None:
        self.lines: list[str] = []

    def note(self, text: str) -> None:
        self.lines.append(text)


@pytest.fixture
def rounds(monkeypatch, tmp_path):
    """A function that plays the rounds of a script of (verdict of the match, values moved); no game
    is really played."""
    engine, parameters = load_engine("material")
    begun = Start(engine, engine.game, parameters)

    def run(script, most=3, sources=(), **options):
        played, learned, matches, notes, left = [], [], [], Notes(), list(script)

        def play(run, folder, executor, command):
            folder.mkdir()
            (folder / "games.pgn").touch()
            played.append(
                (run.settings.seed, float(run.start[1].weights[0, 0]), run.settings.games)
            )
            return SimpleNamespace(interrupted=False, summary_lines=lambda: ["  results"])

        def learn(begun, folder):
            learned.append(([source.path for source in begun.sources], folder))
            (folder / "games").mkdir()
            (folder / "games" / "dataset").write_text(str(len(learned)))
            (folder / "results.npy").write_text(str(len(learned)))
            better = begun.parameters.with_weights(begun.parameters.weights + 1)
            return Fitted(len(learned), {}, SimpleNamespace(parameters=better), None)

        def match(before, after, games, seed, *others):
            assert games == MIN_GAMES and (after.weights - before.weights == 1).all()
            matches.append(seed)
            return script[len(matches) - 1][0]

        monkeypatch.setattr(own_games, "new_run", play)
        monkeypatch.setattr(own_games, "_change", lambda fitted: CHANGE)
        monkeypatch.setattr(own_games, "played", match)
        monkeypatch.setattr(own_games, "value_change", lambda result, before: left.pop(0)[1])
        given = TuneSettings(own_games=100, own_rounds=most, **options)
        _, found = learn_with_own_games(
            begun._replace(sources=sources_of(sources, engine.game)),
            "material",
            tmp_path,
            given,
            "tuner tune",
            learn,
            OnThreads(1),
            notes,
        )
        # one after each round, other openings
        assert len(set(matches)) == len(matches) == len(played) == len(found.matches)
        return found, played, learned, notes.lines

    return run


@pytest.mark.parametrize(
    ("script", "most", "kept", "played", "said"),
    [
        ([(EQUAL, 0.05)], 3, 1, 1, "no further round: round 1 does not win its match"),
        ([(WORSE, 0.05)], 3, 1, 1, "no further round: round 1 does not win its match"),
        ([(BETTER, FAR)], 3, 1, 1, "no further round: values move by 0.02 or less"),
        ([(BETTER, 0.05), (EQUAL, 0.05)], 3, 1, 2, "round 2 is undone: it does not win its match"),
        (
            [(BETTER, 0.05), (BETTER, 0.01)],
            3,
            2,
            2,
            "no further round: values move by 0.02 or less",
        ),
        ([(BETTER, 0.05), (BETTER, 0.03), (WORSE, 0.03)], 3, 2, 3, "round 3 is undone"),
        (
            [(BETTER, 0.05), (BETTER, 0.03), (BETTER, 0.03)],
            3,
            3,
            3,
            "round 3: the learned weights score 53.0 % of 400 games",
        ),
        (
            [(BETTER, 0.05)],
            1,
            1,
            1,
            (
                "round 1: the learned weights score 53.0 % of 400 games at depth 4 (+21 +/- 30 Elo)"
                " against mat"
            ),
        ),
    ],
)
def test_another_round_follows_while_it_helps(rounds, tmp_path, script, most, kept, played, said):
    found, games, learned, lines = rounds(script, most)
    assert found.rounds == kept and len(games) == len(learned) == played
    assert lines[-1].startswith(said), lines
    # every round plays and learns with the weights of the round before, from other games
    start = games[0][1]
    assert games == [(1 + number, start + number, 100) for number in range(played)]
    assert learned[kept - 1][0] == [str(tmp_path / f"own-games-{kept}")]
    # the folder has the dataset of the round that is kept, and no other
    assert (
        (tmp_path / "games" / "dataset").read_text()
        == (tmp_path / "results.npy").read_text()
        == str(kept)
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "games",
        *(f"own-games-{n}" for n in range(1, kept + 1)),
        "results.npy",
    ]
    assert found.fitted.read == kept


def test_games_of_others_are_read_in_every_round(rounds, small_pgn):
    _, _, learned, lines = rounds([(BETTER, 0.05), (BETTER, 0.01)], sources=[str(small_pgn)])
    assert [[Path(source).name for source in sources] for sources, _ in learned] == [
        ["small.pgn", f"own-games-{n}"] for n in (1, 2)
    ]
    assert (
        lines[0] == "round 1: 100 games of material against its copies" and lines[1] == "  results"
    )
    assert "round 2: 100 games of the weights of round 1 against its copies" in lines
    assert (
        "loss of the results of 60 held-out games 0.50000 -> 0.49800, change -0.00200 [-0.00300,"
        " -0.00100]" in lines[2]
    )


@pytest.mark.parametrize(
    ("sources", "options", "said"),
    [
        (["-"], {}, "--own-games: standard input can be read only once"),
        (["nowhere.pgn"], {}, "nowhere.pgn: no such file"),
        ([], {"min_elo": 2000}, "--min-elo 2000: own games have no Elo"),
        ([], {"loss": "ordered", "method": "rootstrap"}, "--loss ordered: needs results"),
        ([], {"nodes": 100}, "--nodes 100: has no use here"),
    ],
)
def test_mistakes_are_found_before_a_game_is_played(rounds, tmp_path, sources, options, said):
    assert (
        said in refusal(rounds, [], sources=sources, **options) and list(tmp_path.iterdir()) == []
    )
