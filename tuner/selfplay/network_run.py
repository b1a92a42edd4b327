"""`tuner selfplay` of a network: TD(lambda) in compiled games against itself, from settings to a network file."""

from __future__ import annotations

import shlex
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from evalterms.encoding import encoding_named, encodings_of
from games.record import Game, find
from games.streams import InputError
from tuner.io.interrupt import interrupts
from tuner.io.progress import Display
from tuner.io.run_folder import HISTORY, begin_folder, begin_numbered, read_config, require_fresh, write_config
from tuner.networks.evaluation import NetworkEvaluation, network_evaluation
from tuner.networks.files import NetworkFile, require_network_writable, weights_path, write_network
from tuner.networks.model import random_network
from tuner.networks.selfplay import TdLearner, TdSettings
from tuner.networks.td import program
from tuner.selfplay.folder import START, Expected, Folder
from tuner.selfplay.measure import Measured, Measurement, player_of_network
from tuner.selfplay.network_settings import LONGEST, SECTION, NetworkSettings
from tuner.selfplay.run import WRITE_SECONDS, Result
from tuner.selfplay.settings import SECTION as SELFPLAY

NET = "net.yaml"


class NetworkLearning:
    """A network that learns, as the folder of a run saves it, see `tuner.selfplay.folder.Learning`."""

    def __init__(self, start: NetworkEvaluation, settings: NetworkSettings) -> None:
        self._start, self.settings, self.batches = start, settings, 0
        self._learner = self._begun(start.network, 0)

    @property
    def games(self) -> int:
        return self._learner.games

    @property
    def file(self) -> NetworkFile:
        """The network of now; `origin` names no games yet."""
        network = self._learner.network
        return replace(self._start.file, network=network.with_flat(network.flat().astype(np.float32)),
                       points=1 if self.settings.wins else self._start.game.points)

    @property
    def rate(self) -> float:
        """The learning rate of the next game."""
        return self.settings.rate * max(self.settings.floor, 1 / (1 + self.games / self.settings.decay))

    def play(self, games: int) -> dict:
        """Play some games and learn from each; return what a line of the history says of them. InputError if the weights grew
        so large that nothing is learned any more."""
        learner, rate, before = self._learner, self.rate, self._learner.weights.copy()
        plies, squares = learner.plies, learner.squares
        results, _ = learner.play(games)
        self.batches += 1
        if not np.isfinite(learner.weights).all() or (learner.weights == before).all():
            raise InputError(f"--learning-rate {self.settings.rate:g}: after {learner.games:,} games the weights are so large "
                             "that nothing is learned any more; choose a smaller one")
        plies, squares = learner.plies - plies, learner.squares - squares
        return {"batch": self.batches, "games": learner.games, "plies": plies / games,
                "broken_off": float((results == 0).mean()),
                "by_points": {str(points): float((abs(results) == points).mean())
                              for points in range(1, self._start.game.points + 1)},
                "squares": squares / max(plies - games, 1), "rate": rate}

    def arrays(self) -> dict[str, np.ndarray]:
        """Return all that a checkpoint needs."""
        return {"weights": self._learner.weights, "games": np.array(self._learner.games)}

    def expected(self, saved: dict[str, np.ndarray]) -> dict[str, Expected]:
        """Return what the arrays of a checkpoint have to be."""
        return {"weights": Expected(self._learner.weights.shape, "float32"), "games": Expected((), "i", 0)}

    def fault(self, saved: dict[str, np.ndarray], history: list[dict]) -> str | None:
        """Return what is wrong with a checkpoint, None if nothing is."""
        games = history[-1]["games"] if history else 0
        return None if saved["games"] == games else f"it has {int(saved['games']):,} games, {HISTORY} has {games:,}"

    def take(self, saved: dict[str, np.ndarray]) -> None:
        """Continue from a checkpoint."""
        self._learner = self._begun(self._start.network.with_flat(saved["weights"]), int(saved["games"]))
        self.batches = int(saved["batches"])

    def _begun(self, network, played: int) -> TdLearner:
        settings = self.settings
        options = TdSettings(rate=settings.rate, halving=settings.decay, floor=settings.floor, lambda_=settings.trace,
                             points=not settings.wins, seed=settings.seed, longest=LONGEST)
        return TdLearner(network, self._start.encoding, self._start.game.whole_games, options, played)


def require_learnable(game: Game) -> None:
    """InputError for a game whose networks do not learn in self-play."""
    if game.whole_games is None:
        instead = "learn one from games with tuner network" if encodings_of(game.name) else f"{game.name} has no networks yet"
        raise InputError(f"{game.name} has no dice, and networks learn in self-play one roll deep; {instead}")


def new_network(game: Game, encoding: str, hidden: tuple[int, ...], activation: str, seed: int) -> NetworkFile:
    """Return a random network of one output, a sigmoid."""
    layers = [*((width, activation) for width in hidden), (1, "sigmoid")]
    made = random_network(encoding_named(game.name, encoding).size, layers, seed)
    return NetworkFile(game.name, encoding, made.with_flat(made.flat().astype(np.float32)), game.points, "a random network",
                       game.scale)


def new_run(settings: NetworkSettings, start: NetworkFile, folder: Path | None, output: Path | None, command: str,
            display: Display) -> Result:
    """Start a run in a new folder (None: selfplay-1, or the next free number) from a network; the `command` is recorded there."""
    if folder is not None:
        require_fresh(folder, SELFPLAY)
    _require_output(output, folder, settings)
    display.begin("starting")
    game = find(start.game)
    require_learnable(game)
    measurement = _measurement(settings, game)
    folder = begin_folder(folder, SELFPLAY) if folder else begin_numbered(SELFPLAY, SELFPLAY)
    write_network(folder / START, start)
    write_config(folder, SECTION, settings, command)
    return _run(settings, game, measurement, folder, output, display)


def resumed_run(folder: Path, output: Path | None, games: int | None, display: Display) -> Result:
    """Continue the run in a folder; `games` sets a new total."""
    settings = read_config(folder, SECTION, NetworkSettings)
    _require_output(output, folder, settings)
    display.begin("starting")
    if games is not None:
        settings = replace(settings, games=games)
    if settings.program != program():
        display.note("the program or the machine is not the one that the run began with: games may differ from here on")
    game = network_evaluation(folder / START).game
    require_learnable(game)
    return _run(settings, game, _measurement(settings, game), folder, output, display)


def _measurement(settings: NetworkSettings, game: Game) -> Measurement | None:
    return Measurement(game, settings.measure, settings.measure_games, settings.measure_every, settings.seed) \
        if settings.measure else None


def _require_output(output: Path | None, folder: Path | None, settings: NetworkSettings) -> None:
    if output is not None:
        require_network_writable(output, (settings.start, settings.measure), folder)


def _run(settings: NetworkSettings, game: Game, measurement: Measurement | None, path: Path, output: Path | None,
         display: Display) -> Result:
    learning = NetworkLearning(network_evaluation(path / START), settings)
    folder = Folder(path, NET, (), display.note)
    started, written, interrupted = time.process_time(), time.monotonic(), False
    try:
        if folder.restore(learning):
            write_config(path, SECTION, settings)  # the number of games may have changed
        else:
            folder.checkpoint(learning)
        before = folder.history()
        spent, last = (before[-1]["cpu_seconds"], before[-1]) if before else (0.0, {"games": 0, "cpu_seconds": 0.0})
        first = learning.games
        if first:
            display.note(f"{first:,} games were played before")
        display.note(f"{settings_text(settings)}, in {path}")
        display.begin("learning", settings.games)
        seconds = 0.0
        with interrupts() as asked:
            while learning.games < settings.games and not asked.is_set():
                games = learning.games
                begun = time.monotonic()
                line = learning.play(min(settings.batch, settings.games - games))
                seconds += time.monotonic() - begun
                if measurement and measurement.due(games, learning.games, settings.games):
                    measured = measurement.of(player_of_network(learning.file, game))
                    line["measured"] = measured.plain
                    display.note(f"after {learning.games:,} games: {measured.text}")
                aside = measurement.seconds if measurement else 0.0
                line["cpu_seconds"] = round(spent + time.process_time() - started - aside, 3)
                folder.append(learning, line)
                last = line
                display.playing(progress_text(line, (learning.games - first) / max(seconds, 1e-3)), learning.games)
                if time.monotonic() - written > WRITE_SECONDS:
                    _write(path / NET, learning, path)
                    written = time.monotonic()
            interrupted = asked.is_set() and learning.games < settings.games
        _write(path / NET, learning, path)
        if output is not None:
            _write(output, learning, path)
    finally:
        folder.close()
    return _result(settings, game, last, path, output, interrupted)


def settings_text(settings: NetworkSettings) -> str:
    """Return the settings in a few words."""
    goal = "wins only" if settings.wins else "points"
    return f"TD(lambda), lambda {settings.trace:g}, {goal}, learning rate {settings.rate:g}, {settings.games:,} games"


def progress_text(line: dict, speed: float) -> str:
    """Return the state of a run as a progress line."""
    return (f"{line['games']:,} games  {speed:,.0f} games/s  {line['plies']:.0f} plies  "
            f"mean squared TD error of v {line['squares']:.5f}")


def _write(path: Path, learning: NetworkLearning, run: Path) -> None:
    """Write the network of now."""
    wins = "wins only" if learning.settings.wins else "points"
    origin = f"{learning.games} games of self-play from {learning.settings.start}, {wins}, seed {learning.settings.seed}"
    write_network(path, replace(learning.file, origin=origin))


def _result(settings: NetworkSettings, game: Game, last: dict, path: Path, output: Path | None, interrupted: bool) -> Result:
    net = output or path / NET
    plain = {"command": "selfplay", "folder": str(path), "output": str(net), "interrupted": interrupted, **last}
    lines = [f"learned from {last['games']:,} games in {last['cpu_seconds']:.1f} CPU s: {net} and {weights_path(net).name}"]
    if "measured" in last:
        found = last["measured"]
        lines.append(Measured(**found).text + f", {found['games']:,} games in pairs with the same dice")
    if interrupted:
        lines.append(f"interrupted; continue with: tuner selfplay --resume {shlex.quote(str(path))}")
    else:
        opponent = next(iter(game.matches.players), "random")
        plain["match"] = shlex.join(["tuner", "match", str(net), opponent, "--games", "2000"])
        lines.append(f"see how strong it is: {plain['match']}")
    return Result(lines, plain, interrupted)
