"""The numbers to optimize, and the files that name them: lines of OpenBench, or weather-factory's
JSON."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from games.record import EngineOption, Game, find
from games.streams import InputError, one_line
from tuner.core import records
from tuner.core.records import Twice, convert, make, with_each_once
from tuner.evaluation.own_numbers import named_weights, weight_places, with_numbers
from tuner.export.numbers import rounded
from tuner.export.text import spsa_text
from tuner.io.files import read_whole
from tuner.options.match import (
    OPTIMIZE_GAMES,
    GameOptions,
    OptimizeOptions,
    OptimizeSettings,
)
from tuner.options.option import refuse_first
from tuner.options.parser import nearest
from tuner.parameters.parameters import DEFAULT_GAME, Parameters
from tuner.play.match.settings import match_settings
from tuner.play.players import EVALUATION, OURS, Named, understood

NUMBERS = "numbers.txt"  # the file in the folder of a run
LARGEST_FILE, MOST = 1 << 20, 1000  # bytes, and numbers
FORM = "name, int or float, value, min, max, c_end, r_end"
USUAL_RATE = 0.002  # r_end where a file has none, as OpenBench proposes
TRIES = 100  # to round two sides apart
SHOWN_DIGITS = 3  # digits of a step that a value that is no whole number keeps


class Number(NamedTuple):
    """A number to optimize, with the fields of a line of OpenBench: `value` is the given one,
    `step` the last perturbation (c_end), `rate` the last learning rate (r_end)."""

    name: str
    whole: bool
    value: float
    low: float
    high: float
    step: float
    rate: float = USUAL_RATE

    @property
    def digits(self) -> int:
        """Digits after the point of the values that are played."""
        return 0 if self.whole else max(0, SHOWN_DIGITS - 1 - math.floor(math.log10(self.step)))

    def text(self, value: float) -> str:
        """Return a value as it is given to a player, and written into files."""
        return f"{round(value, self.digits) + 0.0:.{self.digits}f}"  # not -0

    def rounded(self, value: float) -> float:
        """Return the nearest value that can be played."""
        nearest = float(self.text(value))
        return min(max(nearest, self.low), self.high)

    def line(self, value: float) -> str:
        """Return the line of OpenBench, with another value."""
        limits = ", ".join(
            f"{limit:.0f}" if self.whole else f"{limit:g}" for limit in (self.low, self.high)
        )
        kind = "int" if self.whole else "float"
        return f"{self.name}, {kind}, {self.text(value)}, {limits}, {self.step:g}, {self.rate:g}"


@dataclass(frozen=True)
class JsonNumber:
    """A number in the JSON of weather-factory."""

    value: records.Number
    min_value: records.Number
    max_value: records.Number
    step: records.Number


def read_numbers(path: Path) -> tuple[Number, ...]:
    """Read the numbers of a file; InputError names the line, or in JSON the number, that is
    wrong."""
    text = _text(path)
    of_json = text.lstrip().startswith("{")
    numbers: list[Number] = []
    seen: set[str] = set()
    for place, number in (_of_json if of_json else _of_lines)(path, text):
        if fault := next(_faults(number), None):
            raise InputError(f"{place}: {one_line(fault)}")
        if number.name in seen:
            raise InputError(f"{place}: {one_line(number.name)} is there twice; remove one")
        seen.add(number.name)
        numbers.append(number)
    if not 1 <= len(numbers) <= MOST:
        raise InputError(f"{path}: has {len(numbers):,} numbers, expected 1 to {MOST:,}: {FORM}")
    return tuple(numbers)


def _text(path: Path) -> str:
    try:
        return read_whole(path, LARGEST_FILE, "numbers to optimize").decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InputError(f"{path}: byte {problem.start}: not UTF-8, expected {FORM}") from None
    except OSError as problem:
        raise InputError(f"{path}: cannot be read: {problem.strerror}") from None


def _of_lines(path: Path, text: str) -> Iterator[tuple[str, Number]]:
    for line, words in enumerate(text.splitlines(), 1):
        if not words.strip() or words.lstrip().startswith("#"):
            continue
        place, fields = f"{path}:{line}", [field.strip() for field in words.split(",")]
        if len(fields) != len(Number._fields):
            raise InputError(
                f"{place}: {len(fields)} fields between commas, expected"
                f" {len(Number._fields)}: {FORM}"
            )
        if fields[1] not in ("int", "float"):
            raise InputError(f"{place}: {one_line(fields[1])[:40]!r}, expected int or float")
        values = []
        for name, field in zip(Number._fields[2:], fields[2:], strict=True):
            try:
                values.append(float(field))
            except ValueError:
                raise InputError(
                    f"{place}: {name} is {one_line(field)[:40]!r}, expected a number"
                ) from None
        yield place, Number(fields[0], fields[1] == "int", *values)


def _of_json(path: Path, text: str) -> Iterator[tuple[str, Number]]:
    try:
        plain = json.loads(text, object_pairs_hook=with_each_once)
    except json.JSONDecodeError as problem:
        raise InputError(f"{path}:{problem.lineno}: not JSON: {problem.msg}") from None
    except Twice as key:
        raise InputError(f"{path}: {one_line(str(key))} is there twice; remove one") from None
    except ValueError:
        raise InputError(f"{path}: a number has too many digits; write a shorter one") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; expected an object of numbers") from None
    for name, values in plain.items():
        place = f"{path}: {one_line(name)}"
        given: JsonNumber = convert(values, JsonNumber, place)
        limits = astuple(given)
        whole = all(isinstance(each, int) for each in limits[:3])
        yield place, Number(name, whole, *map(float, limits))


def _faults(number: Number) -> Iterator[str]:
    """Yield what is wrong with a number."""
    name, whole, value, low, high, step, rate = number
    if not name:
        yield "the name is empty"
    if "," in name or name.startswith("#"):
        yield f"{name}: its name has a comma, or begins with #, and cannot stand in a line"
    if not all(math.isfinite(each) and abs(each) <= 1e9 for each in number[2:]):
        yield f"{name}: expected numbers of at most 1e9"
    if whole and not all(each.is_integer() for each in (value, low, high)):
        yield f"{name} is an int, but value, min or max is no whole number; write float"
    if not low < high:
        yield f"{name}: min is {low:g} and max is {high:g}, expected the smaller first"
    if not low <= value <= high:
        yield f"{name}: value is {value:g}, expected a number from {low:g} to {high:g}"
    if not 1e-6 * (high - low) <= step <= high - low:
        yield (
            f"{name}: step (c_end) is {step:g}, expected more than 0 and at most"
            f" {high - low:g}, the range"
        )
    if not 0 < rate <= 1:
        yield f"{name}: rate (r_end) is {rate:g}, expected more than 0 and at most 1"


Values: TypeAlias = tuple[float, ...]


def rounded_apart(
    numbers: Sequence[Number], a: np.ndarray, b: np.ndarray, draws: np.random.Generator
) -> tuple[Values, Values]:
    """Return the values that both sides of a pair play with: whole numbers are rounded at random,
    both sides' by the same draws, so that on average they are what was proposed. Sides that are
    equal then are rounded again, since their games would tell nothing."""

    def rounded(side: np.ndarray, shares: np.ndarray) -> Values:
        return tuple(
            number.rounded(math.floor(value + share) if number.whole else value)
            for number, value, share in zip(numbers, side, shares, strict=True)
        )

    for _ in range(TRIES):
        shares = draws.random(len(numbers))
        sides = rounded(a, shares), rounded(b, shares)
        if sides[0] != sides[1]:
            break
    return sides


# options of engines that are no numbers of their play
FIXED = ("hash", "threads", "multipv", "move overhead", "skill level", "uci_elo", "usi_hash")
STEP_SHARE = 0.05  # of the range of an option, as OpenBench advises for c_end


def declared_options(named: Named, game: Game) -> Mapping[str, EngineOption]:
    """Start an engine and return the options that it declares; InputError for a player whose
    options cannot be asked for."""
    contest = game.contest
    if contest.evaluator is None or named.protocol_in(game) != contest.evaluating:
        raise InputError(
            f"{named.kind}:{named.what}: its options are not known; expected a"
            f" {contest.evaluating} engine, a parameter file or a network"
            if contest.evaluator is not None
            else f"{named.kind}:{named.what}: engines of {game.name} have no options; expected a"
            " parameter file"
        )
    engine = contest.evaluator(named.what, {})
    engine.close()
    return engine.options


def game_of(named: Named) -> Game:
    """Return the game of a player."""
    return find(named.game or DEFAULT_GAME)


def require_settable(
    numbers: Sequence[Number], player: str, file: Path, terms: Sequence[str]
) -> None:
    """InputError for a number that a player does not have, or that it refuses at a limit."""
    named = understood(player)
    game = game_of(named)
    if named.kind not in OURS:
        options = {name.lower(): each for name, each in declared_options(named, game).items()}
        names: dict[str, str] = {}
        for number in numbers:
            other = names.setdefault(number.name.lower(), number.name)
            if other != number.name:
                raise InputError(
                    f"{file}: {other} and {number.name} are one option of the engine; remove one"
                )
            _require_option(number, options, f"{file}: {number.name}")
        return
    parameters = _own_parameters(named, terms)
    constants = {constant.name for constant in game.contest.constants}
    for number in numbers:
        if number.name in constants and not number.whole:
            raise InputError(f"{file}: {number.name} takes whole numbers; write int")
    for limit in ("low", "value", "high"):
        values = {number.name: number.text(getattr(number, limit)) for number in numbers}
        with_numbers(game, parameters, values, f"{file}:")


def _require_option(number: Number, options: Mapping[str, EngineOption], place: str) -> None:
    option = options.get(number.name.lower())
    if option is None:
        known = [each.name for each in options.values()]
        raise InputError(
            f"{place}: the engine has no such option"
            + (nearest(number.name, known) or "; see tuner optimize PLAYER --list")
        )
    if option.kind == "spin":
        if not number.whole:
            raise InputError(f"{place}: the engine takes whole numbers here; write int")
        low, high = option.low, option.high
        if (low is not None and number.low < low) or (high is not None and number.high > high):
            raise InputError(
                f"{place}: min and max are {number.low:g} and {number.high:g}, but the engine takes"
                f" {low} to {high}"
            )
    elif option.kind != "string":
        raise InputError(f"{place}: is a {option.kind} option, expected one that is a number")


def _own_parameters(named: Named, terms: Sequence[str]) -> Parameters | None:
    if named.kind == EVALUATION:
        return named_weights(named.what, terms)
    raise InputError(f"{named.name} has no options; expected an engine or a parameter file")


def weight_names(numbers: Sequence[Number], player: str, terms: Sequence[str]) -> list[str]:
    """Return the names of the parameters of a file, such as material.knight, to which the weights
    among the numbers belong; none for another player."""
    named = understood(player)
    parameters = named_weights(named.what, terms) if named.kind == EVALUATION else None
    if parameters is None:
        return []
    places, labels = weight_places(parameters), parameters.layout.labels()
    columns = [places[number.name][1] for number in numbers if number.name in places]
    return list(dict.fromkeys(labels[column].partition("[")[0] for column in columns))


def list_text(player: str, terms: Sequence[str]) -> str:
    """Return lines of OpenBench for all numbers of a player, to begin a file from."""
    named = understood(player)
    game = game_of(named)
    if named.kind not in OURS:
        text = _listed(
            Number(
                option.name,
                True,
                float(option.default),
                float(low),
                float(high),
                max(1.0, round(STEP_SHARE * (high - low))),
            )
            for option in declared_options(named, game).values()
            if option.kind == "spin" and option.name.lower() not in FIXED
            if (low := option.low) is not None and (high := option.high) is not None
            if low < high and option.default.lstrip("+-").isdecimal()
        )
        if not text:
            raise InputError(
                f"{player}: has no option with a range (spin) to tune; let the engine have one for"
                " each number, such as `option name Tempo type spin default 10 min 0 max 50`"
            )
        return text
    parameters = _own_parameters(named, terms)
    constants = _listed(
        Number(each.name, True, *map(float, (each.value, each.low, each.high, each.step)))
        for each in game.contest.constants
    )
    return constants + (spsa_text(rounded(parameters)) if parameters is not None else "")


def _listed(numbers: Iterable[Number]) -> str:
    """Return a line of each number, a comment for those that --options would refuse."""
    return "".join(
        f"# {fault}\n"
        if (fault := next(_faults(number), None))
        else f"{number.line(number.value)}\n"
        for number in numbers
    )


GAIN = {False: 5.0, True: 0.05}  # by whether games win points


def optimize_settings(
    player: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> OptimizeSettings:
    """Return the settings of a new run; InputError for options that none can have, and for numbers
    that the player does not have."""
    options = OptimizeOptions(**given)
    if options.options is None:
        raise InputError(
            "optimize: expected --options FILE with the numbers; tuner optimize PLAYER --list"
            " prints one to begin from"
        )
    games = OPTIMIZE_GAMES if options.games is None else options.games
    each = 2 if options.opponent is None else 4
    refuse_first(
        (
            (
                games % each,
                f"--games {games}: expected a multiple of {each}, because games are played in"
                f" pairs{' against the opponent' if options.opponent else ''}",
            ),
        )
    )
    file = Path(options.options)
    numbers = read_numbers(file)
    files = tuple(map(str, terms))
    match = match_settings(
        player,
        options.opponent or player,
        {each.name: given[each.name] for each in fields(GameOptions) if each.name in given}
        | {"games": games},
        files,
    )
    require_settable(numbers, player, file, files)
    name = understood(player).name
    gain = options.gain or GAIN[match.model == "points"]
    return make(
        OptimizeSettings,
        vars(options)
        | vars(match)
        | {
            "names": (name, understood(options.opponent).name if options.opponent else name),
            "planned": games // each,
            "gain": gain,
        },
    )
