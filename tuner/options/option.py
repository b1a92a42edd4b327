"""Options as data: tables of them, or fields of records, become the parser of a command, and what
was typed is known; and the options that several commands share.

A table of a command is a sequence of options, of choices between options (`OneOf`), and of titles
(`Title`) of those that follow."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import Meta

from tuner.core.records import (
    Count,
    InputError,
    KeysOf,
    Number,
    Settings,
    Share,
    Unit,
    choices_of,
    convert,
    expected,
    has_numbers,
    parse,
    shown,
    types_of,
)
from tuner.io.files import QUIESCENCE

if TYPE_CHECKING:
    from games.record import ReadOptions


@dataclass(frozen=True)
class Option:
    """An option, or an argument if its first name has no dashes.

    `kind` is the type of its values, and `read` turns a text into one where the type does not say
    how, or raises ValueError; `default` is the value if it is not typed, unless a command computes
    another one; `dest` is the name of its value, `resume`: it may be given with --resume;
    `seldom`: only --help-all shows it; `former`: an earlier name, which no help shows. The
    other fields are those of argparse."""

    names: tuple[str, ...]
    help: str
    kind: Any = str
    default: Any = None
    metavar: str | tuple[str, ...] | None = None
    choices: Collection[Any] | None = None
    nargs: str | int | None = None
    action: str | None = None
    required: bool = False
    resume: bool = False
    dest: str = ""
    seldom: bool = False
    former: str = ""
    read: Callable[[str], Any] | None = None

    @property
    def name(self) -> str:
        """The name of the value."""
        return self.dest or self.names[-1].lstrip("-").replace("-", "_")

    @property
    def words(self) -> Collection[Any] | None:
        """The texts or numbers that may be given, if others may not."""
        return choices_of(self.kind) if self.choices is None else self.choices

    def add_to(self, group: argparse._ActionsContainer, everything: bool = True) -> None:
        """Add it to a parser, without its default: what is not typed has no value there. Its help
        is shown unless it is a seldom-used option and `everything` is False."""
        wanted = {
            "type": None if "store" in (self.action or "") else self.value_of,
            "metavar": self.metavar,
            "choices": self.words,
            "nargs": self.nargs,
            "action": self.action,
        }
        keywords: dict[str, Any] = {
            key: value for key, value in wanted.items() if value is not None
        }
        if self.names[0].startswith("-"):
            keywords |= {"required": self.required, "dest": self.name}
        shown = self.help if everything or not self.seldom else argparse.SUPPRESS
        keywords["default"] = argparse.SUPPRESS
        group.add_argument(*self.names, help=shown, **keywords)
        if self.former:
            group.add_argument(self.former, help=argparse.SUPPRESS, **keywords)

    def read_word(self, value: Any) -> Any:
        """Return a value of Python; a word of the command line that means another value is read,
        such as `none`. What it cannot mean stays, to be refused by its type."""
        if not isinstance(value, str) or self.read is None:
            return value
        try:
            return self.value_of(value)
        except InputError:
            return value

    def value_of(self, text: str) -> Any:
        """Return the value of a word of the command line; InputError for one that it cannot
        have."""
        name, kind = self.names[-1].strip("-"), self.kind
        if self.action == "append" or self.nargs is not None:  # one of several words
            kind = Number if has_numbers(kind) else str
        if self.read is None:
            texts = self.words is not None and not has_numbers(kind)
            return text if texts else parse(text, kind, name)
        try:
            return self.read(text)
        except ValueError:
            raise InputError(f"{name} is {shown(text)}, expected {expected(kind)}") from None


@dataclass(frozen=True)
class OneOf:
    """Options of which one may be given, or has to be if it is `required`."""

    options: Sequence[Option]
    required: bool = False


@dataclass(frozen=True)
class Title:
    """The title of the options that follow in the help."""

    title: str
    about: str | None = None


def flag(name: str, help: str) -> Option:
    """Return an option without a value: True if it is given."""
    return Option((name,), help, bool, False, action="store_true")


Table: TypeAlias = Sequence["Option | OneOf | Title"]


def option(
    help: str, default: Any = None, flags: str = "", anew: bool = False, **others: Any
) -> Any:
    """Return a field of a record that is an option, named after the field unless it has `flags`:
    `-o --output`. Its kind is the type of the field. `anew`: a run does not record it."""
    return field(
        default=default,
        metadata={
            "anew": anew,
            "option": lambda name, kind: Option(
                tuple(flags.split()) or (f"--{name.strip('_').replace('_', '-')}",),
                help,
                kind,
                default,
                dest=name,
                **others,
            ),
        },
    )


def as_field(known: Option) -> Any:
    """Return an option as a field of a record."""
    return field(default=known.default, metadata={"option": lambda name, kind: known})


def options_in(record: type, names: str = "") -> list[Option]:
    """Return the options among the fields of a record: all, or those named."""
    known: dict[str, Option] = {}
    kinds = types_of(record)
    for kind in reversed(
        record.__mro__
    ):  # a settings record may give a field a type and default that it has once it is known
        for each in vars(kind).get("__dataclass_fields__", {}).values():
            if "option" in each.metadata:
                known[each.name] = each.metadata["option"](each.name, kinds[each.name])
    return [known[name] for name in names.split()] if names else list(known.values())


def all_in(table: Table) -> Iterator[Option]:
    """Yield all options of a table."""
    for entry in table:
        if isinstance(entry, OneOf):
            yield from entry.options
        elif isinstance(entry, Option):
            yield entry


def add_to(parser: argparse.ArgumentParser, table: Table, everything: bool = True) -> None:
    """Add a table to the parser of a command; help shows seldom-used options if `everything`."""
    group: argparse._ActionsContainer = parser
    for entry in table:
        if isinstance(entry, Title):
            group = parser.add_argument_group(entry.title, entry.about)
        elif isinstance(entry, OneOf):
            only = group.add_mutually_exclusive_group(required=entry.required)
            for each in entry.options:
                each.add_to(only, everything)
        else:
            entry.add_to(group, everything)


@dataclass(frozen=True)
class OtherCommands:
    """All commands, for one that joins them: `require` raises InputError for words that no
    command has, `perform` returns the result of a command, of one that plays games after at most
    some seconds."""

    require: Callable[[Sequence[str]], object]
    perform: Callable[..., dict]  # (words, seconds)


class Arguments(argparse.Namespace):
    """What was typed: a value for each option of the command, `given` those that were typed, and
    `text`, the command, which runs and learned files record."""

    command: str
    json: bool
    commands: OtherCommands
    text: str
    table: Table
    given: Mapping[str, Any]

    def __init__(self, parsed: argparse.Namespace, text: str) -> None:
        usual = {each.name: each.default for each in all_in(parsed.table)}
        given = {name: value for name, value in vars(parsed).items() if name in usual}
        super().__init__(**{**usual, **vars(parsed), "text": text, "given": given})

    @classmethod
    def by_name(cls, table: Table, values: Mapping[str, Any], text: str) -> Arguments:
        """Return the arguments of a table that a program gives, with values of their types; None
        and False are not given. InputError for two of which one may be given."""
        given = {k: v for k, v in values.items() if v is not None and v is not False}
        for entry in table:
            if isinstance(entry, OneOf):
                two = [each.names[-1] for each in entry.options if each.name in given]
                if len(two) > 1:
                    raise InputError(f"{two[1]}: not allowed with {two[0]}")
        return cls(argparse.Namespace(table=table, **given), text)

    def given_for(self, record: type) -> dict[str, Any]:
        """Return the values that were typed of the options of a record."""
        given = {
            each.name: self.given[each.name]
            for each in options_in(record)
            if each.name in self.given
        }
        return {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
        }

    def typed(self, used: Collection[str] = ()) -> Iterator[Option]:
        """Yield the options that were typed with another value than their default, except those in
        `used`."""
        for each in all_in(self.table):
            if (
                each.name in self.given
                and each.name not in used
                and self.given[each.name] != each.default
            ):
                yield each

    def require_resumable(self) -> None:
        """InputError for options with --resume that would change the run that continues."""
        allowed = [each.names[-1] for each in all_in(self.table) if each.resume]
        for each in self.typed({"resume"}):
            if not each.resume:
                given = self.given[each.name]
                word = given[0] if isinstance(given, list) else given
                word = each.names[-1] if each.names[0].startswith("-") else word
                raise InputError(
                    f"{word}: a resumed run keeps its settings; with --resume only "
                    f"{', '.join(allowed[:-1])} and {allowed[-1]} can be given"
                )


def no_use(option: str, why: str, instead: str = "") -> str:
    """Return the sentence about an option, as it was written, that has no use here, and what might
    be done `instead` of leaving it out."""
    return f"{option}: {why}; leave it out" + (f", or {instead}" if instead else "")


def refuse(uses: Iterable[tuple[str, object, str]]) -> None:
    """InputError for the first option that has no use here: each as written, whether it was given,
    and why it has none."""
    for option, given, why in uses:
        if given:
            raise InputError(no_use(option, why))


def refuse_first(faults: Iterable[tuple[object, str]]) -> None:
    """InputError with the text of the first fault that there is."""
    for there, text in faults:
        if there:
            raise InputError(text)


MOST_HIDDEN, WIDEST = 7, 4096  # layers of a network, units of a layer
TimeControl = Annotated[
    tuple[Annotated[float, Meta(ge=0, lt=1e6)], ...],
    Meta(
        min_length=2,
        max_length=3,
        description="a time control in seconds, such as 10+0.1, or 40/10+0.1 for every 40 moves",
    ),
]
PliesRange = Annotated[
    tuple[Count, Count],
    Meta(description="FIRST:LAST, two numbers of plies in order, such as 10:50"),
]
Widths = Annotated[
    tuple[Annotated[int, Meta(ge=1, le=WIDEST)], ...],
    Meta(
        max_length=MOST_HIDDEN,
        description=f"a list of 1 to {MOST_HIDDEN} whole numbers from 1 to {WIDEST} such as 64 or"
        " 256,32, or 0 for none",
    ),
]


def plies_range(text: str) -> tuple[int, int]:
    """Parse FIRST:LAST, two numbers of plies in order."""
    first, _, last = text.partition(":")
    plies: tuple[int, int] = convert((int(first), int(last)), PliesRange, "")
    if plies[0] > plies[1]:
        raise ValueError("not in order")
    return plies


def widths(text: str) -> tuple[int, ...]:
    """Parse the widths of the hidden layers of a network."""
    sizes: tuple[int, ...] = convert(
        [] if text == "0" else [*map(int, text.split(","))], Widths, ""
    )
    return sizes


def time_control(text: str) -> tuple[float, ...]:
    """Parse BASE+INC, seconds of a game and for each move, or MOVES/BASE+INC."""
    moves, _, times = text.rpartition("/")
    base, _, increment = times.partition("+")
    numbers = (float(base), float(increment or 0), *([float(moves)] if moves else []))
    control: tuple[float, ...] = convert(numbers, TimeControl, "")
    clock_of(control)
    return control


def clock_of(tc: Sequence[float]) -> dict[str, float | None]:
    """Return the limits that a time control has. ValueError for a clock without time, and for a
    period that is no number of moves."""
    base, increment, moves = (*tc, None)[:3]
    if not base or moves is not None and (moves < 1 or moves % 1):
        raise ValueError(f"{tc} is no time control")
    return {"base": base, "increment": increment, "moves": None if moves is None else int(moves)}


def named_values(texts: Iterable[str], option: str) -> dict[str, str]:
    """Return the values by name of texts NAME=VALUE that were given to an option; InputError for
    another form."""
    values = {}
    for text in texts:
        name, separator, value = text.partition("=")
        if not separator or not name:
            raise InputError(f"{option} {text}: expected NAME=VALUE")
        values[name] = value
    return values


TERMS = Option(
    ("--terms",),
    "Python file with terms of your own (see evalterms/README.md); may be repeated",
    default=(),
    metavar="FILE",
    action="append",
)
JSON = Option(
    ("--json",),
    "print the result as one JSON object",
    default=False,
    action="store_true",
    resume=True,
)


def params(
    what: str = "parameter file, or a bundled one: classic, zero, ...", nargs: str | None = None
) -> Option:
    """Return the argument PARAMS."""
    return Option(("params",), what, metavar="PARAMS", nargs=nargs)


def output(what: str, metavar: str = "FILE", required: bool = False) -> Option:
    """Return -o; `what` is written there."""
    return Option(("-o", "--output"), what, metavar=metavar, required=required)


def resume(what: str, more: str = "") -> Option:
    """Return --resume; `what` continues."""
    return Option(("--resume",), f"continue {what} in this folder{more}", metavar="DIR")


def held_out(what: str, share: float) -> Option:
    """Return --held-out, by default a `share`; `what` is held out."""
    return Option(("--held-out",), f"{what} (default: {share:g})", Share, share, metavar="SHARE")


def seed() -> Any:
    """Return --seed as a field of a record."""
    return option("seed of all random choices (default: 1)", 1, metavar="N")


def device(default: str, what: str) -> Option:
    """Return --device; `what` runs there."""
    return Option(
        ("--device",),
        f"{what}: cpu, gpu (needs CuPy), or auto: a GPU if one is available (default: {default})",
        str,
        default,
        choices=KeysOf("tuner.fit.device.choose", "DEVICES", "auto"),
    )


def cluster(what: str) -> Option:
    """Return --cluster; `what` runs there."""
    return Option(
        ("--cluster",),
        f"{what} on the workers of a Dask scheduler, such as tcp://HOST:8786, or in N processes "
        "of this machine; needs evaltune[cluster], see docs/clusters-and-gpus.md",
        metavar="ADDRESS|local:N",
        resume=True,
    )


Gradient: TypeAlias = Literal["analytic", "finite-difference", "forward-difference"]
Step = Annotated[
    float, Meta(gt=1e-6, lt=1e4, description="a number between 1e-06 and 10000, such as 1")
]


def gradient() -> Any:
    """Return --gradient as a field of a record."""
    return option(
        "analytic (default), or differences of the evaluation itself, slow, a check of the analytic"
        " ones: finite-difference (central) or forward-difference",
        default="analytic",
        seldom=True,
    )


def step() -> Any:
    """Return --step as a field of a record."""
    return option(
        "step of the differences in centipawns (default: central 0.01, forward 1)",
        metavar="CP",
        seldom=True,
    )


@dataclass(frozen=True, kw_only=True)
class Reading(Settings):
    """The options that choose games and positions."""

    positions: Literal["auto", "all", "quiet", "resolve"] = option(
        "quiet: those whose quiescence search changes nothing; resolve: where the quiescence search"
        " ends; auto (default): the game's choice, for chess quiet positions of games and all"
        " labeled positions",
        default="auto",
    )
    quiescence: str | None = option(
        f"parameter file of that quiescence search (default: {QUIESCENCE})",
        metavar="PARAMS",
        seldom=True,
    )
    min_elo: Count = option("skip games if a player's Elo is below N", 0, metavar="N")
    skip_start: Count | None = option(
        "skip the first N plies of each game (default: the game's choice, 8 for chess)",
        metavar="N",
    )
    skip_end: Count = option("skip the last N plies of each game (default: 0)", 0, metavar="N")
    from_share: Unit = option(
        "skip the first SHARE of the plies of each game, 0 to 1 (default: 0)",
        0.0,
        metavar="SHARE",
        seldom=True,
    )
    ended: Literal["any", "won", "mate"] = option(
        "any game (default), games that were won, or that were won by the rules, as by mate",
        default="any",
        seldom=True,
    )
    per_game: Count | None = option(
        "keep at most N positions of each game, chosen at random", metavar="N"
    )
    duplicates: Literal["keep", "games", "positions"] = option(
        "remove repeated games (default), repeated positions too, or keep all",
        default="games",
    )
    strict: bool = option(
        "stop at the first bad game instead of skipping it", default=False, action="store_true"
    )
    seed: Count = seed()

    @property
    def judge(self) -> str:
        """The parameter file of the quiescence search."""
        return self.quiescence or QUIESCENCE

    @property
    def reading(self) -> ReadOptions:
        """The same for readers of games."""
        from games.record import ReadOptions

        return ReadOptions(
            self.positions,
            None,
            self.min_elo,
            self.skip_start,
            self.skip_end,
            self.from_share,
            self.ended,
            self.per_game or 0,
            self.duplicates,
            self.strict,
            self.seed,
        )


READING: Table = (Title("which games and positions to read"), *options_in(Reading))


def workers(what: str = "threads", resume: bool = False) -> Any:
    """Return --workers as a field of a record, by default one per CPU."""
    return option(f"{what} (default: one per CPU)", metavar="N", anew=True, resume=resume)


def resign(usual: str) -> Any:
    """Return --resign as a field of a record; `usual` is its default."""
    return option(
        "movecount=3 score=400: a player resigns after 3 moves in a row with scores of -400"
        " centipawns or less; twosided=true: and if the opponent's scores between them are as high"
        f" (default: {usual})",
        nargs="+",
        metavar="NAME=N",
    )


def draw(usual: str) -> Any:
    """Return --draw as a field of a record; `usual` is its default."""
    return option(
        "movenumber=40 movecount=8 score=20: from move 40 on, a draw after 8 moves of each side on"
        f" which all scores are within 20 centipawns (default: {usual})",
        nargs="+",
        metavar="NAME=N",
    )
