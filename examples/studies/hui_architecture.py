"""Layers grown greedily, width by width, on the list of pieces

as in a dissertation on networks trained by temporal differences (2018), section 3.2.2: for each new
layer the width that predicts most winners of held-out games is kept, and all weights are drawn
again. The document found widths of 384, 315, 80, 10, 5, 2 and 1, "not stable".
"""

from functools import partial

from hui_representations import GAMES
from study import Study, two_at_a_time

WIDTHS = (4, 16, 64, 256)
MOST_LAYERS = 3


def main() -> None:
    study = Study(__doc__)

    def share(hidden: tuple[int, ...], seed: int) -> float:
        widths = ",".join(map(str, hidden)) or "0"
        found = study.tuner(
            *("network", "classic", *GAMES, "--from-share", 0.5, "--encoding", "pieces384"),
            *("--hidden", widths, "--seed", seed, "-o", study.folder / f"{seed}-{widths}.yaml"),
        )
        return 100 * found["winners"][-1]["share"]["value"]

    rows, drawn = [], {}
    for seed in [1] if study.quick else [1, 2, 3]:
        hidden: tuple[int, ...] = ()
        best = share(hidden, seed)
        points = [(0, best)]
        for layer in range(1, 2 if study.quick else MOST_LAYERS + 1):
            widths = WIDTHS[:2] if study.quick else WIDTHS
            layers = [(*hidden, width) for width in widths]
            shares = two_at_a_time(partial(share, seed=seed), layers)
            if max(shares) <= best:
                break
            best = max(shares)
            hidden = layers[shares.index(best)]
            points.append((layer, best))
        drawn[f"seed {seed}"] = points
        rows.append(
            (
                seed,
                "384-" + "-".join(map(str, (*hidden, 1))),
                f"{best:.1f}",
                f"{share((64,), seed):.1f}",
            )
        )
    study.picture("hidden layers", "winners predicted, %", drawn)
    study.finish(
        ("seed", "widths found", "winners predicted, %", "with 64 hidden units, %"),
        rows,
        "One position of each bundled game that ends in mate, from half of it on. The width that is"
        " best of several by chance is kept, so that the share of the widths found is too good.",
    )


if __name__ == "__main__":
    main()
