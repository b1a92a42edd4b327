"""The finished pairs of a match: a record of each in the store of its run, with the texts of its
games."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Annotated, Any

from msgspec import Meta

from tuner.core.records import Count, InputError, convert
from tuner.core.store import Store, naming, read_records
from tuner.io.files import replaced
from tuner.io.run_folder import write_all

Points = Annotated[float, Meta(ge=-1e9, le=1e9, description="a number of points")]
Forfeit = Annotated[str, Meta(pattern="^[ab] ", description="'a ...' or 'b ...'")]
Session = Callable[[], Callable[[str], str]]  # see games.record.Files


@dataclass(frozen=True)
class PairLine:
    """A finished pair of games, in which each player was the first player once. `outcomes` are
    points of player a, `forfeits` are the player who lost by a fault and the fault ("b crash"),
    `luck` the points that the dice gave a; `opening` is the place where a generator found the
    opening."""

    leg: Count
    pair: Count
    outcomes: tuple[int, int]
    plies: tuple[Count, Count]
    ends: tuple[str, str]
    reasons: tuple[str, str] | None = None
    forfeits: tuple[Forfeit | None, Forfeit | None] = (None, None)
    luck: tuple[Points, Points] | None = None
    opening: tuple[Count, Count] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the pair as plain data, without unknown values."""
        return {
            name: value
            for name, value in vars(self).items()
            if value is not None and value != (None, None)
        }

    @classmethod
    def from_json(cls, plain: dict[str, Any], points: int) -> PairLine:
        """Read a pair of a game that wins at most a number of points; ValueError describes a
        fault."""
        line: PairLine = convert(plain, cls, "")
        if max(map(abs, line.outcomes)) > points:
            raise ValueError(
                f"outcomes is {line.outcomes!s:.40}, expected whole numbers from -{points} to"
                f" {points}"
            )
        return line


def read_pairs(
    folder: Path, points: int, legs: int | None = None, pairs: int | None = None
) -> list[PairLine]:
    """Return the finished pairs of a match, which may be under way, in the order in which they
    ended. InputError for a damaged one, and for a number that is not below `legs` or `pairs`."""
    lines, seen = [], set()
    for number, plain in enumerate(read_records(folder)):
        with naming(folder, number):
            line = PairLine.from_json(plain, points)
            if legs is not None and line.leg >= legs or pairs is not None and line.pair >= pairs:
                raise ValueError(f"pair {line.pair} of leg {line.leg} is not part of this match")
            if (line.leg, line.pair) in seen:
                raise ValueError(f"pair {line.pair} is there twice")
        seen.add((line.leg, line.pair))
        lines.append(line)
    return lines


class Journal:
    """The finished pairs of a match, in the store of its folder. The texts of their games are
    written to files, too, as the games end."""

    def __init__(
        self,
        store: Store,
        outputs: Iterable[Path],
        legs: int = 1,
        pairs: int | None = None,
        points: int = 1,
        session: Session | None = None,
    ) -> None:
        """`legs` and `pairs` limit the valid pairs, `points` what a game wins; `session` fits the
        texts of games into one file."""
        self._session, self._store = session, store
        self._files: dict[Path, tuple[IO[bytes], Callable[[str], str]]] = {}
        try:
            self.lines = read_pairs(store.folder, points, legs, pairs)
            for output in outputs:
                fit = self.write_games(self.lines, output)
                with _writing(output):
                    self._files[output] = open(output, "ab", buffering=0), fit
        except BaseException:
            self.close()
            raise

    def append(self, line: PairLine, texts: Sequence[str]) -> None:
        """Store a finished pair with the texts of its games, if these are kept."""
        self._store.append(line.to_json(), texts)
        self.lines.append(line)
        for output, (stream, fit) in self._files.items() if texts else ():
            with _writing(output):
                write_all(stream, "".join(map(fit, texts)).encode("utf-8", "replace"))

    def write_games(self, lines: Iterable[PairLine], output: Path) -> Callable[[str], str]:
        """Write the games of pairs to a file that is replaced as a whole; return what fits further
        texts into it."""
        numbers = {(line.leg, line.pair): number for number, line in enumerate(self.lines)}
        fit = self._session() if self._session else str
        with _writing(output), replaced(output) as temporary, open(temporary, "wb") as out:
            for line in lines:
                for text in self._store.texts(numbers[line.leg, line.pair]):
                    out.write(fit(text).encode("utf-8", "replace"))
        return fit

    def close(self) -> None:
        """Close the files."""
        for stream, _ in self._files.values():
            stream.close()


@contextlib.contextmanager
def _writing(output: Path) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise InputError(
            f"{output}: cannot be written: {problem.strerror}; the games are kept in the run"
        ) from None
