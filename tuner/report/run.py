"""Read a run folder as plain data, without changing it; damage is an error of one line."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from games.record import Game, Wording, available, find
from games.streams import InputError
from tuner.engine.loading import load_parameters, parameter_path
from tuner.io.run_folder import CONFIG, HISTORY, read_plain
from tuner.networks.evaluation import network_evaluation
from tuner.networks.files import NetworkFile
from tuner.parameters.align import aligned
from tuner.parameters.diff import Comparison, compare
from tuner.parameters.heading import heading_of
from tuner.parameters.parameters import Parameters, tapered, untapered
from tuner.report.findings_file import read_findings
from tuner.report.headroom_file import read_headroom
from tuner.report.history import read_history
from tuner.report.matches import Match, read_match
from tuner.report.schema import COUNT, MAYBE, NUMBER, TEXT, Each, Needed

TUNE, SELFPLAY, MATCH, NETWORK = "tune", "selfplay", "match", "network"
START, LEARNED, NET = "start.yaml", "params.yaml", "net.yaml"
MEASURED = {"opponent": Needed(TEXT), "points": Needed(NUMBER), "error": Needed(COUNT), "games": Needed(COUNT)}
LINES = {  # of the history of each kind
    TUNE: {"iteration": Needed(COUNT), "objective": Needed(MAYBE), "held_out": MAYBE, "cpu_seconds": COUNT},
    SELFPLAY: {"batch": Needed(COUNT), "games": Needed(COUNT), "values": Needed(Each(Needed(NUMBER))),
               **{name: COUNT for name in ("cpu_seconds", "draws", "broken_off", "plies", "duplicates", "squares", "step",
                                           "drift", "static")}, "measured": MEASURED},
    NETWORK: {"batch": Needed(COUNT), "games": Needed(COUNT), "by_points": Each(COUNT), "measured": MEASURED,
              **{name: COUNT for name in ("cpu_seconds", "broken_off", "plies", "squares", "rate")}}}


@dataclass(frozen=True)
class Run:
    """A run folder. `settings` are the options of its command. A match has no findings, and is itself the first of `matches`;
    every other run is a `LearningRun` or a `NetworkRun`."""

    folder: Path
    kind: str
    command: str
    version: str
    settings: dict
    history: list[dict]
    findings: dict
    matches: list[Match]


@dataclass(frozen=True)
class NetworkRun(Run):
    """A run of self-play that learned a network, `file`."""

    game: Game
    file: NetworkFile

    @property
    def points(self) -> int:
        """The most points that a game is won by."""
        return self.game.points


@dataclass(frozen=True)
class LearningRun(Run):
    """A run that learned weights. `started` is the source of the initial values if the folder has none."""

    game: Game | None  # None if its rules are not known
    comparison: Comparison
    started: str

    @property
    def can_play(self) -> bool:
        """Whether the learned file can play games by our search."""
        return (self.game is not None and self.game.contest is not None and self.game.searcher is not None
                and not self.learned.of_rows)

    @property
    def wording(self) -> Wording:
        """The words of the game."""
        return self.learned.wording

    @property
    def labelled(self) -> bool:
        """Whether the run learned from labelled positions, each a game of its own."""
        return (self.findings.get("result") or {}).get("labelled") is True

    @property
    def games_word(self) -> str:
        """What the games of the run are called."""
        return "positions" if self.labelled else "games"

    @property
    def points(self) -> int:
        """The most points that a game is won by."""
        return self.game.points if self.game is not None else 1

    @property
    def initial(self) -> Parameters:
        return self.comparison.files[0]

    @property
    def learned(self) -> Parameters:
        return self.comparison.files[1]


def read_run(folder: Path, match_folders: list[Path]) -> Run:
    """Read everything that a page shows; InputError for a folder without a run and for damaged files."""
    config = settings_of(folder)
    kind = next((kind for kind in (MATCH, SELFPLAY, TUNE, NETWORK) if isinstance(config.get(kind), dict)), None)
    if kind is None and isinstance(config.get("options"), dict):
        kind = TUNE
    if kind is None:
        raise InputError(f"{folder / CONFIG}: not the settings of a tune, selfplay or match run")
    settings = config[kind] if kind in config else config["options"]
    common = folder, kind, str(config.get("command", "")), str(config.get("version", "")), settings
    matches = [read_match(path) for path in match_folders]
    if kind == MATCH:
        return Run(*common, [], {}, [read_match(folder), *matches])
    history = read_history(folder / HISTORY, LINES[kind], torn=kind != TUNE)
    if kind == NETWORK:
        evaluation = network_evaluation(folder / NET)
        return NetworkRun(folder, SELFPLAY, *common[2:], history, {}, matches, evaluation.game, evaluation.file)
    path = folder / CONFIG
    terms = settings.get("terms")
    if terms is not None and not (isinstance(terms, list) and all(isinstance(term, str) for term in terms)):
        raise InputError(f"{path}: terms are {str(terms)[:40]}, expected a list of files")
    terms = terms or []
    learned = _parameters(folder / LEARNED, terms)
    start = config.get("start") or settings.get("start") or ""
    if not isinstance(start, str) or "\0" in start:
        raise InputError(f"{path}: start is {str(start)[:40]!r}, expected a parameter file")
    initial, started = _initial(folder, start, learned, terms)
    game = find(learned.game) if learned.game in available() else None
    findings = read_findings(folder) | read_headroom(folder)
    return LearningRun(*common, history, findings, matches, game, compare((initial, learned)), started)


def settings_of(folder: Path) -> dict:
    """The settings of the run in a folder, of whatever command."""
    try:
        plain = read_plain(folder / CONFIG)
    except (FileNotFoundError, NotADirectoryError):
        what = "holds no run" if folder.is_dir() else "no such folder"
        raise InputError(f"{folder}: {what} (no {CONFIG}); expected what tune, selfplay or match leave with --run") from None
    if not isinstance(plain, dict):
        raise InputError(f"{folder / CONFIG}: not the settings of a tune, selfplay or match run")
    return plain


def _parameters(path: Path, terms: list[str]) -> Parameters:
    if not path.exists():
        raise InputError(f"{path}: no such file; the run was not finished, or it was removed")
    return load_parameters(path, terms)


def _initial(folder: Path, start: str, learned: Parameters, terms: list[str]) -> tuple[Parameters, str]:
    """The initial values, with the stages of the learned ones; and their source if the folder has none, else an empty text."""
    path, started = folder / START, ""
    if not path.exists():
        try:
            path, started = parameter_path(start, learned.game), start
        except InputError:
            path = Path(start or START)
        if not path.exists():
            raise InputError(f"{folder / START}: no such file, and {start or 'a start'} does not exist either")
    heading = heading_of(path)
    if heading.game != learned.game:
        raise InputError(f"{path}:{heading.line}: game is {heading.game!r}, expected {learned.game}")
    initial = aligned(load_parameters(path, terms, add_missing=True), learned.layout)
    if initial.stages != learned.stages:
        initial = untapered(initial) if len(learned.stages) == 1 else tapered(initial, learned.stages)
    return initial, started
