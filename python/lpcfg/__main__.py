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
    except (KeyboardInterrupt, RuntimeError) as error:
        # Python 3.11 turns an interrupt while a class is being made into a RuntimeError.
        if not isinstance(error.__cause__ or error, KeyboardInterrupt):
            raise
        print("lpcfg: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(run())
