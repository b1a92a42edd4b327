"""Games of one's own evaluation to learn from: `tuner games`."""
