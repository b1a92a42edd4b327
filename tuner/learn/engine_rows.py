"""Build a dataset of rows from games: games and positions are read and chosen here, an engine
prints what it counts in them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from games.record import Game, PositionBatch, ReadOptions, ReadReport, available, find
from games.streams import InputError
from tuner.datasets.dataset import Dataset
from tuner.datasets.rows.build import Totals, build_rows
from tuner.datasets.rows.check import RowCheck
from tuner.datasets.rows.row_engine import RowEngine, counted
from tuner.datasets.rows.values import ExpectedRows, RowBatch
from tuner.evaluation.loading import FileEvaluator
from tuner.learn.build import NothingLeft, batches, nothing_left, prepared, sha256
from tuner.parameters.parameters import Parameters

AHEAD = (
    1 << 13
    # positions that an engine was sent beyond those that are waited for: it may print its answers
    # late
)


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
    sources: Sequence[str],
    target: Path,
    parameters: Parameters,
    phases: int,
    reading: ReadOptions,
    quiescence: FileEvaluator,
    not_linear: str | None,
    note: Callable[[str], None],
    progress: Callable[[int], None],
) -> tuple[Dataset, RowCheck | None, Totals, ReadReport]:
    """Write the rows that an engine prints for the positions of games as a dataset, and check them;
    see `build_rows`.

    Results, games, openings and recorded scores are those of the games. `progress` is called with
    the number of positions that were answered. NothingLeft if the games have no position,
    InputError for every fault of the engine."""
    game, report, names = game_for(parameters), ReadReport(), []
    options = prepared(reading, quiescence)

    def positions() -> Iterator[PositionBatch]:
        for source, read in batches(game, sources, options, report, note):
            yield from read
            names.append({"file": Path(source).name, "sha256": sha256(source)})
        if report.positions == 0:
            raise NothingLeft(nothing_left(sources, report, game.files.suffixes))

    kept = {name: value for name, value in asdict(options).items() if name != "evaluation"}
    with RowEngine(
        command, ExpectedRows(parameters.layout, len(parameters.stages), phases)
    ) as engine:
        rows = _rows(engine, game, positions(), progress)
        data, check, totals = build_rows(
            rows, target, parameters, phases, names, not_linear, {"engine": command, **kept}
        )
    if engine.without_row:
        note(
            f"left out {counted(engine.without_row, 'position')} for which the engine printed no"
            f" row: {engine.reason}"
        )
    return data, check, totals, report


def _rows(
    engine: RowEngine,
    game: Game,
    positions: Iterator[PositionBatch],
    progress: Callable[[int], None],
) -> Iterator[RowBatch]:
    """Yield the rows of all positions, which are sent some time before their answers are waited
    for."""
    waiting: deque[tuple[PositionBatch, list[str]]] = deque()
    sent = 0

    def first() -> Iterator[RowBatch]:
        batch, texts = waiting.popleft()
        for rows, places in engine.rows(texts, progress):
            yield _with_results(rows, batch, places)

    for batch in positions:
        texts = game.texts(batch.positions)
        engine.ask(texts)
        sent += len(texts)
        waiting.append((batch, texts))
        while sent - engine.answered - len(waiting[0][1]) >= AHEAD:
            yield from first()
    engine.no_more()
    while waiting:
        yield from first()
    engine.finish()
    if engine.without_row == sent:
        raise InputError(
            f"{engine.command}: printed no row for any of {counted(sent, 'position')}, but the"
            f" error {engine.reason!r}; expected rows"
        )


def _with_results(rows: RowBatch, batch: PositionBatch, places: np.ndarray) -> RowBatch:
    """Return rows with what the games say of their positions, those of a batch at `places`; a score
    that the games do not record may be the engine's."""
    of = np.repeat(np.arange(len(batch.first)), np.diff(batch.first, append=len(batch.positions)))[
        places
    ]
    recorded = batch.recorded[places]
    return rows._replace(
        outcome=batch.outcomes[places],
        game=batch.identities[of],
        opening=batch.openings[of],
        score=np.where(np.isnan(recorded), rows.score, recorded),
    )
