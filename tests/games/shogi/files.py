"""Files of games and positions that cshogi writes, and what it reads in them."""

import random
from collections.abc import Callable
from pathlib import Path

import cshogi
import numpy as np
from cshogi import CSA, KIF

from games.record import ReadOptions, ReadReport
from games.shogi.files import reading, sfen
from games.shogi.files import sfen as notation
from games.shogi.files.gamefile import ParsedGame
from games.streams import InputError

START = cshogi.STARTING_SFEN
CSA_ENDS = {
    "%TORYO": -1,
    "%KACHI": 1,
    "%SENNICHITE": 0,
    "%TIME_UP": -1,
    "%ILLEGAL_MOVE": -1,
    "%JISHOGI": 0,
    "%CHUDAN": None,
}
KIF_ENDS = {
    "resign": -1,
    "draw": 0,
    "sennichite": 0,
    "illegal_lose": -1,
    "illegal_win": 1,
    "win": 1,
}


def random_game(rng: random.Random, longest: int = 160) -> list[int]:
    """The moves of a random game, in cshogi's form."""
    board, moves = cshogi.Board(), []
    for _ in range(rng.randrange(1, longest)):
        legal = list(board.legal_moves)
        if not legal:
            break
        moves.append(rng.choice(legal))
        board.push(moves[-1])
    return moves


def names_of(moves: list[int]) -> list[str]:
    return [cshogi.move_to_usi(move) for move in moves]


def our_names(game: ParsedGame) -> list[str]:
    return [notation.move_name(None, move) for move in game.moves]


def write_csa(
    path: Path, rng: random.Random, games: int, encoding: str = "utf-8"
) -> list[tuple[list[str], int | None]]:
    """Write games with cshogi; returns their moves and the results for Black."""
    found = []
    path.unlink(missing_ok=True)
    for number in range(games):
        moves, end = random_game(rng), rng.choice(list(CSA_ENDS))
        out = CSA.Exporter(str(path), append=True, encoding=encoding)
        out.info(
            cshogi.Board(),
            names=["先手太郎", "B"],
            version=rng.choice(["V2.2", "V3.0"]),
            var_info={"EVENT": f"e{number}"},
        )
        for move in moves:
            out.move(
                move,
                time=rng.randrange(9),
                comment=rng.choice([None, f"** {rng.randrange(-900, 900)} +7776FU"]),
            )
        out.endgame(end)
        out.close()
        value = CSA_ENDS[end]
        found.append(
            (names_of(moves), None if value is None else value * (-1 if len(moves) % 2 else 1))
        )
    return found


def write_kif(path: Path, rng: random.Random) -> tuple[list[str], int | None]:
    """Write a game with cshogi, which encodes it in cp932; returns its moves and the result for
    Black."""
    moves, end = random_game(rng), rng.choice(list(KIF_ENDS))
    out = KIF.Exporter(str(path))
    out.header(["先手太郎", "B"])
    for move in moves:
        out.move(move, rng.randrange(99), 300)
    out.end(end, 1, 301)
    out.close()
    return names_of(moves), KIF_ENDS[end] * (-1 if len(moves) % 2 else 1)


def handicap(rng: random.Random) -> str:
    """The start without some random men, as SFEN."""
    men, share = " lnsgkgsnl r     b ppppppppp", rng.choice([0.03, 0.1, 0.3, 0.7, 0.95])
    white, black = (
        "".join(man if man == "k" or rng.random() > share else " " for man in men[1:]) for _ in "wb"
    )
    ranks = [
        white[:9],
        white[9:18],
        white[18:],
        *[" " * 9] * 3,
        black[18:],
        black[17:8:-1],
        black[8::-1],
    ]
    ranks[6:] = [rank.upper() for rank in ranks[6:]]
    for empty in range(9, 0, -1):
        ranks = [rank.replace(" " * empty, str(empty)) for rank in ranks]
    return f"{'/'.join(ranks)} {rng.choice('bw')} - 1"


def positions(
    rng: random.Random, n: int, start: Callable[[], str] = lambda: START
) -> list[tuple[str, int]]:
    """Positions of random games, as SFEN, each with a legal move in cshogi's form."""
    board, found = cshogi.Board(start()), []
    while len(found) < n:
        legal = list(board.legal_moves)
        if not legal or rng.random() < 0.01:
            board = cshogi.Board(start())
            continue
        found.append((board.sfen(), rng.choice(legal)))
        board.push(found[-1][1])
    return found


def write_packed(
    path: Path, rng: random.Random, n: int, form: str, start: Callable[[], str] = lambda: START
) -> list[tuple[str, str]]:
    """Write records of random positions with cshogi; returns their SFEN and the moves."""
    rows = np.zeros(
        n, cshogi.PackedSfenValue if form == reading.PSV else cshogi.HuffmanCodedPosAndEval
    )
    found = positions(rng, n, start)
    for i, (text, move) in enumerate(found):
        board = cshogi.Board(text)
        if form == reading.PSV:
            board.to_psfen(rows[i : i + 1]["sfen"])
            rows[i]["score"], rows[i]["move"] = (
                rng.randrange(-32000, 32001),
                cshogi.move16_to_psv(cshogi.move16(move)),
            )
            rows[i]["gamePly"], rows[i]["game_result"] = board.move_number, rng.choice([-1, 0, 1])
        else:
            board.to_hcp(rows[i : i + 1]["hcp"])
            rows[i]["eval"], rows[i]["bestMove16"] = (
                rng.randrange(-32000, 32001),
                cshogi.move16(move),
            )
            rows[i]["gameResult"] = rng.choice([0, 1, 2])
    path.write_bytes(rows.tobytes())
    return [(text, cshogi.move_to_usi(move)) for text, move in found]


def compare_csa(path: Path, rng: random.Random, games: int) -> None:
    """Write CSA games with cshogi, and read them as it does."""
    written = write_csa(path, rng, games, rng.choice(["utf-8", "cp932"]))
    ours = list(reading.parse(str(path), reading.CSA))
    assert [(our_names(game), game.result, game.fault) for game in ours] == [
        (*one, None) for one in written
    ]
    theirs = CSA.Parser.parse_str(reading.decoded(path.read_bytes()))
    assert [names_of(game.moves) for game in theirs] == [our_names(game) for game in ours]
    scores = [[game.scores.get(ply, 0) for ply in range(len(game.moves))] for game in ours]
    assert [list(game.scores) for game in theirs] == scores


def compare_kif(path: Path, rng: random.Random) -> None:
    """Write a KIF game with cshogi, and read it as it does, also from UTF-8."""
    moves, result = write_kif(path, rng)
    assert names_of(KIF.Parser.parse_file(str(path)).moves) == moves
    text = reading.decoded(path.read_bytes())
    for encoding in ("cp932", "utf-8", "utf-8-sig"):
        path.write_bytes(text.encode(encoding))
        (game,) = reading.parse(str(path), reading.KIF)
        assert (our_names(game), game.result, game.fault) == (moves, result, None)


def mutate(rng: random.Random, data: bytes) -> bytes:
    """Damage a file at a few places: bytes changed, removed, doubled, moved or cut off."""
    found = bytearray(data)
    for _ in range(rng.randrange(1, 5)):
        at, length = rng.randrange(len(found) + 1), rng.choice([1, 1, 2, 7, 30])
        kind = rng.randrange(6)
        if kind == 0:
            found[at : at + length] = bytes(rng.randrange(256) for _ in range(length))
        elif kind == 1:
            del found[at : at + length]
        elif kind == 2:
            found[at:at] = found[at : at + length]
        elif kind == 3:
            part = found[at : at + length]
            del found[at : at + length]
            to = rng.randrange(len(found) + 1)
            found[to:to] = part
        elif kind == 4:
            found[at : at + 1] = rng.choice(b"+-%PIV0123456789FUOUKY,/'\n \x00").to_bytes(
                1, "little"
            )
        elif rng.random() < 0.1:
            del found[at:]
    return bytes(found)


def read_mutated(path: Path, rng: random.Random, original: bytes) -> tuple[int, int]:
    """Read a damaged file: no crash, a fault is one line, and what is accepted is legal for cshogi;
    returns how many games were accepted and refused."""
    path.write_bytes(mutate(rng, original))
    notes: list[str] = []
    report = ReadReport()
    options = ReadOptions(positions="all", skip_start=0, duplicates="keep")
    try:
        for batch in reading.read(str(path), options, report, notes.append):
            if reading.by_name(path.name) in reading.PACKED:
                for words in batch.positions:
                    assert cshogi.Board(sfen.text(words)).is_ok()
    except InputError as problem:
        notes.append(str(problem))
    assert all(
        note.startswith(str(path)) and note.isprintable() and len(note) < 400 for note in notes
    ), notes
    if reading.by_name(path.name) not in reading.PACKED:
        for game in reading.parse(str(path), reading.by_name(path.name)):
            if not game.fault:
                board = cshogi.Board(sfen.text(game.line[0]))
                for name in our_names(game):
                    assert board.push_usi(name), (name, board.sfen())
    return report.used + report.undecided, len(notes)


def trials(folder: Path, number: int, seed: int) -> tuple[int, int]:
    """Read so many damaged files of all formats; the sums of `read_mutated`."""
    rng, accepted, refused = random.Random(seed), 0, 0
    for i in range(number):
        if i % 50 == 0:
            write_csa(folder / "a.csa", rng, 2)
            write_kif(folder / "a.kif", rng)
            write_packed(folder / "a.psv", rng, 20, reading.PSV)
            write_packed(folder / "a.hcpe", rng, 20, reading.HCPE)
        source = folder / rng.choice(["a.csa", "a.csa", "a.kif", "a.kif", "a.psv", "a.hcpe"])
        one, other = read_mutated(source.with_stem("damaged"), rng, source.read_bytes())
        accepted, refused = accepted + one, refused + other
    return accepted, refused
