"""Training and parsing on a real treebank: speed, accuracy, memory, growth with length.

The treebank is GUM, as ``treebanks/gum/{train,dev}.mrg`` below the folder that the environment
variable LPCFG_SHARED names (default: ``shared`` next to the repository). Each measurement runs in
a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import mean, median
from typing import Any

from development import SHARED, no_options

import lpcfg
from lpcfg.treebank.reader import ReadReport, read_forest

LENGTHS = range(10, 101, 10)
SENTENCES_OF_A_LENGTH = 20

Figures = dict[str, Any]


def main() -> int:
    folder = SHARED / "treebanks" / "gum"
    train, dev = folder / "train.mrg", folder / "dev.mrg"
    if not train.exists() or not dev.exists():
        print(f"no treebank in {folder}: name its folder in LPCFG_SHARED to time real data")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        model = str(Path(temporary, "gum.lpcfg"))
        report_training(apart("train", str(train), model))
        for threads in dict.fromkeys([1, len(os.sched_getaffinity(0))]):
            report_parsing(apart("parse", model, str(dev), str(threads)))
        report_growth(apart("grow", model, str(dev), str(train)))
    craft = SHARED / "treebanks" / "craft" / "train.mrg"
    if craft.exists():
        report_reading(apart("read", str(craft)))
    return 0


def apart(task: str, *arguments: str) -> Figures:
    """Run one of the tasks below in another process; its last line of output has the figures."""
    command = [sys.executable, __file__, task, *arguments]
    output = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    figures: Figures = json.loads(output.splitlines()[-1])
    return figures


def train_model(treebank: str, model: str) -> Figures:
    started = time.perf_counter()
    bank = lpcfg.Treebank.read(treebank)
    grammar = lpcfg.PCFGEstimator().fit(bank).grammar_
    lpcfg.save(grammar, model)
    seconds = time.perf_counter() - started
    size = Path(model).stat().st_size
    return {"grammar": str(grammar), "trees": len(bank), "seconds": seconds, "bytes": size}


def parse_treebank(model: str, treebank: str, threads: str) -> Figures:
    parser = lpcfg.Parser(lpcfg.load(model), n_jobs=int(threads))
    gold = gold_trees(parser, treebank)
    result = lpcfg.evaluate_parser(parser, gold)
    return result.to_dict() | {"threads": parser.n_jobs, "longest": max(map(len, gold))}


def parse_by_length(model: str, *treebanks: str) -> Figures:
    """Time sentences of the first treebank that has some of a length."""
    parser = lpcfg.Parser(lpcfg.load(model), n_jobs=1)
    banks = [[tree.words() for tree in gold_trees(parser, treebank)] for treebank in treebanks]
    rows = []
    for length in LENGTHS:
        for treebank, sentences in zip(treebanks, banks, strict=True):
            # The shortest ones that are long enough, cut to the same length.
            enough = sorted((words for words in sentences if len(words) >= length), key=len)
            chosen = [words[:length] for words in enough[:SENTENCES_OF_A_LENGTH]]
            if chosen:
                times = [
                    milliseconds(lambda words=words: parser.parse(words=words)) for words in chosen
                ]
                rows.append((length, len(chosen), Path(treebank).stem, mean(times), median(times)))
                break
    return {"rows": rows}


def read_and_compare(treebank: str) -> Figures:
    """Time reading into the node table against nltk's reader, tree by tree."""
    # Here, because it would count as memory of the other tasks.
    import nltk

    lines = Path(treebank).read_text("utf-8").splitlines()
    report = ReadReport()
    ours = milliseconds(lambda: lpcfg.Treebank.read(treebank, on_error="skip", report=report))
    return {
        "trees": report.trees,
        "ours": ours,
        "nltk": milliseconds(lambda: [nltk.Tree.fromstring(line) for line in lines]),
    }


def milliseconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e3


def gold_trees(parser: lpcfg.Parser, treebank: str) -> list[lpcfg.Tree]:
    cleaned = parser.grammar.cleaning.apply(read_forest(treebank)).nonempty()
    return [tree for tree in cleaned.trees() if tree is not None]


def report_reading(figures: Figures) -> None:
    ratio = figures["nltk"] / figures["ours"]
    print(
        f"CRAFT train, {figures['trees']} trees: read, cleaned and transformed into the node table "
        f"in {figures['ours']:.0f} ms; nltk.Tree.fromstring {figures['nltk']:.0f} ms, "
        f"{ratio:.0f} times as long"
    )


def report_training(figures: Figures) -> None:
    print(f"GUM train, {figures['trees']} trees: {figures['grammar']}")
    print(
        f"training, from file to file: {figures['seconds']:.2f} s, "
        f"model {figures['bytes'] / 1e6:.1f} MB, peak memory {figures['peak']:.0f} MB"
    )


def report_parsing(figures: Figures) -> None:
    print(
        f"GUM dev, {figures['sentences']} sentences up to {figures['longest']} words, "
        f"{figures['threads']} thread(s): {figures['sentences_per_second']:.0f} sentences/s, "
        f"{figures['tokens_per_second']:.0f} tokens/s, F1 {figures['f1']:.2f}, "
        f"coverage {figures['coverage']:.2f}, peak memory {figures['peak']:.0f} MB"
    )


def report_growth(figures: Figures) -> None:
    print("one thread, time by length, mean and median:")
    for length, number, treebank, average, middle in figures["rows"]:
        times = f"{average:8.2f} {middle:8.2f} ms"
        print(f"  {length:>3} words  {times}  ({number} sentences of {treebank})")


TASKS: dict[str, Callable[..., Figures]] = {
    "train": train_model,
    "parse": parse_treebank,
    "grow": parse_by_length,
    "read": read_and_compare,
}

if __name__ == "__main__":
    if sys.argv[1:2] not in [[task] for task in TASKS]:
        no_options(__doc__)
        sys.exit(main())
    results = TASKS[sys.argv[1]](*sys.argv[2:])
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    results["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps(results))
