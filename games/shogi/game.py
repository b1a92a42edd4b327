"""The record of shogi, found by the name of its folder."""

from games.shogi.shogi import GAME as GAME
