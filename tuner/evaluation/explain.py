"""Explain an evaluation: the contribution of every term and parameter."""

import math
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np
from rich.console import Console

from games.record import Game, Wording
from games.search.searcher import Found
from games.streams import InputError, lines
from tuner.core.text import number
from tuner.evaluation.engine import CompiledTerms
from tuner.io.terminal import show_lines, show_table
from tuner.parameters.parameters import Parameters


def explain(engine: CompiledTerms, parameters: Parameters, words: np.ndarray) -> dict:
    """Return the contributions to the evaluation of a position (words,), in centipawns, first
    player's view."""
    rows = engine.coefficients(words[None, :])
    phase, stages = int(rows.phase[0]), list(parameters.stages)
    shares = engine.shares(len(stages))[:, phase]
    labels = engine.layout.labels()
    terms: dict[str, dict] = {}
    curved = engine.composition.curved
    for index, count in zip(rows.index, rows.count, strict=True):
        if index >= len(labels) or labels[index].split(".")[0] in curved:
            continue
        weights, label = parameters.weights[:, index], labels[index]
        term = terms.setdefault(
            label.split(".")[0], {"stages": np.zeros(len(stages)), "parameters": []}
        )
        term["stages"] += count * weights
        term["parameters"].append(
            {
                "parameter": label,
                "count": int(count),
                "contribution": float(count * weights @ shares),
                **{s: float(w) for s, w in zip(stages, weights, strict=True)},
            }
        )
    terms |= {
        name: {"stages": found, "parameters": []}
        for name, found in _nonlinear(engine, parameters, words).items()
    }
    total = sum((term["stages"] for term in terms.values()), np.zeros(len(stages)))
    evaluation = float(total @ shares)
    v = math.tanh(parameters.scale * evaluation)
    expected = expected_of(v, engine.game, learned_wins(parameters))
    return {
        "position": engine.game.text(words),
        "phase": phase,
        "phases": engine.phases,
        "evaluation": round(evaluation, 2),
        "value": round(v, 4),
        **expected,
        "shares": dict(zip(stages, shares.tolist(), strict=True)),
        "terms": [
            {
                "term": name,
                **dict(zip(stages, term["stages"].tolist(), strict=True)),
                "contribution": float(term["stages"] @ shares),
                "parameters": term["parameters"],
            }
            for name, term in terms.items()
        ],
    }


def _nonlinear(
    engine: CompiledTerms, parameters: Parameters, words: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the contribution of each nonlinear term, the same in every stage (stages,): a function
    is applied to the tapered sum, and a term that scales multiplies the tapered evaluation. Terms
    that scale come last, in their order."""
    terms = [term for term in engine.composition.terms if not term.linear]
    weights = parameters.weights.copy()
    for term in terms:
        weights[:, _columns(engine, term.name)] = 0.0
    before, parts = engine.values(words[None, :], weights)[0], {}
    for term in sorted(terms, key=lambda term: term.scales):
        columns = _columns(engine, term.name)
        weights[:, columns] = parameters.weights[:, columns]
        after = engine.values(words[None, :], weights)[0]
        parts[term.name] = np.full(len(weights), after - before)
        before = after
    return parts


def _columns(engine: CompiledTerms, term: str) -> np.ndarray:
    places = [place for place in engine.layout.places if place.term == term]
    return np.concatenate([np.arange(place.first, place.first + place.size) for place in places])


def show(
    console: Console, result: dict, all_parameters: bool, words: Wording, wins: bool = False
) -> None:
    """Print an explanation as a table, with a column of what the stages add up to if there are
    several. `wins`: as for `expected_of`."""
    stages = list(result["shares"])
    rows = []
    for term in result["terms"]:
        rows.append(
            [term["term"], "", *(number(term[s]) for s in stages), number(term["contribution"])]
        )
        if all_parameters:
            rows += [
                [
                    "  " + p["parameter"],
                    f"{p['count']:+d}",
                    *(number(p[s]) for s in stages),
                    number(p["contribution"]),
                ]
                for p in term["parameters"]
            ]
    rows.append(
        [
            "total",
            "",
            *(number(sum(term[s] for term in result["terms"])) for s in stages),
            number(result["evaluation"]),
        ]
    )
    head = ["term", "count", *stages, "tapered"]
    shown = [
        i
        for i, column in enumerate(head)
        if (column != "count" or all_parameters) and (column != "tapered" or len(stages) > 1)
    ]
    show_table(
        console,
        f"{words.unit}, {words.view}",
        [head[i] for i in shown],
        [[row[i] for i in shown] for row in rows],
    )
    shares = ", ".join(
        f"{100 * share:.0f} % {stage}"
        for stage, share in result["shares"].items()
        if share > 0 or len(stages) == 2
    )
    phase = f"phase {result['phase']} of {result['phases']} ({shares}); " if len(stages) > 1 else ""
    show_lines(console, phase + expected_text(result, words, wins))


def learned_wins(parameters: Parameters) -> bool:
    """Return whether a file learned from self-play in which every win was one point."""
    return parameters.learned.get("wins") in (True, "true")  # made, or read from a file


def expected_of(value: float, game: Game, wins: bool = False) -> dict[str, float]:
    """Return the expectation of a value v for the first player: its probability of winning, or its
    expected points. `wins`: the evaluation learned that every win is one point, and knows the
    probability alone."""
    points = game.points * value
    if game.in_points and not wins:
        return {"points": round(points, 4)}
    return {"win_probability": round(min(max((1 + points) / 2, 0.0), 1.0), 4)}


def expected_text(result: dict, words: Wording, wins: bool = False) -> str:
    """Return the same in words, of a result with `value` and `expected_of`."""
    if wins:
        expected = f"wins {100 * result['win_probability']:.1f} % of games, by any number of points"
    elif "points" in result:
        expected = f"expects {result['points']:+.3f} points"
    else:
        expected = f"scores {100 * result['win_probability']:.1f} %"
    return f"{words.sides[0]} {expected} (v = {result['value']:+.3f})"


class Leaf(NamedTuple):
    """The leaf of a principal variation: its position `words` (words,), `score` in centipawns, and
    `known`, its value if the game is won, lost or drawn there, else NaN; score and value are from
    the first player's point of view."""

    words: np.ndarray
    score: float
    known: float


def leaf_of(game: Game, words: np.ndarray, found: Found) -> Leaf:
    """Return the leaf of a search of the position `words`."""
    sign = -1 if game.second_to_move(words) else 1
    known = 0.0 if found.drawn else math.nan
    if found.win_in is not None:
        known = sign if found.win_in > 0 else -sign
    if found.reward is not None:
        known = sign * found.reward
    for move in found.pv:
        words = game.play(words, move)
    return Leaf(words, sign * found.value, known)


LINES = 1 << 17  # read and evaluated at a time


def scores_of(
    game: Game, values: Callable[[np.ndarray], np.ndarray], source: str
) -> Iterator[np.ndarray]:
    """Yield the `values` of the positions (n, words) on a file's lines, in centipawns, first
    player's view, many at a time.

    Empty lines and lines that begin with # are skipped. InputError names the first wrong line.
    """
    numbered = ((number, line.strip()) for number, line in enumerate(lines(source), 1))
    wanted = ((number, line) for number, line in numbered if line and not line.startswith(b"#"))
    while some := list(islice(wanted, LINES)):
        positions = np.empty((len(some), game.words), np.uint64)
        for i, (at, line) in enumerate(some):
            try:
                positions[i] = game.position(line.decode("utf-8", "replace"))
            except ValueError as problem:
                name = "standard input" if source == "-" else source
                raise InputError(
                    f"{name}:{at}: {problem}; expected a position on each line"
                ) from None
        yield values(positions)
