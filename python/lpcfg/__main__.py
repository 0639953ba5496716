"""``python -m lpcfg`` is the command line."""

import sys

from lpcfg.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
