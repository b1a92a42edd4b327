"""UCI engines of others as sources of evaluations."""
