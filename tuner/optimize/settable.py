"""What can be set in a player, options that an engine declares, weights and constants of our own
search; and the settings of an optimisation, what was given, and else what is usual for the game."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from games.record import EngineOption, Game, find
from games.streams import InputError
from tuner.evaluation.own_numbers import named_weights, weight_places, with_numbers
from tuner.export.numbers import rounded
from tuner.export.text import spsa_text
from tuner.optimize.numbers import Number, read_numbers
from tuner.options.optimize import DEFAULT_GAMES, OF_MATCH, OptimizeOptions, OptimizeSettings
from tuner.options.option import refuse_first, sensible
from tuner.options.parser import nearest
from tuner.parameters.parameters import DEFAULT_GAME, Parameters
from tuner.play.match.settings import settings_for as match_settings_for
from tuner.play.players import EVALUATION, OURS, Named, understood

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
        for number in numbers:
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
        return _listed(
            Number(
                option.name,
                True,
                float(option.default),
                low,
                high,
                max(1.0, round(STEP_SHARE * (high - low))),
            )
            for option in declared_options(named, game).values()
            if option.kind == "spin" and option.name.lower() not in FIXED
            if (low := option.low) is not None and (high := option.high) is not None
            if low < high and "," not in option.name and option.default.lstrip("+-").isdecimal()
        )
    parameters = _own_parameters(named, terms)
    constants = _listed(
        Number(each.name, True, each.value, each.low, each.high, each.step)
        for each in game.contest.constants
    )
    return constants + (spsa_text(rounded(parameters)) if parameters is not None else "")


def _listed(numbers: Iterable[Number]) -> str:
    return "".join(f"{number.line(number.value)}\n" for number in numbers)


GAIN = {False: 5.0, True: 0.05}  # by whether games win points


def settings_for(
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
    games = DEFAULT_GAMES if options.games is None else options.games
    each = 2 if options.opponent is None else 4
    refuse_first(
        (
            (
                games % each,
                f"--games {games}: expected a multiple of {each}, because games are played in"
                f" pairs{' against the opponent' if options.opponent else ''}",
            ),
            (
                options.match_games % 2,
                f"--match-games {options.match_games}: expected an even number, because games are"
                " played in pairs",
            ),
        )
    )
    file = Path(options.options)
    numbers = read_numbers(file)
    files = tuple(map(str, terms))
    match = match_settings_for(
        player,
        options.opponent or player,
        {name: given[name] for name in OF_MATCH.split() if name in given} | {"games": games},
        files,
    )
    require_settable(numbers, player, file, files)
    name = understood(player).name
    gain = options.gain or GAIN[match.model == "points"]
    return sensible(
        OptimizeSettings(
            **vars(match)
            | {
                "names": (name, understood(options.opponent).name if options.opponent else name),
                "method": options.method,
                "planned": games // each,
                "opponent": options.opponent,
                "match_games": options.match_games,
                "gain": gain,
            }
        )
    )
