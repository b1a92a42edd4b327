"""The result of a match: Elo in the format of fastchess, or points a game for games that win
several, as text and as a dict for `--json`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist

import numpy as np

from games.record import STALL, Game
from games.streams import InputError
from tuner.core.estimates import Estimate, fixed
from tuner.core.text import duration, plural
from tuner.options.match import MatchSettings
from tuner.play.match.journal import PairLine
from tuner.play.match.setup import AnySettings, Contestants, ladder_lines, row_of
from tuner.play.players import RANDOM, PlayerSpec
from tuner.statistics.pentanomial import Results, mean_points, summarise
from tuner.statistics.sprt import Sprt, decide, expected_pairs_left, log_likelihood_ratio

FEWEST_PAIRS = 3  # that a mean with an error needs
MOST_FAULTS = 0.05  # share of the games


@dataclass(frozen=True)
class PointResults:
    """Counts of a match for the player named first: `pairs` (4 points + 1,) by the points of both
    games, from the fewest on, `games` by points, and points and luck (pairs, 2) of the games in the
    order of the pairs; without luck it is None."""

    pairs: tuple[int, ...]
    games: Counter[int]
    points: np.ndarray
    luck: np.ndarray | None

    @property
    def most(self) -> int:
        """The most points that a game wins."""
        return (len(self.pairs) - 1) // 4


def estimates(results: PointResults) -> tuple[Estimate, Estimate | None, float | None]:
    """Return the points a game from pairs; the same with luck subtracted, None without; and how
    many games with dice of their own and without luck one game counts as, None if unknown. Pairs
    that are all equal show no variance, so there is no interval."""
    pairs, points = len(results.points), results.points.ravel().astype(np.float64)
    if not pairs:
        return Estimate(), None, None
    if pairs < FEWEST_PAIRS:
        return Estimate(float(points.mean())), None, None
    found = mean_points(points).found
    if results.luck is None:
        return found, None, None
    less_luck = mean_points(points, results.luck.ravel())
    return found, less_luck.found, less_luck.gain if math.isfinite(less_luck.gain) else None


def interval_text(estimate: Estimate, pairs: int) -> str:
    """Return how the interval of the points a game was found, or why there is none."""
    if not pairs:
        return "no pair of games has ended"
    if pairs < FEWEST_PAIRS:
        return (
            f"no interval: {pairs} {'pair' if pairs == 1 else 'pairs'}, at least {FEWEST_PAIRS} are"
            " needed"
        )
    if math.isnan(estimate.standard_error):
        return f"no interval: all {pairs} pairs have the same points"
    return "95 %, from pairs"


def superiority(estimate: Estimate) -> float | None:
    """Return the likelihood of superiority: the chance that the first player wins more points than
    it loses."""
    if not estimate.standard_error > 0:
        return None
    return NormalDist().cdf(estimate.value / estimate.standard_error)


def points_block(
    results: PointResults,
    names: tuple[str, str],
    test: Sprt | None = None,
    judge: str | None = None,
) -> str:
    """Lines of a result; the first names the players and the last has the LLR, if given. `judge`
    measured the luck."""
    found, less_luck, gain = estimates(results)
    chance = superiority(found)
    about = interval_text(found, len(results.points))
    lines = [
        f"Results of {names[0]} vs {names[1]}:",
        f"Points a game: {found.text(3, '+')} ({about})",
    ]
    if less_luck is not None:
        more = "" if gain is None else f"; each game counts as {gain:.1f} with dice of their own"
        lines.append(f"Less luck:     {less_luck.text(3, '+')} (luck by {judge}{more})")
    if chance is not None:
        lines.append(f"LOS: {100 * chance:.2f} %")
    games = sum(results.games.values())
    parts = [
        f"Games: {games}",
        *(_won_text(results, word, sign) for word, sign in (("Won", 1), ("Lost", -1))),
    ]
    if results.games[0]:
        parts.append(f"Drawn: {results.games[0]}")
    lines.append(", ".join(parts))
    lines.append(
        f"Pairs by points, {-2 * results.most} to {2 * results.most}: {list(results.pairs)}"
    )
    if test is not None:
        llr, (lower, upper) = log_likelihood_ratio(test, results.pairs), test.bounds
        lines.append(
            f"LLR: {llr + 0.0:.2f} ({lower:.2f}, {upper:.2f}) for {test.elo1:g} rather than"
            f" {test.elo0:g} points a game"
        )
    return "\n".join(lines)


def _won_text(results: PointResults, word: str, sign: int) -> str:
    counts = [results.games[sign * points] for points in range(1, results.most + 1)]
    by_points = ", ".join(f"{count} by {points}" for points, count in enumerate(counts, 1) if count)
    return f"{word}: {sum(counts)}" + (f" ({by_points})" if by_points else "")


def points_dict(
    results: PointResults,
    names: tuple[str, str],
    test: Sprt | None = None,
    judge: str | None = None,
) -> dict:
    """The same as plain numbers, unrounded; unknown ones are None."""
    found, less_luck, gain = estimates(results)
    won, lost = (
        sum(count for points, count in results.games.items() if sign * points > 0)
        for sign in (1, -1)
    )
    plain: dict = {
        "players": list(names),
        "games": sum(results.games.values()),
        "wins": won,
        "losses": lost,
        "draws": results.games[0],
        "by_points": {
            str(points): results.games[points] for points in range(-results.most, results.most + 1)
        },
        "pairs_by_points": list(results.pairs),
        "points_a_game": found.plain,
        "less_luck": (
            None
            if less_luck is None
            else less_luck.plain | {"judge": judge, "games_each_counts_as": gain}
        ),
        "los": superiority(found),
    }
    if test is not None:
        plain["sprt"] = test_dict(test, results.pairs, "points")
    return plain


def test_dict(test: Sprt, pairs: Sequence[int], unit: str) -> dict:
    """Return a test as plain data, in a unit, with what it found."""
    llr = log_likelihood_ratio(test, pairs)
    return {
        "model": test.model,
        f"{unit}0": test.elo0,
        f"{unit}1": test.elo1,
        "alpha": test.alpha,
        "beta": test.beta,
        "llr": llr,
        "bounds": list(test.bounds),
        "decision": decide(test, llr),
    }


def ordered(
    pairs: dict[int, tuple[Sequence[int], Sequence[float] | None]],
) -> tuple[np.ndarray, np.ndarray | None]:
    """Return points and luck (pairs, 2) by the numbers of the pairs; no luck if any pair lacks
    it."""
    found = [pairs[number] for number in sorted(pairs)]
    points = np.array([one for one, _ in found], np.int64).reshape(-1, 2)
    lucks = [luck for _, luck in found if luck is not None]
    return points, np.array(lucks, np.float64) if lucks and len(lucks) == len(found) else None


def result_block(
    results: Results, names: tuple[str, str] | None = None, test: Sprt | None = None
) -> str:
    """Lines of a result, without a newline at the end; the first names the players and the last has
    the LLR, if given.

    Where all pairs are alike, Elo has a bound or an interval that they leave. The percentage after
    the LLR is its share of the bound it approaches, negative towards H0."""
    summary = summarise(results.pairs)
    lines = [] if names is None else [f"Results of {names[0]} vs {names[1]}:"]
    share = results.points / results.games if results.games else math.nan
    lines += [
        f"Elo: {summary.elo.text()}"
        + (f", nElo: {summary.normalized_elo.text()}" if summary.variance > 0 else ""),
        (
            f"LOS: {fixed(100 * summary.los, 2)} %,"
            f" DrawRatio: {fixed(100 * summary.draw_ratio, 2)} %,"
            f" PairsRatio: {fixed(summary.pairs_ratio, 2)}"
        ),
        (
            f"Games: {results.games}, Wins: {results.wins}, Losses: {results.losses}, Draws:"
            f" {results.draws}, Points: {results.points:.1f} ({fixed(100 * share, 2)} %)"
        ),
        f"Ptnml(0-2): {list(results.pairs)}",
    ]
    if test is not None:
        llr = log_likelihood_ratio(test, results.pairs)
        lower, upper = test.bounds
        way = 100 * (llr / upper if llr >= 0 else -llr / lower)
        lines.append(
            f"LLR: {fixed(llr, 2)} ({fixed(way, 1)}%) ({lower:.2f}, {upper:.2f}) "
            f"[{fixed(test.elo0, 2)}, {fixed(test.elo1, 2)}]"
        )
    return "\n".join(lines)


def result_dict(results: Results, names: tuple[str, str], test: Sprt | None = None) -> dict:
    """The same as plain numbers, unrounded; infinite and unknown ones are None, since JSON has
    neither."""
    summary = summarise(results.pairs)
    found = {
        "players": list(names),
        "games": results.games,
        "wins": results.wins,
        "losses": results.losses,
        "draws": results.draws,
        "points": results.points,
        "pentanomial": list(results.pairs),
        "unpaired": results.unpaired,
        "score": _finite(summary.score),
        "variance": _finite(summary.variance),
        "elo": summary.elo.plain,
        "normalized_elo": summary.normalized_elo.plain,
        "los": _finite(summary.los),
        "draw_ratio": _finite(summary.draw_ratio),
        "pairs_ratio": _finite(summary.pairs_ratio),
    }
    if test is not None:
        found["sprt"] = test_dict(test, results.pairs, "elo")
    return found


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None


HALVES = ("0", "½", "1", "1½", "2")


@dataclass(frozen=True)
class Difference:
    """The difference of two players in the `unit`. `surplus` is the mean result of a game minus
    that of equal players, `variance` the variance of the means of pairs; `pairs` are counts by
    result, from the fewest points on, with a label each."""

    unit: str
    digits: int  # after the point, in texts
    found: Estimate
    surplus: float | None
    variance: float | None
    pairs: tuple[int, ...]
    labels: tuple[str, ...]
    about: str = ""  # a remark on the unit

    @property
    def interval(self) -> tuple[float | None, float | None, float | None]:
        """Its value and the ends of its interval; None: unknown or infinite."""
        plain = self.found.plain
        return plain["value"], plain["low"], plain["high"]


def difference_of(tally: Tally, game: Game) -> Difference:
    """Return the difference of the pairs counted so far."""
    return (
        point_difference(tally.point_results) if game.in_points else elo_difference(tally.results)
    )


def elo_difference(results: Results) -> Difference:
    """Return the difference of a match in wins, draws and losses."""
    found = summarise(results.pairs)
    return Difference(
        "Elo",
        0,
        found.elo,
        _finite(found.score - 0.5),
        _finite(found.variance),
        tuple(results.pairs),
        HALVES,
    )


def point_difference(results: PointResults) -> Difference:
    """Return the difference of a match in points, with luck subtracted where it is known."""
    plain, less_luck, _ = estimates(results)
    found, pairs = less_luck or plain, len(results.points)
    variance = _finite(found.standard_error**2 * pairs)
    most = 2 * results.most
    return Difference(
        "points a game",
        3,
        found,
        _finite(found.value),
        variance,
        results.pairs,
        tuple(str(points) for points in range(-most, most + 1)),
        "" if less_luck is None else "luck subtracted",
    )


class Tally:
    """Counts the pairs of one leg, in any order.

    With a test, pairs are counted in the order of their numbers up to the deciding one: the result
    then depends only on the games, not on which of them ended first. `points` are the most that a
    game wins."""

    def __init__(self, test: Sprt | None = None, points: int = 1) -> None:
        self._test = test
        self._most, self._pairs = points, [0] * (4 * points + 1)
        self.games: Counter[int] = Counter()  # by points of the first named player
        self._of_pairs: dict[
            int, tuple[Sequence[int], Sequence[float] | None]
        ] = {}  # points and luck
        self._waiting: dict[int, PairLine] = {}
        self._next = 0
        self.forfeits: Counter[str] = Counter()
        self.ends: Counter[str] = Counter()
        self.plies = 0
        self.decision: str | None = None
        self.llr = 0.0
        self.last: int | None = None  # the pair that decided

    def add(self, line: PairLine) -> None:
        """Add a pair, given as a line of the journal."""
        if self._test is None:
            self._count(line)
            return
        self._waiting[line.pair] = line
        while self.decision is None and self._next in self._waiting:
            self._count(self._waiting.pop(self._next))
            self._next += 1
            self.llr = log_likelihood_ratio(self._test, self._pairs)
            self.decision = decide(self._test, self.llr)
            if self.decision:
                self.last = self._next - 1

    def _count(self, line: PairLine) -> None:
        self._pairs[sum(line.outcomes) + 2 * self._most] += 1
        self.games.update(line.outcomes)
        self._of_pairs[line.pair] = line.outcomes, line.luck
        self.ends.update(line.ends)
        self.plies += sum(line.plies)
        self.forfeits.update(filter(None, line.forfeits))

    def counts(self, pair: int) -> bool:
        """Whether a finished pair was counted."""
        return self._test is None or pair < self._next

    @property
    def results(self) -> Results:
        won, lost = (
            sum(count for points, count in self.games.items() if sign * points > 0)
            for sign in (1, -1)
        )
        return Results(tuple(self._pairs), won, lost, self.games[0])

    @property
    def point_results(self) -> PointResults:
        """The results in points."""
        return PointResults(tuple(self._pairs), self.games, *ordered(self._of_pairs))


def progress_text(
    tally: Tally, test: Sprt | None, game: Game, rate: float | None, most: int | None = None
) -> str:
    """The score so far in one line, with the pace, and of a test how long it is expected to go on;
    `rate` are pairs a second, `most` the pairs after which it ends in any case."""
    results = tally.results
    elo = summarise(results.pairs).elo
    if game.in_points:
        mean = sum(points * count for points, count in tally.games.items()) / max(results.games, 1)
        score = f"{fixed(mean, 3, '+')} points a game"
    elif math.isfinite(elo.half_width):
        score = f"Elo {elo.text(1, '+')}"
    else:
        score = f"+{results.wins} -{results.losses} ={results.draws}"
    parts = [plural(results.games, "game"), score]
    if test is not None:
        lower, upper = test.bounds
        parts.append(f"LLR {tally.llr:.2f} ({lower:.2f}, {upper:.2f})")
        left = expected_pairs_left(test, results.pairs)
        if left is not None and rate:
            if most is not None:
                left = min(left, max(most - sum(results.pairs), 0))
            parts.append(f"about {duration(left / rate)} left")
    return "  ".join(parts) + pace_text(rate)


def pace_text(rate: float | None) -> str:
    """Return pairs a second as text to follow the score: games a second."""
    return "" if rate is None else f"  {2 * rate:.1f} games/s"


def first_forfeit_text(forfeit: str, players: tuple[PlayerSpec, PlayerSpec]) -> str:
    """A remark during the match, about the first game that a player lost by this fault: "a
    crash"."""
    side, _, kind = forfeit.partition(" ")
    player = players["ab".index(side)]
    return f"{player.name} lost a game by {kind}; the match continues{_forfeit_hint(kind, player)}"


def faults_by_side(forfeits: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """Return how often each side lost by each fault, from the numbers of "a crash" and the like."""
    sides: dict[str, dict[str, int]] = {}
    for forfeit, number in sorted(forfeits.items()):
        side, _, kind = forfeit.partition(" ")
        sides.setdefault(side, {})[kind] = number
    return sides


def require_few_faults(forfeits: Mapping[str, Mapping[str, int]], games: float, sides: str) -> None:
    """InputError if players of these sides, "a" or "ab", lost more than 5 % of the games by
    faults."""
    faults = [fault for side, kinds in forfeits.items() if side in sides for fault in kinds.items()]
    if (lost := sum(number for _, number in faults)) > MOST_FAULTS * games:
        kinds = ", ".join(sorted({kind for kind, _ in faults}))
        raise InputError(
            f"{lost} of {games} games were lost by faults of the engine ({kinds}), expected at most"
            f" {100 * MOST_FAULTS:.0f} %"
        )


def _forfeit_hint(kind: str, player: PlayerSpec) -> str:
    """Return a likely reason why a player loses by a fault."""
    if kind == STALL and player.control.nodes is not None:
        return (
            ". Some engines ignore a limit of nodes and search without end: give --depth or"
            " --movetime"
        )
    return ""


def result_texts(
    settings: MatchSettings,
    contestants: Contestants,
    tallies: list[Tally],
    test: Sprt | None,
    about: dict,
) -> tuple[list[str], dict]:
    """Return the result as text and as plain data, with remarks `about` the match."""
    tally, names = tallies[0], settings.names
    game = contestants.game
    lines, plain = result_of(tally, names, test, game, settings.judge)
    openings = openings_text(settings, game)
    lines[0] = f"{lines[0][:-1]} ({settings.conditions}, {openings}):"
    plain |= {
        "control": [settings.control(0).text, settings.control(1).text],
        "openings": openings,
        "seed": settings.seed,
        "total_plies": tally.plies,
        "ends": dict(sorted(tally.ends.items())),
        "forfeits": faults_by_side(tally.forfeits),
        **about,
    }
    if tally.decision:
        lines.append(f"{tally.decision} accepted")
    for side, kinds in faults_by_side(tally.forfeits).items():
        for kind, count in kinds.items():
            hint = _forfeit_hint(kind, contestants.legs[0]["ab".index(side)])
            lines.append(f"Forfeits: {names['ab'.index(side)]} lost {count} by {kind}{hint}")
    if len(tallies) > 1 or (settings.plies and RANDOM in names):
        rows = ladder_of(contestants, tallies)
        plain["ladder"] = {
            "plies": settings.plies,
            "opponent": names[contestants.opponent],
            "rows": rows,
        }
        lines += [
            "",
            *ladder_lines(
                rows,
                settings.plies,
                names[contestants.opponent],
                settings.control(1 - contestants.opponent).text,
            ),
        ]
    return lines, plain


def result_of(
    tally: Tally, names: tuple[str, str], test: Sprt | None, game: Game, judge: str | None
) -> tuple[list[str], dict]:
    """Return the result as lines and as plain data: in Elo, or in points a game if games win
    several; `judge` measured luck."""
    if game.in_points:
        return (
            points_block(tally.point_results, names, test, judge).splitlines(),
            points_dict(tally.point_results, names, test, judge),
        )
    return result_block(tally.results, names, test).splitlines(), result_dict(
        tally.results, names, test
    )


def openings_text(settings: AnySettings, game: Game) -> str:
    if game.has_dice:
        return "the same dice in both games of a pair"
    if settings.openings is not None:
        return Path(settings.openings).name
    if settings.random_plies == 0:
        return "initial position"
    return f"{settings.random_plies} random plies"


def ladder_of(contestants: Contestants, tallies: list[Tally]) -> list[dict]:
    """Return the wins of each player of the ladder against the same opponent."""
    rows = []
    for leg, tally in zip(contestants.legs, tallies, strict=True):
        results = tally.results
        wins = results.wins if contestants.opponent else results.losses
        rows.append(row_of(leg[1 - contestants.opponent].name, wins, results.games))
    return rows
