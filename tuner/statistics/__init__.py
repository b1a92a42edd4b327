"""Does it play better, and is a change real: intervals, tests and when to stop."""
