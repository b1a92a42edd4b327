"""What chess offers to matches: where games begin, engines of others, and games as PGN.

Nothing here is compiled: it lies in a folder of its own so that an edit does not compile the core anew.
"""

from games.chess.contest.gametext import reason, text
from games.chess.contest.openings import read
from games.contest import Contest, Control, Player


def external(protocol: str, command: str, options: dict[str, str], control: Control, megabytes: int | None) -> Player:
    """See games.chess.contest.players; python-chess is loaded when somebody needs it."""
    from games.chess.contest import players

    return players.external(protocol, command, options, control, megabytes)


CONTEST = Contest(second_to_move=lambda words: bool(int(words[8]) & 1), reason=reason, text=text, openings=read,
                  external=external, protocols=("uci", "xboard"))
