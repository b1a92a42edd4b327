"""Fixed matches and a fixed run of self-play have the journals and the results that were
recorded."""

import hashlib
import json

from tests.commands.support import done
from tests.tuner.core.support import read_records

CHESS = "21505ed8a9553032"
TICTACTOE = "7b73f6ceb9b289c6"
SELFPLAY = "52477d9ad4366579"


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
    text = json.dumps(sorted(lines, key=lambda line: line["pair"])) + ran.out.replace(
        str(tmp_path), ""
    )
    assert hash_of(text.encode()) == CHESS, text


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
    found = json.loads(ran.out)
    del found["run"]
    data = json.dumps([read_records(tmp_path / "run"), found]).encode()
    assert hash_of(data) == TICTACTOE, data


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
