"""UCI engines of others as sources of evaluations: thousands of commands in one write, no waiting in between."""
