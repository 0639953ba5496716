"""The command line as a program: ``lpcfg`` and ``python -m lpcfg``."""

import os
import sys

__all__ = ["run"]


def run() -> int:
    """Run the command line, and return its exit code.

    The command line is imported here, because Ctrl-C may arrive while it is.
    """
    # Products of matrices use one thread; others, which the BLAS of NumPy starts when it is loaded,
    # would only take time.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
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
