"""A measurement of headroom as lines of text for a terminal."""

from __future__ import annotations

from tuner.headroom.sentences import interval_text
from tuner.report.headroom_models import names_of

SHOWN = 10  # inputs of the trees
POSITIONS = 5


def lines_of(found: dict) -> list[str]:
    """Return the tables and sentences of a measurement."""
    names = names_of(found)
    width = max(map(len, names.values())) + 2
    gains = {gain["model"]: gain for gain in found["gains"]}
    lines = [f"{found['loss']} of {found['held_out_positions']:,} held-out positions ({found['held_out_games']:,} games); "
             f"values: {found['values']}"]
    for line in found["models"]:
        gain = gains.get(line["model"])
        lines.append(f"  {names[line['model']]:<{width}}{interval_text(line)}"
                     + (f"   gain {interval_text(gain)}" if gain else ""))
    if found.get("phases"):
        short = [name for name in ("start", "fit", "trees", "network") if name in found["phases"][0]]
        staged = "stage" in found["phases"][0]
        lines.append("by stage:" if staged else f"by the share of the first stage, {found['first_stage']}:")
        lines.append(f"  {'stage' if staged else 'share':<12}{'positions':>10}"
                     + "".join(f"{'file' if name == 'start' else name:>9}" for name in short) + f"   gain of the {short[-1]}")
        for line in found["phases"]:
            share = line["stage"] if staged else f"{line['from']:.2f}-{line['to']:.2f}"
            lines.append(f"  {share:<12}{line['positions']:>10,}"
                         + "".join(f"{line[name]:>9.4f}" for name in short) + f"   {interval_text(line['gains'][-1])}")
    if found.get("counts"):
        lines.append("what the trees use: rise of the loss if it is shuffled")
        wide = max(len(line["input"]) for line in found["counts"][:SHOWN]) + 2
        lines += [f"  {line['input']:<{wide}}{interval_text(line, 5)}" for line in found["counts"][:SHOWN]]
    if found.get("disagreements"):
        shown = [name for name in ("value", *names) if name in found["disagreements"][0]]
        points = found["points"]
        what = f"expected points of {found['side']}" if points > 1 else f"expected score of {found['side']}"
        lines.append(f"where the others differ most from the fit ({what}: "
                     f"{', '.join('file' if name == 'start' else name for name in shown)}):")
        lines += ["  " + "  ".join(_expected(line[name], points) for name in shown) + f"  {line['position']}"
                  for line in found["disagreements"][:POSITIONS]]
    if "missing" in found:
        lines.append(found["missing"])
    lines += found["sentences"]
    lines.append(f"{found['cpu_seconds']:,.0f} CPU seconds after reading")
    return lines


def _expected(score: float, points: int) -> str:
    """Format an expected score from 0 to 1; as points if a game is won by more or fewer."""
    return f"{points * (2 * score - 1):+.2f}" if points > 1 else f"{score:.2f}"
