"""`tuner network`: networks learned from values of positions."""
