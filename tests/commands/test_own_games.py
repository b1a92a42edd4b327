"""`tuner tune --own-games` from end to end, on few games."""

import pytest

from tests.commands.support import tuner

SMALL = ("--own-games", 40, "--per-game", 5, "--only", "material.*", "--workers", 2)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            "tune classic -o new.yaml",
            "tune: expected GAMES to learn from, or --own-games N; see tuner tune --help",
        ),
        (
            "tune classic games.pgn -o new.yaml --own-rounds 2",
            "--own-rounds 2: has no use here, there are no --own-games to play",
        ),
        ("tune classic --own-games 10 --dry-run", "--own-games 10: has no use with --dry-run"),
        ("tune tictactoe/classic --own-games 10 -o new.yaml", "tictactoe has no search"),
        ("tune zero --own-games 10 -o new.yaml", "all weights are 0"),
        (
            "tune classic --own-games 10 --method logistic --depth 3 -o new.yaml",
            "--depth 3: has no use here",
        ),
        ("tune classic --own-games 10 --min-elo 2000 -o new.yaml", "own games have no Elo"),
    ],
)
def test_a_mistake_is_one_line(tmp_path, monkeypatch, small_pgn, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games.pgn").symlink_to(small_pgn)
    ran = tuner(*arguments.split())
    assert ran.status == 2 and not (tmp_path / "new.yaml").exists()
    assert said in ran.err.splitlines()[-1] and ran.err.splitlines()[-1].startswith("tuner"), (
        ran.err
    )
