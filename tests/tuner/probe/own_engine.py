"""`tuner uci --options` as a script, for tests that name it as the command of an engine."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

if __name__ == "__main__":
    from tuner.cli import main

    sys.exit(main(["uci", "classic", "--options"]))
