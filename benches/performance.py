"""F1 and CPU time on four treebanks, and the time of start-up, threads and long sentences.

The treebanks are ``treebanks/{gum,craft,cess-esp,keyaki}/{train,dev}.mrg`` below the folder that
the environment variable LPCFG_SHARED names (default: ``shared`` next to the repository). Each
figure is that of a command in a process of its own, start-up included, in CPU seconds.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from development import SHARED, no_options

import lpcfg
from lpcfg.treebank.reader import read_forest

#: The options of training that a treebank needs.
TREEBANKS: dict[str, tuple[str, ...]] = {
    "gum": (),
    "craft": ("--on-error", "skip"),
    "cess-esp": ("--vertical", "0", "--horizontal", "0"),
    "keyaki": (),
}

#: The options of models of all treebanks.
MODELS: dict[str, tuple[str, ...]] = {
    "spectral": ("--estimator", "spectral"),
    "split-merge": ("--estimator", "split-merge"),
    "crf": ("--estimator", "crf"),
}

#: The options of models of GUM alone. The CRF learns from trees that branch to the left there.
GUM_MODELS: dict[str, tuple[str, ...]] = {
    **MODELS,
    "crf": (*MODELS["crf"], "--binarize", "left"),
    "clustering": ("--estimator", "clustering"),
    "accurate": ("--preset", "accurate", "--search", "0"),
}

#: The most CPU seconds of training.
MOST_SECONDS = {
    ("gum", "spectral"): 3,
    ("gum", "clustering"): 8,
    ("gum", "split-merge"): 10,
    ("gum", "crf"): 20,
}

#: The least number of sentences of a CPU second.
LEAST_RATES = {
    ("gum", "spectral"): 1000,
    ("gum", "split-merge"): 1000,
    ("gum", "accurate"): 400,
    ("craft", "spectral"): 800,
    ("cess-esp", "spectral"): 250,
    ("keyaki", "spectral"): 1500,
}

LONG = (1000, 5000)

#: How often what takes a moment is run; the best run counts.
RUNS = 5

#: How many copies of the sentences are parsed to compare numbers of threads.
COPIES = 4


class Usage(NamedTuple):
    """What a command took."""

    cpu: float
    wall: float
    megabytes: float


def main() -> int:
    if not (SHARED / "treebanks").exists():
        print(f"no treebanks in {SHARED}: name their folder in LPCFG_SHARED to time real data")
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        for lines in (train(folder), parse(folder), others(folder)):
            for line in lines:
                print(line, flush=True)
            print()
    return 0


def run(*arguments: str | Path) -> Usage:
    """Run ``lpcfg`` with these arguments."""
    command = [sys.executable, "-m", "lpcfg", *map(str, arguments)]
    # As in an installed package, modules are compiled once and not in every run.
    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    started = time.perf_counter()
    process = os.posix_spawn(sys.executable, command, environment)
    _, status, usage = os.wait4(process, 0)
    if status:
        raise RuntimeError(f"failed: {' '.join(command)}")
    wall = time.perf_counter() - started
    # Linux counts in kilobytes, macOS in bytes.
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return Usage(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / unit)


def treebank(name: str, part: str) -> Path:
    return SHARED / "treebanks" / name / f"{part}.mrg"


def models(name: str) -> dict[str, tuple[str, ...]]:
    """The models of a treebank, with the options of their training."""
    own = GUM_MODELS if name == "gum" else MODELS
    return {model: (*options, *TREEBANKS[name]) for model, options in own.items()}


def train(folder: Path) -> Iterator[str]:
    """Train all models, and write the sentences and gold trees of the development sets."""
    yield from table("treebank", "model", "CPU s", "at most", "MB")
    for name in TREEBANKS:
        if not treebank(name, "train").exists():
            continue
        for model, options in models(name).items():
            usage = run(
                "train", treebank(name, "train"), "-o", folder / f"{name}.{model}",
                "-j", "1", "-q", *options,
            )  # fmt: skip
            bound = str(MOST_SECONDS.get((name, model), ""))
            yield row(name, model, f"{usage.cpu:.1f}", bound, f"{usage.megabytes:.0f}")
            if not (folder / f"{name}.txt").exists():
                write_development_set(folder, name, folder / f"{name}.{model}")


def write_development_set(folder: Path, name: str, model: Path) -> None:
    grammar = lpcfg.Parser.load(model, n_jobs=1).grammar
    cleaned = grammar.cleaning.apply(read_forest(treebank(name, "dev"))).nonempty()
    gold = [tree for tree in cleaned.trees() if tree is not None]
    (folder / f"{name}.mrg").write_text("".join(f"{tree}\n" for tree in gold), "utf-8")
    sentences = "".join(" ".join(tree.words()) + "\n" for tree in gold)
    (folder / f"{name}.txt").write_text(sentences, "utf-8")


def parse(folder: Path) -> Iterator[str]:
    """Parse the development sets."""
    yield from table("treebank", "model", "F1", "sentences / CPU s", "at least")
    rates = {}
    trained = [(name, model) for name in TREEBANKS for model in models(name)]
    for name, model in trained:
        if not (folder / f"{name}.{model}").exists():
            continue
        output, sentences = folder / "out.mrg", folder / f"{name}.txt"
        usage = run(
            "parse", folder / f"{name}.{model}", "-i", sentences, "-o", output, "-j", "1", "-q"
        )
        f1 = lpcfg.evaluate(folder / f"{name}.mrg", output).f1
        rate = len(sentences.read_text("utf-8").splitlines()) / usage.cpu
        rates[name, model] = rate
        least = str(LEAST_RATES.get((name, model), ""))
        yield row(name, model, f"{f1:.2f}", f"{rate:.0f}", least)
    one, three = (rates.get(("gum", model)) for model in ("split-merge", "accurate"))
    if one and three:
        yield ""
        yield f"three members take {one / three:.1f} times the time of one (at most 2)"


def others(folder: Path) -> Iterator[str]:
    """Start-up, two threads, and long sentences, with the spectral grammar of GUM."""
    model, sentences = folder / "gum.spectral", folder / "gum.txt"
    if not model.exists():
        return
    one = folder / "one.txt"
    one.write_text("The dog saw him .\n")
    usages = [run("parse", "english", "-i", one, "-o", folder / "out") for _ in range(RUNS)]
    cpu, wall = (min(column) for column in list(zip(*usages, strict=True))[:2])
    yield (
        f"start-up of lpcfg parse with the embedded model: {cpu:.2f} CPU s, "
        f"{wall:.2f} s (at most 0.25)"
    )
    # Enough sentences for start-up, on one thread, to matter little.
    many = folder / "many.txt"
    many.write_text(COPIES * sentences.read_text("utf-8"), "utf-8")
    texts, walls = [], []
    for threads in ("1", "2"):
        own = []
        for _ in range(RUNS):
            usage = run("parse", model, "-i", many, "-o", folder / "out", "-j", threads, "-q")
            own.append(usage.wall)
        texts.append((folder / "out").read_bytes())
        # Other processes make a run slower, and none makes it faster.
        walls.append(min(own))
    same = "the same" if texts[0] == texts[1] else "ANOTHER"
    yield f"two threads: {walls[0] / walls[1]:.2f} times as fast (at least 1.8), {same} output"
    words = sentences.read_text("utf-8").split()
    for length in LONG:
        one.write_text(" ".join(words[:length]) + "\n", "utf-8")
        for options in ([], ["--max-length", str(length)]):
            usage = run("parse", model, "-i", one, "-o", folder / "out", "-j", "1", "-q", *options)
            how = "as a whole" if options else "in parts"
            yield f"{length} words {how}: {usage.cpu:.2f} CPU s, {usage.megabytes:.0f} MB"


def table(*names: str) -> Iterator[str]:
    yield row(*names)
    yield "|" + "---|" * len(names)


def row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    no_options(__doc__)
    sys.exit(main())
