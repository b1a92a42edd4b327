"""The players of one thread: each is made once for all legs, and of many the last are kept."""

import hashlib
import json

import pytest

from games.record import Control
from tests.commands.support import done
from tests.tuner.core.support import read_records
from tuner.play.match import pairs
from tuner.play.match.pairs import MatchPlayers, MatchSpec, PairTask
from tuner.play.openings import Opening
from tuner.play.players import PlayerSpec
from tuner.play.rules import GameRules


class Made:
    def __init__(self, spec: PlayerSpec) -> None:
        self.name, self.closed = spec.name, False

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def made(monkeypatch) -> list[Made]:
    found: list[Made] = []

    def make(spec: PlayerSpec, game: object) -> Made:
        found.append(Made(spec))
        return found[-1]

    monkeypatch.setattr(pairs, "make_player", make)
    return found


def players_of(number: int) -> MatchPlayers:
    """Of a gauntlet of the first against so many others."""
    first, *others = (PlayerSpec(f"p{i}", Control(depth=1)) for i in range(number + 1))
    legs = tuple((first, other) for other in others)
    spec = MatchSpec(game="chess", rules=GameRules(), legs=legs)
    return MatchPlayers(spec, lambda: False)


def test_pairs_of_different_pairings_have_other_dice_and_both_games_of_a_pair_the_same():
    specs = [PlayerSpec(f"p{i}", Control(depth=1)) for i in range(3)]
    legs = ((specs[0], specs[1]), (specs[0], specs[2]))
    spec = MatchSpec(game="backgammon", rules=GameRules(), legs=legs)
    players = MatchPlayers(spec, lambda: False)
    game = players.game
    rolled = {
        (leg, number, turn): pairs.play_game(
            players, PairTask(leg, number, Opening(game.start())), turn
        ).line[0]
        for leg in (0, 1)
        for number in range(6)
        for turn in (0, 1)
    }
    same = [(rolled[leg, n, 0] == rolled[leg, n, 1]).all() for leg in (0, 1) for n in range(6)]
    assert all(same)
    assert not all((rolled[0, n, 0] == rolled[1, n, 0]).all() for n in range(6))


def test_a_player_is_made_once_for_all_of_its_legs(made):
    players = players_of(5)
    players.ready()
    players.ready()
    assert [player.name for player in made] == [f"p{i}" for i in range(6)]
    players.close()
    assert all(player.closed for player in made)


def test_of_many_players_those_that_have_waited_the_longest_are_closed(made):
    players = players_of(2 * pairs.MOST_OPEN)
    for leg in range(2 * pairs.MOST_OPEN):
        assert not players.player(leg, 0).closed and not players.player(leg, 1).closed
        assert sum(not player.closed for player in made) <= pairs.MOST_OPEN
    assert made[0].name == "p0" and not made[0].closed
    assert players.player(0, 1).name == "p1" and len(made) == 2 * pairs.MOST_OPEN + 2


CHESS = "13f3b0743debddd5"
TICTACTOE = "2342211bc474bad0"
SELFPLAY = "0a66ae578d731b7d"


def hash_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def test_a_chess_match_is_journalled_as_recorded(tmp_path):
    ran = done(
        "match",
        "classic",
        "pesto",
        "--depth",
        1,
        "--games",
        12,
        "--seed",
        3,
        "--random-plies",
        6,
        "--run",
        tmp_path / "run",
        "--sprt",
        0,
        20,
    )
    lines = read_records(tmp_path / "run")
    text = json.dumps(sorted(lines, key=lambda line: line["pair"]))
    assert hash_of(text.encode()) == CHESS, text
    assert "Ptnml(0-2): [0, 1, 2, 1, 2]" in ran.out


def test_a_match_of_tictactoe_is_journalled_as_recorded(tmp_path):
    ran = done(
        "match",
        "tictactoe/random",
        "tictactoe/random",
        "--games",
        20,
        "--seed",
        3,
        "--random-plies",
        2,
        "--run",
        tmp_path / "run",
        "--workers",
        1,
        "--json",
    )
    data = json.dumps(read_records(tmp_path / "run")).encode()
    assert hash_of(data) == TICTACTOE, data
    found = json.loads(ran.out)
    counts = [found[key] for key in ("wins", "losses", "draws")]
    assert (counts, found["pentanomial"]) == ([8, 11, 1], [3, 1, 4, 0, 2])


def test_self_play_of_chess_learns_what_is_recorded(tmp_path):
    done(
        "selfplay",
        "material",
        "--games",
        8,
        "--depth",
        1,
        "--batch",
        4,
        "--plies",
        150,
        "--run",
        tmp_path / "run",
        "--method",
        "td-leaf",
    )
    lines = read_records(tmp_path / "run")
    for line in lines:
        del line["cpu_seconds"]
    text = json.dumps(lines)
    assert hash_of(text.encode()) == SELFPLAY, text
