"""The option for EVALB parameters, which commands that score files share."""

from __future__ import annotations

import argparse

from lpcfg.evaluation.evalb_parameters import BUILT_IN

__all__ = ["add_evalb_parameters"]


def add_evalb_parameters(parser: argparse.ArgumentParser) -> None:
    """Declare ``--parameters``.

    >>> parser = argparse.ArgumentParser()
    >>> add_evalb_parameters(parser)
    >>> parser.parse_args(["-p", "collins"]).parameters
    'collins'
    """
    parser.add_argument(
        "-p",
        "--parameters",
        default="new",
        metavar="PRM",
        help=f"an EVALB .prm file or a built-in set: {', '.join(BUILT_IN)} (default: new)",
    )
