"""What `tuner improve` is told: a file of YAML, which its run keeps as its settings."""

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from games.system import split
from tuner.core.records import (
    Count,
    InputError,
    Number,
    Positive,
    PositiveCount,
    Scalar,
    Settings,
    convert,
)
from tuner.measured.copies import words_in
from tuner.measured.plan import EvalsPlan, SourceFiles, require_evals, require_sources
from tuner.options.match import EvenGames, EvenOrNone
from tuner.parameters.yaml_tree import convert_tree, flag_of, plain_as, read_tree

LIMITS = ("depth", "nodes", "movetime")
OWN = {  # options of the commands that a loop sets itself
    "play": "o output run resume games seed option json",
    "read": "o output engine source params minutes json",
    "learn": "o output run resume json",
}
WITH_FLAGS = ("play", "read", "learn")  # whose values may be true and false, not only texts
Setting: TypeAlias = Scalar | bool
ROUND_MINUTES = 20  # of a round, if the total is given: fewer games are mostly noise
USUAL_LIMIT = {"nodes": 5000}
MORE_NODES, MORE_PLIES = 4, 2  # of the final match: times the nodes, or plies deeper


@dataclass(frozen=True)
class Matches:
    """The matches of a round: at most `games` games against the previous version, until a
    sequential test between two differences of normalized Elo decides; games against the rest of the
    pool; and those after the rounds, which decide whether the last version is better, with a
    `limit` of their own."""

    games: EvenGames = 2000
    sprt: tuple[Number, Number] = (0.0, 10.0)
    pool_games: EvenOrNone = 200
    verdict_games: EvenGames = 4000
    limit: dict[str, Number] | None = None
    openings: str | None = None


@dataclass(frozen=True, kw_only=True)
class LoopPlan:
    """A loop. `plays` is the command of the engine that plays, and either `evals` of a program that
    evaluates, see `EvalsPlan`, or `rows` of one that prints rows of the `params`, in the folder
    once `build` has run there; `minutes` is about how long all rounds take,
    from which the numbers of games follow; `workers` games are played at once; `against` are more
    players of the pool; `results` is a file or folder of games of others, whose results teach in
    place of scores of own games; `options` belong to the engine; `read`, `learn` and `play` are
    more options of `tuner dataset`, `tuner tune` and `tuner games`."""

    plays: str
    source: SourceFiles
    build: str
    evals: str | None = None
    eval_line: str | None = None
    game: str = "chess"
    rows: str | None = None
    params: str | None = None
    minutes: Positive | None = None
    games: PositiveCount = 4000
    workers: PositiveCount | None = None
    limit: dict[str, Number] = field(default_factory=lambda: dict(USUAL_LIMIT))
    match: Matches = Matches()
    rounds: PositiveCount = 4
    against: list[str] = field(default_factory=list)
    results: str | None = None
    options: dict[str, Scalar] = field(default_factory=dict)
    play: dict[str, Setting] = field(default_factory=dict)
    read: dict[str, Setting] = field(default_factory=dict)
    learn: dict[str, Setting] = field(default_factory=dict)
    seed: Count = 1

    @property
    def measured(self) -> EvalsPlan | None:
        """What is measured, in place of rows that the engine prints."""
        if self.evals is None:
            return None
        own = {each.name: getattr(self, each.name) for each in fields(EvalsPlan)}
        return EvalsPlan(**own)

    @property
    def planned_rounds(self) -> int:
        """The rounds that have the time; more are played in time that these leave."""
        most = self.rounds
        return (
            most if self.minutes is None else min(max(int(self.minutes / ROUND_MINUTES), 1), most)
        )

    @property
    def match_limit(self) -> dict[str, float]:
        """The limit of the searches of the final match: deeper ones unless the plan says so, as
        gains of short searches may not hold."""
        deeper = {
            name: MORE_NODES * number if name == "nodes" else number + MORE_PLIES
            for name, number in self.limit.items()
        }
        return self.match.limit or deeper


@dataclass(frozen=True, kw_only=True)
class ImproveSettings(Settings):
    """The settings of a run: the plan as plain data with absolute paths, and the version of the
    program."""

    plan: dict
    program: str | None = None

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        try:
            require_possible(convert(self.plan, LoopPlan, "plan"), "plan")
        except InputError as problem:
            yield str(problem)


def read_plan(path: Path) -> dict:
    """Read a plan as plain data, its paths made absolute: they are relative to the file, and those
    of sources to their folder. InputError names file and line."""
    tree = read_tree(path)
    plan: LoopPlan = convert_tree(tree, LoopPlan, path)
    plain = plain_as(tree, LoopPlan)
    for name in WITH_FLAGS:
        if isinstance(part := plain.get(name), dict):
            plain[name] = {key: flag_of(value) for key, value in part.items()}
    place, base = str(path), Path(os.path.abspath(path)).parent
    require_one_length(plain, place)
    if plan.results is not None:
        plain["results"] = str(base / plan.results)
        plain.setdefault("rounds", 1)
    folder = base / plan.source.folder
    source = plain["source"] | {"folder": os.path.normpath(folder)}
    if plan.source.map is not None:
        source["map"] = str(base / plan.source.map)
    plain["source"] = source
    if plan.params is not None:
        plain["params"] = str(base / plan.params)
    if plan.match.openings is not None:
        plain["match"]["openings"] = str(base / plan.match.openings)
    require_possible(convert(plain, LoopPlan, place), place)
    return plain


def require_one_length(found: dict[str, Any], place: str) -> None:
    """InputError if a plan says both how long it takes and how many games it plays."""
    match = found.get("match", {})
    if found.get("results") is not None and (idle := sorted({"games", "play"} & set(found))):
        raise InputError(
            f"{place}: results and {idle[0]}: no own games are played to learn from; leave out one"
            " of the two"
        )
    numbers = [
        *({"games"} & set(found)),
        *(f"match.{k}" for k in ("games", "pool_games", "verdict_games") if k in match),
    ]
    if found.get("minutes") is not None and numbers:
        raise InputError(
            f"{place}: minutes and {numbers[0]}: numbers of games follow from the minutes; leave"
            " out one of the two"
        )


def require_possible(plan: LoopPlan, place: str) -> None:
    """InputError for values that no loop can have, and for files that are not there."""
    limits = (("limit", plan.limit, LIMITS[:2]), ("match.limit", plan.match_limit, LIMITS))
    for name, limit, known in limits:
        (kind, number), *more = limit.items() if limit else [("", 0.0)]
        if more or kind not in known or not number > 0 or kind != "movetime" and number % 1:
            raise InputError(
                f"{place}: {name} is {dict(limit)}, expected one of {', '.join(known)} and a"
                " number, such as {depth: 6}"
            )
    if not plan.match.sprt[0] < plan.match.sprt[1]:
        raise InputError(
            f"{place}: match.sprt is {list(plan.match.sprt)}, expected the smaller difference first"
        )
    for key, own in OWN.items():
        for name in getattr(plan, key):
            short = str(name).strip("-").replace("-", "_")
            if any(each.startswith(short) for each in own.split()):
                raise InputError(f"{place}: {key}: the loop itself sets {name}; leave it out")
    require_sources(plan.source, plan.build, place)
    if plan.measured is not None:
        for name in ("rows", "params"):
            if getattr(plan, name) is not None:
                raise InputError(
                    f"{place}: evals and {name}: counts are measured, or printed as rows; leave out"
                    " one of the two"
                )
        if plan.source.flip or "not_linear" in plan.read:
            raise InputError(f"{place}: flip and not_linear have no use with evals; leave them out")
        require_evals(plan.measured, place)
    elif plan.rows is None or plan.params is None:
        raise InputError(
            f"{place}: expected evals, a program that evaluates, or rows and params, a program that"
            " prints rows and what they count"
        )
    named = {"params": plan.params, "results": plan.results}
    for name, file in {**named, "match.openings": plan.match.openings}.items():
        if file is not None and not os.path.exists(file):
            raise InputError(f"{place}: {name}: {file}: no such file")
    for name in ("plays", "rows"):
        text = getattr(plan, name)
        if text is None:
            continue
        try:
            empty = not split(player_of(text)[1])
        except ValueError as problem:
            raise InputError(f"{place}: {name}: {text}: {str(problem).lower()}") from None
        if empty:
            raise InputError(f"{place}: {name} is empty, expected a command")


def words_of(options: Mapping[str, Any]) -> list[str]:
    """Return options as words of a command: {prior: 20} is `--prior 20`, {flip: true} `--flip`."""
    words: list[str] = []
    for name, value in options.items():
        if value is not False and value is not None:
            number = f"{value:.15g}" if isinstance(value, float) else str(value)
            words += [f"--{name.replace('_', '-')}", *([] if value is True else [number])]
    return words


def player_of(text: str) -> tuple[str, str]:
    """Return the protocol and the command of `plays`: UCI unless it begins with another one."""
    head, colon, rest = text.partition(":")
    return (head, rest) if colon and head.isalpha() else ("uci", text)


def command_in(tree: Path, text: str) -> str:
    """Return a command with the files of a copy that it names, see `words_in`."""
    return shlex.join(words_in(tree, text))
