"""`python -m tuner` is `tuner`. Ctrl-C is handled before anything slow is imported."""

import sys

# the module `signal` builds enums of them, which is slow
from _signal import (
    SIG_DFL,
    SIGINT,
    signal,
)


def main() -> int:
    """Run the command line as a process of its own."""
    # ends the process without a word, until the command line is there to say one
    signal(SIGINT, SIG_DFL)
    import tuner

    try:
        tuner.require_own_packages()
    except ImportError as problem:
        print(f"tuner: {problem}", file=sys.stderr)
        return 2
    from tuner.cli import main

    return main()


if __name__ == "__main__":
    sys.exit(main())
