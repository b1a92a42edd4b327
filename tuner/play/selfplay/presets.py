"""Updates of weights as documents have them, as options of self-play: `tuner selfplay --as NAME`.

A number of a document is in its own units; the comments say which, and how it became ours."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from tuner.core.records import InputError
from tuner.options.option import options_in
from tuner.options.selfplay import NetworkOptions, SelfplayOptions

OWN_MOVES = 0.7**0.5  # lambda of 0.7 for each move of one's own, per ply
# a plain step of constant size after each game, and no mean of the weights
STEPS = {"learner": "sgd", "batch": 1, "lag": 0, "average": 0.0, "floor": 1.0}


WEIGHTS, NETWORKS, WITH_DICE = "parameter files", "networks", "networks of games with dice"


class Preset(NamedTuple):
    """The update of a document: options, and those that it has besides for what learns by it:
    WEIGHTS, NETWORKS or WITH_DICE; `new` are options of a new network alone."""

    options: Mapping[str, Any]
    of: Mapping[str, Mapping[str, Any]]
    new: Mapping[str, Any] = {}


PRESETS = {
    # Homan 2000: v = tanh(0.00255 e), lambda 0.7 for each own move, alpha 1 with derivatives
    # per pawn and steps in centipawns, which is 0.255
    "exchess": Preset(
        {
            **STEPS,
            "method": "td-leaf",
            "lambda_": OWN_MOVES,
            "learning_rate": 0.255,
            "gradient": "forward-difference",
        },
        {WEIGHTS: {}},
    ),
    # Baxter, Tridgell and Weaver 1998, and the sources of KnightCap 3.6: lambda 0.7 for each
    # own move, a step of 10 hundredths of a centipawn, every 10 games
    "knightcap": Preset(
        {
            **STEPS,
            "method": "td-leaf",
            "lambda_": OWN_MOVES,
            "learning_rate": 0.1,
            "batch": 10,
        },
        {WEIGHTS: {}},
    ),
    # Coulom 2019, TD(1): w -= rate dE/dw, where E is the log loss of the results of the games of
    # self-play by 1 / (1 + exp(-scale e)). The rate is halved again and again; where it begins is
    # not given, and ours
    "coulom": Preset(
        {
            **STEPS,
            "floor": 0.0,
            "method": "td",
            "lambda_": 1.0,
            "blunders": "keep",
            "loss": "cross-entropy",
            "learning_rate": 0.03,
        },
        {WEIGHTS: {}},
    ),
    # a study of shogi: P = 1 / (1 + exp(-e / 1000)), lambda 0.9, no step above 20; its alpha is
    # not known
    "shogi": Preset(
        {
            **STEPS,
            "method": "td-leaf",
            "lambda_": 0.9,
            "blunders": "keep",
            "largest_step": 20.0,
        },
        {WEIGHTS: {}},
    ),
    # Hui 2018, 3.2.3, 3.3.4 and 4.1: w += alpha sum of c_t grad v(x_t) over the positions of a
    # game, alpha 0.01, lambda 0.7, games of 160 plies. Its v = tanh(w x) is tanh(w x / 2) here, so
    # the weights of the output are twice as large and alpha is 0.04 there; of a parameter file of
    # chess, v = tanh(0.00255 e) and alpha is 0.01 / 0.00255 centipawns
    "hui": Preset(
        {
            **STEPS,
            "method": "td",
            "lambda_": 0.7,
            "blunders": "keep",
            "plies": 160,
            "truncated": "draw",
        },
        {
            WEIGHTS: {"learning_rate": 0.01 / 0.00255},
            NETWORKS: {"learning_rate": 0.01, "output_rate": 4.0},
        },
    ),
    # Tesauro 1992, after whom the lecture on TD-Gammon gives the rule w += alpha (V' - V) e, and
    # says that lambda matters little: alpha 0.1 and lambda 0.7 of an output that is the probability
    # of a win, and 198 inputs
    "tesauro": Preset(
        {"lambda_": 0.7, "learning_rate": 0.1, "floor": 1.0, "wins": True},
        {WITH_DICE: {}},
        new={"encoding": "tesauro198"},
    ),
}


def with_preset(
    name: str, given: Mapping[str, Any], params: str, of: str, new: bool
) -> tuple[dict[str, Any], str]:
    """Return the options that a preset sets, with those that were given in their place, and a line
    that says so. InputError for a preset of another kind than `of`, which `params` is; `new`: it is
    a new network."""
    preset = PRESETS[name]
    if of not in preset.of:
        kinds = " and ".join(preset.of)
        raise InputError(f"--as {name}: updates {kinds}, and {params} is none")
    options = {**preset.options, **preset.of[of], **(preset.new if new else {})}
    known = {
        each.name: each.names[-1]
        for each in (*options_in(SelfplayOptions), *options_in(NetworkOptions))
    }
    set_here = " ".join(
        known[option] if value is True else f"{known[option]} {_text(value)}"
        for option, value in options.items()
        if option not in given
    )
    others = " ".join(known[option] for option in options if option in given)
    line = f"as {name}: {set_here}" + (f"; given in place of its own: {others}" if others else "")
    return {**options, **given}, line


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
