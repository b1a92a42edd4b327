"""Read and write matches as `.mat` (Jellyfish): two columns, the first player on the left.

     7 point match

     Game 1
     Ann : 0                        Bob : 0
      1)                             61: 13/7 8/7
      2) 21: 13/11 24/23             65: 24/18 18/13
      3)  Doubles => 2                Drops
          Wins 1 point

A line's right half begins at its column, or after the blank behind a left half that is longer.
"""

import mmap
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from games.backgammon.files.notation import parse_move, steps_text
from games.backgammon.rules.board import STATE, dice_of, start, turn_of, with_dice
from games.backgammon.rules.play import afterstates, points
from games.reading import FileFault
from games.streams import InputError

PLAYED, RESIGNED, DROPPED, UNFINISHED = "played", "resigned", "dropped", "unfinished"
HIGHEST_CUBE = 1 << 15
# kinds of faults
ILLEGAL = "illegal move"
CUBE_ACTIONS = ("Doubles", "Beavers", "Raccoons", "Redoubles")  # one after another before a roll
CUBE, RESULT = "a cube turned against the rules", "a result that contradicts the moves"


@dataclass
class GameRecord:
    """A game from the start. `rolled` are the positions with dice, `afterstates` those after each
    move, `moves` the steps of each (`games.backgammon.rules.play.steps_of`); `cubes` has the plies
    before which the cube was turned, and its new value.

    `points` are what the first player won, times the cube; `end` how.
    """

    players: tuple[str, str] = ("", "")
    score: tuple[int, int] = (0, 0)
    length: int = 0  # of the match; 0: money
    rolled: list[np.ndarray] = field(default_factory=list)
    afterstates: list[np.ndarray] = field(default_factory=list)
    moves: list[int] = field(default_factory=list)
    cubes: list[tuple[int, int]] = field(default_factory=list)
    points: int = 0
    end: str = UNFINISHED

    @property
    def cube(self) -> int:
        """The value of the cube at the end."""
        return self.cubes[-1][1] if self.cubes else 1

    @property
    def now(self) -> np.ndarray:
        """The position before the next roll, whoever starts."""
        return self.afterstates[-1] if self.afterstates else start()

    @property
    def line(self) -> np.ndarray:
        """The positions before each roll, from the start on, and the last one: (plies + 1,
        words)."""
        if not self.rolled:
            return start()[None]
        return np.array([with_dice(self.rolled[0], (0, 0)), *self.afterstates])

    @property
    def value(self) -> int | None:
        """The points of the first player without the cube; None for a game that has no result."""
        return None if self.end == UNFINISHED else self.points // self.cube

    def play(self, side: int, dice: tuple[int, int], text: str) -> None:
        """Play a ply; Fault if it is not that side's turn, or the move is not legal."""
        self._continue(side, "moves")
        if not all(1 <= die <= 6 for die in dice):
            raise FileFault(
                f"dice {dice[0]}{dice[1]} at ply {len(self.rolled) + 1}, expected two of 1 to 6",
                "impossible dice",
            )
        words = self.now
        if not self.rolled:
            words[STATE] |= np.uint64(side)
        words = with_dice(words, dice)
        after, moves = afterstates(words)
        try:
            k = parse_move(words, text, (after, moves))
        except ValueError as problem:
            raise FileFault(f"{problem} at ply {len(self.rolled) + 1}", ILLEGAL) from None
        self.rolled.append(words)
        self.afterstates.append(after[k])
        self.moves.append(int(moves[k]))

    def double(self, side: int, value: int | None = None) -> None:
        """Turn the cube before a ply, or once more before it is taken (a beaver, a raccoon); Fault
        if it is not that side's turn, or the value is not the next."""
        self._continue(side ^ self._turned() & 1, "doubles")
        ply = len(self.rolled) + 1
        if not self.rolled:
            raise FileFault("the cube is turned before the opening roll", CUBE)
        if value not in (None, 2 * self.cube):
            raise FileFault(
                f"the cube goes from {self.cube} to {value} at ply {ply}, expected {2 * self.cube}",
                CUBE,
            )
        if self.cube >= HIGHEST_CUBE:
            raise FileFault(f"the cube goes beyond {HIGHEST_CUBE} at ply {ply}", CUBE)
        self.cubes.append((len(self.rolled), 2 * self.cube))

    def _turned(self) -> int:
        """Return how often the cube was turned before the next roll."""
        return sum(ply == len(self.rolled) for ply, _ in self.cubes)

    def drop(self, side: int) -> None:
        """End the game with a cube that is not taken."""
        if not self._turned() or self.end != UNFINISHED:
            raise FileFault(f"no double to be dropped at ply {len(self.rolled) + 1}", CUBE)
        self._continue(side ^ self._turned() & 1, "drops")
        self.cubes.pop()
        self.points, self.end = (-self.cube, DROPPED) if side == 0 else (self.cube, DROPPED)

    def finish(self, won: int | None) -> None:
        """End the game: with the points `won` by the first player that its file states, negative if
        lost, or None. Fault if they differ from the moves."""
        reached = points(self.now) * self.cube
        if won is not None and self.end == DROPPED and won != self.points:
            raise FileFault(
                f"the file states {won:+d} points for the first player, the dropped cube gives"
                f" {self.points:+d}",
                RESULT,
            )
        if self.end == DROPPED:
            return
        if won is not None and reached and won != reached:
            raise FileFault(
                f"the file states {won:+d} points for the first player, the moves give"
                f" {reached:+d}",
                RESULT,
            )
        if reached:
            self.points, self.end = reached, PLAYED
        elif won is not None:
            if won % self.cube or not 1 <= abs(won) // self.cube <= 3:
                raise FileFault(
                    f"the file states {won:+d} points for the first player, which the cube at"
                    f" {self.cube} cannot give",
                    RESULT,
                )
            self.points, self.end = won, RESIGNED

    def _continue(self, side: int, what: str) -> None:
        if self.end != UNFINISHED or points(self.now):
            raise FileFault(
                f"the game goes on after its end at ply {len(self.rolled) + 1}",
                "the game goes on after its end",
            )
        if self.rolled and side != turn_of(self.now):
            raise FileFault(
                f"{('the first', 'the second')[side]} player {what} at ply {len(self.rolled) + 1},"
                " out of turn",
                "a move or a double out of turn",
            )


class FoundGame(NamedTuple):
    """A game of a file: its place or the place of its fault, such as `12` for a line, the game, and
    its fault or None."""

    place: str
    game: GameRecord
    fault: FileFault | None


LEFT = 28  # width of the left half with the blank behind it
RIGHT_FROM = 20  # column from which a single half is the right one
MATCH = re.compile(r"\s*(\d{1,5}) point match\b.*", re.ASCII | re.IGNORECASE)
GAME = re.compile(r"\s*Game (\d+)\s*", re.ASCII)
NAMES = re.compile(r"\s*(.{0,80}?) : (\d{1,5})\s+(.{0,80}?) : (\d{1,5})\s*", re.ASCII)
NUMBERED = re.compile(r"\s*(\d{1,4})\)(.*)", re.ASCII | re.DOTALL)
ROLL = re.compile(r"([1-6])([1-6]):\s*(.*)", re.ASCII | re.DOTALL)
DOUBLES = re.compile(
    r"(?:(?:re)?doubles|beavers|raccoons)(?:\s*=>\s*(\d{1,6}))?", re.ASCII | re.IGNORECASE
)
VARIATION = re.compile(r';\s*\[Variation "([^"]*)"\]\s*', re.IGNORECASE)
WINS = re.compile(r"(\s*)Wins (\d{1,6}) points?\b.*", re.ASCII | re.IGNORECASE)
HEADER = " {} point match\n"
MARK = '; [Event "tuner"]\n'  # a comment, before the header of games that were played here
SINGLE = re.compile(
    r"(?: 0 point match\n)?\n Game \d+\n (.*?) : \d+ +(.*) : \d+\n(.*)", re.ASCII | re.DOTALL
)
HALF = re.compile(
    r"[1-6]{2}:|\b(?:(?:re)?doubles|beavers|raccoons|takes|drops|passes)\b|Wins \d",
    re.ASCII | re.IGNORECASE,
)


def halves(text: str, offset: int) -> list[tuple[int, str]]:
    """Split the rest of a numbered line into what each side did: (0 or 1, text). `offset`: its
    column in the line."""
    starts = [found.start() for found in HALF.finditer(text)]
    if unknown := text[: starts[0] if starts else None].strip():
        raise FileFault(
            f"{unknown[:40]!r} is neither a roll nor an action of the cube",
            "text that is neither a roll nor an action of the cube",
        )
    if not starts:
        return []
    if len(starts) > 2:
        raise FileFault("the line has more than two halves")
    ends = [*starts[1:], len(text)]
    parts = [text[begin:end].strip() for begin, end in zip(starts, ends, strict=True)]
    if len(parts) == 2:
        return list(enumerate(parts))
    return [(int(offset + starts[0] >= RIGHT_FROM), parts[0])]


class Reader:
    """Builds the games of a file line by line."""

    def __init__(self) -> None:
        self.length = 0
        self.variation: FileFault | None = None  # that of all games if they are not backgammon
        self.game: GameRecord | None = None
        self.place = 0  # the number of its first line, or of the line of its fault
        self.fault: FileFault | None = None  # of the game being read
        # of a roll without a move, which is the player's last one if the player resigns
        self.unmoved: FileFault | None = None

    def line(self, number: int, text: str) -> Iterator[FoundGame]:
        """Take a line; yield the game that it ends."""
        if match := VARIATION.fullmatch(text):
            self.variation = None
            if match[1].lower() not in ("backgammon", "standard"):
                self.variation = FileFault(
                    f"the variation is {match[1][:40]!r}, expected backgammon",
                    "games of another variation",
                )
        elif match := MATCH.fullmatch(text):
            self.length = int(match[1])
        elif GAME.fullmatch(text):
            yield from self.end()
            self.game, self.place = GameRecord(length=self.length), number
            self.fault, self.unmoved = self.variation, None
        elif self.game is not None and self.fault is None:
            try:
                self._inside(self.game, text)
            except FileFault as problem:
                self.place, self.fault = number, problem

    def end(self) -> Iterator[FoundGame]:
        """Yield the game being read, if any."""
        if self.game is not None:
            if self.fault is None:
                try:
                    self.game.finish(None)
                except FileFault as problem:
                    self.fault = problem
            yield FoundGame(str(self.place), self.game, self.fault)
        self.game = None

    def _inside(self, game: GameRecord, text: str) -> None:
        if not text.strip() or text.startswith(";"):
            return
        if match := WINS.fullmatch(text):
            won = int(match[2])
            game.finish(-won if len(match[1]) >= RIGHT_FROM else won)
        elif match := NUMBERED.fullmatch(text):
            for side, half in halves(match[2], match.start(2)):
                self._half(game, side, half)
        elif not game.players[0] and not game.rolled and (match := NAMES.fullmatch(text)):
            game.players, game.score = (
                (match[1].strip(), match[3].strip()),
                (int(match[2]), int(match[4])),
            )
        else:
            raise FileFault(
                f"{text.strip()[:40]!r} is neither a numbered move nor a result",
                "text that is neither a numbered move nor a result",
            )

    def _half(self, game: GameRecord, side: int, text: str) -> None:
        if self.unmoved is not None and not WINS.fullmatch(text):
            raise self.unmoved
        if match := ROLL.fullmatch(text):
            if match[3].startswith("????"):
                raise FileFault("a move is unknown (????)")
            try:
                game.play(side, (int(match[1]), int(match[2])), match[3].replace("?", ""))
            except FileFault as problem:
                if match[3] or problem.kind != ILLEGAL:
                    raise
                self.unmoved = problem
        elif match := DOUBLES.fullmatch(text):
            game.double(side, None if match[1] is None else int(match[1]))
        elif text.lower() in ("drops", "passes"):
            game.drop(side)
        elif match := WINS.fullmatch(text):
            game.finish(int(match[2]) if side == 0 else -int(match[2]))
        elif text.lower() != "takes":
            raise FileFault(
                f"{text[:40]!r} is neither a roll nor an action of the cube",
                "text that is neither a roll nor an action of the cube",
            )


def parse(source: str, text: Iterator[bytes]) -> Iterator[FoundGame]:
    """Yield the games of a `.mat` file from its lines. InputError for a file without any game."""
    reader, any_game = Reader(), False
    for number, line in enumerate(text, 1):
        for game_read in reader.line(number, line.decode("utf-8-sig", "replace").rstrip("\r")):
            any_game = True
            yield game_read
    for game_read in reader.end():
        any_game = True
        yield game_read
    if not any_game:
        raise InputError(f"{source}: no line 'Game 1'; expected a match in the .mat format")


def mat_text(games: list[GameRecord]) -> str:
    """Return games of one match, or of one money session, as the text of a `.mat` file."""
    parts = [HEADER.format(games[0].length if games else 0)]
    for number, game in enumerate(games, 1):
        parts += [
            _begins(number, game.players, game.score),
            *_numbered(_actions(game)),
            _result(game),
        ]
    return "".join(parts)


def made_here(content: bytes | mmap.mmap) -> bool:
    """Whether this is a session that was played here."""
    return content[: len(MARK)] == MARK.encode()


def one_session() -> Callable[[str], str]:
    """Make a function from texts of single games, in turn, to their form in a file: one money
    session with a mark and a header, whose games are numbered and have the score of the games
    before."""
    number, score = 0, [0, 0]

    def piece(text: str) -> str:
        nonlocal number
        single = SINGLE.fullmatch(text)
        assert single is not None, "expected the text of one game, as mat_text writes it"
        first, second, moves = single.groups()
        header = "" if number else MARK + HEADER.format(0)
        before = score[0], score[1]
        number += 1
        if won := WINS.fullmatch(moves.rstrip("\n").rpartition("\n")[2]):
            score[len(won[1]) >= RIGHT_FROM] += int(won[2])
        return header + _begins(number, (first, second), before) + moves

    return piece


def _begins(number: int, players: tuple[str, str], score: tuple[int, int]) -> str:
    first, second = (f"{name or 'player'} : {n}" for name, n in zip(players, score, strict=True))
    return f"\n Game {number}\n {first:<30} {second}\n"


def _actions(game: GameRecord) -> list[tuple[int, str]]:
    """Return the actions of the sides, in order."""
    actions: list[tuple[int, str]] = []
    cubes = game.cubes + [(len(game.rolled), 2 * game.cube)] * (game.end == DROPPED)
    for ply, words in enumerate([*game.rolled, game.now]):
        side = turn_of(words)
        turned = [value for at, value in cubes if at == ply]
        for k, value in enumerate(turned):
            name = CUBE_ACTIONS[min(k, len(CUBE_ACTIONS) - 1)]
            actions.append((side ^ k & 1, f" {name} => {value}"))
        last = ply == len(game.rolled)
        if turned:
            answer = " Drops" if last and game.end == DROPPED else " Takes"
            actions.append((side ^ len(turned) & 1, answer))
        if not last:
            larger, smaller = dice_of(words)
            move = game.moves[ply]
            text = steps_text(words, move).replace("bar", "25").replace("off", "0")
            actions.append((side, f"{larger}{smaller}: {'' if not move else text}"))
    return actions


def _numbered(actions: list[tuple[int, str]]) -> Iterator[str]:
    number, left = 0, None
    for side, text in actions:
        if side == 0:
            if left is not None:
                number += 1
                yield f"{number:3d}) {left}\n"
            left = text
        else:
            number += 1
            yield f"{number:3d}) {left or '':<{LEFT - 1}} {text}\n"
            left = None
    if left is not None:
        yield f"{number + 1:3d}) {left}\n"


def _result(game: GameRecord) -> str:
    if game.end == UNFINISHED:
        return ""
    won = abs(game.points)
    return (
        f"{'' if game.points > 0 else ' ' * LEFT}      Wins {won} point{'s' if won > 1 else ''}\n"
    )
