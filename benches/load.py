"""CPU time and memory of loading a model: python benches/load.py MODEL [MODEL ...]."""

import multiprocessing
import sys
import time
from pathlib import Path

import lpcfg
from lpcfg.io.model_file import ModelFile


def megabytes() -> float:
    """The memory of this process."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * 4096 / 1e6


def measure(path: str) -> str:
    lpcfg.Parser.load("english")  # Imports everything.
    start = time.process_time()
    ModelFile(path)
    read = time.process_time() - start
    before, start = megabytes(), time.process_time()
    parser = lpcfg.Parser.load(path)
    loaded = time.process_time() - start
    return (
        f"{path}: {Path(path).stat().st_size / 1e6:.0f} MB, read and validated in "
        f"{1000 * read:.0f} ms, loaded in {1000 * loaded:.0f} ms, "
        f"{megabytes() - before:.0f} MB of memory for {parser.grammar}"
    )


if __name__ == "__main__":
    # A process for each, so that none reuses the memory of another.
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for line in pool.imap(measure, sys.argv[1:]):
            print(line)
