"""Running text as the input of ``lpcfg parse --raw``, and a hint for those who forgot ``--raw``."""

from __future__ import annotations

import argparse
import io
from collections.abc import Container, Iterable, Iterator

from lpcfg.cli._sentences import is_stream, open_input
from lpcfg.errors import InputError
from lpcfg.parsing.base import BATCH, BaseParser
from lpcfg.parsing.parse import TextParse
from lpcfg.text.segmentation import PARAGRAPHS
from lpcfg.treebank.sources import source_name

__all__ = ["add_raw", "parse_raw", "untokenised_word"]

#: Punctuation that tokenised text separates from words.
_PUNCTUATION = ".,;:!?"


_LANGUAGE = "en"


def add_raw(parser: argparse.ArgumentParser) -> None:
    """Declare ``--raw`` and its options.

    >>> parser = argparse.ArgumentParser()
    >>> add_raw(parser)
    >>> parser.parse_args(["--raw", "--language", "de"]).language
    'de'
    """
    parser.add_argument(
        "--raw",
        action="store_true",
        help="the input is running text: find its sentences and words (extra: text)",
    )
    parser.add_argument(
        "--language", metavar="CODE", help=f"the language of --raw (default: {_LANGUAGE})"
    )
    parser.add_argument(
        "--paragraphs",
        choices=PARAGRAPHS,
        help="what ends a paragraph of --raw: each line end, or a blank line "
        f"(default: {PARAGRAPHS[0]})",
    )


def parse_raw(parser: BaseParser, options: argparse.Namespace) -> Iterator[TextParse]:
    """The parses of the sentences of the inputs; offsets count from the beginning of each.

    >>> options = argparse.Namespace(input=["missing.txt"])
    >>> next(parse_raw(None, options))
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'missing.txt'
    """
    for name in options.input:
        with open_input(name) as file:
            # Line ends are kept as they are, because offsets count their characters.
            lines = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
            try:
                yield from parser.parse_text(
                    lines,
                    language=options.language or _LANGUAGE,
                    paragraphs=options.paragraphs or PARAGRAPHS[0],
                    candidates=options.candidates,
                    # Whoever writes to a pipe may wait for the answer.
                    batch_size=1 if is_stream(name) else BATCH,
                )
            except UnicodeDecodeError:
                raise InputError(
                    "the text is not UTF-8; convert it first, for example with iconv -t UTF-8",
                    path=source_name(name),
                ) from None
            finally:
                # The wrapper would close standard input with itself.
                lines.detach()


def untokenised_word(words: Iterable[str], vocabulary: Container[str]) -> str | None:
    """A word of a sentence that is not tokenised, None if there is none.

    It is an unknown word that would be known without the punctuation at its end.

    >>> untokenised_word(["Go!"], {"Go", "!"}), untokenised_word(["Go", "!"], {"Go", "!"})
    ('Go!', None)
    """
    for word in words:
        bare = word.rstrip(_PUNCTUATION)
        if bare not in ("", word) and word not in vocabulary and bare in vocabulary:
            return word
    return None
