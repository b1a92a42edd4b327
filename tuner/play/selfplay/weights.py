"""Self-play that learns the weights of a parameter file: the run, its progress and what it writes,
and what it says of opponents that are not the learner: the points against them, their mistakes."""

import hashlib
import math
import shlex
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from games.record import CRASH, PLIES, RULES, TOLD, Game, PlayedGame, available
from games.streams import InputError
from tuner.core.text import plural
from tuner.evaluation.evaluation import (
    Evaluation,
    load_evaluation,
    require_evaluation_writable,
)
from tuner.evaluation.loading import parameter_path
from tuner.io.terminal import Display
from tuner.options.option import no_use
from tuner.options.selfplay import OTHERS, SECTION, SelfplaySettings
from tuner.parallel import Job, Running
from tuner.play.selfplay.folder import START, Folder, read_keys
from tuner.play.selfplay.games import BROKEN_OFF, DRAWN, FORFEITED, Episode
from tuner.play.selfplay.learner import WON, WeightsLearner, new_learner
from tuner.play.selfplay.measure import Measurement
from tuner.play.selfplay.run import Batch, LearningRun, MatchMeasurement
from tuner.play.selfplay.settings import (
    Workers,
    openings_of,
    require_playable,
    require_suitable,
    selfplay_job,
    spec_of_games,
)


def batch_line(
    learner: WeightsLearner,
    episodes: list[Episode],
    duplicates: int,
    watched: dict[str, float],
    games: int,
) -> dict[str, Any]:
    """Return a batch's line of the history, without the seconds. `games` includes earlier batches;
    `draws` and `broken_off` are shares of its games, `plies` is the mean length, `squares` the mean
    square of the errors, `step` and `drift` are the mean changes of a weight by this batch and
    since the start, `static` is the share of leaves whose static evaluation is the score."""
    n = len(episodes)
    return {
        "batch": learner.batches,
        "games": games,
        "cpu_seconds": None,
        "draws": sum(episode.end == DRAWN for episode in episodes) / n,
        "broken_off": sum(episode.end == BROKEN_OFF for episode in episodes) / n,
        "plies": sum(len(episode.moves) for episode in episodes) / n,
        "duplicates": duplicates,
        **{key: float(f"{value:.6g}") for key, value in watched.items()},
        "values": {
            name: round(value, 2)
            for name, value in learner.evaluation.with_weights(learner.average).headline().items()
        },
    }


def progress_text(line: dict, game: Game) -> str:
    """Return a batch as a progress line: piece values, from the first term, in units of the
    first, and the state of the games; of a game that wins several points, the state of the games
    alone."""
    if game.in_points:
        return (
            f"{line['games']:,} games  unfinished {line['broken_off']:.0%}  {line['plies']:.0f}"
            f" plies  mean squared error {line['squares']:.4f}"
        )
    unit = next(iter(line["values"].values()), 0.0) or 1.0
    values = "".join(
        f" {name} {value / unit:.2f}"
        for name, value in list(line["values"].items())[1:]
        if "." not in name
    )
    return (
        f"{plural(line['games'], 'game')} {values}  draws {line['draws']:.0%}  unfinished"
        f" {line['broken_off']:.0%}  {line['plies']:.0f} plies  mean squared error"
        f" {line['squares']:.4f}"
    )


# games lost by faults of an opponent, and their share, after more of which learning stops
FEWEST_FORFEITS, MOST_FORFEITS = 2, 0.05


def method_text(settings: SelfplaySettings) -> str:
    """Return the method in a few words."""
    decay = "" if settings.lambda_ is None else f", lambda {settings.lambda_:g}"
    gradient = (
        ""
        if settings.gradient == "analytic"
        else f", {settings.gradient} of {settings.step:g} centipawns"
    )
    why = ""
    if settings.chosen and settings.method == "rootstrap":
        why = " (the default without --lambda)"
    elif settings.chosen:
        why = " (as --lambda is given)"
    largest = settings.largest_error
    limit = "" if largest is None else f", differences of at most {largest:g}"
    return f"{settings.method}{decay}{limit}{gradient}{why}"


class WeightsRun(LearningRun):
    """Self-play that learns the weights of a parameter file or of a network. Threads play the
    games. `start` is what a new run begins with if no file holds it."""

    section, kind = SECTION, SelfplaySettings
    doing = "playing"
    learner: WeightsLearner

    def __init__(
        self,
        settings: SelfplaySettings,
        output: Path | None,
        display: Display,
        start: Evaluation | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self._start = start

    def require_output(self, folder: Path | None) -> None:
        """See `Run`."""
        settings = self.settings
        if self.output is not None:
            reads = (
                *(settings.start, settings.openings),
                *(*settings.opponents, *settings.terms, *settings.measure),
            )
            copy = folder / START if folder else None
            start = str(copy) if copy and copy.exists() else settings.start
            require_evaluation_writable(start, self.output, reads, folder)

    def load(self, folder: Path | None) -> str:
        """See `Run`. InputError for settings that this game does not have."""
        settings = self.settings
        evaluation = self._start or load_evaluation(
            folder / START if folder else settings.start, settings.terms
        )
        self.game = evaluation.game
        require_playable(self.game)
        if folder is None:
            require_suitable(self.game, settings)
        try:
            self.learner, self.learned = new_learner(evaluation, settings), evaluation.file_name
            none = np.zeros((0, self.game.words), np.uint64)
            evaluation.positions(none, settings.gradient, settings.step)
        except InputError as problem:
            raise InputError(f"{settings.start}: {problem}") from None
        self.opening = openings_of(self.game, settings, self.display.note)
        if folder is None:
            self.opening(0)
        self.measurement = _measurement(self.learner, self.display.note)
        return evaluation.program

    def job(self) -> Job | None:
        """See `Run`. InputError for a run whose games an engine played."""
        if self.settings.opponents == (OTHERS,):
            raise InputError(
                "these games were played by an engine that learns; it goes on by itself when it is"
                " started again with --learn"
            )
        return selfplay_job(spec_of_games(self.learner))

    def place(self, folder: Path) -> None:
        """See `Run`."""
        start = self.settings.start
        source = None if start in available() else parameter_path(start)
        self.learner.evaluation.place(folder / START, source)

    def games_file(self) -> str:
        """See `LearningRun`."""
        return f"games{self.game.files.suffixes[0]}"

    def text(self) -> str:
        """See `LearningRun`."""
        depth, nodes = self.settings.depth, self.settings.nodes
        limit = f", depth {depth}" if depth is not None else f", {nodes:,} nodes" if nodes else ""
        return f"{method_text(self.settings)}{limit}, {plural(self.settings.games, 'game')}"

    def batches(
        self,
        files: Folder,
        last: dict[str, Any],
        playing: Running | None,
        interrupted: threading.Event,
    ) -> Iterator[Batch]:
        """See `LearningRun`. Games that an opponent lost by a fault teach nothing. InputError if
        they are too many."""
        assert playing is not None, "its games are work"
        learner, date = self.learner, time.strftime("%Y.%m.%d")
        known = read_keys(files.path)
        games, forfeits = last["games"], last.get("forfeits", 0)
        workers = Workers(learner, self.opening, playing, games)
        for episodes in workers.batches(interrupted):
            finished = [episode for episode in episodes if episode.end != FORFEITED]
            new, keys = _without_duplicates(finished, known)
            known.update(keys)
            watched = learner.learn(new)
            games += len(episodes)
            forfeits += len(episodes) - len(finished)
            if forfeits > max(FEWEST_FORFEITS, MOST_FORFEITS * games):
                raise InputError(
                    f"--opponent {' '.join(self.settings.opponents)}: {forfeits:,} of {games:,}"
                    " games were lost by faults of the opponent, such as illegal moves and crashes;"
                    " see what it does in a match"
                )
            line = batch_line(learner, episodes, len(finished) - len(new), watched, games)
            line |= noted_mistakes(learner.evaluation, episodes)
            yield (
                line | ({"forfeits": forfeits} if forfeits else {}),
                texts_of(self.game, episodes, date).encode("utf-8", "replace").decode(),
                keys,
            )
        playing.end()

    def now(self) -> Evaluation:
        """Return the evaluation that plays."""
        return self.learner.evaluation.with_weights(self.learner.average)

    def progress(self, line: dict[str, Any]) -> str:
        """See `LearningRun`."""
        return progress_text(line, self.game)

    def write(self, path: Path, line: dict[str, Any]) -> None:
        """Write the evaluation that plays."""
        settings = self.settings
        learned = {
            "command": self.command,
            "start": Path(settings.start).name,
            "method": settings.method,
            **({"lambda": settings.lambda_} if settings.lambda_ is not None else {}),
            **({"wins": True} if settings.wins else {}),
            **(
                {"gradient": settings.gradient, "step": settings.step}
                if settings.gradient != "analytic"
                else {}
            ),
            "seed": settings.seed,
            "games": line["games"],
            "cpu_seconds": round(line["cpu_seconds"], 1),
        }
        self.now().write(path, learned)

    def values(self) -> tuple[dict[str, float], dict[str, float]]:
        """See `LearningRun`."""
        return self.learner.evaluation.headline(), self.now().headline()

    def match(self, path: Path) -> tuple[str, str]:
        """See `LearningRun`."""
        depth, start = self.game.usual.match_depth, self.settings.start
        if self.settings.opponents == (OTHERS,):  # which replaces the file that it began with
            start = str(path.with_name(START))
        words = [
            "tuner",
            "match",
            str(path),
            "random" if start in available() else start,
            "--depth",
            str(depth),
            "--games",
            "400",
        ]
        return "see whether it is better", shlex.join(
            [*words, *(word for path in self.settings.terms for word in ("--terms", path))]
        )


def _measurement(
    learner: WeightsLearner, note: Callable[[str], None]
) -> Measurement | MatchMeasurement | None:
    settings, game = learner.settings, learner.evaluation.game
    if not settings.measure:
        return None
    if game.contest.whole_games is None:
        return MatchMeasurement(learner.evaluation, settings, note)
    measurement = Measurement(game, settings, settings.terms)
    try:
        learner.evaluation.player()
    except ValueError as problem:
        raise InputError(no_use(f"--measure {settings.measure[0]}", str(problem))) from None
    return measurement


def _without_duplicates(episodes: list[Episode], seen: set[int]) -> tuple[list[Episode], list[int]]:
    """Return the episodes whose moves were not played before, and the keys of all."""
    new, keys = [], []
    for episode in episodes:
        key = key_of(episode)
        if key not in seen and key not in keys:
            new.append(episode)
        keys.append(key)
    return new, keys


def key_of(episode: Episode) -> int:
    """Return a hash of a game's first position and moves."""
    moves = np.array(episode.moves, np.uint64)
    if not (moves >> np.uint64(32)).any():
        moves = moves.astype(np.uint32)
    digest = hashlib.blake2b(episode.line[0].tobytes() + moves.tobytes(), digest_size=8)
    return int.from_bytes(digest.digest(), "little")


def texts_of(game: Game, episodes: list[Episode], date: str) -> str:
    """Return the games as text for a file of games; empty if the game has no such format, or dice:
    such games are many and short, and the seed of the run gives them again."""
    if game.files.game_text is None or game.has_dice:
        return ""
    return "".join(game.files.game_text(_played(episode, date)) for episode in episodes)


def _played(episode: Episode, date: str) -> PlayedGame:
    other = "learner" if episode.side is None else episode.opponent or "opponent"
    first, second = ("learner", other)[:: -1 if episode.side else 1]
    end = {BROKEN_OFF: PLIES, FORFEITED: CRASH}.get(episode.end, RULES)
    end = end if episode.told is None else TOLD
    loser = None if not episode.outcome else int(episode.outcome > 0)
    return PlayedGame(
        episode.line,
        episode.moves,
        episode.opening,
        [],
        [],
        episode.outcome,
        end,
        loser,
        episode.told or "",
        players=(first, second),
        round=str(episode.number + 1),
        date=date,
        event="tuner selfplay",
    )


PLAYED, MISTAKES = "played", "mistakes"  # of a line of the history
LEAST = 100.0  # centipawns that a mistake gives away


def points_of(episodes: Iterable[Episode]) -> list[dict[str, Any]]:
    """Return the games that the learner played as one player, as plain data: `points` from 0 to 1
    are its own, None without a result; `opponent` and `rating` are None where they are unknown."""
    return [
        {
            "game": episode.number,
            "opponent": episode.opponent,
            "rating": episode.rating,
            "points": _points(episode),
        }
        for episode in episodes
        if episode.side is not None
    ]


def _points(episode: Episode) -> float | None:
    if episode.outcome is None or episode.side is None:
        return None
    own = episode.outcome * (1 - 2 * episode.side)
    return (1 + max(-1.0, min(own, 1.0))) / 2


def noted_mistakes(evaluation: Evaluation, episodes: Iterable[Episode]) -> dict[str, Any]:
    """Return what a line of the history has of mistakes of opponents: nothing without any."""
    mistakes = mistakes_of(evaluation, episodes)
    return {MISTAKES: mistakes} if mistakes else {}


def mistakes_of(evaluation: Evaluation, episodes: Iterable[Episode]) -> list[dict[str, Any]]:
    """Return moves of opponents that the learner's search had not expected, and after which its
    next search was LEAST better for it, as plain data: the `position` in which `move` was played,
    the `answer`, and the scores `before` and `after` in centipawns of the learner's view, None for
    a forced win; `gain` is the difference of expected scores from 0 to 1, of values v =
    tanh(scale * score). The rule for mistakes of opponents leaves these differences out."""
    game, scale = evaluation.game, evaluation.scale
    return [
        {
            "game": episode.number,
            "ply": ply + 1,
            "position": game.texts(episode.line[ply + 1 : ply + 2])[0],
            "move": game.move_text(episode.line[ply + 1], episode.moves[ply + 1]),
            "answer": game.move_text(episode.line[ply + 2], episode.moves[ply + 2]),
            "before": round(before, 1),
            "after": round(after, 1) if after < WON else None,
            "gain": round((math.tanh(scale * after) - math.tanh(scale * before)) / 2, 4),
        }
        for episode in episodes
        for ply, before, after in _mistakes(episode)
    ]


def _mistakes(episode: Episode) -> Iterator[tuple[int, float, float]]:
    """Yield the plies of the searches before mistakes, and the scores there and at the next search
    in the learner's view. A draw by the rules is none: a search takes it from the first repetition
    of a position."""
    if episode.side is None:
        return
    drawn = episode.known == 0
    plies, scores = episode.ply.tolist(), ((1 - 2 * episode.side) * episode.scores).tolist()
    for i, (ply, following) in enumerate(zip(plies, plies[1:], strict=False)):
        before, after = scores[i], scores[i + 1]
        unseen = not (episode.predicted[i] or episode.explored[i] or drawn[i + 1])
        known = following == ply + 2 < len(episode.moves) and abs(before) < WON
        if unseen and known and after - before >= LEAST:
            yield ply, before, after
