"""The settings of self-play, and its games as work for any process: games do not depend on where
they are played or on how many run at once."""

import os
import random
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from games.record import Control, Game, Openings, Player, UsualSettings, available, find
from games.search.searcher import UNLIMITED, Limits, Searcher
from tuner.core.records import InputError, make
from tuner.core.text import plural
from tuner.evaluation.engine import STEPS
from tuner.evaluation.evaluation import (
    PlainEvaluation,
    evaluation_from,
    load_evaluation,
    quiescence_of,
)
from tuner.evaluation.loading import games_path, parameter_path
from tuner.evaluation.networks.files import holds_network
from tuner.options.option import no_use, refuse, refuse_first
from tuner.options.selfplay import OTHERS, SelfplayOptions, SelfplaySettings
from tuner.parallel import Job, JobState, Running
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.parameters.reader import game_of, heading_of
from tuner.play.openings import Book, Generator, Opening, book_from
from tuner.play.players import (
    OURS,
    PlayerSpec,
    SearchPlayer,
    external_player,
    make_player,
    own_player,
    require_able,
    understood,
)
from tuner.play.selfplay.games import Episode, GivenGames, Plan, play_episode
from tuner.play.selfplay.learner import BACKUPS, PAST, SELF, WeightsLearner, spacing_at
from tuner.play.selfplay.measure import TIMES, WITH_DICE, WITHOUT_DICE

HALF_LIFE = 200  # batches, of the learning rate
# of a transposition table: a search of some plies fills no more, and it is cleared for each game
MEGABYTES = 1


@dataclass(frozen=True, kw_only=True)
class SelfplaySpec:
    """Everything that games depend on, except weights and openings. `evaluation` belongs to the
    learner, whose weights change; `opponents` are the names in their turn, and `others` the players
    that are neither `self` nor `past`; `harvest` belongs to the method, see
    `games.search.searcher.Searcher.harvest`."""

    evaluation: PlainEvaluation
    plan: Plan
    control: Control
    seed: int
    opponents: tuple[str, ...]
    others: tuple[tuple[str, PlayerSpec], ...]
    harvest: tuple[int, int | None] | None


class LearningTask(NamedTuple):
    """A game to play: its number, its opening, the number of batches after which the weights that
    play were saved, and the same for a past self that is the opponent; None: another opponent. The
    weights themselves are shared by tasks."""

    number: int
    opening: Opening
    version: int
    past: int | None


class SelfplayPlayers(JobState):
    """One thread's searcher and its opponents. InputError if one of them cannot be started."""

    def __init__(self, spec: SelfplaySpec, stopped: Callable[[], bool]) -> None:
        self.spec, self.stopped = spec, stopped
        self.evaluation = evaluation_from(spec.evaluation)
        self.game = self.evaluation.game
        self.searcher = self.evaluation.searcher(False, MEGABYTES, lean=False)
        if spec.harvest:
            self.searcher.harvest(*spec.harvest)
        self._bound = -1
        self._past: tuple[Searcher, Player] | None = None
        if PAST in spec.opponents:
            searcher = self.evaluation.searcher(True, MEGABYTES, lean=False)
            self._past = searcher, SearchPlayer(self.game, searcher, spec.control)
        self._others: dict[str, Player] = {}
        try:
            for name, player in spec.others:
                self._others[name] = make_player(player, self.game)
        except BaseException:
            self.close()
            raise

    def use(self, version: int, weights: np.ndarray) -> None:
        """Search with the weights of a version."""
        if version != self._bound:
            self._bind(self.searcher, weights)
            self._bound = version

    def opponent(self, name: str, past: np.ndarray | None) -> Player | None:
        """Return the opponent of this name, with the weights of a past self. None: the learner
        itself."""
        if name == SELF:
            return None
        if name != PAST:
            return self._others[name]
        assert self._past is not None and past is not None, "made for an opponent of this name"
        self._bind(self._past[0], past)
        return self._past[1]

    def _bind(self, searcher: Searcher, weights: np.ndarray) -> None:
        self.evaluation.with_weights(weights).bind(searcher)

    def abort(self) -> None:
        self.searcher.stop()
        for player in [*self._others.values(), *([self._past[1]] if self._past else [])]:
            player.abort()

    def close(self) -> None:
        for player in self._others.values():
            player.close()


def play_game(
    players: SelfplayPlayers,
    task: LearningTask,
    weights: np.ndarray,
    past: np.ndarray | None = None,
) -> Episode | None:
    """Play a game with these weights (stages, columns), maybe against a past self; None if it was
    stopped."""
    spec = players.spec
    turn, which = divmod(task.number, len(spec.opponents))
    players.use(task.version, weights)
    opponent = players.opponent(spec.opponents[which], past)
    return play_episode(
        players.game,
        players.searcher,
        spec.plan,
        task.number,
        spec.seed,
        task.opening,
        opponent,
        turn & 1,
        players.stopped,
    )


def selfplay_job(spec: SelfplaySpec) -> Job:
    """Return the work of a run."""
    return Job(SelfplayPlayers, play_game, spec, game_text)


def game_text(task: LearningTask) -> str:
    """Name a game by its number, as it is in the file of games."""
    return f"game {task.number + 1}"


class Workers:
    """Plays games, batch after batch. Batch b is played with the weights after b - lag
    batches, so that workers do not idle during the last games of a batch, and games are the same
    for any number of workers."""

    def __init__(
        self,
        learner: WeightsLearner,
        opening: Callable[[int], Opening],
        running: Running,
        played: int,
    ) -> None:
        """`played` games were learned from before: the next batch begins there, also after one that
        was cut short."""
        self._learner, self._opening, self._running, self._played = (
            learner,
            opening,
            running,
            played,
        )
        self._settings = learner.settings
        self._shared: dict[int, object] = {}  # weights by version

    def version(self, batch: int) -> int:
        """Return the number of batches after which the weights that play a batch were saved."""
        return max(0, batch - self._settings.lag)

    def batches(self, interrupted: threading.Event) -> Iterator[list[Episode]]:
        """Yield the games of one batch after another, in order; the learner must learn from each
        before asking for the next."""
        begun, total, size = self._learner.batches, self._settings.games, self._settings.batch
        games = {
            begun + i: range(first, min(total, first + size))
            for i, first in enumerate(range(self._played, total, size))
        }
        waiting: dict[int, Episode] = {}
        completed = self._running.completed(interrupted)
        submitted = begun
        for batch in games:
            while submitted in games and self.version(submitted) <= self._learner.batches:
                for number in games[submitted]:
                    self._submit(number, self.version(submitted))
                submitted += 1
            while not all(number in waiting for number in games[batch]):
                episode = next(completed, None)
                if episode is None or interrupted.is_set():
                    return
                waiting[episode.number] = episode
            yield [waiting.pop(number) for number in games[batch]]

    def _submit(self, number: int, version: int) -> None:
        settings, past = self._settings, None
        if settings.opponents[number % len(settings.opponents)] == PAST:
            spacing, draw = (
                spacing_at(version),
                random.Random(f"{settings.seed} opponent {number}").random(),
            )
            past = int(draw * (version // spacing + 1)) * spacing
        shared = [self._weights(each) for each in (version, past) if each is not None]
        self._running.submit(LearningTask(number, self._opening(number), version, past), *shared)

    def _weights(self, version: int) -> object:
        """Return a handle of the weights of a version; those that no later game needs are
        forgotten."""
        kept = self._learner.kept
        if version not in self._shared:
            self._shared[version] = self._running.share(kept[version])
            self._shared = {each: shared for each, shared in self._shared.items() if each in kept}
        return self._shared[version]


OPPONENT_MEGABYTES = 4


def require_playable(game: Game) -> None:
    """InputError for a game without a search."""
    if game.contest.searcher is None:
        raise InputError(f"{game.name} has no search to play with; its games come from elsewhere")


def usual_for(params: str) -> UsualSettings:
    """Return the usual settings for a parameter file, a network or the name of a game; the settings
    of a game without dice for an unknown game. InputError if there is no such file."""
    name = params if params in available() else heading_of(parameter_path(params)).game
    return find(name if name in available() else DEFAULT_GAME).usual


def selfplay_settings(
    start: str, given: Mapping[str, Any], terms: Iterable[str] = ()
) -> SelfplaySettings:
    """Return the settings of a new run from a parameter file: values that were given, and otherwise
    the usual ones of its game. InputError for options that have no use together."""
    options, usual = SelfplayOptions(**given), usual_for(start)
    game = start if start in available() else game_of(parameter_path(start))
    openings = options.openings and games_path(options.openings, game)
    method, chosen = options.method, False
    if method == "auto":  # dice leave no choice
        chosen = usual.method != "td-leaf"
        method = usual.method if options.lambda_ is None else "td-leaf"
    limited = options.nodes or options.opponents == (OTHERS,)
    depth = None if limited else options.depth or usual.selfplay_depth
    searched, treestrap = BACKUPS[method].harvest is not None, method == "treestrap"
    refuse_first(
        (
            (
                treestrap and depth is None,
                "--method treestrap: needs searches of fixed depth; use --depth instead of --nodes",
            ),
            (
                options.from_ply is not None and openings is None,
                "--from-ply: leaves given games at a random ply; name their file with --openings",
            ),
        )
    )
    refuse(
        (
            (
                f"--blunders {options.blunders}",
                "blunders" in given and searched,
                f"applies to td and td-leaf, not to {method}",
            ),
            (
                "--noisy",
                not options.gated and not searched,
                f"applies to rootstrap and treestrap; {method} learns from every position",
            ),
            (
                "--lambda",
                treestrap and options.lambda_ is not None,
                "treestrap learns from searches, not from games",
            ),
            (
                f"--largest-error {options.largest_error}",
                (treestrap or method == "rootstrap" and options.lambda_ == 0)
                and options.largest_error is not None,
                "limits differences between values of successive positions, and none is used",
            ),
            (
                "--truncated",
                treestrap and "truncated" in given,
                "treestrap does not learn from results",
            ),
            (
                "--balanced",
                options.balanced and openings is not None,
                "chooses random openings, not a file",
            ),
            (
                "--step",
                options.step is not None and options.gradient == "analytic",
                "is for finite differences; the gradient is analytic",
            ),
        )
    )
    of_file = start not in available() and not holds_network(parameter_path(start))
    tuned = usual.td_leaf if of_file and chosen and method == "td-leaf" else {}
    values = {
        "games": 1000,
        "random_plies": 0 if openings else usual.selfplay_random_plies,
        "plies": usual.selfplay_plies,
        "half_life": HALF_LIFE * given.get("batch", SelfplaySettings.batch),
        "lambda_": None if treestrap else 0.7,
        "step": STEPS.get(options.gradient),
        "learning_rate": usual.rates.get(options.learner),
        **(tuned if options.learner == SelfplaySettings.learner else {}),
        **given,
        "start": start,
        "depth": depth,
        "method": method,
        "chosen": chosen,
        "openings": (
            os.path.abspath(openings) if openings and os.path.exists(openings) else openings
        ),
        "terms": tuple(os.path.abspath(path) for path in terms),
    }
    measured = WITH_DICE if find(game).has_dice else WITHOUT_DICE
    return make(SelfplaySettings, with_measuring(values, measured))


def with_measuring(values: dict[str, Any], usual_games: int) -> dict[str, Any]:
    """Return settings with how many games each measurement has, and after how many it comes.
    InputError for those that cannot be measured."""
    number = values.get("measure_games", usual_games)
    refuse_first(
        (
            name in values and not values.get("measure"),
            no_use(f"--{name}".replace("_", "-"), "is for --measure PLAYER", "name the player"),
        )
        for name in ("measure_games", "measure_every", "measure_plies")
    )
    if number % 2 or number < 6:
        raise InputError(
            f"--measure-games {number}: expected an even number of 6 or more, because games are"
            " played in pairs"
        )
    return {
        "measure_every": max(1, values["games"] // TIMES),
        **values,
        "measure_games": number,
    }


def require_suitable(game: Game, settings: SelfplaySettings) -> None:
    """InputError for settings that self-play of this game does not have."""
    name, dice = game.name, game.has_dice
    if game.contest.deepest is not None and (
        settings.depth is None or settings.depth > game.contest.deepest
    ):
        limit = (
            f"--nodes {settings.nodes}" if settings.depth is None else f"--depth {settings.depth}"
        )
        raise InputError(f"{limit}: {name} supports --depth 1 to {game.contest.deepest} only")
    refuse(
        (
            (
                "--wins",
                settings.wins and not game.in_points,
                f"games of {name} win one point, never more",
            ),
        )
    )
    refuse_first(
        (
            (
                dice and BACKUPS[settings.method].harvest is not None,
                (
                    f"--method {settings.method}: searches over dice have no tree to learn from;"
                    " choose td-leaf or td"
                ),
            ),
            (
                dice and settings.method == "td-leaf" and settings.depth != 1,
                (
                    f"--depth {settings.depth}: deeper than one ply, a search over dice has no"
                    " single leaf to learn from; choose --method td, or --depth 1"
                ),
            ),
        )
    )
    differ = f"games of {name} differ by their dice"
    refuse(
        (
            ("--balanced", dice and settings.balanced, differ),
            (f"--random-plies {settings.random_plies}", dice and settings.random_plies, differ),
        )
    )


def openings_of(
    game: Game, settings: SelfplaySettings, note: Callable[[str], None]
) -> Callable[[int], Opening]:
    """Return a function from the number of a game to its opening."""
    if settings.openings is None:
        if settings.random_plies == 0:
            return lambda number: Opening(game.start(), [])
        judge = quiescence_of(game, "classic")
        searcher = judge.searcher(megabytes=MEGABYTES) if settings.balanced else None
        return Generator(game, settings.random_plies, settings.seed, searcher, note).opening
    if os.path.exists(settings.openings):
        given = settings.from_ply is not None
        book = book_from(game, settings.openings, "random", settings.seed, note, given)
        return _from_ply(book.openings, settings, note) if given else book.opening
    if settings.from_ply:
        raise InputError(
            f"--openings {settings.openings}: not a file; --from-ply expects a file of games"
        )
    try:
        start = game.position(settings.openings)
    except ValueError as problem:
        raise InputError(
            f"--openings {settings.openings}: neither a file nor a position: {problem}"
        ) from None
    return Book(Openings(start[None]), "sequential", settings.seed).opening


def _from_ply(
    openings: Openings, settings: SelfplaySettings, note: Callable[[str], None]
) -> Callable[[int], Opening]:
    """Return the openings that leave given games at a random ply."""
    assert settings.openings is not None and settings.from_ply is not None, (
        "see SelfplaySettings.faults"
    )
    games = GivenGames(openings, settings.openings, *settings.from_ply, settings.seed)
    if games.left_out:
        note(
            f"{settings.openings}: {games.left_out:,} of {plural(len(openings), 'game')} have at"
            f" most {settings.from_ply[0]} plies: they are left out"
        )
    return games.opening


def plan_of(settings: SelfplaySettings) -> Plan:
    """Return how games are played."""
    limits = (
        Limits(depth=settings.depth)
        if settings.depth is not None
        else Limits(nodes=settings.nodes or UNLIMITED)
    )
    return Plan(
        limits, settings.random_plies if settings.openings else 0, settings.explore, settings.plies
    )


def spec_of_games(learner: WeightsLearner) -> SelfplaySpec:
    """Return what games depend on. InputError for an opponent of another game."""
    settings = learner.settings
    control = Control(depth=settings.depth, nodes=settings.nodes)
    others = tuple(
        (name, player_named("--opponent", name, learner.evaluation.game, settings, control))
        for name in dict.fromkeys(settings.opponents)
        if name not in (SELF, PAST)
    )
    game = learner.evaluation.game
    require_able((spec for _, spec in others), game, game.start()[None])
    return SelfplaySpec(
        evaluation=learner.evaluation.spec(),
        plan=plan_of(settings),
        control=control,
        seed=settings.seed,
        opponents=settings.opponents,
        others=others,
        harvest=learner.backup.harvest,
    )


def player_named(
    option: str, name: str, game: Game, settings: SelfplaySettings, control: Control
) -> PlayerSpec:
    """Return a player that an option names; InputError for one of another game."""
    named = understood(name)
    if named.game not in (None, game.name):
        raise InputError(f"{option} {name}: plays {named.game}, the learner {game.name}")
    if named.kind not in OURS:
        return external_player(named, name, game, {}, control, None)
    return own_player(
        named,
        name,
        game,
        control,
        OPPONENT_MEGABYTES,
        lambda path: load_evaluation(path, settings.terms, add_missing=True),
    )
