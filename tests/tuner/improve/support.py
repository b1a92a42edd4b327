"""An engine as its author has it, and the commands that a loop performs, of which those that play,
count and learn are played by functions of a test."""

import math
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from unittest import mock

import yaml

from tuner.cli import perform
from tuner.evaluation.loading import load_parameters
from tuner.improve.plan import ImproveSettings, read_plan
from tuner.improve.rounds import ImproveRun
from tuner.io.terminal import Display
from tuner.options.option import OtherCommands
from tuner.parameters.writer import write_parameters
from tuner.play.run import new_run, resumed_run
from tuner.results.improved import Improved

EVAL = """\
// the numbers of an engine
const int PawnValue = 80;  // in centipawns
const int KnightValue = 300;
const int Tempo[1] = {10};
"""
PARAMS = """\
game: chess
scale: 0.003
stages: [all]
terms: rows
weights:
  material: {pawn: 0, knight: 0}
  tempo: {tempo: 0}
"""
BUILD = "printf '#!/bin/sh\\n' > myengine && cat src/eval.h >> myengine && chmod +x myengine"
BEST = {"material.pawn": 100.0, "material.knight": 330.0, "tempo.tempo": 20.0}


def write_engine(folder: Path, **changes: object) -> Path:
    """Write an engine's folder and the plan of its loop; return the plan."""
    (folder / "engine" / "src").mkdir(parents=True)
    (folder / "engine" / "src" / "eval.h").write_text(EVAL)
    (folder / "engine" / "notes.txt").write_text("mine")
    (folder / "start.yaml").write_text(PARAMS)
    (folder / "names.yaml").write_text(
        "material.pawn: PawnValue\nmaterial.knight: KnightValue\ntempo.tempo: Tempo\n"
    )
    plan = {
        "plays": "./myengine",
        "rows": "./myengine rows",
        "params": "start.yaml",
        "source": {"folder": "engine", "files": ["src/eval.h"], "map": "names.yaml"},
        "build": BUILD,
        "games": 100,
        "match": {"games": 400, "pool_games": 100, "verdict_games": 400},
        **changes,
    }
    path = folder / "improve.yaml"
    plan = {name: value for name, value in plan.items() if value is not None}
    path.write_text(yaml.safe_dump(plan, sort_keys=False))
    return path


def numbers_of(command: str) -> dict[str, float]:
    """The numbers of the engine that a player or a program of rows is."""
    path = Path(next(word for word in command.removeprefix("uci:").split() if "/" in word))
    lines = path.read_text("latin-1").splitlines()
    found = [float(line.split("=")[1].strip(" {;").split(";")[0].strip("}")) for line in lines[2:]]
    return dict(zip(BEST, found, strict=True))


def strength(numbers: dict[str, float]) -> float:
    """Elo, which falls with the distance from the best numbers."""
    return -sum((numbers[name] - best) ** 2 / 20 for name, best in BEST.items())


def pairs_of(elo: float, pairs: int) -> list[int]:
    """About the pentanomial that an Elo difference has on average."""
    p = 1 / (1 + 10 ** (-elo / 400))
    return [round(pairs * math.comb(4, k) * p**k * (1 - p) ** (4 - k)) for k in range(5)]


class Commands:
    """Commands as a loop performs them: games and rows are files, what is learned goes a share of
    the way to the best numbers, and matches end as strengths say. `interrupt` is called before
    each."""

    def __init__(
        self,
        learn: Callable[[int], float] = lambda number: 0.5,
        interrupt: Callable[[], None] = lambda: None,
        bias: float = 0.0,
    ) -> None:
        self.learn, self.interrupt, self.bias = learn, interrupt, bias
        self.words: list[list[str]] = []
        self.runs: dict[str, list[str]] = {}  # the commands of runs, by their folders

    def require(self, words: Sequence[str]) -> None:
        assert words[0] in ("games", "dataset", "tune", "match")

    def perform(self, words: Sequence[str], seconds: float = math.inf) -> dict:
        self.interrupt()
        self.words.append(list(words))
        option = dict(zip(words, words[1:], strict=False))
        if words[1] == "--resume":
            words = self.runs[words[2]]
            option = dict(zip(words, words[1:], strict=False)) | {"--games": option["--games"]}
        elif "--run" in option:
            self.runs[option["--run"]] = list(words)
        if words[0] == "export":
            return perform(words)
        if words[0] == "games":
            Path(option["--run"]).mkdir(exist_ok=True)
            return {"games": int(option["--games"])}
        if words[0] == "dataset":
            numbers = numbers_of(option["--engine"])
            wanted = load_parameters(option["--params"])
            fits = list(numbers.values()) == wanted.weights.ravel().tolist()
            return {
                "games": 100,
                "positions": 1000,
                "row_check": {"fits": fits},
                "remainder": {"share": 0.1, "rms": 4.0},
            }
        if words[0] == "tune":
            start = load_parameters(words[1])
            share = self.learn(int(Path(option["--run"]).parent.name.partition("-")[2]))
            end = list(BEST.values())
            weights = start.weights + share * (end - start.weights)
            Path(option["--run"]).mkdir()
            write_parameters(Path(option["-o"]), start.with_weights(weights))
            return {"positions": 1000}
        a, b = numbers_of(words[1]), words[2]
        elo = strength(a) - (strength(numbers_of(b)) if "/" in b else 0) - self.bias
        if "--run" in option:
            Path(option["--run"]).mkdir(exist_ok=True)
        return {"games": int(option["--games"]), "pentanomial": pairs_of(elo, 200)}


def run_of(words: Sequence[str]) -> str:
    """The folder of the run that a command begins or resumes; none for a match without one."""
    option = dict(zip(words, words[1:], strict=False))
    return option.get("--resume", option.get("--run", ""))


def improve(plan: Path | None, run: Path, commands: Commands, write: bool = False) -> Improved:
    """Run a loop, or go on with one."""

    def make(settings: ImproveSettings, output: Path | None, display: Display) -> ImproveRun:
        return ImproveRun(
            settings,
            output,
            display,
            OtherCommands(commands.require, commands.perform),
            write=write,
        )

    # the programs of these versions are files of numbers, which play nothing
    with mock.patch("tuner.improve.rounds.require_weights", return_value={}):
        if plan is None:
            return resumed_run(ImproveRun, run, None, None, Display(), make=make)
        settings = ImproveSettings(plan=read_plan(plan))
        return new_run(make(settings, None, Display()), run, None, "tuner improve improve.yaml")


def processes(folder: Path) -> list[str]:
    """The other processes that run in a folder, or whose command names it, and do not end soon."""
    for _ in range(50):
        if not (found := _processes(folder)):
            break
        time.sleep(0.1)
    return found


def _processes(folder: Path) -> list[str]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command = (place / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            if (
                place.name != str(os.getpid())
                and str(folder) in f"{command} {os.readlink(place / 'cwd')}"
            ):
                found.append(command)
        except OSError:
            continue
    return found
