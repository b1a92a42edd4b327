"""How strong what a run learns is in games without dice, measured as it learns: pairs of games from
the same openings each time, which are not those of the games learned from."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from games.record import Control
from tuner.evaluation.evaluation import Evaluation, quiescence_of
from tuner.options.selfplay import SelfplaySettings
from tuner.parallel import Job, OnThreads, available_cpus, run
from tuner.play.adjudication import adjudication_of
from tuner.play.match.journal import PairLine
from tuner.play.match.pairs import MatchPlayers, MatchSpec, PairTask, pair_text, play_pair
from tuner.play.openings import JUDGE, Generator, start_of
from tuner.play.players import make_player, search_player
from tuner.play.selfplay.measure import MeasuredMatch, due
from tuner.play.selfplay.setup import player_named

SEED = 1 << 41  # added to the seed of a run, for openings of its own
MEGABYTES = 1


@dataclass(frozen=True)
class MeasuredMatches:
    """What a measurement found: a match with each opponent."""

    matches: Sequence[MeasuredMatch]

    @property
    def plain(self) -> list[dict]:
        """As plain data."""
        return [vars(match) for match in self.matches]

    @property
    def text(self) -> str:
        """In a line."""
        return "; ".join(match.text for match in self.matches)


class MatchMeasurement:
    """Measures an evaluation by matches against the players of the settings. `seconds` of CPU time
    went into it. InputError for players that cannot play here."""

    key = "matches"  # of a line of the history

    def __init__(
        self, evaluation: Evaluation, settings: SelfplaySettings, note: Callable[[str], None]
    ) -> None:
        game, self._settings, self.seconds = evaluation.game, settings, 0.0
        self._control = Control(depth=settings.depth, nodes=settings.nodes)
        self._opponents = [
            player_named("--measure", name, game, settings, self._control)
            for name in settings.measure
        ]
        for opponent in self._opponents:
            make_player(opponent, game).close()  # engines start
        plies = game.usual.match_random_plies
        judge = quiescence_of(game, JUDGE).searcher(megabytes=MEGABYTES) if plies else None
        openings = Generator(game, plies, settings.seed + SEED, judge, note)
        self._openings = openings if plies else start_of(game)

    def due(self, before: int, games: int) -> bool:
        """Return whether to measure after `games` games, if there were `before` a batch earlier."""
        return due(self._settings, before, games)

    def of(
        self, evaluation: Evaluation, interrupted: threading.Event | None = None
    ) -> MeasuredMatches | None:
        """Measure an evaluation; None if that was interrupted."""
        settings, begun = self._settings, time.process_time()
        learner = search_player("learner", evaluation, self._control, MEGABYTES)
        spec = MatchSpec(
            evaluation.game.name,
            settings.measure_plies or 0,
            adjudication_of(None, None),
            tuple((learner, opponent) for opponent in self._opponents),
            settings.seed,
            False,
            "",
        )
        pairs = settings.measure_games // 2
        tasks = (
            PairTask(leg, number, self._openings.opening(number))
            for number in range(pairs)
            for leg in range(len(self._opponents))
        )
        executor = OnThreads(settings.workers or available_cpus())
        with executor.start(Job(MatchPlayers, play_pair, spec, pair_text)) as playing:
            lines = [pair.line for pair in run(playing, tasks, interrupted)]
        self.seconds += time.process_time() - begun
        if len(lines) < pairs * len(self._opponents):
            return None
        return MeasuredMatches(
            [
                _match_of(opponent.name, [line for line in lines if line.leg == leg])
                for leg, opponent in enumerate(self._opponents)
            ]
        )


def _match_of(opponent: str, lines: Sequence[PairLine]) -> MeasuredMatch:
    games = [
        (outcome, plies)
        for line in lines
        for outcome, plies in zip(line.outcomes, line.plies, strict=True)
    ]
    won = sorted(plies for outcome, plies in games if outcome > 0)
    draws = sum(outcome == 0 for outcome, _ in games)
    return MeasuredMatch(opponent, len(games), len(won), draws, won)
