"""The terms of the backgammon evaluation."""

from evalterms.backgammon.points import points, roll
from evalterms.backgammon.race import race
from evalterms.backgammon.structure import safety, structure

TERMS = (points, race, safety, structure, roll)
