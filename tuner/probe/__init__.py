"""Coefficients of an engine's options, by finite differences of its evaluations."""
