"""A linear board and a medium network against a random mover, by games of training

as in a dissertation on networks trained by temporal differences (2018), section 4.1: λ 0.7, games
of 160 plies at most after 4 random ones, every 50 games 100 games against random moves, won
within 80 plies. The document: TD(λ) at depth 4 peaks at 84 % (73 to 79.8 %), at depth 2 at 76 %,
TD-Leaf at 75 %; strength declines by 1,100 games; the medium network is "similar".
"""

import math

from study import Study, mean_sd, wilson

DOCUMENT = ("--as", "hui", "--noise", 1)
COMMON = ("--lambda", 0.7, "--plies", 160, "--random-plies", 4)
MEASURE = ("--measure", "random", "--measure-plies", 80)
LINEAR = ("chess", "--encoding", "antisymmetric384", "--hidden", 0)
MEDIUM = ("chess", "--hidden", 64)
TABLE = "table"  # its 3.3.4: a number for each man and square, x - x of the mirrored board
RUNS = {  # what learns, the method, plies, games, seeds, what the document has
    "linear, TD(λ), depth 4": (LINEAR, "td", 4, 500, 3, "84, 73 to 79.8"),
    "linear, TD(λ), depth 2": (LINEAR, "td", 2, 1100, 3, "76"),
    "linear, TD-Leaf(λ), depth 2": (LINEAR, "td-leaf", 2, 1100, 3, "75"),
    "medium, TD-Leaf(λ), depth 2": (MEDIUM, "td-leaf", 2, 1100, 3, "similar"),
    "linear, TD(λ), depth 2, as in the document": ((TABLE, *DOCUMENT), "td", 2, 500, 10, "76"),
}


def main() -> None:
    study = Study(__doc__)
    every, number = (20, 20) if study.quick else (50, 100)
    rows, lines = [], {}
    table = study.folder / "table.yaml"
    table.unlink(missing_ok=True)
    study.tuner("params", "--new", "piece_square", "--stages", "all", "-o", table)
    chosen = list(RUNS.items())[1:] if study.quick else list(RUNS.items())
    for name, ((start, *what), method, depth, games, seeds, published) in chosen:
        peaks, ends, points = [], [], {}
        seeds = range(1, 2 if study.quick else seeds + 1)
        for seed in seeds:
            run = study.new(f"{method}-{depth}-{len(what)}-{what[-1]}-{seed}")
            study.tuner(
                "selfplay",
                table if start == TABLE else start,
                *what,
                "--method",
                method,
                "--depth",
                depth,
                *COMMON,
                *MEASURE,
                "--measure-every",
                every,
                "--measure-games",
                number,
                "--games",
                40 if study.quick else games,
                "--seed",
                seed,
                "--run",
                run,
            )
            won = [
                (line["games"], line["matches"][0]["wins"])
                for line in study.history(run)
                if "matches" in line
            ]
            for at, wins in won:
                points[at] = points.get(at, 0) + wins
            peaks.append(100 * max(wins for _, wins in won) / number)
            ends.append(100 * won[-1][1] / number)
        tried = number * len(seeds)
        lines[name] = [(at, wins / tried, *wilson(wins, tried)) for at, wins in points.items()]
        # whether less is won at the end than halfway, of as many games
        shares = [lines[name][len(lines[name]) // 2][1], lines[name][-1][1]]
        error = math.sqrt(sum(share * (1 - share) / tried for share in shares)) or 1.0
        decline = (shares[1] - shares[0]) / error
        played = won[-1][0]
        learned = (mean_sd(peaks), mean_sd(ends), f"{decline:+.1f}")
        rows.append((name, played, len(seeds), published, *learned))
    for name in ("zero", "material"):
        found = study.tuner(
            "match",
            name,
            "random",
            "--depth",
            2,
            "--plies",
            80,
            "--games",
            number * 2,
            "--random-plies",
            4,
        )
        share = 100 * found["wins"] / found["games"]
        rows.append((f"{name}, without learning, depth 2", *"----", f"{share:.1f}", "-"))
    study.picture("games of training", "share won within 80 plies, with 95 % interval", lines)
    study.finish(
        (
            "player",
            "games",
            "seeds",
            "document, %",
            "best checkpoint, %",
            "last checkpoint, %",
            "last beside halfway, z",
        ),
        rows,
        f"Each checkpoint plays {number} games. The best of several checkpoints is too good by"
        " chance; a z of -2 would be a decline.",
        "Random moves are a weak yardstick: see `material`, which learned nothing.",
    )


if __name__ == "__main__":
    main()
