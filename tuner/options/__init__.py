"""Options of commands, each written once: parsers, settings of runs, the Python API and refusals
follow from them."""
