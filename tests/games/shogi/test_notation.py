"""Names of moves: those of Western notation as Fairy-Stockfish writes them; both kinds are
understood."""

import random
from collections import Counter
from xml.etree import ElementTree

import pytest

from games.shogi.files import sfen
from games.shogi.files import sfen as notation
from games.shogi.files.sfen import picture
from games.shogi.game import after
from games.shogi.rules import movegen
from games.shogi.rules.position import START
from tests.support import refusal


def square(name: str) -> str:
    """A square as Fairy-Stockfish names it: a1 is 9i."""
    return "abcdefghi"[9 - int(name[0])] + str(9 - "abcdefghi".index(name[1]))


def theirs(name: str) -> str:
    """A move in Fairy-Stockfish's coordinates."""
    return (
        name[0] + "@" + square(name[2:])
        if "*" in name
        else square(name[:2]) + square(name[2:4]) + name[4:]
    )


@pytest.mark.long
def test_western_names_are_those_of_fairy_stockfish():
    pyffish = pytest.importorskip("pyffish", reason="needs pyffish")
    rng, met = random.Random(8), set()
    for _ in range(3):
        words = START.copy()
        for _ in range(150):
            moves = movegen.moves_of(words)
            if not moves:
                break
            board, side, hands, number = sfen.text(words).split()
            fen = f"{board}[{_letters(hands)}] {'w' if side == 'b' else 'b'} 0 {number}"
            for move in rng.sample(moves, min(4, len(moves))):
                text = notation.move_text(words, move)
                assert text == pyffish.get_san(
                    "shogi",
                    fen,
                    theirs(notation.move_name(words, move)),
                    False,
                    pyffish.NOTATION_SHOGI_HODGES_NUMBER,
                ), fen
                assert (
                    notation.move_named(words, text)
                    == notation.move_named(words, notation.move_name(words, move))
                    == move
                )
                met.update(set("x*+=") & set(text))
            words = after(words, rng.choice(moves))
    assert met == set("x*+=")


def _letters(hands: str) -> str:
    """Men in hand one by one: 2P as PP."""
    found, number = "", ""
    for letter in hands.replace("-", ""):
        if letter.isdigit():
            number += letter
        else:
            found, number = found + letter * int(number or 1), ""
    return found


@pytest.mark.parametrize("name", ["", "7g7e", "P*5e", "7g7f+", "P-75", "x"])
def test_other_names_are_refused(name):
    assert "illegal move" in refusal(notation.move_named, START, name, error=ValueError)


SVG = "{http://www.w3.org/2000/svg}"


def men(text: str) -> tuple[Counter, list[str]]:
    """Letters of the men as (letter, turned, color), and the numbers beside them."""
    root = ElementTree.fromstring(picture(sfen.position(text)))
    found = Counter(
        (
            group.find(f"{SVG}text").text,
            "rotate" in group.get("transform"),
            group.find(f"{SVG}text").get("fill"),
        )
        for group in root.iter(f"{SVG}g")
    )
    return found, [note.text for note in root.findall(f"{SVG}text")]


def test_all_men_of_the_start_are_drawn_for_both_sides():
    found, notes = men(sfen.text(START))
    assert notes == []
    assert sum(found.values()) == 40
    assert found["P", False, "#222222"] == found["P", True, "#222222"] == 9
    assert found["K", True, "#222222"] == 1


def test_promoted_men_and_hands_are_drawn():
    found, notes = men("k8/9/9/3+p+B4/9/9/9/9/8K b G2r13p 1")
    assert sorted(notes) == ["13", "2"]
    assert found == {
        ("K", True, "#222222"): 1,
        ("K", False, "#222222"): 1,
        ("P", True, "#b03030"): 1,
        ("B", False, "#b03030"): 1,
        ("G", False, "#222222"): 1,
        ("R", True, "#222222"): 1,
        ("P", True, "#222222"): 1,
    }


@pytest.mark.parametrize(
    ("text", "checked"), [("k8/9/9/9/9/9/9/R8/8K w - 1", 1), ("k8/9/9/9/9/9/9/8R/8K w - 1", 0)]
)
def test_a_king_in_check_is_marked(text, checked):
    assert picture(sfen.position(text)).count("#f0b0a0") == checked
