"""Warnings of library code as notes. What shows notes is slow to import, and few commands have
any."""

from __future__ import annotations

import logging


class _Notes(logging.Handler):
    """Shows each message as a note."""

    def emit(self, record: logging.LogRecord) -> None:
        from tuner.commands.display import show_note

        show_note(record.getMessage())


def show_warnings() -> None:
    """Show the warnings of library code as notes from now on."""
    log = logging.getLogger("tuner")
    if not any(isinstance(handler, _Notes) for handler in log.handlers):
        log.addHandler(_Notes(logging.WARNING))
