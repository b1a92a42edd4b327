"""The commands. The module of each has USAGE, EXAMPLE, `add_arguments(parser)` and
`run(arguments)`, which returns what --json prints. Modules that are slow to import are imported
within `run`."""
