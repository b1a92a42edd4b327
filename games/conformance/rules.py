"""Checks of the rules: start, texts, names of moves, plies, results, pictures, turns."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np

from games.conformance.subject import GAMES, PLIES, Fault, Subject
from games.record import Dice, Game

NO_MOVES = ("", "?", "no move")
NO_POSITIONS = ("", "?", "no position at all")
NAMED, SHOWN = 250, 200  # positions for the checks of all moves, and of pictures
EXACT = 1e-9
MOST_MOVES = 64  # of a position that are named and played: with dice before the roll there are hundreds
MOST_NAMES = 100  # names of moves of other positions that each position is tested with


def check_start(subject: Subject) -> None:
    """`start` returns a new array (words,) of uint64 each time."""
    one, other = subject.game.start(), subject.game.start()
    subject.expect((one.shape, one.dtype) == ((subject.game.words,), np.uint64), None,
                   f"start() has shape {one.shape} of {one.dtype}, expected ({subject.game.words},) of uint64")
    subject.expect(np.array_equal(one, other) and not np.shares_memory(one, other), one, "start() is not a new array each time")


def check_text(subject: Subject) -> None:
    """`position` inverts `text`, and refuses texts that are not a position; `many_texts` gives the same texts."""
    game = subject.game
    for words in subject.positions:
        text = game.text(words)
        subject.expect(text.isprintable() and text == text.strip(), words, f"text {text!r} is not one plain line")
        again = subject.accepts(partial(game.position, text), words, f"position({text!r})")
        subject.expect(again.dtype == np.uint64 and np.array_equal(again, words), words,
                       f"position(text(words)) is {again.tolist()}, expected {words.tolist()}")
    some = subject.some(SHOWN)
    subject.expect(game.texts(np.array(some)) == [game.text(words) for words in some], None, "texts differ from text")
    for text in NO_POSITIONS:
        subject.refuses(partial(game.position, text), None, f"position({text!r})")


def some_moves(subject: Subject, moves: list[int]) -> list[int]:
    """Return at most MOST_MOVES of the moves of a position, the same for the same seed."""
    if len(moves) <= MOST_MOVES:
        return moves
    return [moves[i] for i in np.random.default_rng(subject.seed).permutation(len(moves))[:MOST_MOVES]]


def check_names(subject: Subject) -> None:
    """Names of legal moves are unique in their position; `move_named` inverts them and refuses other names."""
    game = subject.game
    met: set[str] = set()
    for words in subject.some(NAMED):
        moves = game.legal_moves(words)
        subject.expect(all(type(move) is int for move in moves), words, f"legal_moves gives {moves}, expected a list of int")
        subject.expect(len(set(moves)) == len(moves), words, "a legal move is given twice")
        moves_named = some_moves(subject, moves)
        names = [game.move_name(words, move) for move in moves_named]
        for given in (names, [game.move_text(words, move) for move in moves_named]):
            subject.expect(len(set(given)) == len(given), words, f"two moves have one name, among {', '.join(given)}")
            subject.expect(all(name and not set(name) & set(" \t\n") for name in given), words, f"names {given} have blanks")
        for move, name in zip(moves_named, names, strict=True):
            found = subject.accepts(partial(game.move_named, words, name), words, f"move_named(words, {name!r})")
            subject.expect(found == move, words, f"move_named(words, {name!r}) is {found}, expected {move}")
        for name in sorted(met - set(names)):
            try:
                found = game.move_named(words, name)
            except ValueError:
                continue
            subject.expect(found in moves, words, f"move_named(words, {name!r}) is {found}, which is no legal move")
        if len(met) < MOST_NAMES:
            met |= set(names)
    for name in NO_MOVES:
        subject.refuses(partial(game.move_named, game.start(), name), game.start(), f"move_named(words, {name!r})")


def check_plies(subject: Subject) -> None:
    """`plies` grows by one with each move."""
    for played in subject.played:
        plies = np.asarray(subject.game.plies(played.line))
        subject.expect(plies.shape == (len(played.line),) and plies.dtype.kind in "iu", played.line[-1],
                       f"plies has shape {plies.shape} of {plies.dtype}, expected ({len(played.line)},) of integers")
        wrong = np.flatnonzero(np.diff(plies.astype(np.int64)) != 1)
        subject.expect(not len(wrong), played.line[wrong[0] + 1] if len(wrong) else None, f"plies are {plies.tolist()}")


def check_play(subject: Subject) -> None:
    """`play` returns a new position and does not change its argument."""
    game = subject.game
    for words in subject.some(NAMED):
        for move in some_moves(subject, game.legal_moves(words)):
            before = words.copy()
            after = game.play(before, move)
            subject.expect(np.array_equal(before, words), words, f"play({game.move_name(words, move)}) changes its argument")
            subject.expect((after.shape, after.dtype) == (words.shape, words.dtype) and not np.shares_memory(before, after),
                           words, f"play gives shape {after.shape} of {after.dtype}, expected a new array like its argument")
            subject.expect(not np.array_equal(after, words), words, f"play({game.move_name(words, move)}) changes nothing")


def check_result(subject: Subject) -> None:
    """`result` is None exactly while the game continues, and then there are legal moves; otherwise it is a whole
    number of points."""
    for played in subject.played:
        for end in range(1, len(played.line) + 1):
            words, result = played.line[end - 1], subject.game.result(list(played.line[:end]))
            subject.expect(result is None or _is_reward(subject.game, result), words,
                           f"result is {result!r}, expected None or a whole number of points from -1 to 1, "
                           f"{subject.game.points} of which are 1")
            moves = subject.game.legal_moves(words)
            subject.expect(result is not None or moves, words, "result is None, but there is no legal move")
            subject.expect((result is None) == (end < len(played.line) or played.result is None), words,
                           f"result is {result!r}, and was not a moment ago")
    ended = [played for played in subject.played if played.result is not None]
    subject.expect(ended, None, f"no game of {GAMES} ended within {PLIES} plies of random moves")


def _is_reward(game: Game, result: object) -> bool:
    return (isinstance(result, (int, float)) and not isinstance(result, bool) and -1 <= result <= 1
            and abs(result * game.points - game.points_of(result)) < EXACT)


def check_pictures(subject: Subject) -> None:
    """`draw` returns text, `picture` well-formed SVG."""
    game = subject.game
    for words in subject.some(SHOWN):
        subject.expect(game.draw(words).strip(), words, "draw gives nothing")
        if game.picture:
            try:
                root = ElementTree.fromstring(game.picture(words))
            except ElementTree.ParseError as problem:
                raise Fault(f"{game.name}: picture is no XML ({problem}); position {game.text(words)!r}") from None
            subject.expect(root.tag.endswith("svg"), words, f"picture is <{root.tag}>, expected <svg>")


def check_turns(subject: Subject) -> None:
    """The players alternate; the first one begins, or whom the dice name."""
    second = subject.game.second_to_move
    for played in subject.played:
        turns = [second(words) for words in played.line]
        subject.expect(all(type(turn) is bool for turn in turns), played.line[0], f"second_to_move gives {turns[0]!r}, no bool")
        subject.expect(not turns[0] or subject.game.roll, played.line[0], "second_to_move is True at the start")
        for words, (one, next_one) in zip(played.line[1:], pairwise(turns), strict=True):
            subject.expect(one != next_one, words, f"second_to_move is {next_one}, as before the move")


def check_dice(subject: Subject) -> None:
    """`roll` gives one of `rolls`, the same for the same dice; `rolls` differ and their chances sum to 1."""
    game = subject.game
    assert game.roll is not None, "this check is chosen for games with dice"
    subject.expect(game.rolls is not None, None, "there is a function roll, but no function rolls")
    assert game.rolls is not None
    for played in subject.played:
        before = [game.start(), *(game.play(words, move) for words, move in zip(played.line, played.moves, strict=False))]
        for ply, words in enumerate(before[:len(played.line)]):
            if game.result([words]) is not None:
                continue
            kept = words.copy()
            positions, chances = game.rolls(words)
            subject.expect((positions.shape, positions.dtype, chances.shape) == (
                (len(chances), game.words), np.uint64, (len(positions),)), words,
                f"rolls have shapes {positions.shape} and {chances.shape}, expected (k, {game.words}) and (k,)")
            subject.expect(len(np.unique(positions, axis=0)) == len(positions), words, "a roll is given twice")
            subject.expect((chances > 0).all() and abs(chances.sum() - 1) < EXACT, words,
                           f"chances of rolls sum to {chances.sum()}")
            subject.expect((played.line[ply] == positions).all(axis=1).any(), words, "the dice gave what is not among the rolls")
            one, other = (game.roll(words, Dice(subject.seed, 1)) for _ in range(2))
            subject.expect(np.array_equal(one, other), words, "the same dice give different rolls")
            subject.expect(np.array_equal(kept, words), words, "rolls or roll change their argument")
    words = game.start()
    found = {game.roll(words, Dice(subject.seed, number)).tobytes() for number in range(GAMES)}
    subject.expect(len(found) > 1, words, f"{GAMES} games begin with the same roll")
