"""Sources that an engine includes to print the counts of its evaluation as rows."""
