"""Engines of the xboard protocol (CECP), https://www.gnu.org/software/xboard/engine-intf.html."""

import re
from collections.abc import Mapping, Sequence

import chess
import numpy as np

from games.chess.engines.gametext import is_chess960
from games.chess.files.fen import START, fen
from games.chess.rules.movegen import move_name, move_named
from games.process import EngineProcess
from games.protocol.client import READY_SECONDS, START_SECONDS
from games.protocol.player import Engine, note_ignored, whole_of
from games.record import (
    CLAIM,
    ILLEGAL,
    RESIGNS,
    Choice,
    Control,
    EngineFault,
    EngineOption,
    EngineSilent,
    Forfeit,
    Left,
)
from games.streams import InputError, one_line

FEATURE_SECONDS = 2.0  # of silence that end the features of an engine that does not say `done`
FEATURE = re.compile(r'([^\s="]+)=(?:"([^"]*)"|(\S*))')
OPTION = re.compile(r"(.+?) -(\w+) ?(.*)")
KINDS = {
    "slider": "spin",
    "file": "string",
    "path": "string",
    "save": "button",
    "reset": "button",
}
SENT = ("spin", "check", "combo", "string", "button")
THOUGHT = re.compile(rb"\s*(\d{1,5})\S?\s+([+-]?\d{1,9})\s+\d+\s+\d+\b")  # ply, score, time, nodes
FAULT = re.compile(rb"\s*(?:error|illegal move)\b", re.IGNORECASE)
RESULT = re.compile(r"(1-0|0-1|1/2-1/2)\b")
MATE = 100_000  # the score of a mate at once
# the command of a limit, what it limits, and the options that work without it
LIMITS = {
    "sd": ("plies", "--nodes 5000 or --movetime 1"),
    "nps": ("nodes", "--depth 4 or --movetime 1"),
    "st": ("seconds a move", "--tc"),
    "level": ("seconds a game", "--movetime"),
    "time": ("seconds a game", "--movetime"),
}


def option_of(text: str) -> EngineOption | None:
    """Parse the value of a feature `option`: `Contempt -spin 0 -100 100`; None for a bad one."""
    match = OPTION.fullmatch(text)
    if match is None:
        return None
    name, given, rest = match.groups()
    kind, low, high = KINDS.get(given, given), None, None
    choices: tuple[str, ...] = ()
    if kind == "spin":
        numbers = [whole_of(digits) for digits in re.findall(r"-?\d+", rest)]
        if len(numbers) != 3 or None in numbers:
            return None
        low, high = numbers[1:]
    elif kind == "combo":
        choices = tuple(choice.strip().removeprefix("*") for choice in rest.split("///"))
    return EngineOption(name, kind, rest, low, high, choices) if kind in SENT else None


def edited(words: np.ndarray) -> list[str] | None:
    """Return the lines of the edit mode that set a position up after `new`; None if there are none:
    they say nothing of the right to castle, which then goes with king and rook at home, nor of
    captures en passant."""
    board, plain = chess.Board(fen(words)), chess.Board(None)
    plain.set_piece_map(board.piece_map())
    plain.castling_rights = chess.BB_CORNERS
    rights = board.clean_castling_rights() != plain.clean_castling_rights()
    if rights or board.has_legal_en_passant():
        return None
    men = [
        [
            f"{piece.symbol().upper()}{chess.square_name(square)}"
            for square, piece in board.piece_map().items()
            if piece.color == colour
        ]
        for colour in chess.COLORS
    ]
    # the side to move does not change: after a move of White it is Black
    return [*([] if board.turn else ["a2a3"]), "edit", "#", *men[0], "c", *men[1], "."]


class XboardEngine(Engine):
    """An xboard engine in a process of its own.

    `values` are options, `megabytes` is the size of its tables, `control` are the limits of its
    searches. InputError if it does not start, and if it does not know these limits."""

    def __init__(
        self,
        command: str,
        values: Mapping[str, object],
        control: Control,
        megabytes: int | None = None,
    ) -> None:
        super().__init__(command)
        self._control = control
        self._features: dict[str, str] = {}
        self._pings, self._known = 0, 0  # moves that it knows
        self._process = EngineProcess(command, "an xboard engine")
        try:
            self._introduce()
            if megabytes is not None and "memory" in self.options:
                values = {"memory": megabytes} | dict(values)
            self.set(values)
            self._require_limits()
        except EngineFault as problem:
            self._process.kill()
            raise self._process.no_engine(problem) from None
        except BaseException:
            self._process.kill()
            raise

    def setting(self, option: EngineOption, text: str) -> str:
        """See `Engine`."""
        if option.name in ("memory", "cores"):
            return f"{option.name} {text}\n"
        value = int(text == "true") if option.kind == "check" else text
        return f"option {option.name}{'' if option.kind == 'button' else f'={value}'}\n"

    def require(self, start: np.ndarray) -> None:
        """See `games.protocol.player.Engine`."""
        self._set_up(start)

    def new_game(self, start: np.ndarray) -> None:
        """See `games.protocol.player.Engine`."""
        self._known = 0
        self._say(*self._set_up(start), *self._limits())
        self._ping()

    def think(
        self,
        line: np.ndarray,
        moves: Sequence[int],
        control: Control,
        left: Left | None,
        seconds: float,
    ) -> Choice:
        """See `games.protocol.player.Engine`."""
        words, lines = line[-1], ["force"]
        prefix = "usermove " if self._has("usermove") else ""
        chess960 = is_chess960(line[0])
        for i in range(self._known, len(moves)):
            name = move_name(line[i], moves[i], chess960)
            if chess960:
                name = chess.Board(fen(line[i]), chess960=True).xboard(chess.Move.from_uci(name))
            lines.append(f"{prefix}{name}")
        self._known = len(moves) + 1
        if control.depth != self._control.depth or control.nodes != self._control.nodes:
            lines += _limits(control)
        if left is not None:
            own, other = (max(1, round(100 * each)) for each in left[:2])
            lines += [f"time {own}", f"otim {other}"]
        self._process.forget()
        self._say(*lines, "go")
        score = None
        for text in self._process.lines(b"move ", seconds):
            score = THOUGHT.match(text) or score
            if text.startswith(b"resign"):
                raise Forfeit(RESIGNS)
            if FAULT.match(text) and b"otim" not in text:  # the opponent's time is of no use to all
                raise Forfeit(ILLEGAL, f"says {text.decode('utf-8', 'replace')[:60]!a}")
            if result := RESULT.match(text.decode("utf-8", "replace")):
                if result[1] == ("0-1", "1-0")[int(words[8]) & 1]:
                    raise Forfeit(RESIGNS)
                raise Forfeit(CLAIM, text.decode("utf-8", "replace")[:60])
        name = (text.decode("utf-8", "replace").split() + [""])[1]
        try:
            move = _named(words, name)
        except ValueError:
            raise Forfeit(ILLEGAL, f"{name[:40]!a}"[1:-1] or "no move") from None
        if score is None:
            return Choice(move)
        depth, number = int(score[1]), int(score[2])
        if abs(number) < MATE:
            return Choice(move, float(number), None, depth)
        plies = 2 * (abs(number) - MATE)
        return Choice(move, None, plies - 1 if number > 0 else -plies, depth)

    def wait_until_ready(self) -> None:
        """See `Engine`."""
        self._ping()

    def _set_up(self, start: np.ndarray) -> list[str]:
        """The commands that begin a game in a position; InputError if there are none."""
        lines, text = ["new"], fen(start)
        if is_chess960(start):
            if "fischerandom" not in self._features.get("variants", "").split(","):
                raise InputError(f"{self.command}: does not play Chess960, which the opening is of")
            lines.append("variant fischerandom")
        lines.append("force")
        if text != START:
            given = [f"setboard {text}"] if self._has("setboard") else edited(start)
            if given is None:
                raise InputError(
                    f"{self.command}: has no `setboard`, and cannot be given {text}; choose"
                    " openings that are games, or --random-plies"
                )
            lines += given
        return lines

    def _introduce(self) -> None:
        """Read the features."""
        self._say("xboard", "protover 2")
        while self._features.get("done") != "1":
            seconds = FEATURE_SECONDS if self._features else START_SECONDS
            if self._features.get("done") == "0":
                seconds = READY_SECONDS
            try:
                (line,) = self._process.until(b"", seconds)
            except EngineSilent:
                if self._features:
                    break
                raise InputError(
                    f"{self.command}: no `feature` within {seconds:g} s; is it an xboard engine? If"
                    " it answers in a terminal, it does not flush: try stdbuf -i0 -oL"
                    f" {self.command}"
                ) from None
            text = line.decode("utf-8", "replace")
            if text.startswith("feature "):
                self._declare(text)
        if not self._has("ping"):
            raise InputError(f"{self.command}: has no `ping`, without which it cannot play here")
        self.name = one_line(self._features.get("myname", ""))
        for feature, option in (("memory", "memory"), ("smp", "cores")):
            if self._has(feature):
                self.options[option] = EngineOption(option, "spin", "1", 1, 1 << 20)
                self._say(f"accepted {feature}")
        for feature in ("reuse", "san"):
            if self._features.get(feature, "") == ("0" if feature == "reuse" else "1"):
                self._say(f"rejected {feature}")

    def _declare(self, text: str) -> None:
        """Take a line of features."""
        if text.count('"') % 2:
            note_ignored(self.command, text)
            return
        for key, quoted, plain in FEATURE.findall(text):
            value = quoted or plain
            if key != "option":
                self._features[key] = value
            elif option := option_of(value):
                self.options[option.name] = option
            else:
                note_ignored(self.command, f"feature option={value!r}")

    def _has(self, feature: str) -> bool:
        return self._features.get(feature, "0") == "1"

    def _require_limits(self) -> None:
        """InputError for limits that the engine does not know."""
        limits = self._limits() + ["time 100"] * (self._control.base is not None)
        self._say("new", "force", *limits)
        faults = b" ".join(line for line in self._ping() if FAULT.match(line)).decode(
            "ascii", "replace"
        )
        for line in limits:
            command = line.split()[0]
            unknown = command == "nps" and not self._has("nps")
            if command in LIMITS and (unknown or re.search(rf"\b{command}\b", faults)):
                what, better = LIMITS[command]
                raise InputError(
                    f"{self.command}: knows no `{command}`, the limit of {what}; use {better}"
                )

    def _limits(self) -> list[str]:
        return ["post", "easy", *_limits(self._control)]

    def _say(self, *lines: str) -> None:
        self._process.say("".join(f"{line}\n" for line in lines).encode())

    def _ping(self) -> list[bytes]:
        """Wait until the engine has done all that it was told; returns what it printed."""
        self._pings += 1
        self._say(f"ping {self._pings}")
        return self._process.until(f"pong {self._pings}".encode(), READY_SECONDS)


def _limits(control: Control) -> list[str]:
    """The commands for limits of searches."""
    lines = []
    if control.base is not None:
        minutes, seconds = divmod(int(control.base), 60)
        lines.append(f"level {control.moves or 0} {minutes}:{seconds:02d} {control.increment:g}")
    elif control.movetime is not None:
        lines.append(f"st {max(0.01, control.movetime):g}")
    if control.depth is not None:
        lines.append(f"sd {control.depth}")
    if control.nodes is not None:
        lines += ["nps 1", f"st {control.nodes}"]  # a node is a second
    return lines


def _named(words: np.ndarray, name: str) -> int:
    """The legal move of that name, in coordinates or, as castling in Chess960, in SAN; ValueError
    if there is none."""
    try:
        return move_named(words, name.lower())
    except ValueError:
        return move_named(words, chess.Board(fen(words), chess960=True).parse_san(name).uci())
