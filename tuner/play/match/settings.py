"""The settings of matches and of tournaments: values given for all players or for one, and
otherwise the usual values of the game."""

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from games.record import Game
from tuner.core.records import InputError, Positive, PositiveCount, convert, make, parse
from tuner.evaluation.loading import games_path
from tuner.io.files import read_whole, require_other
from tuner.io.run_folder import CHECKPOINTS
from tuner.options.match import (
    DEFAULT_GAMES,
    MatchOptions,
    MatchSettings,
    PairsOptions,
    TournamentOptions,
    TournamentSettings,
)
from tuner.options.option import clock_of, refuse_first, time_control
from tuner.play.match.setup import (
    AnySettings,
    game_of_players,
    hash_of,
    require_suitable,
    require_suitable_test,
    test_of,
    usual_of,
)
from tuner.play.players import introduced, names_of, options_of_file, understood
from tuner.statistics.ratings import FARTHEST

Settings = TypeVar("Settings", bound="AnySettings")


def with_files(settings: Settings) -> Settings:
    """Return the settings with the sha256 of files that games depend on and that are not copied."""
    paths = [*settings.terms, *([settings.openings] if settings.openings else [])]
    return replace(settings, files={os.path.abspath(path): hash_of(path) for path in paths})


def match_settings(
    a: str, b: str, given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> MatchSettings:
    """Return the settings of a new match between two players: values that were given, and otherwise
    the usual ones of their game. InputError for options that no match can have."""
    options = MatchOptions(**given)
    games = DEFAULT_GAMES if options.games is None and options.sprt is None else options.games
    refuse_first(
        (
            (
                options.openings is not None and options.random_plies is not None,
                "--random-plies and --openings: both choose openings; leave one out",
            ),
            *(
                (
                    getattr(options, f"depth_{side}") and getattr(options, f"nodes_{side}"),
                    f"--depth-{side} and --nodes-{side}: both limit a search; leave one out",
                )
                for side in "ab"
            ),
        )
    )
    if options.name_a is not None and options.name_a == options.name_b:
        raise InputError(f"both players have the name {options.name_a}; give another --name-b")
    of_file = [configured(text) for text in (a, b)]
    a, b = (player.text for player in of_file)
    game = game_of_players([understood(a), understood(b)])
    usual = usual_of(game)
    ladder = options.plies > 0 and any(player.rpartition("/")[2] == "random" for player in (a, b))
    settings = make(
        MatchSettings,
        {
            **_shared(options, game, terms),
            "a": a,
            "b": b,
            "names": (
                options.name_a or of_file[0].name or "",
                options.name_b or of_file[1].name or "",
            ),
            "games": games,
            "model": options.model or usual.model,
            **({"random_plies": 0} if ladder and options.random_plies is None else {}),
            "controls": tuple(
                control_of(
                    options,
                    {name: getattr(options, f"{name}_{side}") for name in ("depth", "nodes")},
                    usual.depth,
                )
                for side in "ab"
            ),
            "option_a": (
                *of_file[0].options,
                *_options_of(a, options.with_a, "--with", options.pgn),
                *options.option_a,
            ),
            "option_b": (
                *of_file[1].options,
                *_options_of(b, options.with_b, "--with-b", options.pgn),
                *options.option_b,
            ),
        },
    )
    require_suitable(settings, game)
    require_suitable_test(settings, game)
    test_of(settings, game)
    return with_files(settings)


def _shared(options: PairsOptions, game: Game, terms: Iterable[str | Path]) -> dict[str, Any]:
    """Return the settings that matches and tournaments share. Their paths hold whatever folder the
    run is resumed in."""
    openings, tables, usual = options.openings, options.syzygy, usual_of(game)
    return {
        **vars(options),
        "game": game.name,
        "openings": None if openings is None else games_path(str(openings), game.name),
        "syzygy": None if tables is None else os.path.abspath(os.path.expanduser(tables)),
        "terms": tuple(os.path.abspath(path) for path in terms),
        "luck": options.luck or usual.luck,
        "random_plies": (
            usual.random_plies if options.random_plies is None else options.random_plies
        ),
    }


def control_of(
    options: PairsOptions, own: dict[str, float | None], usual: int
) -> dict[str, float | None]:
    """Return the limits of a player's searches: its own if it has any, else the common ones."""
    if any(own.values()):
        return own
    both = {"depth": options.depth, "nodes": options.nodes, "movetime": options.movetime}
    given = {"margin": options.timemargin} if options.timemargin is not None else {}
    if given and options.tc is None and options.movetime is None:
        raise InputError("--timemargin: is for --tc and --movetime; give one of them")
    if options.byoyomi is not None:
        if options.tc is None:
            raise InputError("--byoyomi: follows the clock of --tc; give --tc too, or --movetime")
        given["byoyomi"] = options.byoyomi
    if options.tc is not None:
        try:
            both |= clock_of(options.tc)
        except ValueError as problem:
            raise InputError(f"--tc: {problem}") from None
    if any(both.values()):
        return both | given
    return both | {"depth": usual}


def _options_of(
    player: str, path: str | Path | None, option: str, pgn: str | Path | None
) -> tuple[str, ...]:
    """Return the options of an engine that a file sets."""
    if path is None:
        return ()
    if pgn is not None:
        require_other(Path(pgn), [str(path)])
    return options_of_file(player, Path(path), option)


LIMITS = {
    "depth": PositiveCount,
    "nodes": PositiveCount,
    "movetime": Positive,
    "byoyomi": Positive,
}
LARGEST_FILE = 1 << 20  # bytes of settings of engines
KEYS = ("name", "command", "protocol", "workingDirectory", "options")  # that are read there
OPTION, CLOCK, NAME = "option.", "tc", "name"
RATED, LIMITED = "UCI_Elo", "UCI_LimitStrength"  # options of UCI: a rating, and whether it applies
MOST_LEVELS = 100


class NamedPlayer(NamedTuple):
    """A player with its own name, limits and options of its engine, where it has some."""

    text: str
    name: str | None
    control: dict[str, float | None]
    options: tuple[str, ...]


def named_player(words: Sequence[str]) -> NamedPlayer:
    """Read a player and what follows it, such as `option.Hash=16 depth=5`; InputError for what is
    unknown."""
    text, name, _, own = configured(words[0])
    more, options = words[1:], list(own)
    control: dict[str, float | None] = {}
    for word in more:
        key, separator, value = word.partition("=")
        try:
            if key in LIMITS:
                control[key] = parse(value, LIMITS[key], key)
            elif key == CLOCK:
                control |= clock_of(time_control(value))
            elif key == NAME and value:
                name = value
            elif key.startswith(OPTION) and separator:
                options.append(word.removeprefix(OPTION))
            else:
                raise InputError(
                    f"--player {text} {word}: expected name=NAME, option.NAME=VALUE, tc=BASE+INC or"
                    f" one of {', '.join(f'{limit}=N' for limit in LIMITS)}"
                )
        except ValueError as problem:
            raise InputError(f"--player {text} {word}: {problem}") from None
    return NamedPlayer(text, name, control, tuple(options))


@dataclass(frozen=True)
class ConfiguredOption:
    """An option of an engine in a settings file."""

    name: str
    value: str | int | float | bool


@dataclass(frozen=True)
class ConfiguredEngine:
    """An engine in a settings file, as cutechess writes `engines.json`."""

    name: str
    command: str
    protocol: str = "uci"
    workingDirectory: str = ""
    options: tuple[ConfiguredOption, ...] = ()


def configured(text: str) -> NamedPlayer:
    """Return the player that FILE.json:NAME names in a settings file of engines, with its options;
    another player as it is. InputError for a file or an engine that is not there."""
    file, separator, name = text.rpartition(":")
    if not separator or not file.endswith(".json"):
        return NamedPlayer(text, None, {}, ())
    try:
        plain = json.loads(read_whole(Path(file), LARGEST_FILE, "settings of engines"))
    except OSError as problem:
        raise InputError(f"{file}: cannot be read: {problem.strerror}") from None
    except ValueError as problem:
        raise InputError(f"{file}: not JSON: {problem}; expected settings of engines") from None
    known = {}
    for number, one in enumerate(plain if isinstance(plain, list) else []):
        own = {key: one[key] for key in KEYS if key in one} if isinstance(one, dict) else one
        engine = convert(own, ConfiguredEngine, f"{file}: engine {number + 1}")
        known[engine.name] = engine
    if name not in known:
        raise InputError(f"{text}: {file} has {', '.join(known) or 'no engines'}, not {name!r}")
    engine, command = known[name], known[name].command
    if engine.workingDirectory:
        folder = shlex.quote(engine.workingDirectory)
        command = shlex.join(["sh", "-c", f"cd {folder} && exec {command}"])
    options = tuple(
        f"{each.name}={str(each.value).lower() if isinstance(each.value, bool) else each.value}"
        for each in engine.options
    )
    return NamedPlayer(f"{engine.protocol}:{command}", name, {}, options)


def players_of(text: str) -> list[tuple[str, str | None]]:
    """Return a player, or the checkpoints in the folder of a run of self-play, with names.
    InputError for a folder without any."""
    folder = Path(text)
    kept = [path for path in (folder / CHECKPOINTS).glob("*.yaml") if path.stem.isdecimal()]
    if not kept and folder.is_dir():
        try:
            understood(text)  # a folder may have the name of a player, such as of its own games
        except InputError:
            raise InputError(
                f"{text}: a folder without checkpoints; expected a player, such as"
                f" {folder / 'params.yaml'}, or a run of `tuner selfplay --measure PLAYER`, which"
                " keeps some"
            ) from None
    return [
        (str(path), f"{folder.name} {path.stem}")
        for path in sorted(kept, key=lambda path: int(path.stem))
    ] or [(text, None)]


def levels_of(player: str, levels: str) -> Iterator[tuple[NamedPlayer, str | None]]:
    """Yield the levels of a player, such as `depth=1:5` or `UCI_Elo=1400:2000:200`, each with its
    rating if the engine declares one."""
    name, _, numbers = levels.partition("=")
    parts = numbers.split(":")
    ok = name and 2 <= len(parts) <= 3 and all(part.lstrip("-").isdecimal() for part in parts)
    first, last, step = (*map(int, parts), 1)[:3] if ok else (0, -1, 1)
    if not ok or step < 1 or not 0 <= (last - first) // step < MOST_LEVELS:
        raise InputError(
            f"--ladder {player} {levels}: expected NAME=FROM:TO or NAME=FROM:TO:STEP with 1 to"
            f" {MOST_LEVELS} levels, such as depth=1:5 or UCI_Elo=1400:2400:200"
        )
    for level in range(first, last + 1, step):
        words = f"{name}={level}" if name in LIMITS else f"{OPTION}{name}={level}"
        rated = name == RATED
        entrant = named_player([player, words, *([f"{OPTION}{LIMITED}=true"] if rated else [])])
        called = f"{understood(player).name} {name} {level}"
        yield entrant._replace(name=called), f"{called}={level}" if rated else None


def tournament_settings(
    texts: Sequence[str], given: Mapping[str, Any], terms: Iterable[str | Path] = ()
) -> TournamentSettings:
    """Return the settings of a new tournament between players: values that were given, and
    otherwise the usual ones of their game. InputError for options that no tournament can have."""
    options = TournamentOptions(**given)
    entrants = [
        player._replace(name=name or player.name)
        for each in texts
        for text, name in players_of(each)
        for player in [configured(text)]
    ] + [named_player(words) for words in options.player]
    levels = list(levels_of(*options.ladder)) if options.ladder else []
    refuse_first(
        (
            (
                options.openings is not None and options.random_plies is not None,
                "--random-plies and --openings: both choose openings; leave one out",
            ),
            (
                levels and len(entrants) != 1,
                f"--ladder: places one player, found {len(entrants)}: name one more",
            ),
            (
                levels and (options.gauntlet or options.anchor),
                "--ladder: is a gauntlet with its own ratings; leave --gauntlet and --anchor out",
            ),
            (len(entrants) + len(levels) < 2, "tournament: expected two players or more"),
        )
    )
    entrants += [entrant for entrant, _ in levels]
    named = [understood(entrant.text) for entrant in entrants]
    game = game_of_players(named)
    usual = usual_of(game)
    usual_names = names_of([introduced(one, game) for one in named])
    names = tuple(entrant.name or usual_names[i] for i, entrant in enumerate(entrants))
    anchors = (*options.anchor, *(anchor for _, anchor in levels if anchor))
    settings = make(
        TournamentSettings,
        {
            **_shared(options, game, terms),
            "players": tuple(entrant.text for entrant in entrants),
            "names": names,
            "gauntlet": options.gauntlet or bool(levels),
            "anchor": anchors,
            "controls": tuple(
                control_of(options, entrant.control, usual.depth) for entrant in entrants
            ),
            "options": tuple(entrant.options for entrant in entrants),
        },
    )
    if double := next((name for name in names if names.count(name) > 1), None):
        raise InputError(f"{double}: the name of two players; name them with --player and name=")
    anchors_of(settings)
    require_suitable(settings, game)
    return with_files(settings)


def anchors_of(settings: TournamentSettings) -> dict[int, float]:
    """Return the ratings that are given, by the numbers of the players; InputError for another
    form."""
    anchors = {}
    for text in settings.anchor:
        name, _, value = text.rpartition("=")
        try:
            player, rating = settings.names.index(name), float(value)
        except ValueError:
            raise InputError(
                f"--anchor {text}: expected NAME=ELO with one of the names"
                f" {', '.join(settings.names)}"
            ) from None
        if not abs(rating) <= FARTHEST:
            raise InputError(
                f"--anchor {text}: expected a rating from {-FARTHEST:,.0f} to {FARTHEST:,.0f}"
            )
        anchors[player] = rating
    return anchors
