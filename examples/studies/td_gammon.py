"""TD-Gammon: hidden units, λ, hand-made patterns, one and two rolls deep

after a lecture on TD-Gammon (2000): 198 inputs, 40 and later 80 hidden units, greedy self-play,
small random weights. The document: "λ does not affect the results significantly"; with patterns
and 80 units "a skill level close to the best players"; V is a poor probability, the policy is
good.
"""

import shutil

from study import Study, two_at_a_time

NETWORKS = {
    "40 units": ("--hidden", 40),
    "40 units, λ 0.7": ("--hidden", 40, "--lambda", 0.7),
    "80 units": ("--hidden", 80),
    "40 units and patterns": ("--hidden", 40, "--inputs", "both"),
}
COMMON = ("--encoding", "tesauro198", "--measure", "pubeval")


def main() -> None:
    study = Study(__doc__)
    games, number = (1000, 100) if study.quick else (200_000, 4000)

    def learn(name: str) -> tuple[list[tuple], tuple]:
        """Return points a game by games of training, and the row of the table."""
        run = study.new(name.replace(" ", "-").replace(",", ""))
        study.tuner(
            "selfplay",
            "backgammon",
            *COMMON,
            *NETWORKS[name],
            "--games",
            games,
            "--measure-games",
            number,
            "--run",
            run,
        )
        history = study.history(run)
        measured = [
            (line["games"], *(line["measured"]["points"][key] for key in ("value", "low", "high")))
            for line in history
            if "measured" in line
        ]
        page = study.tuner("report", run, "--calibrate", 100 if study.quick else 2000)
        bins = page["calibration"]["bins"]
        off = sum(abs(one["actual"]["value"] - one["predicted"]) for one in bins) / len(bins)
        _, mean, low, high = measured[-1]
        row = (
            name,
            f"{games:,}",
            f"{mean:+.3f} ± {(high - low) / 2:.3f}",
            f"{100 * off:.1f}",
            f"{history[-1]['cpu_seconds']:.0f}",
        )
        return measured, row

    learned = two_at_a_time(learn, NETWORKS)
    said = []
    network = study.folder / "80-units" / "net.yaml"
    others = [(str(network), "--depth-a", 2)] + [("gnubg:0",)] * bool(
        shutil.which("gnubg", path="/usr/bin:/usr/games")
    )
    for other, *more in others:
        found = study.tuner("match", network, other, *more, "--games", 6 if study.quick else 200)
        what = "itself one roll deep, two rolls deep" if more else other
        points = found["points_a_game"]
        half = (points["high"] - points["low"]) / 2 if points["standard_error"] else 0
        interval = f" ± {half:.3f}" if half else ""
        said.append(
            f"80 units against {what}: {points['value']:+.3f}{interval} points a game"
            f" ({found['games']} games)."
        )
    study.picture(
        "games of training",
        "points a game against pubeval, with 95 % interval",
        {name: points for name, (points, _) in zip(NETWORKS, learned, strict=True)},
    )
    study.finish(
        (
            "network",
            "games",
            "points a game against pubeval",
            "mean error of the value, %",
            "CPU s",
        ),
        [row for _, row in learned],
        *said,
        "The error of the value is that of the expected points, from 0 to 1, in twenty groups of"
        " positions by the value; the policy may be good in spite of it.",
    )


if __name__ == "__main__":
    main()
