"""What becomes of several files that are read into one dataset."""

from __future__ import annotations

from tests.commands.support import done, tuner

GAME = '[Event "?"]\n[Result "{result}"]\n\n{moves} {result}\n\n'
OPENING = "1. {first} e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O"


def games(*firsts: str, result: str = "1-0") -> str:
    return "".join(GAME.format(moves=OPENING.format(first=first), result=result) for first in firsts)


def test_a_game_that_stands_in_two_files_is_taken_once(tmp_path):
    (tmp_path / "a.pgn").write_text(games("e4", "e3"))
    (tmp_path / "b.pgn").write_text(games("e3") + games("e4", result="0-1"))
    ran = done("dataset", tmp_path / "a.pgn", tmp_path / "b.pgn", "-o", tmp_path / "both", "--positions", "all")
    assert "read 4 games, used 2, 2 duplicates" in ran.err
    kept = done("dataset", tmp_path / "a.pgn", tmp_path / "b.pgn", "-o", tmp_path / "all", "--positions", "all",
                "--duplicates", "keep")
    assert "read 4 games, used 4" in kept.err


def test_a_bad_game_is_named_by_its_number_in_its_own_file(tmp_path):
    (tmp_path / "a.pgn").write_text(games("e4", "e3"))
    (tmp_path / "b.pgn").write_text(games("d4").replace("2. Nf3", "2. Nf9"))
    ran = tuner("dataset", tmp_path / "a.pgn", tmp_path / "b.pgn", "-o", tmp_path / "both")
    assert f"{tmp_path / 'b.pgn'}: game 1 (byte" in ran.err
