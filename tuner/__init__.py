"""Tune the weights of a hand-written evaluation."""

__version__ = "0.1.0"
