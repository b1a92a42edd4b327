"""What matches and tournaments found so far, read from their folders."""

import math
from pathlib import Path

from games.record import find
from tuner.io.run_folder import read_settings
from tuner.options.match import SECTION, TOURNAMENT_SECTION, MatchSettings, TournamentSettings
from tuner.play.match.journal import PairLine, read_pairs
from tuner.play.match.setup import test_of
from tuner.play.match.tally import Tally, result_of
from tuner.play.match.tournament import standings_of
from tuner.results.match import MatchResult, Moment, points_difference
from tuner.results.standings import Standings
from tuner.statistics.pentanomial import summarise

MOST_MOMENTS = 400


def read_match(folder: Path) -> MatchResult:
    """Read the match in a folder so far, with its course; InputError if there is none or a line is
    damaged."""
    settings = read_settings(folder, SECTION, MatchSettings)
    game = find(settings.game)
    test = test_of(settings, game)
    tally, course = Tally(test, game.points), list[Moment]()
    first = [line for line in read_pairs(folder, game.points) if line.leg == 0]
    step = max(1, len(first) // MOST_MOMENTS)
    for i, line in enumerate(first):
        tally.add(line)
        if i % step == 0 or i == len(first) - 1:
            found = (
                points_difference(tally.point_results)
                if game.in_points
                else summarise(tally.results.pairs).elo
            )
            course.append(Moment(2 * (i + 1), found, tally.llr if test else math.nan))
    return result_of(settings, game, tally, test, course=course, run=str(folder))


def read_standings(folder: Path) -> tuple[Standings, list[PairLine]]:
    """Read the standings of the tournament in a folder so far, and its pairs; InputError if a line
    is damaged."""
    settings = read_settings(folder, TOURNAMENT_SECTION, TournamentSettings)
    game = find(settings.game)
    lines = read_pairs(folder, game.points, len(settings.pairings))
    tallies = [Tally(None, game.points) for _ in settings.pairings]
    for line in lines:
        tallies[line.leg].add(line)
    return standings_of(settings, game, tallies), lines
