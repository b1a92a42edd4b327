"""Play fast games to learn from, of an evaluation against noisy copies of itself or of an engine
against itself.

Engines are "uci:COMMAND", "xboard:COMMAND", "usi:COMMAND" or "ubgi:COMMAND". Games begin with
random balanced openings, are adjudicated by scores, and are written with search scores in comments;
--resume continues to the same games."""

from games.streams import InputError
from tuner.options.games import GamesOptions, GamesSettings
from tuner.options.option import TERMS, Arguments, Option, Table, Title, cluster, options_in, resume
from tuner.results.result import RunResult

USAGE = "PARAMS|ENGINE --run DIR [--games N] [options]"
EXAMPLE = """examples:
  tuner games classic --run games --games 6000
  tuner tune classic games -o learned.yaml
  tuner games uci:./myengine --run games --games 4000 --depth 6
  tuner games --resume games --games 60000
  tuner games my.yaml --run games --nodes 800 --noise 15 \\
    --resign movecount=3 score=800 --draw off
  tuner games my.yaml --run games --syzygy ~/tables --openings book.epd.zip
"""
TABLE: Table = (
    Option(
        ("params",),
        "parameter file that plays, or a bundled one: classic, ...; or an engine: uci:COMMAND, ...",
        metavar="PARAMS",
        nargs="?",
    ),
    Option(("--run",), "folder to write the games to; new or empty", metavar="DIR"),
    resume("the games", "; --games N sets a new total"),
    *options_in(GamesOptions, "games depth nodes noise"),
    TERMS,
    Title("engine"),
    *options_in(GamesOptions, "vary hash options"),
    Title("games"),
    *options_in(GamesOptions, "random_plies openings plies seed"),
    Title("adjudication"),
    *options_in(GamesOptions, "resign draw syzygy play_on"),
    Title("machine"),
    *options_in(GamesOptions, "workers"),
    cluster("play"),
)


def run(arguments: Arguments) -> RunResult:
    from tuner.commands.display import play
    from tuner.play.own_games.run import OwnGamesRun
    from tuner.play.own_games.settings import games_settings

    def new() -> GamesSettings:
        if arguments.params is None or arguments.run is None:
            raise InputError(
                "games: expected PARAMS, the file that plays, and --run DIR, or --resume DIR; see"
                " tuner games --help"
            )
        return games_settings(arguments.params, arguments.given_for(GamesOptions), arguments.terms)

    return play(arguments, OwnGamesRun, new)
