"""Matches: players, pairs of games between them, and a folder from which a match can be resumed."""
