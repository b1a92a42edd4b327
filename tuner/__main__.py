"""`python -m tuner` is `tuner`. Nothing is imported before an interrupt from the keyboard is prepared for."""

import sys
from _signal import SIG_DFL, SIGINT, signal  # the module signal makes classes of these first, which takes its time


def main() -> int:
    """Run the command line as a process of its own."""
    signal(SIGINT, SIG_DFL)  # ends the process without a word, until the command line is there to say one
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
