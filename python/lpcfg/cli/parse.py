"""``lpcfg parse``: parse sentences."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from lpcfg.cli._answers import Answers, add_output_format
from lpcfg.cli._common import (
    Commands,
    add_command,
    add_parsing,
    add_quiet,
    check_target,
    count,
    file_path,
    load_parser,
    progress,
    report,
)
from lpcfg.cli._conllu import add_input_format, is_conllu, read_conllu_groups
from lpcfg.cli._corpus import add_corpus, check_no_corpus, run_corpus
from lpcfg.cli._messages import with_options
from lpcfg.cli._raw_text import add_raw, parse_raw, untokenised_word
from lpcfg.cli._sentences import Line, count_lines, is_stream, read_line_groups
from lpcfg.datasets.embedded import embedded_models
from lpcfg.errors import InputError, NotAModelError
from lpcfg.io.replacing import replacing
from lpcfg.parsing.base import BaseParser, Tags

if TYPE_CHECKING:
    from lpcfg.sequence.tagger import Tagger

__all__ = ["add"]


def add(commands: Commands) -> None:
    """Declare the command.

    >>> add(argparse.ArgumentParser().add_subparsers())
    """
    parser = add_command(
        commands, "parse", _parse, "parse sentences, one per line, words separated by spaces"
    )
    parser.add_argument(
        "model",
        nargs="?",
        type=file_path,
        help="a model file, or the folder of an ensemble, of a reranker or of several models "
        "(default: english, the model that comes with lpcfg)",
    )
    parser.add_argument(
        "-i",
        "--input",
        nargs="+",
        type=file_path,
        default=["-"],
        metavar="FILE",
        help="sentences, in files that may be gzipped; - for standard input (the default). A blank "
        "line gives the empty tree (()), so that line numbers agree",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=file_path,
        metavar="FILE",
        help="the file to write (default: standard output); it appears when it is complete, and "
        "after an error FILE.partial has the trees up to there. With --corpus, a folder",
    )
    parser.add_argument(
        "--on-error",
        choices=("raise", "skip", "empty"),
        default="raise",
        help="what to do with a line that is not UTF-8 or has an unknown tag: stop after the trees "
        "of the lines before it (the default), leave it out, or write an empty tree for it",
    )
    tagging = parser.add_mutually_exclusive_group()
    tagging.add_argument(
        "--tags",
        action="store_true",
        help="the input is tags, not words; with CoNLL-U, its tags are used beside its words",
    )
    tagging.add_argument(
        "--tagger",
        type=file_path,
        metavar="FILE",
        help="a tagger's model file: tags with a high probability are fixed",
    )
    add_raw(parser)
    add_input_format(parser)
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--pretty", action="store_true", help="draw the trees")
    form.add_argument(
        "--json", action="store_true", help="one JSON object per line, with probabilities of spans"
    )
    add_output_format(form)
    parser.add_argument(
        "-k", "--candidates", type=count, default=1, metavar="K",
        help="with --json, the K best trees",
    )  # fmt: skip
    add_corpus(parser, form)
    add_parsing(parser)
    add_quiet(parser)


def _parse(options: argparse.Namespace) -> None:
    if options.candidates > 1 and not options.json:
        raise InputError(
            "several trees for a sentence can only be written with --json", argument="-k"
        )
    if options.corpus:
        run_corpus(options)
        return
    check_no_corpus(options)
    conllu = is_conllu(options)
    for name in ("language", "paragraphs"):
        if getattr(options, name) and not options.raw:
            raise InputError("does nothing without --raw", argument=f"--{name}")
    if options.raw and (options.tags or options.tagger):
        raise InputError(
            "running text has no tags: leave out --tags and --tagger", argument="--raw"
        )
    if options.output:
        inputs = [*options.input, *filter(None, [options.model, options.tagger])]
        check_target(Path(options.output), inputs)
    parser = _load_model(options)
    tagger = _load_tagger(options) if options.tagger else None
    work = _Work(parser, tagger, options, conllu, Answers(options))
    with ExitStack() as stack:
        output: TextIO = sys.stdout
        if options.output:
            temporary = stack.enter_context(replacing(options.output, partial=True))
            output = stack.enter_context(temporary.open("w", encoding="utf-8"))
        typed = options.input == ["-"] and sys.stdin.isatty()
        quiet = options.quiet or typed
        shown = quiet or not sys.stderr.isatty()
        total = None if shown or options.raw or conllu else count_lines(options.input)
        streaming = any(map(is_stream, options.input))
        output.write(work.answer.header)
        for answer in progress(work.texts(streaming, output), quiet, total=total):
            if answer is not None:
                output.write(answer)
    work.report_problems()


def _load_tagger(options: argparse.Namespace) -> Tagger:
    # Imported here, because most calls need no tagger and would wait for its modules.
    from lpcfg.cli.tag import load_tagger

    return load_tagger(options.tagger, options.jobs)


def _load_model(options: argparse.Namespace) -> BaseParser:
    if options.model is None:
        return load_parser(embedded_models()["english"], options)
    try:
        return load_parser(options.model, options)
    except NotAModelError as error:
        if not Path(options.model).is_file():
            raise
        raise InputError(
            f"not a model file; to parse its sentences: lpcfg parse -i {options.model}",
            path=error.path,
        ) from None


@dataclass
class _Work:
    """The answers to lines of sentences, and the numbers of lines that could not be parsed."""

    parser: BaseParser
    tagger: Tagger | None
    options: argparse.Namespace
    conllu: bool
    answer: Answers
    lines: int = 0
    problems: int = 0
    first_problem: str = ""
    hinted: bool = False

    def texts(self, streaming: bool, output: TextIO) -> Iterator[str | None]:
        """The text to print for each line; None for a line that is left out."""
        if self.options.raw:
            for parsed in parse_raw(self.parser, self.options):
                yield self.answer(parsed.parse, parsed.sentence)
                if streaming:
                    output.flush()
            return
        options = self.options
        if self.conllu:
            groups = read_conllu_groups(options)
        else:
            groups = read_line_groups(options.input, options.quiet)
        for group in groups:
            yield from self._group(group)
            if streaming:
                # Whoever writes to the pipe may wait for the answer.
                output.flush()

    def _group(self, lines: Sequence[Line]) -> Iterator[str | None]:
        if self.options.tags:
            lines = [self._with_checked_tags(line) for line in lines]
        bad = next((at for at, line in enumerate(lines) if line.problem is not None), None)
        if bad is not None and self.options.on_error == "raise":
            # Finished work is not lost: the lines before the bad one are parsed first.
            yield from self._group(lines[:bad])
            raise InputError(lines[bad].problem or "", path=lines[bad].file, line=lines[bad].number)
        self._hint_at_raw(lines)
        answers = self._answers([line for line in lines if line.words])
        for line in lines:
            self.lines += 1
            if line.problem is not None:
                self.problems += 1
                self.first_problem = self.first_problem or f"{line.place}: {line.problem}"
                yield self.answer(None) if self.options.on_error == "empty" else None
            else:
                yield next(answers) if line.words else self.answer(None, line.origin)

    def _hint_at_raw(self, lines: Sequence[Line]) -> None:
        """Report the first line that is not tokenised."""
        for line in () if self.hinted or self.options.tags else lines:
            word = untokenised_word(line.words, self.parser.grammar.lexicon)
            if word is not None:
                self.hinted = True
                report(
                    f"lpcfg: {line.place} has {word!r} as one word; "
                    "if this is running text, use --raw",
                    self.options.quiet,
                )
                return

    def _with_checked_tags(self, line: Line) -> Line:
        try:
            self.parser.check_tags(line.words if line.tags is None else line.tags)
        except InputError as error:
            problem = with_options(error.message, {"tags": "--tags"})
            return Line(line.file, line.number, [], problem)
        return line

    def _answers(self, lines: Sequence[Line]) -> Iterator[str]:
        """The text for each line that has words."""
        tags, words = self._input(lines)
        if self.answer.in_brackets:
            trees = self.parser.parse_to_brackets(tags, words=words)
            return (f"{tree}\n" for tree in trees)
        parses = self.parser.analyze_many(tags, words=words, candidates=self.options.candidates)
        origins = (line.origin for line in lines)
        return map(self.answer, parses, origins)

    def _input(self, lines: Sequence[Line]) -> tuple[list[Tags] | None, list[list[str]] | None]:
        """The tags of lines, their words, or both."""
        sentences = [line.words for line in lines]
        if self.options.tags and self.conllu:
            return [line.tags or [] for line in lines], sentences
        if self.options.tags:
            return list(sentences), None
        if self.tagger is None:
            return None, sentences
        known = self.parser.tags
        # Tags that the grammar does not have would be errors.
        tags: list[Tags] = [
            [tag if tag in known else None for tag in sentence]
            for sentence in self.tagger.sure_tags(sentences)
        ]
        return tags, sentences

    def report_problems(self) -> None:
        """Print the numbers of lines, if some could not be parsed."""
        if self.problems:
            done = "skipped" if self.options.on_error == "skip" else "answered by empty trees"
            report(
                f"lpcfg: {self.lines} lines read, {self.problems} of them bad and {done}; "
                f"the first: {self.first_problem}",
                self.options.quiet,
            )
