"""Fixed matches and a fixed run of self-play have the journals and the results that were
recorded."""

import hashlib
import json

from tests.commands.support import done
from tests.tuner.core.support import read_records

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
