"""``lpcfg words``: vectors and clusters of words, learnt from text."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_quiet,
    add_reading,
    add_seed,
    check_target,
    count,
    progress,
    reading_options,
    report,
    several,
)
from lpcfg.cli._sentences import read_sentences
from lpcfg.lexicon.word_clusters import WordClusters
from lpcfg.treebank.cleaning import Cleaning
from lpcfg.treebank.reader import read_trees

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "learn vectors and clusters of words from text, and show them"
    group = commands.add_parser("words", help=about, description=about)
    actions = group.add_subparsers(required=True, metavar="action")
    _add_train(actions)
    _add_show(actions)


def _add_train(actions: Commands) -> None:
    defaults = WordClusters()
    parser = add_command(actions, "train", _train, "learn vectors and clusters of words from text")
    parser.add_argument(
        "text", nargs="*", help="files of sentences, one per line, gzipped or not; - for stdin"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    parser.add_argument(
        "--trees",
        nargs="+",
        default=[],
        metavar="TREEBANK",
        help="learn from the words of trees too",
    )
    parser.add_argument(
        "--clusters", type=several(count), default=list(defaults.n_clusters), metavar="N,N,N",
        dest="n_clusters",
        help="the numbers of clusters from coarse to fine (default: "
        f"{','.join(map(str, defaults.n_clusters))})",
    )  # fmt: skip
    for name, meaning in (
        ("dimensions", "the number of dimensions of vectors"),
        ("contexts", "the number of frequent words that are told apart as neighbours"),
        ("min_count", "words seen less often are left out"),
        ("max_words", "the largest number of words; the most frequent ones are kept"),
    ):
        default = getattr(defaults, name)
        parser.add_argument(
            f"--{name.replace('_', '-')}", type=count, default=default, metavar="N",
            help=f"{meaning} (default: {default})",
        )  # fmt: skip
    add_reading(parser)
    add_seed(parser, "the seed of the vectors")
    add_quiet(parser)


def _add_show(actions: Commands) -> None:
    parser = add_command(
        actions, "show", _show, "show the largest clusters, or the clusters and neighbours of words"
    )
    parser.add_argument("model", help="a file that lpcfg words train has written")
    parser.add_argument("word", nargs="*", help="words whose clusters and neighbours are shown")
    parser.add_argument(
        "-k", type=count, default=10, metavar="N", help="the number of neighbours (default: 10)"
    )


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    check_target(target, [*options.text, *options.trees])
    model = WordClusters(
        tuple(options.n_clusters),
        dimensions=options.dimensions,
        contexts=options.contexts,
        min_count=options.min_count,
        max_words=options.max_words,
        random_state=options.seed,
    )
    model.fit(progress(_sentences(options), options.quiet, unit=" sentences"))
    model.save(target)
    report(
        f"{model.summary(0)}\nsaved to {target}, {target.stat().st_size / 1e6:.1f} MB",
        options.quiet,
    )


def _sentences(options: argparse.Namespace) -> Iterator[Sequence[str]]:
    for name in options.text:
        yield from read_sentences(name, options.quiet)
    cleaning = Cleaning()
    for name in options.trees:
        for tree in read_trees(name, **reading_options(options)):
            cleaned = cleaning.clean(tree)
            if cleaned is not None:
                yield cleaned.words()


def _show(options: argparse.Namespace) -> None:
    model = WordClusters.load(options.model)
    if not options.word:
        print(model.summary())
    for word in options.word:
        clusters = model.clusters(word)
        if clusters is None:
            print(f"{word}: not among the {len(model.words_)} words")
            continue
        print(f"{word}: clusters {' '.join(map(str, clusters))}")
        for neighbour, cosine in model.neighbours(word, options.k):
            print(f"  {cosine:.3f}  {neighbour}")
