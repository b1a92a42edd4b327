"""Chess in matches: openings, external engines, and played games as PGN. None of it is compiled."""

from games.chess.contest.gametext import reason, text
from games.chess.contest.openings import read
from games.contest import Contest, Control, Player


def external(protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> Player:
    """Start an external engine, see games.chess.contest.players; imports python-chess only when needed."""
    from games.chess.contest import players

    return players.external(protocol, command, options, control, megabytes)


CONTEST = Contest(second_to_move=lambda words: bool(int(words[8]) & 1), reason=reason, text=text, openings=read,
                  external=external, protocols=("uci", "xboard"))
