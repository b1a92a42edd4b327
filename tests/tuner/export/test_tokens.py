"""Sources split into tokens: comments, strings and numbers of each language, with nothing lost."""

from pathlib import Path

import numpy as np
import pytest

from games.streams import InputError
from tuner.export.into.source import (
    COMMENT,
    DIRECTIVE,
    LANGUAGES,
    NUMBER,
    STRING,
    SourceText,
    language_of,
)


def read(name: str, text: str) -> SourceText:
    return SourceText(name, text, language_of(Path(name)))


def of_kind(source: SourceText, *kinds: str) -> list[str]:
    return [source.of(token) for token in source.tokens if token.kind in kinds]


STRINGS = {
    "a.c": ['"a \\" // 1"', "'\\''", "'\"'", 'L"x"', 'u8"1"', "'ab'"],
    "a.cpp": ['R"(1 " ) 2)"', 'R"x(1)" )x"', 'u8R"(9)"'],
    "a.rs": [
        '"two\nlines 5"',
        'r"\\"',
        'r#"1 " 2"#',
        "b'x'",
        "'\\u{1F600}'",
        "'\"'",
        "'\xc3\xa9'",
        'b"7"',
    ],
    "a.cs": ['@"c:\\"', '@"say ""1"""', '$"{x["a"]} {{ 5"', '$@"{a}\\"', '"""raw " 1"""', "'\\''"],
    "A.java": ['"""\n  text "" 5 \\""" more"""', "'\\u0041'", '"5"'],
    "a.go": ["`raw \\ 5\n`", "'\\''", '"5"'],
}


@pytest.mark.parametrize(
    ("name", "string"), [(name, string) for name, strings in STRINGS.items() for string in strings]
)
def test_a_string_is_one_token(name, string):
    source = read(name, f"x = {string}; y = 3; // {string.splitlines()[0]}\n")
    assert of_kind(source, STRING) == [string] and of_kind(source, NUMBER) == ["3"]


@pytest.mark.parametrize(
    ("name", "text", "comments"),
    [
        ("a.c", "1 /* 2 /* 3 */ 4 // 5 \\\n 6\n7", ["/* 2 /* 3 */", "// 5 \\\n 6"]),
        ("a.rs", "1 /* 2 /* 3 */ 4 */ 5 // 6 \\\n7", ["/* 2 /* 3 */ 4 */", "// 6 \\"]),
        ("a.go", "1 /* don't */ 2 // 3\r\n4", ["/* don't */", "// 3"]),
        ("a.cpp", "#if 0 // don't\n1 /* \" */\n#endif\n", ["// don't", '/* " */']),
    ],
)
def test_comments_end_where_the_language_says(name, text, comments):
    assert of_kind(read(name, text), COMMENT) == comments


@pytest.mark.parametrize(
    ("name", "text", "numbers"),
    [
        (
            "a.cpp",
            "1'000 + .5f - 0x1Fp+3 1e-5 10u 3.e2 a.b x1 1.5",
            ["1'000", ".5f", "0x1Fp+3", "1e-5", "10u", "3.e2", "1.5"],
        ),
        (
            "a.rs",
            "0..8 1_000i32 x.0.1 1.max(2) 2.5f64 0..=7 'a",
            ["0", "8", "1_000i32", "0.1", "1", "2", "2.5f64", "0", "7"],
        ),
        ("a.cs", "1_0L 5m arr[2]", ["1_0L", "5m", "2"]),
    ],
)
def test_numbers_are_those_of_the_language(name, text, numbers):
    assert of_kind(read(name, text), NUMBER) == numbers


def test_preprocessor_lines_are_one_token_each_but_for_definitions():
    source = read(
        "a.h",
        "#include <a//b>\n # if X /* 1\n */ 2\n#define A \\\n 3 // 4\n#define F(x) x\n#error"
        " don't\nB\n",
    )
    assert of_kind(source, DIRECTIVE) == ["#include <a//b>", "# if X ", "#error don't"]
    assert of_kind(source, NUMBER) == ["2", "3"]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.c", 'x = 1;\nchar *s = "open;\n', "a.c:2: this string does not end; is this C or C++?"),
        ("a.rs", "/* /* */ 1", "a.rs:1: this comment does not end; is this Rust?"),
        (
            "a.py",
            "x = 1",
            "a.py: the suffix '.py' names no known language; known: C or C++ (.c .h ",
        ),
    ],
)
def test_what_does_not_end_is_refused(name, text, said):
    with pytest.raises(InputError) as problem:
        read(name, text)
    assert str(problem.value).startswith(said)


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_tokens_are_the_text_whatever_it_is(language):
    """Random pieces of sources, most of them nonsense: either all of the text, or one line of
    error."""
    random = np.random.default_rng(1)
    pieces = [
        "/*",
        "*/",
        "//",
        "\n",
        "\r\n",
        '"',
        "'",
        "\\",
        "#define A",
        "#if",
        'R"(',
        ')"',
        'r#"',
        "{",
        "}",
        "(",
        ")",
        "5",
        "0.5",
        "name",
        " ",
        "\t",
        "\xe9",
        '$"',
        '@"',
        "`",
        "1_0",
        "=",
        "-",
        '"""',
        ";",
        ",",
    ]
    whole = 0
    for _ in range(400):
        text = "".join(random.choice(pieces, 12))
        try:
            source = SourceText("x", text, language)
        except InputError as problem:
            assert "does not end" in str(problem)
            continue
        assert "".join(map(source.of, source.tokens)) == text
        whole += 1
    assert whole > 50
