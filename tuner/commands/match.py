"""Play a match between two players in pairs of games, and estimate the Elo difference (backgammon:
points per game).

A and B are parameter files, names of bundled ones, networks, `random`, players of a game (pubeval,
gnubg:PLIES), or engines, as "uci:COMMAND", "xboard:COMMAND", "usi:COMMAND" for shogi,
"ubgi:COMMAND" for backgammon, or the name of an engine on the PATH. Every opening is played twice
with colors swapped; games with dice use the same dice."""

from pathlib import Path

from games.streams import InputError
from tuner.options.match import MatchOptions, MatchSettings, games_of
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

USAGE = "A B [--games N] [options]"
EXAMPLE = """examples:
  tuner match learned.yaml classic --depth 4 --games 400 --pgn games.pgn
  tuner match learned.yaml classic --nodes 5000 --sprt 0 5 \\
    --openings book.epd.zip --run match
  tuner match --resume match
  tuner match learned.yaml "uci:stockfish" --option-b "Skill Level=3" --tc 5+0.05
  tuner match "uci:toga2" "uci:toga2" --with learned.yaml --depth 6
  tuner match learned.yaml random --plies 80 --depth 2
                                      also `zero` and `material` against it
"""
TABLE: Table = (
    Option(("a",), "the player whose result is reported", metavar="A", nargs="?"),
    Option(("b",), "its opponent", metavar="B", nargs="?"),
    *options_in(MatchOptions, "games"),
    OneOf(options_in(MatchOptions, "depth nodes movetime tc")),
    *options_in(MatchOptions, "openings pgn run log"),
    resume("the match"),
    TERMS,
    Title("players"),
    *options_in(
        MatchOptions,
        "depth_a nodes_a depth_b nodes_b hash name_a name_b option_a option_b with_a with_b",
    ),
    Title("sequential test"),
    *options_in(MatchOptions, "sprt model alpha beta"),
    *games_of(MatchOptions),
    Title("machine"),
    *options_in(MatchOptions, "workers"),
    cluster("play"),
)


def run(arguments: Arguments) -> RunResult:
    from tuner.commands.display import play
    from tuner.play.match.match import MatchRun
    from tuner.play.match.settings import match_settings
    from tuner.play.match.setup import logged_engines

    def new() -> MatchSettings:
        if arguments.a is None or arguments.b is None:
            raise InputError(
                "match: expected two players, A and B, or --resume DIR; see tuner match --help"
            )
        given = arguments.given_for(MatchOptions)
        return match_settings(arguments.a, arguments.b, given, arguments.terms)

    with logged_engines(arguments.log, arguments.pgn, arguments.cluster):
        return play(arguments, MatchRun, new, arguments.pgn and Path(arguments.pgn))
