"""The terms of the backgammon evaluation."""

from evalterms.backgammon.points import points
from evalterms.backgammon.race import race
from evalterms.backgammon.roll import roll
from evalterms.backgammon.safety import safety
from evalterms.backgammon.structure import structure

TERMS = (points, race, safety, structure, roll)
