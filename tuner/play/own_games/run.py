"""`tuner games`, from settings to a folder of games and its summary."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES, TABLES
from tuner.core.store import Store
from tuner.core.text import plural
from tuner.evaluation.evaluation import Evaluation
from tuner.io.interrupt import interrupts
from tuner.io.run_folder import change_settings
from tuner.io.terminal import Display
from tuner.options.games import SECTION, GamesSettings
from tuner.parallel import Job, Running
from tuner.play.own_games.parts import DRAWN, REVERSED, SAME, Counts, Parts, finished
from tuner.play.own_games.play import BY_SCORES, ENDS, START, games_job, prepared
from tuner.play.rules import ENDING
from tuner.play.run import Run, RunResult
from tuner.statistics.intervals import wilson_interval

ENDED = {
    RULES: "by the rules of the game",
    RESIGN_RULE: "resigned",
    DRAW_RULE: "drawn by scores",
    ENDING: "drawn endings",
    TABLES: "by tables",
    PLIES: "drawn by the move limit",
}


def counts_lines(counts: Counts, settings: GamesSettings, sides: tuple[str, str]) -> list[str]:
    """Return the results of games between these sides, how they ended, and a sentence about each
    rule that some games were played on to check."""
    games = counts["games"][0]
    if not games:
        return []
    wins, draws, losses = counts["outcomes"]
    ends = ((end, counts[f"end_{name}"][0]) for end, name in ENDS.items())
    lines = [
        (
            f"  results        {wins:,} won by {sides[0]}, {losses:,} by {sides[1]}, {draws:,}"
            f" drawn, {counts['plies'][0] / games:.0f} plies a game"
        ),
        "  ended          "
        + ", ".join(f"{ENDED[end]} {number / games:.1%}" for end, number in ends if number),
    ]
    won, level, _ = counts["own"]
    if settings.noise:
        lines.append(
            f"  noise          the evaluation scored {(won + level / 2) / games:.1%} against its"
            " copies"
        )
    lines += [
        _checked(rule, counts[f"checked_{name}"], settings)
        for rule, name in BY_SCORES.items()
        if sum(counts[f"checked_{name}"])
    ]
    return lines


def dropped_lines(unfinished: int, repeated: int) -> list[str]:
    """Return how many games were played again, and why, as lines of text."""
    parts = [
        f"{unfinished:,} that the engine did not finish" if unfinished else "",
        f"{repeated:,} the same as earlier ones" if repeated else "",
    ]
    text = ", ".join(filter(None, parts))
    return [f"  played again   {text}"] if text else []


def _checked(rule: str, found: list[int], settings: GamesSettings) -> str:
    """Return a sentence about the games that were played on after this rule had ended them."""
    played = sum(found)
    low, high = wilson_interval(found[SAME], played)
    names = {RESIGN_RULE: "resignations", DRAW_RULE: "draws by scores", ENDING: "drawn endings"}
    others = [
        f"{found[DRAWN]:,} drawn" if found[DRAWN] else "",
        (
            f"{found[REVERSED]:,} won by the opponent"
            if found[REVERSED] and rule == RESIGN_RULE
            else f"{found[REVERSED]:,} won"
            if found[REVERSED]
            else ""
        ),
    ]
    rest = ", " + " and ".join(filter(None, others)) + " instead" if found[SAME] < played else ""
    shallow = (
        f"; searches of {settings.control} can also fail to win won games"
        if rule == RESIGN_RULE and found[DRAWN]
        else ""
    )
    return (
        f"  adjudication   {found[SAME]:,} of {played:,} {names[rule]} that were played on ended"
        f" so ({low:.1%} to {high:.1%} with 95 % confidence){rest}{shallow}"
    )


def progress_text(counts: Counts, rate: float) -> str:
    """Return the games played as a progress line; `rate` is the number of games a second of this
    process."""
    games = counts["games"][0]
    draws = (
        f", {counts['outcomes'][1] / games:.0%} drawn, {counts['plies'][0] / games:.0f} plies a"
        " game"
        if games
        else ""
    )
    return f"{games:,} games saved, {rate:.1f} games a second{draws}"


OF_A_PROCESS = 10  # games that an engine plays before it is started again
AHEAD = 4  # games submitted for each thread, so that threads do not idle


class OwnGamesRun(Run):
    """Games of an evaluation against its copies, or of an engine against itself. `start` is the
    evaluation that plays, if it differs from the settings."""

    command = section = SECTION
    kind, what, ahead = GamesSettings, "games", AHEAD

    def __init__(
        self,
        settings: GamesSettings,
        output: Path | None,
        display: Display,
        start: Evaluation | None = None,
    ) -> None:
        super().__init__(settings, output, display)
        self.start = start

    def require_output(self, folder: Path | None) -> None:
        """See `Run`. The folder is all that is written."""

    def load(self, folder: Path | None) -> str | None:
        """See `Run`. InputError for an evaluation that has no search, and for a game with dice or
        without files of games."""
        self._prepared = prepared(self.settings, folder, self.start, self.display.note)
        self.game = self._prepared.game
        return self._prepared.program

    def job(self) -> Job:
        """See `Run`."""
        return games_job(self._prepared.recipe)

    @property
    def _at_once(self) -> int:
        return 1 if self._prepared.recipe.engine is None else OF_A_PROCESS

    def place(self, folder: Path) -> None:
        """See `Run`."""
        if self._prepared.evaluation is not None:
            self._prepared.evaluation.place(folder / START, None)

    def play(self, store: Store, playing: Running | None) -> RunResult:
        """See `Run`. Only parts that are not there are played."""
        assert playing is not None, "its games are work"
        settings, display = self.settings, self.display
        parts = Parts(store, self.game.files, settings.games, settings.part, display.note)
        change_settings(store, settings)
        before = parts.counts["games"][0]
        self.note_games(before)
        display.note(f"{settings.words}{plural(settings.games, 'game')}")
        display.begin("playing", settings.games)
        started = time.monotonic()
        with interrupts() as interrupted:
            for done in finished(
                parts, self._prepared.book, playing, interrupted, display, self._at_once
            ):
                display.playing(
                    progress_text(parts.counts, done / max(time.monotonic() - started, 1e-3)),
                    before + done,
                )
            playing.end()
        return self._result(store.folder, parts, before, time.monotonic() - started)

    def _result(self, folder: Path, parts: Parts, before: int, seconds: float) -> RunResult:
        """Return the result. Speed is that of this process, over the games that it saved."""
        settings, games, interrupted = (
            self.settings,
            parts.counts["games"][0],
            bool(parts.missing()),
        )
        speed = (
            f", {(games - before) / max(seconds, 1e-3):.1f} games a second"
            if games > before
            else ""
        )
        lines = [
            f"wrote {games:,} games to {folder}: {parts.bytes / 1e6:,.1f} MB{speed}",
            *counts_lines(parts.counts, settings, self.game.wording.sides),
            *dropped_lines(*parts.dropped),
        ]
        plain = {
            "command": "games",
            "folder": str(folder),
            "interrupted": interrupted,
            "bytes": parts.bytes,
            **{
                "total_plies" if key == "plies" else key: value[0] if len(value) == 1 else value
                for key, value in parts.counts.items()
            },
        }
        if self._prepared.recipe.engine:  # which is on both sides
            plain["unfinished"], plain["repeated"] = parts.dropped
            del plain["own"]
        if interrupted:
            lines.append(self.advice(folder))
        elif self._prepared.evaluation is None:
            lines.append(
                f"learn from them: tuner dataset {shlex.quote(str(folder))} --engine COMMAND"
                " --params FILE -o ROWS, where COMMAND prints the feature counts of your engine"
            )
        else:
            words = self._prepared.evaluation.tuned_by(settings.start, str(folder))
            plain["tune"] = shlex.join(
                [*words, *(word for path in settings.terms for word in ("--terms", path))]
            )
            lines.append(f"learn from them: {plain['tune']}")
        return RunResult(lines, plain, interrupted)
