"""Build a dataset of rows from games: games and positions are read and chosen here, an engine
prints the feature counts."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport, available, find
from games.streams import InputError
from tuner.core.text import plural
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows.build import Totals, build_rows
from tuner.datasets.rows.check import RowCheck
from tuner.datasets.rows.row_engine import RowEngine
from tuner.datasets.rows.values import ExpectedRows, RowBatch
from tuner.evaluation.evaluation import WeightsEvaluation
from tuner.learn.build import (
    Scores,
    all_batches,
    prepared,
    recorded_scores,
)
from tuner.learn.sources import Source
from tuner.parameters.parameters import Layout, Parameters

AHEAD = (
    1 << 13
    # positions that an engine was sent beyond those that are waited for: it may print its answers
    # late
)


AGAIN = 64  # positions that are sent twice


def game_for(parameters: Parameters) -> Game:
    """Return the game whose positions the parameters evaluate; InputError if its games are not read
    here."""
    if parameters.game not in available():
        raise InputError(
            f"--engine: games of {parameters.game} are not read here, only of"
            f" {', '.join(available())}; let the engine print rows into a file, with results, and"
            " make the dataset of that"
        )
    return find(parameters.game)


def build_engine_rows(
    command: str,
    sources: Sequence[Source],
    target: Path,
    parameters: Parameters,
    reading: ReadOptions,
    quiescence: WeightsEvaluation,
    not_linear: str | None,
    note: Callable[[str], None],
    progress: Callable[[int], None],
    scores: Scores = recorded_scores,
) -> tuple[Dataset, RowCheck | None, Totals, ReadReport]:
    """Write the rows that an engine prints for the positions of games as a dataset, and check them;
    see `build_rows`.

    Results, games and openings come from the games, and so do the `scores` of positions unless
    a teacher finds them. `progress` is called with the number of positions that were answered.
    NothingLeft if the games have no position, InputError for every fault of the engine."""
    game, report, names = game_for(parameters), ReadReport(), list[dict]()
    options = prepared(reading, quiescence)
    positions = all_batches(game, sources, options, report, note, names)
    with RowEngine(command, ExpectedRows(parameters.layout, len(parameters.stages))) as engine:
        rows = _rows(engine, game, positions, scores, parameters.layout, progress)
        data, check, totals = build_rows(
            rows, target, parameters, names, not_linear, {"engine": command, **options.plain}
        )
    if engine.without_row:
        note(f"skipped {plural(engine.without_row, 'position')} without a row: {engine.reason}")
    if engine.wrong:
        note(f"left out {plural(engine.wrong, 'faulty row')}, the first: {engine.fault}")
    return data, check, totals, report


def _rows(
    engine: RowEngine,
    game: Game,
    positions: Iterator[PositionBatch],
    scores: Scores,
    layout: Layout,
    progress: Callable[[int], None],
) -> Iterator[RowBatch]:
    """Yield the rows of all positions, which are sent ahead of the answers. The first ones are sent
    twice: InputError if their rows then differ."""
    waiting: deque[tuple[PositionBatch | None, list[str]]] = deque()
    sent = 0
    answers: dict[int, Answer] = {}  # the first ones

    def first() -> Iterator[RowBatch]:
        batch, texts = waiting.popleft()
        if batch is None:
            before = engine.without_row, engine.wrong
            again = _answers(engine.rows(texts, lambda answered: None), len(texts))
            engine.without_row, engine.wrong = before
            engine.answered -= len(texts)
            _require_same(engine.command, texts, answers, again, layout)
            return
        for rows, places in engine.rows(texts, progress):
            if not answers:
                answers.update(_answers([(rows, places)], AGAIN))
            yield with_results(rows, batch, places, scores(batch))

    for batch in positions:
        texts = game.texts(batch.positions)
        engine.ask(texts)
        waiting.append((batch, texts))
        if not sent:
            engine.ask(texts[:AGAIN])
            waiting.append((None, texts[:AGAIN]))
        sent += len(texts)
        while sent - engine.answered - len(waiting[0][1]) >= AHEAD:
            yield from first()
    engine.no_more()
    while waiting:
        yield from first()
    engine.finish()
    if engine.without_row == sent:
        raise InputError(
            f"{engine.command}: printed no row for any of {plural(sent, 'position')}, but the"
            f" error {engine.reason!r}; expected rows"
        )


Answer = tuple[dict[int, float], tuple[float, ...]]  # counts by column, and the other numbers


def _answers(rows: Iterable[tuple[RowBatch, np.ndarray]], most: int) -> dict[int, Answer]:
    """Return the rows of the first positions, at most `most`, by their places."""
    answers: dict[int, Answer] = {}
    for batch, places in rows:
        for i, place in enumerate(places[places < most].tolist()):
            nonzeros = slice(batch.row[i], batch.row[i + 1])
            counts = dict(
                zip(batch.index[nonzeros].tolist(), batch.count[nonzeros].tolist(), strict=True)
            )
            numbers = (batch.evaluation, batch.rest, batch.scale, batch.phase)
            answers[place] = counts, tuple(float(np.nan_to_num(array[i])) for array in numbers)
    return answers


def _require_same(
    command: str,
    texts: Sequence[str],
    first: Mapping[int, Answer],
    again: Mapping[int, Answer],
    layout: Layout,
) -> None:
    """InputError if positions that were sent twice have different rows the second time."""
    other = [place for place in range(len(texts)) if first.get(place) != again.get(place)]
    if not other:
        return
    (counts, numbers), (more, then) = (found.get(other[0], ({}, ())) for found in (first, again))
    column = next((c for c in {**counts, **more} if counts.get(c) != more.get(c)), None)
    if column is not None:
        what = (
            f"{layout.labels()[column]} is counted {counts.get(column, 0):g} times, and then"
            f" {more.get(column, 0):g}"
        )
    elif not (numbers and then):
        what = "once it prints a row, and once none"
    else:
        names = ("evaluation", "rest", "scale", "phase")
        what = next(
            f"the {name} is {a:g}, and then {b:g}"
            for name, a, b in zip(names, numbers, then, strict=True)
            if a != b
        )
    raise InputError(
        f"{command}: {len(other)} of {plural(len(texts), 'position')} that were sent twice have"
        f" different rows the second time; in {texts[other[0]]} {what}; a pawn hash or a cache of"
        " evaluations skips macros: leave it out of the program that prints rows (#ifndef"
        " EVALTUNE_TRACE)"
    )


def with_results(
    rows: RowBatch, batch: PositionBatch, places: np.ndarray, scores: np.ndarray
) -> RowBatch:
    """Return rows with results and game of their positions, of a batch at `places`, and
    with their `scores` (n,); an unknown score may come from the row."""
    of = np.repeat(np.arange(len(batch.first)), np.diff(batch.first, append=len(batch.positions)))[
        places
    ]
    known = scores[places]
    return rows._replace(
        outcome=batch.outcomes[places],
        game=batch.identities[of],
        opening=batch.openings[of],
        score=np.where(np.isnan(known), rows.score, known),
    )
