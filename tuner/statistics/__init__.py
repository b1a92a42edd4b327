"""Statistics of matches and of changes: intervals, tests, stopping rules."""
