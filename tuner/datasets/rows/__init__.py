"""Rows: positions counted by other programs, read from files of several formats."""
