"""Files of shogi are read as cshogi reads them, and faults are reported in one line."""

import cProfile
import os
import pstats
import random
import zipfile
from dataclasses import replace

import numpy as np
import pytest

from tests.support import file_with, refusal

cshogi = pytest.importorskip("cshogi")

from games.record import (  # noqa: E402
    PLIES,
    RESIGNS,
    RULES,
    TIME,
    Choice,
    PlayedGame,
    ReadOptions,
    ReadReport,
)
from games.shogi.engines import contest as openings  # noqa: E402
from games.shogi.files import csa, kif, packed, reading, sfen  # noqa: E402
from games.shogi.files.gamefile import ParsedGame, white_to_move  # noqa: E402
from games.shogi.files.reading import selector  # noqa: E402
from games.shogi.game import GAME  # noqa: E402
from tests.games.shogi import files  # noqa: E402
from tests.games.shogi.plain_search import plain_value  # noqa: E402
from tests.games.shogi.support import loaded, searcher_of  # noqa: E402

ALL = ReadOptions(positions="all", skip_start=0, duplicates="keep")


def test_csa_is_read_as_cshogi_reads_it(tmp_path):
    rng = random.Random(1)
    for _ in range(4):
        files.compare_csa(tmp_path / "games.csa", rng, 5)


def test_kif_is_read_as_cshogi_reads_it(tmp_path):
    rng = random.Random(2)
    for _ in range(10):
        files.compare_kif(tmp_path / "game.kif", rng)


@pytest.mark.parametrize("handicap", [False, True])
@pytest.mark.parametrize("form", reading.PACKED)
def test_packed_positions_are_those_that_cshogi_packed(form, handicap, tmp_path):
    path, rng = tmp_path / ("a.psv" if form == reading.PSV else "a.hcpe"), random.Random(3)
    written = files.write_packed(
        path, rng, 600, form, (lambda: files.handicap(rng)) if handicap else lambda: files.START
    )
    rows = np.fromfile(path, packed.PSV_DTYPE if form == reading.PSV else packed.HCPE_DTYPE)
    (batch,) = reading.read(str(path), ALL, report := ReadReport(), pytest.fail)
    assert (report.games, report.used, report.positions) == (600, 600, 600)
    read = zip(written, batch.positions, rows, batch.outcomes, batch.recorded, strict=True)
    for (text, _), words, row, outcome, score in read:
        white = " w " in text
        assert (
            sfen.text(words).rsplit(" ", form == reading.HCPE)[0]
            == text.rsplit(" ", form == reading.HCPE)[0]
        )
        result = int(row["result"])
        assert outcome == (
            (-result if white else result) if form == reading.PSV else {0: 0, 1: 1, 2: -1}[result]
        )
        assert score == (-1 if white else 1) * (
            float(row["score"])
            if abs(int(row["score"])) < 30_000
            else np.sign(row["score"]) * np.inf
        )


HEAD = "V2.2\nPI\n+\n"


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (HEAD + "+7776FU\n-3334FU\n+7776FU\n", 6, "illegal move: '+7776FU' at ply 3"),
        (HEAD + "-3334FU\n", 4, "wrong side: '-3334FU' at ply 1, the opponent is to move"),
        (HEAD + "+7776XX\n", 4, "unknown man: 'XX' in '+7776XX'"),
        (HEAD + "+7776FU\n%WON\n", 5, "unknown end: '%WON', expected one of %TORYO"),
        (HEAD + "+7776FU\n%TORYO\n-3334FU\n", 6, "text after the end: '-3334FU'"),
        (HEAD + "hello\n", 4, "unknown statement: 'hello'"),
        (
            "V2.2\n+\n+7776FU\n",
            2,
            "no position: the moves begin before a position, expected PI or P1 to P9",
        ),
        ("PI99XX\n+\n", 1, "bad position: 'PI99XX', expected squares and men such as 82HI"),
        ("P1 * *OU\n+\n", 1, "bad position: '*OU' in 'P1 * *OU', expected * or a man such as +FU"),
        ("P+00OU\n+\n", 1, "bad position: OU in hand in 'P+00OU'"),
        (
            "P+55FU54FU59OU\nP-51OU\n+\n",
            3,
            "bad position: two unpromoted pawns of one side are on file 5",
        ),
        (HEAD + "+0055FU\n", 4, "illegal move: '+0055FU' at ply 1"),
    ],
)
def test_faults_of_csa_are_named_with_their_line(text, line, fault, tmp_path):
    path = file_with(tmp_path / "games.csa", text)
    notes: list[str] = []
    assert list(reading.read(str(path), ALL, report := ReadReport(), notes.append)) == []
    assert (report.games, report.bad) == (1, 1)
    assert notes[0].startswith(f"{path}:{line}: {fault}")
    assert notes[0].endswith("; game skipped")
    assert "leave out --strict to skip such games" in refusal(
        list,
        reading.read(
            str(path), ReadOptions(positions="all", strict=True), ReadReport(), notes.append
        ),
    )


@pytest.mark.parametrize(
    ("text", "line", "fault"),
    [
        (
            "手合割：平手\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 ７六歩(77)\n",
            4,
            "illegal move: '７六歩(77)' at ply 3",
        ),
        (
            "手合割：平手\n   1 ７六歩(77)\n   3 ３四歩(33)\n",
            3,
            "wrong number: move number 3, expected 2",
        ),
        ("手合割：平手\n   1 七７歩\n   2 X\n", 2, "illegal move: '七７歩' at ply 1"),
        ("手合割：平手\n   1 hello\n", 2, "unknown move: 'hello' at ply 1"),
        (
            "手合割：平手\n   1 同　歩(77)\n",
            2,
            "illegal move: '同\\u3000歩(77)' at ply 1: there is no move before",
        ),
        (
            "手合割：平手\n   1 ５五歩打(77)\n",
            2,
            "illegal move: '５五歩打(77)' at ply 1: a drop has no source",
        ),
        ("手合割：飛\n   1 ７六歩(77)\n", 1, "unknown handicap: '飛'"),
        ("手合割：平手\n?\n   1 ７六歩(77)\n", 2, "unknown line: '?'"),
        (
            "後手の持駒：猫\n手合割：その他\n",
            1,
            "bad position: '猫' in hand, expected men such as 歩二",
        ),
        (
            "手合割：平手\n   1 投了\n   2 ７六歩(77)\n",
            3,
            "wrong number: move number 2, expected 1",
        ),
    ],
)
def test_faults_of_kif_are_named_with_their_line(text, line, fault):
    game = kif.read_game(text.split("\n"))
    assert (game.fault.line, str(game.fault)[: len(fault)]) == (line, fault)


MOVES = "手数----指手---------消費時間--\n   1 ７六歩(77)\n   2 ３四歩(33)\n   3 投了\n"


def kif_of(text: str) -> ParsedGame:
    """The only game of a text."""
    (game,) = reading.games_of(text.split("\n"), reading.KIF)
    assert game.fault is None, str(game.fault)
    return game


@pytest.mark.parametrize(
    "drop",
    [
        "４五角打(00)",
        "４五角(00)",
        "４五角打",
        "４五角",
        "45角打(00)",
        "４五角打   (00:01/00:00:03)",
    ],
)
def test_drops_of_kif(drop):
    moves = ["７六歩(77)", "３四歩(33)", "２二角成(88)", "同　銀(31)", drop, "投了"]
    text = "\n".join(f"   {ply} {move}" for ply, move in enumerate(moves, 1))
    assert files.our_names(kif_of(text)) == ["7g7f", "3c3d", "8h2b+", "3a2b", "B*4e"]


@pytest.mark.parametrize("line", ["盤面回転", "盤面反転", "盤面回転　", " 盤面反転", "&盤面"])
@pytest.mark.parametrize(
    "head", ["{}\n手合割：平手\n", "手合割：平手\n{}\n", "手合割：平手\n先手：A\n{}\n"]
)
def test_how_the_board_was_shown_is_no_fault(head, line):
    assert files.our_names(kif_of(head.format(line) + MOVES)) == ["7g7f", "3c3d"]


@pytest.mark.parametrize("key", ["の持駒", "の持ち駒", "持駒", "持ち駒"])
@pytest.mark.parametrize("men", ["飛　角二　歩十八", "飛1 角2 歩18", "飛、角二、歩十八"])
@pytest.mark.parametrize("sides", ["先後", "下上"])
def test_hands_of_kif(key, men, sides):
    text = BOARD.replace("飛　角二　歩十八", men).replace("手の持駒", f"手{key}")
    text = text.replace("先手", f"{sides[0]}手").replace("後手", f"{sides[1]}手")
    assert sfen.text(kif_of(text).line[0]) == "4k4/9/4G4/9/9/9/3+l5/9/4K4 b Gr2b18p 1"


@pytest.mark.parametrize("key", ["駒台", "先手の持ち時の駒", "後手の駒"])
def test_an_unknown_line_about_pieces_is_a_fault(key):
    (game,) = reading.games_of(BOARD.replace("先手の持駒", key).split("\n"), reading.KIF)
    assert str(game.fault).startswith("unknown line")


@pytest.mark.parametrize("handicap", ["香落ち", "角落ち", "二枚落ち", "六枚落ち", "十枚落ち"])
def test_the_stronger_side_begins_on_a_board_with_a_handicap(handicap):
    board = BOARD.replace("手数", f"手合割：{handicap}\n手数").partition("   1")[0]
    assert white_to_move(kif_of(board).line[0])
    assert not white_to_move(kif_of(board.replace("手数", "下手番\n手数")).line[0])
    assert not white_to_move(kif_of(board.replace(handicap, "その他")).line[0])


def test_files_of_an_archive_are_read_by_themselves(tmp_path):
    players = "先手：甲\n後手：乙\n"
    texts = [
        ("手合割：平手\n" + players + MOVES).encode("cp932"),
        (players + MOVES).encode(),
        (players + MOVES).encode("cp932"),
        MOVES.encode("utf-8-sig"),
        (players + MOVES).encode("utf-16"),
        MOVES.partition("\n")[2].encode(),
        players.encode() + b"\xe7\xff\n" + MOVES.encode(),
    ]
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for number, content in enumerate(texts):
            archive.writestr(f"{number}.kif", content)
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("folder/", b"")
    assert reading.lines_of(str(tmp_path / "empty.zip")) == []
    games = list(reading.parse(str(tmp_path / "a.zip"), reading.KIF))
    assert [str(game.fault) for game in games[:-1]] == ["None"] * 6
    assert [files.our_names(game) for game in games[:-1]] == [["7g7f", "3c3d"]] * 6
    assert "expected a line of KIF in UTF-8 or cp932" in str(games[-1].fault)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp932"])
@pytest.mark.parametrize("byte", [b"\xff", b"\x80", b"\xe7"])
def test_one_byte_of_another_encoding_spoils_no_game(tmp_path, encoding, byte):
    head, names = "手合割：平手\n先手：甲", "\n後手：乙\n"
    content = head.encode(encoding) + byte + (names + MOVES).encode(encoding.removesuffix("-sig"))
    (tmp_path / "a.kif").write_bytes(content)
    (game,) = reading.parse(str(tmp_path / "a.kif"), reading.KIF)
    assert game.fault is None and files.our_names(game) == ["7g7f", "3c3d"]


def test_games_in_one_text_begin_with_their_first_header():
    text = "先手：甲\n後手：乙\n" + MOVES
    for games in (text * 2, MOVES * 2, text + "\n" + MOVES):
        found = list(reading.games_of(games.split("\n"), reading.KIF))
        assert [(game.fault, len(game.moves)) for game in found] == [(None, 2)] * 2


BOARD = """後手の持駒：飛　角二　歩十八
  ９ ８ ７ ６ ５ ４ ３ ２ １
+---------------------------+
| ・ ・ ・ ・v玉 ・ ・ ・ ・|一
| ・ ・ ・ ・ ・ ・ ・ ・ ・|二
| ・ ・ ・ ・ 金 ・ ・ ・ ・|三
| ・ ・ ・ ・ ・ ・ ・ ・ ・|四
| ・ ・ ・ ・ ・ ・ ・ ・ ・|五
| ・ ・ ・ ・ ・ ・ ・ ・ ・|六
| ・ ・ ・v成香 ・ ・ ・ ・ ・|七
| ・ ・ ・ ・ ・ ・ ・ ・ ・|八
| ・ ・ ・ ・ 玉 ・ ・ ・ ・|九
+---------------------------+
先手の持駒：金
手数----指手---------消費時間--
   1 ５二金打
変化：1手
   1 ４二金打
"""


@pytest.mark.parametrize(
    "line",
    [
        "PI",
        "PI11KY19KY",
        "PI\n+\n/",
        "P+00AL",
        "P1-KY-KE-GI-KI-OU-KI-GI-KE-KY",
        "N+",
        "V2.2",
        "'** 5 x",
        "/",
        "PI\n+\n+5958OU\n-5152OU\n+5859OU\n-5251OU",
    ],
)
def test_rubbish_in_csa_takes_few_calls_a_byte(line):
    list(csa.read_games(["PI", "+"]))  # compiled functions are loaded
    profile, lines = cProfile.Profile(), f"{line}\n".__mul__(20_000 // len(line)).split("\n")
    profile.runcall(lambda: list(csa.read_games(lines)))
    assert pstats.Stats(profile).total_calls < 20 * 20_000  # type: ignore[attr-defined]


KIFU_FOR_WINDOWS = """# ----  Kifu for Windows V7 V7.55 棋譜ファイル  ----
# ファイル名：C:\\kifu\\20240810.kif
開始日時：2024/08/10 10:00:00
終了日時：2024/08/10 10:21:43
棋戦：研究会
持ち時間：30分
消費時間：2▲21△13
手合割：{handicap}
先手：先手太郎
後手：後手花子
手数----指手---------消費時間--
*初形のコメント
   1 ７六歩(77)   ( 0:16/00:00:16)
*先手はすぐ角道を開けた。
   2 ３四歩(33)   ( 0:00/00:00:00)+
   3 {end}         ( 0:03/00:00:19)
{summary}

変化：2手
   2 ８四歩(83)   ( 0:01/00:00:01)
"""


@pytest.mark.parametrize(
    ("ends", "result"),
    [
        ("投了 詰み 詰 切れ負け 時間切れ 反則負け 不戦敗", -1),
        ("反則勝ち 不戦勝 入玉勝ち 宣言勝ち 勝ち宣言 入玉宣言 入玉宣言勝ち 王手連続千日手", 1),
        ("千日手 持将棋 引き分け 引分け 引分 最大手数 最大手数超過", 0),
        ("中断 封じ手 不詰", None),
    ],
)
def test_ends_of_kif_are_results_of_the_side_to_move(ends, result):
    for end in ends.split():
        text = KIFU_FOR_WINDOWS.format(handicap="平手　　", end=end, summary="")
        game = kif.read_game(text.replace("\n", "\r\n").split("\n"))
        assert (game.fault, files.our_names(game), game.result) == (None, ["7g7f", "3c3d"], result)


@pytest.mark.parametrize(
    ("summaries", "result"),
    [
        ("先手の勝ち 下手の入玉勝ち", 1),
        (
            "後手の勝ち 時間切れにより後手の勝ち 先手の反則負け 上手の反則勝ち 後手の宣言勝ち 詰み",
            -1,
        ),
        ("千日手 持将棋", 0),
        ("中断 封じ手 不詰", None),
    ],
)
def test_a_kif_without_an_end_has_the_result_of_its_summary(summaries, result):
    for summary in summaries.split():
        text = KIFU_FOR_WINDOWS.format(handicap="平手", end="", summary=f"まで2手で{summary}")
        game = kif.read_game([line for line in text.split("\n") if not line.startswith("   3")])
        assert (game.fault, len(game.moves), game.result) == (None, 2, result)


FOULS = {  # positions, the move that is illegal there, and the side that loses
    "two pawns on a file": (
        ["７六歩(77)", "３四歩(33)", "２二角成(88)", "同　銀(31)"],
        "４六歩打",
        -1,
    ),
    "a king left in check": (
        ["７六歩(77)", "３四歩(33)", "３三角成(88)", "４二飛(82)", "４二馬(33)"],
        "９四歩(93)",
        1,
    ),
}


@pytest.mark.parametrize("foul", FOULS)
@pytest.mark.parametrize(
    "end", ["{n} 反則勝ち", "まで{m}手で{side}手の勝ち", "まで{m}手で反則勝ち"]
)
def test_an_illegal_move_may_end_a_game(foul, end):
    """Its side loses, in CSA as well; without that end it is a fault."""
    moves, illegal, winner = FOULS[foul]
    lines = [f"{n} {move}" for n, move in enumerate([*moves, illegal], 1)]
    end = end.format(n=len(lines) + 1, m=len(lines), side="先" if winner > 0 else "後")
    game = kif.read_game([*lines, end])
    assert (game.fault, len(game.moves), game.result) == (None, len(moves), winner)
    for wrong in ([], [f"{len(lines) + 1} 投了"], [f"{len(lines) + 1} ８四歩(83)"]):
        game = kif.read_game([*lines, *wrong])
        assert game.fault is not None and game.fault.kind == "illegal move"


@pytest.mark.parametrize(
    "head", ["PI\n+\n", "N+a\nN-b\nPI\n+\n", "$EVENT:x\nPI,+\n", "V2\nPI\n+\n"]
)
def test_games_of_csa_that_are_joined_without_a_line_between_are_all_read(head, tmp_path):
    path = file_with(
        tmp_path / "joined.csa",
        "V2.2\n" + head + head.join(["+7776FU\n-3334FU\n%TORYO\n", "+2726FU,T3,%TORYO\n"] * 2),
    )
    games = list(reading.parse(str(path), reading.CSA))
    assert [(game.fault, len(game.moves), game.result) for game in games] == [
        *((None, 2, -1), (None, 1, 1)) * 2
    ]


SHOGIHOME = """先手：A
後手：B
手合割：平手
手数----指手---------消費時間--
   1 ２六歩(27)   ( 0:02/00:00:02)
*互角
*#評価値=31
*#読み筋=△８四歩▲２五歩
*#深さ=21
*#エンジン=MyEngine
   2 ８四歩(83)   ( 0:01/00:00:01)
*互角
**評価値=-35
**読み筋=▲２五歩△８五歩
*
*#評価値=-12
   3 ７六歩(77)   ( 0:00/00:00:00)
**詰み=先手勝ち
*#詰み=後手勝ち:8手
   4 投了         ( 0:00/00:00:01)
"""
SHOGIGUI = """手合割：平手
先手：A
後手：B
手数----指手---------消費時間--
   1 ２六歩(27)    (00:02 / 00:00:02)
**対局 時間 00:00.8 深さ 22/28 ノード数 744743 評価値 88 読み筋 ▲２六歩(27) △８四歩(83)
**解析 0 ○ 候補1 時間 00:10.0 深さ 34 ノード数 178144 評価値 31 読み筋 △８四歩(83) ▲２五歩(26)
**解析 0  候補2 時間 00:10.0 深さ 34 ノード数 178144 評価値 60 読み筋 △３四歩(33)
   2 ８四歩(83)    (00:01 / 00:00:01)
**解析 0 △ 時間 00:10.0 深さ 30/41 ノード数 99 評価値 -12↑ 読み筋 ▲７六歩(77)
   3 ７六歩(77)    (00:00 / 00:00:02)
**解析 0  評価値 -詰 8 読み筋 △３四歩(33)
   4 投了          (00:00 / 00:00:01)
"""
FLOODGATE = """V2
N+A
N-B
'Max_Moves:256
'Least_Time_Per_Move:0
$EVENT:wdoor+floodgate-300-10F+A+B+20240810003002
$START_TIME:2024/08/10 00:30:04
P1-KY-KE-GI-KI-OU-KI-GI-KE-KY
P2 * -HI *  *  *  *  * -KA *
P3-FU-FU-FU-FU-FU-FU-FU-FU-FU
P4 *  *  *  *  *  *  *  *  *
P5 *  *  *  *  *  *  *  *  *
P6 *  *  *  *  *  *  *  *  *
P7+FU+FU+FU+FU+FU+FU+FU+FU+FU
P8 * +KA *  *  *  *  * +HI *
P9+KY+KE+GI+KI+OU+KI+GI+KE+KY
+
'rating:A+0123:B+4567
'black_rate:A+0123:2000.0
'white_rate:B+4567:2100.5
+2726FU
T2
'** 88 +2726FU -8384FU
-8384FU ,T1
'* a word, of the players
+7776FU,T0,'* -12 +7776FU, and more
%TORYO,'* -5000 lost
'summary:toryo:A win:B lose
$END_TIME:2024/08/10 00:30:31
"""


def test_scores_are_read_from_comments_of_shogihome_shogigui_and_floodgate():
    home, gui = kif.read_game(SHOGIHOME.split("\n")), kif.read_game(SHOGIGUI.split("\n"))
    (floodgate,) = csa.read_games(FLOODGATE.split("\n"))
    assert [game.fault for game in (home, gui, floodgate)] == [None] * 3
    # of a player, before the move; of an analysis, behind it, and the first for a position counts
    assert home.scores == {1: 31, 2: -12, 3: -30_000}
    assert gui.scores == {0: 88, 1: 31, 2: -12, 3: -30_000}
    assert (floodgate.scores, floodgate.result) == ({0: 88, 2: -12}, 1)
    (of_home,) = csa.read_games(f"{HEAD}+7776FU\n'**評価値=-35\n'*#評価値=7\n%TORYO\n".split("\n"))
    assert of_home.scores == {0: -35, 1: 7}
    assert floodgate.elo == {"black": 2000.0, "white": 2100.5}


@pytest.mark.parametrize(
    ("end", "result"),
    [
        ("%KACHI,'* -5000 win", -1),
        ("%KACHI\nT0\n%KACHI", -1),
        ("%TORYO,T3,'bye, then", 1),
        ("%TORYO,T3", 1),
    ],
)
def test_ends_of_csa_may_have_comments_and_be_said_twice(end, result):
    (game,) = csa.read_games(f"{HEAD}+7776FU ,T0\n{end}\n".split("\n"))
    assert (game.fault, len(game.moves), game.result) == (None, 1, result)


def test_boards_handicaps_and_mates_of_kif():
    game = kif.read_game(BOARD.split("\n"))
    assert game.fault is None
    assert sfen.text(game.line[0]) == "4k4/9/4G4/9/9/9/3+l5/9/4K4 b Gr2b18p 1"
    # the mate is the result where the file gives none
    assert (game.result, files.our_names(game)) == (
        1,
        ["G*5b"],
    )
    for name in kif.HANDICAPS:
        odds = kif.read_game([f"手合割：{name}", ""])
        assert odds.fault is None
        assert (sfen.text(odds.line[0]).split()[1] == "b") == (name == "平手")


def test_openings_are_games_or_lines_of_usi(tmp_path):
    path = file_with(
        tmp_path / "openings.txt",
        "# two\nstartpos moves 7g7f 3c3d\nposition sfen 4k4/9/9/9/9/9/9/9/4K4 b G 1 moves G*5e\n"
        "startpos moves 7g7e\n",
    )
    notes: list[str] = []
    found = openings.openings(str(path), notes.append)
    assert [len(found[i][1]) for i in range(len(found))] == [2, 1]
    assert notes == [f"{path}:4: illegal move '7g7e' at ply 1; line skipped"]
    path.write_text("x\n")
    assert (
        "no openings found, expected games, SFEN positions or lines such as startpos moves"
        in refusal(openings.openings, str(path), notes.append)
    )


def test_openings_that_end_the_game_are_skipped(tmp_path):
    mate = "sfen 4k4/4G4/4G4/9/9/9/9/9/4K4 w - 1"
    cycle = " ".join(["2h3h", "8b7b", "3h2h", "7b8b"] * 3)
    path = file_with(
        tmp_path / "openings.txt", f"startpos moves 7g7f\n{mate}\nstartpos moves {cycle}\n"
    )
    notes: list[str] = []
    assert len(openings.openings(str(path), notes.append)) == 1
    assert [note.split(":")[1] for note in notes] == ["2", "3"]
    path = tmp_path / "openings.csa"
    drawn = "".join(["+2838HI\n", "-8272HI\n", "+3828HI\n", "-7282HI\n"] * 3)
    path.write_text(f"{HEAD}{drawn}/\n{HEAD}+7776FU\n")
    assert len(openings.openings(str(path), notes.append)) == 1
    assert notes[2].endswith("the opening ends the game; game skipped")


def test_openings_come_through_a_pipe_and_a_device_without_an_end_is_refused(tmp_path):
    for text in ("startpos moves 7g7f 3c3d\n", "V2\nPI\n+\n+7776FU\n%TORYO\n"):
        reading, writing = os.pipe()
        os.write(writing, text.encode())
        os.close(writing)
        assert len(openings.openings(f"/dev/fd/{reading}", lambda text: None)) == 1
        os.close(reading)
    assert "/dev/zero: a line of more than 16,777,216 bytes; expected lines of text" in refusal(
        openings.openings, "/dev/zero", lambda text: None
    )


def test_of_many_bad_openings_a_few_are_noted_and_the_others_counted(tmp_path):
    lines, games = tmp_path / "openings.txt", tmp_path / "openings.csa"
    lines.write_text("dear reader\n" * 1200 + "startpos moves 7g7f\n")
    games.write_text("/\n".join([f"{HEAD}+7775FU\n"] * 7 + [f"{HEAD}+7776FU\n"]))
    for path, count, what in ((lines, 1200, "line"), (games, 7, "game")):
        notes: list[str] = []
        assert len(openings.openings(str(path), notes.append)) == 1
        assert len(notes) == 6 and all(note.endswith(f"; {what} skipped") for note in notes[:5])
        assert notes[5] == f"{path}: {count - 5:,} more bad {what}s skipped"


def test_cut_off_records_and_unknown_formats_are_refused(tmp_path):
    path = file_with(tmp_path / "a.psv", bytes(39))
    assert (
        "record 1 has 39 bytes, expected 40 of a PackedSfenValue; the file is cut off or has"
        in refusal(list, reading.read(str(path), ALL, ReadReport(), pytest.fail))
    )
    path.write_bytes(bytes(40))
    notes: list[str] = []
    assert list(reading.read(str(path), ALL, ReadReport(), notes.append)) == []
    assert notes == [
        f"{path}: record 1: the kings are on the same square or off the board; record skipped"
    ]
    other = file_with(tmp_path / "a.txt", "hello\n")
    assert "neither the name nor the first lines say the format" in refusal(
        list, reading.read(str(other), ALL, ReadReport(), pytest.fail)
    )


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    accepted, refused = files.trials(tmp_path, 400, seed=5)
    assert accepted > 200
    assert refused > 200


def test_damaged_positions_and_moves_are_read_or_refused_in_one_line():
    rng = random.Random(6)
    texts = [text for text, _ in files.positions(rng, 60)]
    for _ in range(1500):
        damaged = files.mutate(rng, rng.choice(texts).encode()).decode("latin-1")
        try:
            found = sfen.text(sfen.position(damaged))
        except ValueError as problem:
            assert str(problem).isprintable()
        else:
            assert cshogi.Board(found).is_ok()


@pytest.mark.long
@pytest.mark.parametrize("kind", ["quiet", "auto"])
def test_quiet_positions_are_those_whose_quiescence_is_their_evaluation(kind, tmp_path):
    files.write_csa(tmp_path / "games.csa", random.Random(9), 4)
    engine, parameters = loaded("hand")
    options = (
        replace(ALL, skip_start=8),
        ReadOptions(positions=kind, evaluation=engine.evaluation(parameters)),
    )
    everything, chosen = (
        list(reading.read(str(tmp_path / "games.csa"), each, ReadReport(), pytest.fail))
        for each in options
    )
    searcher, quiet = searcher_of("hand", playing=False), 0
    for all_of_game, of_game in zip(everything, chosen, strict=True):
        expected = [
            words
            for words in all_of_game.positions
            if not int(words[13]) & 2 and is_quiet(searcher, words)
        ]
        assert np.array_equal(of_game.positions, np.array(expected).reshape(-1, 15))
        quiet += len(expected)
    assert quiet > 50


@pytest.mark.long
def test_the_evaluation_of_a_resolved_position_is_the_value_of_quiescence():
    engine, parameters = loaded("hand")
    positions = np.array(
        [sfen.position(text) for text, _ in files.positions(random.Random(4), 200)]
    )
    leaves, keep = selector(
        ReadOptions(positions="resolve", evaluation=engine.evaluation(parameters)), "all"
    )(positions)
    searcher = searcher_of("hand", playing=False)
    for words, value, kept in zip(
        positions, engine.evaluate(leaves, parameters), keep, strict=True
    ):
        assert not kept or plain_value(searcher, [words], 0) == (
            -value if int(words[13]) & 1 else value
        )
    assert np.count_nonzero(keep) > 150
    assert not np.array_equal(leaves, positions)


def is_quiet(searcher, words: np.ndarray) -> bool:
    """Whether no capture or promotion gains: the value of quiescence, by plain minimax of depth 0,
    is the evaluation."""
    engine, parameters = loaded("hand")
    sign = -1 if int(words[13]) & 1 else 1
    return plain_value(searcher, [words], 0) == sign * engine.evaluate(words[None], parameters)[0]


def test_quiet_positions_need_an_evaluation(tmp_path):
    files.write_csa(tmp_path / "games.csa", random.Random(9), 1)
    assert "positions='quiet' needs an evaluation" in refusal(
        list,
        reading.read(str(tmp_path / "games.csa"), ReadOptions(), ReadReport(), pytest.fail),
        error=ValueError,
    )


def test_written_games_are_read_back_with_their_scores_and_ends(tmp_path):
    line, moves = openings.line_of("startpos moves 7g7f 3c3d 8h2b+ 3a2b")
    choices = [
        Choice(move, score, win_in)
        for move, score, win_in in zip(
            moves, (12.4, -30.0, None, 7.0), (None, None, 5, -2), strict=True
        )
    ]
    path = tmp_path / "games.csa"
    ends = {
        (1, RESIGNS): "%-ILLEGAL_ACTION",
        (-1, RESIGNS): "%TORYO",
        (-1, TIME): "%TIME_UP",
        (0, PLIES): "%MAX_MOVES",
        (0, RULES): "%HIKIWAKE",
        (None, PLIES): "%CHUDAN",
    }
    for (outcome, end), statement in ends.items():
        text = GAME.files.game_text(
            PlayedGame(np.array(line), moves, 0, choices, [], outcome, end, players=("a\nb", "c"))
        )
        assert f"\n{statement}\n/\n" in text
        path.write_text(text)
        (game,) = reading.parse(str(path), reading.CSA)
        assert (game.moves, game.result, game.names["black"]) == (moves, outcome, "a b")
        assert game.scores == {0: 12, 1: 30, 2: 30_000, 3: 30_000}
    path.write_text(
        GAME.files.game_text(PlayedGame(np.array(line), moves, 0, choices, [], 1, RULES))
    )
    (batch,) = reading.read(str(path), ALL, ReadReport(), pytest.fail)
    assert batch.recorded[:4].tolist() == [12, 30, np.inf, np.inf]
    assert np.isnan(batch.recorded[4])


@pytest.mark.parametrize(
    ("end", "result", "fault"),
    [
        ("+5554FU\nT3\n%ILLEGAL_MOVE\n", -1, None),
        ("+5554FU\n%TORYO\n", None, "illegal move"),
        ("+5554FU\n", None, "illegal move"),
        ("+5554FU\n-3334FU\n%ILLEGAL_MOVE\n", None, "illegal move"),
    ],
)
def test_an_illegal_move_that_ends_the_game_loses_it(end, result, fault, tmp_path):
    path = file_with(tmp_path / "games.csa", f"{HEAD}+7776FU\n-3334FU\n{end}")
    (game,) = reading.parse(str(path), reading.CSA)
    assert (game.fault and game.fault.kind, game.result, len(game.moves)) == (fault, result, 2)
