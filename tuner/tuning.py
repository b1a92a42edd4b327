"""`tuner tune` from files to file: read, summarise, fit, write."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path

from games.streams import InputError
from tuner import __version__
from tuner.bootstrap import Leaves, Teach
from tuner.crossval import choose_prior
from tuner.dataset import Dataset, is_dataset
from tuner.describe import describe, report_line
from tuner.engine import Engine, load_engine, quiescence_of
from tuner.files import LEARNED, replace_file, require_writable
from tuner.findings import findings
from tuner.fit import DRAWS, FitResult, best_fit
from tuner.foresee import foresee
from tuner.methods import method_for, noting, number_of_rounds, reading_of, require_method, teacher_of, value_change
from tuner.misjudged import misjudged
from tuner.parameters import Parameters, untapered, write_parameters
from tuner.progress import Display
from tuner.quantile import FEW_GAMES
from tuner.resample import checked_errors
from tuner.runs import new_folder
from tuner.sources import dataset_of, require_learnable
from tuner.summary import summarise, summary_lines
from tuner.temporal_fit import fit_temporal
from tuner.tune_options import TuneOptions

FAR = 0.02  # mean change of values after which leaves and searches are those of another evaluation


def tune(start: str, sources: Sequence[str], output: Path, options: TuneOptions) -> dict:
    """Fit and write; returns the result as plain data. InputError for what the user has to mend."""
    with Display() as display, _folder(options.run) as folder:
        require_writable(output, LEARNED, (start, *sources, *options.terms, options.quiescence), options.run)
        display.begin("starting")
        engine, parameters = _started(start, options)
        if options.method == "auto":
            options = replace(options, method=method_for(options, engine.game, parameters, sources))
        require_method(options, engine.game, sources)
        data, result, options = _rounds(engine, parameters, sources, folder, options, display)
        plain = describe(start, output, data, options, result)
        if options.bootstrap:
            display.begin("drawing games again", options.bootstrap)
            plain["bootstrap"] = checked_errors(result, options.bootstrap, options.seed, display.counting)
        learned = {key: value for key, value in plain.items() if key not in ("output", "run", "advice")}
        write_parameters(output, result.parameters.with_weights(result.parameters.weights, learned=learned))
        if options.run:
            display.begin("judging")
            found = findings(result, plain, data, engine.layout)
            found |= _misjudged(engine, parameters, result, found["summary"], sources, options, display)
            _write_run(options.run, plain, options, result, parameters, output, found)
    return plain


def dry_run(start: str, sources: Sequence[str], options: TuneOptions) -> dict:
    """What the games can teach, as plain data; nothing is fitted, and nothing searched."""
    options = replace(options, method="logistic")
    with Display() as display, _folder(options.run) as folder:
        display.begin("starting")
        engine, parameters = _started(start, options)
        display.begin("reading")
        data, read = _read(engine, sources, folder, options, None, display, display.note)
        _tell(data, engine, read, options, display)
        display.begin("judging")
        return foresee(data, parameters, engine.layout, engine.phases, options.fitting())


def _started(start: str, options: TuneOptions) -> tuple[Engine, Parameters]:
    """The engine and the parameters to start from."""
    engine, parameters = load_engine(start, options.terms)
    if options.untapered:
        parameters = untapered(parameters)
    if options.scale is not None:
        parameters = parameters.with_weights(parameters.weights, scale=options.scale)
    _check_names(parameters, options)
    return engine, parameters


def _misjudged(engine: Engine, start: Parameters, result: FitResult, summary: dict, sources: Sequence[str],
               options: TuneOptions, display: Display) -> dict:
    """What the games themselves show, where they can be read again."""
    if any(source == "-" or is_dataset(source) for source in sources):
        return {}
    found = misjudged(engine, sources, reading_of(options), quiescence_of(engine, options.quiescence),
                      start.with_weights(start.weights, scale=result.parameters.scale), result.parameters, display.reading)
    return {"summary": {**summary, "files": found.pop("files"), "results": found.pop("results")}, "misjudged": found}


def _rounds(engine: Engine, parameters: Parameters, sources: Sequence[str], folder: Path, options: TuneOptions,
            display: Display) -> tuple[Dataset, FitResult, TuneOptions]:
    """Read and fit; where searches teach, again with what was learned, while that changes much. Options come back with what
    the data have chosen."""
    searching = parameters
    for left in range(number_of_rounds(options) - 1, -1, -1):
        first = searching is parameters
        display.begin("reading" if first else "searching again")
        teach = teacher_of(engine, searching, options)
        data, read = _read(engine, sources, folder, options, teach, display, display.note if first else lambda text: None)
        if first:
            _tell(data, engine, read, options, display)
            options = _with_width(data, parameters, engine, options, display)
        display.begin("learning", options.iterations)
        fitting = replace(options.fitting(), progress=display.passing)
        if isinstance(teach, Leaves):
            result = fit_temporal(data, teach.data, parameters, engine.layout, engine.phases, fitting, display.learning)
        else:
            # each round of searching is trusted so far round the values that it was made with
            start = searching if options.method == "rootstrap" else parameters
            result = best_fit(data, start, engine.layout, engine.phases, fitting, display.learning, display.note)
        moved = value_change(engine, data, searching, result.parameters) if left else 0.0
        if moved <= FAR:
            break
        display.note(f"values of positions moved by {moved:.3f} on average: searched again with what was learned")
        searching = result.parameters
    return data, result, options


def _read(engine: Engine, sources: Sequence[str], folder: Path, options: TuneOptions, teach: Teach | None, display: Display,
          note: Callable[[str], None]) -> tuple[Dataset, str]:
    """The dataset of the sources, and what became of their games."""
    results: set[float] = set()
    data, report = dataset_of(engine, sources, folder, reading_of(options), quiescence_of(engine, options.quiescence), note,
                              display.reading, noting(teach, results) if teach else None)
    read = report_line(report) if report else ""
    require_learnable(data, read, results)
    return data, read


def _with_width(data: Dataset, start: Parameters, engine: Engine, options: TuneOptions, display: Display) -> TuneOptions:
    """Options with the width of the prior that cross-validation chooses, where that is asked for."""
    if options.prior != "cv":
        return options
    fitting = options.fitting()
    # whatever the draws are, the same games tell how far weights are to be believed
    fitting = replace(fitting, loss="cross-entropy" if fitting.loss == DRAWS else fitting.loss)
    width, losses = choose_prior(data, start, engine.layout, engine.phases, fitting, display.begin)
    display.note("loss of games left out, by the prior's width: "
                 + ", ".join(f"{width:g}: {loss:.5f}" for width, loss in losses.items()) + f"; chosen: {width:g}")
    return replace(options, prior=width)


def _tell(data: Dataset, engine: Engine, read: str, options: TuneOptions, display: Display) -> None:
    if read:
        display.note(read)
    if options.method == "rootstrap":
        display.note(f"each position was searched {options.depth} plies deep, to learn what that found; --method logistic "
                     "learns from the results alone")
    for line in summary_lines(summarise(data, engine.layout), options.method != "rootstrap"):
        display.note("  " + line)
    display.note(f"passes run on {options.passes.name}")
    if data.games < FEW_GAMES:
        display.note(f"only {data.games} games: the standard errors are rough")


def _check_names(parameters: Parameters, options: TuneOptions) -> None:
    for option, names in (("--fixed", options.fixed), ("--only", options.only)):
        for name in names:
            if not parameters.mask((name,)).any():
                raise InputError(f"{option} {name}: names no parameter; try a glob such as 'material.*'")
    free = ~parameters.mask((*parameters.fixed, *options.fixed))
    if options.only:
        free &= parameters.mask(options.only)
    if not free.any():
        raise InputError("every number is held, by --fixed, --only or `fixed` in the file: nothing to learn; free some")


@contextlib.contextmanager
def _folder(run: Path | None) -> Iterator[Path]:
    if run is None:
        with tempfile.TemporaryDirectory(prefix="evaltune-") as name:
            yield Path(name)
    else:
        with new_folder(run) as folder:
            yield folder


def _write_run(run: Path, plain: dict, options: TuneOptions, result: FitResult, start: Parameters, output: Path,
               found: dict) -> None:
    import yaml

    settings = {key: str(value) if isinstance(value, Path) else list(value) if isinstance(value, tuple) else value
                for key, value in asdict(options).items()}
    settings["reading"].pop("evaluation")
    config = {"command": plain["command"], "version": __version__, "start": plain["start"], "data": plain["data"],
              "options": settings}
    replace_file(run / "config.yaml", yaml.safe_dump(config, sort_keys=False))
    replace_file(run / "history.jsonl", "".join(json.dumps(line) + "\n" for line in result.history))
    replace_file(run / "findings.json", json.dumps(found, indent=1, allow_nan=False) + "\n")
    write_parameters(run / "start.yaml", start)
    replace_file(run / "params.yaml", output.read_bytes())
