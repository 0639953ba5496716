"""Parse a corpus into a folder, against plain ``lpcfg parse``: time, memory, bytes.

    python benches/corpus.py --sentences 1000000

The sentences of the corpus files are repeated until there are enough of them. Each way to parse is
a process of its own; its CPU time is that of all its threads and child processes. The memory is
that of the process tree after some parts of the run, and at its peak: flat memory means that they
are close. CPU times are comparable on a machine that others use too; wall times are not.
"""

import argparse
import glob
import gzip
import hashlib
import itertools
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

TEXTS = str(Path(__file__).parents[2] / "shared" / "corpora" / "amalgum-*.txt.gz")
FILES = 16
#: The parts of a run after which memory is shown.
MOMENTS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.95)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--texts", default=TEXTS, help="a pattern of gzipped files of sentences")
    parser.add_argument("--model", default="english")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--part-lines", type=int, default=10_000)
    parser.add_argument(
        "--ways",
        default="plain,threads,processes",
        help="of plain, threads, processes, json, parquet (the last two with processes)",
    )
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), options)


def run(folder, options):
    whole, lines = write_corpus(folder, options)
    parts = min(options.part_lines, -(-options.sentences // FILES))
    common = [sys.executable, "-m", "lpcfg", "parse", options.model, "-q"]
    corpus = [*common, "--corpus", str(folder / "corpus" / "*"), "--part-lines", str(parts)]
    threads = ["--jobs", str(options.jobs)]
    processes = ["--processes", str(options.jobs)]
    ways = {
        "plain": [*common, "-i", str(whole), *threads],
        "threads": [*corpus, *threads],
        "processes": [*corpus, *processes],
        "json": [*corpus, *processes, "--json"],
        "parquet": [*corpus, *processes, "--parquet"],
    }
    moments = " | ".join(f"MB at {moment:.0%}" for moment in MOMENTS)
    print(f"| way | wall s | CPU s | sentences / CPU s | {moments} | peak MB | output MB |")
    print("| --- | --- | --- | --- |" + " --- |" * len(MOMENTS) + " --- | --- |")
    trees = {}
    for way in options.ways.split(","):
        target = folder / way
        command = ways[way] if way == "plain" else [*ways[way], "-o", str(target)]
        wall, cpu, memory = measure(command, folder / "plain.trees", way == "plain")
        paths = [folder / "plain.trees"] if way == "plain" else sorted((target / "parts").iterdir())
        size = sum(path.stat().st_size for path in paths) / 1e6
        megabytes = " | ".join(f"{value:.0f}" for value in memory)
        cells = f"{wall:.0f} | {cpu:.0f} | {lines / cpu:.0f} | {megabytes} | {size:.1f}"
        print(f"| {way} | {cells} |", flush=True)
        if way in ("plain", "threads", "processes"):
            trees[way] = digest(paths)
    # All ways give the same trees in the same order.
    assert len(set(trees.values())) <= 1, trees


def write_corpus(folder, options):
    """The sentences in one plain file, and in gzipped ones; their number."""
    (folder / "corpus").mkdir()
    names = sorted(glob.glob(options.texts))  # noqa: PTH207 - an absolute pattern
    if not names:
        sys.exit(f"no file matches {options.texts}")
    sentences = [
        line for name in names for line in gzip.decompress(Path(name).read_bytes()).splitlines()
    ]
    # From all over the corpus, which begins with the longest sentences.
    step = max(1, len(sentences) // options.sentences)
    chosen = list(itertools.islice(itertools.cycle(sentences[::step]), options.sentences))
    whole = folder / "whole.txt"
    whole.write_bytes(b"".join(line + b"\n" for line in chosen))
    size = -(-len(chosen) // FILES)
    for number in range(FILES):
        text = b"".join(line + b"\n" for line in chosen[number * size : (number + 1) * size])
        (folder / "corpus" / f"{number:02}.txt.gz").write_bytes(gzip.compress(text))
    return whole, len(chosen)


def measure(command, target, write):
    """Wall and CPU seconds, and the memory after parts of the time and at its peak."""
    started = time.monotonic()
    cpu, samples = {}, []
    with (target if write else Path(os.devnull)).open("wb") as output:
        process = subprocess.Popen(command, stdout=output)
        root = psutil.Process(process.pid)
        while process.poll() is None:
            memory = 0
            for member in family(root):
                try:
                    memory += member.memory_info().rss
                    times = member.cpu_times()
                    cpu[member.pid] = times.user + times.system
                except psutil.NoSuchProcess:
                    continue
            samples.append((time.monotonic() - started, memory / 1e6))
            time.sleep(0.1)
    assert process.returncode == 0, command
    wall = time.monotonic() - started
    memory = [
        next(value for moment, value in samples if moment >= part * samples[-1][0])
        for part in MOMENTS
    ]
    return wall, sum(cpu.values()), [*memory, max(value for _, value in samples)]


def family(root):
    try:
        return [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def digest(paths):
    found = hashlib.sha256()
    for path in paths:
        data = path.read_bytes()
        found.update(gzip.decompress(data) if path.suffix == ".gz" else data)
    return found.hexdigest()


if __name__ == "__main__":
    main()
