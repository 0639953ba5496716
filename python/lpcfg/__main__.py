"""The command line as a program: ``lpcfg`` and ``python -m lpcfg``."""

import sys

__all__ = ["run"]


def run() -> int:
    """Run the command line, and return its exit code.

    The command line is imported here, because Ctrl-C may arrive while it is.
    """
    try:
        from lpcfg.cli.main import main

        return main()
    except KeyboardInterrupt:
        print("lpcfg: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
