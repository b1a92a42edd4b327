"""Everything that a match is told, as plain data: what `config.yaml` of its folder holds."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from games.contest import Control
from games.streams import pieces
from tuner.files import sha256_of

SECTION = "match"  # of config.yaml
DEFAULT_DEPTH = 4
DEFAULT_GAMES = 100
DEFAULT_RANDOM_PLIES = 8


@dataclass(frozen=True)
class Settings:
    """The options of `tuner match` by their names, but for those that change nothing about its games.

    `controls` are those of a and b, `evaluation` a hash of the terms and the program. `files` names what else a match depends
    on, with the sha256 of it.
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

    def control(self, side: int) -> Control:
        return Control(**self.controls[side])


def hash_of(path: str | Path) -> str:
    """The sha256 of a file's bytes as they are; InputError says what is wrong with one that cannot be read."""
    try:
        return sha256_of(path)
    except OSError:
        next(pieces(path), None)
        raise


def changed_files(settings: Settings) -> list[str]:
    """Files that a match depends on and that are not what they were."""
    return [path for path, sha256 in settings.files.items() if not os.path.isfile(path) or hash_of(path) != sha256]
