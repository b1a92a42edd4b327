"""What a match found, for people and as plain data."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path

from games.contest import STALL
from games.record import Game
from tuner.match.entrants import RANDOM, PlayerSpec
from tuner.match.ladder import ladder_lines, row_of
from tuner.match.points_text import points_block, points_dict, signed
from tuner.match.result_text import result_block, result_dict
from tuner.match.settings import Settings
from tuner.match.setup import Contestants
from tuner.match.tally import Tally
from tuner.statistics.sprt import Sprt


@dataclass(frozen=True)
class Outcome:
    """What a match found: for people, as plain data, and whether it was broken off."""

    lines: list[str]
    plain: dict
    interrupted: bool


def progress_text(tally: Tally, test: Sprt | None, game: Game) -> str:
    """The score so far, in one line."""
    results = tally.results
    if game.points > 1:
        mean = sum(points * count for points, count in tally.games.items()) / max(results.games, 1)
        text = f"{results.games:,} games  {signed(mean)} points a game"
    else:
        text = f"{results.games:,} games  +{results.wins} -{results.losses} ={results.draws}"
    if test is not None:
        lower, upper = test.bounds
        text += f"  LLR {tally.llr:.2f} ({lower:.2f}, {upper:.2f})"
    return text


def first_forfeit_text(forfeit: str, players: tuple[PlayerSpec, PlayerSpec]) -> str:
    """A remark during the match, about the first game that a player lost by this fault: "a crash"."""
    side, _, kind = forfeit.partition(" ")
    player = players["ab".index(side)]
    return f"{player.name} lost a game by {kind}; the match continues{_forfeit_hint(kind, player)}"


def _forfeit_hint(kind: str, player: PlayerSpec) -> str:
    """What may be the reason why a player loses by a fault."""
    if kind == STALL and player.control.nodes is not None:
        return ". Some engines ignore a limit of nodes and search without end: give --depth or --movetime"
    return ""


def outcome_of(settings: Settings, contestants: Contestants, tallies: list[Tally], test: Sprt | None, folder: Path | None,
               pgn: Path | None, interrupted: bool) -> Outcome:
    """The result for people and as plain data."""
    tally, names = tallies[0], settings.names
    game = contestants.game
    lines, plain = result_of(tally, names, test, game, settings.judge)
    conditions = " : ".join(dict.fromkeys(settings.control(i).text for i in range(2)))
    lines[0] = f"{lines[0][:-1]} ({conditions}, {openings_text(settings, game)}):"
    plain |= {
        "control": [settings.control(0).text, settings.control(1).text], "openings": openings_text(settings, game),
        "seed": settings.seed, "plies": tally.plies, "ends": dict(sorted(tally.ends.items())),
        "forfeits": dict(sorted(tally.forfeits.items())), "interrupted": interrupted,
        "run": str(folder) if folder else None, "pgn": str(pgn) if pgn else None}
    if tally.decision:
        lines.append(f"{tally.decision} accepted")
    for forfeit, count in sorted(tally.forfeits.items()):
        side, _, kind = forfeit.partition(" ")
        hint = _forfeit_hint(kind, contestants.legs[0]["ab".index(side)])
        lines.append(f"Forfeits: {names['ab'.index(side)]} lost {count} by {kind}{hint}")
    if len(tallies) > 1 or (settings.plies and RANDOM in names):
        rows = ladder_of(contestants, tallies)
        plain["ladder"] = {"plies": settings.plies, "opponent": names[contestants.opponent], "rows": rows}
        lines += ["", *ladder_lines(rows, settings.plies, names[contestants.opponent],
                                    settings.control(1 - contestants.opponent).text)]
    if interrupted:
        lines.append("interrupted" + (f"; go on with: tuner match --resume {shlex.quote(str(folder))}" if folder else ""))
    return Outcome(lines, plain, interrupted)


def result_of(tally: Tally, names: tuple[str, str], test: Sprt | None, game: Game, judge: str | None) -> tuple[list[str], dict]:
    """Return the result as lines and as plain data: in Elo, or in points a game if games win several; `judge` measured luck."""
    if game.points > 1:
        return (points_block(tally.point_results, names, test, judge).splitlines(),
                points_dict(tally.point_results, names, test, judge))
    return result_block(tally.results, names, test).splitlines(), result_dict(tally.results, names, test)


def openings_text(settings: Settings, game: Game) -> str:
    if game.roll is not None:
        return "the same dice in both games of a pair"
    if settings.openings is not None:
        return Path(settings.openings).name
    if settings.random_plies == 0:
        return "initial position"
    return f"{settings.random_plies} random plies"


def ladder_of(contestants: Contestants, tallies: list[Tally]) -> list[dict]:
    """Wins of everybody against the same opponent."""
    rows = []
    for leg, tally in zip(contestants.legs, tallies, strict=True):
        results = tally.results
        wins = results.wins if contestants.opponent else results.losses
        rows.append(row_of(leg[1 - contestants.opponent].name, wins, results.games))
    return rows
