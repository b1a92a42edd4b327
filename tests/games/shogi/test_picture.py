"""Pictures show every man on the board and in hand."""

from collections import Counter
from xml.etree import ElementTree

import pytest

from games.shogi.files import sfen
from games.shogi.files.sfen import picture
from games.shogi.rules.position import START

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
