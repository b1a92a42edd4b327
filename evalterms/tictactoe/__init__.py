"""The terms of the tic-tac-toe evaluation."""

from evalterms.tictactoe.lines import lines
from evalterms.tictactoe.squares import squares

TERMS = (lines, squares)
