"""Piece values from self-play, by log loss and squared error, exact gradients and differences

after a message on tuning evaluations (2019): games of 400 nodes a move from many random openings,
positions of all games in random order, log loss or squared error of the predicted result,
gradients exact or by central differences, a learning rate that is halved on a schedule. No
figures are given.
"""

from study import Study, elo

import tuner

PIECES = ("knight", "bishop", "rook", "queen")


def main() -> None:
    study = Study(__doc__)
    games, number = (60, 20) if study.quick else (3000, 400)
    played = study.new("games")
    study.tuner("games", "pesto", "--nodes", 400, "--games", games, "--run", played)
    start = study.material("start", 100, 400, 400, 600, 1200)
    ways = [
        (loss, gradient)
        for loss in ("cross-entropy", "mse", "ordered")
        for gradient in ("analytic", "finite-difference")
        if loss != "ordered" or gradient == "analytic"
    ]
    rows, lines = [], {}
    for loss, gradient in ways:
        out = study.folder / f"{loss}-{gradient}.yaml"
        study.tuner(
            "tune",
            start,
            played,
            "--method",
            "logistic",
            "--loss",
            loss,
            "--gradient",
            gradient,
            "--learner",
            "adam",
            "--iterations",
            4,
            "--per-game",
            20,
            "--prior",
            "none",
            "-o",
            out,
        )
        found = tuner.load(out)
        means = {piece: sum(found[f"material.{piece}"].values()) for piece in ("pawn", *PIECES)}
        values = [float(means[piece] / means["pawn"]) for piece in PIECES]
        match = study.tuner("match", out, start, "--depth", 3, "--games", number)
        lines[f"{loss}, {gradient}"] = list(enumerate(values))
        rows.append(
            (
                loss,
                gradient,
                *(f"{value:.2f}" for value in values),
                elo(match),
            )
        )
    study.picture("knight, bishop, rook, queen", "value, in pawns", lines)
    study.finish(
        ("loss", "gradient", *PIECES, "Elo against the start, depth 3"),
        rows,
        f"{games:,} games of `pesto` against slightly noisy copies at 400 nodes a move; means of"
        " middlegame and endgame, in pawns.",
    )


if __name__ == "__main__":
    main()
