"""Read games from text files, one per line, a result and then the squares played: `1-0 b2 a1 c1 a3 a2 b1 c2`.

Results are 1-0, 0-1, 1/2-1/2 and, for an unfinished game, *. Comments start with #.
"""

from collections.abc import Callable, Iterator
from hashlib import blake2b

import numpy as np

from games.faults import Faults
from games.foreign import require_own
from games.record import PositionBatch, ReadOptions, ReadReport
from games.streams import InputError, lines
from games.tictactoe.rules import GOES_ON, WORDS, legal_moves, outcome, play

NAMES = [file + rank for rank in "123" for file in "abc"]
RESULTS = {"1-0": 1, "0-1": -1, "1/2-1/2": 0, "*": None}
OPENING_PLIES = 3


def parse(result: str, names: list[str]) -> np.ndarray:
    """Return the positions (plies + 1, 2) of a game; ValueError(kind of fault, details) if it is not valid."""
    if result not in RESULTS:
        raise ValueError("unknown result", f"{result[:20]!r}, expected {', '.join(RESULTS)}")
    line = [np.zeros(WORDS, np.uint64)]
    for ply, name in enumerate(names, 1):
        if name not in NAMES or NAMES.index(name) not in legal_moves(line[-1]):
            raise ValueError("illegal move", f"{name[:20]!r} at ply {ply}")
        line.append(play(line[-1], NAMES.index(name)))
    if result != "*" and outcome(line[-1]) not in (RESULTS[result], GOES_ON):
        raise ValueError("wrong result", f"{result!r}, the moves lead to another")
    return np.array(line)


def hashed(names: list[str]) -> np.uint64:
    """Hash the moves of a game or an opening."""
    return np.frombuffer(blake2b(" ".join(names).encode(), digest_size=8).digest(), np.uint64)[0]


def choose(line: np.ndarray, options: ReadOptions, seed: np.uint64) -> np.ndarray:
    """Select the wanted positions of a game; "auto" leaves out the final one, which no search evaluates."""
    ended = options.positions == "auto" and outcome(line[-1]) != GOES_ON
    kept = line[options.skip_start:max(0, len(line) - max(options.skip_end, ended))]
    if options.per_game and len(kept) > options.per_game:
        draw = np.random.default_rng([int(seed), options.seed])
        kept = kept[np.sort(draw.choice(len(kept), options.per_game, replace=False))]
    return kept


def read(source: str, options: ReadOptions, report: ReadReport, note: Callable[[str], None]) -> Iterator[PositionBatch]:
    """Yield the positions of a file; InputError if it cannot be read, and for the first bad game under `strict`."""
    if options.positions not in ("auto", "all"):
        raise InputError(f"tictactoe has no {options.positions!r} positions; choose 'auto' or 'all'")
    seen, game = report.memory.setdefault("tictactoe", set()), 0
    faults = Faults(str(source), "game", options.strict, report, note)
    for number, line in enumerate(lines(source), 1):
        report.bytes += len(line) + 1
        result, *names = line.decode("utf-8-sig", "replace").partition("#")[0].split() or [""]
        if not result:
            continue
        if not game and result not in RESULTS:
            require_own(str(source), "tictactoe")
        report.games, game = report.games + 1, game + 1
        try:
            positions, identity = parse(result, names), hashed(names)
        except ValueError as fault:
            faults.add(number, " ".join(fault.args), fault.args[0])
            continue
        if result == "*":
            report.undecided += 1
        elif options.min_elo:
            report.below_elo += 1  # games have no ratings
        elif options.duplicates != "keep" and identity in seen:
            report.duplicate_games += 1
        else:
            seen.add(identity)
            kept = choose(positions, options, identity)
            if options.duplicates == "positions":
                new = [words.tobytes() not in seen for words in kept]
                seen.update(words.tobytes() for words in kept)
                report.duplicate_positions += new.count(False)
                kept = kept[new]
            report.used += 1
            report.positions += len(kept)
            yield PositionBatch(kept, np.full(len(kept), RESULTS[result], np.float32), np.zeros(1, np.int64),
                                np.array([identity]), np.array([hashed(names[:OPENING_PLIES])]), np.array([game]))
    faults.end()
