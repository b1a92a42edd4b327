"""Read parameter files: what a file means, and errors with name and line for every mistake in
it."""

import re

import numpy as np
import pytest
import yaml

from games.record import available
from games.streams import InputError
from tests.support import file_with, refusal
from tests.tuner.parameters.support import GOOD, changed, read, refused
from tests.tuner.support import LAYOUT
from tuner.parameters import yaml_tree
from tuner.parameters.parameters import LARGEST_WEIGHT, staged, untapered
from tuner.parameters.reader import game_of, missing_parameters, read_parameters
from tuner.parameters.yaml_tree import MAX_NESTING, plain, read_tree


def test_a_file_means_what_it_says(tmp_path):
    p = read(tmp_path, GOOD)
    assert (p.game, p.scale, p.stages) == ("chess", 0.003, ("mg", "eg"))
    assert p.weights.tolist() == [
        [100, 0, 1, 2, 3, 4, 5, 6, 7],
        [110.25, -0.5, -1, -2, -3, -4, 8, 9, 10],
    ]
    assert p.fixed == ("material.king", "files.*")
    assert p.bounds == (("material.man", (50, 150.5)),)
    assert p.prior == (("squares.man", (3, 20)), ("files.open.mg", (None, 7.5)))
    assert p.standard_errors is None and p.learned == {}
    assert game_of(tmp_path / "my.yaml") == "chess"


@pytest.mark.parametrize(
    "text",
    [
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        "# a comment\n" + GOOD,
        "%YAML 1.1\n---\n" + GOOD,
        GOOD + "...\n",
        GOOD.replace("[5, 6, 7]", "[5,\n  6, # six\n  7]"),
        GOOD.replace("3, 4", '"3", 4'),
    ],
)
def test_other_ways_to_write_the_same_mean_the_same(tmp_path, text):
    assert (read(tmp_path, text).weights == read(tmp_path, GOOD).weights).all()


def test_unknown_standard_errors_stay_unknown(tmp_path):
    errors = GOOD[GOOD.index("weights:") :].replace("weights", "standard_errors")
    p = read(
        tmp_path,
        GOOD
        + errors.replace("mg: 100", "mg: ~")
        .replace("1e1", "123456")
        .replace(" -0.5", " 0.5")
        .replace("[-3, -4]", "[3, 4]")
        .replace("[-1, -2]", "[1, 2]"),
    )
    assert np.isnan(p.standard_errors[0, 0]) and p.standard_errors[1, 8] == 123456
    assert np.isnan(p.standard_errors).sum() == 1


def test_missing_parameters_are_added_as_zeros_where_asked_for(tmp_path):
    text = changed("    king: {mg: 0, eg: -0.5}\n", "").partition("  squares:\n    man")[0]
    # other terms take no part
    assert "weights lacks material.king; `tuner params" in refused(tmp_path, text)
    p = read(tmp_path, text, add_missing=True)
    assert p.weights.tolist() == [[100, *[0] * 8], [110.25, *[0] * 8]]
    assert missing_parameters(tmp_path / "my.yaml", LAYOUT, "chess") == ["material.king"]


NUMBER = "expected a number"
RANGE = "expected centipawns between -20000 and 20000"
ERRORS = [
    # what a number can be instead
    (changed("mg: 100,", "mg: .nan,"), f":12: material.man.mg is '.nan', {NUMBER}"),
    (changed("mg: 100,", "mg: nan,"), f":12: material.man.mg is 'nan', {NUMBER}"),
    (changed("mg: 100,", "mg: .inf,"), f":12: material.man.mg is '.inf', {NUMBER}"),
    (changed("mg: 100,", "mg: -inf,"), f":12: material.man.mg is '-inf', {NUMBER}"),
    (changed("mg: 100,", "mg: 1e999,"), f":12: material.man.mg is '1e999', {NUMBER}"),
    (changed("mg: 100,", "mg: true,"), f":12: material.man.mg is 'true', {NUMBER}"),
    (changed("mg: 100,", "mg: off,"), f":12: material.man.mg is 'off', {NUMBER}"),
    (changed("mg: 100,", "mg: null,"), f":12: material.man.mg is 'null', {NUMBER}"),
    (changed("mg: 100,", "mg: ,"), f":12: material.man.mg is empty, {NUMBER}"),
    (changed("mg: 100,", "mg: ~,"), f":12: material.man.mg is '~', {NUMBER}"),
    (changed("mg: 100,", "mg: hundred,"), f":12: material.man.mg is 'hundred', {NUMBER}"),
    (changed("mg: 100,", 'mg: "a\\nb",'), f":12: material.man.mg is 'a\\nb', {NUMBER}"),
    (changed("mg: 100,", "mg: 0x64,"), f":12: material.man.mg is '0x64', {NUMBER}"),
    (changed("mg: 100,", "mg: [100],"), f":12: material.man.mg is a list, {NUMBER}"),
    (changed("mg: 100,", "mg: {a: 1},"), f":12: material.man.mg is a mapping, {NUMBER}"),
    (changed("mg: 100,", "mg: 20000.01,"), f":12: material.man.mg is 20000.01, {RANGE}"),
    (changed("[5, 6, 7]", "[5, x, 7]"), f":24: files.open.mg is 'x', {NUMBER}"),
    # shapes
    (changed("[5, 6, 7]", "[5, 6]"), ":24: files.open.mg has 2 numbers, the term declares 3"),
    (changed("[5, 6, 7]", "[5, 6, 7, 8]"), ":24: files.open.mg has 4 numbers, the term declares 3"),
    (changed("[5, 6, 7]", "5"), ":24: files.open.mg is '5', the term declares a list of 3"),
    (changed("[5, 6, 7]", "[]"), ":24: files.open.mg has 0 numbers, the term declares 3"),
    (changed("[5, 6, 7]", "[[5, 6, 7]]"), ":24: files.open.mg has 1 numbers, the term declares 3"),
    (changed("        - [1, 2]\n", ""), ":16: squares.man.mg has 1 rows, the term declares 2"),
    (changed("- [1, 2]", "- [1, 2, 3]"), ":18: squares.man.mg has 3 numbers, the term declares 2"),
    (changed("- [1, 2]", "- 1"), ":18: squares.man.mg is '1', the term declares a list of 2"),
    # names
    (
        changed("    man: {mg: 100", "    pawn: {mg: 100"),
        ":12: unknown parameter material.pawn; material has: man, king",
    ),
    (
        changed("  files:\n", "  lines:\n"),
        (
            ":22: unknown term 'lines'; known: material, squares, files (a term of your own needs "
            "--terms FILE, terms that another program counts need `terms: rows` in this file)"
        ),
    ),
    (
        changed("    king: {mg: 0, eg: -0.5}\n", ""),
        ":10: weights lacks material.king; `tuner params ",
    ),
    (
        changed("man: {mg: 100, eg: 110.25}", "man: {mg: 100, late: 110.25}"),
        ":12: unknown stage material.man.late; the stages are mg, eg",
    ),
    (
        changed("man: {mg: 100, eg: 110.25}", "man: {mg: 100}"),
        ":12: material.man lacks the stage eg",
    ),
    (
        changed("man: {mg: 100, eg: 110.25}", "man: 100"),
        ":12: material.man is '100', expected a mapping",
    ),
    (
        changed("scale: 0.003", "skale: 0.003"),
        ":2: unknown key 'skale'; expected game, scale, stages, terms, phases, weights, ",
    ),
    (
        changed("scale: 0.003", "encoding: squares18\nlayers: [4 relu]"),
        ":1: a network, expected a parameter file; ",
    ),
    # the same key twice
    (GOOD + "game: chess\n", ":26: 'game' is there twice; first on line 1"),
    (
        changed("    king: {mg: 0, eg: -0.5}\n", "    man: {mg: 0, eg: -0.5}\n"),
        ":13: 'man' is there twice; first on line 12",
    ),
    (
        changed("mg: 100, eg: 110.25", "mg: 100, mg: 110.25"),
        ":12: 'mg' is there twice; first on line 12",
    ),
    # game, scale, stages
    (changed("game: chess", "game: chss"), ":1: game is 'chss', expected chess"),
    (changed("game: chess", "game: tictactoe"), ":1: game is 'tictactoe', expected chess"),
    (changed("game: chess\n", ""), ":1: game is missing, expected chess"),
    (changed("game: chess", "game: [chess]"), ":1: game is a list, expected chess"),
    (changed("scale: 0.003", "scale: 0"), ":2: scale is 0, expected about 0.00255"),
    (changed("scale: 0.003", "scale: -0.003"), ":2: scale is -0.003, expected about"),
    (changed("scale: 0.003", "scale: 3"), ":2: scale is 3, expected about"),
    (changed("scale: 0.003", "scale: nan"), f":2: scale is 'nan', {NUMBER}"),
    (
        changed("stages: [mg, eg]\n", ""),
        ":1: stages is missing or not a list of one or two names, such as [mg, eg]",
    ),
    (changed("[mg, eg]\n", "mg\n"), ":3: stages is missing or not a list"),
    (changed("[mg, eg]\n", "[a, b, c]\n"), ":3: stages is missing or not a list"),
    (changed("[mg, eg]\n", "[mg, mg]\n"), ":3: stages ['mg', 'mg'] repeat a name"),
    (changed("[mg, eg]\n", "[mg, [eg]]\n"), ":3: a stage is a list, expected a name such as mg"),
    (changed("[mg, eg]\n", "[mg, 'e: g']\n"), ":3: a stage is 'e: g', expected a name such as mg"),
    (changed("weights:\n", "waits:\n"), ":10: unknown key 'waits'"),
    (GOOD.split("weights:")[0], ":1: weights is missing"),
    (GOOD.split("weights:")[0] + "weights: 3\n", ":10: weights is '3', expected a mapping"),
    (
        GOOD.split("  material:\n")[0] + "  material: 3\n",
        ":11: material is '3', expected a mapping",
    ),
    # fixed, bounds, prior
    (
        changed("material.king, ", "material.queen, "),
        ":4: fixed: 'material.queen' names no parameter",
    ),
    (changed("[material.king, ", "[[material.king], "), ":4: fixed: a list names no parameter"),
    (
        changed("material.man: [50, 150.5]", "man: [50, 150.5]"),
        ":6: bounds: 'man' names no parameter",
    ),
    (
        changed("[50, 150.5]", "[150.5, 50]"),
        ":6: bounds of material.man are [150.5, 50], expected low < high",
    ),
    (
        changed("[50, 150.5]", "[50, 50]"),
        ":6: bounds of material.man are [50, 50], expected low < high",
    ),
    (changed("[50, 150.5]", "[50]"), ":6: bounds of material.man are a list, expected [low, high]"),
    (changed("[50, 150.5]", "50"), ":6: bounds of material.man are '50', expected [low, high]"),
    (changed("[50, 150.5]", "[nan, 50]"), f":6: a bound of material.man is 'nan', {NUMBER}"),
    (changed("[50, 150.5]", "[0, 1e6]"), f":6: a bound of material.man is 1e6, {RANGE}"),
    (changed("bounds:\n", "bounds: 3\nxounds:\n"), ":6: unknown key 'xounds'"),
    (changed("{mean: 3, sd: 20}", "20"), ":8: prior of squares.man is '20', expected a mapping"),
    (
        changed("{mean: 3, sd: 20}", "{mean: 3}"),
        ":8: prior of squares.man lacks sd, the standard deviation in centipawns",
    ),
    (
        changed("{mean: 3, sd: 20}", "{sd: -1}"),
        ":8: sd of the prior of squares.man is -1, expected centipawns between 0.001",
    ),
    (
        changed("{mean: 3, sd: 20}", "{sd: 1e-200}"),
        ":8: sd of the prior of squares.man is 1e-200, expected centipawns between",
    ),
    (
        changed("{mean: 3, sd: 20}", "{sd: x}"),
        f":8: sd of the prior of squares.man is 'x', {NUMBER}",
    ),
    (
        changed("{mean: 3, sd: 20}", "{mean: 1e300, sd: 1}"),
        f":8: mean of the prior of squares.man is 1e300, {RANGE}",
    ),
    (
        changed("{mean: 3, sd: 20}", "{sd: 1, width: 2}"),
        ":8: unknown key 'width' in the prior of squares.man; expected mean, sd",
    ),
    (
        changed("  squares.man: {", "  squares.woman: {"),
        ":8: prior: 'squares.woman' names no parameter",
    ),
    # standard errors have the shape of the weights
    (
        GOOD + "standard_errors: {material: {man: {mg: 1, eg: 2}}}\n",
        ":26: standard_errors lacks material.king, squares.man",
    ),
    (
        GOOD
        + GOOD[GOOD.index("weights:") :]
        .replace("weights", "standard_errors")
        .replace("100", "many"),
        f":28: material.man.mg is 'many', {NUMBER}",
    ),
    # what is YAML but no parameter file
    ("", ": empty, expected a parameter file"),
    ("# nothing\n", ": empty, expected a parameter file"),
    ("chess", ":1: the file is 'chess', expected a mapping"),
    ("- 1\n", ":1: the file is a list, expected a mapping"),
    (GOOD + "---\n" + GOOD, ":26: a second document starts here, expected one"),
    ("[game, chess]: 3\n", ":1: a key is a list or mapping, expected a name"),
    (
        changed("mg: 100,", "mg: !!python/object/apply:os.system ['true'],"),
        ":12: tag 'tag:yaml.org,2002:python/object/apply:",
    ),
    (
        changed("mg: 100,", "mg: !!float 100,"),
        ":12: tag 'tag:yaml.org,2002:float' is not supported; write a plain value",
    ),
    (
        changed("weights:", "weights: !weights"),
        ":10: tag '!weights' is not supported; write a plain value",
    ),
    # anchors, cycles, bombs
    (
        changed("mg: 100,", "mg: &a 100,"),
        ":12: anchors and aliases are not supported; write the values out",
    ),
    (
        changed("mg: 100,", "mg: *a,"),
        ":12: anchors and aliases are not supported; write the values out",
    ),
    ("game: chess\nweights: &w\n  material: *w\n", ":2: anchors and aliases are not supported"),
    ("&root [*root]\n", ":1: anchors and aliases are not supported"),
    (
        "a: &a [x, x]\n"
        + "".join(
            f"{b}: &{b} [{', '.join(['*' + a] * 9)}]\n"
            for a, b in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        ":1: anchors and aliases are not supported",
    ),
    (
        changed("    man: {mg: 100,", "    <<: *base\n    man: {mg: 100,"),
        ":12: anchors and aliases are not supported",
    ),
    ("learned: " + "[" * 100, ":1: nested more than 12 deep, expected a parameter file"),
    ("learned: " + "{a: " * 100_000, ":1: nested more than 12 deep"),
    ("".join(f"{' ' * i}a:\n" for i in range(50)), ":13: nested more than 12 deep"),
    # what was learned
    (GOOD + "learned: 42\n", ":26: learned is '42', expected a mapping"),
    (GOOD + "learned: []\n", ":26: learned is a list, exp"),
    (GOOD + "learned:\n  games: many\n", ":27: games of learned is 'many', expected a number"),
    (
        GOOD + "learned: {loss_before: .nan}\n",
        ":26: loss_before of learned is '.nan', expected a number",
    ),
    (
        GOOD + "learned: {data: [a.pgn]}\n",
        ":26: data of learned is a list, expected a list of mappings",
    ),
    (
        GOOD + "learned: {ratios: {a: 1}}\n",
        ":26: ratios of learned is a mapping, expected a list of mappings",
    ),
    (
        GOOD + "learned: {held_out_after: 0.5}\n",
        ":26: learned has held_out_after without held_out_before, expected both",
    ),
    (
        GOOD + GOOD[GOOD.index("weights:") :].replace("weights", "standard_errors"),
        ":29: the standard error of material.king.eg is -0.5, expected 0 to 1e+12, or ~",
    ),
    # what is no YAML
    (
        changed("mg: 100, eg: 110.25}", "mg: 100, eg: 110.25"),
        ":13: not YAML: did not find expected",
    ),
    ("game: chess\n\tscale: 1\n", ":2: not YAML: found a tab character that violates indentation"),
    ("game: 'chess\n", ":2: not YAML: found unexpected end of stream"),
    ("game: chess: 3\n", ":1: not YAML: mapping values"),
    ("game: chess\nscale: \x00\n", ":2: not YAML: control character '\\x00'"),
    ("game: chess\n# \x1b[31mred\n", ":2: not YAML: control character '\\x1b'"),
    (
        GOOD.encode()[:20] + b"\xff\xfe" + GOOD.encode()[20:],
        ": byte 20 is not UTF-8 text; expected a YAML file",
    ),
    (b"\x28\xb5\x2f\xfd\x04", ": byte 1 is not UTF-8 text; expected a YAML file"),
]


def test_endless_brackets_are_refused_by_us_or_by_a_limit_of_libyaml(tmp_path):
    said = refused(tmp_path, "learned: " + "[" * 1_000_000)
    assert (
        said.startswith(":1: ")
        and said.split(": ")[1].startswith(("nested more than 12", "not YAML"))
        and "\n" not in said
    )


@pytest.mark.parametrize(("text", "said"), ERRORS, ids=[said[:60] for _, said in ERRORS])
def test_a_mistake_in_a_file_is_reported_with_its_line(tmp_path, text, said):
    assert refused(tmp_path, text).startswith(said)


@pytest.fixture
def parsed(monkeypatch) -> list[yaml.Event]:
    """The events that the parser has handed over so far."""
    events, parse = [], yaml.parse

    def counted(*arguments, **options):
        for event in parse(*arguments, **options):
            events.append(event)
            yield event

    monkeypatch.setattr("tuner.parameters.yaml_tree.yaml.parse", counted)
    return events


@pytest.mark.parametrize("opening", ["[", "{a: "])
def test_deep_nesting_is_refused_where_it_becomes_too_deep(tmp_path, parsed, opening):
    refused(tmp_path, "learned: " + opening * 100_000)
    assert len(parsed) < 4 * MAX_NESTING


def test_an_alias_is_refused_at_the_first_anchor(tmp_path, parsed):
    refused(tmp_path, "a: &a [x, x]\n" + "".join(f"b{k}: [{'*a, ' * 9}*a]\n" for k in range(1000)))
    assert len(parsed) < 10


def test_a_file_that_is_too_large_is_not_parsed(tmp_path, parsed, monkeypatch):
    monkeypatch.setattr(yaml_tree, "MAX_BYTES", 1 << 16)
    message = refused(tmp_path, "# " + "x" * (1 << 16) + "\n" + GOOD)
    assert f": {(1 << 16) + 3 + len(GOOD):,} bytes, expected a parameter file of at" in message
    assert not parsed


def test_a_large_file_takes_one_event_for_each_value_but_in_long_lists(tmp_path, parsed):
    path, values = tmp_path / "large.yaml", 20_000
    path.write_text("learned: [" + "a," * (values - 1) + "a]\n")
    assert len(read_tree(path).value["learned"].value) == values
    assert values < len(parsed) < values + 20
    parsed.clear()
    numbers = [f"{i / 100:g}" for i in range(values)]
    lines = ",\n    ".join(", ".join(numbers[i : i + 10]) for i in range(0, values, 10))
    path.write_text(f"learned:  # [1, 2\n  w: [{lines}]\n  after: 7\n")
    learned = read_tree(path).value["learned"].value
    assert [node.value for node in learned["w"].value] == numbers and len(parsed) < 20
    assert learned["w"].value[-1].line == 2 + values // 10 - 1
    assert learned["after"].line == 2 + values // 10
    text = path.read_text()
    assert all(text.startswith(node.value, node.start) for node in learned["w"].value)


@pytest.mark.parametrize("wrong", ["1 2", "x", "[1]", "1:2", "'1'", ""])
def test_a_long_list_with_anything_but_numbers_is_left_to_the_parser(tmp_path, wrong):
    """The same tree as that of a short list with the same items."""
    path, found = tmp_path / "list.yaml", []
    for number in (1, 3000):
        path.write_text("learned: [" + "1, " * number + wrong + ", 2]\n" if wrong else "a: [1,,2]")
        try:
            found.append(plain(read_tree(path))["learned"][number:])
        except InputError as problem:
            found.append(str(problem))
    assert found[0] == found[1]


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for path, said in (
        (tmp_path / "nowhere.yaml", "no such file"),
        (tmp_path, "cannot be read: Is a directory"),
    ):
        assert refusal(read_parameters, path, LAYOUT, "chess") == f"{path}: {said}"


def test_the_pure_python_loader_refuses_the_same(tmp_path, monkeypatch):
    """Where libyaml is not there; the words for bad YAML are the other parser's own."""
    monkeypatch.setattr("tuner.parameters.yaml_tree._Loader", yaml.SafeLoader)
    for text, said in ERRORS:
        if len(text) < 10_000 and isinstance(text, str):
            assert refused(tmp_path, text).startswith(said) or "not YAML" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("game: chss\n", f":1: unknown game 'chss'; available: {', '.join(available())}"),
        ("scale: 1\n", ":1: game is missing, expected for"),
        ("a: 1\ngame: [chess]\n", ":1: game is missing"),
        ("[]", ":1: game is missing"),
        ("\n\ngame: ''\n", ":3: unknown game ''"),
    ],
)
def test_an_unknown_game_is_reported_with_its_line(tmp_path, text, said):
    path = file_with(tmp_path / "my.yaml", text)
    assert refusal(game_of, path).startswith(f"{path}{said}")


def test_any_bytes_at_all_are_read_or_refused_in_one_line(tmp_path):
    random, good = np.random.default_rng(1), GOOD.encode()
    outcomes = set()
    for _ in range(600):
        text = bytearray(good)
        for _ in range(random.integers(1, 4)):
            a, b = np.sort(random.integers(0, len(good), 2)).tolist()
            kind = random.integers(3)
            if kind == 0:
                text[a] = random.choice(
                    [*b"{}[]:,&*!|>'\"%@`#-?~ \n\t0e.", random.integers(0, 256)]
                )
            elif kind == 1:
                del text[a : min(b, a + 30)]
            else:
                text[a:a] = good[b : b + 40]
        try:
            assert np.isfinite(read(tmp_path, bytes(text)).weights).all()
            outcomes.add("read")
        except InputError as problem:
            assert str(problem).startswith(f"{tmp_path}/my.yaml:") and "\n" not in str(problem)
            outcomes.add("refused")
    assert outcomes == {"read", "refused"}


def test_untapered_parameters_are_the_mean_of_the_stages(tmp_path):
    p = untapered(read(tmp_path, GOOD))
    assert p.stages == ("all",) and p.weights.tolist() == [
        [105.125, -0.25, 0, 0, 0, 0, 6.5, 7.5, 8.5]
    ]
    assert p.bounds and p.fixed


def test_tapered_parameters_have_the_same_weights_in_every_stage(tmp_path):
    p = staged(untapered(read(tmp_path, GOOD)), ("mg", "eg"))
    assert (
        p.stages == ("mg", "eg")
        and p.weights.tolist() == [[105.125, -0.25, 0, 0, 0, 0, 6.5, 7.5, 8.5]] * 2
    )


def test_limits_are_those_of_the_bounds_and_of_all_weights_elsewhere(tmp_path):
    low, high = read(tmp_path, GOOD).limits()
    assert low[:, 0].tolist() == [50, 50] and high[:, 0].tolist() == [150.5, 150.5]
    assert np.unique(low[:, 1:]) == -LARGEST_WEIGHT and np.unique(high[:, 1:]) == LARGEST_WEIGHT


def test_a_mask_has_the_numbers_that_any_of_its_names_means(tmp_path):
    assert read(tmp_path, GOOD).mask(("files.open.mg", "material.king")).tolist() == [
        [False, True, *[False] * 4, True, True, True],
        [False, True, *[False] * 7],
    ]


def test_priors_that_do_not_count_are_noted_and_means_out_of_bounds_refused(tmp_path, caplog):
    bare = re.sub(r"^(prior|fixed|bounds):.*\n( .*\n)*", "", GOOD, flags=re.MULTILINE)
    two = '"material.*": {sd: 3}, material.man: {sd: 2}'
    p = read(tmp_path, bare + f"prior: {{{two}}}\nfixed: [material.king]\n")
    assert [name for name, _ in p.prior] == ["material.*", "material.man"]
    assert "material.man has two priors; the last one counts" in caplog.text
    assert "material.* has a prior, which does not count for what is fixed" in caplog.text
    beyond = "prior: {material.man: {mean: 500, sd: 2}}\nbounds: {material.man: [0, 300]}\n"
    assert "mean of the prior of material.man is 500, which is out" in refusal(
        read, tmp_path, bare + beyond
    )
