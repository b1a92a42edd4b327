"""The settings of a match as plain data, as in `config.yaml` of its folder."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from games.contest import Control
from games.streams import pieces
from tuner.io.files import sha256_of
from tuner.io.run_folder import require_among, require_within
from tuner.io.text import LARGEST_COUNT

SECTION = "match"  # of config.yaml
DEFAULT_DEPTH = 4
DEFAULT_GAMES = 100
DEFAULT_RANDOM_PLIES = 8


@dataclass(frozen=True)
class Settings:
    """The options of `tuner match` by name, except for those that do not affect the games.

    `controls` are those of a and b, `evaluation` is a hash of the terms and the program, `files` are the other files that a
    match depends on, with their sha256.
    """

    a: str
    b: str
    names: tuple[str, str]
    games: int | None
    sprt: tuple[float, float] | None
    model: str
    alpha: float
    beta: float
    controls: tuple[dict, dict]
    openings: str | None
    order: str
    random_plies: int
    seed: int
    plies: int
    resign: tuple[str, ...] | None
    draw: tuple[str, ...] | None
    hash: int | None
    option_a: tuple[str, ...]
    option_b: tuple[str, ...]
    terms: tuple[str, ...]
    files: dict[str, str]
    evaluation: str | None = None
    luck: str | None = None  # the evaluation that measures it, in games with dice

    def require_sense(self) -> None:
        """ValueError for numbers that no match can have; all other mistakes are found where settings are used."""
        require_within("games", self.games, 2, LARGEST_COUNT)
        if self.games is not None and self.games % 2:
            raise ValueError(f"games is {self.games}, expected an even number")
        if self.games is None and self.sprt is None:
            raise ValueError("games and sprt are both null, expected one of them")
        for control in self.controls:
            if not control or not set(control) <= {field.name for field in fields(Control)}:
                raise ValueError("controls are not limits of depth, nodes or time")
            for name, value in control.items():
                whole = name in ("depth", "nodes")
                if value is not None and type(value) is not int and (whole or type(value) is not float):
                    raise ValueError(f"{name} of controls is {value!r}, expected a number")
                require_within(f"{name} of controls", value, 1 if whole else 0, LARGEST_COUNT)
            limits = [control.get(name) for name in ("depth", "nodes", "movetime", "base")]
            if not any(limits):
                raise ValueError("controls have no limit, expected depth, nodes, movetime or base")
        require_among("order", self.order, ("random", "sequential"))
        require_within("random_plies", self.random_plies, 0, LARGEST_COUNT)
        require_within("plies", self.plies, 0, LARGEST_COUNT)
        require_within("seed", self.seed, 0, LARGEST_COUNT)
        require_within("hash", self.hash, 1, LARGEST_COUNT)

    @property
    def judge(self) -> str | None:
        """The name of the evaluation that measures luck, None in games without dice."""
        return None if self.luck is None else Path(self.luck).stem

    def control(self, side: int) -> Control:
        return Control(**self.controls[side])


def settings_of(a: str, b: str, **changes: Any) -> Settings:
    """The settings of a match between two players, by default 100 games from random openings to depth 4, with some changes."""
    usual = dict(names=("", ""), games=DEFAULT_GAMES, sprt=None, model="normalized", alpha=0.05, beta=0.05,
                 controls=({"depth": DEFAULT_DEPTH},) * 2, openings=None, order="random", random_plies=DEFAULT_RANDOM_PLIES,
                 seed=1, plies=0, resign=None, draw=None, hash=None, option_a=(), option_b=(), terms=(), files={})
    return Settings(a, b, **{**usual, **changes})

PIPE = "a pipe"  # in place of a sha256: a match that needs it again cannot go on


def hash_of(path: str | Path) -> str:
    """The sha256 of the bytes of a file; InputError if it is unreadable. PIPE for what can be read only once, or has no end."""
    if Path(path).is_fifo() or Path(path).is_char_device():
        return PIPE
    try:
        return sha256_of(path)
    except OSError:
        next(pieces(path), None)
        raise


def changed_files(settings: Settings) -> list[str]:
    """Files that a match depends on and that have changed since it began."""
    return [path for path, sha256 in settings.files.items() if not os.path.isfile(path) or hash_of(path) != sha256]
