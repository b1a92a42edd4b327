"""Options as data: tables of them, or fields of records, become the parser of a command, and what
was typed is known.

A table of a command is a sequence of options, of choices between options (`OneOf`), and of titles
(`Title`) of those that follow."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

from games.streams import InputError
from tuner.core.records import Number, choices_of, expected, has_numbers, parse, shown, types_of


@dataclass(frozen=True)
class Option:
    """An option, or an argument if its first name has no dashes.

    `kind` is the type of its values, and `read` turns a text into one where the type does not say
    how, or raises ValueError; `default` is the value if it is not typed, unless a command computes
    another one; `dest` is the name of its value, `resume`: it may be given with --resume;
    `seldom`: only --help-all shows it; `former`: an earlier name, which no help shows. The
    the other fields are those of argparse."""

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

    def value_of(self, text: str) -> Any:
        """Return the value of a word of the command line; InputError for one that it cannot
        have."""
        name, kind = self.names[-1].strip("-").replace("-", "_"), self.kind
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
    command has, `perform` returns the result of a command, `parse` its arguments."""

    require: Callable[[Sequence[str]], None]
    perform: Callable[[Sequence[str]], dict]
    parse: Callable[[Sequence[str]], Arguments]


class Arguments(argparse.Namespace):
    """What was typed: a value for each option of the command, `given` those that were typed, and
    all `words`."""

    command: str
    json: bool
    commands: OtherCommands
    words: Sequence[str]
    table: Table
    given: Mapping[str, Any]

    def __init__(self, parsed: argparse.Namespace, words: Sequence[str]) -> None:
        usual = {each.name: each.default for each in all_in(parsed.table)}
        given = {name: value for name, value in vars(parsed).items() if name in usual}
        super().__init__(**{**usual, **vars(parsed), "words": words, "given": given})

    @cached_property
    def text(self) -> str:
        """The command as the user typed it; runs and learned files record it."""
        return "tuner " + shlex.join(self.words)

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
