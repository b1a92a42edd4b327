"""Options that several commands share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from tuner.core.records import (
    Count,
    KeysOf,
    Settings,
    Share,
    Unit,
)
from tuner.io.files import QUIESCENCE
from tuner.options.option import Option, Table, Title, option, options_in

if TYPE_CHECKING:
    from games.record import ReadOptions

TERMS = Option(
    ("--terms",),
    "Python file with terms of your own (see evalterms/README.md); may be repeated",
    default=(),
    metavar="FILE",
    action="append",
)
JSON = Option(
    ("--json",),
    "print the result as one JSON object",
    default=False,
    action="store_true",
    resume=True,
)


def params(
    what: str = "parameter file, or a bundled one: classic, zero, ...", nargs: str | None = None
) -> Option:
    """Return the argument PARAMS."""
    return Option(("params",), what, metavar="PARAMS", nargs=nargs)


def output(what: str, metavar: str = "FILE", required: bool = False) -> Option:
    """Return -o; `what` is written there."""
    return Option(("-o", "--output"), what, metavar=metavar, required=required)


def resume(what: str, more: str = "") -> Option:
    """Return --resume; `what` continues."""
    return Option(("--resume",), f"continue {what} in this folder{more}", metavar="DIR")


def held_out(what: str, share: float) -> Option:
    """Return --held-out, by default a `share`; `what` is held out."""
    return Option(("--held-out",), f"{what} (default: {share:g})", Share, share, metavar="SHARE")


def seed() -> Any:
    """Return --seed as a field of a record."""
    return option("seed of all random choices (default: 1)", 1, metavar="N")


def device(default: str, what: str) -> Option:
    """Return --device; `what` runs there."""
    return Option(
        ("--device",),
        f"{what}: cpu, gpu (needs CuPy), or auto: a GPU if one is available (default: {default})",
        str,
        default,
        choices=KeysOf("tuner.fit.device.choose", "DEVICES", "auto"),
    )


def cluster(what: str) -> Option:
    """Return --cluster; `what` runs there."""
    return Option(
        ("--cluster",),
        f"{what} on the workers of a Dask scheduler, such as tcp://HOST:8786, or in N processes "
        "of this machine; needs evaltune[cluster], see docs/clusters-and-gpus.md",
        metavar="ADDRESS|local:N",
        resume=True,
    )


Gradient: TypeAlias = Literal["analytic", "finite-difference", "forward-difference"]
Step = Annotated[
    float, Meta(gt=1e-6, lt=1e4, description="a number between 1e-06 and 10000, such as 1")
]


def gradient() -> Any:
    """Return --gradient as a field of a record."""
    return option(
        "analytic (default), or differences of the evaluation itself, slow, a check of the analytic"
        " ones: finite-difference (central) or forward-difference",
        default="analytic",
        seldom=True,
    )


def step() -> Any:
    """Return --step as a field of a record."""
    return option(
        "step of the differences in centipawns (default: central 0.01, forward 1)",
        metavar="CP",
        seldom=True,
    )


@dataclass(frozen=True, kw_only=True)
class Reading(Settings):
    """The options that choose games and positions."""

    positions: Literal["auto", "all", "quiet", "resolve"] = option(
        "quiet: those whose quiescence search changes nothing; resolve: where the quiescence search"
        " ends; auto (default): the game's choice, for chess quiet positions of games and all"
        " labeled positions",
        default="auto",
    )
    quiescence: str | None = option(
        f"parameter file of that quiescence search (default: {QUIESCENCE})",
        metavar="PARAMS",
        seldom=True,
    )
    min_elo: Count = option("skip games if a player's Elo is below N", 0, metavar="N")
    skip_start: Count | None = option(
        "skip the first N plies of each game (default: the game's choice, 8 for chess)",
        metavar="N",
    )
    skip_end: Count = option("skip the last N plies of each game (default: 0)", 0, metavar="N")
    from_share: Unit = option(
        "skip the first SHARE of the plies of each game, 0 to 1 (default: 0)",
        0.0,
        metavar="SHARE",
        seldom=True,
    )
    ended: Literal["any", "won", "mate"] = option(
        "any game (default), games that were won, or that were won by the rules, as by mate",
        default="any",
        seldom=True,
    )
    per_game: Count | None = option(
        "keep at most N positions of each game, chosen at random", metavar="N"
    )
    duplicates: Literal["keep", "games", "positions"] = option(
        "remove repeated games (default), repeated positions too, or keep all",
        default="games",
    )
    strict: bool = option(
        "stop at the first bad game instead of skipping it", default=False, action="store_true"
    )
    seed: Count = seed()

    @property
    def judge(self) -> str:
        """The parameter file of the quiescence search."""
        return self.quiescence or QUIESCENCE

    @property
    def reading(self) -> ReadOptions:
        """The same for readers of games."""
        from games.record import ReadOptions

        return ReadOptions(
            self.positions,
            None,
            self.min_elo,
            self.skip_start,
            self.skip_end,
            self.from_share,
            self.ended,
            self.per_game or 0,
            self.duplicates,
            self.strict,
            self.seed,
        )


READING: Table = (Title("which games and positions to read"), *options_in(Reading))


def workers(what: str = "threads", resume: bool = False) -> Any:
    """Return --workers as a field of a record, by default one per CPU."""
    return option(f"{what} (default: one per CPU)", metavar="N", anew=True, resume=resume)


def resign(when: str) -> Any:
    """Return --resign as a field of a record; `when` games end by movecount=3 score=400."""
    return option(f"movecount=3 score=400: {when}", nargs="+", metavar="NAME=N")


def draw(usual: str) -> Any:
    """Return --draw as a field of a record; `usual` is its default."""
    return option(
        "movenumber=40 movecount=8 score=20: from move 40 on, a draw after 8 moves of each side on"
        f" which all scores are within 20 centipawns (default: {usual})",
        nargs="+",
        metavar="NAME=N",
    )
