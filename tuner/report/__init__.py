"""A run folder as one page of HTML: `read_run` reads it, `page` writes it, and the rest says what is on the page."""
