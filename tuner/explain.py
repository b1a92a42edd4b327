"""One evaluation taken apart: what every term and parameter contributes."""

from __future__ import annotations

import math

import numpy as np

from tuner.engine import Engine
from tuner.parameters import Parameters
from tuner.tables import number, show_table


def explain(engine: Engine, parameters: Parameters, words: np.ndarray) -> dict:
    """Contributions in centipawns, first player's view, of a position (words,)."""
    rows = engine.coefficients(words[None, :])
    phase, stages = int(rows.phase[0]), list(parameters.stages)
    first = phase / engine.phases
    shares = np.array([1.0] if len(stages) == 1 else [first, 1 - first])
    labels = engine.layout.labels()
    terms: dict[str, dict] = {}
    for index, count in zip(rows.index, rows.count, strict=True):
        weights = parameters.weights[:, index]
        label = labels[index]
        term = terms.setdefault(label.split(".")[0], {"stages": np.zeros(len(stages)), "parameters": []})
        term["stages"] += count * weights
        term["parameters"].append({"parameter": label, "count": int(count), "contribution": float(count * weights @ shares),
                                   **{s: float(w) for s, w in zip(stages, weights, strict=True)}})
    total = sum((term["stages"] for term in terms.values()), np.zeros(len(stages)))
    evaluation = float(total @ shares)
    v = math.tanh(parameters.scale * evaluation)
    return {
        "position": engine.game.text(words), "phase": phase, "phases": engine.phases, "evaluation": round(evaluation, 2),
        "value": round(v, 4), "win_probability": round((1 + v) / 2, 4), "shares": dict(zip(stages, shares.tolist(), strict=True)),
        "terms": [{"term": name, **dict(zip(stages, term["stages"].tolist(), strict=True)),
                   "contribution": float(term["stages"] @ shares), "parameters": term["parameters"]}
                  for name, term in terms.items()]}


def show(result: dict, all_parameters: bool) -> None:
    """Print an explanation as a table."""
    stages = list(result["shares"])
    rows = []
    for term in result["terms"]:
        rows.append([term["term"], "", *(number(term[s]) for s in stages), number(term["contribution"])])
        if all_parameters:
            rows += [["  " + p["parameter"], f"{p['count']:+d}", *(number(p[s]) for s in stages), number(p["contribution"])]
                     for p in term["parameters"]]
    rows.append(["total", "", *(number(sum(term[s] for term in result["terms"])) for s in stages),
                 number(result["evaluation"])])
    show_table("centipawns, first player's view", ["term", "count", *stages, "tapered"], rows)
    shares = ", ".join(f"{100 * share:.0f} % {stage}" for stage, share in result["shares"].items())
    print(f"phase {result['phase']} of {result['phases']} ({shares}); the first player scores "
          f"{100 * result['win_probability']:.1f} % (v = {result['value']:+.3f})")
