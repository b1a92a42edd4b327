"""Strength as a function of some numbers, games between settings of them, and SPSA as it is
published, to judge methods of optimization."""

import numpy as np

from tuner.optimize.numbers import Number

KINDS = ("quadratic", "correlated", "flat", "cliff")
LOSS = 60.0  # Elo between the given values, 0, and the best
OPENINGS = 80.0  # Elo: standard deviation of what an opening is worth to one side
DRAWS = 0.55  # of games between equals
NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(40)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


def numbers_of(size):
    return [Number(f"n{i}", False, 0.0, -1.0, 1.0, 0.1, 0.002) for i in range(size)]


def strength(kind, size, seed):
    """Return Elo as a function of values (n, size) from -1 to 1, and the best values (size,)."""
    r = np.random.default_rng((KINDS.index(kind) + 1, size, seed))
    best = r.uniform(-0.6, 0.6, size)
    if kind == "correlated" and size > 1:
        q, _ = np.linalg.qr(r.normal(size=(size, size)))
        form = q @ np.diag(np.exp(np.linspace(0, np.log(30), size))) @ q.T
    else:
        form = np.diag(np.exp(r.normal(0, 0.7, size)))
    form = form / (best @ form @ best)
    sides = r.choice([-1.0, 1.0], size)

    def away(u):
        return np.einsum("ni,ij,nj->n", u - best, form, u - best)

    def falls(u):
        beyond = (u - best) * sides * np.sqrt(form.diagonal())
        return 2 * np.maximum(0, beyond - 0.05).sum(1)

    return {
        "flat": lambda u: -LOSS * away(u) ** 2,
        "cliff": lambda u: -LOSS * (away(u) + falls(u)),
    }.get(kind, lambda u: -LOSS * away(u)), best


def expected(elo):
    """Return the Elo that scores show of a difference in strength, over all openings."""
    p = (1 / (1 + 10 ** (-(np.atleast_1d(elo)[:, None] + OPENINGS * NODES) / 400))) @ WEIGHTS
    return 400 * np.log10(p / (1 - p))


def scores(elo, generator):
    """Return the scores (n,) of pairs of games with these differences of strength (n,)."""
    openings, total = generator.normal(0, OPENINGS, len(elo)), np.zeros(len(elo))
    for side in (1, -1):
        p = 1 / (1 + 10 ** (-np.clip(elo + side * openings, -4000, 4000) / 400))
        draws = np.minimum(4 * DRAWS * p * (1 - p), 2 * np.minimum(p, 1 - p))
        u = generator.random(len(elo))
        total += np.where(u < p - draws / 2, 1, np.where(u < p + draws / 2, 0.5, 0))
    return total / 2


def published_spsa(functions, size, pairs, generator):
    """Return the values (seeds, size) after so many pairs by fishtest's SPSA, A a tenth of them,
    c_end a twentieth of the range and r_end 0.002, for each of some functions of strength."""
    theta = np.zeros((len(functions), size))
    c = 0.1 * pairs**0.101
    a = 0.002 * 0.1**2 * (0.1 * pairs + pairs) ** 0.602
    for k in range(1, pairs + 1):
        c_k = c / k**0.101
        r_k = a / (0.1 * pairs + k) ** 0.602 / c_k**2
        flips = generator.choice((-1.0, 1.0), theta.shape)
        up, down = np.clip(theta + c_k * flips, -1, 1), np.clip(theta - c_k * flips, -1, 1)
        elo = [f(u[None])[0] - f(d[None])[0] for f, u, d in zip(functions, up, down, strict=True)]
        result = 4 * scores(np.array(elo), generator) - 2
        theta = np.clip(theta + (r_k * c_k * result)[:, None] * flips, -1, 1)
    return theta


def optimised(method, kind, size, pairs, seed, marks):
    """Return the estimates of a method after so many pairs each (`marks`), fed in batches as
    threads do, with the regret of its best values, and whether the intervals hold the truth: shares
    of optima and worths, and the gain."""
    elo, best = strength(kind, size, seed)
    generator, found = np.random.default_rng((9, seed)), {}
    run, played = method(numbers_of(size), seed), 0
    for mark in sorted(marks):
        while played < mark:
            batch = min(max(16, played // 16), mark - played)
            values = [run.proposal(played + i) for i in range(batch)]
            a, b = (np.array(side) for side in zip(*values, strict=True))
            for i, score in enumerate(scores(elo(a) - elo(b), generator)):
                run.add(played + i, a[i], b[i], score)
            played += batch
        e = run.estimate()
        here, back = elo(e.best[None]), np.tile(e.best, (size, 1))
        np.fill_diagonal(back, 0.0)
        worth, gain = expected(here - elo(back)), expected(here - elo(np.zeros((1, size))))
        found[mark] = (
            e,
            float((elo(best[None]) - here)[0]),
            float(((e.low <= best) & (best <= e.high)).mean()),
            float((np.abs(worth - e.worth) <= 1.96 * e.worth_error).mean()),
            float((np.abs(gain - e.gain.value) <= e.gain.half_width)[0]),
        )
    return found
