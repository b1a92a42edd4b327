"""What a measurement of headroom means, in sentences that are true for its data, and the next step."""

from __future__ import annotations

from tuner.report.headroom_models import gain_of, linear

SOME = 3  # names in a sentence


def sentences(found: dict) -> list[str]:
    """Return sentences about the plain data of `tuner.headroom.measure.measured`."""
    gains = {gain["model"]: gain for gain in found["gains"]}
    lines = [_fit(found, gains["fit"])]
    if "trees" in gains:
        lines.append(_trees(found, gains["trees"]))
    lines.append(_network(found, gains["network"]))
    if found["targets"] != "results":
        left = min(line["value"] for line in found["models"] if line["model"] in ("trees", "network"))
        lines.append(f"What none of them closes, {left:.4f}, needs counts that these terms lack, or a search; or more positions "
                     "to learn from.")
    return lines


def certain(gain: dict) -> bool:
    """Return whether the 95 % interval of a gain is above zero."""
    return gain["low"] is not None and gain["low"] > 0


def interval_text(found: dict, digits: int = 4, factor: float = 1.0) -> str:
    """Format a number and its interval, if it has one."""
    value, low, high = (None if found[name] is None else f"{round(factor * found[name], digits) + 0.0:.{digits}f}"
                        for name in ("value", "low", "high"))
    return str(value) if low is None else f"{value} [{low}, {high}]"


def _fit(found: dict, gain: dict) -> str:
    if certain(gain):
        return (f"Better weights of the same terms gain {_amount(found, gain, found['start'])}: `tuner tune` learns weights "
                "from such values.")
    return (f"The best {'linear ' if linear(found) else ''}fit of these terms is not better than {found['start']} beyond chance: "
            "more positions would let it learn weights more closely, if there is something to learn.")


def _trees(found: dict, gain: dict) -> str:
    functions = "Functions of the same counts that are not linear" if linear(found) else "Other functions of the same counts"
    if not certain(gain):
        return (f"{functions} gain nothing beyond chance here: more positions would find "
                "smaller gains; otherwise the next step is terms that count something new.")
    text = f"{functions} gain another {_amount(found, gain, 'the linear fit' if linear(found) else 'the fit')}"
    most = _most(found.get("phases") or [])
    if most:
        text += f"; here most per position in the stage {most['stage']}" if "stage" in most else \
            f"; here most per position where the share of {found['first_stage']} is {most['from']:g} to {most['to']:g}"
    names = [line["input"] for line in found["counts"] if "." in line["input"] and certain(line)][:SOME]
    if names:
        text += f"; consider terms that combine what the trees use most: {', '.join(names)}"
    return text + " (docs/headroom.md)."


def _network(found: dict, gain: dict) -> str:
    """What the network gains on the fit and, beside trees, what it found that they did not."""
    sees = "the same counts and the board" if found.get("board") else "the same counts"
    if not certain(gain):
        return f"A small network that sees {sees} gains nothing on the fit beyond chance."
    text = f"A small network that sees {sees} gains {interval_text(gain)} on the fit"
    more = found.get("network_on_trees")
    if more is None or more["low"] is None:
        return text + "."
    if more["low"] > 0:
        source = "; it may have found in the board what no term counts." if found.get("board") else "."
        return f"{text}, {interval_text(more)} more than the trees{source}"
    if more["high"] < 0:
        return f"{text}, less than the trees."
    return f"{text}, as much as the trees, as far as these games can tell."


def _amount(found: dict, gain: dict, before: str) -> str:
    """A gain; for targets whose own entropy is known also its share of the distance to them."""
    text = interval_text(gain)
    if found["targets"] == "results" or gain["share"]["value"] is None:
        return text
    return f"{text}, {interval_text(gain['share'], 0, 100)} % of the distance from {before} to these values"


def _most(phases: list[dict]) -> dict | None:
    """Return the phases in which trees gain most a position, if that is certain there."""
    known = [(line, gain) for line in phases if (gain := gain_of(line["gains"], "trees"))]
    if len(known) < 2:
        return None
    line, gain = max(known, key=lambda pair: pair[1]["value"])
    return line if certain(gain) else None
