"""Games that GNU Backgammon wrote, in both formats; labels; damaged files."""

import random
import re
from pathlib import Path

import numpy as np
import pytest

from games.backgammon.files import mat
from games.backgammon.files import reading as labels
from games.backgammon.files.ids import from_match_id, position_id
from games.backgammon.files.mat import DROPPED, PLAYED, RESIGNED, UNFINISHED, GameRecord
from games.backgammon.files.notation import steps_text
from games.backgammon.rules.board import counts_of, dice_of, turn_of, with_dice
from games.backgammon.rules.play import afterstates, points
from games.reading import Faults
from games.record import ReadReport
from games.streams import InputError, lines
from tests.games.backgammon.support import labels_text, rolls_of_games
from tests.support import file_with, refusal

DATA = Path(__file__).parent / "data"
MUTATED = 250


def quiet(text: str) -> None:
    raise AssertionError(text)


def games_of(path: Path, strict: bool, note=quiet) -> list[GameRecord]:
    """The games of a file without those that have faults, which are noted, or raise InputError."""
    source = str(path)
    faults = Faults(source, "game", strict, ReadReport(), note)
    found = mat.parse(source, lines(source))
    games = []
    for place, game, fault in found:
        if fault is None:
            games.append(game)
        else:
            faults.add(place, fault, fault.kind)
    return games


def labels_of(path: Path, strict: bool, note=quiet) -> list[tuple]:
    """Number, position and probabilities of the labeled lines of a file; bad lines are noted, or
    raise InputError."""
    faults, good = Faults(str(path), "line", strict, ReadReport(), note), []
    for number, *found in labels.parse(str(path), lines(path)):
        if len(found) == 1:
            faults.add(number, found[0], found[0].kind)
        else:
            good.append((number, *found))
    return good


def read(name: str) -> list[GameRecord]:
    return games_of(DATA / name, True)


def test_results_and_cubes():
    first, second = read("gnubg.mat")
    assert (first.points, first.end, first.cube, first.value) == (2, DROPPED, 2, 1)
    assert (second.points, second.end, second.cube, second.value) == (8, PLAYED, 4, 2)
    assert second.cubes == [(4, 2), (17, 4)] and second.score == (2, 0) and second.length == 7


def test_positions_are_those_that_gnubg_names():
    texts = (DATA / "gnubg.ids").read_text().split("\n", 1)[1].split("\n\n")
    for game, text in zip(read("gnubg.mat"), texts, strict=True):
        ids = [line.split(":") for line in text.split()]
        at = 0
        for board, match in ids:  # decisions on the cube have the board of the next roll
            words, state = game.rolled[min(at, len(game.rolled) - 1)], from_match_id(match)
            if at < len(game.rolled) and (state.larger, state.smaller) == dice_of(words):
                assert position_id(words) == board and state.on_roll == turn_of(words)
                at += 1
        assert at == len(game.rolled)


def random_games(seed: int, number: int, cubes: float = 0.02) -> list[GameRecord]:
    """Games of random players, with cubes."""
    random_generator, found = random.Random(seed), []
    score = (0, 0)
    for _ in range(number):
        game, dice = GameRecord(("Ann", "Bob"), score, 9999), (3, 1)
        side = random_generator.randrange(2)
        while not points(game.now):
            if game.rolled:
                side, dice = (
                    turn_of(game.now),
                    (random_generator.randint(1, 6), random_generator.randint(1, 6)),
                )
                if random_generator.random() < cubes:
                    game.double(side)
                    if random_generator.random() < 0.3:
                        game.drop(1 - side)
                        break
            words = game.now
            words[4] |= np.uint64(side)
            words = with_dice(words, dice)
            _, moves = afterstates(words)
            game.play(side, dice, steps_text(words, int(random_generator.choice(moves))))
        game.finish(None)
        score = (score[0] + max(game.points, 0), score[1] + max(-game.points, 0))
        found.append(game)
    return found


def test_what_is_written_is_read(tmp_path):
    games = [*read("gnubg.mat"), *random_games(1, 12)]
    (tmp_path / "a.mat").write_text(mat.mat_text(games))
    again = games_of(tmp_path / "a.mat", True)
    for one, other in zip(games, again, strict=True):
        assert (one.line == other.line).all()
        assert (one.cubes, one.points, one.end, one.players, one.score) == (
            other.cubes,
            other.points,
            other.end,
            other.players,
            other.score,
        )


def test_a_resigned_game_has_the_points_of_the_file(tmp_path):
    text = (DATA / "gnubg.mat").read_text().split("\n")
    end = next(k for k, line in enumerate(text) if line.startswith(" 10)"))
    (tmp_path / "a.mat").write_text("\n".join(text[:end]) + "\n      Wins 4 points\n")
    (game,) = games_of(tmp_path / "a.mat", True)
    assert (game.points, game.end) == (4, RESIGNED)


def session(*numbered: str) -> str:
    """A game of a money session with these lines."""
    return "\n".join([" 0 point match", "", " Game 1", " Ann : 0              Bob : 0", *numbered])


OPENING = "  1) 31: 8/5 6/5                 "


@pytest.mark.parametrize(
    "lines, won, end, cubes",
    [
        (  # the second player doubles, the first beavers, and the second goes on
            [
                OPENING + "Doubles => 2",
                "  2)  Beavers => 4               52: 13/8 13/11",
                "  3) 64: 8/2 6/2                 65: 24/18 18/13",
                "                                  Wins 4 points",
            ],
            -4,
            RESIGNED,
            [(1, 2), (1, 4)],
        ),
        (
            [
                OPENING + "Doubles => 2",
                "  2)  Beavers => 4                Raccoons => 8",
                "  3)  Takes                      52: 13/11 13/8",
                "      Wins 16 points",
            ],
            16,
            RESIGNED,
            [(1, 2), (1, 4), (1, 8)],
        ),
        (
            [OPENING + "Doubles => 2", "  2)  beavers                    Drops"],
            2,
            DROPPED,
            [(1, 2)],
        ),
        (
            [
                OPENING + "Doubles => 2",
                "  2)  Beavers => 4               52: 13/8 13/11",
                "  3)  Redoubles => 8             Takes",
                "  4) 64: 8/2 6/2",
                "      Wins 8 points",
            ],
            8,
            RESIGNED,
            [(1, 2), (1, 4), (2, 8)],
        ),
        (["  1) 31: 8/5 6/5                 52: ", "      Wins 1 point"], 1, RESIGNED, []),
        ([OPENING + "52: 13/8 13/11", "  2) 64:       Wins 2 points"], -2, RESIGNED, []),
        ([OPENING + "52: 13/8 13/11", "  2) 64:"], 0, UNFINISHED, []),
    ],
)
def test_cubes_and_resignations(tmp_path, lines, won, end, cubes):
    (tmp_path / "a.mat").write_text(session(*lines))
    (game,) = games_of(tmp_path / "a.mat", True)
    assert (game.points, game.end, game.cubes) == (won, end, cubes)
    (tmp_path / "b.mat").write_text(mat.mat_text([game]))
    (again,) = games_of(tmp_path / "b.mat", True)
    assert (again.points, again.end, again.cubes) == (won, end, cubes)


@pytest.mark.parametrize(
    "line",
    [
        "  2) the left half is illegible",
        "  2)   illegible                 65: 24/18 18/13",
        "  2) 64: 8/2 6/2                 illegible",
        "  2)  Otters => 4                65: 24/18 18/13",
        "  2) 64 8/2 6/2",
        "  2)  Takes it                   65: 24/18 18/13",
    ],
)
def test_a_numbered_line_that_cannot_be_read_is_a_fault(tmp_path, line):
    text = session(OPENING + "52: 13/11 13/8", line, "      Wins 1 point")
    (tmp_path / "a.mat").write_text(text)
    assert re.search(r"a.mat:6: '.*' is n", refusal(games_of, tmp_path / "a.mat", True))


@pytest.mark.parametrize("name", ["NackGammon", "Nackgammon", "Hypergammon (3)", "LongGammon"])
def test_other_variations_are_refused_by_name(tmp_path, name):
    text = session(OPENING + "52: 13/11 13/8", "      Wins 1 point")
    (tmp_path / "a.mat").write_text(f'; [Variation "{name}"]\n\n{text}')
    assert f"a.mat:5: the variation is '{name}'" in refusal(games_of, tmp_path / "a.mat", True)
    (tmp_path / "a.mat").write_text(f'; [Variation "Backgammon"]\n\n{text}')
    assert len(games_of(tmp_path / "a.mat", True)) == 1


@pytest.mark.parametrize(
    "old, new, message",
    [
        (
            "21: 13/11 24/23",
            "21: 13/11 24/22",
            "a.mat:7: '13/11 24/22' is not a legal move of 21 at ply 1; fix it",
        ),
        ("Doubles => 2", "Doubles => 4", "the cube goes from 1 to 4 at ply 14, expected 2"),
        (
            "Wins 2 points",
            "Wins 3 points",
            "the file states +3 points for the first player, the dropped cube gives +2",
        ),
        (
            "Wins 8 points",
            "Wins 4 points",
            "the file states +4 points for the first player, the moves give +8",
        ),
        (
            "Game 2\n gnubg",
            "Game 2\n  1) 31: 8/5 6/5\n gnubg",
            "root : 0' is neither a numbered move",
        ),
        ("  2) 32:", "  2) 3:", "is neither a roll nor an action of the cube"),
    ],
)
def test_faults_of_games_are_named(tmp_path, old, new, message):
    text = (DATA / "gnubg.mat").read_text()
    assert old in text
    path = file_with(tmp_path / "a.mat", text.replace(old, new, 1))
    assert message in refusal(games_of, path, True)
    notes: list[str] = []
    assert len(games_of(path, False, notes.append)) == 1
    assert len(notes) == 1 and notes[0].endswith("; game skipped")


def mutations(seed: int, whole: bytes, number: int):
    """Damaged copies of a file."""
    chance = random.Random(seed)
    for _ in range(number):
        content = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            at = chance.randrange(len(content) + 1)
            content[at : at + chance.choice([0, 1, 1, 2, 300])] = bytes(
                chance.choices(
                    b"[]();:/*0123456789abyzBWDTdr \n\\\xff", k=chance.choice([0, 1, 1, 3])
                )
            )
        yield bytes(content)


def test_damaged_files_give_legal_games_or_one_line(tmp_path, mutated=MUTATED):
    notes: list[str] = []
    whole = (DATA / "gnubg.mat").read_bytes()
    for content in mutations(1, whole if len(whole) < 9000 else whole[:9000], mutated):
        path = file_with(tmp_path / "a.mat", content)
        try:
            for game in games_of(path, False, notes.append):
                for before, after in zip(game.rolled, game.afterstates, strict=True):
                    assert (afterstates(before)[0] == after).all(1).any()
        except InputError as problem:
            notes.append(str(problem))
    assert len(notes) > mutated // 4
    assert all("\n" not in note and str(tmp_path) in note for note in notes)


def some_labels() -> tuple[np.ndarray, np.ndarray]:
    random_generator = np.random.default_rng(2)
    positions = np.array([with_dice(words, (0, 0)) for words in rolls_of_games(1, 200)])
    win = random_generator.random(200)
    win_g, lose_g = win * random_generator.random(200), (1 - win) * random_generator.random(200)
    own, other = np.array(
        [counts_of(words)[[turn_of(words), 1 - turn_of(words)], 0] for words in positions]
    ).T
    win_g[other > 0] = lose_g[own > 0] = 0
    return positions, np.stack([win, win_g, win_g / 3, lose_g, lose_g / 2], 1)


def test_labels_are_read_again(tmp_path):
    positions, chances = some_labels()
    (tmp_path / "a.csv").write_text(labels_text(positions, chances))
    _, found, again = zip(*labels_of(tmp_path / "a.csv", True), strict=True)
    assert [position_id(words) for words in found] == [position_id(words) for words in positions]
    assert all(turn_of(words) == 0 for words in found)
    assert abs(np.array(again) - chances).max() < 1e-5
    assert np.allclose(
        labels.points_of(np.array([[0.5, 0, 0, 0, 0], [1, 1, 1, 0, 0], [0.6, 0.2, 0.1, 0.1, 0]])),
        [0, 3, 0.4],
    )


@pytest.mark.parametrize(
    "line, message",
    [
        (
            "4HPwATDgc/ABMA,.5,.1,0,.1",
            "a.csv:2: 5 fields, expected 6: position_id,win,win_g,win_bg,lose_g,lose_bg; fix it",
        ),
        (
            "4HPwATDgc/ABMA,.5,.6,0,.1,0",
            "a.csv:2: win_g is 0.6, more than win, 0.5, of which it is a part; fix it",
        ),
        (
            "4HPwATDgc/ABMA,.5,.1,0,.7,0",
            "a.csv:2: lose_g is 0.7, more than 1 - win, 0.5, of which it is a part; fix it",
        ),
        (
            "4HPwATDgc/ABMA,nan,.1,0,.7,0",
            "a.csv:2: win is 'nan', expected a probability from 0 to 1; fix it",
        ),
        (
            "mxmAQ4PbAQAAAA,.96,.87,.37,0,0",
            "a.csv:2: win_g is 0.87, but the loser has borne off 1 of the checkers; is the",
        ),
        (
            "mxmAQ4PbAQAAAA,.04,0,0,.1,0",
            "a.csv:2: lose_g is 0.1, but the loser has borne off 7 of the checkers; is the",
        ),
        (
            "hello,.5,.1,0,.1,0",
            "a.csv:2: 'hello' is not a position ID, expected 14 letters of base 64; fix it",
        ),
    ],
)
def test_faults_of_labels_are_named(tmp_path, line, message):
    (tmp_path / "a.csv").write_text(f"{','.join(labels.HEADER)}\n{line}\n")
    assert message in refusal(labels_of, tmp_path / "a.csv", True)
    (tmp_path / "a.csv").write_text("a,b\n")
    assert "a.csv:1: the header is 'a,b', expected position_id,win" in refusal(
        labels_of, tmp_path / "a.csv", False
    )


def test_damaged_labels_are_skipped_in_one_line(tmp_path, mutated=MUTATED):
    positions, chances = some_labels()
    whole, notes = labels_text(positions[:20], chances[:20]).encode(), []
    for content in mutations(2, whole, mutated):
        (tmp_path / "a.csv").write_bytes(content)
        try:
            for _, _, found in labels_of(tmp_path / "a.csv", False, notes.append):
                assert all(0 <= chance <= 1 for chance in found)
        except InputError as problem:
            notes.append(str(problem))
    assert len(notes) > mutated // 4
    assert all("\n" not in note and str(tmp_path) in note for note in notes)
