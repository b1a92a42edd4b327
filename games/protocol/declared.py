"""What engines declare and print: their options, and static evaluations by patterns."""

from __future__ import annotations

import contextlib
import re

from games.evaluators import EngineOption, EvaluationPattern
from games.streams import InputError

NUMBER = r"([-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)"  # a group of a pattern
OPTION = re.compile(r"option name (.+?) type (spin|check|combo|button|string)(?: (.*))?")
FIELD = re.compile(r"(?:^| )(default|min|max|var) (.*?)(?= (?:default|min|max|var) |$)")


def compiled(pattern: EvaluationPattern) -> re.Pattern[bytes]:
    """Return the pattern for whole answers of many lines; InputError unless it has one group."""
    try:
        found = re.compile(pattern.regex.encode(), re.MULTILINE)
    except re.error as problem:
        raise InputError(f"{pattern.regex}: not a regular expression: {problem}") from None
    if found.groups != 1:
        raise InputError(f"{pattern.regex}: a pattern with {found.groups} groups, expected one group around the number, such as "
                         r"'Eval: ([-+0-9.]+)'")
    return found


def option_of(line: str) -> EngineOption | None:
    """Parse a line `option name ...`; None for what is not one."""
    match = OPTION.match(line.strip())
    if match is None:
        return None
    fields: dict[str, str] = {}
    choices = []
    for field in FIELD.finditer(match[3] or ""):
        if field[1] == "var":
            choices.append(field[2].strip())
        else:
            fields[field[1]] = field[2].strip()
    low, high = (_whole(fields.get(key)) for key in ("min", "max"))
    if match[2] == "spin" and (low is None or high is None or _whole(fields.get("default")) is None):
        return None
    return EngineOption(match[1].strip(), match[2], fields.get("default", ""), low, high, tuple(choices))


def _whole(text: str | None) -> int | None:
    with contextlib.suppress(ValueError, TypeError):
        return int(text or "")
    return None
