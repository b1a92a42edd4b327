"""Replace numbers in the source of an engine: find the definitions of parameters, and write new
numbers in their place."""
