"""Does it play better: what the games of a match say, with how much certainty, and when to stop."""
