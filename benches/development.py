"""A treebank for the benches, GUM if not said, and the scores of grammars on its development part.

It is looked for as ``treebanks/gum/{train,dev}.mrg`` below the folder that the environment
variable LPCFG_SHARED names (default: ``shared`` next to the repository). Trees with errors, as
CRAFT has some, are left out.
"""

import argparse
import os
import sys
import time
from functools import cache
from pathlib import Path

from lpcfg import (
    ChartCache,
    Cleaning,
    Grammar,
    Parser,
    Scores,
    Transform,
    Treebank,
    evaluate_parser,
)
from lpcfg.treebank.reader import read_forest

SHARED = Path(os.environ.get("LPCFG_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TREEBANKS = SHARED / "treebanks"
GUM = TREEBANKS / "gum"


def no_options(description: str) -> None:
    """Refuse options but ``--help``, which says what a script measures without measuring it."""
    formatter = argparse.RawDescriptionHelpFormatter
    argparse.ArgumentParser(description=description, formatter_class=formatter).parse_args()


def training(transform: Transform, treebank: str = "gum") -> Treebank:
    folder = TREEBANKS / treebank
    if not folder.is_dir():
        sys.exit(
            f"no treebank in {folder}: set LPCFG_SHARED to the folder that holds "
            f"treebanks/{treebank}"
        )
    return Treebank.read(folder / "train.mrg", transform=transform, on_error="skip")


@cache
def gold(treebank: str = "gum"):
    forest = read_forest(TREEBANKS / treebank / "dev.mrg", on_error="skip")
    cleaned = Cleaning().apply(forest).nonempty()
    return [tree for tree in cleaned.trees() if tree is not None]


def score(
    grammar: Grammar,
    decoder: str = "max-f1",
    charts: ChartCache | None = None,
    treebank: str = "gum",
) -> tuple[Scores, float]:
    """The scores of a grammar that parses from words, and sentences in a second of CPU time."""
    parser = Parser(grammar, decoder=decoder, n_jobs=1, charts=charts)
    started = time.process_time()
    scores = evaluate_parser(parser, gold(treebank)).scores
    return scores, len(gold(treebank)) / (time.process_time() - started)


def print_row(*cells: object) -> None:
    """A row of a table in Markdown, at once: the rows take a while."""
    print("|", " | ".join(map(str, cells)), "|", flush=True)
