"""`python -m tuner` is `tuner`."""

import sys

from tuner.cli import main

sys.exit(main())
