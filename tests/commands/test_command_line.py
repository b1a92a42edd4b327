"""The command line itself: help, the nearest word for one that is not known, and completion in
shells."""

import re
import shutil
import subprocess

import pytest

from tests.commands.support import done, in_terminal, refused, tuner
from tuner.cli import COMMANDS, make_parser
from tuner.commands import completion
from tuner.fit.learners import LEARNERS


def test_positions_of_every_game_are_named():
    said = " ".join(done("eval", "--help").out.split())
    assert "(FEN, SFEN for shogi, position ID or XGID for backgammon)" in said
    assert "(centipawns, for backgammon hundredths of a point), first player's view" in said
    assert "centipawns, or hundredths of a point; none" in " ".join(
        done("tune", "--help").out.split()
    )


def test_the_bare_program_prints_its_help():
    ran = done()
    assert ran.out == done("--help").out and ran.err == ""
    assert ran.out.startswith("usage: tuner COMMAND [options]\n")
    assert re.findall(
        r"^    (\w+) +\w", ran.out.partition("commands:")[2].partition("\n\n")[0], re.MULTILINE
    ) == list(COMMANDS)
    assert 'completion in bash: eval "$(tuner --print-completion bash)"\n' in ran.out


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_fits_a_terminal_of_80_columns_and_examples_parse(monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "80")
    shown = done(*command.split(), "--help").out
    before, _, after = shown.partition("examples:\n")
    assert max(map(len, before.splitlines())) <= 86  # lines of commands are not wrapped
    for example in re.sub(r" \\\n +", " ", after).splitlines():
        if example.startswith(f"  tuner {command} "):
            words = re.sub(r"  +\S.*| [>|] .*", "", example.strip())
            parsed = subprocess.run(
                ["bash", "-c", f"printf '%s\\n' {words}"],
                capture_output=True,
                text=True,
                check=True,
            )
            make_parser([command])[0].parse_args(parsed.stdout.splitlines()[1:])


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("tun classic", "tuner: no command 'tun'; did you mean tune? See tuner --help"),
        ("self-play", "tuner: no command 'self-play'; did you mean selfplay? See tuner --help"),
        ("xyzzy", "tuner: no command 'xyzzy'; see tuner --help"),
        ("--json", "tuner: no option --json; see tuner --help"),
        ("--versoin", "tuner: no option --versoin; did you mean --version? See tuner --help"),
        (
            "tune classic games.pgn --fixd x -o o.yaml",
            "tuner tune: no option --fixd; did you mean --fixed? See tuner tune --help",
        ),
        (
            "tune --fixd=x",
            "tuner tune: no option --fixd; did you mean --fixed? See tuner tune --help",
        ),
        (
            "export classic --fromat c",
            "tuner export: no option --fromat; did you mean --format? See tuner export --help",
        ),
        (
            "tune a b --method rootstarp",
            (
                "tuner tune: argument --method: invalid choice: 'rootstarp'; did you mean"
                " rootstrap? See tuner tune --help"
            ),
        ),
        (
            "tune a b --prior plya",
            (
                'tuner tune: prior is "plya", expected centipawns from 0.001 to 1e+06, such as 50,'
                " or none, auto, cv or play; see tuner tune --help"
            ),
        ),
        (
            "export classic --format D",
            (
                "tuner export: argument --format: invalid choice: 'D' (choose from c, rust, json,"
                " uci, spsa); see tuner export --help"
            ),
        ),
        ("tune clasic a -o b", "tuner: clasic: no such file; the nearest bundled name is classic"),
        (
            "eval network startpos",
            "tuner: network: no such file; the nearest bundled name is backgammon/network",
        ),
        ("match a b --xyzzy", "tuner match: no option --xyzzy; see tuner match --help"),
        (
            "params classic pesto",
            "tuner: pesto: a second file, expected one; or --new before names",
        ),
        (
            "--print-completion",
            "tuner: argument --print-completion: expected one argument; see tuner --help",
        ),
    ],
)
def test_an_unknown_word_names_the_nearest_one(arguments, said):
    ran = tuner(*arguments.split())
    assert (ran.status, ran.out, ran.err) == (2, "", said + "\n")


@pytest.mark.parametrize(("words", "same"), [("help", "--help"), ("help diff", "diff --help")])
def test_help_is_a_command_too(words, same):
    assert done(*words.split()).out == done(*same.split()).out


def test_the_version_has_a_short_option():
    assert done("-V").out == done("--version").out


def test_a_long_number_is_not_printed_whole():
    said = refused("params", "--new", f"a.x[{'9' * 400}]", "-o", "y.yaml")
    assert "9..." in said and "9" * 41 not in said


def test_the_home_folder_is_known_after_an_equals_sign(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    done("params", "--new", "material", "--output=~/x.yaml")
    assert (tmp_path / "x.yaml").exists() and not (tmp_path / "~").exists()


def test_a_terminal_without_columns_shows_the_same(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    wanted = done("diff", "classic", "pesto").out
    monkeypatch.setenv("COLUMNS", "0")
    assert wanted and done("diff", "classic", "pesto").out == wanted


def test_an_abbreviated_option_is_known():
    assert done("params", "classic", "--js").out.startswith("{")


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_completion_is_printed_for_each_shell(shell):
    script = done("--print-completion", shell).out
    assert all(name in script for name in (*COMMANDS, "held-out", "rootstrap"))


@pytest.mark.skipif(shutil.which("bash") is None, reason="no bash; install the Debian package bash")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tuner tu", {"tune"}),
        ("tuner tune --held", {"--held-out"}),
        ("tuner tune --learner ", set(LEARNERS)),
        ("tuner tune ga", {"games.pgn", "games"}),
        ("tuner tune cl", {"classic"}),
        ("tuner match classic shogi/ha", {"shogi/hand"}),
        ("tuner tune -o ga", {"games.pgn", "games"}),
        ("tuner tune --run ga", {"games"}),
        ("tuner report ga", {"games"}),
    ],
)
def test_bash_completes_commands_options_choices_and_files(tmp_path, line, expected):
    (tmp_path / "games.pgn").touch()
    (tmp_path / "games").mkdir()
    (tmp_path / "script").write_text(done("--print-completion", "bash").out)
    asked = f"""source {tmp_path / "script"}
COMP_WORDS=({line}{'""' if line.endswith(" ") else ""}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))
COMP_LINE='{line}'; COMP_POINT=${{#COMP_LINE}}
$(complete -p tuner | sed 's/.*-F \\([^ ]*\\) .*/\\1/') tuner
printf '%s\\n' "${{COMPREPLY[@]}}\""""
    ran = subprocess.run(["bash", "-c", asked], cwd=tmp_path, capture_output=True, text=True)
    assert set(ran.stdout.split()) == expected, ran.stderr


@pytest.mark.skipif(shutil.which("fish") is None, reason="no fish; install the Debian package fish")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tuner tu", {"tune"}),
        ("tuner tune cl", {"classic"}),
        ("tuner params sh", {"shogi/classic", "shogi/hand", "shogi/zero", "shown.yaml"}),
        ("tuner tune --learner ada", {"adam"}),
    ],
)
def test_fish_completes_commands_choices_and_files(tmp_path, line, expected):
    (tmp_path / "shown.yaml").touch()
    (tmp_path / "script").write_text(done("--print-completion", "fish").out)
    asked = f"source script; complete -C '{line}'"
    ran = subprocess.run(["fish", "-c", asked], cwd=tmp_path, capture_output=True, text=True)
    assert {row.split("\t")[0] for row in ran.stdout.splitlines()} == expected, ran.stderr


def test_every_name_of_a_file_in_a_usage_is_completed():
    """Other words in capitals are numbers, names and texts."""
    others = {
        "N",
        "L",
        "SD",
        "NAME",
        "SHARE",
        "MINUTES",
        "CP",
        "P",
        "MB",
        "S",
        "[MOVES/]BASE+INC",
        "NAME=VALUE",
        "NAME=N",
        "NAME=ELO",
        "WHAT",
        "ENGINE",
        "PART",
        "COMMAND",
        "FIRST:LAST",
        "N[,N...]",
        "ADDRESS|local:N",
    }
    _, commands = make_parser(COMMANDS)
    found = {
        action.metavar
        for command in commands.values()
        for action in command._actions
        if isinstance(action.metavar, str)
    }
    known = {*completion.FILES, *completion.FOLDERS, *completion.EVALUATIONS}
    assert found - others == known


def test_help_in_a_terminal_ends_with_status_0():
    ran = in_terminal("tune", "--help", columns=60)
    assert ran.status == 0 and "usage: tuner tune PARAMS GAMES" in ran.screen
