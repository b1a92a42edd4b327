"""Tokens of PGN, and a parsed game as one row of numbers.

Classes of bytes, short words packed into one integer, results, line ends; then the columns of the
row, and the array types of the parsers."""

import numpy as np
from numba.core import types

from games.chess.files import faults
from games.chess.files.fen import bytes_type
from games.chess.rules import inner
from games.compile import jit
from games.streams import UTF8_MARK

NO_TAG, UNDECIDED = 3, 2  # in addition to the results 1, 0 and -1

# classes of bytes in movetext; a token continues while the class is at least WORD
(
    OTHER,
    SPACE,
    DOT,
    BRACE,
    SEMICOLON,
    OPEN,
    CLOSE,
    DOLLAR,
    GLYPH,
    STAR,
    BRACKET,
    PERCENT,
    WORD,
    MOVE,
    DIGIT,
) = range(15)


def _classes() -> np.ndarray:
    classes = np.full(256, OTHER, np.int64)
    for letters, kind in (
        (" \t\r\n\v\f", SPACE),
        (".", DOT),
        ("{", BRACE),
        (";", SEMICOLON),
        ("(", OPEN),
        (")", CLOSE),
        ("$", DOLLAR),
        ("!?", GLYPH),
        ("*", STAR),
        ("[", BRACKET),
        ("%", PERCENT),
    ):
        classes[list(letters.encode())] = kind
    classes[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz+#=-/:@_")] = WORD
    classes[list(b"KQRBNPOabcdefgh")] = MOVE
    classes[list(b"0123456789")] = DIGIT
    return classes


class_of = jit.table("chess_movetext_classes", _classes())
NEWLINE, RETURN, QUOTE, SPACE_BYTE, BRACKET_BYTE = (
    ord("\n"),
    ord("\r"),
    ord('"'),
    ord(" "),
    ord("["),
)
_0, _9 = ord("0"), ord("9")
BYTE = np.uint64(8)


def packed_word(text: str) -> np.uint64:
    """Pack the first eight bytes of a text as `packed` does."""
    return np.uint64(int.from_bytes(text.encode()[:8], "little"))


EVENT = packed_word("Event")
WHITE_WINS, BLACK_WINS, DRAWN, DRAWN_SHORT, DRAWN_UTF8, OPEN_RESULT = (
    packed_word(text) for text in ("1-0", "0-1", "1/2-1/2", "1/2", "½-½", "*")
)
DRAWN_LATIN1 = np.uint64(int.from_bytes("½-½".encode("latin-1"), "little"))


@inner(types.uint64(bytes_type, types.int64, types.int64))
def packed(text, i, end):
    """Pack text[i:end] into one integer, first byte lowest; 0 for more than eight bytes."""
    if end - i > 8:
        return np.uint64(0)
    word = np.uint64(0)
    for k in range(end - 1, i - 1, -1):
        word = word << BYTE | np.uint64(text[k])
    return word


@inner(types.int64(types.uint64))
def result_of(word):
    """Return White's result for a packed token: 1, 0, -1; UNDECIDED for *, otherwise NO_TAG. Draws
    are also written 1/2."""
    if word == WHITE_WINS:
        return 1
    if word == BLACK_WINS:
        return -1
    if word == DRAWN or word == DRAWN_SHORT or word == DRAWN_UTF8 or word == DRAWN_LATIN1:
        return 0
    return UNDECIDED if word == OPEN_RESULT else NO_TAG


@inner(types.int64(bytes_type, types.int64, types.int64))
def line_end(text, i, end):
    """Return the end of the line that contains index i."""
    while i < end and text[i] != NEWLINE and text[i] != RETURN:
        i += 1
    return i


@inner(types.int64(bytes_type, types.int64, types.int64))
def number_at(text, i, end):
    """Parse the digits at i as a number, at most six of them."""
    value = np.int64(0)
    while i < end and _0 <= text[i] <= _9 and value < 100000:
        value = value * 10 + np.int64(text[i]) - _0
        i += 1
    return value


@inner(types.int64(bytes_type, types.int64, types.int64))
def tag_name_end(text, i, end):
    """Return the index after the name of the tag at text[i] == '[', if its value follows, as in
    `[White "`; 0 if not."""
    begin = i + 1
    i = begin
    while i < end and class_of(np.int64(text[i])) >= WORD:
        i += 1
    name_end = i
    while i < end and text[i] == SPACE_BYTE:
        i += 1
    return name_end if begin < name_end < i < end and text[i] == QUOTE else 0


@inner(types.int64(bytes_type, types.int64, types.int64))
def wide_space(text, i, end):
    """Return the number of bytes of the white space outside ASCII at i, of which the text may have
    fewer; 0 if there is none.

    U+00A0 in UTF-8 or Latin-1, U+2000 to U+200F, U+202F, U+2060, U+3000, and the mark of UTF-8,
    which files that were joined have before games in the middle."""
    first = np.int64(text[i])
    second = np.int64(text[i + 1]) if i + 1 < end else np.int64(-1)
    third = np.int64(text[i + 2]) if i + 2 < end else np.int64(-1)
    if first == 0xA0:
        return 1
    if first == 0xC2 and (second == 0xA0 or second < 0):
        return 2
    if (
        first == 0xE2
        and (second == 0x80 or second < 0)
        and (0x80 <= third <= 0x8F or third == 0xAF or third < 0)
    ) or (first == 0xE2 and second == 0x81 and (third == 0xA0 or third < 0)):
        return 3
    if first == 0xE3 and (second == 0x80 or second < 0) and (third == 0x80 or third < 0):
        return 3
    if (
        first == UTF8_MARK[0]
        and (second == UTF8_MARK[1] or second < 0)
        and (third == UTF8_MARK[2] or third < 0)
    ):
        return 3
    return 0


# columns of the row
FIELDS = (
    FAULT,
    FAULT_AT,
    FAULT_END,
    FAULT_PLY,
    RESULT,
    TAG_RESULT,
    PLIES,
    FIRST_MOVE,
    WHITE_ELO,
    BLACK_ELO,
    BEGIN,
    HAS_TAGS,
    HAS_FEN,
    FIRST_SCORE,
    SCORES,
    BY_TAG,
    HAS_EVENT,
    BEGUN,
    FORFEIT,
) = range(19)

row_type = types.Array(types.int64, 1, "C")
rows_type = types.Array(types.int64, 2, "C")
positions_type = types.Array(types.uint64, 2, "C")
moves_type = types.Array(types.uint32, 1, "C")
scores_type = types.Array(types.float32, 1, "C")


@inner(types.void(row_type, types.int64, types.int64, types.int64, types.int64))
def note(game, fault, i, end, ply):
    """Keep the first fault of a game."""
    if game[FAULT] == faults.OK:
        game[FAULT] = fault
        game[FAULT_AT] = i
        game[FAULT_END] = end
        game[FAULT_PLY] = ply


@inner(types.void(row_type, scores_type, types.int64, types.float64))
def note_score(game, scores, ply, score):
    """Record the score, centipawns for White, of the position after `ply` plies of a game.

    Positions up to the last one with a score have entries from scores[game[FIRST_SCORE]] on, NaN
    where there is none; a game without scores costs nothing."""
    first = game[FIRST_SCORE]
    for k in range(game[SCORES], ply):
        scores[first + k] = np.float32(np.nan)
    scores[first + ply] = np.float32(score)
    game[SCORES] = max(game[SCORES], ply + 1)


@inner(types.float32(row_type, scores_type, types.int64))
def score_at(game, scores, ply):
    """Return the score recorded for the position after `ply` plies of a game; NaN if there is
    none."""
    return scores[game[FIRST_SCORE] + ply] if ply < game[SCORES] else np.float32(np.nan)
