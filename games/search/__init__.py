"""Search for two players who move in turn: quiescence and alpha-beta, built for a game out of its
rules."""
