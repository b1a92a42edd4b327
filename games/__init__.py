"""Rules, files and searches of games, one folder per game.

Games of one's own may be elsewhere: `games/NAME`, `evalterms/NAME` and `params/NAME` in a folder of
PYTHONPATH."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
