"""Measure what the options of a UCI or USI engine do: rows of positions to tune from, without
touching the engine's source.

Each option is moved up and down over all positions; the change of the evaluation, per unit of the
option, is its count in a position. Options that act linearly become parameters; of the others a
table shows how far from linear they are."""

from __future__ import annotations

from pathlib import Path

from games.streams import InputError
from tuner.options.kinds import POSITIVE, POSITIVE_COUNT
from tuner.options.option import Arguments, OneOf, Option, Table, Title, flag
from tuner.options.shared import READING, Reading

USAGE = "ENGINE GAMES [GAMES ...] --options GLOB -o FILE.npz [options]"
EXAMPLE = """examples:
  tuner probe "uci:./engine" games.pgn --options 'Eval*' -o rows.npz
  tuner probe "uci:toga2" games.pgn --options 'King Safety' 'Passed Pawns' \\
    --depth 1 --fixed 'Toga Lazy Eval=false' -o rows.npz
  tuner match "uci:./engine" "uci:./engine" --with rows.yaml
"""
READ_FOR_EACH = 200  # positions read for each that --sample wants
MOST_SHOWN = 40  # options in the table; of more, only those that are not linear or have no effect


TABLE: Table = (
    Option(("engine",), '"uci:COMMAND", or "usi:COMMAND" for shogi', metavar="ENGINE"),
    Option(("sources",), "files of games or of positions", metavar="GAMES", nargs="+"),
    Option(
        ("--options",),
        "names of the options to move, or globs, capitals or not; only whole numbers can be moved",
        metavar="GLOB",
        nargs="+",
        required=True,
    ),
    Option(
        ("-o", "--output"),
        "rows to write; the parameter file has the same name with .yaml",
        metavar="FILE.npz",
        required=True,
    ),
    Option(
        ("--fixed",),
        "set another option of the engine; may be repeated",
        default=(),
        metavar="NAME=VALUE",
        action="append",
    ),
    Option(
        ("--with",),
        "probe at the values of this file, not the engine's own: a parameter file, or lines"
        " NAME=VALUE",
        dest="start",
        metavar="FILE",
    ),
    Option(
        ("--sample",),
        "probe N of the positions, chosen at random; of large files from the first games, which"
        f" have {READ_FOR_EACH} times as many",
        POSITIVE_COUNT,
        metavar="N",
    ),
    Title("evaluations"),
    OneOf(
        (
            Option(
                ("--depth",),
                "use scores of searches to this depth where the PV stays the same, for engines"
                " without `eval`",
                POSITIVE_COUNT,
                metavar="N",
            ),
            Option(("--nodes",), "the same with searches of N nodes", POSITIVE_COUNT, metavar="N"),
            Option(
                ("--eval-pattern",),
                "pattern of the line that `eval` prints, with one group around the number; or the"
                " name of a built-in pattern: stockfish, stockfish-classical, tuner; in shogi"
                " fairy-stockfish, tuner (default: the one that fits)",
                metavar="REGEX",
            ),
        )
    ),
    Option(
        ("--eval-unit",),
        "centipawns for each 1 that --eval-pattern finds (default: 1; for pawns 100)",
        POSITIVE,
        metavar="CP",
    ),
    Option(
        ("--eval-side",),
        "whose view that number is: of the player who moves first, White in chess and Black in"
        " shogi, or of the mover (default: white, the first player)",
        default="white",
        choices=("white", "mover"),
    ),
    Title("steps"),
    Option(
        ("--delta",),
        "how far each option is moved (default: a quarter of its value, at least 8)",
        POSITIVE_COUNT,
        metavar="N",
    ),
    Option(
        ("--tolerance",),
        "largest deviation that still counts as linear (default: four times the unit of the"
        " evaluations)",
        POSITIVE,
        metavar="CP",
    ),
    flag(
        "--every",
        "write rows of all options, with their effects at the current values, linear or not",
    ),
    Option(
        ("--rounds",),
        "with --every: fit the options to the results first, at most N times, each time with their"
        " effects at the values learned so far (Gauss-Newton, for what is not linear)",
        POSITIVE_COUNT,
        metavar="N",
    ),
    Option(
        ("--workers",),
        "processes of the engine (default: one per CPU)",
        POSITIVE_COUNT,
        metavar="N",
    ),
    *READING,
)


def run(arguments: Arguments) -> dict:
    from games.record import PositionBatch, ReadReport, SearchLimits
    from tuner.commands.display import TerminalDisplay
    from tuner.evaluation.loading import games_path, make_engine, quiescence_of
    from tuner.io.files import LEARNED, ROWS, require_writable
    from tuner.learn.build import batches, prepared
    from tuner.learn.reading import report_line
    from tuner.learn.teacher import game_evaluated_by
    from tuner.options.kinds import named_values
    from tuner.parallel import available_cpus
    from tuner.probe.run import ProbeOptions, probe

    if arguments.rounds and not arguments.every:
        raise InputError(
            f"--rounds {arguments.rounds}: fits all options that are named, linear or not; add"
            " --every"
        )
    rows, reads = (
        Path(arguments.output),
        (arguments.engine, *arguments.sources, arguments.start, arguments.quiescence),
    )
    require_writable(rows, ROWS, reads)
    if rows.suffix != ".npz":
        raise InputError(f"{rows}: expected a name that ends in .npz")
    parameters = rows.with_suffix(".yaml")
    require_writable(parameters, LEARNED, reads)
    engine = make_engine(game_evaluated_by(arguments.engine))
    games = [games_path(source, engine.game.name) for source in arguments.sources]
    limits = None
    if arguments.depth or arguments.nodes:
        limits = SearchLimits(arguments.depth, arguments.nodes)
    options = ProbeOptions(
        arguments.engine,
        tuple(arguments.options),
        named_values(arguments.fixed, "--fixed"),
        Path(arguments.start) if arguments.start else None,
        limits,
        _pattern(arguments, engine.game.contest.patterns),
        arguments.delta,
        arguments.tolerance,
        arguments.every,
        arguments.rounds or 0,
        arguments.sample,
        arguments.workers or available_cpus(),
        arguments.seed,
    )
    given = Reading(**arguments.given_for(Reading))
    reading = prepared(given.reading, quiescence_of(engine, given.judge))
    with TerminalDisplay() as display:

        def read() -> list[PositionBatch]:
            display.begin("reading")
            report, found = ReadReport(), []
            for _, some in batches(engine.game, games, reading, report, display.note):
                for batch in some:
                    found.append(batch)
                    display.reading(report)
                    if arguments.sample and report.positions >= READ_FOR_EACH * arguments.sample:
                        display.note(
                            f"{report_line(report)}; positions are drawn from these games, the"
                            " others are not read"
                        )
                        return found
            display.note(report_line(report))
            return found

        probed = probe(
            engine.game, options, read, rows, parameters, {"command": arguments.text}, display
        )
    return _show(arguments, probed, rows, parameters)


def _pattern(arguments: Arguments, known):
    from games.record import EvaluationPattern

    text = arguments.eval_pattern
    if text in known:
        return known[text]
    if text is None:
        if arguments.eval_unit is not None or arguments.eval_side != "white":
            raise InputError(
                "--eval-unit and --eval-side belong to --eval-pattern; the built-in patterns have"
                " their own"
            )
        return None
    return EvaluationPattern(text, arguments.eval_unit or 1.0, arguments.eval_side == "mover")


def _show(arguments: Arguments, probed, rows: Path, parameters: Path) -> dict:
    """Print the table of options and what was written; return both as plain data."""
    from tuner.commands.display import output_console, show_result
    from tuner.io.terminal import show_table
    from tuner.probe.run import kept_text

    linearity, kept = probed.linearity, probed.kept
    if not arguments.json:
        idle = [finding for finding in linearity.findings if finding.idle]
        shown = [
            finding
            for finding in linearity.findings
            if not finding.linear or finding.idle or len(linearity.findings) <= MOST_SHOWN
        ]
        table = [
            [
                finding.step.name,
                f"{finding.step.value}",
                f"{finding.step.width / 2:g}",
                f"{finding.effect:.1f}",
                "no effect" if finding.idle else "yes" if finding.linear else "no",
                f"{100 * finding.deviating:.1f} %",
                f"{finding.largest:.1f}",
                ", ".join(finding.with_[:3]) + (" ..." if len(finding.with_) > 3 else ""),
            ]
            for finding in shown
        ]
        show_table(
            output_console(),
            f"{probed.name}: {probed.way}; deviations of more than {linearity.tolerance:g}"
            " centipawns",
            [
                "option",
                "value",
                "step",
                "effect",
                "linear",
                "deviating",
                "largest",
                "not additive with",
            ],
            table,
        )
        linear = sum(finding.linear and not finding.idle for finding in linearity.findings)
        lines = [
            f"{linear} of {len(linearity.findings)} options are linear"
            + (f", {len(idle)} changed no evaluation" if idle else ""),
            (
                f"all linear options moved at once: deviations of up to {linearity.joint:.1f}"
                " centipawns"
            ),
        ]
        if linearity.misled is not None:
            lines.append(
                f"where the PV changes, scores mislead: {100 * linearity.misled:.0f} % of the"
                f" comparisons deviate, by up to {linearity.misled_largest:.0f} centipawns; those"
                " positions are left out"
            )
        lines += [kept_text(kept), f"wrote {rows} and {parameters}"]
        show_result(lines)
    return {
        "engine": probed.name,
        "way": probed.way,
        "tolerance": linearity.tolerance,
        "joint": linearity.joint,
        "misled": linearity.misled,
        "misled_largest": linearity.misled_largest,
        "rows": kept.rows,
        "left_out": {"unknown": kept.unknown, "pv": kept.changed, "not_linear": kept.bent},
        "options": [
            {
                "option": finding.step.name,
                "value": finding.step.value,
                "step": finding.step.width / 2,
                "effect": finding.effect,
                "linear": finding.linear,
                "tested": finding.tested,
                "deviating": finding.deviating,
                "largest": finding.largest,
                "not_additive_with": list(finding.with_),
            }
            for finding in linearity.findings
        ],
        "files": [str(rows), str(parameters)],
    }
