"""Matches: players, games between them in pairs, and a folder from which a match goes on after anything."""
