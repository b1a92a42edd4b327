"""Checks of phases, evaluations and the search."""

from __future__ import annotations

import numpy as np

from games.conformance.subject import Subject
from games.search.searcher import SMALL_ADVANTAGE, Found, Limits, Searcher

SEARCHED = 12  # positions
MARGIN = 60.0  # centipawns: SMALL_ADVANTAGE of searches over dice
CLOSE = 1e-6  # in v


def check_phases(subject: Subject) -> None:
    """Phases are within bounds, evaluations are finite."""
    phase, evaluation = subject.evaluation.phase_of(subject.positions), subject.evaluation.evaluate(subject.positions)
    for words, p, value in zip(subject.positions, phase, evaluation, strict=True):
        subject.expect(0 <= p <= subject.evaluation.phases, words, f"phase {p}, expected 0 to {subject.evaluation.phases}")
        subject.expect(np.isfinite(value), words, f"evaluation {value}")


def check_search(subject: Subject) -> None:
    """Both modes of the search find legal moves and do not change their argument. The value of an exact search is the static
    evaluation at the end of its PV; at depth 2 it is the best value over all moves, each searched one ply deep."""
    game, evaluation = subject.game, subject.evaluation
    assert game.searcher is not None, "this check is chosen for games with a search"
    exact, playing = (game.searcher(evaluation.function, evaluation.weights, kind, 0.0, 1) for kind in (False, True))
    goes_on = [words for words in subject.positions if game.result([words]) is None]
    chosen = np.random.default_rng(subject.seed).permutation(len(goes_on))[:SEARCHED]
    for words in (goes_on[i] for i in chosen):
        moves, before = game.legal_moves(words), words.copy()
        for searcher in (exact, playing):
            for depth in (1, 2):
                found = searcher.search([words], Limits(depth=depth))
                subject.expect(found.move in moves, words, f"depth {depth}: the search finds {found.move}, no legal move")
        subject.expect(np.array_equal(words, before), words, "a search changes its line")
        shallow, deep = (exact.search([words], Limits(depth=depth)) for depth in (1, 2))
        for depth, found in ((1, shallow), (2, deep)):
            expected = value_of_pv(subject, words, found, depth)
            subject.expect(found.value == expected, words,
                           f"depth {depth}: the search returns {found.value}, the end of its PV has {expected}")
        best = max(value_of_reply(subject, exact, words, move) for move in moves)
        subject.expect(comparable(deep) == best, words,
                       f"depth 2: the search returns {comparable(deep)}, its best move has {best}")


def check_dice_search(subject: Subject) -> None:
    """Searches find legal moves and do not change their argument. One ply deep, the value is that of the position after the best
    move."""
    game, evaluation = subject.game, subject.evaluation
    assert game.searcher is not None and game.deepest is not None, "this check is chosen for games with a search over dice"
    scale = SMALL_ADVANTAGE / MARGIN
    searcher = game.searcher(evaluation.function, evaluation.weights, False, MARGIN, 1)
    goes_on = [words for words in subject.positions if game.result([words]) is None]
    chosen = np.random.default_rng(subject.seed).permutation(len(goes_on))[:SEARCHED]
    for words in (goes_on[i] for i in chosen):
        before, moves, sign = words.copy(), game.legal_moves(words), -1 if game.second_to_move(words) else 1
        after = [game.play(words, move) for move in moves]
        rewards = [game.result([position]) for position in after]
        statics = np.tanh(scale * evaluation.evaluate(np.array(after)))
        values = sign * np.array([v if reward is None else reward for v, reward in zip(statics, rewards, strict=True)])
        for depth in range(1, game.deepest + 1):
            found = searcher.search([words], Limits(depth=depth))
            subject.expect(found.move in moves, words, f"depth {depth}: the search finds {found.move}, no legal move")
            if depth == 1:
                value = values[np.flatnonzero(np.array(moves) == found.move)[0]]
                subject.expect(abs(value - values.max()) < CLOSE, words,
                               f"the search finds a move of {value}, best {values.max()}")
                own = np.tanh(scale * found.value) if found.reward is None else found.reward
                subject.expect(abs(own - value) < CLOSE, words, f"the search returns {own}, its move has {value}")
        subject.expect(np.array_equal(words, before), words, "a search changes its line")


def comparable(found: Found) -> float:
    """Return the value of a search; infinite for a win or loss, at any distance."""
    return found.value if found.win_in is None else np.inf * np.sign(found.win_in)


def value_of_pv(subject: Subject, words: np.ndarray, found: Found, depth: int) -> float:
    """Return the static value at the end of the PV, for the side to move in the position searched."""
    game, line = subject.game, [words]
    for move in found.pv:
        subject.expect(move in game.legal_moves(line[-1]), words, f"depth {depth}: move {move} of the PV is illegal")
        line.append(game.play(line[-1], move))
    result, sign = game.result(line), -1 if game.second_to_move(words) else 1
    if result is not None:
        return found.value if result and sign * result == np.sign(found.win_in or 0) else 0.0
    subject.expect(len(found.pv) >= depth, words, f"depth {depth}: the PV has {len(found.pv)} moves")
    return sign * float(subject.evaluation.evaluate(line[-1][None])[0])


def value_of_reply(subject: Subject, searcher: Searcher, words: np.ndarray, move: int) -> float:
    """Return the value of a move for its player, by a search of the next ply; infinite for a win or loss."""
    game = subject.game
    after = game.play(words, move)
    result = game.result([words, after])
    if result is None:
        return -comparable(searcher.search([after], Limits(depth=1)))
    return (-np.inf if game.second_to_move(words) else np.inf) * result if result else 0.0
