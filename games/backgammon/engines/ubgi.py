"""UBGI (Universal Backgammon Interface, draft 0.01): an engine that answers boards with moves.

After `ubgi` an engine prints its name and `readyok`. Then each line that is a board, of FIBS or an
XGID, is answered by a move such as `24/18 18/13`, without hits and repetitions; by a blank line if
there is none; and by `sorry` if it cannot be understood."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from games.backgammon.files.ids import PREFIX, from_fibs, from_xgid
from games.backgammon.rules.board import OFF, dice_of
from games.backgammon.rules.play import points, steps_of
from games.protocol.server import lines_of

if TYPE_CHECKING:
    from games.search.searcher import Searcher

__all__ = ["lines_of", "plain_move", "serve"]


def plain_move(move: int) -> str:
    """Return a move as UBGI writes it: a pair for each step, the rearmost first."""
    return " ".join(
        f"{place}/{max(place - die, OFF)}" for place, die in sorted(steps_of(move), reverse=True)
    )


def serve(
    evaluation: Any,
    lines: Iterable[str],
    write: Callable[[str], None],
    name: str,
    default: str,
    depth: int = 1,
) -> int:
    """Speak UBGI until `quit` or the end of the lines; returns the number of searches.
    `evaluation.searcher(None)` is the search with the evaluation to play with; `default` names
    it."""
    from games.search.searcher import Limits

    searcher: Searcher | None = None
    searches = 0
    for line in lines:
        text = line.strip()
        if text == "quit":
            break
        if text == "ubgi":
            searcher = searcher or evaluation.searcher(None)
            program, _, version = name.partition(" ")
            for answer in (
                f"id name {program} {default}",
                "id author the authors of evaltune",
                f"id version {version}",
                "readyok",
            ):
                write(answer)
        elif text not in ("", "stop"):
            searcher = searcher or evaluation.searcher(None)
            try:
                words = from_xgid(text) if text.startswith(PREFIX) else from_fibs(text)
                if dice_of(words) == (0, 0) or points(words):
                    raise ValueError("the dice have not been rolled, or the game is over")
            except ValueError:
                write("sorry")
                continue
            searches += 1
            move = searcher.search([words], Limits(depth=depth)).move
            write(plain_move(move or 0))
    return searches
