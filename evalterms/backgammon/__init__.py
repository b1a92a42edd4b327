"""The terms of the backgammon evaluation."""

from evalterms.backgammon.points import points

TERMS = (points,)
