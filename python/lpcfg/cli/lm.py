"""``lpcfg lm``: language models."""

from __future__ import annotations

import argparse
import json
from itertools import chain
from pathlib import Path

from lpcfg.cli._common import (
    Commands,
    add_command,
    add_jobs,
    add_quiet,
    add_seed,
    check_target,
    count,
    progress,
    report,
)
from lpcfg.cli._sentences import read_sentences
from lpcfg.lm.aggregate_bigram import METHODS, AggregateBigram

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    about = "language models: bigrams with latent states"
    group = commands.add_parser("lm", help=about, description=about)
    actions = group.add_subparsers(required=True, metavar="action")
    _add_train(actions)
    _add_perplexity(actions)


def _add_train(actions: Commands) -> None:
    defaults = AggregateBigram(64)
    parser = add_command(actions, "train", _train, "learn an aggregate bigram model from text")
    parser.add_argument(
        "text", help="a file of words separated by white space; - for standard input"
    )
    parser.add_argument("-o", "--output", required=True, metavar="MODEL", help="the file to write")
    parser.add_argument(
        "--states", type=count, default=defaults.n_states, metavar="M",
        help=f"the number of latent states (default: {defaults.n_states})",
    )  # fmt: skip
    parser.add_argument(
        "--method",
        choices=METHODS,
        default=METHODS[-1],
        help="EM from a random start, the pivot method, or EM that starts from its result "
        f"(default: {METHODS[-1]})",
    )
    parser.add_argument(
        "--held-out",
        metavar="TEXT",
        help="a file of words on which the best iteration of EM is chosen",
    )
    parser.add_argument(
        "--min-count", type=count, default=defaults.min_count, metavar="N",
        help=f"words seen less often are unknown (default: {defaults.min_count})",
    )  # fmt: skip
    add_seed(parser, "the seed of the random starts")
    add_jobs(parser)
    add_quiet(parser)


def _add_perplexity(actions: Commands) -> None:
    parser = add_command(
        actions, "perplexity", _perplexity, "the perplexity of a text under a model"
    )
    parser.add_argument("model", help="a model that lpcfg lm train has written")
    parser.add_argument(
        "text", nargs="?", default="-", help="a file of words (default: standard input)"
    )
    parser.add_argument("--json", action="store_true", help="as a JSON object")


def _train(options: argparse.Namespace) -> None:
    target = Path(options.output)
    check_target(target, [options.text, *filter(None, [options.held_out])])
    model = AggregateBigram(
        options.states,
        min_count=options.min_count,
        n_jobs=options.jobs,
        random_state=options.seed,
        progress=lambda steps: progress(steps, options.quiet, unit=" iterations"),
    )
    held_out = None if options.held_out is None else _corpus(options.held_out)
    model.fit(_corpus(options.text), options.method, held_out)
    model.save(target)
    report(
        f"{len(model.vocabulary_.words)} words, {options.states} states, {model.iterations_} "
        f"iterations of EM\nsaved to {target}, {target.stat().st_size / 1e6:.1f} MB",
        options.quiet,
    )


def _perplexity(options: argparse.Namespace) -> None:
    perplexity = AggregateBigram.load(options.model).perplexity(_corpus(options.text))
    print(json.dumps({"perplexity": perplexity}) if options.json else f"{perplexity:.2f}")


def _corpus(name: str) -> list[list[str]]:
    """The whole file as one text: bigrams cross the ends of lines."""
    return [list(chain.from_iterable(read_sentences(name)))]
