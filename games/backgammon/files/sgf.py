"""Read matches as GNU Backgammon writes them in Smart Game Format (`.sgf`, GM[6]).

White is gnubg's player 0 and our first player. Points are letters: `a` to `x` are White's points 1
to 24, and Black's 24 to 1; `y` is the bar, `z` is off. Analysis and comments are skipped; a game
that is set up on another position is a fault."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from games.backgammon.files.gamerecord import FoundGame, GameRecord
from games.reading import FileFault
from games.streams import InputError

LARGEST = 256 << 20
NAME = re.compile(rb"\s*([A-Za-z]{1,8})\s*(?=\[)")
VALUE = re.compile(rb"\s*\[((?:[^\]\\]|\\.)*)\]", re.DOTALL)
MARK = re.compile(rb"\s*([(;)])")
MOVE = re.compile(r"([1-6])([1-6])((?:[a-y][a-z]){0,4})")
RESULT = re.compile(r"([BW])\+(\d{1,6})R?")
SETUP = {"AB", "AW", "AE", "PL"}
SIDES = {"W": 0, "B": 1}


class Property(NamedTuple):
    """A property of a node: its name and values."""

    name: str
    values: list[str]

    @property
    def value(self) -> str:
        return self.values[0]


def games_of(content: bytes) -> Iterator[list[Property]]:
    """Yield the properties of each game, in order; Fault(byte: text) where the file is not SGF."""
    at = depth = 0
    found: list[Property] = []
    while at < len(content):
        mark = MARK.match(content, at)
        if mark:
            at = mark.end()
            if mark[1] == b"(":
                depth += 1
                if depth > 1:
                    raise FileFault(f"byte {at}: a variation, which gnubg does not write")
                found = []
            elif mark[1] == b")":
                depth -= 1
                if depth < 0:
                    raise FileFault(f"byte {at}: ')' without '('")
                yield found
                found = []
            elif not depth:
                raise FileFault(f"byte {at}: ';' outside a game")
            continue
        name = NAME.match(content, at)
        if name is None or not depth:
            if not content[at:].strip():
                break
            raise FileFault(
                f"byte {at + 1}: {content[at : at + 20].decode('ascii', 'replace')!r} is not SGF"
            )
        at = name.end()
        values: list[str] = []
        while value := VALUE.match(content, at):
            at = value.end()
            values.append(value[1].decode("utf-8", "replace"))
        if not values:
            raise FileFault(
                f"byte {name.start(1) + 1}: a value of {name[1].decode()} is never closed"
            )
        found.append(Property(name[1].decode(), values))
    if depth:
        raise FileFault(f"byte {len(content)}: the file ends within a game")


def game_of(properties: list[Property]) -> GameRecord:
    """Return a game from its properties; Fault if it is not one of backgammon from the start with
    legal moves."""
    values = {each.name: each.value for each in reversed(properties)}
    if values.get("GM") != "6":
        raise FileFault(
            f"GM[{values.get('GM', '')[:20]}] is not backgammon, expected GM[6]",
            "a game that is not backgammon",
        )
    for name in SETUP & values.keys():
        raise FileFault(
            f"{name}[{values[name][:20]}] sets up a position; only games from the start are read",
            "a game that does not begin at the start",
        )
    match = {
        key: int(number)
        for each in properties
        if each.name == "MI"
        for value in each.values
        for key, number in re.findall(r"(length|ws|bs):(\d{1,5})", value)
    }
    score = match.get("ws", 0), match.get("bs", 0)
    game = GameRecord((values.get("PW", ""), values.get("PB", "")), score, match.get("length", 0))
    for each in properties:
        if each.name in SIDES:
            _action(game, SIDES[each.name], each.value)
    won = None
    if values.get("RE"):
        result = RESULT.fullmatch(values["RE"])
        if result is None:
            raise FileFault(
                f"RE[{values['RE'][:20]}] is not a result such as W+2", "an unknown result"
            )
        won = int(result[2]) * (1 if result[1] == "W" else -1)
    game.finish(won)
    return game


def _action(game: GameRecord, side: int, text: str) -> None:
    move = MOVE.fullmatch(text)
    if move:
        pairs = [move[3][k : k + 2] for k in range(0, len(move[3]), 2)]
        steps = " ".join(f"{_place(side, pair[0])}/{_place(side, pair[1])}" for pair in pairs)
        game.play(side, (int(move[1]), int(move[2])), steps)
    elif text == "double":
        game.double(side)
    elif text == "drop":
        game.drop(side)
    elif text != "take":
        raise FileFault(
            f"{text[:20]!r} at ply {len(game.rolled) + 1} is neither a roll with a move nor double,"
            " take or drop",
            "text that is neither a roll nor an action of the cube",
        )


def _place(side: int, letter: str) -> str:
    if letter in "yz":
        return {"y": "bar", "z": "off"}[letter]
    point = ord(letter) - ord("a") + 1
    return str(point if side == 0 else 25 - point)


def parse(source: str, stream: Iterator[bytes]) -> Iterator[FoundGame]:
    """Yield the games of a `.sgf` file from its bytes. InputError for a file that is not SGF."""
    content = bytearray()
    for piece in stream:
        content += piece
        if len(content) > LARGEST:
            raise InputError(f"{source}: larger than {LARGEST >> 20} MiB; split it")
    number = 0
    try:
        for properties in games_of(bytes(content)):
            number += 1
            fault, game = None, GameRecord()
            try:
                game = game_of(properties)
            except FileFault as problem:
                fault = problem
            yield FoundGame(f" game {number}", game, fault)
    except FileFault as problem:
        raise InputError(f"{source}: {problem}; save it again with GNU Backgammon") from None
    if not number:
        raise InputError(
            f"{source}: no game; expected SGF of GNU Backgammon, which begins with '(;'"
        )
