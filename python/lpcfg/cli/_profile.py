"""``--profile``: where the time and the memory of a command go."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable

from lpcfg.profiling import Profile

__all__ = ["add_profile", "profiled"]


def add_profile(parser: argparse.ArgumentParser) -> None:
    """Declare ``--profile``, for commands whose function is :func:`profiled`.

    >>> parser = argparse.ArgumentParser()
    >>> add_profile(parser)
    >>> parser.parse_args(["--profile"]).profile
    True
    """
    parser.add_argument(
        "--profile",
        action="store_true",
        help="print CPU time, wall time and peak memory by phase to standard error",
    )


def profiled(run: Callable[[argparse.Namespace], None]) -> Callable[[argparse.Namespace], None]:
    """The function of a command that prints a profile at the end, if ``--profile`` was given.

    >>> profiled(lambda options: print("hello"))(argparse.Namespace(profile=False))
    hello
    """

    def measured(options: argparse.Namespace) -> None:
        if not options.profile:
            run(options)
            return
        with Profile() as profile:
            run(options)
        print(profile, file=sys.stderr)

    return measured
