"""Shogi in matches: openings, USI engines as players, USI engines as
sources of evaluations."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from games.protocol.client import EngineClient, Speech
from games.protocol.player import EnginePlayer
from games.reading import MOST_OF_OPENINGS, Notes
from games.record import RESIGNS, Asked, Control, EngineOption, Forfeit, Openings
from games.shogi.files import reading, sfen
from games.shogi.files import sfen as notation
from games.shogi.files.sfen import move_name, move_named, shown, text
from games.shogi.rules.endings import declares, ending
from games.shogi.rules.movegen import has_moves, moves_of, play
from games.shogi.rules.position import CHECK, SIDE, START, STATE, WORDS
from games.streams import InputError

FIRST_LINES = 1000  # that may say the format of a file whose name does not


def line_of(text: str) -> tuple[list[np.ndarray], list[int]]:
    """Return the positions of `[position] startpos|sfen SFEN [moves ...]` and the moves between
    them; ValueError for a fault."""
    words = text.split()
    if words[:1] == ["position"]:
        del words[0]
    moves = words.index("moves") if "moves" in words else len(words)
    line, moves_of_line = [sfen.position(" ".join(words[:moves]))], []
    for name in words[moves + 1 :]:
        try:
            moves_of_line.append(notation.move_named(line[-1], name))
        except ValueError:
            raise ValueError(
                f"illegal move {shown(name)} at ply {len(moves_of_line) + 1}"
            ) from None
        after = np.empty_like(line[-1])
        play(line[-1], moves_of_line[-1], after)
        line.append(after)
    return line, moves_of_line


def _of_lines(
    source: str, lines: Sequence[str], skip: Callable[[str], None], ended: bool
) -> tuple[list[np.ndarray], list[list[int]]]:
    starts, moves = [], []
    for number, words in enumerate(lines, 1):
        if not words.strip() or words.startswith("#"):
            continue
        try:
            line, played = line_of(words)
            if not ended and ending(line) is not None:
                raise ValueError(f"{shown(words)}: the opening ends the game")
        except ValueError as problem:
            skip(f"{source}:{number}: {problem}; line skipped")
            continue
        starts.append(line[0])
        moves.append(played)
    return starts, moves


def openings(source: str, note: Callable[[str], None], ended: bool = False) -> Openings:
    """Read openings from a file of games, of SFEN positions or of USI lines; InputError if there is
    none. `ended`: include games that end on the board. Bad games and lines are skipped with a
    note."""
    starts: list[np.ndarray] = []
    moves: list[list[int]] = []
    notes = Notes(source, note, MOST_OF_OPENINGS)
    form = reading.by_name(source)
    if form in reading.PACKED:
        raise InputError(
            f"{source}: openings cannot be {form} records; expected games, SFEN positions or lines"
            " of USI moves"
        )
    lines = reading.lines_of(source)
    form = form or reading.of_lines(lines[:FIRST_LINES])
    if form is None:
        starts, moves = _of_lines(source, lines, notes.add, ended)
    else:
        for game in reading.games_of(lines, form):
            if game.fault:
                notes.add(f"{source}:{game.fault.line}: {game.fault}; game skipped")
            elif not ended and ending(game.line) is not None:
                notes.add(f"{source}:{game.begin}: the opening ends the game; game skipped")
            else:
                starts.append(game.line[0])
                moves.append(game.moves)
    notes.end(f"bad {'lines' if form is None else 'games'} skipped")
    if not starts:
        raise InputError(
            f"{source}: no openings found, expected games, SFEN positions or lines such as startpos"
            " moves 7g7f 3c3d"
        )
    flat = np.array([move for found in moves for move in found], np.uint32)
    return Openings(
        np.array(starts, np.uint64).reshape(-1, WORDS),
        flat,
        np.cumsum([len(found) for found in moves]),
    )


def external(
    protocol: str, command: str, options: Mapping[str, str], control: Control, megabytes: int | None
) -> EnginePlayer:
    """Start an engine as a player; InputError if that fails."""
    if protocol != "usi":
        raise InputError(f"{protocol}:{command}: shogi has no protocol {protocol!r}, expected usi")
    return EnginePlayer(
        lambda values: EngineClient(USI, command, values, megabytes), options, control
    )


def _move(words: np.ndarray, name: str) -> int:
    """The legal move that an engine names; `win` is accepted where the rules let it declare.
    ValueError for another name, Forfeit for a player who gives up."""
    if name == "resign":
        raise Forfeit(RESIGNS)
    if name == "win" and declares(words):
        return moves_of(words)[0]  # the game has ended by the rules before
    return move_named(words, name)


def _asked(positions: np.ndarray) -> Asked:
    """Prepare positions (n, 15)."""
    return Asked(
        [text(words).encode() for words in positions],
        positions[:, STATE] & SIDE != 0,
        positions[:, STATE] & CHECK != 0,
        np.array([has_moves(words) for words in positions], np.bool_),
    )


def evaluator(command: str, values: Mapping[str, object]) -> EngineClient:
    """Start a USI engine as a source of scores; InputError if that fails."""
    return EngineClient(USI, command, values)


USI = Speech(
    "usi",
    (b"", b"usinewgame\n"),
    "sfen",
    text(START),
    text,
    lambda words, move, variant: move_name(words, move),
    _move,
    _asked,
    clock=" btime {} wtime {}",
    increment=" binc {0} winc {0}",
    movetime=" btime 0 wtime 0 byoyomi {}",
    hash="USI_Hash",
    second=lambda words: bool(int(words[STATE]) & 1),
    # which may be set although no option names them
    undeclared=(
        EngineOption("USI_Hash", "spin", "16", 1, 1 << 25),
        EngineOption("USI_Ponder", "check", "false"),
    ),
    mates_in_plies=True,
    stalemate_loses=True,
)
