"""What parameter files of each game show and begin with: the weights of the headline, and the scale."""

from __future__ import annotations

import pytest

from games.record import available
from tuner.engine.loading import load_parameters
from tuner.parameters.headline import headline
from tuner.parameters.layout import Layout, Place
from tuner.parameters.new import zeros


@pytest.mark.parametrize(("name", "number"), [("classic", 5), ("modern", 5), ("material", 5), ("tictactoe/classic", 1)])
def test_other_games_show_their_first_term_alone(name, number):
    layout = load_parameters(name).layout
    assert [place.term for place in layout.headline] == [layout.places[0].term] * number


def test_shogi_shows_men_on_the_board_promoted_and_in_hand():
    parameters = load_parameters("shogi/classic")
    places = parameters.layout.headline
    assert [parameters.layout.short(place) for place in places[5:9]] == ["bishop", "rook", "promoted.pawn", "promoted.lance"]
    assert (len(places), places[-1].path) == (20, "hand.rook")
    assert {line["parameter"]: line["ratio"] for line in headline(parameters)["values"]}["hand.rook"] == 11.5


def test_a_term_with_one_weight_or_with_other_names_is_left_out():
    places = [Place("material", "pawn", (), 0), Place("material", "rook", (), 1), Place("pair", "rook", (), 2),
              Place("hand", "pawn", (), 3), Place("hand", "rook", (), 4), Place("odd", "pawn", (), 5),
              Place("odd", "other", (), 6), Place("table", "pawn", (8,), 7), Place("table", "rook", (8,), 15)]
    paths = [place.path for place in Layout(tuple(places)).headline]
    assert paths == ["material.pawn", "material.rook", "hand.pawn", "hand.rook"]


@pytest.mark.parametrize(("game", "scale"), [("chess", 0.00255), ("shogi", 0.0005), ("backgammon", 0.00333),
                                             ("of-an-engine", 0.00255)])
def test_new_files_have_the_scale_of_the_bundled_ones_of_their_game(game, scale):
    layout = Layout((Place("material", "pawn", (), 0),))
    assert zeros(game, layout, ("all",)).scale == scale
    if game in available():
        assert load_parameters(f"{game}/classic").scale == scale
