"""Hand-written evaluation terms, one folder per game."""
