"""One HTML page about a run: `run` reads the folder, `page` renders it, `sections` chooses what is
on the page."""
