"""Shared by the tests of rows: random rows, and an engine of whole numbers that counts and
evaluates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tuner.datasets.rows.values import RowBatch
from tuner.parameters.parameters import Layout, Place

PHASES = 24
STAGES = ("mg", "eg")


def layout_of_shapes(shapes: dict[str, tuple[int, ...]]) -> Layout:
    """Return the layout of parameters by their paths."""
    places, first = [], 0
    for path, shape in shapes.items():
        places.append(Place(*path.split("."), shape, first))
        first += places[-1].size
    return Layout(tuple(places))


SMALL = layout_of_shapes(
    {"material.pawn": (), "squares.pawn": (2, 3), "mobility.knight": (4,), "material.queen": ()}
)
ENGINE = layout_of_shapes(
    {
        "material.pawn": (),
        "material.knight": (),
        "material.rook": (),
        "squares.pawn": (8,),
        "squares.king": (4, 2),
        "mobility.knight": (9,),
        "pawns.doubled": (),
        "pawns.passed": (6,),
        "pieces.pair": (),
        "king.shelter": (),
    }
)


def batch_of(dense: np.ndarray, **fields) -> RowBatch:
    """Return the rows of a dense matrix (n, columns); fields that are not given have their usual
    values."""
    n = len(dense)
    of, index = np.nonzero(dense)
    row = np.concatenate([[0], np.cumsum(np.count_nonzero(dense, axis=1))])
    unknown = np.full(n, np.nan, np.float32)
    usual = {
        "phase": np.zeros(n, np.int64),
        "outcome": np.zeros(n, np.float32),
        "rest": np.zeros(n, np.float32),
        "scale": np.ones(n, np.float32),
        "evaluation": unknown,
        "score": unknown,
        "game": np.arange(n, dtype=np.uint64),
    }
    return RowBatch(
        index.astype(np.int32),
        dense[of, index].astype(np.float32),
        row.astype(np.int64),
        **{**usual, **fields},
    )


def random_rows(seed: int, n: int, layout: Layout = SMALL) -> RowBatch:
    """Return rows that use every field, with unknown values, fractions and rows without counts
    among them."""
    random = np.random.default_rng(seed)
    dense = random.integers(-3, 4, (n, layout.size)) * (random.random((n, layout.size)) < 0.4)
    dense = dense.astype(np.float32)
    dense[::7] *= np.float32(0.1)
    dense[5::11] = 0
    outcome, score = random.choice([-1, 0, 1, 0.3], n), random.normal(0, 90, n)
    outcome[random.random(n) < 0.1] = np.nan
    score[random.random(n) < 0.2], score[random.random(n) < 0.1], score[random.random(n) < 0.1] = (
        np.nan,
        np.inf,
        -np.inf,
    )
    evaluation = np.where(random.random(n) < 0.1, np.nan, random.normal(0, 300, n))
    game = np.sort(random.integers(0, 1 << 64, n // 5 + 1, dtype=np.uint64).repeat(5)[:n])
    return batch_of(
        dense,
        phase=random.integers(0, PHASES + 1, n),
        outcome=outcome.astype(np.float32),
        rest=(random.normal(0, 30, n) * (random.random(n) < 0.7)).astype(np.float32),
        scale=random.choice([1, 1, 0.5, 0.1], n).astype(np.float32),
        evaluation=evaluation.astype(np.float32),
        score=score.astype(np.float32),
        game=game,
        opening=np.where(game % 3 == 0, game, game // np.uint64(7)),
        text=[
            (
                ""
                if i % 5 == 0
                else f"8/8 {'wb'[i % 2]} - " + ('"é, 1"; c=1' if i % 7 == 0 else str(i))
            )
            for i in range(n)
        ],
    )


def joined(batches: list[RowBatch]) -> RowBatch:
    """Return batches as one."""
    ends = np.cumsum([0, *(len(batch.index) for batch in batches)])
    fields = {
        name: np.concatenate([getattr(batch, name) for batch in batches])
        for name in RowBatch._fields
        if name not in ("row", "text", "opening")
    }
    texts = [batch.text or [""] * len(batch.phase) for batch in batches]
    rows = [batch.row[1:] + end for batch, end in zip(batches, ends, strict=False)]
    return RowBatch(
        **fields,
        row=np.concatenate([[0], *rows]),
        text=sum(texts, []),
        opening=np.concatenate([batch.openings for batch in batches]),
    )


@dataclass
class Engine:
    """An engine of whole numbers: counts (n, columns) and weights (2, columns) as it has them, and
    what it prints."""

    counts: np.ndarray
    weights: np.ndarray
    phase: np.ndarray
    side: np.ndarray

    @staticmethod
    def random(seed: int, n: int = 1000) -> Engine:
        """Return an engine and positions; the counts are sparse as those of chess."""
        random = np.random.default_rng(seed)
        counts = random.integers(-2, 3, (n, ENGINE.size)) * (random.random((n, ENGINE.size)) < 0.3)
        weights = random.integers(5, 40, (2, ENGINE.size)) * random.choice(
            [-1, 1], (1, ENGINE.size)
        )
        weights[1] = weights[0] + random.integers(6, 20, ENGINE.size) * random.choice(
            [-1, 1], ENGINE.size
        )
        weights[:, :3] = [[82, 337, 477], [94, 281, 512]]
        return Engine(counts, weights, random.integers(0, PHASES + 1, n), random.choice([-1, 1], n))

    def sums(self, stage: int) -> np.ndarray:
        """Return counts · weights (n,) of a stage."""
        return self.counts @ self.weights[stage]

    def evaluation(self) -> np.ndarray:
        """Return (mg * phase + eg * (24 - phase)) / 24, rounded towards 0 as C does."""
        total = self.sums(0) * self.phase + self.sums(1) * (PHASES - self.phase)
        return np.sign(total) * (np.abs(total) // PHASES)

    def rows(
        self,
        counts: np.ndarray | None = None,
        evaluation: np.ndarray | None = None,
        texts: bool = True,
        **fields,
    ) -> RowBatch:
        """Return what the engine prints, with these counts or evaluations in place of its own."""
        evaluation = self.evaluation() if evaluation is None else evaluation
        text = (
            [f"8/8/8 {'w' if side > 0 else 'b'} - - 0 1" for side in self.side] if texts else None
        )
        fields = {
            "phase": self.phase,
            "evaluation": evaluation.astype(np.float32),
            "text": text,
            **fields,
        }
        return batch_of(self.counts if counts is None else counts, **fields)


def places_with(term: str) -> np.ndarray:
    """Return the columns of a term or parameter of ENGINE."""
    return np.concatenate(
        [
            np.arange(place.first, place.first + place.size)
            for place in ENGINE.places
            if term in (place.term, place.path)
        ]
    )
