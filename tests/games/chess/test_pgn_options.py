"""The selection of games and positions: every option against positions that python-chess
replays."""

import math
import random

import chess
import numpy as np
import pytest

from games.chess.files import pgn
from games.chess.files.fen import position
from tests.games.support import random_lines, read, rows
from tests.support import file_with, refusal

OUTCOMES = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}


class Played:
    """A game that was played at random: its boards, its result, its players' ratings."""

    def __init__(
        self,
        rng: random.Random,
        start: chess.Board,
        line: list[chess.Move],
        result: str | None = None,
    ) -> None:
        self.boards, sans = [start.copy()], []
        for move in line:
            sans.append(self.boards[-1].san(move))
            board = self.boards[-1].copy()
            board.push(move)
            self.boards.append(board)
        self.result = result or rng.choice([*OUTCOMES, "*"])
        self.elos = (rng.randrange(1800, 2800), rng.randrange(1800, 2800))
        self.moves = " ".join(sans)

    def text(self, comment: str = "") -> str:
        white, black = self.elos
        return (
            f'[Event "?"]\n[WhiteElo "{white}"]\n[BlackElo "{black}"]\n[FEN'
            f' "{self.boards[0].fen()}"]\n\n{comment} {self.moves} {self.result}\n\n'
        )

    def positions(self, skip_start: int, skip_end: int) -> list[np.ndarray]:
        return [
            position(board.fen())
            for board in self.boards[skip_start : max(len(self.boards) - skip_end, 0)]
        ]


def played(seed: int, n: int, plies: int = 40) -> list[Played]:
    rng = random.Random(seed)
    return [
        Played(rng, start, line[: rng.randrange(plies)])
        for start, line in random_lines(seed, n, plies)
    ]


@pytest.fixture(scope="module")
def some() -> list[Played]:
    return played(21, 60)


@pytest.fixture
def file(some, tmp_path):
    return file_with(tmp_path / "games.pgn", "".join(game.text() for game in some))


@pytest.mark.parametrize(
    ("skip_start", "skip_end"), [(0, 0), (8, 0), (0, 3), (5, 4), (30, 20), (1000, 0), (0, 1000)]
)
def test_positions_are_those_between_the_first_and_last_plies_skipped(
    skip_start, skip_end, some, file
):
    batches, report, notes = read(file, skip_start=skip_start, skip_end=skip_end)
    decided = [game for game in some if game.result != "*"]
    wanted = [game.positions(skip_start, skip_end) for game in decided]
    assert np.array_equal(
        rows(batches), [words for game in wanted for words in game] or np.zeros((0, 10))
    )
    outcomes = [
        OUTCOMES[game.result] for game, taken in zip(decided, wanted, strict=True) for _ in taken
    ]
    assert np.concatenate([batch.outcomes for batch in batches]).tolist() == outcomes
    assert (report.games, report.used, report.undecided) == (
        len(some),
        len(decided),
        len(some) - len(decided),
    )
    assert (report.positions, report.bad, notes) == (len(outcomes), 0, [])
    assert report.bytes == file.stat().st_size


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 0.75, 1.0])
@pytest.mark.parametrize("skip_start", [0, 20])
def test_positions_are_those_from_a_share_of_the_plies_on(share, skip_start, some, file):
    batches, _, _ = read(file, skip_start=skip_start, from_share=share)
    wanted = [
        game.positions(max(skip_start, math.ceil(share * (len(game.boards) - 1))), 0)
        for game in some
        if game.result != "*"
    ]
    assert np.array_equal(rows(batches), [words for game in wanted for words in game])


def test_games_that_ended_otherwise_than_wanted_are_left_out(tmp_path):
    mate = "1. f3 e5 2. g4 Qh4# 0-1"
    drawn = "1. e4 e5 1/2-1/2"
    resigned = "1. e4 e5 1-0"
    stalemate = '[FEN "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1"]\n[SetUp "1"]\n\n1. Qc7 1-0'
    path = file_with(tmp_path / "games.pgn", "\n\n".join((mate, drawn, resigned, stalemate)) + "\n")
    for ended, plies, left in (("any", [5, 3, 3, 2], 0), ("won", [5, 3, 2], 1), ("mate", [5], 3)):
        batches, report, _ = read(path, ended=ended)
        (batch,) = batches
        assert np.diff([*batch.first, len(batch.positions)]).tolist() == plies
        assert (report.ended_otherwise, report.used) == (left, len(plies))


def test_mates_are_those_of_python_chess(some, file):
    _, report, _ = read(file, ended="mate")
    decided = [game for game in some if game.result in ("1-0", "0-1")]
    mated = sum(game.boards[-1].is_checkmate() for game in decided)
    assert report.used == mated


def test_every_game_tells_where_its_positions_begin(some, file):
    batches, _, _ = read(file, skip_start=6)
    lengths = [max(len(game.boards) - 6, 0) for game in some if game.result != "*"]
    (batch,) = batches
    assert np.diff([*batch.first, len(batch.positions)]).tolist() == lengths


def test_an_opening_is_the_position_after_eight_plies_or_the_last_one(some, file):
    batches, _, _ = read(file)
    wanted = [
        position(game.boards[min(8, len(game.boards) - 1)].fen())[9]
        for game in some
        if game.result != "*"
    ]
    assert np.concatenate([batch.openings for batch in batches]).tolist() == wanted


@pytest.mark.parametrize("min_elo", [0, 2000, 2300, 3000])
def test_games_of_a_player_below_the_rating_are_left_out(min_elo, some, file):
    _, report, _ = read(file, min_elo=min_elo)
    decided = [game for game in some if game.result != "*"]
    assert report.below_elo == sum(min(game.elos) < min_elo for game in decided)
    assert report.used == len(decided) - report.below_elo


def test_games_without_ratings_are_below_any(tmp_path):
    path = file_with(
        tmp_path / "games.pgn",
        '1. e4 1-0\n\n[WhiteElo "2500"]\n\n1. d4 1-0\n\n[WhiteElo "2500"]\n[BlackElo "?"]\n\n1. c4'
        " 1-0\n\n",
    )
    _, report, _ = read(path, min_elo=1)
    assert (report.games, report.below_elo, report.used) == (3, 3, 0)


@pytest.mark.parametrize("per_game", [1, 7])
def test_a_number_per_game_is_drawn_in_order_by_the_seed(per_game, some, file):
    def drawn(seed: int) -> list[np.ndarray]:
        (batch,), _, _ = read(file, per_game=per_game, seed=seed)
        return np.split(batch.positions, batch.first[1:])

    whole = [np.array(game.positions(0, 0)) for game in some if game.result != "*"]
    for sample, game in zip(drawn(1), whole, strict=True):
        assert len(sample) == min(per_game, len(game))
        at = [
            next(i for i, words in enumerate(game) if np.array_equal(words, one)) for one in sample
        ]
        assert at == sorted(at)
    assert all(map(np.array_equal, drawn(1), drawn(1)))
    assert not all(map(np.array_equal, drawn(1), drawn(2)))


def test_every_position_of_a_game_is_as_likely_to_be_drawn(tmp_path):
    """400 games of eleven positions each, of which three are drawn: each is expected 109 times,
    give or take 9."""
    path = tmp_path / "games.pgn"
    games = [
        Played(random.Random(i), start, line, "1-0")
        for i, (start, line) in enumerate(random_lines(22, 400, 10))
    ]
    path.write_text("".join(game.text() for game in games))
    (batch,), _, _ = read(path, per_game=3)
    plies = (
        2 * (batch.positions[:, 8] >> np.uint64(32) & np.uint64(0xFFFF))
        - 2
        + (batch.positions[:, 8] & np.uint64(1))
    )
    counts = np.bincount(plies.astype(int), minlength=11)
    assert counts.sum() == 1200
    assert np.all(np.abs(counts - 1200 / 11) < 40)


def test_the_same_moves_are_the_same_game_whatever_is_written_around_them(tmp_path):
    path = tmp_path / "games.pgn"
    games = [game for game in played(23, 20) if game.result != "*"]
    others = [game.text("{commented}").replace('"?"', '"x"') for game in games[:5]]
    path.write_text("".join(game.text() for game in games) + "".join(others))
    distinct = len({(game.boards[0].fen(), game.moves) for game in games})
    for duplicates, dropped in [("games", len(games) + 5 - distinct), ("keep", 0)]:
        _, report, _ = read(path, duplicates=duplicates)
        assert (report.duplicate_games, report.used) == (dropped, len(games) + 5 - dropped)
    (batch,), _, _ = read(path, duplicates="keep")
    assert batch.identities[:5].tolist() == batch.identities[-5:].tolist()
    assert len(set(batch.identities.tolist())) == distinct


def test_a_game_left_out_for_its_rating_is_no_duplicate(tmp_path):
    path = tmp_path / "games.pgn"
    text = '[WhiteElo "{elo}"]\n[BlackElo "{elo}"]\n\n1. e4 e5 1-0\n\n'
    path.write_text(text.format(elo=1000) + text.format(elo=2000) + text.format(elo=2000))
    _, report, _ = read(path, min_elo=1500, duplicates="games")
    assert (report.below_elo, report.duplicate_games, report.used) == (1, 1, 1)


def test_duplicate_positions_are_dropped_after_the_first(some, file, monkeypatch):
    monkeypatch.setattr(pgn, "ROOM", 7)  # games a stretch: what was seen must outlast it
    _, kept, _ = read(file, duplicates="keep")
    batches, report, _ = read(file, duplicates="positions")
    seen, wanted = set(), []
    for game in some:
        for board in game.boards if game.result != "*" else ():
            key = board._transposition_key()
            if key not in seen:
                seen.add(key)
                wanted.append(position(board.fen()))
    assert np.array_equal(rows(batches), wanted)
    assert report.duplicate_positions == kept.positions - len(wanted) > 10
    for batch in batches:
        assert np.all(np.diff([*batch.first, len(batch.positions)]) >= 0)


def test_reading_takes_many_batches_without_losing_a_position(tmp_path):
    """More positions than one batch has room for."""
    path = tmp_path / "games.pgn"
    shuffle = "1. Nf3 Nf6 2. Ng1 Ng8 " * 150
    path.write_text("".join(f"{shuffle} {first} 1-0\n\n" for first in ("e4", "d4", "c4")) * 30)
    batches, report, _ = read(path)
    assert len(batches) > 1
    assert report.positions == sum(len(batch.positions) for batch in batches) == 90 * 602
    assert report.used == sum(len(batch.first) for batch in batches) == 90


@pytest.mark.parametrize("name", ["games.pgn", "games.epd"])
def test_choosing_positions_by_quiescence_needs_an_evaluation(name, tmp_path):
    path = file_with(tmp_path / name, "1. e4 1-0\n")
    assert "positions='quiet' needs an evaluation" in refusal(
        read, path, positions="quiet", error=ValueError
    )
