"""Check a parameter file and summarise it, add the parameters that it lacks, or start a new one.

  tuner params PARAMS                       check a file and summarise it
  tuner params PARAMS --add-missing -o OUT  add zeros for what its terms lack
  tuner params --new NAME... -o OUT         zeros for these terms or parameters
  tuner params --from-rows ROWS -o OUT      zeros for the parameters of rows
"""

from __future__ import annotations

import argparse

from tuner.commands.options import add_term_options, at_least_one

USAGE = "PARAMS|NAME... [--add-missing|--new|--from-rows] [-o OUT]"
EXAMPLE = """examples:
  tuner params my.yaml
  tuner params classic --terms my_terms.py --add-missing -o mine.yaml
  tuner params --new material mobility -o small.yaml
  tuner params --new 'material.pawn' 'mobility.knight[9]' -o engine.yaml
  tuner params --from-rows rows.jsonl -o engine.yaml
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("params", metavar="PARAMS", nargs="*",
                        help="parameter file, or a bundled one (a file of the same name in the current folder is preferred); "
                             "with --new terms or parameters, with --from-rows a file of rows")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--add-missing", action="store_true",
                      help="write PARAMS to -o OUT with zeros for the parameters that its terms and those of --terms lack")
    what.add_argument("--new", action="store_true",
                      help="write a file of zeros to -o OUT: of bundled terms and those of --terms, by their names, or of "
                           "parameters that your engine counts, as term.name, term.name[9], term.name[8][8]")
    what.add_argument("--from-rows", action="store_true",
                      help="write a file of zeros to -o OUT with the parameters that occur in a file of rows")
    parser.add_argument("-o", "--output", metavar="OUT", help="parameter file to write")
    parser.add_argument("--game", default="chess", metavar="NAME",
                        help="--new, --from-rows: the game (default: chess); any name for what your engine counts")
    parser.add_argument("--stages", nargs="+", metavar="NAME",
                        help="--new, --from-rows: stages of the evaluation, one or two (default: mg eg, or those of the game)")
    parser.add_argument("--phases", type=at_least_one, metavar="N",
                        help="--new, --from-rows: steps of your engine's phase, from 0, all last stage, to N, all first stage "
                             "(default: 24)")
    add_term_options(parser)


def run(arguments: argparse.Namespace) -> dict:
    from games.streams import InputError

    new = "--new" if arguments.new else "--from-rows" if arguments.from_rows else None
    if not arguments.params:
        raise InputError(f"params{' ' + new if new else ''}: nothing named; expected "
                         + ("terms or parameters, such as 'mobility.knight[9]'" if arguments.new else
                            "a file of rows" if new else "a parameter file, such as classic"))
    if new:
        from tuner.commands.params_new import start

        return start(new, arguments)
    for option, given in (("--game", arguments.game != "chess"), ("--stages", arguments.stages), ("--phases", arguments.phases)):
        if given:
            raise InputError(f"{option}: only --new and --from-rows use it; leave it out")
    if len(arguments.params) > 1:
        raise InputError(f"{arguments.params[1]}: a second file, expected one; or --new before names")
    return _checked(arguments)


def _checked(arguments: argparse.Namespace) -> dict:
    """Check and summarise a file, and with --add-missing write it."""
    import shlex
    from pathlib import Path

    from games.streams import InputError
    from tuner.engine.loading import load_parameters, make_layout, parameter_path
    from tuner.io.files import LEARNED, require_writable
    from tuner.parameters.heading import heading_of
    from tuner.parameters.reader import missing_parameters
    from tuner.parameters.suggested import completing
    from tuner.parameters.summary import line, summary, terms_line
    from tuner.parameters.writer import write_parameters

    if arguments.output and not arguments.add_missing:
        raise InputError(f"-o {arguments.output}: only --add-missing, --new and --from-rows write a file; add one, or leave "
                         "out -o")
    path = parameter_path(arguments.params[0])
    heading = heading_of(path)
    if heading.of_rows and arguments.add_missing:
        raise InputError(f"{path}: another program counts its terms, so the file itself says which there are; leave out "
                         "--add-missing")
    known = None if heading.of_rows else make_layout(heading.game, arguments.terms)
    if arguments.add_missing and not arguments.output and known:
        raise InputError(f"--add-missing: expected -o OUT, the file to write, such as `{completing(path, known)}`")
    parameters = load_parameters(path, arguments.terms, arguments.add_missing)
    missing: list[str] = []
    output = Path(arguments.output) if arguments.add_missing else None
    if output is not None and known is not None:
        lacking = missing_parameters(path, known, heading.game)
        missing = [place.path for place in parameters.layout.places
                   if place.term not in heading.terms or place.path in lacking]
        require_writable(output, LEARNED, (str(path), *arguments.terms))
        write_parameters(output, parameters)
    without = [] if known is None else list(dict.fromkeys(
        place.term for place in known.places if place.term not in {place.term for place in parameters.layout.places}))
    result = {"file": str(path), **summary(parameters), "added": missing, "without": without,
              "output": str(output) if output else None}
    if not arguments.json:
        print("\n".join([f"{path}: {line(parameters)}", f"  {terms_line(parameters)}"]))
        if without:
            print(f"  terms that take no part: {', '.join(without)}")
        if output is not None:
            print(f"wrote {shlex.quote(str(output))}: added {', '.join(missing) if missing else 'nothing'}")
    return result
