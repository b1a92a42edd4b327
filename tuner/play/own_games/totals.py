"""What the games of a folder add up to, for people."""

from __future__ import annotations

from games.record import PLIES, RULES
from tuner.options.games import GamesSettings
from tuner.play.adjudication import BY_SCORES, DRAW, ENDING, ENDS, RESIGN, TABLES
from tuner.play.own_games.parts import DRAWN, REVERSED, SAME, Counts
from tuner.statistics.intervals import wilson_interval

ENDED = {
    RULES: "by the rules of the game",
    RESIGN: "resigned",
    DRAW: "drawn by scores",
    ENDING: "drawn endings",
    TABLES: "by tables",
    PLIES: "drawn at the greatest length",
}


def counts_lines(counts: Counts, settings: GamesSettings, sides: tuple[str, str]) -> list[str]:
    """Return the results of games between these sides, how they ended, and a sentence about each
    rule that some games were played on to check."""
    games = counts["games"][0]
    if not games:
        return []
    wins, draws, losses = counts["outcomes"]
    ends = ((end, counts[f"end_{end.replace(' ', '_')}"][0]) for end in ENDS)
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
        for rule in BY_SCORES
        if sum(counts[f"checked_{rule}"])
    ]
    return lines


def dropped_lines(unfinished: int, repeated: int) -> list[str]:
    """Say how many games were played again, and why."""
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
    what = {RESIGN: "resignations", DRAW: "draws by scores", ENDING: "drawn endings"}[rule]
    others = [
        f"{found[DRAWN]:,} drawn" if found[DRAWN] else "",
        (
            f"{found[REVERSED]:,} won by the other side"
            if found[REVERSED] and rule == RESIGN
            else f"{found[REVERSED]:,} won"
            if found[REVERSED]
            else ""
        ),
    ]
    rest = ", " + " and ".join(filter(None, others)) + " instead" if found[SAME] < played else ""
    shallow = (
        f"; searches of {settings.control} also fail to win what is won"
        if rule == RESIGN and found[DRAWN]
        else ""
    )
    return (
        f"  adjudication   {found[SAME]:,} of {played:,} {what} that were played on ended so "
        f"({low:.1%} to {high:.1%} with 95 % confidence){rest}{shallow}"
    )


def progress_text(counts: Counts, rate: float) -> str:
    """Return the games so far as a progress line; `rate` is the number of games a second of this
    process."""
    games = counts["games"][0]
    draws = (
        f", {counts['outcomes'][1] / games:.0%} drawn, {counts['plies'][0] / games:.0f} plies a"
        " game"
        if games
        else ""
    )
    return f"{games:,} games saved, {rate:.1f} games a second{draws}"
