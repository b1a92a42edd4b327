"""Write many positions as FEN at once."""

from __future__ import annotations

from functools import cache

import numpy as np

from games.chess.fen import LETTERS, fen

EMPTY, SLASH, NEWLINE = (ord(letter) for letter in "1/\n")
RANK = 9  # bytes of a rank with its slash
# bits of castling with rooks of the a and h files, and the letters that they have then
USUAL = {1 << 8: "K", 1 << 1: "Q", 1 << 16: "k", 1 << 9: "q"}
CASTLING = 0xFFFF << 1


def fens(positions: np.ndarray) -> list[str]:
    """Return positions (n, 10) as FEN, as `fen` does one by one."""
    boards = _boards(positions)
    return [f"{board} {'b' if state & 1 else 'w'} {rights} {_en_passant(state)} {state >> 24 & 255} {state >> 32 & 0xFFFF}"
            if (rights := _rights(state & CASTLING)) else fen(positions[i])
            for i, (board, state) in enumerate(zip(boards, positions[:, 8].tolist(), strict=True))]


def _boards(positions: np.ndarray) -> list[str]:
    """Return the first field of each FEN: all boards are one text, in which runs of empty squares are replaced."""
    text = np.full((len(positions), 8, RANK), SLASH, np.uint8)
    text[:, -1, -1] = NEWLINE
    letters = np.full((len(positions), 8, 8), EMPTY, np.uint8)
    black = _squares(positions[:, 1])
    for kind, letter in enumerate(LETTERS[1:]):
        squares = _squares(positions[:, 2 + kind])
        letters[squares & ~black], letters[squares & black] = ord(letter), ord(letter.lower())
    text[:, :, :8] = letters[:, ::-1]  # from the last rank on
    joined = text.tobytes().decode("ascii")
    for run in range(8, 1, -1):
        joined = joined.replace("1" * run, str(run))
    return joined.split("\n")[:-1]


def _squares(sets: np.ndarray) -> np.ndarray:
    """Return (n, 8, 8) bool, by rank and file, which squares are in each of n sets."""
    octets = np.ascontiguousarray(sets.astype("<u8")).view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, bitorder="little").reshape(-1, 8, 8).astype(np.bool_)


@cache
def _rights(castling: int) -> str:
    """Return the third field, empty if a castling rook is not on its usual file."""
    found = "".join(letter for bit, letter in USUAL.items() if castling & bit)
    return "" if castling.bit_count() != len(found) else found or "-"


def _en_passant(state: int) -> str:
    file = state >> 17 & 15
    return "abcdefgh"[file - 1] + ("3" if state & 1 else "6") if file else "-"
