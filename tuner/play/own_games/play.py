"""One game to learn from: of an evaluation against a copy whose weights differ by noise, or of an
engine against itself; its opening, and when it ends. Who plays, and from which openings, follows
from the settings."""

import random
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from games.process import words_of
from games.protocol.client import MORE_DEPTH
from games.record import (
    DRAW_RULE,
    FAULTS,
    PLIES,
    RESIGN_RULE,
    RESIGNS,
    RULES,
    TABLES,
    Control,
    Dice,
    Forfeit,
    Game,
    Player,
    find,
)
from games.search.searcher import Limits, Searcher
from games.streams import InputError
from tuner.evaluation.evaluation import (
    Evaluation,
    PlainEvaluation,
    evaluation_from,
    load_evaluation,
    quiescence_of,
)
from tuner.evaluation.own_numbers import require_linear
from tuner.io.files import sha256_of
from tuner.options.games import GamesSettings
from tuner.options.option import named_values
from tuner.parallel import Job, JobState
from tuner.parameters.parameters import DEFAULT_GAME
from tuner.play.game import Course, Ending, Judge, Stopped, play_out
from tuner.play.openings import JUDGE, Book, Generator, Opening, book_from
from tuner.play.players import (
    Named,
    PlayerSpec,
    SearchPlayer,
    engine_named,
    external_player,
    make_player,
    require_able,
)
from tuner.play.rules import ENDING, by_length, by_rules, rules_of

DRAWS = 16  # of noise, to measure its effect on evaluations
COPY = 1  # numbers the stream of random numbers of the copies; 0 is the stream of the measurement
SAMPLE_PLIES = 100  # of the games whose positions measure what noise does to evaluations


def copy_of(evaluation: Evaluation, spread: float, seed: int, number: int) -> Evaluation:
    """Return copy `number` of an evaluation: every weight but those that are 0 in all stages moves
    by normal noise with standard deviation `spread`, in the unit of weights."""
    moved = _noise(evaluation.weights, np.random.default_rng([seed, COPY, number]))
    return evaluation.with_weights(evaluation.weights + spread * moved)


def spread_of(evaluation: Evaluation, positions: np.ndarray, noise: float, seed: int) -> float:
    """Return the standard deviation of the noise of one weight at which evaluations of positions
    (n, words) move by `noise` centipawns (root mean square), if little noise moves them in
    proportion. InputError if all weights are 0."""
    weights = evaluation.weights
    if not weights.any():
        raise InputError(
            "all weights are 0, so that every move would be chosen at random; start from different"
            " values, such as material"
        )
    before, squares = evaluation.scorer("cpu")(positions), []
    dice = np.random.default_rng([seed, 0])
    for _ in range(DRAWS):
        moved = evaluation.with_weights(weights + evaluation.small * _noise(weights, dice))
        squares.append(np.mean((moved.scorer("cpu")(positions) - before) ** 2))
    unit = float(np.sqrt(np.mean(squares))) / evaluation.small
    return noise / unit if unit else 0.0


def _noise(weights: np.ndarray, dice: np.random.Generator) -> np.ndarray:
    """Return noise of 1 in the shape of the weights, on those that take part."""
    return np.where((weights != 0).any(axis=0), dice.standard_normal(weights.shape), 0.0)


def sample_of(game: Game, searcher: Searcher, openings: Iterable[Opening]) -> np.ndarray:
    """Return positions (n, words) of games that searches of depth 1 play from some openings."""
    positions: list[np.ndarray] = []
    for number, opening in enumerate(openings):
        course = Course(game, opening)
        searcher.clear()
        searcher.choose_by(number + 1)
        while by_rules(course) is None and len(course.line) < SAMPLE_PLIES:
            best = searcher.search(course.line, Limits(depth=1)).move
            assert best is not None, "the game is not over"
            course.add(best)
        positions += [*course.line[course.book :]]
    return np.array(positions)


SEEDS = 1 << 40  # game number n of seed s draws its opening from the seed s * SEEDS + n


def random_opening(
    game: Game, settings: GamesSettings, number: int, judge: Searcher | None, attempt: int = 0
) -> Opening:
    """Return the opening of a game: random plies to a position that the searcher finds balanced,
    different ones at each attempt to play the game."""
    if settings.random_plies == 0:
        return Opening(game.start(), [])
    return Generator(
        game, settings.random_plies, settings.seed * SEEDS + number, judge, _no_note
    ).opening(attempt)


def _no_note(text: str) -> None:
    """Do nothing: a single opening has no repetition to note."""


# of a transposition table: a search of some plies fills no more, and it is cleared for each game
MEGABYTES = 1


BY_SCORES = {RESIGN_RULE: "resign", DRAW_RULE: "draw", ENDING: "ending"}  # rules that may be wrong
ENDS = {
    RULES: "rules",
    **BY_SCORES,
    TABLES: "tables",
    PLIES: "plies",
}  # with their names in records


class Checked(NamedTuple):
    """A game that was played on after its verdict, to check the rule: outcomes of the verdict and
    of the end."""

    rule: str
    outcome: float
    end: float


class GameTask(NamedTuple):
    """A game to play: its number, its opening if that is of a file (None: random plies, drawn from
    the number), and the number of failed attempts before."""

    number: int
    opening: Opening | None
    attempt: int = 0


@dataclass(frozen=True)
class Generated:
    """A game: its text for a file, its number of plies, the outcome for the first player and for
    the evaluation itself (not its copy), and how it ended, one of `ENDS`.
    `identity` is the same in games with the same positions, None where that is not asked; `fault`
    says why an engine did not finish the game, which then is none."""

    number: int
    text: str
    plies: int
    outcome: float
    own: float
    end: str
    checked: Checked | None = None
    attempt: int = 0
    identity: int | None = None
    fault: str = ""


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How games are played, as plain data: the game with a given number depends on this and its
    opening alone. `evaluation` plays its copies, in which a weight has the noise `spread`; if there
    is an engine, that plays instead, and `evaluation` only judges openings."""

    game: str
    settings: GamesSettings
    name: str  # of the player, for the tags of games
    evaluation: PlainEvaluation | None = None
    spread: float = 0.0
    engine: PlayerSpec | None = None


class Copies(JobState):
    """An evaluation and its current opponent, a copy. In even games the evaluation
    itself moves first, and two games in a row have the same copy."""

    def __init__(self, recipe: Recipe, evaluation: Evaluation, own: Searcher) -> None:
        self._recipe, self._evaluation, self._own, self._copy = recipe, evaluation, own, own

    def refresh(self) -> None:
        """The tables of searches are cleared before each game."""

    def players_of(self, number: int) -> tuple[list[Player], tuple[str, str]]:
        """Return both players of a game, the first one first, and their names."""
        recipe, settings, first = self._recipe, self._recipe.settings, number & 1
        copy = copy_of(self._evaluation, recipe.spread, settings.seed, number // 2)
        self._copy = copy.searcher(megabytes=MEGABYTES)
        control = Control(depth=settings.depth, nodes=settings.nodes)
        players: list[Player] = [
            SearchPlayer(self._evaluation.game, searcher, control)
            for searcher in (self._own, self._copy)
        ]
        names = (recipe.name, f"{recipe.name} copy {number // 2 + 1}")
        return (players[::-1], names[::-1]) if first else (players, names)

    def abort(self) -> None:
        """End the search under way soon; from another thread."""
        self._own.stop()
        self._copy.stop()


class Alone:
    """An engine, in one process, that plays both sides."""

    def __init__(self, recipe: Recipe, engine: PlayerSpec, game: Game) -> None:
        self._name, self._spec, self._game = recipe.name, engine, game
        limits = recipe.settings.control
        self._control = limits and f" with {limits}"
        self._player: Player | None = None

    def ready(self) -> None:
        """Start the engine, and let it move once. InputError if it does not."""
        spec = self._spec
        start = self._game.rolled(self._game.start(), Dice(0, 0))
        player = self._made()
        try:
            player.begin("trial", start)
            player.choose(start[None], [], None)
        except Forfeit as fault:
            raise InputError(
                f"{spec.command}: does not play the initial position{self._control}:"
                f" {_words(fault)}"
            ) from None

    def refresh(self) -> None:
        """Restart the engine: many keep state despite the command for a new game. Engines of games
        with dice are only asked for single moves."""
        if not self._game.has_dice:
            self.close()
            self._player = None

    def players_of(self, number: int) -> tuple[list[Player], tuple[str, str]]:
        """See `Copies`."""
        return [self._made()] * 2, (self._name, self._name)

    def abort(self) -> None:
        """See `Copies`."""
        if self._player:
            self._player.abort()

    def close(self) -> None:
        """End the engine."""
        if self._player:
            self._player.close()

    def _made(self) -> Player:
        if self._player is None:
            self._player = make_player(self._spec, self._game)
        return self._player


def _words(fault: Forfeit) -> str:
    """Return a fault in words."""
    return ": ".join(filter(None, (fault.kind, fault.detail)))


class OwnPlayers(JobState):
    """One thread's players, the search that judges openings, and the judges of games. InputError
    for tables that cannot be read."""

    def __init__(self, recipe: Recipe, stopped: Callable[[], bool]) -> None:
        self.recipe, self.stopped, self.game = recipe, stopped, find(recipe.game)
        self.judge: Searcher | None = None
        if recipe.evaluation is not None:
            evaluation = evaluation_from(recipe.evaluation)
            self.judge = evaluation.searcher(megabytes=MEGABYTES)
        if recipe.engine is not None:
            self.sides: Copies | Alone = Alone(recipe, recipe.engine, self.game)
        else:
            assert self.judge is not None, "without an engine, the evaluation plays"
            self.sides = Copies(recipe, evaluation, self.judge)
        rules = replace(rules_of(recipe.settings), endings=True)
        self.sure = rules.sure_judges(self.game)
        self.by_scores = rules.judges_by_scores(self.game)

    def ready(self) -> None:
        """See `JobState`."""
        self.sides.ready()

    def abort(self) -> None:
        """See `JobState`."""
        self.sides.abort()

    def close(self) -> None:
        """See `JobState`."""
        self.sides.close()


class _Verdicts:
    """The judge of one game by its scores. A game that is played on goes on after its first
    verdict, which is `kept`, with the plies until then."""

    def __init__(self, judges: Sequence[Judge], played_on: bool) -> None:
        self._judges, self._played_on = judges, played_on
        self.kept: Ending | None = None
        self.plies = 0

    def judge(self, course: Course) -> Ending | None:
        """Judge a game before each move."""
        if self.kept:
            return None
        endings = (ending for judge in self._judges if (ending := judge(course)) is not None)
        ending = next(endings, None)
        if ending is None or not self._played_on:
            return ending
        self.kept, self.plies = ending, len(course.moves)
        return None


def games_job(recipe: Recipe) -> Job:
    """Return the work of generating games."""
    return Job(OwnPlayers, play_games, recipe, games_text)


def games_text(tasks: Sequence[GameTask]) -> str:
    """Name games by their numbers, as they are in the files of games."""
    first, last = tasks[0].number + 1, tasks[-1].number + 1
    return f"game {first}" if first == last else f"games {first} to {last}"


def play_games(own: OwnPlayers, tasks: Sequence[GameTask]) -> list[Generated] | None:
    """Play games in this order, and return them; None if they were stopped. An engine plays them in
    one process, so that they depend on nothing else."""
    own.sides.refresh()
    games = []
    for task in tasks:
        if (game := play_game(own, task)) is None:
            return None
        games.append(game)
    return games


def play_game(own: OwnPlayers, task: GameTask) -> Generated | None:
    """Play a game and return it; None if it was stopped."""
    number, attempt, recipe, settings = task.number, task.attempt, own.recipe, own.recipe.settings
    players, names = own.sides.players_of(number)
    opening = task.opening or random_opening(own.game, settings, number, own.judge, attempt)
    plays_on = random.Random(f"{settings.seed} play on {number}").random() < settings.play_on
    dice = Dice(settings.seed, number + attempt * SEEDS)
    course, verdicts = Course(own.game, opening, dice), _Verdicts(own.by_scores, plays_on)
    try:
        end = play_out(
            course,
            players,
            (*own.sure, verdicts.judge, by_length(settings.plies)),
            own.stopped,
            [f"{settings.seed}/{number}/{attempt}/{turn}" for turn in (0, 1)],
        )
    except Stopped:
        return None
    final, plies = verdicts.kept or end, verdicts.plies if verdicts.kept else len(course.moves)
    assert final.outcome is not None and end.outcome is not None, (
        "games are drawn at their greatest length"
    )
    if end.end in FAULTS:
        why = _words(Forfeit(end.end, end.detail))
        return Generated(number, "", plies, 0, 0, end.end, attempt=attempt, fault=why)
    return Generated(
        number,
        _text(course, final, plies, number, names, settings.control),
        plies,
        final.outcome,
        -final.outcome if number & 1 else final.outcome,
        RESIGN_RULE if final.end == RESIGNS else final.end,
        Checked(final.end, final.outcome, end.outcome) if verdicts.kept else None,
        attempt,
        identity_of(course, plies) if recipe.engine else None,
    )


def identity_of(course: Course, plies: int) -> int:
    """Return a hash of the positions of a game from its opening on, a whole number of JSON."""
    positions = course.line[course.book : plies + 1].tobytes()
    return int.from_bytes(blake2b(positions, digest_size=8).digest(), "little") >> 11


def _text(
    course: Course,
    final: Ending,
    plies: int,
    number: int,
    names: tuple[str, str],
    control: str,
) -> str:
    """Return the first plies of a game as text, with the verdict."""
    end, loser = final.end, final.loser
    if end not in (RULES, PLIES, RESIGNS):
        end = RESIGN_RULE if final.outcome else DRAW_RULE
    if end != RESIGNS:
        loser = None if not final.outcome else int(final.outcome > 0)
    text = course.game.files.game_text
    assert text is not None, "required before the first game"
    return text(
        replace(
            course.played(Ending(end, final.outcome, loser), plies),
            seconds=[],
            players=names,
            round=str(number + 1),
            control=control,
            event="tuner games",
        )
    )


START = "start.yaml"
SAMPLE_GAMES = 16  # whose positions measure what noise does to evaluations


@dataclass(frozen=True)
class Prepared:
    """All that games need: how they are played, the game, the openings of a file, the evaluation
    (None: an engine plays), and a name of the program that plays."""

    recipe: Recipe
    game: Game
    book: Book | None
    evaluation: Evaluation | None
    program: str | None


def prepared(
    settings: GamesSettings,
    folder: Path | None,
    start: Evaluation | None,
    note: Callable[[str], None],
) -> Prepared:
    """Return what the games of the settings need, of a folder if they are resumed there; `start` is
    the evaluation, if it differs from the settings. InputError for an evaluation that has no
    search, and for a game with dice or without files of games."""
    if (named := engine_named(settings.start)) is not None:
        game = find(named.game or DEFAULT_GAME)
        book, recipe = book_of(game, settings, note), engine_recipe(named, game, settings)
        assert recipe.engine is not None, "see engine_recipe"
        starts = game.start()[None] if book is None else book.starts
        require_able([recipe.engine], game, starts, MORE_DEPTH)
        return Prepared(recipe, game, book, None, program_of(named))
    name = folder / START if folder else settings.start
    if start is None:
        require_linear(name, (f"--terms {file}" for file in settings.terms))
    evaluation = start or load_evaluation(name, settings.terms)
    if folder is None:  # the file has fewer digits, and resumed games read it
        with tempfile.TemporaryDirectory(prefix="evaltune-") as place:
            evaluation.place(Path(place) / START, None)
            evaluation = load_evaluation(Path(place) / START, settings.terms)
    book = book_of(evaluation.game, settings, note)
    recipe = recipe_of(evaluation, settings, book)
    return Prepared(recipe, evaluation.game, book, evaluation, evaluation.program)


def recipe_of(evaluation: Evaluation, settings: GamesSettings, book: Book | None) -> Recipe:
    """Return how games of an evaluation are played. InputError for one that has no search, and for
    a game with dice or without files of games."""
    game = evaluation.game
    if game.has_dice:
        raise InputError(
            f"games of {game.name} differ by their dice, not by noise in evaluations; `tuner match"
            f" {settings.start} {settings.start} --pgn OUT` plays games to learn from"
        )
    judge = evaluation.searcher(megabytes=MEGABYTES)  # refuses a game without a search
    if game.files.game_text is None:
        raise InputError(
            f"{game.name} has no files of games to write; its games come from elsewhere"
        )
    positions = sample_of(
        game,
        judge,
        (
            book.opening(number) if book else random_opening(game, settings, number, judge)
            for number in range(SAMPLE_GAMES)
        ),
    )
    spread = spread_of(evaluation, positions, settings.noise, settings.seed)
    return Recipe(
        game=game.name,
        evaluation=evaluation.spec(),
        settings=settings,
        spread=spread,
        name=Path(settings.start).stem,
    )


def engine_recipe(named: Named, game: Game, settings: GamesSettings) -> Recipe:
    """Return how games of an engine are played."""
    control = Control(depth=settings.depth, nodes=settings.nodes, vary=settings.vary or 0.0)
    options = named_values(settings.options, "--option")
    player = external_player(named, named.name, game, options, control, settings.hash)
    judge = None
    if settings.random_plies and game.contest.searcher is not None:
        judge = quiescence_of(game, JUDGE).spec()
    return Recipe(
        game=game.name, evaluation=judge, settings=settings, name=named.name, engine=player
    )


def program_of(named: Named) -> str | None:
    """Return a hash of the program of an engine; None where its name is not a command: gnubg:0."""
    if named.what.isdecimal():
        return None
    return sha256_of(words_of(named.what, f"a {named.kind} engine")[0])


def book_of(game: Game, settings: GamesSettings, note: Callable[[str], None]) -> Book | None:
    """Return the openings of the file that the settings name; None without one."""
    if settings.openings is None:
        return None
    return book_from(game, settings.openings, "random", settings.seed, note)
