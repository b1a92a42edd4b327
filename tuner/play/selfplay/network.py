"""Self-play that learns a network, after every ply of games with dice."""

import shlex
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from games.record import Game, available, find, in_points
from tuner.core.records import InputError, make
from tuner.core.text import plural
from tuner.evaluation.evaluation import Evaluation, load_evaluation
from tuner.evaluation.loading import parameter_path
from tuner.evaluation.networks.evaluation import (
    NET,
    NetworkEvaluation,
    chosen_encoding,
    evaluation_of,
    network_evaluation,
)
from tuner.evaluation.networks.files import (
    NetworkFile,
    require_network_writable,
    weights_path,
    write_network,
)
from tuner.evaluation.networks.model import random_network
from tuner.evaluation.networks.td import TdLearner, TdSettings, program
from tuner.evaluation.own_numbers import require_linear
from tuner.fit.learners.steps import learning_rate
from tuner.io.run_folder import read_told
from tuner.io.terminal import Display
from tuner.options.option import no_use, refuse
from tuner.options.selfplay import NETWORK_SECTION, NetworkOptions, NetworkSettings
from tuner.parallel import Running
from tuner.play.selfplay.folder import START, Folder
from tuner.play.selfplay.measure import WITH_DICE, Measurement
from tuner.play.selfplay.run import Batch, LearningRun
from tuner.play.selfplay.settings import with_measuring

GAMES, HIDDEN = 200_000, (40,)  # unless given
MAX_PLIES = 2000  # plies of a game: an untrained network needs some hundred
# the learning rate, of networks that learn from wins only and from points,
RATES = {
    True: 0.3,
    False: 1.0,
}
SINGLE_RATE = 0.1  # and of a single neuron, which larger ones spoil
# lines of the history, about; games of a line, at least and at most
BATCHES, SMALLEST_BATCH, LARGEST_BATCH = 200, 50, 1000


class NetworkLearning:
    """A network that learns, as the folder of a run saves it, see
    `tuner.play.selfplay.folder.SavedLearning`."""

    def __init__(self, start: NetworkEvaluation, settings: NetworkSettings) -> None:
        self._start, self.settings, self.batches = start, settings, 0
        self._learner = self._begun(start.network, 0)

    @property
    def game(self) -> Game:
        return self._start.game

    @property
    def games(self) -> int:
        return self._learner.games

    @property
    def file(self) -> NetworkFile:
        """The present network; `origin` names no games yet."""
        network = self._learner.network
        return replace(
            self._start.file,
            network=network.with_flat(network.flat().astype(np.float32)),
            points=1 if self.settings.wins else self._start.game.points,
        )

    @property
    def rate(self) -> float:
        """The learning rate of the next game."""
        settings = self.settings
        return learning_rate(settings.learning_rate, settings.floor, settings.half_life, self.games)

    def play(self, games: int) -> dict:
        """Play some games and learn from each; return what a line of the history says of them.
        InputError if the weights grew so large that nothing is learned any more."""
        learner, rate, before = self._learner, self.rate, self._learner.weights.copy()
        plies, learner.squares = learner.plies, 0.0  # sums that do not depend on earlier batches
        results, _ = learner.play(games)
        self.batches += 1
        if not np.isfinite(learner.weights).all() or (learner.weights == before).all():
            raise InputError(
                f"--learning-rate {self.settings.learning_rate:g}: after {learner.games:,} games"
                " the weights are so large that nothing is learned any more; choose a smaller one"
            )
        plies = learner.plies - plies
        return {
            "batch": self.batches,
            "games": learner.games,
            "plies": plies / games,
            "broken_off": float((results == 0).mean()),
            "by_points": {
                str(points): float((abs(results) == points).mean())
                for points in range(1, self._start.game.points + 1)
            },
            "squares": learner.squares / max(plies - games, 1),
            "rate": rate,
        }

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that a checkpoint needs."""
        return {"weights": self._learner.weights, "games": np.array(self._learner.games)}

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""
        self._learner = self._begun(
            self._start.network.with_flat(saved["weights"]), int(saved["games"])
        )
        self.batches = int(saved["batches"])

    def _begun(self, network, played: int) -> TdLearner:
        settings = self.settings
        options = TdSettings(
            rate=settings.learning_rate,
            halving=settings.half_life,
            floor=settings.floor,
            lambda_=settings.lambda_,
            points=not settings.wins,
            seed=settings.seed,
            longest=MAX_PLIES,
        )
        return TdLearner(
            network, self._start.encoding, self._start.game.contest.whole_games, options, played
        )


def learns_online(folder: Path) -> bool:
    """Return whether the run in a folder learns after every ply."""
    told = read_told(folder)
    return told is not None and told.section == NETWORK_SECTION


def require_learnable(game: Game) -> None:
    """InputError for a game without dice, in which networks learn from batches of games."""
    if game.contest.whole_games is None:
        raise InputError(
            f"{game.name} has no dice, and this run learns one roll deep; begin a new run"
        )


def describes_new(given: Mapping[str, Any]) -> bool:
    """Return whether options describe a new network."""
    return bool(given.keys() & {"encoding", "inputs", "hidden"})


def start_of(params: str, given: Mapping[str, Any], terms: Sequence[str] = ()) -> Evaluation:
    """Return the evaluation that a new run begins with: from a file, or with --hidden or
    --encoding a new network of the game `params`. InputError if there is neither."""
    options = NetworkOptions(**given)
    if describes_new(given):
        refuse((f"--terms {file}", True, "a network has no terms") for file in terms)
        return _new(params, options)
    new = "describes a new network, as --hidden, --encoding and --inputs do"
    refuse((("--activation", options.activation is not None, new),))
    try:
        path = parameter_path(params)
    except InputError:
        if params in available():
            raise InputError(
                f"{params}: a game; for a new network add --encoding or --hidden, for weights name"
                f" a parameter file such as {params}/zero"
            ) from None
        raise
    require_linear(path, (f"--terms {file}" for file in terms))
    return load_evaluation(path, terms)


def _new(params: str, options: NetworkOptions) -> NetworkEvaluation:
    """Return a random network of one output, a sigmoid."""
    if params not in available():
        raise InputError(
            "--hidden, --encoding and --inputs describe a new network, of a game; expected the"
            f" name of a game instead of {params}, such as backgammon"
        )
    game, encoding = find(params), chosen_encoding(params, options.encoding, options.inputs)
    hidden = HIDDEN if options.hidden is None else options.hidden
    activation = options.activation or ("sigmoid" if game.has_dice else "relu")
    layers = [*((width, activation) for width in hidden), (1, "sigmoid")]
    made = random_network(encoding.size, layers, options.seed)
    file = NetworkFile(
        params,
        encoding.name,
        made.with_flat(made.flat().astype(np.float32)),
        game.points,
        "a random network",
        game.scale,
    )
    return evaluation_of(file)


def network_settings(
    params: str, given: Mapping[str, Any], start: NetworkFile
) -> tuple[NetworkSettings, NetworkFile]:
    """Return the settings of a new run from `start_of` these, and the network with the points that
    it learns."""
    options, game = NetworkOptions(**given), find(start.game)
    if options.wins and in_points(start.points) and not describes_new(given):
        raise InputError(no_use("--wins", f"{params} learned points", "begin with a new network"))
    wins = options.wins or start.points < game.points
    start = replace(start, points=1 if wins else game.points)
    hidden = tuple(len(layer.biases) for layer in start.network.layers[:-1])
    values = {
        "games": GAMES,
        "learning_rate": RATES[wins] if hidden else SINGLE_RATE,
        **given,
        "start": params,
        "encoding": start.encoding,
        "hidden": hidden,
        "wins": wins,
        "activation": start.network.layers[0].activation if hidden else None,
        "program": program(),
    }
    batch = min(max(values["games"] // BATCHES, SMALLEST_BATCH), LARGEST_BATCH)
    return make(NetworkSettings, with_measuring({**values, "batch": batch}, WITH_DICE)), start


class NetworkRun(LearningRun):
    """Self-play that learns a network, in one thread. `start` is what a new run begins with."""

    section, kind, program = NETWORK_SECTION, NetworkSettings, "program"
    learned, doing = NET, "learning"
    learner: NetworkLearning

    def __init__(
        self,
        settings: NetworkSettings,
        output: Path | None,
        display: Display,
        start: NetworkFile | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self._start = start

    def require_output(self, folder: Path | None) -> None:
        """See `Run`."""
        if self.output is not None:
            require_network_writable(
                self.output, (self.settings.start, *self.settings.measure), folder
            )

    def load(self, folder: Path | None) -> str:
        """See `Run`. InputError for a game without dice."""
        if folder is not None:
            self._begin(folder)
        self.game = find(self._start.game) if self._start else self.learner.game
        require_learnable(self.game)
        self.measurement = Measurement(self.game, self.settings) if self.settings.measure else None
        return program()

    def job(self) -> None:
        """See `Run`."""

    def place(self, folder: Path) -> None:
        """See `Run`."""
        assert self._start is not None, "of a new run"
        write_network(folder / START, self._start)
        self._begin(folder)

    def _begin(self, folder: Path) -> None:
        self.learner = NetworkLearning(network_evaluation(folder / START), self.settings)

    def games_file(self) -> None:
        """See `LearningRun`. The games are many, and the seed of the run gives them again."""

    def text(self) -> str:
        """See `LearningRun`."""
        return (
            f"TD(lambda), lambda {self.settings.lambda_:g}, {self._goal}, learning rate"
            f" {self.settings.learning_rate:g}, {plural(self.settings.games, 'game')}"
        )

    @property
    def _goal(self) -> str:
        return "wins only" if self.settings.wins else "points"

    def batches(
        self,
        files: Folder,
        last: dict[str, Any],
        playing: Running | None,
        interrupted: threading.Event,
    ) -> Iterator[Batch]:
        """See `LearningRun`."""
        settings, learner, seconds, games = self.settings, self.learner, 0.0, last["games"]
        while learner.games < settings.games and not interrupted.is_set():
            begun = time.monotonic()
            line = learner.play(min(settings.batch, settings.games - learner.games))
            seconds += time.monotonic() - begun
            self._speed = (learner.games - games) / max(seconds, 1e-3)
            yield line, "", []

    def now(self) -> NetworkEvaluation:
        """See `LearningRun`."""
        return evaluation_of(self.learner.file)

    def progress(self, line: dict[str, Any]) -> str:
        """See `LearningRun`."""
        return (
            f"{line['games']:,} games  {self._speed:,.0f} games/s  {line['plies']:.0f} plies  "
            f"mean squared TD error of v {line['squares']:.5f}"
        )

    def write(self, path: Path, line: dict[str, Any]) -> None:
        """Write the present network."""
        settings = self.settings
        origin = (
            f"{self.learner.games} games of self-play from {settings.start}, {self._goal}, seed"
            f" {settings.seed}"
        )
        write_network(path, replace(self.learner.file, origin=origin))

    def weights_file(self, path: Path) -> str | None:
        """See `LearningRun`."""
        return weights_path(path).name

    def match(self, path: Path) -> tuple[str, str]:
        """See `LearningRun`."""
        opponent = next(iter(self.game.contest.players), "random")
        return "see how strong it is", shlex.join(
            ["tuner", "match", str(path), opponent, "--games", "2000"]
        )
