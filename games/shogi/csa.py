"""Games in CSA format, versions 1 to 3: read and written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from games.shogi.attacks import KING, PROMOTED
from games.shogi.gamefile import ILLEGAL_KIND, Fault, ParsedGame, shown
from games.shogi.moves import NOWHERE
from games.shogi.position import MOST, START, STATE
from games.shogi.sfen import board_of, hand_of, kind_on, words_of
from games.shogi.squares import RANKS

MEN = ("", "FU", "KY", "KE", "GI", "KA", "HI", "KI", "OU", "TO", "NY", "NK", "NG", "UM", "RY")
# results for the side to move; None: undecided
ENDS = {"TORYO": -1, "TSUMI": -1, "TIME_UP": -1, "ILLEGAL_MOVE": -1, "KACHI": 1, "SENNICHITE": 0, "JISHOGI": 0, "HIKIWAKE": 0,
        "MAX_MOVES": 0, "CHUDAN": None, "FUZUMI": None, "MATTA": None, "ERROR": None}
START_BOARD = board_of(START)
ILLEGAL = "%ILLEGAL_MOVE"
_MOVE = re.compile(r"([+-])([0-9])([0-9])([1-9])([1-9])([A-Z]{2})", re.ASCII)
_TIME = re.compile(r"T[0-9]+(\.[0-9]*)?", re.ASCII)
_RATE = re.compile(r"'(black|white)_rate:.*:([0-9]+(?:\.[0-9]+)?)$", re.ASCII)


def begins(line: str) -> bool:
    """Whether a line can be the first statement of a game in CSA format."""
    return bool(re.match(r"V[1-3](\.[0-9])?$|N[+-]|\$[A-Z_+-]+:|PI|P[1-9+-]|'|%|[+-]([0-9]{4}[A-Z]{2})?(,|$)", line.rstrip()))


def read_games(lines: Sequence[str]) -> Iterator[ParsedGame]:
    """Yield the games of the lines of a file; those with faults have them noted."""
    begin = 0
    for number in range(len(lines) + 1):
        if number == len(lines) or lines[number].rstrip() == "/":
            if any(line.strip() and not line.startswith("'") for line in lines[begin:number]):
                yield _game(lines, begin, number)
            begin = number + 1


class _Start:
    """The start of a game, from the statements that describe it."""

    def __init__(self) -> None:
        self.board: dict[int, tuple[int, int]] = {}
        self.hands: dict[tuple[int, int], int] = {}

    def take(self, text: str, number: int) -> None:
        """Take a statement that begins with P."""
        if text.startswith("PI"):
            self.board = dict(START_BOARD)
            for place, name in self._men(text[2:], text, number):
                if self.board.pop(place, (0, 0))[1] != MEN.index(name):
                    raise Fault("bad position", f"{shown(text)} takes away what is not there", number)
        elif re.match("P[1-9]", text, re.ASCII):
            rank = int(text[1]) - 1
            cells = [text[2 + 3 * i:5 + 3 * i].strip() for i in range(9)]
            for i, cell in enumerate(cells):
                if cell in ("*", ""):
                    continue
                if len(cell) != 3 or cell[0] not in "+-" or cell[1:] not in MEN[1:]:
                    raise Fault("bad position", f"{cell!r} in {shown(text)}, expected * or a man such as +FU", number)
                self.board[RANKS * (8 - i) + rank] = int(cell[0] == "-"), MEN.index(cell[1:])
        else:
            self._own(int(text[1] == "-"), text, number)

    def _own(self, owner: int, text: str, number: int) -> None:
        if text[2:] == "00AL":
            left = list(MOST)
            for _, kind in self.board.values():
                left[kind & 7 if kind > PROMOTED else kind] -= 1
            for (_, kind), held in self.hands.items():
                left[kind] -= held
            for kind in range(1, KING):
                self.hands[owner, kind] = self.hands.get((owner, kind), 0) + max(left[kind], 0)
            return
        for place, name in self._men(text[2:], text, number):
            kind = MEN.index(name)
            if place != NOWHERE:
                self.board[place] = owner, kind
            elif kind < KING:
                self.hands[owner, kind] = self.hands.get((owner, kind), 0) + 1
            else:
                raise Fault("bad position", f"{name} in hand in {shown(text)}", number)

    @staticmethod
    def _men(text: str, whole: str, number: int) -> list[tuple[int, str]]:
        found = re.findall(r"([1-9])([1-9])([A-Z]{2})|00([A-Z]{2})", text, re.ASCII)
        if 4 * len(found) != len(text) or any((name or held) not in MEN[1:] for _, _, name, held in found):
            raise Fault("bad position", f"{shown(whole)}, expected squares and men such as 82HI", number)
        return [(NOWHERE, held) if held else (RANKS * (int(file) - 1) + int(rank) - 1, name) for file, rank, name, held in found]

    def words(self, white: int, number: int) -> np.ndarray:
        if not self.board and not self.hands:
            raise Fault("no position", "the moves begin before a position, expected PI or P1 to P9", number)
        if self.board == START_BOARD and not self.hands and not white:
            return START.copy()
        try:
            return words_of(self.board, {man: held for man, held in self.hands.items() if held}, white, 1)
        except ValueError as problem:
            raise Fault("bad position", str(problem), number) from None


def _game(lines: Sequence[str], begin: int, end: int) -> ParsedGame:
    """Parse the game of lines[begin:end]."""
    game = ParsedGame([], begin=begin + 1)
    start = _Start()
    refused: Fault | None = None  # an illegal move, which is no fault of the file if it ends the game
    try:
        for number in range(begin, end):
            line = lines[number].rstrip()
            if line.startswith("'"):
                _comment(game, line)
            elif line.startswith(("N", "$")):
                _tag(game, line, number + 1)
            else:
                statements, _, comment = line.partition("'")
                for text in filter(None, map(str.strip, statements.split(","))):
                    if refused and not _TIME.fullmatch(text) and text != ILLEGAL:
                        raise refused
                    refused = None if text == ILLEGAL else refused
                    try:
                        _statement(game, start, text, number + 1)
                    except Fault as fault:
                        if fault.kind != ILLEGAL_KIND:
                            raise
                        refused = fault
                game.take_comment(comment.removeprefix("*") if comment[:2] == "**" else comment)
        if refused:
            raise refused
        if not game.line:
            raise Fault("no position", "a game without the side to move, expected + or - after the position", end)
    except Fault as fault:
        game.fault = fault
    else:
        game.decide()
    return game


def _comment(game: ParsedGame, line: str) -> None:
    if found := _RATE.match(line):
        game.elo[found[1]] = float(found[2])
    elif line.startswith("'*"):
        game.take_comment(line[2:])


def _tag(game: ParsedGame, line: str, number: int) -> None:
    if line.startswith(("N+", "N-")):
        game.names["white" if line[1] == "-" else "black"] = line[2:]
    elif ":" in line and line.startswith("$"):
        key, _, value = line[1:].partition(":")
        game.names[key.lower()] = value
    else:
        raise Fault("unknown statement", shown(line), number)


def _statement(game: ParsedGame, start: _Start, text: str, number: int) -> None:
    if text.startswith("%"):
        _end(game, text[1:], number)
    elif game.found_end and not _TIME.fullmatch(text):
        raise Fault("text after the end", shown(text), number)
    elif re.match("PI|P[1-9+-]", text, re.ASCII) and not game.line:
        start.take(text, number)
    elif text in ("+", "-") and not game.line:
        game.line.append(start.words(int(text == "-"), number))
    elif found := _MOVE.fullmatch(text):
        if not game.line:
            raise Fault("no position", f"the move {shown(text)} before the side to move", number)
        _move(game, found, text, number)
    elif not (re.fullmatch(r"V[1-3](\.[0-9])?", text, re.ASCII) or _TIME.fullmatch(text) and game.line):
        raise Fault("unknown statement", shown(text), number)


def _move(game: ParsedGame, found: re.Match, text: str, number: int) -> None:
    sign, from_file, from_rank, file, rank, name = found.groups()
    if (sign == "-") != game.white_to_move:
        raise Fault("wrong side", f"{shown(text)} at ply {len(game.moves) + 1}, the other side is to move", number)
    if name not in MEN[1:]:
        raise Fault("unknown man", f"{name!r} in {shown(text)}", number)
    target, kind = RANKS * (int(file) - 1) + int(rank) - 1, MEN.index(name)
    if from_file == from_rank == "0":
        game.push(NOWHERE, target, kind, False, text, number)
        return
    source = RANKS * (int(from_file) - 1) + int(from_rank) - 1 if "0" not in (from_file, from_rank) else -1
    moved = kind_on(game.line[-1], source) if source >= 0 else 0
    promotes = kind != moved
    game.push(source, target, kind - PROMOTED if promotes else kind, promotes, text, number)


def _end(game: ParsedGame, name: str, number: int) -> None:
    if not game.line:
        raise Fault("no position", f"the end %{name[:20]} before the side to move", number)
    if name in ("+ILLEGAL_ACTION", "-ILLEGAL_ACTION"):
        result: int | None = -1 if name[0] == "+" else 1
    elif name in ENDS:
        value = ENDS[name]
        result = None if value is None else game.mover_result(value)
    else:
        raise Fault("unknown end", f"{shown('%' + name)}, expected one of %{', %'.join(ENDS)}", number)
    if game.found_end and result != game.result:  # Floodgate says some ends twice
        raise Fault("text after the end", shown("%" + name), number)
    game.result, game.found_end = result, True


def _digits(square: int) -> str:
    return f"{square // RANKS + 1}{square % RANKS + 1}"


def move_text(move: int, white: bool) -> str:
    """Return a move in CSA: +7776FU."""
    source, kind = move >> 7 & 127, (move >> 14 & 15) + PROMOTED * (move >> 22 & 1)
    return f"{'-' if white else '+'}{'00' if source == NOWHERE else _digits(source)}{_digits(move & 127)}{MEN[kind]}"


def position_lines(words: np.ndarray) -> list[str]:
    """Return a position as statements, the side to move last."""
    board, white = board_of(words), int(words[STATE]) & 1
    if np.array_equal(words[:13], START[:13]):
        return ["PI", "+-"[white]]
    rows = []
    for rank in range(RANKS):
        cells = [board.get(RANKS * file + rank) for file in reversed(range(9))]
        rows.append(f"P{rank + 1}" + "".join(" * " if man is None else "+-"[man[0]] + MEN[man[1]] for man in cells))
    for owner in (0, 1):
        held = "".join(f"00{MEN[kind]}" * number for kind, number in enumerate(hand_of(words, owner)) if number)
        rows += [f"P{'+-'[owner]}{held}"] if held else []
    return [*rows, "+-"[white]]
