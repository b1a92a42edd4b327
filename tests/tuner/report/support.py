"""Run folders to make pages of: as `tuner tune`, `tuner selfplay` and `tuner match` leave them,
with every finding."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.tuner.core.support import put, write_records, write_settings
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.options.match import SECTION, MatchSettings
from tuner.parameters.parameters import Parameters
from tuner.parameters.writer import write_parameters
from tuner.results.fit import FINDINGS

NASTY = "<script>alert(1)</script>.pgn"
BAD_NAME = 'a$b_{c}$ & "q" <i>'  # what an SVG, HTML or matplotlib would take for more than text
BINS = [
    {
        "predicted": 0.1 * i,
        "actual": {"value": 0.1 * i + 0.02, "low": 0.1 * i - 0.01, "high": 0.1 * i + 0.05},
        "positions": 1000 + i,
        "games": 80,
    }
    for i in range(1, 10)
]


PIECES = ("knight", "bishop", "rook", "queen")


def findings(data: str = NASTY) -> dict:
    """Every part of the contract."""
    return {
        "result": {
            "command": f"tuner tune classic '{data}' -o out.yaml",
            "version": "0.1.0",
            "seed": 7,
            "start": "classic",
            "output": "out.yaml",
            "data": [{"file": data, "sha256": "ab" * 32}],
            "method": "logistic",
            "loss": "cross-entropy",
            "learner": "newton",
            "iterations": 3,
            "games": 5684,
            "positions": 400563,
            "loss_before": 0.46261,
            "loss_after": 0.45167,
            "held_out_games": 586,
            "held_out_positions": 40996,
            "held_out_before": 0.45312,
            "held_out_after": 0.44651,
            "scale": 0.002,
            "intercept": [1.0, 2.0],
            "prior": "auto",
            "converged": True,
            "gradient_norm": 1e-9,
            "match": f"tuner match out.yaml classic --run '{data}'",
            "held_out_results": {
                "before": 0.4519,
                "after": 0.4482,
                "difference": {"value": -0.0037, "low": -0.0049, "high": -0.0025},
                "games": 586,
                "positions": 40996,
            },
            "design_effect": 10.2,
            "noise": {
                "evaluations": 14.2,
                "differences": 8.1,
                "elo": {"value": 13.8, "low": 11.8, "high": 15.7},
            },
            "null_directions": 125,
            "never_applied": 41,
            "held_out_change": {
                "before": 0.45312,
                "after": 0.44651,
                "difference": {"value": -0.0066, "low": -0.0081, "high": -0.0051},
            },
            "ratios": [
                {
                    "parameter": f"material.{name}",
                    "to": "material.pawn",
                    "ratio": {"value": ratio, "low": ratio - 0.11, "high": ratio + 0.12},
                }
                for name, ratio in zip(PIECES, (2.91, 3.2, 5.1, 9.8), strict=True)
            ],
            "draws": {
                "model": "ordered",
                "width": {"mg": 0.8, "eg": 1.1},
                "errors": {"mg": 0.05, "eg": 0.04},
            },
            "advice": [
                f"look at {data}",
            ],
        },
        "calibration": {
            "results": {
                "before": BINS,
                "after": [
                    one | {"actual": one["actual"] | {"value": one["predicted"]}} for one in BINS
                ],
            },
            "targets": {"before": BINS, "after": BINS},
        },
        "identifiability": {
            "free": 1206,
            "rank": 1100,
            "condition": 1.2e6,
            "effective": 240.5,
            "null_directions": [
                {"numbers": ["psqt.knight mg", "material.knight.mg"], "text": "a <b>sum</b>"}
            ],
            "never": ["piece_square.pawn[0][0] mg", "piece_square.pawn[0][1] mg"],
            "rare": [{"parameter": "mobility.queen[0] mg", "positions": 3}],
            "collinear": [
                {"a": "pawns.passed[3] eg", "b": "pawns.candidate[3] eg", "correlation": -0.97}
            ],
        },
        "summary": {
            "results": {"win": 2000, "draw": 3000, "loss": 1300},
            "phases": [10 * i for i in range(25)],
        },
    }


def learned_from(initial: Parameters, seed: int = 3) -> Parameters:
    """Other weights, with standard errors of all kinds: some unknown, some zero."""
    random = np.random.default_rng(seed)
    weights = np.round(initial.weights + random.normal(0, 12, initial.weights.shape), 2)
    errors = np.round(random.uniform(1, 9, weights.shape), 2)
    errors[:, ::7], errors[:, 3::11] = np.nan, 0.0
    weights[errors == 0] = initial.weights[errors == 0]
    return replace(initial, weights=weights, standard_errors=errors)


def tune_run(folder: Path, start: str = "classic", found: dict | None = None) -> Path:
    """The folder of a fit."""
    folder.mkdir()
    found = findings() if found is None else found
    initial = load_parameters(start)
    (folder / "start.yaml").write_bytes(parameter_path(start).read_bytes())
    write_parameters(folder / "params.yaml", learned_from(initial))
    settings = {"seed": 7, "loss": "cross-entropy", "terms": []}
    write_settings(folder, "options", settings, found["result"]["command"], start)
    write_records(
        folder,
        [
            {
                "iteration": i,
                "objective": 0.46 - 0.004 * i,
                "cpu_seconds": 0.1 * i,
                "held_out": 0.45 - 0.003 * i,
            }
            for i in range(4)
        ],
    )
    put(folder, FINDINGS, found)
    return folder


def selfplay_run(folder: Path, batches: int = 60, start: str = "material", **settings) -> Path:
    """The folder of learning from self-play."""
    folder.mkdir()
    initial = load_parameters(start)
    (folder / "start.yaml").write_bytes(parameter_path(start).read_bytes())
    learned = replace(learned_from(initial), standard_errors=None)
    write_parameters(folder / "params.yaml", learned)
    usual = {
        "start": start,
        "games": 8 * batches,
        "depth": 3,
        "method": "rootstrap",
        "lambda_": 0.7,
        "seed": 1,
        "terms": [],
        "learner": "adam",
        "learning_rate": None,
        "half_life": 1600.0,
        "floor": 0.1,
        "average": 0.99,
    }
    write_settings(folder, "selfplay", usual | settings)
    write_records(
        folder,
        [
            {
                "batch": i,
                "games": 8 * i,
                "cpu_seconds": 0.2 * i,
                "draws": 0.125 * (i % 3),
                "broken_off": 0.25,
                "plies": 100.0 + i,
                "duplicates": i % 2,
                "squares": 0.02,
                "step": 0.5,
                "drift": 0.1 * i,
                "static": 0.98,
                "values": {
                    "pawn": 100.0,
                    "knight": 400.0 - i,
                    "bishop": 400.0,
                    "rook": 600.0,
                    "queen": 1200.0 + i,
                },
            }
            for i in range(1, batches + 1)
        ],
    )
    return folder


def match_run(
    folder: Path,
    pairs: list[tuple[int, int]],
    names: tuple[str, str] = ("learned", "classic"),
    players: tuple[str, str] = ("classic", "classic"),
    learned_games: int | None = None,
    luck: list[list[float]] | None = None,
    **changes,
) -> Path:
    """The folder of a match with these outcomes, and in a game with dice the luck of the first
    player in each game."""
    folder.mkdir()
    control = {"depth": 4, "nodes": None, "movetime": None, "base": None, "increment": 0.0}
    settings = MatchSettings(
        game=load_parameters(players[0]).game,
        a=players[0],
        b=players[1],
        names=names,
        games=max(2 * len(pairs), 2),
        controls=(control, control),
    )
    for copy, player in zip(("a.yaml", "b.yaml"), players, strict=True):
        parameters = load_parameters(player)
        if copy == "a.yaml" and learned_games is not None:
            parameters = replace(
                parameters, learned={"command": "selfplay", "games": learned_games}
            )
        write_parameters(folder / copy, parameters)
    write_settings(folder, SECTION, replace(settings, **changes).plain, "tuner match a b")
    write_records(
        folder,
        [
            {
                "leg": 0,
                "pair": i,
                "outcomes": list(pair),
                "plies": [80, 100],
                "ends": ["rules", "rules"],
                "reasons": ["White mates", "Draw by 3-fold repetition"],
                **({"luck": luck[i]} if luck else {}),
            }
            for i, pair in enumerate(pairs)
        ],
    )
    return folder
