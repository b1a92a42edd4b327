"""Read the folder of a run, without changing it: it may still be running. Damage is an error of one
line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from games.record import Game, Wording, available, find
from tuner.core.records import Amount, InputError, Number, Scalar, convert
from tuner.core.store import DATABASE, RESULT, read_record, read_records
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.evaluation.networks.evaluation import NetworkEvaluation, network_evaluation
from tuner.evaluation.networks.files import NetworkFile
from tuner.findings.matches import read_match
from tuner.io.run_folder import Told, read_told
from tuner.parameters.diff import Comparison, aligned, compare
from tuner.parameters.parameters import Parameters, staged
from tuner.parameters.reader import heading_of
from tuner.parameters.yaml_tree import read_tree
from tuner.results.fit import FINDINGS, Findings, Iteration, PlayedCalibration, Result
from tuner.results.match import MatchResult
from tuner.results.selfplay import NetworkBatch, WeightsBatch


def copies_of(match: MatchResult) -> tuple[Path | None, ...]:
    """Return the parameter files of the players of a match in its folder; None of others."""
    copies = (Path(str(match.run)) / entrant.copy for entrant in match.settings.entrants)
    return tuple(copy if copy.exists() else None for copy in copies)


def games_learned(match: MatchResult) -> tuple[float | None, ...]:
    """Return how many games the weights of both players were learned from; None if unknown."""
    return tuple(None if copy is None else _games_learned(copy) for copy in copies_of(match))


def _games_learned(path: Path) -> float | None:
    """How many games the weights of a parameter file were learned from; None if unknown."""
    root = read_tree(path).value
    learned = root["learned"].value if isinstance(root, dict) and "learned" in root else None
    games = learned.get("games") if isinstance(learned, dict) else None
    try:
        return float(games.value) if games and isinstance(games.value, str) else None
    except ValueError:
        return None


TUNE, SELFPLAY, MATCH, NETWORK = "tune", "selfplay", "match", "network"
START, LEARNED, NET = "start.yaml", "params.yaml", "net.yaml"
# of the history of each kind
LINES = {
    TUNE: Iteration,
    SELFPLAY: WeightsBatch,
    NETWORK: NetworkBatch,
}


@dataclass(frozen=True)
class ShownSettings:
    """The settings of a run on a page that learned; the last seven are of self-play."""

    start: str | None = None
    seed: Scalar | None = None
    terms: list[str] = field(default_factory=list)
    method: str | None = None
    depth: Amount | None = None
    nodes: Amount | None = None
    games: Amount | None = None
    lambda_: Number | None = None
    wins: bool = False
    blunders: str | None = None


@dataclass(frozen=True)
class ShownRun:
    """A run folder. `settings` are the options of its command. A match has no findings, and is
    itself the first of `matches`; every other run is a `LearningRun` or a `NetworkRun`."""

    folder: Path
    kind: str
    command: str
    version: str
    settings: dict
    history: list[Any]
    matches: list[MatchResult]
    beside: list[ShownRun] = field(default_factory=list, kw_only=True)  # on the same charts

    @cached_property
    def chosen(self) -> ShownSettings:
        """Its settings, of a run that learned; InputError for one of another kind."""
        return convert(self.settings, ShownSettings, str(self.folder / DATABASE), self.kind)


@dataclass(frozen=True)
class ShownNetworkRun(ShownRun):
    """A run of self-play that learned a network. `one_deep`: after every ply, one roll deep; else
    from batches of games."""

    game: Game
    file: NetworkFile
    one_deep: bool
    played: PlayedCalibration | None = None  # in games that the network plays

    @property
    def points(self) -> int:
        """The most points that a game is won by."""
        return self.game.points

    @property
    def path(self) -> Path:
        """The learned file."""
        return self.folder / NET

    @property
    def initial(self) -> NetworkEvaluation:
        """What it started from."""
        return network_evaluation(self.folder / START)


@dataclass(frozen=True)
class ShownLearningRun(ShownRun):
    """A run that learned weights. `started` is the source of the initial values if the folder has
    none."""

    game: Game | None  # None if its rules are not known
    comparison: Comparison
    started: str
    findings: Findings
    played: PlayedCalibration | None = None

    @cached_property
    def result(self) -> Result:
        """The result of the fit: from its findings, or else from the learned file."""
        learned = self.learned.learned
        return self.findings.result or (
            convert(learned, Result, str(self.folder / LEARNED), "learned")
            if self.kind == TUNE and isinstance(learned, dict)
            else Result()
        )

    @property
    def by_engine(self) -> bool:
        """Whether an engine played the games, in others' programs and with their limits."""
        return self.kind == SELFPLAY and not (self.chosen.depth or self.chosen.nodes)

    @property
    def can_play(self) -> bool:
        """Whether the learned file can play games by our search."""
        return (
            self.game is not None
            and self.game.contest.searcher is not None
            and not self.learned.of_rows
        )

    @property
    def wording(self) -> Wording:
        """The words of the game."""
        return self.learned.wording

    @property
    def labelled(self) -> bool:
        """Whether the run learned from labeled positions, each a game of its own."""
        return bool(self.result.labelled)

    @property
    def games_word(self) -> str:
        """What the games of the run are called."""
        return "positions" if self.labelled else "games"

    @property
    def points(self) -> int:
        """The most points that a game is won by."""
        return self.game.points if self.game is not None else 1

    @property
    def path(self) -> Path:
        """The learned file."""
        return self.folder / LEARNED

    @property
    def initial(self) -> Parameters:
        return self.comparison.files[0]

    @property
    def learned(self) -> Parameters:
        return self.comparison.files[1]


def read_run(folder: Path, match_folders: Sequence[Path], others: Sequence[Path] = ()) -> ShownRun:
    """Read everything for a page, with the runs of `others` on its charts; InputError for a folder
    without a run and for damaged files."""
    told = require_told(folder)
    kind = NETWORK if told.section == NETWORK else told.name
    if kind not in (MATCH, SELFPLAY, TUNE, NETWORK):
        raise InputError(
            f"{folder}: a run of `tuner {kind}`, expected one of tune, selfplay, match"
        )
    common = folder, kind, told.command, told.version, told.settings
    matches = [read_match(path) for path in match_folders]
    beside = [read_run(path, []) for path in others]
    if kind == MATCH:
        return ShownRun(*common, [], [read_match(folder), *matches])
    of_network = kind == NETWORK or kind == SELFPLAY and (folder / NET).exists()
    lines = LINES[NETWORK if of_network else kind]
    history: list[Any] = [
        convert(plain, lines, f"{folder / DATABASE}: {RESULT} {number}")
        for number, plain in enumerate(read_records(folder))
    ]
    if of_network:
        evaluation, common = network_evaluation(folder / NET), (folder, SELFPLAY, *common[2:])
        return ShownNetworkRun(
            *common,
            history,
            matches,
            evaluation.game,
            evaluation.file,
            kind == NETWORK,
            beside=beside,
        )
    chosen = ShownRun(*common, history, matches).chosen
    learned = _parameters(folder / LEARNED, chosen.terms)
    start = told.start or chosen.start or ""
    initial, started = _initial(folder, start, learned, chosen.terms)
    game = find(learned.game) if learned.game in available() else None
    return ShownLearningRun(
        *common,
        history,
        matches,
        game,
        compare((initial, learned)),
        started,
        read_findings(folder),
        beside=beside,
    )


def run_of(folder: Path, matches: Sequence[MatchResult] = ()) -> ShownRun:
    """Return a run that is no fit."""
    told = require_told(folder)
    return ShownRun(
        folder, told.section, told.command, told.version, told.settings, [], list(matches)
    )


def read_findings(folder: Path) -> Findings:
    """Read the findings of a run, of which parts may be missing; InputError if `tuner tune` did not
    write them."""
    return read_record(folder, FINDINGS, Findings) or Findings()


def require_told(folder: Path) -> Told:
    """Return what the run in a folder was told; InputError if there is none."""
    told = read_told(folder)
    if told is None:
        what = "holds no run" if folder.is_dir() else "no such folder"
        raise InputError(
            f"{folder}: {what} (no {DATABASE} with its settings); expected what tune, selfplay or"
            " match leave with --run"
        )
    return told


def _parameters(path: Path, terms: list[str]) -> Parameters:
    if not path.exists():
        raise InputError(f"{path}: no such file; the run was not finished, or it was removed")
    return load_parameters(path, terms)


def _initial(
    folder: Path, start: str, learned: Parameters, terms: list[str]
) -> tuple[Parameters, str]:
    """The initial values, with the stages of the learned ones; and their source if the folder has
    none, else an empty text."""
    path, started = folder / START, ""
    if not path.exists():
        try:
            path, started = parameter_path(start, learned.game), start
        except InputError:
            path = Path(start or START)
        if not path.exists():
            raise InputError(
                f"{folder / START}: no such file, and {start or 'a start'} does not exist either"
            )
    heading = heading_of(path)
    if heading.game != learned.game:
        raise InputError(
            f"{path}:{heading.line}: game is {heading.game!r}, expected {learned.game}"
        )
    initial = aligned(load_parameters(path, terms, add_missing=True), learned.layout)
    return staged(initial, learned.stages, learned.spans), started
