"""Comments of a parameter file are in the file that is written from it: at the same value, and
never lost."""

import re
from dataclasses import replace

import numpy as np
import pytest
import yaml

from tests.support import file_with, refusal
from tests.tuner.parameters.support import GOOD, random_parameters, read
from tests.tuner.support import LAYOUT
from tuner.cli import main
from tuner.io.files import bundled
from tuner.parameters.parameters import untapered
from tuner.parameters.reader import read_parameters
from tuner.parameters.writer import to_text, write_parameters
from tuner.parameters.yaml_tree import MOST_COMMENTS

COMMENTED = """\

# My engine

# since March

# a game
game: chess  # of course
scale: 0.003 # mine
stages: [mg, # midgame
         eg] # endgame
fixed:
  - material.king # never counts
  # all of them
  - "files.*"

bounds:
  # from experience
  material.man: [50, 150.5] # wide
prior:
  squares.man: {mean: 3, sd: 20}
# before the weights


weights: # in centipawns
  material:
    man: {mg: 100, eg: 110.25}   # a "man"
    king:
      mg: 0
      # less
      eg: -0.5 # a little
      # end of king
    # end of material
  squares:
    man:
      mg:
        # top
        - [3, 4] # far
        #- [5, 6]
        - [1, 2]
      eg:
        - - -3
          - -4 # near
        - [-1, -2]

  files: {open: {mg: [5, # five
    6, 7], # to seven
    eg: [8, 9, 1e1]}}
# the end

# really
"""
WRITTEN = """\
# My engine

# since March

# a game
game: chess  # of course
scale: 0.003  # mine
# endgame
stages: [mg, eg]  # midgame
# never counts
# all of them
fixed: ["material.king", "files.*"]

bounds:
  # from experience
  "material.man": [50, 150.5]  # wide
prior:
  "squares.man": {mean: 3, sd: 20}
# before the weights

weights:  # in centipawns
  material:
    man: {mg: 100, eg: 110.25}  # a "man"
    # less
    # a little
    king: {mg: 0, eg: -0.5}
      # end of king
    # end of material
  squares:
    man:
      mg:
        # top
        - [3, 4]  # far
        #- [5, 6]
        - [1, 2]
      eg:
        # near
        - [-3, -4]
        - [-1, -2]

  files:  # five
    open:
      # to seven
      mg: [5, 6, 7]
      eg: [8, 9, 10]
# the end

# really
"""


def lines_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if "#" in line]


def test_comments_in_all_places_stay_with_what_they_are_about(tmp_path):
    assert to_text(read(tmp_path, COMMENTED)) == WRITTEN


def test_a_file_that_was_written_with_comments_is_written_the_same_again(tmp_path):
    assert to_text(read(tmp_path, WRITTEN)) == WRITTEN


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "%YAML 1.1\n---\n" + text.lstrip(),
        lambda text: text + "...\n",
    ],
)
def test_comments_are_found_in_other_forms_of_the_same_file(tmp_path, change):
    assert to_text(read(tmp_path, change(COMMENTED))) == WRITTEN


def test_the_pure_python_loader_finds_the_same_comments(tmp_path, monkeypatch):
    monkeypatch.setattr("tuner.parameters.yaml_tree._Loader", yaml.SafeLoader)
    assert to_text(read(tmp_path, COMMENTED)) == WRITTEN


@pytest.mark.parametrize("seed", range(12))
def test_a_file_without_comments_gets_none_but_that_of_the_scale(tmp_path, seed):
    p = random_parameters(seed)
    write_parameters(tmp_path / "out.yaml", p)
    back = read_parameters(tmp_path / "out.yaml", LAYOUT, "chess")
    assert back.comments == () and to_text(back).count("\n\n") == 0
    assert [line for line in to_text(replace(p, learned={})).splitlines() if "#" in line] == [
        f"scale: {p.scale:.6g}  # v = tanh(scale * centipawns), p = (1 + v) / 2"
    ]


@pytest.mark.parametrize("seed", range(12))
def test_comments_on_any_lines_of_a_written_file_stay_where_they_are(tmp_path, seed):
    random = np.random.default_rng(seed)
    learned = {
        "command": "tuner tune '#1' # 2",
        "games": 3,
        "text": "lines\n# of text\n",
        "data": [{"file": "a#b"}],
    }
    lines = to_text(replace(random_parameters(seed), learned=learned)).splitlines()
    text, last = [], next(k for k, line in enumerate(lines) if line == "learned:")
    for k, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if k <= last and random.random() < 0.3:
            text += [
                " " * max(0, indent + int(random.integers(-2, 5))) + f"#{k} ä"
                for _ in range(random.integers(1, 4))
            ]
            if random.random() < 0.3:
                text.append("")
        beside = k <= last and "#" not in line and random.random() < 0.3
        text.append(line + f"  # beside {k}: [" * beside)
    whole = "\n".join([*text, "# the end"]) + "\n"
    assert to_text(read(tmp_path, whole)) == whole


@pytest.mark.parametrize("seed", range(40))
def test_no_comment_is_lost_wherever_it_is(tmp_path, seed):
    """In a form that is not ours, with comments wherever YAML allows one; what is written then is
    written the same again."""
    random, text, marks = np.random.default_rng(seed), "", []
    good = GOOD.replace("files.open.mg", "files.open")
    for line in (
        good.replace(", ", ",\n                ").replace("{mg", "{\n       mg").splitlines()
    ):
        if random.random() < 0.3:
            marks.append(f"#m{len(marks)}")
            text += " " * int(random.integers(0, 9)) + marks[-1] + "\n"
        text += line
        if random.random() < 0.3:
            marks.append(f"#m{len(marks)}")
            text += " " + marks[-1]
        text += "\n" * int(random.integers(1, 3))
    p = read(tmp_path, text)
    assert (p.weights == read(tmp_path, good).weights).all()
    for written in (
        to_text(p),
        to_text(untapered(p)),
        to_text(replace(p, bounds=(), prior=(), fixed=())),
    ):
        assert sorted(word for word in written.split() if word.startswith("#m")) == sorted(marks)
        assert to_text(read(tmp_path, written)) == written


def test_a_number_sign_in_a_text_is_no_comment(tmp_path):
    learned = (
        "learned: {command: \"a # b\", version: a#b, note: '# it''s', text: \"two # lines\n  # of"
        ' them"}\n'
    )
    block = "learned:\n  command: |  # a script\n    line # one\n    # two\n\n  version: 1\n"
    assert read(tmp_path, GOOD + learned).comments == ()
    found = read(tmp_path, GOOD + block)
    assert [comment.text for comment in found.comments] == ["# a script"]
    assert found.learned["command"] == "line # one\n# two\n"


def test_comments_of_what_is_gone_are_kept_at_the_nearest_line_or_the_end(tmp_path):
    text = (
        GOOD.replace("  squares.man: {", "  # wide\n  squares.man: {")
        .replace("mg: [5, 6, 7]", "mg: [5, 6, 7]  # m")
        .replace("eg: [8", "# e\n      eg: [8")
    )
    p = read(tmp_path, text + "learned:\n  games: 5  # few\n")
    written = to_text(replace(untapered(p), prior=(), learned={}))
    assert lines_of(written)[1:] == ["    # m", "    # e", "# wide", "# few"]
    assert written.endswith("    # m\n    # e\n    open: [6.5, 7.5, 8.5]\n# wide\n# few\n")
    assert lines_of(to_text(replace(p, learned={"games": 7})))[-1] == "  games: 7  # few"
    assert lines_of(to_text(replace(p, learned={"seed": 7})))[-1] == "# few"


def test_a_comment_beside_the_scale_takes_the_place_of_ours(tmp_path):
    assert "scale: 0.003  # v = tanh" in to_text(read(tmp_path, GOOD))
    assert "scale: 0.003  # mine\n" in to_text(
        read(tmp_path, GOOD.replace("0.003", "0.003 # mine"))
    )


def test_comments_of_files_of_terms_stay_with_their_file(tmp_path):
    files = (("one.py", "0" * 64), ("two.py", "1" * 64))
    text = "terms:\n" + "".join(
        f"  - file: {file} # of {file}\n    sha256: '{sha256}'\n" for file, sha256 in files
    )
    path = file_with(tmp_path / "my.yaml", GOOD + text)
    layout = replace(LAYOUT, files=files[::-1])
    assert lines_of(to_text(read_parameters(path, layout, "chess")))[1:] == [
        f'  - {{file: "{file}", sha256: "{sha256}"}}  # of {file}' for file, sha256 in files[::-1]
    ]


@pytest.mark.long
def test_as_many_comments_as_are_read_can_be_written(tmp_path):
    assert re.search(
        f"my.yaml: {MOST_COMMENTS + 1:,} characters of comments, expected at most"
        f" {MOST_COMMENTS:,}",
        refusal(read, tmp_path, GOOD + "#" * (MOST_COMMENTS + 1) + "\n"),
    )
    p = read(tmp_path, GOOD.replace("  material:", "#\n" * MOST_COMMENTS + "  material:"))
    write_parameters(tmp_path / "out.yaml", p)
    assert (tmp_path / "out.yaml").read_text().split().count("#") == MOST_COMMENTS + 1  # with ours
    assert "characters of comments" in refusal(read, tmp_path, GOOD + " " * MOST_COMMENTS + "#\n")


def done(capsys, *words) -> None:
    assert main([str(word) for word in words]) == 0
    capsys.readouterr()


def test_add_missing_keeps_comments(tmp_path, capsys):
    text = bundled()["tictactoe/classic"].read_text(encoding="utf-8")
    assert "    win: " in text
    lines = text.replace("    win: ", "    # the win\n    win: ").splitlines(keepends=True)
    gone = next(line for line in lines if line.startswith("    ") and "win" not in line)
    (tmp_path / "my.yaml").write_text("".join(lines).replace(gone, "    # gone\n"))
    done(capsys, "params", tmp_path / "my.yaml", "--add-missing", "-o", tmp_path / "out.yaml")
    assert lines_of((tmp_path / "out.yaml").read_text()) == lines_of(
        (tmp_path / "my.yaml").read_text()
    )
