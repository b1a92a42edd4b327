"""`python -m tests.compiling SHARE`: compile one of two shares, 0 or 1, of what tests call."""

import gc
import importlib
import pkgutil
import sys

import evalterms
import games
import tuner
from games.compile.jit import PLAIN, Entry
from games.record import available
from tuner.evaluation.loading import load_engine, make_engine
from tuner.io.files import BUNDLED

# of chess and what it is used with: as much work as all others
FIRST = ("chess", "terms-chess", "encodings-chess", "games")


def entries() -> list[Entry]:
    """All compiled functions of the product, with the evaluations of bundled files."""
    for package in (games, evalterms, tuner):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    for game in available():
        make_engine(game)  # of all its terms
        for path in (BUNDLED / game).glob("*.yaml"):
            if not path.with_suffix(".npz").exists():  # a network
                load_engine(path)
    return [found for found in gc.get_objects() if isinstance(found, Entry)]


if __name__ == "__main__" and not PLAIN:
    for entry in entries():
        if (entry._unit.kind in FIRST) == (sys.argv[1] == "0"):
            for signature in entry._signatures:
                entry.compile(signature)
