"""Play a tournament: round robin, or one player against all, in pairs of games, and
rate them.

Players are those of `tuner match`. Settings apply to all players; --player adds one with its own
limits or options. Every opening is played twice in each pairing with colors swapped. Ratings are
maximum-likelihood estimates with 95 % intervals from pairs of games."""

from pathlib import Path

from games.streams import InputError
from tuner.options.match import TournamentOptions, TournamentSettings, games_of
from tuner.options.option import (
    TERMS,
    Arguments,
    OneOf,
    Option,
    Table,
    Title,
    cluster,
    options_in,
    resume,
)
from tuner.results.result import RunResult

USAGE = "A B C ... [--games N] [options]"
EXAMPLE = """examples:
  tuner tournament classic modern pesto zero --depth 4 --games 40
  tuner tournament mine.yaml classic "uci:stockfish" --gauntlet --run cup
  tuner tournament --resume cup --games 200
  tuner tournament classic --player "uci:stockfish" name=weak "option.Skill Level=0" depth=1 \\
    --nodes 5000
  tuner tournament mine.yaml --ladder "uci:stockfish" UCI_Elo=1400:2400:200 --movetime 0.1
                                      a rating on the scale of the engine
  tuner tournament mine.yaml --ladder classic depth=1:5
"""
TABLE: Table = (
    Option(
        ("players",),
        "the players; the folder of a run of self-play with --measure adds its checkpoints",
        metavar="PLAYER",
        nargs="*",
        default=(),
    ),
    *options_in(TournamentOptions, "games gauntlet ladder"),
    OneOf(options_in(TournamentOptions, "depth nodes movetime tc")),
    *options_in(TournamentOptions, "openings pgn run log"),
    resume("the tournament"),
    TERMS,
    Title("players and ratings"),
    *options_in(TournamentOptions, "player hash anchor"),
    *games_of(TournamentOptions),
    Title("machine"),
    *options_in(TournamentOptions, "workers"),
    cluster("play"),
)


def run(arguments: Arguments) -> RunResult:
    from tuner.commands.display import play
    from tuner.play.match.settings import tournament_settings
    from tuner.play.match.setup import logged_engines
    from tuner.play.match.tournament import TournamentRun

    def new() -> TournamentSettings:
        if not (arguments.players or arguments.player):
            raise InputError(
                "tournament: expected players, or --resume DIR; see tuner tournament --help"
            )
        given = arguments.given_for(TournamentOptions)
        return tournament_settings(arguments.players, given, arguments.terms)

    with logged_engines(arguments.log, arguments.pgn, arguments.cluster):
        return play(arguments, TournamentRun, new, arguments.pgn and Path(arguments.pgn))
