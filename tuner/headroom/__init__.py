"""How well evaluations agree with values of positions, and how well their terms could."""
