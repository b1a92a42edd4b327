"""Hand-written evaluation terms: the framework, and one folder per game."""

from pkgutil import extend_path

__path__ = extend_path(__path__, __name__)
