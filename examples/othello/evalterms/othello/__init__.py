"""The terms of the Othello evaluation."""

from evalterms.othello.terms import discs, mobility, squares

TERMS = (discs, squares, mobility)
