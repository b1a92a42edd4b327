"""A match whose files are damaged ends with the same games, and reports what was damaged."""

import json
import random

import pytest

from tests.commands.match_support import comparable, play
from tests.commands.support import done


def cut(content: bytes, dice: random.Random) -> bytes:
    return content[: dice.randrange(len(content))]


def flipped(content: bytes, dice: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(3):
        changed[dice.randrange(len(content))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def nulled(content: bytes, dice: random.Random) -> bytes:
    begin = dice.randrange(len(content))
    return content[:begin] + b"\0" * len(content[begin : begin + 500]) + content[begin + 500 :]


def without_a_line(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.pop(dice.randrange(len(lines)))
    return b"".join(lines)


def with_a_line_twice(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(dice.randrange(len(lines)), dice.choice(lines))
    return b"".join(lines)


def with_another_line(content: bytes, dice: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(
        dice.randrange(len(lines)),
        dice.choice([b"[1]\n", b'{"leg": "x"}\n', b"nonsense\n", b"\xff\0\n", b"{}\n"]),
    )
    return b"".join(lines)


DAMAGE = (cut, flipped, nulled, without_a_line, with_a_line_twice, with_another_line)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
@pytest.mark.parametrize("name", ["history.jsonl", "games.pgn"])
def test_a_damaged_match_ends_with_the_same_games_and_reports_the_damage(tmp_path, name, damage):
    folder, whole = tmp_path / "run", tmp_path / "whole.pgn"
    wanted = play(
        "random",
        "random",
        "--plies",
        12,
        "--games",
        30,
        "--run",
        folder,
        "--pgn",
        whole,
        "--random-plies",
        0,
    )
    files = {path.name: path.read_bytes() for path in folder.iterdir()}
    for seed in range(3):
        for path in folder.iterdir():
            path.unlink()
        for other, content in files.items():
            (folder / other).write_bytes(
                damage(content, random.Random(seed)) if other == name else content
            )
        damaged = (folder / name).read_bytes()
        ran = done("match", "--resume", folder, "--pgn", tmp_path / "again.pgn", "--json")
        assert {**json.loads(ran.out), "pgn": None} == {**wanted, "pgn": None}
        assert comparable(tmp_path / "again.pgn") == comparable(whole)
        if damage is with_another_line and name == "games.pgn":
            assert f"{folder / 'history.jsonl'}:" in ran.err
        if (folder / "history.jsonl").read_bytes()[: len(files["history.jsonl"])] != files[
            "history.jsonl"
        ]:
            kept = [path.read_bytes() for path in folder.glob("*.damaged-*")]
            assert damage in (cut, without_a_line) or kept and "damaged-1" in ran.err
            assert name == "games.pgn" or damage in (cut, without_a_line) or damaged in kept
