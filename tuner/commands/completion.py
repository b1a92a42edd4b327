"""Completion of the command line in shells, made by shtab from the parser."""

import argparse
from typing import Any

SHELLS = ("bash", "zsh", "tcsh", "fish")
# placeholders of files and folders in the usage of a command
FILES = (
    "FILE",
    "FILE.html",
    "POSITION|FILE",
    "FILE|FEN",
    "GAMES",
    "PLAN",
    "OUT",
    "NET.yaml",
    "SOURCE",
)
# of files, and of parameter files that are bundled
EVALUATIONS = ("PARAMS", "INITIAL", "LEARNED", "PLAYER", "A", "B")
FOLDERS = ("DIR", "RUN")


def completion_of(parser: argparse.ArgumentParser, shell: str) -> str:
    """The script that makes a shell complete the commands, options, choices and names of files of a
    whole parser."""
    import shtab

    kinds: dict[str, Any] = {
        **dict.fromkeys(FILES, shtab.FILE),
        **dict.fromkeys(FOLDERS, shtab.DIRECTORY),
        **dict.fromkeys(EVALUATIONS, _evaluations()),
    }
    _mark_files(parser, kinds)
    return shtab.complete(parser, shell)


def _evaluations() -> dict[str, Any]:
    """Return how shells complete names of bundled parameter files, and of files."""
    from tuner.io.files import bundled
    from tuner.parameters.parameters import DEFAULT_GAME

    names = " ".join(name.removeprefix(f"{DEFAULT_GAME}/") for name in bundled())
    return {
        "bash": "_tuner_evaluations",
        "zsh": f"_alternative 'bundled::({names})' 'files::_files'",
        "tcsh": "f",
        "fish": f"(echo {names} | string split ' '; __fish_complete_path)",
        "preamble": {
            "bash": f'_tuner_evaluations() {{ compgen -W "{names}" -- $1; compgen -f -- $1; }}'
        },
    }


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
