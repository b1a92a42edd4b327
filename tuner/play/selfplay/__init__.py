"""Learning from games that the search plays: `tuner selfplay`."""
