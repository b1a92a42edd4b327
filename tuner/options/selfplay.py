"""The options of `tuner selfplay`, and the settings of its two kinds of runs.

Evaluations learn from batches of games, a network of a game with dice after every ply.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

from msgspec import Meta

from tuner.core.records import (
    MAX_COUNT,
    Count,
    KeysOf,
    Positive,
    PositiveCount,
    Settings,
    Share,
    Unit,
)
from tuner.options.option import (
    Gradient,
    PliesRange,
    Step,
    Widths,
    gradient,
    option,
    plies_range,
    seed,
    step,
    widths,
    workers,
)

OTHERS = "others"  # the opponent of a program that plays as an engine, which sets its limits
SECTION, NETWORK_SECTION = "selfplay", "network"  # of config.yaml
Inputs: TypeAlias = Literal["board", "terms", "both"]
BOARD, TERMS, BOTH = get_args(Inputs)
Activation: TypeAlias = Literal["relu", "tanh", "sigmoid"]
Noise = Annotated[float, Meta(ge=0, le=1e4, description="a number between 0 and 10000, such as 2")]
MeasuredGames = Annotated[
    int, Meta(ge=6, le=MAX_COUNT, multiple_of=2, description="an even number of 6 or more")
]


@dataclass(frozen=True, kw_only=True)
class LearningOptions(Settings):
    """The options of weights and of networks. `half_life` is --half-life,
    which halves within `half_life` games and never falls below `floor` times itself."""

    games: PositiveCount = option(
        "number of games (default: 1000, of networks with dice 200,000)",
        metavar="N",
        resume=True,
    )
    output: str | None = option(
        "write the learned file here too",
        flags="-o --output",
        anew=True,
        metavar="OUT",
        resume=True,
    )
    run: str | None = option(
        "folder of the run (default: selfplay-1, or the next free number)", anew=True, metavar="DIR"
    )
    as_: Annotated[str, KeysOf("tuner.play.selfplay.presets", "PRESETS")] | None = option(
        "learn by the update of a document: its rule, learning rate (of coulom and shogi, which"
        " give none, ours), lambda, batch and limits; options that are given beside it win",
        flags="--as",
        anew=True,
    )
    wins: bool = option(
        "games that win several points: every win counts as one point (default: points)",
        default=False,
        action="store_true",
    )
    lambda_: Unit | None = option(
        "weight of later values, per ply: 0 for the next value alone, 1 for the result alone; 0.7"
        " for each move of one's own, as in KnightCap, is 0.837 (default: 0.7; of networks with"
        " dice 0)",
        flags="--lambda",
        metavar="L",
    )
    learning_rate: Positive | None = option(
        "adam: centipawns, or hundredths of a point, of a typical step of a weight; adagrad: of the"
        " first; sgd: for an error of 1 of a position whose v changes by its scale a centipawn, and"
        " coherence at most that (KnightCap 0.1, EXchess 0.255; default: adam 3, with dice 1,"
        " of chess where --lambda alone chose td-leaf 1.5;"
        " sgd 1, adagrad 20, coherence 3); of networks: in their weights (default: adam 0.0003, for"
        " a new one 0.005;"
        " the rest 0.01), with dice of the gradient of their output (1, with --wins 0.3, without"
        " hidden units 0.1)",
        flags="--learning-rate",
        metavar="N",
    )
    half_life: Positive = option(
        "games until the learning rate is half of the first, which after as many again is a third"
        " (default: 200 batches; of networks with dice 20,000)",
        metavar="N",
        seldom=True,
    )
    floor: Unit = option(
        "share of the learning rate below which it never falls (default: 0.1)",
        0.1,
        flags="--final-rate",
        metavar="SHARE",
        seldom=True,
    )
    seed: Count = seed()
    measure: tuple[str, ...] = option(
        "play matches against PLAYER during the run and keep checkpoints; with dice PLAYER is"
        " pubeval, random, a parameter file or a network, without dice also an engine; may be"
        " repeated without dice",
        default=(),
        metavar="PLAYER",
        action="append",
    )
    measure_games: MeasuredGames = option(
        "games of each measurement, in pairs from one opening, or with the same dice (default: 100,"
        " with dice 1000)",
        metavar="N",
        seldom=True,
    )
    measure_every: PositiveCount = option(
        "measure after every N games of training (default: 20 times a run)",
        metavar="N",
        seldom=True,
    )
    measure_plies: PositiveCount | None = option(
        "without dice: draw measured games after N plies (default: never)",
        metavar="N",
        seldom=True,
    )
    workers: PositiveCount | None = workers(
        "threads that play; the result is the same for any number; a network has one", resume=True
    )


@dataclass(frozen=True, kw_only=True)
class SelfplayOptions(LearningOptions):
    """The options of weights. `gated` is not --noisy. None marks unused
    options."""

    depth: PositiveCount | None = option(
        "search each move N plies deep (default: 3; with dice 1)", metavar="N"
    )
    nodes: PositiveCount | None = option(
        "play the move of the deepest search completed within N nodes", metavar="N"
    )
    openings: str | None = option(
        "openings: a file of positions or of games, or one position", metavar="FILE|FEN"
    )
    from_ply: PliesRange | None = option(
        "with a file of games as --openings: leave each game at a random ply from FIRST to LAST, or"
        " earlier if it ends, and play on from there",
        read=plies_range,
        metavar="FIRST:LAST",
        seldom=True,
    )
    random_plies: Count = option(
        "begin with N random plies (default: 4; with --openings or dice 0)", metavar="N"
    )
    balanced: bool = option(
        "keep only balanced random openings",
        default=False,
        action="store_true",
        seldom=True,
    )
    explore: Share = option("share of random moves (default: 0)", 0.0, metavar="P")
    plies: PositiveCount = option(
        "stop games after N plies (default: 160; of chess where --lambda alone chose td-leaf 400;"
        " with dice 2000)",
        metavar="N",
    )
    truncated: Literal["value", "draw"] = option(
        "result of games that reach --plies: the last evaluation (default) or a draw",
        default="value",
        seldom=True,
    )
    opponents: tuple[str, ...] = option(
        "self (default), past (earlier weights), a parameter file or uci:COMMAND (shogi:"
        " usi:COMMAND); may be repeated: they take turns",
        default=("self",),
        flags="--opponent",
        metavar="PLAYER",
        action="append",
    )
    blunders: Literal["ignore", "keep"] = option(
        "td and td-leaf against an --opponent that is not the learner: ignore (default, KnightCap's"
        " rule) or keep errors after mistakes of the opponent that the search did not predict",
        default="ignore",
        seldom=True,
    )
    method: Annotated[str, KeysOf("tuner.play.selfplay.learner", "BACKUPS", "auto")] = option(
        "rootstrap: move the positions played towards the scores of later searches; td: towards the"
        " values of later positions; td-leaf: the same between the leaves of principal variations;"
        " treestrap: move all positions of the search tree towards their scores and bounds; auto"
        " (default): td-leaf if --lambda is given or the game has dice, else rootstrap",
        "auto",
    )
    loss: Literal["mse", "cross-entropy"] = option(
        "of the errors of values (default: mse, their mean square)",
        default="mse",
        seldom=True,
    )
    fixed: tuple[str, ...] = option(
        "keep parameters matching this name or glob constant; may be repeated",
        default=(),
        metavar="NAME",
        action="append",
    )
    gated: bool = option(
        "rootstrap and treestrap: also learn from positions that are not quiet",
        default=True,
        flags="--noisy",
        action="store_false",
        seldom=True,
    )
    noise: Noise = option(
        "standard deviation of random noise added to the starting weights, in their unit"
        " (default: 0)",
        0.0,
        metavar="CP",
        seldom=True,
    )
    gradient: Gradient = gradient()
    step: Step | None = step()
    learner: Annotated[str, KeysOf("tuner.fit.learners.steps", "RULES")] = option(
        "default: adam",
        default="adam",
        flags="--learner",
        seldom=True,
    )
    output_rate: Positive = option(
        "networks: learning rate of the last layer, in units of --learning-rate (default: 1)",
        1.0,
        metavar="N",
        seldom=True,
    )
    largest_step: Positive | None = option(
        "change no weight by more than CP centipawns, or hundredths of a point, at a step "
        "(default: no limit)",
        metavar="CP",
        seldom=True,
    )
    largest_error: Positive | None = option(
        "td, td-leaf, rootstrap: a difference of successive values v, from -1 to 1, counts as N at"
        " most (default: no limit; in chess 0.15 where --lambda alone"
        " chose td-leaf)",
        metavar="N",
        seldom=True,
    )
    average: Share = option(
        "moving average of the weights that play: share of the old average kept per batch"
        " (default: 0.99, of new networks 0)",
        0.99,
        metavar="SHARE",
        seldom=True,
    )
    batch: PositiveCount = option(
        "games per step (default: 8, of new networks 2)",
        8,
        metavar="N",
        seldom=True,
    )
    lag: Count = option(
        "batches played ahead of the learner (default: 1)",
        1,
        metavar="N",
        seldom=True,
    )


@dataclass(frozen=True, kw_only=True)
class SelfplaySettings(SelfplayOptions):
    """The settings of a run that learns weights. `start` is PARAMS, `evaluation` is a hash of the
    terms and the program, `chosen` whether `method` is that of auto."""

    start: str
    games: PositiveCount = 1000
    depth: PositiveCount | None = 3
    random_plies: Count = 4
    plies: PositiveCount = 160
    method: Annotated[str, KeysOf("tuner.play.selfplay.learner", "BACKUPS")] = "rootstrap"
    lambda_: Unit | None = 0.7
    half_life: Positive = 1600.0
    measure_games: MeasuredGames = 100
    measure_every: PositiveCount = 50
    terms: tuple[str, ...] = ()
    evaluation: str | None = None
    chosen: bool = False

    def faults(self) -> Iterator[str]:
        """See `Settings`."""
        if self.from_ply is not None and (
            self.openings is None or self.from_ply[0] > self.from_ply[1]
        ):
            yield "from_ply needs openings, and its first ply is not above the last"
        if self.depth is None and self.nodes is None and self.opponents != (OTHERS,):
            yield "depth and nodes are both null, expected one of them"
        if (self.gradient == "analytic") != (self.step is None):
            yield f"step is {self.step} with {self.gradient} gradients"
        if not self.opponents:
            yield "opponents is empty, expected one or more"


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(LearningOptions):
    """The options of networks: new ones have an encoding, `hidden` layers and their
    `activation`."""

    encoding: str | None = option(
        "inputs of the network (default: bitboard768 for chess, men2282 for"
        " shogi, perspective196 for backgammon; docs/networks.md lists them)",
        metavar="NAME",
    )
    inputs: Inputs = option(
        "the squares or points of the board, counts of the terms of the game, or both (default:"
        " board)",
        default=BOARD,
    )
    hidden: Widths = option(
        "units of each hidden layer, 0 for a single neuron (default: 40)",
        read=widths,
        metavar="N[,N...]",
    )
    activation: Activation | None = option(
        "of hidden layers (default: relu, with dice sigmoid)",
    )


@dataclass(frozen=True, kw_only=True)
class NetworkSettings(NetworkOptions):
    """The settings of a run that learns a network. `start`
    is PARAMS, a network file or the name of a game. `batch` is how many games a line of the history
    is about: it changes nothing that is learned. `program` is a hash of the compiled code."""

    start: str
    games: PositiveCount
    hidden: Widths
    lambda_: Unit = 0.0
    learning_rate: Positive
    half_life: Positive = 20_000.0
    batch: PositiveCount
    measure_games: MeasuredGames = 1000
    measure_every: PositiveCount = 1000
    program: str
