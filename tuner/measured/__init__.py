"""Counts that are measured: an evaluation is called again with one number of its source changed."""
