"""Games in KIF format: read, from UTF-8 or cp932."""

import re
from collections.abc import Sequence

import numpy as np

from games.shogi.files.gamefile import ILLEGAL_KIND, GameFault, ParsedGame, set_up
from games.shogi.files.sfen import board_of, shown, words_of
from games.shogi.rules.attacks import KING
from games.shogi.rules.moves import NOWHERE
from games.shogi.rules.position import START
from games.shogi.rules.squares import RANKS

MEN = {
    "歩": 1,
    "香": 2,
    "桂": 3,
    "銀": 4,
    "角": 5,
    "飛": 6,
    "金": 7,
    "玉": 8,
    "王": 8,
    "と": 9,
    "成香": 10,
    "杏": 10,
    "成桂": 11,
    "圭": 11,
    "成銀": 12,
    "全": 12,
    "馬": 13,
    "竜": 14,
    "龍": 14,
}
_NAME = "成香|成桂|成銀|" + "|".join(name for name in MEN if len(name) == 1)
_DIGITS = {
    digit: i
    for digits in ("123456789", "１２３４５６７８９", "一二三四五六七八九")
    for i, digit in enumerate(digits, 1)
}
_DIGIT = f"[{''.join(_DIGITS)}]"
_MOVE = re.compile(
    rf"({_DIGIT})({_DIGIT})({_NAME})(不成|成|打)?(?:\(00\)|\(([1-9])([1-9])\))?|"
    rf"同[ 　]*({_NAME})(不成|成)?\(([1-9])([1-9])\)"
)
_LINE = re.compile(
    r"[ 　]*([0-9]{1,5})[ 　]+(\S.*?)(?:[ 　]*\([ 0-9]*:[ 0-9:./]*\))?[ 　]*\+?$", re.ASCII
)
FOUL = "反則勝ち"  # the opponent's last move is illegal
# results for the side to move; None: undecided
ENDS = {
    "投了": -1,
    "詰み": -1,
    "詰": -1,
    "切れ負け": -1,
    "時間切れ": -1,
    "反則負け": -1,
    "不戦敗": -1,
    FOUL: 1,
    "不戦勝": 1,
    "入玉勝ち": 1,
    "勝ち宣言": 1,
    "宣言勝ち": 1,
    "入玉宣言": 1,
    "入玉宣言勝ち": 1,
    "王手連続千日手": 1,
    "千日手": 0,
    "持将棋": 0,
    "引き分け": 0,
    "引分け": 0,
    "引分": 0,
    "最大手数": 0,
    "最大手数超過": 0,
    "中断": None,
    "封じ手": None,
    "不詰": None,
}
# what the stronger player leaves out: squares by file and rank, from White's men
HANDICAPS = {
    "平手": (),
    "香落ち": (11,),
    "右香落ち": (91,),
    "角落ち": (22,),
    "飛車落ち": (82,),
    "飛香落ち": (82, 11),
    "二枚落ち": (82, 22),
    "三枚落ち": (82, 22, 11),
    "四枚落ち": (82, 22, 11, 91),
    "五枚落ち": (82, 22, 11, 91, 81),
    "左五枚落ち": (82, 22, 11, 91, 21),
    "六枚落ち": (82, 22, 11, 91, 21, 81),
    "左七枚落ち": (82, 22, 11, 91, 21, 81, 31),
    "右七枚落ち": (82, 22, 11, 91, 21, 81, 71),
    "八枚落ち": (82, 22, 11, 91, 21, 81, 31, 71),
    "十枚落ち": (82, 22, 11, 91, 21, 81, 31, 71, 41, 61),
}
TURNED = ("盤面回転", "盤面反転")  # how the board was shown
_HEADER = re.compile("[^：|]{1,40}：")
_SUMMARY = re.compile(
    r"まで、?(?:[0-9]{1,5}手)?で?(?:\w{0,8}?(先手|下手|後手|上手)の\w{0,8}(勝ち|負け)|"
    rf"({'|'.join(sorted(ENDS, key=len, reverse=True))}))"
)


def begins(line: str) -> bool:
    """Whether a line can be the first of a game in KIF."""
    return bool(
        re.match(
            "#.*KIF|手数|手合割|開始日時|先手|後手|上手|下手|[ 　]*1[ 　]+[１-９]",
            line.lstrip("\ufeff"),
        )
    )


def read_game(lines: Sequence[str]) -> ParsedGame:
    """Read the game of the lines of a file; a fault is noted in it. Variations are left out."""
    game = ParsedGame([])
    start = _KifStart()
    try:
        for number, line in enumerate(lines, 1):
            text = line.strip("\r\n\ufeff")
            if text.startswith("変化"):
                break
            if text.startswith("*"):
                game.take_comment(text[1:])
            elif text.strip(" 　") and text[0] not in "#&":
                try:
                    _line(game, start, text, number)
                except GameFault as fault:
                    if fault.kind != ILLEGAL_KIND or game.refused:
                        raise
                    game.refused = fault
        if not game.line:
            game.line.append(start.words(len(lines)))
        game.decide()
    except GameFault as fault:
        game.fault = fault
    return game


class _KifStart:
    """The start of a game: a handicap, or a board and hands."""

    def __init__(self) -> None:
        self.handicap = "平手"
        self.rows: list[dict[int, tuple[int, int]]] = []
        self.hands: dict[tuple[int, int], int] = {}
        self.white: int | None = None

    def row(self, text: str, number: int) -> None:
        """Take a row of a board: |v香v桂 ... |一."""
        cells = re.findall(rf"([ v^])({_NAME}|・| )", text[1 : text.rfind("|")])
        rank = len(self.rows)
        if len(cells) != 9 or rank > 8:
            raise GameFault(
                "bad position", f"{shown(text)}, expected nine squares, of nine ranks", number
            )
        self.rows.append(
            {
                RANKS * (8 - i) + rank: (int(owner == "v"), MEN[name])
                for i, (owner, name) in enumerate(cells)
                if name in MEN
            }
        )

    def hand(self, owner: int, text: str, number: int) -> None:
        """Take the men in one hand: 飛　角二　歩十八."""
        if text.strip(" 　") in ("", "なし"):
            return
        for word in re.split("[ 　、]+", text.strip(" 　")):
            match = re.fullmatch("([歩香桂銀金角飛])(十?)([一二三四五六七八九]?|[0-9]{1,2})", word)
            if not match:
                raise GameFault(
                    "bad position", f"{shown(word)} in hand, expected men such as 歩二", number
                )
            name, ten, ones = match.groups()
            units = int(ones) if ones.isascii() and ones else _DIGITS.get(ones, 0)
            self.hands[owner, MEN[name]] = (10 if ten else 0) + units if ten or ones else 1

    def words(self, number: int) -> np.ndarray:
        """Return the position; Fault if it cannot be."""
        if self.rows:
            board = {square: man for row in self.rows for square, man in row.items()}
            white = self.handicap != "平手" if self.white is None else self.white
            return set_up(board, self.hands, int(white), number)
        board = board_of(START)
        for place in HANDICAPS[self.handicap]:
            del board[RANKS * (place // 10 - 1) + place % 10 - 1]
        return words_of(board, {}, int(self.handicap != "平手"), 1)


def _line(game: ParsedGame, start: _KifStart, text: str, number: int) -> None:
    if text.startswith("手数") or text.strip(" 　") in TURNED:
        return
    if not game.line:
        if text.startswith("|"):
            start.row(text, number)
            return
        if text.startswith("+---") or re.match("[ 　]*[９9]", text):
            return
        if text.strip(" 　") in ("先手番", "下手番", "後手番", "上手番"):
            start.white = int(text.strip(" 　") in ("後手番", "上手番"))
            return
    match = _LINE.match(text)
    if match and not _HEADER.match(text):
        if not game.line:
            game.line.append(start.words(number))
        _move(game, int(match[1]), match[2], number)
    elif not game.line and (header := _HEADER.match(text)):
        _header(game, start, header[0][:-1], text[header.end() :], number)
    elif text.startswith("まで"):
        _summary(game, text)
    elif not _HEADER.match(text):
        raise GameFault(
            "unknown line", f"{shown(text)}, expected a line of KIF in UTF-8 or cp932", number
        )


def _summary(game: ParsedGame, text: str) -> None:
    """Take the result from the line behind the moves, if they have no end of their own."""
    match = _SUMMARY.match(text)
    if not match or game.found_end or not game.line:
        return
    side, how, end = match.groups()
    if side:
        result: int | None = (1 if side[0] in "先下" else -1) * (1 if how == "勝ち" else -1)
    else:
        result = game.mover_result(ENDS[end])
    if not game.refused:
        game.result, game.found_end = result, True
    elif end == FOUL or side and result == game.mover_result(-1):
        game.lose_by_refused()


def _header(game: ParsedGame, start: _KifStart, key: str, value: str, number: int) -> None:
    if key == "手合割":
        name = value.strip(" 　")
        if name in HANDICAPS:
            start.handicap = name
        elif name not in ("その他", "詰将棋"):
            raise GameFault(
                "unknown handicap", f"{shown(name)}, expected one of {', '.join(HANDICAPS)}", number
            )
    elif re.fullmatch("[先下後上]手の?持ち?駒", key):
        start.hand(int(key[0] in "後上"), value, number)
    elif "駒" in key:
        raise GameFault(
            "unknown line", f"{shown(key)}, expected men such as 先手の持駒：歩二", number
        )
    elif key in ("先手", "下手", "後手", "上手"):
        game.names["white" if key in ("後手", "上手") else "black"] = value


def _move(game: ParsedGame, ply: int, text: str, number: int) -> None:
    if game.refused:
        if text != FOUL:
            raise game.refused
        game.lose_by_refused()
        return
    if ply != len(game.moves) + 1:
        raise GameFault(
            "wrong number", f"move number {ply}, expected {len(game.moves) + 1}", number
        )
    if game.found_end:
        raise GameFault("text after the end", shown(text), number)
    if text in ENDS:
        game.result, game.found_end = game.mover_result(ENDS[text]), True
        return
    match = _MOVE.fullmatch(text)
    if not match:
        raise GameFault("unknown move", f"{shown(text)} at ply {ply}", number)
    file, rank, name, more, from_file, from_rank, same, same_more, same_file, same_rank = (
        match.groups()
    )
    if same:
        if not game.moves:
            raise GameFault(
                "illegal move", f"{shown(text)} at ply {ply}: there is no move before", number
            )
        target, name, more, from_file, from_rank = (
            game.moves[-1] & 127,
            same,
            same_more,
            same_file,
            same_rank,
        )
    else:
        target = RANKS * (_DIGITS[file] - 1) + _DIGITS[rank] - 1
    kind = MEN[name]
    if from_file:
        if more == "打":
            raise GameFault(
                "illegal move", f"{shown(text)} at ply {ply}: a drop has no source", number
            )
        game.push(
            RANKS * (int(from_file) - 1) + int(from_rank) - 1,
            target,
            kind,
            more == "成",
            text,
            number,
        )
    elif more == "成" or kind >= KING:
        raise GameFault("illegal move", f"{shown(text)} at ply {ply}: no source", number)
    else:
        game.push(NOWHERE, target, kind, False, text, number)
