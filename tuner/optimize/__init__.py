"""Numbers that only games can judge: options of engines, constants of a search."""
