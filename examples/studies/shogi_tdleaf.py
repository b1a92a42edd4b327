"""Shogi: values of men, squares round the king and places relative to it, by TD-Leaf(λ)

after a study of learning a shogi evaluation by temporal differences: P = 1 / (1 + exp(-e /
1000)), λ 0.9, games that leave given ones between plies 10 and 50, a pawn fixed at 100, no weight
moves by more than 20 at a step. Its tables 3 to 5, and sections 4.2 to 4.4.
"""

from study import Study, mean_sd

GAMES = ("--openings", "samples", "--from-ply", "10:50", "--plies", 256)
COMMON = (*GAMES, "--lambda", 0.9, "--method", "td-leaf", "--largest-step", 20)
# alpha, between 0 and 1 there, is 8,000 times our rate, in units of a pawn of 100
DOCUMENT = (*GAMES, "--as", "shogi")
PUBLISHED = {
    "material": {
        "rook": 842,
        "bishop": 754,
        "gold": 641,
        "silver": 554,
        "knight": 334,
        "lance": 224,
    },
    "promoted": {
        "rook": 1309,
        "bishop": 1104,
        "silver": 399,
        "knight": 361,
        "lance": 336,
        "pawn": 533,
    },
    "hand": {
        "rook": 1128,
        "bishop": 857,
        "gold": 740,
        "silver": 602,
        "knight": 428,
        "lance": 436,
        "pawn": 114,
    },
}
ROUND_THE_KING = (-110, -99, -84, -102, -83, -95, -125, 71)
TERMS = (
    "material",
    "promoted",
    "hand",
    "turn",
    "king_ring",
    "piece_square",
    "mobility",
    "king_relative",
)


def main() -> None:
    study = Study(__doc__)
    seeds, games, depth = ([1], 16, 1) if study.quick else ([1, 2, 3, 4], 1000, 3)
    values, as_given, lines = {}, {}, {}
    men = ("--fixed", "material.pawn", "--depth", depth, "--games", games)
    for seed in seeds:
        run = study.new(f"document-{seed}")
        study.tuner(*("selfplay", "shogi/hand", *DOCUMENT, *men, "--seed", seed, "--run", run))
        learned = study.load(run / "params.yaml")
        for term, published in PUBLISHED.items():
            for man in published:
                value = float(learned[f"{term}.{man}"]["all"])
                as_given.setdefault((term, man), []).append(value)
        run = study.new(f"men-{seed}")
        study.tuner("selfplay", "shogi/hand", *COMMON, *men, "--seed", seed, "--run", run)
        learned = study.load(run / "params.yaml")
        for term, published in PUBLISHED.items():
            for man in published:
                values.setdefault((term, man), []).append(float(learned[f"{term}.{man}"]["all"]))
        for line in study.history(run):  # 4.4: how many games are enough
            for man in ("rook", "bishop", "gold", "lance"):
                lines.setdefault(man, {}).setdefault(line["games"], []).append(line["values"][man])
    start = study.load("shogi/hand")
    rows = [
        (
            f"{term}.{man}",
            round(float(start[f"{term}.{man}"]["all"])),
            published,
            mean_sd(values[term, man], 0),
            mean_sd(as_given[term, man], 0),
        )
        for term, men in PUBLISHED.items()
        for man, published in men.items()
    ]
    whole = study.folder / "whole.yaml"
    relative = study.folder / "relative.yaml"
    for path in (whole, relative):
        path.unlink(missing_ok=True)
    study.tuner("params", "--new", "king_relative", "--game", "shogi", "-o", relative)
    study.load("shogi/classic").save(whole)
    whole.write_text(whole.read_text() + relative.read_text().partition("weights:\n")[2])
    for term in ("king_ring", "king_relative"):  # 4.2, 4.3
        fixed = [word for other in TERMS if other != term for word in ("--fixed", f"{other}.*")]
        found = []
        for seed in seeds:
            run = study.new(f"{term}-{seed}")
            study.tuner(
                "selfplay",
                whole,
                *COMMON,
                *fixed,
                "--depth",
                min(depth, 2),
                "--games",
                games,
                "--seed",
                seed,
                "--run",
                run,
            )
            found.append(study.load(run / "params.yaml"))
        if term == "king_ring":
            name, before = "king_ring.attacked", study.load("shogi/classic")
            places = [i for i in range(9) if i != 4]
            rows += [
                (
                    f"{name}, square {i}",
                    round(float(before[name]["all"].flat[i])),
                    published,
                    mean_sd([float(one[name]["all"].flat[i]) for one in found], 0),
                    "",
                )
                for i, published in zip(places, ROUND_THE_KING, strict=True)
            ]
        else:
            names = [name for name in found[0].names if name.startswith(term)]
            sizes = [[abs(x) for name in names for x in one[name]["all"].flat] for one in found]
            rows.append(
                (
                    f"{term}, {len(sizes[0]):,} numbers: mean size",
                    "-",
                    "13,104 numbers",
                    mean_sd([sum(each) / len(each) for each in sizes]),
                    "",
                )
            )
    study.picture(
        "games",
        "value on the board, mean of the seeds",
        {
            man: [(at, sum(all_) / len(all_)) for at, all_ in sorted(found.items())]
            for man, found in lines.items()
        },
    )
    study.finish(
        ("weight", "start", "document", "ours, mean ± SD", "update as in the document"),
        rows,
        "Which square is which in 4.2, and how the 13,104 numbers of 4.3 are laid out, cannot be"
        " decided from the document; ours are places relative to the king, mirrored, and fewer.",
    )


if __name__ == "__main__":
    main()
