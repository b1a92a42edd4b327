"""The settings of `tuner games`: every option that changes the games, as in `config.yaml` of their folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from games.contest import Contest
from games.record import Game
from games.streams import InputError
from tuner.io.run_folder import read_config, require_within
from tuner.io.text import LARGEST_COUNT

SECTION = "games"
LARGEST_SCORE = 1e5  # centipawns
LONGEST = 10_000  # plies of a game
RESIGN = (600.0, 4)  # a win if the last 4 scores are 600 centipawns or more
DRAW = (10.0, 16, 80)  # a draw if the last 16 scores are within 10 centipawns of 0, from ply 80 on


def default_rules(game: Game) -> tuple[tuple[float, int], tuple[float, int, int] | None]:
    """Return `resign` and `draw` of a game by default: no draws by scores in games in which level games are seldom drawn."""
    contest = game.contest or Contest()
    return (contest.lost_in_practice, RESIGN[1]), DRAW if contest.level_is_drawn else None


@dataclass(frozen=True)
class Settings:
    """The options of `tuner games` by their names. Exceptions: `start` is PARAMS as the user named it, `resign` is (score, plies)
    and `draw` is (score, plies, first ply), `part` is the number of games in a file, and `evaluation` is a hash of the terms and
    the program. Scores and noise are in centipawns. None: no such limit or rule."""

    start: str
    games: int = 6000
    depth: int | None = 3
    nodes: int | None = None
    noise: float = 10.0
    random_plies: int = 8
    openings: str | None = None
    plies: int = 300
    resign: tuple[float, int] | None = RESIGN
    draw: tuple[float, int, int] | None = DRAW
    play_on: float = 0.02
    syzygy: str | None = None
    seed: int = 1
    part: int = 200
    terms: tuple[str, ...] = ()
    evaluation: str | None = None

    def require_sense(self) -> None:
        """ValueError for numbers out of range."""
        for name in ("games", "depth", "nodes", "part"):
            require_within(name, getattr(self, name), 1, LARGEST_COUNT)
        require_within("plies", self.plies, 1, LONGEST)
        require_within("random_plies", self.random_plies, 0, LONGEST)
        require_within("seed", self.seed, 0, LARGEST_COUNT)
        require_within("noise", self.noise, 0, 1e4)
        require_within("play_on", self.play_on, 0, 1)
        for name in ("resign", "draw"):
            rule = getattr(self, name) or (0, 1)
            require_within(f"the score of {name}", rule[0], 0, LARGEST_SCORE)
            for plies in rule[1:]:
                require_within(f"the plies of {name}", plies, 0, LONGEST)
            require_within(f"the plies of {name}", rule[1], 1, LONGEST)
        if self.depth is None and self.nodes is None:
            raise ValueError("depth and nodes are both null, expected one of them")

    @property
    def control(self) -> str:
        """The limits of a search in words, also for the tags of games."""
        depth = f"depth {self.depth}" if self.depth is not None else ""
        nodes = f"{self.nodes:,} nodes a move" if self.nodes is not None else ""
        return ", ".join(filter(None, (depth, nodes)))


def holds_own_games(source: str) -> bool:
    """Return whether a source is a folder that `tuner games` wrote."""
    if not Path(source).is_dir():
        return False
    try:
        read_config(Path(source), SECTION, Settings)
    except InputError:
        return False
    return True
