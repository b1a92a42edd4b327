"""The sentences about generated games are true for the counts, and say only what there is to
say."""

from games.record import DRAW_RULE, PLIES, RESIGN_RULE, RULES
from tuner.options.games import GamesSettings
from tuner.play.own_games.parts import counts_of, sum_of
from tuner.play.own_games.play import Checked, Generated
from tuner.results.own_games import counts_lines

SIDES = "White", "Black"


def game(
    outcome: int = 1,
    own: int = 1,
    end: str = RULES,
    checked: Checked | None = None,
    plies: int = 80,
) -> Generated:
    return Generated(0, "", plies, outcome, own, end, checked)


def test_counts_are_sums_over_games_and_parts():
    first = counts_of([game(), game(-1, 1, RESIGN_RULE, Checked(RESIGN_RULE, -1, 0))])
    second = counts_of([game(0, 0, PLIES, plies=20)])
    both = sum_of([first, second])
    assert both == counts_of(
        [game(), game(-1, 1, RESIGN_RULE, Checked(RESIGN_RULE, -1, 0)), game(0, 0, PLIES, plies=20)]
    )
    assert (
        both["outcomes"] == [1, 1, 1]
        and both["own"] == [2, 1, 0]
        and both["plies"] == [180]
        and both["games"] == [3]
    )
    assert both["checked_resign"] == [0, 1, 0] and both["end_rules"] == both["end_resign"] == both[
        "end_plies"
    ] == [1]


def test_adjudication_is_reported_as_it_turned_out():
    games = (
        [game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 1))] * 17
        + [game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 0))] * 2
        + [
            game(1, -1, RESIGN_RULE, Checked(RESIGN_RULE, 1, -1)),
            game(0, 0, DRAW_RULE, Checked(DRAW_RULE, 0, 0)),
            game(0, 0, DRAW_RULE, Checked(DRAW_RULE, 0, -1)),
            game(-1, 0, RULES),
        ]
    )
    text = "\n".join(counts_lines(counts_of(games), GamesSettings(start="classic"), SIDES))
    assert "20 won by White, 1 by Black, 2 drawn, 80 plies a game" in text
    assert "by the rules of the game 4.3%, resigned 87.0%, drawn by scores 8.7%" in text
    assert (
        "17 of 20 resignations that were played on ended so (64.0% to 94.8% with 95 % confidence),"
        " 2 drawn and 1 won by the opponent instead; searches of depth 3 can also fail to win won"
        " games" in text
    )
    assert (
        "1 of 2 draws by scores that were played on ended so (9.5% to 90.5% with 95 % confidence),"
        " 1 won instead" in text
    )
    assert "drawn endings" not in text


def test_nothing_is_said_of_rules_that_were_not_checked():
    lines = counts_lines(
        counts_of([game(end=RESIGN_RULE)] * 3), GamesSettings(start="classic", noise=0.0), SIDES
    )
    assert len(lines) == 2 and "against its copies" not in "".join(lines)
    assert counts_lines(counts_of([]), GamesSettings(start="classic"), SIDES) == []
    resigned = counts_of([game(1, 1, RESIGN_RULE, Checked(RESIGN_RULE, 1, 1))] * 4)
    (right,) = [
        line
        for line in counts_lines(resigned, GamesSettings(start="classic"), SIDES)
        if "adjudication" in line
    ]
    assert right.endswith(
        "4 of 4 resignations that were played on ended so (51.0% to 100.0% with 95 % confidence)"
    )
