"""King and rook against king: one neuron learns a mate by TD(λ) and TD-Leaf(λ)

as in a dissertation on networks trained by temporal differences (2018), section 3.2.5. From
1k6/8/2K5/3R4/8/8/8/8 w, where 1. Ra5 Kc8 2. Ra8 is mate, games are played two plies deep, which
does not see it. The document: the loss settles after about 60 games; TD-Leaf has fewer draws.
"""

from pathlib import Path

import chess.pgn
from study import Study, mean_sd

START = "1k6/8/2K5/3R4/8/8/8/8 w - - 0 1"
COMMON = ("--openings", START, "--depth", 2, "--explore", 0.3)
NEURON = ("chess", "--hidden", 0)
OWN = ("--truncated", "draw", "--batch", 1, "--lag", 0, "--learning-rate", 0.1)
METHODS = {
    "td": ("--games", 300, "--plies", 4, "--lambda", 1, "--average", 0),
    "td-leaf": ("--games", 600, "--plies", 12, "--lambda", 0.7, "--average", 0.9),
}
DOCUMENT = ("--as", "hui", "--noise", 1, "--games", 60)  # its 3.3.4: a table of men and squares
FILES = "net.yaml", "params.yaml"  # of a network, of a parameter file
WINDOW = 20  # games of a point of the picture


def plies_to_mate(study: Study, learned: Path, seed: int) -> int | None:
    """Return the length of the first game that what was learned plays with itself, by the searches
    that it learned with, which leave nothing out; None without a mate."""
    run = study.new("greedy")
    study.tuner(
        "selfplay",
        learned,
        "--method",
        "td",
        "--openings",
        START,
        "--depth",
        2,
        "--games",
        1,
        "--plies",
        40,
        "--seed",
        seed,
        "--run",
        run,
    )
    with (run / "games.pgn").open() as text:
        game = chess.pgn.read_game(text)
    board = game.end().board()
    return board.ply() if board.is_checkmate() else None


def main() -> None:
    study = Study(__doc__)
    rows, lines = [], {}
    table = study.folder / "table.yaml"
    table.unlink(missing_ok=True)
    study.tuner("params", "--new", "piece_square", "--stages", "all", "-o", table)
    variants = [
        *((method, method, (*NEURON, *OWN, *settings)) for method, settings in METHODS.items()),
        *((f"{method}, as in the document", method, (table, *DOCUMENT)) for method in METHODS),
    ]
    for name, method, settings in variants:
        plies, losses, draws, runs = [], [], [], []
        for seed in range(1, 3 if study.quick else 11):
            run = study.new(f"{name.replace(', ', '-')}-{seed}")
            study.tuner(
                "selfplay",
                *settings,
                *COMMON,
                "--method",
                method,
                "--seed",
                seed,
                "--run",
                run,
            )
            history = study.history(run)
            (learned,) = (path for path in map(run.joinpath, FILES) if path.exists())
            plies.append(plies_to_mate(study, learned, seed))
            losses.append(sum(line["squares"] for line in history[-60:]) / 60)
            draws.append(100 * sum(line["broken_off"] for line in history) / len(history))
            runs.append(history)
        rows.append(
            (
                name,
                len(runs[0]),
                *(f"{sum(n in range(most + 1) for n in plies)} of {len(runs)}" for most in (3, 13)),
                mean_sd(losses, 4),
                mean_sd(draws),
            )
        )
        lines[name] = [
            (
                end,
                sum(line["squares"] for run in runs for line in run[end - WINDOW : end])
                / (WINDOW * len(runs)),
            )
            for end in range(WINDOW, len(runs[0]) + 1, WINDOW)
        ]
    study.picture("games", "mean squared error", lines)
    study.finish(
        (
            "method",
            "games",
            "seeds that mate in three plies",
            "in thirteen",
            "squared error, last 60 games",
            "games without a mate, %",
        ),
        rows,
        "Games of TD end after 4 plies, those of TD-Leaf after 12, so that draws are not those of"
        " the document.",
        "A longer mate is worth as much as a short one to TD(λ) without discount: what makes the"
        " short one better is that longer games are cut off as draws.",
    )


if __name__ == "__main__":
    main()
