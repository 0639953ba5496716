"""Files with one sentence a line, as EVALB reads them and many parsers write them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from lpcfg._core import BracketReader
from lpcfg.forest import Forest
from lpcfg.sources import Source, read_chunks, source_name
from lpcfg.tree import Tree

__all__ = ["read_sentence_lines"]


def read_sentence_lines(source: Source) -> Iterator[tuple[Tree, ...]]:
    r"""Read the trees on each line: one as a rule, none on a blank line, fragments on others.

    Line numbers align a file of parses with its gold trees even where a parser gave up and left
    a line blank, which :func:`lpcfg.reader.read_trees` cannot know. An empty tree, ``(())``, is
    no tree either. A tree over several lines belongs to its last one.

    >>> import io
    >>> for trees in read_sentence_lines(io.BytesIO(b"(NN rain)\n\n(())\n(DT a) (NN cat)\n")):
    ...     print([str(tree) for tree in trees])
    ['(NN rain)']
    []
    []
    ['(DT a)', '(NN cat)']
    """
    reader = BracketReader(True, False)
    reader.start(source_name(source))
    for line in _lines(read_chunks(source)):
        reader.feed(line)
        yield tuple(tree for tree in Forest(*reader.take()).trees() if tree is not None)
    reader.finish()


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line + b"\n" for line in lines)
    if rest:
        yield rest
