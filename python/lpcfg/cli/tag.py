"""``lpcfg tag``: learn a part-of-speech tagger, tag sentences, score the result."""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_reading,
    check_target,
    progress,
    reading_options,
    report,
)
from lpcfg.cli._sentences import read_sentences
from lpcfg.evaluation.tag_scores import evaluate_tagger
from lpcfg.formats.dependencies import Dependencies
from lpcfg.sequence.tagged_text import with_tagged_text
from lpcfg.sequence.tagger import BATCH, Tagger
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import ReadReport
from lpcfg.treebank.treebank import Treebank

__all__ = ["add", "load_tagger"]


def add(commands: Commands) -> None:
    """Declare the command and its subcommands.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "learn part-of-speech tags from a treebank, and tag sentences"
    below = commands.add_parser("tag", help=about, description=about).add_subparsers(
        required=True, metavar="command"
    )
    _add_train(below)
    _add_apply(below)
    _add_eval(below)


def _add_train(commands: Commands) -> None:
    parser = add_command(commands, "train", _train, "learn a tagger from a treebank")
    parser.add_argument(
        "treebank", nargs="+", help="files, folders or patterns of bracketed trees; - for stdin"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    parser.add_argument(
        "--tagged-text",
        nargs="+",
        metavar="FILE",
        help="learn from tagged text too, in CoNLL-U or as word, tag, head, relation",
    )
    add_reading(parser)
    add_quiet(parser)


def _add_apply(commands: Commands) -> None:
    about = "tag sentences, one per line, words separated by spaces"
    parser = add_command(commands, "apply", _apply, about)
    parser.add_argument("model", help="a model file of a tagger")
    parser.add_argument(
        "-i", "--input", default="-", metavar="FILE", help="sentences (default: standard input)"
    )
    parser.add_argument(
        "--tags", action="store_true", help="print only tags, which lpcfg parse --tags reads"
    )
    add_jobs(parser)
    add_quiet(parser)


def _add_eval(commands: Commands) -> None:
    parser = add_command(
        commands, "eval", _evaluate, "tag the sentences of a treebank, and score the tags"
    )
    parser.add_argument("model", help="a model file of a tagger")
    parser.add_argument("treebank", nargs="+", help="gold trees: files, folders, patterns, -")
    parser.add_argument("--json", action="store_true", help="everything as one JSON object")
    add_reading(parser)
    add_jobs(parser)
    add_quiet(parser)


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    check_target(target, options.treebank)
    treebank = _treebank(options, Cleaning())
    if options.tagged_text:
        treebank = with_tagged_text(treebank, Dependencies.read(options.tagged_text))
    tagger = Tagger().fit(treebank)
    tagger.save(target)
    report(
        f"tagger: {len(tagger.tags_)} tags, {len(tagger.lexicon_.words)} words and "
        f"{len(tagger.lexicon_.classes)} classes of unknown words\n"
        f"saved to {target}, {target.stat().st_size / 1e6:.1f} MB",
        options.quiet,
    )


def _treebank(options: argparse.Namespace, cleaning: Cleaning) -> Treebank:
    read_report = ReadReport()
    treebank = Treebank.read(
        options.treebank, cleaning=cleaning, **reading_options(options), report=read_report
    )
    report(str(read_report), options.quiet)
    return treebank


def load_tagger(path: str, jobs: int) -> Tagger:
    """Load a tagger, and set its number of threads.

    >>> load_tagger("missing.lpcfg", 1)
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.lpcfg'
    """
    tagger = Tagger.load(path)
    tagger.n_jobs = jobs
    return tagger


def _apply(options: argparse.Namespace) -> None:
    tagger = load_tagger(options.model, options.jobs)
    typed = options.input == "-" and sys.stdin.isatty()
    sentences = progress(read_sentences(options.input, options.quiet), options.quiet or typed)
    for words, tags in _tagged(tagger, sentences, typed):
        shown = tags if options.tags else map("{}_{}".format, words, tags)
        print(*shown, flush=typed)


def _tagged(
    tagger: Tagger, sentences: Iterable[list[str]], typed: bool
) -> Iterator[tuple[list[str], list[str]]]:
    """The words and tags of all lines; blank lines give no words, so that lines correspond."""
    waiting: deque[list[str]] = deque()

    def nonblank() -> Iterator[list[str]]:
        for words in sentences:
            waiting.append(words)
            if words:
                yield words

    # Typed input is tagged line by line.
    for tags in tagger.tag_many(nonblank(), batch_size=1 if typed else BATCH):
        while not (words := waiting.popleft()):
            yield [], []
        yield words, tags
    yield from (([], []) for _ in waiting)


def _evaluate(options: argparse.Namespace) -> None:
    tagger = load_tagger(options.model, options.jobs)
    treebank = _treebank(options, tagger.cleaning_)

    def watched(tags: Iterable[list[str]]) -> Iterable[list[str]]:
        return progress(tags, options.quiet, total=len(treebank))

    scores = evaluate_tagger(tagger, treebank, watched)
    print(json.dumps(scores.to_dict()) if options.json else scores)
