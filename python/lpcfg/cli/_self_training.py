"""``lpcfg train --unlabelled``: text that a teacher parses, as further training trees."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TypedDict

from lpcfg.cli._common import number, progress, report
from lpcfg.cli._presets import train_preset
from lpcfg.errors import InputError
from lpcfg.estimators.presets import PRESETS
from lpcfg.lexicon.options import LexiconOptions
from lpcfg.semi_supervised.self_training import check_mixing, label_text, mixed_treebank
from lpcfg.treebank.treebank import Treebank

__all__ = ["add_self_training", "add_text", "check_self_training"]

#: The ensemble that is trained if no teacher is given.
_TEACHER = "accurate"

_GOLD_WEIGHT = 3.0


def add_self_training(group: argparse._ArgumentGroup) -> None:
    """Declare the options of self-training.

    >>> parser = argparse.ArgumentParser()
    >>> add_self_training(parser.add_argument_group("unlabelled text"))
    >>> parser.parse_args(["--unlabelled", "a.txt", "b.txt.gz"]).unlabelled
    ['a.txt', 'b.txt.gz']
    """
    group.add_argument(
        "--unlabelled",
        nargs="+",
        metavar="TEXT",
        help="learn from this text too, one sentence per line, words separated by spaces: a "
        "teacher parses it, and its trees are kept in a folder (--labelled)",
    )
    group.add_argument(
        "--labelled",
        metavar="FOLDER",
        help="the folder of the teacher's trees; what is there is not parsed again, so that "
        "several students learn from one folder (default: MODEL.labelled)",
    )
    group.add_argument(
        "--teacher",
        metavar="MODEL",
        help="the model or folder of models that parses the text (default: the preset "
        f"{_TEACHER}: {PRESETS[_TEACHER].description}, trained into MODEL.teacher)",
    )
    group.add_argument(
        "--teacher-dependencies",
        nargs="+",
        metavar="FILE",
        help="the tags and dependencies of the sentences of the text, in CoNLL-U or with the "
        "columns word, tag, head and relation, for a teacher that was trained with --dependencies",
    )
    group.add_argument(
        "--gold-weight",
        type=number,
        metavar="W",
        help="how many trees of the teacher count as much as a tree of the treebank (default: "
        f"{_GOLD_WEIGHT:g})",
    )
    group.add_argument(
        "--min-confidence",
        type=number,
        metavar="P",
        help="leave out trees of the teacher whose phrases have a lower mean posterior "
        "(default: 0, keep all)",
    )


def check_self_training(options: argparse.Namespace) -> None:
    """Raise an InputError for options without effect, and for values that cannot be used.

    >>> check_self_training(argparse.Namespace(unlabelled=None, teacher="m"))
    Traceback (most recent call last):
    lpcfg.errors.InputError: --teacher does nothing without --unlabelled
    """
    if options.unlabelled:
        check_mixing(**_mixing(options))
        return
    for name in ("labelled", "teacher", "teacher_dependencies", "gold_weight", "min_confidence"):
        if getattr(options, name, None) is not None:
            flag = f"--{name.replace('_', '-')}"
            raise InputError(f"{flag} does nothing without --unlabelled", argument=flag)


def add_text(
    treebank: Treebank, target: Path, options: argparse.Namespace, lexicon: LexiconOptions
) -> Treebank:
    """The trees of the treebank together with the trees of a teacher over the text."""
    teacher = options.teacher
    if teacher is None:
        teacher = target.with_name(f"{target.name}.teacher")
        train_preset(_TEACHER, treebank, teacher, options, lexicon)
    labelled = Path(options.labelled or target.with_name(f"{target.name}.labelled"))
    found = label_text(
        teacher,
        options.unlabelled,
        labelled,
        dependencies=options.teacher_dependencies,
        n_jobs=options.jobs,
        progress=lambda parts: progress(parts, options.quiet, unit=" parts"),
    )
    mixed = mixed_treebank(treebank, labelled, **_mixing(options))
    kept = len(mixed) - len(treebank)
    report(
        f"{found.sentences} sentences parsed into {labelled}, of which {kept} are kept; {mixed}",
        options.quiet,
    )
    return mixed


class _Mixing(TypedDict):
    gold_weight: float
    min_confidence: float


def _mixing(options: argparse.Namespace) -> _Mixing:
    """What the options say of the weight and the choice of trees."""
    return {
        "gold_weight": _GOLD_WEIGHT if options.gold_weight is None else options.gold_weight,
        "min_confidence": options.min_confidence or 0.0,
    }
