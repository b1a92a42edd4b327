"""Completion of the command line in shells, made by shtab from the parser."""

from __future__ import annotations

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh")
# placeholders of files and folders in the usage of a command
FILES = (
    "FILE",
    "FILE.html",
    "POSITION|FILE",
    "FILE|FEN",
    "GAMES",
    "PARAMS",
    "PLAN",
    "OUT",
    "INITIAL",
    "LEARNED",
    "PLAYER",
    "NET.yaml",
    "SOURCE",
    "A",
    "B",
)
FOLDERS = ("DIR", "RUN")


def completion_of(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that makes a shell complete the commands, options, choices and names of files of a
    whole parser."""
    import shtab

    kinds: dict[str, Any] = {
        **dict.fromkeys(FILES, shtab.FILE),
        **dict.fromkeys(FOLDERS, shtab.DIRECTORY),
    }
    _mark_files(parser, kinds)
    return shtab.complete(parser, shell)


def _mark_files(parser: argparse.ArgumentParser, kinds: dict[str, Any]) -> None:
    """Tell shtab which arguments are names of files and of folders, here and in all commands."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                _mark_files(command, kinds)
        elif action.metavar in kinds:
            action.complete = kinds[action.metavar]  # type: ignore[attr-defined]  # an attribute of shtab
        elif action.choices is not None:
            action.choices = list(action.choices)
