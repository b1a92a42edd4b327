"""`tuner uci --learn` and `tuner usi --learn`: an engine that learns from the games that it plays,
driven by python-chess and by lines of the protocol."""

import io
import json
import random
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import replace

import chess
import chess.engine
import chess.pgn
import numpy as np
import pytest

from games.record import find
from games.search.searcher import Found, Limits
from tests.commands.support import done, refused
from tests.support import file_with, refusal
from tuner.core.records import InputError
from tuner.evaluation.evaluation import load_evaluation
from tuner.evaluation.loading import load_parameters, parameter_path
from tuner.io.terminal import Display
from tuner.play.selfplay import engine as engine_module
from tuner.play.selfplay.engine import NEGLIGIBLE, Watcher, episode_of, told_games
from tuner.play.selfplay.folder import read_episodes, read_history
from tuner.play.selfplay.learner import BackupInput, Untold, new_learner, returns
from tuner.play.selfplay.settings import selfplay_settings
from tuner.play.selfplay.weights import mistakes_of, texts_of

COMMAND = [sys.executable, "-m", "tuner"]


@contextmanager
def engine(*words):
    """Yield an engine that python-chess talks to."""
    with chess.engine.SimpleEngine.popen_uci([*COMMAND, "uci", *words], timeout=120) as playing:
        yield playing
        with suppress(chess.engine.EngineTerminatedError):  # a test may have killed it
            playing.quit()


def play(playing, number, most=60, strong=None):
    """Play a game against random moves, which teach nothing, or a strong engine; return its
    board."""
    board, rng = chess.Board(), random.Random(number)
    while not board.is_game_over() and board.ply() < most:
        if board.turn == (number % 2 == 0):
            board.push(playing.play(board, chess.engine.Limit(depth=2), game=number).move)
        elif strong is not None and board.ply() > 3:
            board.push(strong.play(board, chess.engine.Limit(depth=4), game=number).move)
        else:
            board.push(rng.choice(sorted(board.legal_moves, key=str)))
    return board


def mine(tmp_path):
    """Return a copy of the bare piece values."""
    return shutil.copy(parameter_path("material"), tmp_path / "mine.yaml")


def weights(path):
    return load_parameters(path, ()).weights


def test_an_engine_learns_after_each_game_and_goes_on_when_it_is_started_again(tmp_path):
    path = mine(tmp_path)
    begun = weights(path)
    words = ("--learn", "--lambda", "0.8", "--fixed", "material.pawn")
    with engine(path, *words) as playing, engine("classic") as strong:
        for number in range(3):
            play(playing, number, strong=strong)
    learned, folder = weights(path), tmp_path / "mine-games"
    assert (learned != begun).any() and len(read_history(folder)) == 3
    fixed = load_parameters(path, ()).mask(("material.pawn",))
    assert (learned[fixed] == begun[fixed]).all()
    with engine(path, "--learn") as playing, engine("classic") as strong:
        play(playing, 3, strong=strong)
    assert len(read_history(folder)) == 4 and (weights(path) != learned).any()
    done("report", folder)
    games = (folder / "games.pgn").read_text()
    assert games.count("[Event ") == 4 and "learner" in games and "opponent" in games


def test_games_against_random_moves_change_nothing(tmp_path):
    path = mine(tmp_path)
    begun = weights(path)
    with engine(path, "--learn") as playing:
        for number in range(3):
            play(playing, number, 40)
    history = read_history(tmp_path / "mine-games")
    assert len(history) == 3 and all(line["squares"] < 1e-4 for line in history)
    assert (weights(path) == begun).all() and [line["step"] for line in history] == [0.0] * 3


@pytest.mark.long
def test_a_kill_loses_at_most_the_game_in_play(tmp_path):
    path, rng, before = mine(tmp_path), random.Random(5), 0
    for number in range(2):
        with engine(path, "--learn") as playing:
            play(playing, 2 * number, 12)
            board = play(playing, 2 * number + 1, 2 + rng.randrange(8))
            assert board.ply() > 1
            playing.transport._proc.kill()
        assert weights(path).shape == weights(parameter_path("material")).shape
        known = len(read_history(tmp_path / "mine-games"))
        assert known == before + 1  # the first of both had ended
        before = known


def test_a_game_that_was_won_throughout_teaches_nothing(tmp_path):
    path, won = mine(tmp_path), "position fen 4k3/8/8/8/8/8/8/QQQQK3 w - - 0 1"
    begun = weights(path)
    lines = "".join(
        f"ucinewgame\n{won}{moves}\ngo depth 2\nisready\n" for moves in ("", " moves a1a2 e8e7")
    )
    found = run(path, "--learn", lines=lines + "gameover win\nisready\nquit\n")
    assert found.returncode == 0, found.stderr
    assert "info string nothing is learned from this game" in found.stdout
    assert found.stdout.count("bestmove") == 2 and (weights(path) == begun).all()
    assert read_history(tmp_path / "mine-games") == []
    assert read_episodes(tmp_path / "mine-games", find("chess").words) == {}


@pytest.mark.long
def test_an_engine_plays_on_when_learning_fails(tmp_path):
    path = mine(tmp_path)
    with engine(path, "--learn") as playing:
        play(playing, 0, 12)
        play(playing, 1, 12)
        path.unlink()
        (path / "in the way").mkdir(parents=True)
        for number in (2, 3):
            assert play(playing, number, 12).ply() == 12
    found = run(path, "--learn")
    assert found.returncode == 2
    assert len(read_history(tmp_path / "mine-games")) == 2


@pytest.mark.long
def test_two_programs_do_not_learn_into_one_file(tmp_path):
    path = mine(tmp_path)
    with engine(path, "--learn"):
        second = run(path, "--learn")
        assert second.returncode == 2
        assert second.stderr.strip().endswith(
            "another process is using this folder; wait for it, or stop it"
        )


@pytest.mark.long
def test_what_another_program_learned_meanwhile_is_not_overwritten(tmp_path):
    path = mine(tmp_path)
    words = (path, "--learn", "--run")
    begun = weights(path)
    with engine(*words, tmp_path / "a") as first:
        play(first, 0, 8)
        with engine(*words, tmp_path / "b") as second, engine("classic") as strong:
            for number in range(3):
                play(second, number, strong=strong)
        learned = weights(path)
        play(first, 1)
    assert (learned != begun).any() and (weights(path) == learned).all()
    assert len(read_history(tmp_path / "a")) == 1


def run(*words, lines="quit\n", command="uci"):
    return subprocess.run(
        [*COMMAND, command, *map(str, words)], input=lines, capture_output=True, text=True
    )


@pytest.mark.long
def test_bundled_files_files_that_exist_and_files_that_were_changed_are_refused(tmp_path):
    found = run("classic", "--learn")
    assert found.returncode == 2 and "is never replaced; name a file" in found.stderr
    other = mine(tmp_path)
    found = run("classic", "--learn", other)
    assert found.returncode == 2 and f"--learn {other}: exists" in found.stderr
    path = tmp_path / "own.yaml"
    with engine("material", "--learn", str(path)) as playing, engine("classic") as strong:
        play(playing, 0, strong=strong)
        play(playing, 1, strong=strong)
    assert (weights(path) != weights(other)).any()
    found = run(path, "--learn", "--lambda", "0.2")
    assert found.returncode == 2 and "was begun with lambda 0.7, not" in found.stderr
    shutil.copy(parameter_path("classic"), path)
    found = run(path, "--learn")
    assert found.returncode == 2 and "has other weights than those learned" in found.stderr


def test_options_without_a_use_are_refused(tmp_path):
    for words, wanted in (
        (("classic", "--lambda", "0.5"), "--lambda: is for --learn"),
        (("classic", "--run", tmp_path / "x"), "--run: is for --learn"),
        ((mine(tmp_path), "--learn", "--options"), "--options: weights that are learned"),
        (("shogi/hand", "--learn", tmp_path / "y.yaml"), "an evaluation of shogi, expected chess"),
    ):
        found = run(*words)
        assert found.returncode == 2 and wanted in found.stderr, found
    assert [path.name for path in tmp_path.iterdir()] == ["mine.yaml"]


@pytest.mark.long
def test_the_folder_of_self_play_is_another_one(tmp_path):
    path, other = mine(tmp_path), tmp_path / "selfplay"
    done("selfplay", "--games", 2, "--depth", 1, "--run", other)
    before = open(path).read()
    found = run(path, "--learn", "--run", other)
    assert found.returncode == 2 and f"{other}: a run of `tuner selfplay`" in found.stderr
    assert open(path).read() == before and len(read_history(other)) == 1
    assert run(path, "--learn").returncode == 0
    found = refused("selfplay", "--resume", tmp_path / "mine-games", "--games", 3)
    assert "these games were played by an engine that learns" in found


def test_a_game_of_shogi_has_the_result_of_gameover(tmp_path):
    path = shutil.copy(parameter_path("shogi/hand"), tmp_path / "hand.yaml")
    lines = ["usi", "isready", "usinewgame"]
    with subprocess.Popen(
        [*COMMAND, "usi", str(path), "--learn"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as playing:

        def say(*lines):
            playing.stdin.write("".join(f"{line}\n" for line in lines))
            playing.stdin.flush()

        def answer(word):
            while not (line := playing.stdout.readline()).startswith(word):
                assert line
            return line.split()

        say(*lines)
        answer("readyok")
        say("position startpos moves 7g7f", "go nodes 300")
        reply = answer("bestmove")[1]
        say(f"position startpos moves 7g7f {reply} 2g2f", "go nodes 300")
        answer("bestmove")
        say("gameover lose", "usinewgame", "quit")
        assert playing.wait() == 0
    (line,) = read_history(tmp_path / "hand-games")
    assert line["broken_off"] == 0 and line["draws"] == 0  # the first player won


def found(*moves):
    """Return a search that found these moves."""
    return Found(20.0, None, moves, len(moves), 100, 0.01)


class Board:
    """A game of chess as positions, and its moves as numbers."""

    def __init__(self):
        self.game = find("chess")
        self.line = [self.game.start()]
        self.board = chess.Board()

    def move(self, san):
        return self.game.move_named(self.line[-1], self.board.parse_san(san).uci())

    def push(self, san):
        move = self.move(san)
        self.line.append(self.game.play(self.line[-1], move))
        self.board.push_san(san)
        return move


def test_searches_become_an_episode_with_the_result_of_the_board():
    """The engine is Black and mates on the fourth move; the second reply was not expected, and one
    search was of a move that White took back."""
    board, episodes = Board(), []
    watcher = Watcher(lambda: board.game, episodes.append)
    board.push("f3")
    moves = [board.move("e5")]
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(moves[0]))
    board.push("e5")
    taken = [
        *board.line,
        board.game.play(board.line[-1], board.game.move_named(board.line[-1], "e2e4")),
    ]
    watcher.placed(taken)
    watcher.searched(taken, found(board.game.legal_moves(taken[-1])[0]))
    board.push("g4")
    assert not watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(board.move("Qh4#")))
    assert watcher.ended()
    (episode,) = episodes
    assert episode.outcome == -1 and episode.end == "won" and episode.side == 1
    assert episode.ply.tolist() == [1, 3] and len(episode.moves) == 4
    assert not episode.explored.any() and episode.predicted.tolist() == [False, False]
    assert not watcher.ended()  # it was learned from


def test_another_game_ends_the_one_before():
    board, episodes = Board(), []
    watcher = Watcher(lambda: board.game, episodes.append)
    e4 = board.move("e4")
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(e4, 0))
    for san in ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6"):
        board.push(san)
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(board.move("Bxc6")))
    other = Board()
    assert watcher.placed([other.line[0]])
    (episode,) = episodes
    assert episode.outcome is None and episode.side == 0 and len(episode.moves) == 7
    assert np.isin([0, 6], episode.ply).all()
    watcher.searched([other.line[0]], found(e4))
    assert watcher.ended(own=1.0) and episodes[1].outcome == 1.0


@pytest.mark.parametrize(
    ("outcome", "reason", "comment", "termination"),
    [
        (1.0, "Black resigns", "Black resigns", "normal"),
        (0.0, "Draw by agreement", "Draw by agreement", "normal"),
        (-1.0, "White forfeits on time", "White forfeits on time", "time forfeit"),
        (1.0, "Black disconnects", "Black disconnects", "abandoned"),
        (-1.0, "", "The reason was not told", "unterminated"),
        (None, "", "Unfinished after 3 plies", "unterminated"),
    ],
)
def test_the_record_has_the_reason_that_was_told(outcome, reason, comment, termination):
    board, episodes = Board(), []
    watcher = Watcher(lambda: board.game, episodes.append)
    for san in ("e4", "e5"):
        board.push(san)
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(board.move("Nf3")))
    watcher.ended(outcome, reason=reason)
    kept = chess.pgn.read_game(io.StringIO(texts_of(board.game, episodes, "2026.01.01")))
    assert kept.headers["Termination"] == termination
    assert kept.headers["Result"] == {1: "1-0", 0: "1/2-1/2", -1: "0-1", None: "*"}[outcome]
    assert kept.end().comment == comment


@pytest.mark.parametrize(
    ("reason", "counts"),
    [
        ("White resigns", True),
        ("Draw by agreement", True),
        ("", True),
        ("White forfeits on time", False),
        ("Black wins on time", False),  # as xboard 4.9 says it, and the last one
        ("Black disconnects", False),
        ("Xboard: Forfeit due to invalid move: a1a8 (a1a8 via `0, `0) res=24", False),
    ],
)
def test_a_forfeit_moves_the_last_value_nowhere_and_all_else_as_told(reason, counts):
    """Without --lambda the last position learns from the result alone."""
    steps = []
    for outcome in (-1.0, None):
        board, episodes = Board(), []
        watcher = Watcher(lambda board=board: board.game, episodes.append)
        for san in ("e4", "d5", "exd5", "a6"):
            board.push(san)
        watcher.placed(list(board.line))
        watcher.searched(list(board.line), found(board.move("Nf3")))
        watcher.ended(outcome, reason=reason)
        settings = selfplay_settings(
            "material", {"opponents": ("others",), "method": "td", "batch": 1, "lambda_": 0.0}
        )
        learner = new_learner(load_evaluation("material"), settings)
        learner.learn(episodes)
        steps.append(learner.weights - learner.evaluation.weights)
    assert not steps[1].any() and steps[0].any() == counts


def test_a_game_that_is_broken_off_teaches_nothing():
    board, episodes = Board(), []
    watcher = Watcher(lambda: board.game, episodes.append)
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(board.move("e4")))
    watcher.abandoned()
    assert not watcher.ended() and episodes == []


def test_a_mate_on_the_board_is_one_whatever_is_told():
    board, episodes = Board(), []
    watcher = Watcher(lambda: board.game, episodes.append)
    for san in ("f3", "e5", "g4"):
        board.push(san)
    watcher.placed(list(board.line))
    watcher.searched(list(board.line), found(board.move("Qh4#")))
    watcher.ended(-1.0, reason="checkmate")
    assert "{Black mates}" in texts_of(board.game, episodes, "2026.01.01")


@pytest.mark.parametrize(
    ("plies", "own", "statement"),
    [(1, -1.0, "%CHUDAN"), (2, -1.0, "%TORYO"), (2, 1.0, "%CHUDAN"), (1, 0.0, "%HIKIWAKE")],
)
def test_shogi_s_records_claim_no_illegal_action(plies, own, statement):
    """The engine is Black; after its own move it is White's turn."""
    game, episodes = find("shogi"), []
    line, watcher = [game.start()], Watcher(lambda: game, episodes.append)
    for k in range(plies):
        move = game.legal_moves(line[-1])[k]
        watcher.placed(list(line))
        if k == 0:
            watcher.searched(list(line), found(move))
        line.append(game.play(line[-1], move))
    watcher.placed(list(line))
    watcher.ended(own=own)
    text = texts_of(game, episodes, "2026.01.01")
    assert text.splitlines()[-2] == statement


def pgn_of(board, result, termination="normal"):
    """Return a game as a match runner writes it."""
    game = chess.pgn.Game.from_board(board)
    game.headers["Result"], game.headers["Termination"] = result, termination
    return f"{game}\n\n"


@pytest.mark.long
def test_games_wait_in_the_store_until_there_are_enough_for_a_step(tmp_path):
    path, begun = mine(tmp_path), weights(parameter_path("material"))
    words = (path, "--learn", "--batch", "3", "--learner", "sgd")
    with engine(*words) as playing, engine("classic") as strong:
        for number in range(2):
            play(playing, number, strong=strong)
    assert read_history(tmp_path / "mine-games") == [] and (weights(path) == begun).all()
    with engine(*words) as playing, engine("classic") as strong:
        for number in range(2, 5):
            play(playing, number, 30, strong=strong)
        playing.transport._proc.kill()  # two games wait again, or one and the game in play
    assert [line["games"] for line in read_history(tmp_path / "mine-games")] == [3]
    assert (weights(path) != begun).any()
    games = (tmp_path / "mine-games" / "games.pgn").read_text()
    assert games.count("[Event ") == 3 and '[Round "3"]' in games


@pytest.mark.long
def test_results_are_learned_from_the_games_of_the_match_runner_once(tmp_path):
    path, folder, pgn = mine(tmp_path), tmp_path / "mine-games", tmp_path / "games.pgn"
    with engine(path, "--learn", "--learner", "sgd") as playing:
        boards = [play(playing, number, 14) for number in range(3)]
    before, learned = read_history(folder), weights(path)
    assert [line["games"] for line in before] == [1, 2, 3]
    boards[0].push(next(iter(boards[0].legal_moves)))  # a last reply, that the engine never saw
    pgn.write_text(
        pgn_of(chess.Board(), "1-0")
        + pgn_of(boards[1], "1-0", "Time forfeit")
        + pgn_of(boards[0], "0-1")  # a lost game: an unexpected win is a mistake of the opponent
        + pgn_of(play(playing=strong_random(), number=8, most=10), "0-1")
    )
    command = ("selfplay", "--resume", folder, "--results", pgn)
    found = json.loads(done(*command, "--json").out)
    assert found["results"] == {"found": 2, "lacking": 3}
    assert [line.get("told") for line in read_history(folder)[3:]] == [[0], [1]]
    told, forfeit = read_history(folder)[3:]
    assert forfeit["squares"] == 0 and told["squares"] > 0 and told["games"] == 3
    assert (weights(path) != learned).any()
    assert "of 0 of 1 game without one" in done(*command).out
    assert "writes the file of the engine" in refused(*command, "-o", path)
    pgn.write_text(pgn_of(boards[2], "1/2-1/2"))
    assert "of 1 of 1 game without one" in done(*command).out
    learned = weights(path)
    with engine(path, "--learn") as playing:
        playing.ping()
    assert (weights(path) == learned).all() and len(read_history(folder)) == 6
    assert (learned == weights(folder / "params.yaml")).all()


def strong_random():
    """Return a player that moves at random, with the interface of an engine."""

    class Random:
        def play(self, board, limit, game):
            return chess.engine.PlayResult(min(board.legal_moves, key=str), None)

    return Random()


def test_a_game_that_is_played_again_is_told_its_own_result(tmp_path):
    """The file of a match grows by a game with the same moves."""
    episode = against_random(load_evaluation("material"), find("chess"), 0, 9)
    first, again = (replace(episode, number=number, outcome=None) for number in (3, 7))
    board = chess.Board()
    for ply, move in enumerate(episode.moves):
        board.push_san(find("chess").move_text(episode.line[ply], move))
    pgn = file_with(tmp_path / "games.pgn", pgn_of(board, "1-0"))
    (told,) = told_games(find("chess"), str(pgn), [first, again], Display())
    assert (told.number, told.outcome) == (3, 1.0)
    pgn.write_text(pgn_of(board, "1-0") + pgn_of(board, "0-1"))
    told = told_games(find("chess"), str(pgn), [first, again], Display())
    assert [(each.number, each.outcome) for each in told] == [(3, 1.0), (7, -1.0)]


def test_there_is_a_report_from_the_first_moment_on(tmp_path):
    path, folder = mine(tmp_path), tmp_path / "mine-games"
    with engine(path, "--learn") as playing:
        deadline = time.monotonic() + 300
        while not (folder / "params.yaml").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        done("report", folder, "-o", tmp_path / "first.html")
        play(playing, 0, 12)
        play(playing, 1, 2)
        playing.transport._proc.kill()
    done("report", folder, "-o", tmp_path / "second.html")


def test_two_engines_that_begin_at_once_are_told_apart(tmp_path, monkeypatch):
    """The second finds no run, and then one that began meanwhile."""
    folder, settings = tmp_path / "run", selfplay_settings("material", {"opponents": ("others",)})

    def other_begins(*more):
        folder.mkdir()
        done("selfplay", "material", "--games", 2, "--depth", 1, "--plies", 8, "--run", folder)
        raise InputError("contains a run already")

    monkeypatch.setattr(engine_module, "new_run", other_begins)
    assert "another program began to learn there at the same moment" in refusal(
        engine_module.learn_while_playing,
        tmp_path / "a.yaml",
        folder,
        settings,
        print,
        lambda watcher: None,
        print,
        "tuner uci",
    )


def test_results_need_games_of_an_engine_that_learns(tmp_path):
    small = ("--games", 2, "--batch", 2, "--depth", 1, "--plies", 8)
    done("selfplay", "material", *small, "--run", tmp_path / "run")
    (tmp_path / "a.pgn").write_text(pgn_of(chess.Board(), "1-0"))
    assert "--results: is for --resume RUN" in refused("selfplay", "--results", tmp_path / "a.pgn")
    said = refused("selfplay", "--resume", tmp_path / "run", "--results", tmp_path / "a.pgn")
    assert "only games of an engine that learns (--learn) lack results" in said


@pytest.mark.parametrize("size", [1, 10])
@pytest.mark.parametrize("blunders", ["keep", "ignore"])
def test_results_told_later_teach_what_they_would_have_taught_at_once(size, blunders):
    """Games in which leaves are drawn, won and lost; nothing else is learned between."""
    settings = selfplay_settings(
        "material",
        {"opponents": ("others",), "method": "td-leaf", "learner": "sgd", "batch": size}
        | {"learning_rate": 0.3, "half_life": 20.0, "games": 9, "blunders": blunders},
        (),
    )
    evaluation, game = load_evaluation("material"), find("chess")
    at_once, later = new_learner(evaluation, settings), new_learner(evaluation, settings)
    leaves = []
    for number in range(0, 20, size):
        games = [
            against_random(evaluation, game, number + k, 5 + 10 * (k % 3)) for k in range(size)
        ]
        leaves += [episode.known for episode in games]
        at_once.learn(games, NEGLIGIBLE)
        untold = Untold(later.weights, number)
        later.learn([replace(episode, outcome=None) for episode in games], NEGLIGIBLE)
        later.learn(games, NEGLIGIBLE, untold)
        np.testing.assert_allclose(later.weights, at_once.weights, rtol=0, atol=1e-9)
        later.batches = at_once.batches  # a result that is told is a step of its own
    known = np.concatenate(leaves)
    assert np.isnan(known).any() and {0, 1} <= set(known)
    assert np.abs(at_once.weights - evaluation.weights).max() > 1


def against_random(evaluation, game, number, plies):
    """Return a game of a player that searches with one that moves at random, as an engine has
    it."""
    rng, searcher, searches = random.Random(number), evaluation.searcher(1), {}
    mate, draw = "6k1/8/6K1/8/8/8/8/Q7 w - - 0 1", "4k3/8/8/8/8/8/3p4/3K4 w - - 0 1"
    line = [(game.start(), game.position(draw), game.position(mate))[number % 3]]
    for ply in range(plies):
        if game.result(line) is not None:
            break
        if ply % 2 == number % 2:
            searches[ply] = searcher.search(np.array(line), Limits(depth=2))
        moves = [searches[ply].pv[0]] if ply in searches else game.legal_moves(line[-1])
        line.append(game.play(line[-1], rng.choice(moves)))
    outcome = game.result(line)
    return replace(
        episode_of(game, line, searches, outcome or rng.choice([-1.0, 0.0, 1.0])), number=number
    )


@pytest.mark.long
def test_an_engine_that_is_killed_at_any_moment_keeps_its_file(tmp_path):
    path, rng = mine(tmp_path), random.Random(1)
    for number in range(20):
        before = len(read_history(tmp_path / "mine-games")) if number else 0
        with engine(path, "--learn") as playing:
            try:
                delay = rng.random()
                begun = time.monotonic()
                games = 0
                while time.monotonic() - begun < delay:
                    play(playing, number, 8)
                    games += 1
            finally:
                playing.transport._proc.kill()
        assert weights(path).shape == weights(parameter_path("material")).shape
        assert len(read_history(tmp_path / "mine-games")) >= before


@pytest.mark.long
def test_opponents_are_known_by_what_interfaces_tell(tmp_path):
    """UCI_Opponent, and name and rating of xboard; each holds for its own game."""
    path = mine(tmp_path)
    game = "position startpos moves e2e4 {}\ngo depth 1\nstop\n"
    lines = (
        "setoption name UCI_Opponent value GM 2800 human Gary Kasparov\nucinewgame\n"
        + game.format("e7e5 d1h5 b8c6")
        + "setoption name UCI_Opponent value none none computer Shredder\nucinewgame\n"
        + game.format("c7c5")
    )
    assert (
        "option name UCI_Opponent type string" in run(path, "--learn", lines="uci\nquit\n").stdout
    )
    assert "UCI_Opponent" not in run(path, lines="uci\nquit\n").stdout
    assert run(path, "--learn", lines=lines + "quit\n").returncode == 0
    xboard = (
        "xboard\nprotover 2\nnew\nname Phalanx XXV\nrating 1500 1850\nsd 1\nusermove e2e4\nping 1\n"
        "result 1-0 {Black resigns}\nnew\nsd 1\nusermove d2d4\nping 2\n"
    )
    found = run(path, "--learn", lines=xboard + "result 1/2-1/2 {Draw}\nquit\n", command="xboard")
    assert found.returncode == 0, found.stderr
    played = [each for line in read_history(tmp_path / "mine-games") for each in line["played"]]
    assert [(each["opponent"], each["rating"], each["points"]) for each in played] == [
        ("Gary Kasparov", 2800, None),
        ("Shredder", None, None),
        ("Phalanx XXV", 1850, 0.0),
        (None, None, 0.5),
    ]
    pgn = (tmp_path / "mine-games" / "games.pgn").read_text()
    assert '[White "Gary Kasparov"]' in pgn or '[Black "Gary Kasparov"]' in pgn


def test_mistakes_of_opponents_are_those_that_the_rule_leaves_out():
    """Scores of White's searches before and after each reply; the second was expected, in the third
    nothing is lost, the fourth loses to a forced win."""
    board = Board()
    sans = ("e4", "d5", "exd5", "e5", "dxe6", "c6", "exf7+", "Ke7", "fxg8=Q", "Rxg8")
    moves = [board.push(san) for san in sans]
    searches = {ply: found(moves[ply]) for ply in (0, 2, 4, 6, 8)}
    episode = replace(
        episode_of(board.game, board.line, searches, None),
        scores=np.array([20.0, 150.0, 400.0, 420.0, 5e6]),
        predicted=np.array([False, True, False, False, False]),
    )
    evaluation = load_evaluation("material")
    scale = evaluation.scale
    first, last = mistakes_of(evaluation, [episode])
    assert (first["ply"], first["move"], first["answer"]) == (1, "d5", "exd5")
    assert first["position"].startswith("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b")
    assert (first["before"], first["after"]) == (20.0, 150.0)
    assert first["gain"] == pytest.approx(
        (np.tanh(150 * scale) - np.tanh(20 * scale)) / 2, abs=1e-4
    )
    assert (last["move"], last["answer"], last["after"]) == ("Ke7", "fxg8=Q", None)
    values = np.tanh(scale * episode.scores)
    kept = returns(BackupInput(episode, scale, 0.0), values)
    assert (kept[[0, 3]] == 0).all() and kept[1] > 0  # the rule leaves out what is listed
    assert mistakes_of(evaluation, [replace(episode, side=None)]) == []


XBOARD = "xboard\nprotover 2\nnew\nsd 1\nusermove e2e4\nping 1\nresult {}\nquit\n"
USI = "usi\nisready\nusinewgame\nposition startpos\ngo depth 1\nstop\ngameover {}\nquit\n"
UCI = "uci\nucinewgame\nposition {}\ngo depth 2\nstop\n{}\nquit\n"
MATE = "fen 6k1/5ppp/8/8/8/8/8/K3R3 w - - 0 1"


@pytest.mark.long
@pytest.mark.parametrize(
    ("protocol", "lines", "points", "teaches"),
    [  # a win that the search did not expect is the opponent's mistake
        ("xboard", XBOARD.format("1-0 {Black resigns}"), 0.0, True),
        ("xboard", XBOARD.format("0-1 {White resigns}"), 1.0, False),
        ("xboard", XBOARD.format("1-0 {Black forfeits on time}"), 0.0, False),
        ("xboard", XBOARD.format("0-1 {White disconnects}"), 1.0, False),
        ("xboard", XBOARD.format("1/2-1/2 {Draw by agreement}"), 0.5, False),
        ("xboard", XBOARD.format("* {Aborted}"), "no game", False),
        ("usi", USI.format("lose"), 0.0, True),
        ("usi", USI.format("win"), 1.0, False),
        ("usi", USI.format("draw"), 0.5, False),
        ("uci", UCI.format("startpos moves f2f3 e7e5", "ucinewgame"), None, False),
        ("uci", UCI.format(MATE, "isready"), 1.0, False),
        ("uci", UCI.format("startpos", "gameover lose"), "no game", False),  # nobody answered
    ],
)
def test_what_each_protocol_says_of_a_result(tmp_path, protocol, lines, points, teaches):
    start = "shogi/classic" if protocol == "usi" else "material"
    path = shutil.copy(parameter_path(start), tmp_path / "mine.yaml")
    ran = run(path, "--learn", "--learner", "sgd", lines=lines, command=protocol)
    assert ran.returncode == 0, ran.stderr
    history = read_history(tmp_path / "mine-games")
    assert [each["points"] for line in history for each in line["played"]] == (
        [] if points == "no game" else [points]
    )
    assert any(line["squares"] > 0.5 for line in history) == teaches


KILLS = 6


@pytest.mark.long
def test_kills_lose_no_game_that_ended_and_no_result_is_learned_twice(tmp_path):
    """Of an engine with --batch, and of what is told the results afterwards."""
    path, folder, rng = mine(tmp_path), tmp_path / "mine-games", random.Random(4)
    words, pgn, acknowledged, boards = (path, "--learn", "--batch", "3"), tmp_path / "a.pgn", 0, []
    for _ in range(KILLS):
        with engine(*words) as playing:
            try:
                whole = 2 + rng.randrange(3)
                for _ in range(whole):
                    boards.append(play(playing, len(boards), 8))
                play(playing, len(boards), 1 + rng.randrange(7))
            finally:
                playing.transport._proc.kill()
        acknowledged += whole - 1  # the next game began; that of the last one may not have
        assert weights(path).shape == weights(parameter_path("material")).shape
        kept, lines = read_episodes(folder, find("chess").words), read_history(folder)
        learned = lines[-1]["games"] if lines else 0
        assert learned % 3 == 0 and max([learned, *(each + 1 for each in kept)]) >= acknowledged
        pgn.write_text("".join(pgn_of(board, "1-0") for board in boards))
        command = [*COMMAND, "selfplay", "--resume", str(folder), "--results", str(pgn)]
        telling = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(3 * rng.random())
        telling.kill()
        telling.wait()
        done("selfplay", "--resume", folder, "--results", pgn)
        told = [game for line in read_history(folder) for game in line.get("told", ())]
        assert len(told) == len(set(told)) and set(told) <= set(range(learned))
    rounds = [line for line in (folder / "games.pgn").read_text().splitlines() if "[Round" in line]
    assert len(rounds) == len(set(rounds)) == learned and told
