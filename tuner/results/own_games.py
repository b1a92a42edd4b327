"""The result of `tuner games`: how many games were played, and how they ended."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tuner.core.text import plural
from tuner.options.games import GamesSettings
from tuner.results.result import RunResult
from tuner.statistics.intervals import wilson_interval

Counts = dict[str, list[int]]  # of games, by the names that records of games have
SAME, DRAWN, REVERSED = 0, 1, 2  # how games that were played on ended, with their verdicts
RESIGNED = "resign"
CHECKED = {RESIGNED: "resignations", "draw": "draws by scores", "ending": "drawn endings"}
ENDED = {
    "rules": "by the rules of the game",
    RESIGNED: "resigned",
    "draw": "drawn by scores",
    "ending": "drawn endings",
    "tables": "by tables",
    "plies": "drawn by the move limit",
}


@dataclass(frozen=True, kw_only=True)
class OwnGames(RunResult):
    """Games that were played: `counts` of all that the folder has, `bytes` of their files, games a
    second of this process in `speed`, None if it played none. `sides` are what the game calls its
    players. Games were played again that an engine did not finish, or that were `repeated`. `tune`
    is the command that learns from them, if an evaluation played and the run was not
    interrupted."""

    settings: GamesSettings
    sides: tuple[str, str]
    counts: Counts
    bytes: int
    speed: float | None
    by_engine: bool
    unfinished: int
    repeated: int
    tune: str | None

    @property
    def folder(self) -> Path:
        """The folder of the run."""
        return Path(str(self.run))

    @property
    def games(self) -> int:
        """The number of games."""
        return self.counts["games"][0]

    def __repr__(self) -> str:
        return f"<OwnGames {self.run}: {plural(self.games, 'game')}>"

    def summary_lines(self) -> list[str]:
        """Return how the games ended, as lines of text."""
        again = dropped_lines(self.unfinished, self.repeated)
        return [*counts_lines(self.counts, self.settings, self.sides), *again]

    def found_lines(self) -> list[str]:
        """See `RunResult`."""
        speed = "" if self.speed is None else f", {self.speed:.1f} games a second"
        lines = [
            f"wrote {self.games:,} games to {self.run}: {self.bytes / 1e6:,.1f} MB{speed}",
            *self.summary_lines(),
        ]
        if self.tune is not None:
            lines.append(f"learn from them: {self.tune}")
        elif self.by_engine and not self.interrupted:
            lines.append(
                f"learn from them: tuner dataset {shlex.quote(str(self.run))} --engine COMMAND"
                " --params FILE -o ROWS, where COMMAND prints the feature counts of your engine"
            )
        return lines

    @property
    def result(self) -> dict[str, Any]:
        """See `RunResult`."""
        counts = {
            "total_plies" if key == "plies" else key: value[0] if len(value) == 1 else value
            for key, value in self.counts.items()
        }
        plain = {
            "command": "games",
            "folder": self.run,
            "run": self.run,
            "interrupted": self.interrupted,
            "bytes": self.bytes,
            **counts,
        }
        if self.by_engine:  # which is on both sides
            plain |= {"unfinished": self.unfinished, "repeated": self.repeated}
            del plain["own"]
        return plain | ({"tune": self.tune} if self.tune is not None else {})


def counts_lines(counts: Counts, settings: GamesSettings, sides: tuple[str, str]) -> list[str]:
    """Return the results of games between these sides, how they ended, and a sentence about each
    rule that some games were played on to check."""
    games = counts["games"][0]
    if not games:
        return []
    wins, draws, losses = counts["outcomes"]
    ends = ((end, counts[f"end_{end}"][0]) for end in ENDED)
    lines = [
        (
            f"  results        {wins:,} won by {sides[0]}, {losses:,} by {sides[1]}, {draws:,}"
            f" drawn, {counts['plies'][0] / games:.0f} plies a game"
        ),
        "  ended          "
        + ", ".join(f"{ENDED[end]} {number / games:.1%}" for end, number in ends if number),
    ]
    won, level, _ = counts["own"]
    if settings.noise:
        lines.append(
            f"  noise          the evaluation scored {(won + level / 2) / games:.1%} against its"
            " copies"
        )
    lines += [
        _checked(rule, counts[f"checked_{rule}"], settings)
        for rule in CHECKED
        if sum(counts[f"checked_{rule}"])
    ]
    return lines


def dropped_lines(unfinished: int, repeated: int) -> list[str]:
    """Return how many games were played again, and why, as lines of text."""
    parts = [
        f"{unfinished:,} that the engine did not finish" if unfinished else "",
        f"{repeated:,} the same as earlier ones" if repeated else "",
    ]
    text = ", ".join(filter(None, parts))
    return [f"  played again   {text}"] if text else []


def _checked(rule: str, found: list[int], settings: GamesSettings) -> str:
    """Return a sentence about the games that were played on after this rule had ended them."""
    played = sum(found)
    low, high = wilson_interval(found[SAME], played)
    others = [
        f"{found[DRAWN]:,} drawn" if found[DRAWN] else "",
        (
            f"{found[REVERSED]:,} won by the opponent"
            if found[REVERSED] and rule == RESIGNED
            else f"{found[REVERSED]:,} won"
            if found[REVERSED]
            else ""
        ),
    ]
    rest = ", " + " and ".join(filter(None, others)) + " instead" if found[SAME] < played else ""
    shallow = (
        f"; searches of {settings.control} can also fail to win won games"
        if rule == RESIGNED and found[DRAWN]
        else ""
    )
    return (
        f"  adjudication   {found[SAME]:,} of {played:,} {CHECKED[rule]} that were played on ended"
        f" so ({low:.1%} to {high:.1%} with 95 % confidence){rest}{shallow}"
    )
