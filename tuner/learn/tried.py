"""`tuner tune --try MINUTES`: steps of several lengths from the start towards the weights that
predict results best, judged by matches against the start.

Half of the time is a ladder: all steps play, the better half of them plays on, until one is left.
It was chosen because it did well, so the other half of the time is a final match from other
openings, and only that match decides whether the step is written."""

from __future__ import annotations

import time
from dataclasses import replace

from tuner.fit.result import FitResult, at_share
from tuner.io.terminal import Display
from tuner.learn.own_games import played
from tuner.learn.rounds import Fitted
from tuner.learn.targets import Start
from tuner.parallel import Executor
from tuner.results.fit import RoundMatch, Tried, match_text, share_text

SHARES = (0.25, 0.5, 1.0)  # of the way, beside the step that `--prior play` takes
APART = 1.3  # ratio of two shares that are worth telling apart
LADDER = 0.5  # share of the time
MIN_GAMES, MIN_FINAL = 40, 200  # of a match of the ladder, and of the final one


def try_steps(
    begun: Start,
    fitted: Fitted,
    executor: Executor,
    command: str,
    display: Display,
) -> tuple[Fitted, Tried | None]:
    """Return what was fitted at the share of the way that won the ladder, and all matches; the same
    and None without --try. KeyboardInterrupt if a match is interrupted."""
    result, options = fitted.result, fitted.options
    if options.try_ is None:
        return fitted, None
    display.begin("trying steps")
    if not result.share:
        return fitted, Tried()
    seconds, began, total = 60 * options.try_, time.monotonic(), 0

    def match(step: FitResult, share: float, fewest: int, number: int) -> RoundMatch:
        """Play for this share of all the time, at the pace so far."""
        nonlocal total
        games = fewest
        if total:
            pace = (time.monotonic() - began) / total
            games = max(fewest, 2 * int(share * seconds / pace / 2))
        seed, after = options.seed + 1000 * number, step.parameters
        found = played(
            begun.parameters, after, games, seed, options.terms, executor, command, display
        )
        total += games
        display.note(f"{share_text(step.share)} of the way: {match_text(found)} against the start")
        return replace(found, share=round(step.share, 4))

    steps = [at_share(result, begun.parameters, share) for share in shares_to_try(result.share)]
    points, games = dict.fromkeys(map(id, steps), 0.0), dict.fromkeys(map(id, steps), 0)
    ladder: list[RoundMatch] = []
    number, rounds = 0, (len(steps) - 1).bit_length()
    while len(steps) > 1:
        number += 1
        for step in steps:
            ladder.append(match(step, LADDER / rounds / len(steps), MIN_GAMES, number))
            points[id(step)] += ladder[-1].score * ladder[-1].games
            games[id(step)] += int(ladder[-1].games)
        steps.sort(key=lambda step: points[id(step)] / games[id(step)], reverse=True)
        steps = steps[: (len(steps) + 1) // 2]
    left = 1 - (time.monotonic() - began) / seconds
    final = match(steps[0], left, MIN_FINAL, number + 1)
    kept = final.elo.low > 0 if final.elo else final.score > 0.5
    return fitted._replace(result=steps[0]), Tried(ladder, final, kept)


def shares_to_try(step: float) -> list[float]:
    """Return the shares of the way that are tried, beside that of `--prior play`."""
    return [step, *(share for share in SHARES if not 1 / APART < share / step < APART)]
