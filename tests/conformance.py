"""Conformance checks for authors of games: does a `Game` do what `games.record` specifies?

The checks play random games and test the functions of the record on their positions. Run all of
them at once:

    from tests.conformance import check_game

    check_game(GAME)  # raises Fault with the name of the game, the position and the problem

or as one pytest test per check:

    from tests.conformance import checks_of

    @pytest.mark.parametrize("check", checks_of(GAME), ids=lambda check: check.__name__)
    def test_my_game_conforms(check):
        check()

Phases and the search are checked too if the argument `evaluation` is given: a function without
arguments that returns an `Evaluation`. tests/games/test_conformance.py shows how to make one from a
parameter file. Random games depend on `seed` alone, so that a failure can be repeated."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, TypeVar
from xml.etree import ElementTree

import numpy as np

from games.record import (
    PLIES,
    RULES,
    Dice,
    Game,
    PlayedGame,
    PositionBatch,
    ReadOptions,
    ReadReport,
)
from games.search.searcher import SMALL_ADVANTAGE, Found, Limits, Searcher
from tests.support import file_with

__all__ = ["Evaluation", "Fault", "check_game", "checks_of"]


GAMES, LONGEST = 12, 400  # random games, and the longest
SEED = 1
T = TypeVar("T")


class Fault(AssertionError):
    """A violation of the interface; the message names the game and the position."""


class Evaluation(NamedTuple):
    """A compiled evaluation: addresses of the function and of its packed weights, for searches;
    `evaluate`, the same function from Python, from positions (n, words) to centipawns (n,) for the
    first player; `phase_of`, from positions to phases (n,) between 0 and `phases`."""

    function: int
    weights: int
    evaluate: Callable[[np.ndarray], np.ndarray]
    phase_of: Callable[[np.ndarray], np.ndarray]
    phases: int


class PlayedOut(NamedTuple):
    """A random game: positions (n + 1, words), n moves, and the result, None for a game stopped
    after LONGEST plies."""

    line: np.ndarray
    moves: list[int]
    result: float | None


@dataclass(frozen=True)
class Subject:
    """A game under test, random games of it, and optionally an evaluation."""

    game: Game
    make_evaluation: Callable[[], Evaluation] | None = None
    seed: int = SEED

    @cached_property
    def evaluation(self) -> Evaluation:
        """The evaluation, made at its first use because it may have to be compiled."""
        assert self.make_evaluation is not None, (
            "checks of an evaluation are chosen if there is one"
        )
        return self.make_evaluation()

    @cached_property
    def played(self) -> list[PlayedOut]:
        """Random games, the same for the same seed."""
        random, found = np.random.default_rng(self.seed), []
        for number in range(GAMES):
            dice = Dice(self.seed, number)
            line = [self.game.rolled(self.game.start(), dice)]
            moves: list[int] = []
            while (result := self.game.result(line)) is None and len(moves) < LONGEST:
                legal = self.game.legal_moves(line[-1])
                self.expect(len(legal), line[-1], "result is None, but there is no legal move")
                moves.append(legal[random.integers(len(legal))])
                line.append(self.game.after(line[-1].copy(), moves[-1], dice).copy())
            found.append(PlayedOut(np.array(line), moves, result))
        return found

    @cached_property
    def positions(self) -> np.ndarray:
        """(n, words) the distinct positions of the random games."""
        return np.unique(np.concatenate([played.line for played in self.played]), axis=0)

    def some(self, number: int) -> np.ndarray:
        """Return a sample of the positions: at least `number` if there are that many."""
        return self.positions[:: max(1, len(self.positions) // number)]

    def unfinished(self, number: int) -> list[np.ndarray]:
        """Return a number of positions in which the game continues, drawn by the seed."""
        goes_on = [words for words in self.positions if self.game.result([words]) is None]
        return [
            goes_on[i] for i in np.random.default_rng(self.seed).permutation(len(goes_on))[:number]
        ]

    def expect(self, condition: object, words: np.ndarray | None, what: str) -> None:
        """Raise Fault unless the condition holds."""
        if not condition:
            raise Fault(
                f"{self.game.name}: {what}"
                + ("" if words is None else f"; position {self.game.text(words)!r}")
            )

    def accepts(self, call: Callable[[], T], words: np.ndarray, what: str) -> T:
        """Return the result of the call; Fault if it raises ValueError."""
        try:
            return call()
        except ValueError as problem:
            raise Fault(
                f"{self.game.name}: {what} is refused: {problem}; position"
                f" {self.game.text(words)!r}"
            ) from problem

    def refuses(self, call: Callable[[], object], words: np.ndarray | None, what: str) -> None:
        """Raise Fault unless the call raises ValueError."""
        try:
            found = call()
        except ValueError:
            return
        self.expect(False, words, f"{what} gives {found!r}, expected ValueError")


NO_MOVES = ("", "?", "no move")
NO_POSITIONS = ("", "?", "no position at all")
NAMED, SHOWN = 250, 200  # positions for the checks of all moves, and of pictures
EXACT = 1e-9
# of a position that are named and played: with dice before the roll there are hundreds
MOST_MOVES = 64
MOST_NAMES = 100  # names of moves of different positions that each position is tested with


def check_start(subject: Subject) -> None:
    """`start` returns a new array (words,) of uint64 each time."""
    one, other = subject.game.start(), subject.game.start()
    subject.expect(
        (one.shape, one.dtype) == ((subject.game.words,), np.uint64),
        None,
        f"start() has shape {one.shape} of {one.dtype}, expected ({subject.game.words},) of uint64",
    )
    subject.expect(
        np.array_equal(one, other) and not np.shares_memory(one, other),
        one,
        "start() is not a new array each time",
    )


def check_text(subject: Subject) -> None:
    """`position` inverts `text`, and refuses texts that are not a position; `texts` of many
    positions equal the text of each."""
    game = subject.game
    for words in subject.positions:
        text = game.text(words)
        subject.expect(
            text.isprintable() and text == text.strip(),
            words,
            f"text {text!r} is not one plain line",
        )
        again = subject.accepts(partial(game.position, text), words, f"position({text!r})")
        subject.expect(
            again.dtype == np.uint64 and np.array_equal(again, words),
            words,
            f"position(text(words)) is {again.tolist()}, expected {words.tolist()}",
        )
    some = subject.some(SHOWN)
    subject.expect(
        game.texts(np.array(some)) == [game.text(words) for words in some],
        None,
        "texts of many positions differ from the text of each",
    )
    for text in NO_POSITIONS:
        subject.refuses(partial(game.position, text), None, f"position({text!r})")


def some_moves(subject: Subject, moves: list[int]) -> list[int]:
    """Return at most MOST_MOVES of the moves of a position, the same for the same seed."""
    if len(moves) <= MOST_MOVES:
        return moves
    return [
        moves[i] for i in np.random.default_rng(subject.seed).permutation(len(moves))[:MOST_MOVES]
    ]


def check_names(subject: Subject) -> None:
    """Names of legal moves are unique in their position; `move_named` inverts them and refuses
    unknown names."""
    game = subject.game
    met: set[str] = set()
    for words in subject.some(NAMED):
        moves = game.legal_moves(words)
        subject.expect(
            all(type(move) is int for move in moves),
            words,
            f"legal_moves gives {moves}, expected a list of int",
        )
        subject.expect(len(set(moves)) == len(moves), words, "a legal move is given twice")
        moves_named = some_moves(subject, moves)
        names = [game.move_name(words, move) for move in moves_named]
        for given in (names, [game.move_text(words, move) for move in moves_named]):
            subject.expect(
                len(set(given)) == len(given),
                words,
                f"two moves have one name, among {', '.join(given)}",
            )
            subject.expect(
                all(name and not set(name) & set(" \t\n") for name in given),
                words,
                f"names {given} have blanks",
            )
        for move, name in zip(moves_named, names, strict=True):
            found = subject.accepts(
                partial(game.move_named, words, name), words, f"move_named(words, {name!r})"
            )
            subject.expect(
                found == move, words, f"move_named(words, {name!r}) is {found}, expected {move}"
            )
        for name in sorted(met - set(names)):
            try:
                found = game.move_named(words, name)
            except ValueError:
                continue
            subject.expect(
                found in moves,
                words,
                f"move_named(words, {name!r}) is {found}, which is no legal move",
            )
        if len(met) < MOST_NAMES:
            met |= set(names)
    for name in NO_MOVES:
        subject.refuses(
            partial(game.move_named, game.start(), name),
            game.start(),
            f"move_named(words, {name!r})",
        )


def check_plies(subject: Subject) -> None:
    """`plies` grows by one with each move."""
    for played in subject.played:
        plies = np.asarray(subject.game.plies(played.line))
        subject.expect(
            plies.shape == (len(played.line),) and plies.dtype.kind in "iu",
            played.line[-1],
            f"plies has shape {plies.shape} of {plies.dtype}, expected ({len(played.line)},) of"
            " integers",
        )
        wrong = np.flatnonzero(np.diff(plies.astype(np.int64)) != 1)
        subject.expect(
            not len(wrong),
            played.line[wrong[0] + 1] if len(wrong) else None,
            f"plies are {plies.tolist()}",
        )


def check_play(subject: Subject) -> None:
    """`play` returns a new position and does not change its argument."""
    game = subject.game
    for words in subject.some(NAMED):
        for move in some_moves(subject, game.legal_moves(words)):
            before = words.copy()
            after = game.play(before, move)
            subject.expect(
                np.array_equal(before, words),
                words,
                f"play({game.move_name(words, move)}) changes its argument",
            )
            subject.expect(
                (after.shape, after.dtype) == (words.shape, words.dtype)
                and not np.shares_memory(before, after),
                words,
                f"play gives shape {after.shape} of {after.dtype}, expected a new array like its"
                " argument",
            )
            subject.expect(
                not np.array_equal(after, words),
                words,
                f"play({game.move_name(words, move)}) changes nothing",
            )


def check_result(subject: Subject) -> None:
    """`result` is None exactly while the game continues, and then there are legal moves; otherwise
    it is a whole number of points."""
    for played in subject.played:
        for end in range(1, len(played.line) + 1):
            words, result = played.line[end - 1], subject.game.result(list(played.line[:end]))
            subject.expect(
                result is None or _is_reward(subject.game, result),
                words,
                f"result is {result!r}, expected None or a whole number of points from -1 to 1, "
                f"{subject.game.points} of which are 1",
            )
            moves = subject.game.legal_moves(words)
            subject.expect(
                result is not None or moves, words, "result is None, but there is no legal move"
            )
            subject.expect(
                (result is None) == (end < len(played.line) or played.result is None),
                words,
                f"result is {result!r}, and was not a moment ago",
            )
    ended = [played for played in subject.played if played.result is not None]
    subject.expect(ended, None, f"no game of {GAMES} ended within {LONGEST} plies of random moves")


def _is_reward(game: Game, result: object) -> bool:
    return (
        isinstance(result, (int, float))
        and not isinstance(result, bool)
        and -1 <= result <= 1
        and abs(result * game.points - game.points_of(result)) < EXACT
    )


def check_pictures(subject: Subject) -> None:
    """`draw` returns text, `picture` well-formed SVG."""
    game = subject.game
    for words in subject.some(SHOWN):
        subject.expect(game.draw(words).strip(), words, "draw gives nothing")
        if game.files.picture:
            try:
                root = ElementTree.fromstring(game.files.picture(words))
            except ElementTree.ParseError as problem:
                raise Fault(
                    f"{game.name}: picture is no XML ({problem}); position {game.text(words)!r}"
                ) from None
            subject.expect(
                root.tag.endswith("svg"), words, f"picture is <{root.tag}>, expected <svg>"
            )


def check_turns(subject: Subject) -> None:
    """The players alternate; the first one begins, or whom the dice name."""
    second = subject.game.second_to_move
    for played in subject.played:
        turns = [second(words) for words in played.line]
        subject.expect(
            all(type(turn) is bool for turn in turns),
            played.line[0],
            f"second_to_move gives {turns[0]!r}, no bool",
        )
        subject.expect(
            not turns[0] or subject.game.has_dice,
            played.line[0],
            "second_to_move is True at the start",
        )
        for words, (one, next_one) in zip(played.line[1:], pairwise(turns), strict=True):
            subject.expect(
                one != next_one, words, f"second_to_move is {next_one}, as before the move"
            )


def check_dice(subject: Subject) -> None:
    """`roll` gives one of `rolls`, the same for the same dice; `rolls` differ and their chances sum
    to 1."""
    game = subject.game
    assert game.chance is not None, "this check is chosen for games with dice"
    for played in subject.played:
        before = [
            game.start(),
            *(
                game.play(words, move)
                for words, move in zip(played.line, played.moves, strict=False)
            ),
        ]
        for ply, words in enumerate(before[: len(played.line)]):
            if game.result([words]) is not None:
                continue
            kept = words.copy()
            positions, chances = game.chance.rolls(words)
            subject.expect(
                (positions.shape, positions.dtype, chances.shape)
                == ((len(chances), game.words), np.uint64, (len(positions),)),
                words,
                f"rolls have shapes {positions.shape} and {chances.shape}, expected (k,"
                f" {game.words}) and (k,)",
            )
            subject.expect(
                len(np.unique(positions, axis=0)) == len(positions), words, "a roll is given twice"
            )
            subject.expect(
                (chances > 0).all() and abs(chances.sum() - 1) < EXACT,
                words,
                f"chances of rolls sum to {chances.sum()}",
            )
            subject.expect(
                (played.line[ply] == positions).all(axis=1).any(),
                words,
                "the dice gave what is not among the rolls",
            )
            one, other = (game.chance.roll(words, Dice(subject.seed, 1)) for _ in range(2))
            subject.expect(np.array_equal(one, other), words, "the same dice give different rolls")
            subject.expect(
                np.array_equal(kept, words), words, "rolls or roll change their argument"
            )
    words = game.start()
    found = {
        game.chance.roll(words, Dice(subject.seed, number)).tobytes() for number in range(GAMES)
    }
    subject.expect(len(found) > 1, words, f"{GAMES} games begin with the same roll")


DTYPES = {
    "positions": np.uint64,
    "outcomes": np.float32,
    "first": np.int64,
    "identities": np.uint64,
    "openings": np.uint64,
    "numbers": np.int64,
}
WHOLE = ReadOptions(positions="all", skip_start=0, duplicates="keep")


def written(subject: Subject) -> str:
    """Return the text that a match writes for all games; unfinished ones count as draws."""
    assert subject.game.files.game_text is not None, (
        "this check is chosen for games that are written"
    )
    texts = []
    for played in subject.played:
        outcome, end = (0, PLIES) if played.result is None else (played.result, RULES)
        loser = None if not outcome else int(outcome > 0)
        texts.append(
            subject.game.files.game_text(
                PlayedGame(played.line, played.moves, 0, [], [], outcome, end, loser)
            )
        )
    return "".join(texts)


def read(
    subject: Subject, text: str, options: ReadOptions
) -> tuple[list[PositionBatch], ReadReport, list[str]]:
    """Read a file with this text: batches, report and notes."""
    report = ReadReport()
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = file_with(Path(folder) / f"games{subject.game.files.suffixes[0]}", text)
        batches = list(subject.game.files.read(str(path), options, report, notes.append))
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
            subject.expect(
                (array.dtype, array.shape) == (dtype, shape),
                None,
                f"a batch's {name} are {array.dtype} {array.shape}, expected {np.dtype(dtype)}"
                f" {shape}",
            )
        subject.expect(
            games
            and batch.first[0] == 0
            and (np.diff(batch.first) >= 0).all()
            and batch.first[-1] <= n,
            None,
            f"a batch's first positions are {batch.first.tolist()} of {n}",
        )
        subject.expect(
            (abs(batch.outcomes) <= 1).all(),
            None,
            f"outcomes {np.unique(batch.outcomes)}, expected -1 to 1",
        )
        subject.expect(
            (np.diff(batch.numbers) > 0).all() and batch.numbers[0] > 0,
            None,
            f"numbers of games are {batch.numbers.tolist()}, expected increasing numbers from 1",
        )
        used += games
    found = sum(len(batch.positions) for batch in batches)
    subject.expect(
        (report.used, report.positions) == (used, found),
        None,
        f"the report has {report.used} games and {report.positions} positions, the batches {used}"
        f" and {found}",
    )
    other = report.bad + report.undecided + report.below_elo + report.duplicate_games
    other += report.ended_otherwise
    subject.expect(report.games == report.used + other, None, f"games do not add up: {report}")


def per_game(batches: list[PositionBatch], name: str) -> list[np.ndarray]:
    """Split the positions or outcomes of batches by game."""
    return [part for batch in batches for part in np.split(getattr(batch, name), batch.first[1:])]


def alike(subject: Subject, found: np.ndarray, expected: np.ndarray) -> bool:
    """Whether positions (n, words) that were read belong to a game; files may leave out the roll
    of the dice."""
    if found.shape != expected.shape:
        return False
    if subject.game.chance is None:
        return np.array_equal(found, expected)
    rolls = subject.game.chance.rolls
    return all(
        np.array_equal(words, other)
        or subject.game.result([words]) is None
        and bool((rolls(words)[0] == other).all(axis=1).any())
        for words, other in zip(found, expected, strict=True)
    )


def check_written_games(subject: Subject) -> None:
    """Positions, outcomes and numbers of written games are read back unchanged."""
    batches, report, notes = read(subject, written(subject), WHOLE)
    subject.expect(
        (report.used, notes) == (len(subject.played), []),
        None,
        f"{report.used} of {len(subject.played)} games were read back: {'; '.join(notes)}",
    )
    rows = zip(
        subject.played, per_game(batches, "positions"), per_game(batches, "outcomes"), strict=True
    )
    for played, positions, outcomes in rows:
        subject.expect(
            alike(subject, positions, played.line),
            played.line[-1],
            f"the {len(positions)} positions read back differ from the {len(played.line)} of the"
            " game",
        )
        subject.expect(
            (outcomes == (played.result or 0)).all(),
            played.line[-1],
            f"outcome {outcomes[:1]}, expected {played.result or 0}",
        )
    numbers = [number for batch in batches for number in batch.numbers]
    subject.expect(
        numbers == list(range(1, len(numbers) + 1)), None, f"games are numbered {numbers}"
    )


def check_choices(subject: Subject) -> None:
    """`skip_start`, `skip_end` and `per_game` select positions, and the same seed selects the same
    ones."""
    text = written(subject)
    lines = [played.line for played in subject.played]

    def expect_rows(options: ReadOptions, wanted: Callable[[np.ndarray], np.ndarray]) -> None:
        found = per_game(read(subject, text, options)[0], "positions")
        expected = [wanted(line) for line in lines]
        subject.expect(
            [len(rows) for rows in found] == [len(rows) for rows in expected],
            None,
            f"{options}: {[len(rows) for rows in found]} positions of each game, expected"
            f" {list(map(len, expected))}",
        )
        for rows, others in zip(found, expected, strict=True):
            subject.expect(
                alike(subject, rows, others), None, f"{options}: not the positions expected"
            )

    expect_rows(replace(WHOLE, skip_start=2), lambda line: line[2:])
    expect_rows(replace(WHOLE, skip_end=2), lambda line: line[:-2])
    expect_rows(replace(WHOLE, from_share=0.5), lambda line: line[len(line) // 2 :])
    some, again = (read(subject, text, replace(WHOLE, per_game=3))[0] for _ in range(2))
    for line, rows, same in zip(
        lines, per_game(some, "positions"), per_game(again, "positions"), strict=True
    ):
        met = all(any(alike(subject, words[None], other[None]) for other in line) for words in rows)
        subject.expect(
            len(rows) == min(3, len(line)) and met,
            line[-1],
            f"per_game=3 takes {len(rows)} positions, or some that are not of the game",
        )
        subject.expect(
            np.array_equal(rows, same), line[-1], "the same seed selects different positions"
        )


def check_duplicates(subject: Subject) -> None:
    """A repeated game has the same identity and opening, and counts once if duplicates are
    dropped."""
    text = written(subject)
    once, twice = (
        np.concatenate(
            [[batch.identities, batch.openings] for batch in read(subject, content, WHOLE)[0]],
            axis=1,
        )
        for content in (text, 2 * text)
    )
    subject.expect(
        np.array_equal(np.hstack([once, once]), twice),
        None,
        "a repeated game has another identity or opening",
    )
    different = len({(played.line.tobytes(), tuple(played.moves)) for played in subject.played})
    subject.expect(
        len(set(once[0].tolist())) == different,
        None,
        f"{len(set(once[0].tolist()))} identities of {different} different games",
    )
    _, report, _ = read(subject, 2 * text, replace(WHOLE, duplicates="games"))
    subject.expect(
        (report.used, report.games) == (different, 2 * len(subject.played)),
        None,
        f"{report.used} games used where {different} of {report.games} are different",
    )


def check_broken_off(subject: Subject) -> None:
    """An unfinished game is written, and read as undecided."""
    played = max(subject.played, key=lambda played: len(played.moves))
    half = len(played.moves) // 2
    game = PlayedGame(played.line[: half + 1], played.moves[:half], 0, [], [], None, PLIES)
    assert subject.game.files.game_text is not None, (
        "this check is chosen for games that are written"
    )
    _, report, notes = read(subject, subject.game.files.game_text(game), WHOLE)
    subject.expect(
        (report.games, report.undecided, notes) == (1, 1, []),
        played.line[half],
        f"an unfinished game is not read as undecided: {report}, {notes}",
    )


def check_openings(subject: Subject) -> None:
    """The games of a file that are not over can serve as openings: starts and moves equal the
    games."""
    read_openings = subject.game.files.openings
    assert read_openings is not None, "this check is chosen for games with openings"
    unfinished = [played for played in subject.played if subject.game.result(played.line) is None]
    notes: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        path = file_with(Path(folder) / f"games{subject.game.files.suffixes[0]}", written(subject))
        openings = read_openings(str(path), notes.append)
    subject.expect(
        len(openings) == len(unfinished) and bool(notes) == (len(unfinished) < len(subject.played)),
        None,
        f"{len(openings)} openings of {len(unfinished)} unfinished games: {'; '.join(notes)}",
    )
    for i, played in enumerate(unfinished):
        start, moves = openings[i]
        subject.expect(
            np.array_equal(start, played.line[0]) and moves == played.moves,
            played.line[-1],
            f"opening {i + 1} has moves that differ from the game: {moves}",
        )


SEARCHED = 12  # positions
MARGIN = 60.0  # centipawns: SMALL_ADVANTAGE of searches over dice
CLOSE = 1e-6  # in v


def check_phases(subject: Subject) -> None:
    """Phases are within bounds, evaluations are finite."""
    phase, evaluation = (
        subject.evaluation.phase_of(subject.positions),
        subject.evaluation.evaluate(subject.positions),
    )
    for words, p, value in zip(subject.positions, phase, evaluation, strict=True):
        subject.expect(
            0 <= p <= subject.evaluation.phases,
            words,
            f"phase {p}, expected 0 to {subject.evaluation.phases}",
        )
        subject.expect(np.isfinite(value), words, f"evaluation {value}")


def check_search(subject: Subject) -> None:
    """Both modes of the search find legal moves and do not change their argument. The value of an
    exact search is the static evaluation at the end of its PV; at depth 2 it is the best value over
    all moves, each searched one ply deep."""
    game, evaluation = subject.game, subject.evaluation
    assert game.contest.searcher is not None, "this check is chosen for games with a search"
    exact, playing = (
        game.contest.searcher(evaluation.function, evaluation.weights, kind, 0.0, 1)
        for kind in (False, True)
    )
    for words in subject.unfinished(SEARCHED):
        moves, before = game.legal_moves(words), words.copy()
        for searcher in (exact, playing):
            for depth in (1, 2):
                found = searcher.search([words], Limits(depth=depth))
                subject.expect(
                    found.move in moves,
                    words,
                    f"depth {depth}: the search finds {found.move}, no legal move",
                )
        subject.expect(np.array_equal(words, before), words, "a search changes its line")
        shallow, deep = (exact.search([words], Limits(depth=depth)) for depth in (1, 2))
        for depth, found in ((1, shallow), (2, deep)):
            expected = value_of_pv(subject, words, found, depth)
            subject.expect(
                found.value == expected,
                words,
                f"depth {depth}: the search returns {found.value}, the end of its PV has"
                f" {expected}",
            )
        best = max(value_of_reply(subject, exact, words, move) for move in moves)
        subject.expect(
            comparable(deep) == best,
            words,
            f"depth 2: the search returns {comparable(deep)}, its best move has {best}",
        )


def check_dice_search(subject: Subject) -> None:
    """Searches find legal moves and do not change their argument. One ply deep, the value is that
    of the position after the best move."""
    game, evaluation = subject.game, subject.evaluation
    assert game.contest.searcher is not None and game.contest.deepest is not None, (
        "chosen for games with a search over dice"
    )
    scale = SMALL_ADVANTAGE / MARGIN
    searcher = game.contest.searcher(evaluation.function, evaluation.weights, False, MARGIN, 1)
    for words in subject.unfinished(SEARCHED):
        before, moves, sign = (
            words.copy(),
            game.legal_moves(words),
            -1 if game.second_to_move(words) else 1,
        )
        after = [game.play(words, move) for move in moves]
        rewards = [game.result([position]) for position in after]
        statics = np.tanh(scale * evaluation.evaluate(np.array(after)))
        values = sign * np.array(
            [v if reward is None else reward for v, reward in zip(statics, rewards, strict=True)]
        )
        for depth in range(1, game.contest.deepest + 1):
            found = searcher.search([words], Limits(depth=depth))
            subject.expect(
                found.move in moves,
                words,
                f"depth {depth}: the search finds {found.move}, no legal move",
            )
            if depth == 1:
                value = values[np.flatnonzero(np.array(moves) == found.move)[0]]
                subject.expect(
                    abs(value - values.max()) < CLOSE,
                    words,
                    f"the search finds a move of {value}, best {values.max()}",
                )
                own = np.tanh(scale * found.value) if found.reward is None else found.reward
                subject.expect(
                    abs(own - value) < CLOSE,
                    words,
                    f"the search returns {own}, its move has {value}",
                )
        subject.expect(np.array_equal(words, before), words, "a search changes its line")


def comparable(found: Found) -> float:
    """Return the value of a search; infinite for a win or loss, at any distance."""
    return found.value if found.win_in is None else np.inf * np.sign(found.win_in)


def value_of_pv(subject: Subject, words: np.ndarray, found: Found, depth: int) -> float:
    """Return the static value at the end of the PV, for the side to move in the position
    searched."""
    game, line = subject.game, [words]
    for move in found.pv:
        subject.expect(
            move in game.legal_moves(line[-1]),
            words,
            f"depth {depth}: move {move} of the PV is illegal",
        )
        line.append(game.play(line[-1], move))
    result, sign = game.result(line), -1 if game.second_to_move(words) else 1
    if result is not None:
        return found.value if result and sign * result == np.sign(found.win_in or 0) else 0.0
    subject.expect(
        len(found.pv) >= depth, words, f"depth {depth}: the PV has {len(found.pv)} moves"
    )
    return sign * float(subject.evaluation.evaluate(line[-1][None])[0])


def value_of_reply(subject: Subject, searcher: Searcher, words: np.ndarray, move: int) -> float:
    """Return the value of a move for its player, by a search of the next ply; infinite for a win or
    loss."""
    game = subject.game
    after = game.play(words, move)
    result = game.result([words, after])
    if result is None:
        return -comparable(searcher.search([after], Limits(depth=1)))
    return (-np.inf if game.second_to_move(words) else np.inf) * result if result else 0.0


class Check:
    """One check of one game, a callable; `__name__` is for example `chess-start`."""

    def __init__(self, check: Callable[[Subject], None], subject: Subject) -> None:
        self.__name__ = f"{subject.game.name}-{check.__name__.removeprefix('check_')}"
        self._check, self._subject = check, subject

    def __call__(self) -> None:
        """Run the check; raises Fault for the first violation."""
        try:
            self._check(self._subject)
        except Fault:
            raise
        except Exception as problem:
            raise Fault(
                f"{self.__name__} fails with {type(problem).__name__}: {problem}"
            ) from problem


def checks_of(
    game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED
) -> list[Check]:
    """Return the checks that apply to a game: checks of dice, contest, evaluation and search only
    if it has them."""
    subject = Subject(game, evaluation, seed)
    return [Check(check, subject) for check in _applicable(game, evaluation)]


def _applicable(
    game: Game, evaluation: Callable[[], Evaluation] | None
) -> Iterator[Callable[[Subject], None]]:
    yield from (
        check_start,
        check_text,
        check_names,
        check_plies,
        check_play,
        check_result,
        check_pictures,
        check_turns,
    )
    if game.has_dice:
        yield check_dice
    if game.files.game_text:
        yield from (check_written_games, check_choices, check_duplicates, check_broken_off)
        if game.files.openings:
            yield check_openings
    if evaluation:
        yield check_phases
        if game.contest.searcher:
            yield check_dice_search if game.has_dice else check_search


def check_game(
    game: Game, evaluation: Callable[[], Evaluation] | None = None, seed: int = SEED
) -> None:
    """Run all checks that apply to a game; raises Fault for the first violation."""
    for check in checks_of(game, evaluation, seed):
        check()
