"""Calibration beside strength: what was learned expects of games that it plays against itself, and how strong it is."""

from __future__ import annotations

from tuner.report import run_charts
from tuner.report.formatting import calibration_question, known, number, signed, whole
from tuner.report.run import LearningRun, NetworkRun
from tuner.report.strength import measured_lines, points_text
from tuner.report.verdict import difference_text, seen_from, side_of, side_of_network

PLAYED = "played"  # of the findings of a run: see `tuner.diagnostics.played_calibration.calibration_of`
WINS_QUESTION = ("Predicted probabilities of winning against wins: dots on the diagonal are "
                 "calibrated.")
NEED_NOT_COST = ("Moves are chosen by differences between values of similar positions: an error that these positions share costs "
                 "no strength, so that calibration and strength are measured apart.")


def played_data(run: LearningRun | NetworkRun) -> dict | None:
    """Return the data of the section, None if no games were played for it."""
    found = run.findings.get(PLAYED)
    if not found:
        return None
    wins = run.points > 1 and run.settings.get("wins") is True
    question = WINS_QUESTION if wins else calibration_question(run.points)
    return {"charts": run_charts.calibration_charts({"after": found["bins"]}), "question": question,
            "held": None, "actual": "actual", "sides": [("after", found["bins"])], "note": games_text(found),
            "sentences": [*sentences(found, run.points, wins), NEED_NOT_COST], "strength": strength(run)}


def games_text(found: dict) -> str:
    """Say which games these are."""
    left = f" {whole(found['broken_off'])} more were broken off, without a result." if found["broken_off"] else ""
    return (f"{whole(found['games'])} games that what was learned played against itself after those of the run, and "
            f"{whole(found['positions'])} positions of them.{left}")


def sentences(found: dict, points: int, wins: bool = False) -> list[str]:
    """Say whether values predict results better than those of the start, how far they are off, and in
    which direction; in points, or, if `wins` were learned, in probabilities."""
    digits, noun, level = 3, *(("of its games", "½") if wins else ("points", "0"))
    unit = "points (a win is 1, a draw ½)" if points == 1 else "points"
    unit = "in the probability of winning" if wins else unit
    squared = "probabilities" if wins else "points"
    whole_file = [whole_file_text(found["squares"], squared)] if "squares" in found else []
    interval = f"[{number(found['low'], digits)}, {number(found['high'], digits)}]"
    chance = number(found["by_chance"], digits)
    lines = [*whole_file, f"Bins of the values are off by {number(found['error'], digits)} {unit} on "
             f"average {interval}. Values without any error would be off by about {chance} in so many "
             "games, by chance."]
    favoured = (f"the side that a value favours should have won {number(found['favoured'], digits)} {noun} "
                f"on average and won {number(found['won'], digits)}")
    low, high = found["excess_low"], found["excess_high"]
    value, least, most = (signed(end, digits) or "0" for end in (found["excess"], low, high))
    difference = f"difference {value} [{least}, {most}]"
    if known(low) and low > 0:
        lines.append(f"The values are too far from {level}: {favoured} ({difference}).")
    elif known(high) and high < 0:
        lines.append(f"The values are too close to {level}: {favoured} ({difference}).")
    else:
        lines.append(f"These games do not show whether values are too far from {level} or too close to "
                     f"it: {favoured} ({difference}).")
    return lines


def whole_file_text(squares: dict, unit: str) -> str:
    """Say whether the file as a whole predicts results better than the one that the run started from."""
    low, high = squares["low"], squares["high"]
    said = "As a whole the learned weights predict the results of these games"
    if known(high) and high < 0:
        said += " better than"
    elif known(low) and low > 0:
        said += " worse than"
    else:
        said = ("These games do not show whether the learned weights as a whole predict results better "
                "than")
    change, least, most = (signed(end, 3) or "0" for end in (squares["change"], low, high))
    return (f"{said} those of the start: mean square error {number(squares['before'], 3)} before, "
            f"{number(squares['after'], 3)} after, change {change} [{least}, {most}], in {unit} squared.")


def strength(run: LearningRun | NetworkRun) -> list[tuple[str, str]]:
    """Return opponents of what was learned with the measured difference, of the last measurement of the run and of the matches of
    the page."""
    lines = [(line["opponent"], f"{points_text(line)} points a game, {whole(line['games'])} games during the run")
             for line in measured_lines(run.history)[-1:]]
    for match in run.matches:
        side = side_of_network(run, match) if isinstance(run, NetworkRun) else side_of(run, match)
        if side is None:
            continue
        names, interval = seen_from(match, side)
        if text := difference_text(match.difference, interval):
            about = f" ({match.difference.about})" if match.difference.about else ""
            lines.append((names[1], f"{text}{about}, {whole(match.plain['games'])} games"))
    return lines
