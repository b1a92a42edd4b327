"""Checks of reading and writing: the reader returns what a match writes, in consistent batches."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from games.conformance.subject import Played, Subject
from games.contest import PLIES, RULES, PlayedGame
from games.record import PositionBatch, ReadOptions, ReadReport

DTYPES = {"positions": np.uint64, "outcomes": np.float32, "first": np.int64, "identities": np.uint64, "openings": np.uint64,
          "numbers": np.int64}
WHOLE = ReadOptions(positions="all", skip_start=0, duplicates="keep")


def text_of(subject: Subject) -> Callable[[PlayedGame], str]:
    """Return the function that writes games as text."""
    text = subject.game.matches.text
    assert text is not None, "this check is chosen for games that are written"
    return text


def written(subject: Subject, played: Played) -> str:
    """Return the text that a match writes for a game; an unfinished one counts as a draw."""
    outcome, end = (0, PLIES) if played.result is None else (played.result, RULES)
    loser = None if not outcome else int(outcome > 0)
    return text_of(subject)(PlayedGame(played.line, played.moves, 0, [], [], outcome, end, loser))


def read(subject: Subject, text: str, options: ReadOptions) -> tuple[list[PositionBatch], ReadReport, list[str]]:
    """Read a file with this text: batches, report and notes."""
    report = ReadReport()
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"games{subject.game.suffixes[0]}"
        path.write_text(text, encoding="utf-8")
        batches = list(subject.game.read(str(path), options, report, notes.append))
    check_batches(subject, batches, report)
    return batches, report, notes


def check_batches(subject: Subject, batches: list[PositionBatch], report: ReadReport) -> None:
    """Shapes, dtypes and ranges of batches, and their agreement with the report."""
    used = 0
    for batch in batches:
        n, games = len(batch.positions), len(batch.first)
        lengths = {"positions": (n, subject.game.words), "outcomes": (n,)}
        for name, dtype in DTYPES.items():
            array, shape = getattr(batch, name), lengths.get(name, (games,))
            subject.expect((array.dtype, array.shape) == (dtype, shape), None,
                           f"a batch's {name} are {array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}")
        subject.expect(games and batch.first[0] == 0 and (np.diff(batch.first) >= 0).all() and batch.first[-1] <= n, None,
                       f"a batch's first positions are {batch.first.tolist()} of {n}")
        subject.expect((abs(batch.outcomes) <= 1).all(), None, f"outcomes {np.unique(batch.outcomes)}, expected -1 to 1")
        subject.expect((np.diff(batch.numbers) > 0).all() and batch.numbers[0] > 0, None,
                       f"numbers of games are {batch.numbers.tolist()}, expected increasing numbers from 1")
        used += games
    found = sum(len(batch.positions) for batch in batches)
    subject.expect((report.used, report.positions) == (used, found), None,
                   f"the report has {report.used} games and {report.positions} positions, the batches {used} and {found}")
    other = report.bad + report.undecided + report.below_elo + report.duplicate_games
    subject.expect(report.games == report.used + other, None, f"games do not add up: {report}")


def per_game(batches: list[PositionBatch], name: str) -> list[np.ndarray]:
    """Split the positions or outcomes of batches by game."""
    return [part for batch in batches for part in np.split(getattr(batch, name), batch.first[1:])]


def alike(subject: Subject, found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether positions (n, words) that were read are those of a game; files may leave out the roll of the dice."""
    if found.shape != expected.shape:
        return False
    if subject.game.rolls is None:
        return np.array_equal(found, expected)
    rolls = subject.game.rolls
    return all(np.array_equal(words, other) or subject.game.result([words]) is None and bool(
        (rolls(words)[0] == other).all(axis=1).any()) for words, other in zip(found, expected, strict=True))


def check_written_games(subject: Subject) -> None:
    """Positions, outcomes and numbers of written games are read back unchanged."""
    batches, report, notes = read(subject, "".join(written(subject, played) for played in subject.played), WHOLE)
    subject.expect((report.used, notes) == (len(subject.played), []), None,
                   f"{report.used} of {len(subject.played)} games were read back: {'; '.join(notes)}")
    rows = zip(subject.played, per_game(batches, "positions"), per_game(batches, "outcomes"), strict=True)
    for played, positions, outcomes in rows:
        subject.expect(alike(subject, positions, played.line), played.line[-1],
                       f"the {len(positions)} positions read back differ from the {len(played.line)} of the game")
        subject.expect((outcomes == (played.result or 0)).all(), played.line[-1],
                       f"outcome {outcomes[:1]}, expected {played.result or 0}")
    numbers = [number for batch in batches for number in batch.numbers]
    subject.expect(numbers == list(range(1, len(numbers) + 1)), None, f"games are numbered {numbers}")


def check_choices(subject: Subject) -> None:
    """`skip_start`, `skip_end` and `per_game` select positions, and the same seed selects the same ones."""
    text = "".join(written(subject, played) for played in subject.played)
    lines = [played.line for played in subject.played]

    def expect_rows(options: ReadOptions, wanted: Callable[[np.ndarray], np.ndarray]) -> None:
        found = per_game(read(subject, text, options)[0], "positions")
        expected = [wanted(line) for line in lines]
        subject.expect([len(rows) for rows in found] == [len(rows) for rows in expected], None,
                       f"{options}: {[len(rows) for rows in found]} positions of each game, expected {list(map(len, expected))}")
        for rows, others in zip(found, expected, strict=True):
            subject.expect(alike(subject, rows, others), None, f"{options}: not the positions expected")

    expect_rows(replace(WHOLE, skip_start=2), lambda line: line[2:])
    expect_rows(replace(WHOLE, skip_end=2), lambda line: line[:-2])
    some, again = (read(subject, text, replace(WHOLE, per_game=3))[0] for _ in range(2))
    for line, rows, same in zip(lines, per_game(some, "positions"), per_game(again, "positions"), strict=True):
        met = all(any(alike(subject, words[None], other[None]) for other in line) for words in rows)
        subject.expect(len(rows) == min(3, len(line)) and met, line[-1],
                       f"per_game=3 takes {len(rows)} positions, or some that are not of the game")
        subject.expect(np.array_equal(rows, same), line[-1], "the same seed selects other positions")


def check_duplicates(subject: Subject) -> None:
    """A repeated game has the same identity and opening, and counts once if duplicates are dropped."""
    text = "".join(written(subject, played) for played in subject.played)
    once, twice = (np.concatenate([[batch.identities, batch.openings] for batch in read(subject, content, WHOLE)[0]], axis=1)
                   for content in (text, 2 * text))
    subject.expect(np.array_equal(np.hstack([once, once]), twice), None,
                   "a repeated game has another identity or opening")
    different = len({(played.line.tobytes(), tuple(played.moves)) for played in subject.played})
    subject.expect(len(set(once[0].tolist())) == different, None,
                   f"{len(set(once[0].tolist()))} identities of {different} different games")
    _, report, _ = read(subject, 2 * text, replace(WHOLE, duplicates="games"))
    subject.expect((report.used, report.games) == (different, 2 * len(subject.played)), None,
                   f"{report.used} games used where {different} of {report.games} are different")


def check_broken_off(subject: Subject) -> None:
    """An unfinished game is written, and read as undecided."""
    played = max(subject.played, key=lambda played: len(played.moves))
    half = len(played.moves) // 2
    game = PlayedGame(played.line[:half + 1], played.moves[:half], 0, [], [], None, PLIES)
    _, report, notes = read(subject, text_of(subject)(game), WHOLE)
    subject.expect((report.games, report.undecided, notes) == (1, 1, []), played.line[half],
                   f"an unfinished game is not read as undecided: {report}, {notes}")


def check_openings(subject: Subject) -> None:
    """The games of a file can serve as openings: starts and moves are those of the games."""
    read_openings = subject.game.matches.openings
    assert read_openings is not None, "this check is chosen for games with openings"
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"games{subject.game.suffixes[0]}"
        path.write_text("".join(written(subject, played) for played in subject.played), encoding="utf-8")
        openings = read_openings(str(path), notes.append)
    subject.expect(len(openings) == len(subject.played) and not notes, None, f"{len(openings)} openings: {'; '.join(notes)}")
    for i, played in enumerate(subject.played):
        start, moves = openings[i]
        subject.expect(np.array_equal(start, played.line[0]) and moves == played.moves, played.line[-1],
                       f"opening {i + 1} has other moves than the game: {moves}")
