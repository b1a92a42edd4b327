"""The result of `tuner wdl`: the chances of a win, a draw and a loss by score and material."""

from dataclasses import dataclass
from typing import Any

from games.record import Game
from tuner.core.estimates import Estimate
from tuner.core.records import to_json
from tuner.core.text import aligned, plural
from tuner.results.result import RunResult
from tuner.statistics.wdl import WdlFit

SCORES = (0, 50, 100, 150, 200, 300, 500)  # of the table


@dataclass(frozen=True, kw_only=True)
class Wdl(RunResult):
    """The fit to games: positions and games, those held out, the fit to all of them, mean log
    losses of held-out games by a fit to the rest; of a guess without scores; and of the published
    form with its scores times `factor`, with the differences of ours (None: there is none); the
    `files` written."""

    game: Game
    positions: int
    games: int
    held_out: int
    outcomes: tuple[float, float, float]  # shares of positions won, drawn and lost
    fit: WdlFit
    own: Estimate
    constant: Estimate
    published: Estimate | None
    difference: Estimate | None
    factor: float | None
    files: tuple[str, ...] = ()

    @property
    def degree(self) -> int:
        """The degree of the polynomials."""
        return len(self.fit.model.a) - 1

    @property
    def counts(self) -> list[int]:
        """Counts of material to show, from many to few; one if nothing depends on it."""
        stock = self.game.stock
        if stock is None:
            return [1]
        return [stock.high, stock.anchor, (stock.low + stock.anchor) // 2, stock.low]

    def share(self, count: int) -> float:
        """Return a count of material as the model has it."""
        return self.game.stock.share(count) if self.game.stock else 1.0

    @property
    def rows(self) -> list[list[str]]:
        """Wins, draws and losses in a thousand by score and material as rows of text, their heading
        first."""
        by_material = self.game.stock is not None
        head = [f"material {n}" if by_material else "win / draw / loss" for n in self.counts]
        rows = [["score", *head]]
        for score in SCORES:
            cells = []
            for count in self.counts:
                chances = self.fit.model.chances(score, self.share(count))
                win, loss = round(1000 * float(chances.win)), round(1000 * float(chances.loss))
                cells.append(f"{win} / {1000 - win - loss} / {loss}")
            rows.append([f"{score / 100:+.2f}" if score else "0.00", *cells])
        return rows

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        stock, fit = self.game.stock, self.fit
        by = f"; m = material / {stock.anchor}, from {stock.low} to {stock.high}" if stock else ""
        won, drawn, lost = (100 * share for share in self.outcomes)
        lines = [
            f"{plural(self.positions, 'position')} with scores within 10 pawns, of"
            f" {plural(self.games, 'game')}:"
            f" {won:.1f} % won, {drawn:.1f} % drawn, {lost:.1f} % lost",
            f"win = 1 / (1 + exp((a - score) / b)), loss the same with -score, in centipawns{by}",
        ]
        if stock:
            lines.append(stock.what)
        for name, values in zip("ab", fit.coefficients, strict=True):
            terms = ("", " * m", " * m^2", " * m^3")
            parts = [
                f"({value.leading_text()}){term}"
                for value, term in zip(values, terms, strict=False)
            ]
            lines.append(f"  {name} = {' + '.join(parts)}")
        for count in self.counts:
            a, where = fit.at(self.share(count))[0], f" at material {count}" if stock else ""
            lines.append(f"half of the games are won{where} at {a.text(0)} centipawns")
        lines += ["", "win / draw / loss in a thousand games"]
        lines += [f"  {line}" for line in aligned(self.rows)]
        lines += ["", f"log loss of {self.held_out:,} held-out games of separate openings"]
        lines.append(f"  this model     {self.own.text(5)}")
        if self.published and self.difference and self.factor and stock:
            lines.append(
                f"  {stock.source:<13}  {self.published.text(5)}, its coefficients times"
                f" {self.factor:.3g}; difference {self.difference.text(5, '+')}"
            )
        lines.append(f"  without scores {self.constant.text(5)}")
        return [*lines, *(f"wrote {path}" for path in self.files)]

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        fit, stock = self.fit, self.game.stock
        a, b = to_json(fit.coefficients)
        return {
            "game": self.game.name,
            "positions": self.positions,
            "games": self.games,
            "outcomes": dict(zip(("won", "drawn", "lost"), self.outcomes, strict=True)),
            "a": a,
            "b": b,
            "material": {"low": stock.low, "high": stock.high, "anchor": stock.anchor}
            if stock
            else None,
            "half_won": [
                {
                    "material": count if stock else None,
                    "score": fit.at(self.share(count))[0].plain,
                }
                for count in self.counts
            ],
            "held_out": {
                "games": self.held_out,
                "loss": self.own.plain,
                "without_scores": self.constant.plain,
                "published": to_json(self.published),
                "difference": to_json(self.difference),
                "factor": self.factor,
            },
            "files": list(self.files),
        }
