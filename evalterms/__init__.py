"""Hand-written evaluation terms: the framework, and one folder per game."""
