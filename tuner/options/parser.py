"""The parser of the command line: argparse, with help that keeps commands as they are, and errors
of one line."""

import argparse
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn


class Help(argparse.HelpFormatter):
    """Help that wraps paragraphs, but not indented lines: these are commands."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n\n".join(
            (
                paragraph
                if "\n  " in f"\n{paragraph}"
                else textwrap.fill(" ".join(paragraph.split()), width)
            )
            for paragraph in text.strip("\n").split("\n\n")
        )


class Parser(argparse.ArgumentParser):
    """argparse, with errors of one line."""

    def error(self, message: str) -> NoReturn:
        from games.streams import one_line

        see = " See" if message.endswith("?") else "; see"
        self.exit(2, one_line(f"{self.prog}: {message}{see} {self.prog} --help") + "\n")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """Return the value of a word; an error with the sentence of the type for one that it does
        not have."""
        try:
            return (action.type or str)(arg_string)  # type: ignore[operator]
        except ValueError as problem:
            self.error(str(problem))

    def _check_value(self, action: argparse.Action, value: object) -> None:
        """An error for an empty value, or one that is none of the choices, with the nearest one or
        all of them."""
        if value == "" and action.option_strings:
            raise argparse.ArgumentError(action, "is empty; expected a value")
        if action.choices is None or value is argparse.SUPPRESS or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        raise argparse.ArgumentError(
            action,
            f"invalid choice: {value!r}"
            + (nearest(str(value), known) or f" (choose from {', '.join(known)})"),
        )

    def require_known_options(self, words: Iterable[str]) -> None:
        """An error for the first long option that this parser does not have;
        abbreviations are known."""
        options = [option for option in self._option_string_actions if option.startswith("--")]
        for word in words:
            name = word.partition("=")[0]
            if word == "--":
                return
            if word.startswith("--") and word.endswith("=--"):  # argparse takes it for no value
                self.error(f"argument {name}: '--' is no value")
            if (
                name.startswith("--")
                and " " not in name
                and not any(option.startswith(name) for option in options)
            ):
                self.error(f"no option {name}{nearest(name, options)}")


def nearest(word: str, known: Sequence[str]) -> str:
    """`; did you mean ...?` for the known word that is most like one that is not known, or
    nothing."""
    import difflib

    named = {name.lstrip("-"): name for name in known}  # all options begin alike
    matches = difflib.get_close_matches(word.lstrip("-"), named, 1)
    return f"; did you mean {named[matches[0]]}?" if matches else ""
