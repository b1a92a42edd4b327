"""EXchess and KnightCap: piece values by TD-Leaf(λ), against opponents that are not the learner

after a message on EXchess (2000) and KnightCap: v = tanh(0.00255 e), λ 0.7 for each move of one's
own (0.837 a ply), errors after mistakes of the opponent that were not predicted are left out, 308
games. EXchess: "so far it seems to work for the piece values". KnightCap rose from 1650 to 2150 in
308 games, with many more terms.
"""

from study import Study, elo

PIECES = ("knight", "bishop", "rook", "queen")
AGAINST = ("--depth", 3, "--opponent", "material", "--opponent", "pesto")


def main() -> None:
    study = Study(__doc__)
    games, number, seeds = (16, 8, [1]) if study.quick else (308, 60, [1, 2, 3, 4, 5])
    start = study.material("equal", 100, 100, 100, 100, 100)
    rows, lines, ratings = [], {}, {}
    for seed in seeds:
        run = study.new(f"seed-{seed}")
        study.tuner(
            "selfplay",
            start,
            *("--method", "td-leaf", "--lambda", 0.837),
            *AGAINST,
            "--games",
            games,
            "--measure",
            "random",
            "--measure-every",
            max(1, games // 6),
            "--measure-games",
            6,
            "--seed",
            seed,
            "--run",
            run,
        )
        for line in study.history(run):
            pawn = line["values"]["pawn"]
            for piece in PIECES:
                lines.setdefault(piece, {}).setdefault(line["games"], []).append(
                    line["values"][piece] / pawn
                )
        last = study.history(run)[-1]["values"]
        ladder = study.tuner(
            "tournament",
            run,
            start,
            "zero",
            "material",
            "--depth",
            3,
            "--games",
            number,
        )
        points = []
        for one in ladder["players"]:
            name, rating = one["name"], one["rating"]
            if name == start.stem or name.startswith(run.name):
                at = 0 if name == start.stem else int(name.split()[-1])
                value = rating["value"]
                known = rating["standard_error"] is not None
                ends = (rating["low"], rating["high"]) if known else (value, value)
                points.append((at, value, *ends))
        ratings[f"seed {seed}"] = sorted(points)
        as_given = study.new(f"document-{seed}")
        study.tuner(
            "selfplay",
            *(start, "--as", "exchess", *AGAINST),
            *("--games", games, "--seed", seed, "--run", as_given),
        )
        given = study.history(as_given)[-1]["values"]
        match = study.tuner(
            "match", as_given / "params.yaml", start, "--depth", 3, "--games", 2 * number
        )
        rows.append(
            (
                seed,
                *(f"{last[piece] / last['pawn']:.2f}" for piece in PIECES),
                f"{ratings[f'seed {seed}'][-1][1] - ratings[f'seed {seed}'][0][1]:+.0f}",
                *(f"{given[piece] / given['pawn']:.2f}" for piece in PIECES),
                elo(match),
            )
        )
    study.picture(
        "games",
        "value, in pawns, mean of the seeds",
        {
            piece: [(at, sum(all_) / len(all_)) for at, all_ in sorted(found.items())]
            for piece, found in lines.items()
        },
    )
    study.picture("games", "Elo, with 95 % interval", ratings, "ratings")
    study.finish(
        (
            *("seed", *PIECES, "Elo, from the start to the end"),
            *("as in the document: knight", *PIECES[1:], "Elo against the start"),
        ),
        rows,
        *(
            f"Elo of {name} by games: "
            + ", ".join(
                f"{at}: {value:+.0f}" + f" ± {value - low:.0f}" * (low < value)
                for at, value, low, _ in points
            )
            + "."
            for name, points in ratings.items()
        ),
        "All pieces begin with the value of a pawn; opponents are `material` and `pesto` in turn.",
    )


if __name__ == "__main__":
    main()
