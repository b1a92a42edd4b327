"""What a run found is the same number in the terminal, in the output of --json and on its page."""

import html
import json
import re
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.commands.scored import scored_positions
from tests.commands.support import done
from tests.support import file_with

MATCH = ("--depth", 1, "--seed", 3)


@dataclass(frozen=True)
class Shown:
    """A command, and numbers of its JSON with the digits that the terminal and the page show; None:
    not there."""

    words: tuple
    numbers: Callable[[dict], list[tuple[float, int | None, int | None]]]


def of_match(found: dict) -> list:
    counts = [(found[key], 0, 0) for key in ("games", "wins", "draws", "losses")]
    elo = found["elo"]
    return [*counts, (elo["value"], 2, 0), ((elo["high"] - elo["low"]) / 2, 2, 0)]


def of_tournament(found: dict) -> list:
    return [
        number
        for player in found["players"]
        for number in (
            (player["rating"]["value"], 1, 1),
            (player["games"], 0, 0),
            (100 * player["points"] / player["games"], 1, 1),
        )
    ]


def of_optimization(found: dict) -> list:
    best = [(number["best"]["value"], 0, 0) for number in found["numbers"]]
    worth = [(number["worth"]["value"], 1, 1) for number in found["numbers"]]
    gain = (found["gain"]["value"], 1, 1)
    return [*best, *worth, (found["games"], 0, 0), gain, (found["left"], 1, 1)]


def of_selfplay(found: dict) -> list:
    pawn, *others = found["values"].values()
    return [(found["games"], 0, 0), *((value / pawn, 2, 2) for value in others)]


def of_network(found: dict) -> list:
    measured = found["measured"]
    points = measured["points"]
    half = (points["high"] - points["low"]) / 2
    return [(found["games"], 0, 0), (points["value"], 3, 3), (half, 3, 3)]


def of_fit(found: dict) -> list:
    change = found["held_out_results"]
    return [
        (found["games"], 0, 0),
        (found["positions"], 0, 0),
        (change["before"], 5, 4),
        (change["after"], 5, 4),
        *((change["difference"][key], 5, 4) for key in ("value", "low", "high")),
        *((line["ratio"]["value"], 2, 2) for line in found["ratios"]),
    ]


def of_own_games(found: dict) -> list:
    return [(found["games"], 0, None), *((number, 0, None) for number in found["outcomes"])]


KINDS = {
    "match": Shown(("match", "classic", "pesto", "--games", 24, *MATCH), of_match),
    "match in a game of points": Shown(
        ("match", "backgammon/pubeval", "random", "--games", 40),
        lambda found: [(found["games"], 0, 0), (found["points_a_game"]["value"], 3, 3)],
    ),
    "match of shogi": Shown(
        ("match", "shogi/classic", "shogi/zero", "--games", 20, *MATCH),
        lambda found: [(found[key], 0, 0) for key in ("games", "wins", "losses")],
    ),
    "tournament": Shown(
        ("tournament", "classic", "pesto", "zero", "--games", 20, *MATCH), of_tournament
    ),
    "optimize": Shown(
        ("optimize", "classic", "--games", 60, "--match-games", 0, *MATCH), of_optimization
    ),
    "selfplay": Shown(("selfplay", "material", "--games", 24, "--depth", 1), of_selfplay),
    "selfplay of a network": Shown(
        ("selfplay", "backgammon", "--hidden", 4, "--games", 200, "--measure", "pubeval"),
        of_network,
    ),
    "tune": Shown(("tune", "material", "--method", "logistic", "--per-game", 2), of_fit),
    "tune with scores": Shown(("tune", "material", "--method", "scores", "--per-game", 2), of_fit),
    "games": Shown(("games", "classic", "--games", 8, "--depth", 1), of_own_games),
}


def numbers_in(text: str) -> set[float]:
    """The numbers of a text, which may have groups of thousands."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text.replace("−", "-"))
    return {float(word) for word in re.findall(r"(?<![\w.])[+-]?\d+(?:\.\d+)?", plain)}


def text_of_page(page: str) -> str:
    plain = re.sub(r"<(script|style|svg).*?</\1>", "", page, flags=re.DOTALL)
    return html.unescape(re.sub(r"<[^>]+>", " ", plain))


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    return scored_positions(tmp_path_factory.mktemp("scored") / "scored.epd", 600)


LONG = (
    "tune",
    "tune with scores",
    "selfplay of a network",
    "tournament",
    "match in a game of points",
)


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=[pytest.mark.long] * (kind in LONG)) for kind in KINDS]
)
def test_numbers_are_the_same_in_the_terminal_in_json_and_on_the_page(here, scored, kind):
    shown = KINDS[kind]
    words = [*shown.words, "--workers", 1]
    if shown.words[0] == "selfplay" and "--hidden" in words:
        words = [*shown.words]
    if shown.words[0] == "optimize":
        file = file_with(
            here / "numbers.txt",
            "material.knight.mg, int, 337, 100, 600, 40, 0.01\n"
            "material.queen.eg, int, 936, 500, 1400, 60, 0.01\n",
        )
        words += ["--options", file]
    if shown.words[0] == "tune":
        words[2:2] = [scored]
        words += ["-o", "learned.yaml"]
    said = done(*words, "--run", "said").out
    found = json.loads(done(*words, "--run", "run", "--json").out)
    page = ""
    if shown.words[0] != "games":
        done("report", "run")
        page = text_of_page((here / "run" / "report.html").read_text())
    views = [numbers_in(said), numbers_in(page)]
    for value, *digits in shown.numbers(found):
        for view, places in zip(views, digits, strict=True):
            if places is not None and value is not None:
                assert round(value, places) in view, (value, sorted(view))
