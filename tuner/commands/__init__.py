"""The commands: each module has EXAMPLE, `add_arguments(parser)` and `run(arguments)`, which returns what --json prints.

Modules that take time to import are imported by `run`.
"""
