"""Write games of matches as PGN, with comments like those of fastchess (`{+0.31/6 0.006s}`,
`{book}`) and why they ended."""

import mmap
import re

import numpy as np

from games.chess.files.fen import fen
from games.chess.files.san import san
from games.chess.rules.movegen import has_moves, in_check
from games.chess.rules.position import KING, START
from games.record import (
    CLAIM,
    CRASH,
    DRAW_RULE,
    FORFEITS,
    ILLEGAL,
    LATE,
    PLIES,
    RESIGN_RULE,
    RESIGNS,
    RULES,
    STALL,
    TABLES,
    TIME,
    TOLD,
    Choice,
    PlayedGame,
)

WIDTH = 100  # of a line of moves
MARK = re.compile(rb'\[Event "tuner (match|tournament|selfplay)"\]')
SIDES = ("White", "Black")
FAULTS = {
    ILLEGAL: "{side} makes an illegal move",
    CRASH: "{side} disconnects",
    STALL: "{side}'s connection stalls",
    TIME: "{side} loses on time",
    CLAIM: "{side} makes a false claim",
    RESIGNS: "{side} resigns",
}
# values of the tag as cutechess and fastchess write them
TERMINATIONS = {
    ILLEGAL: "illegal move",
    CRASH: "abandoned",
    STALL: "stalled connection",
    TIME: "time forfeit",
    CLAIM: "rules infraction",
    PLIES: "adjudication",
    RESIGN_RULE: "adjudication",
    DRAW_RULE: "adjudication",
    TABLES: "adjudication",
}


def made_here(content: bytes | mmap.mmap) -> bool:
    """Whether every game of this was played by a command here; people may add games to a file."""
    events = re.findall(rb"^\[Event .*?\r?$", content, re.MULTILINE)
    return content[:7] == b"[Event " and all(MARK.match(event) for event in events)


def reason(game: PlayedGame) -> str:
    """Return the reason for the end of a game as a short sentence."""
    if game.end == RULES:
        return _by_the_rules(game)
    if game.end == TOLD:
        return game.detail or "The reason was not told"
    if game.end in FAULTS and game.loser is not None:
        if not game.outcome:
            return f"Draw: {SIDES[game.loser]} runs out of time against a bare king"
        why = FAULTS[game.end].format(side=SIDES[game.loser])
        return f"{why}: {game.detail}" if game.detail else why
    if game.outcome is None:
        return f"Unfinished after {len(game.moves)} plies"
    if game.end == PLIES:
        return f"Draw by adjudication after {len(game.moves)} plies"
    if game.end == RESIGN_RULE and game.loser is not None:
        return f"{SIDES[1 - game.loser]} wins by adjudication"
    if game.end == TABLES:
        won = "Draw" if not game.outcome else f"{SIDES[game.outcome < 0]} wins"
        return f"{won} by adjudication: SyzygyTB"
    return "Draw by adjudication"


def _by_the_rules(game: PlayedGame) -> str:
    last = game.line[-1]
    if game.outcome:
        return f"{SIDES[game.outcome < 0]} mates"
    clock = int(last[8]) >> 24 & 255
    if not in_check(last) and not has_moves(last):
        return "Draw by stalemate"
    if clock >= 8 and np.count_nonzero(game.line[-clock - 1 :, 9] == last[9]) >= 3:
        return "Draw by 3-fold repetition"
    return "Draw by fifty moves rule" if clock >= 100 else "Draw by insufficient mating material"


def score_text(choice: Choice) -> str:
    """Return score and depth as `+0.31/6` or `-M4/9`; empty if the player reported none."""
    if choice.win_in is not None:
        return (
            f"{'+' if choice.win_in > 0 else '-'}M{(abs(choice.win_in) + 1) // 2}/{choice.depth} "
        )
    return "" if choice.score is None else f"{choice.score / 100:+.2f}/{choice.depth} "


def text(game: PlayedGame) -> str:
    """Return a game as PGN, followed by an empty line."""
    start, why = game.line[0], reason(game)
    result = "*" if game.outcome is None else ("1/2-1/2", "1-0", "0-1")[int(game.outcome)]
    tags = [
        ("Event", game.event),
        ("Site", "?"),
        ("Date", game.date),
        ("Round", game.round),
        ("White", game.players[0]),
        ("Black", game.players[1]),
        ("Result", result),
    ]
    if (start != START).any():
        tags += [("Variant", "Chess960")] if is_chess960(start) else []
        tags += [("SetUp", "1"), ("FEN", fen(start))]
    tags += [
        ("PlyCount", str(len(game.moves))),
        ("Termination", _termination(game)),
        ("TimeControl", game.control),
    ]
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags]
    why = "; ".join(filter(None, (why, game.exchange)))
    return "\n".join([*lines, "", *_wrapped(_words(game, why), result), "", ""])


def _termination(game: PlayedGame) -> str:
    if game.outcome is None or game.end == TOLD and not game.detail:
        return "unterminated"
    if game.end == TOLD and FORFEITS.search(game.detail):
        return TERMINATIONS[TIME if LATE.search(game.detail) else CRASH]
    return TERMINATIONS.get(game.end, "normal")


def _quoted(value: str) -> str:
    value = "".join(c if c.isprintable() else " " for c in value)
    return value.replace("\\", "\\\\").replace('"', '\\"')


def _words(game: PlayedGame, why: str) -> list[str]:
    """Return moves with numbers and comments, each of which must not be wrapped; the last comment
    includes the reason."""
    state = int(game.line[0][8])
    half = 2 * (state >> 32 & 0xFFFF) + (state & 1)
    words, last = [], len(game.moves) - 1
    why = why.replace("{", "(").replace("}", ")")
    for i, move in enumerate(game.moves):
        name = san(game.line[i], move)
        if half & 1 == 0:
            words.append(f"{half >> 1}. {name}")
        else:
            words.append(f"{half >> 1}... {name}" if i == 0 else name)
        half += 1
        k = i - game.book
        comment = "book" if k < 0 else _thought(game, k) if game.choices else ""
        if comment or i == last:
            words.append("{" + ", ".join(filter(None, (comment, why if i == last else ""))) + "}")
    return words or ["{" + why + "}"]


def _thought(game: PlayedGame, k: int) -> str:
    """Return the score of a choice, and the time it took if that is known."""
    score = score_text(game.choices[k])
    return f"{score}{game.seconds[k]:.3f}s" if game.seconds else score.rstrip()


def _wrapped(words: list[str], result: str) -> list[str]:
    lines, line = [], ""
    for word in [*words, result]:
        if line and len(line) + len(word) >= WIDTH:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}" if line else word
    return [*lines, line]


def is_chess960(words: np.ndarray) -> bool:
    """Whether a castling right belongs to a king or rook that is not on its usual square."""
    kings, rights = int(words[1 + KING]), int(words[8]) >> 1 & 0xFFFF
    for side, rank in ((0, 0), (1, 56)):
        files = rights >> 8 * side & 0xFF
        king = (kings & int(words[side])) >> rank
        if files and (files & ~0x81 or king != 0x10):
            return True
    return False
