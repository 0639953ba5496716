"""Parses, marginals and scores as tables of pandas."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from lpcfg.errors import InputError, MissingPackageError
from lpcfg.evaluation.counts import BracketCounts
from lpcfg.evaluation.parser_scores import Evaluation
from lpcfg.evaluation.scores import Scores
from lpcfg.parsing.parse import Parse, TextParse

if TYPE_CHECKING:
    import pandas

__all__ = ["to_pandas"]

_SPAN_COLUMNS = ("sentence", "label", "start", "end", "probability", "preterminal", "text")


def to_pandas(
    results: Parse
    | TextParse
    | Iterable[Parse | TextParse]
    | np.ndarray[Any, Any]
    | Scores
    | Evaluation
    | Mapping[str, BracketCounts],
) -> pandas.DataFrame:
    r"""Parses, marginals or scores as a ``pandas.DataFrame``.

    This needs ``pip install 'lpcfg[pandas]'``.

    Parameters
    ----------
    results : parses, marginals or scores
        - a :class:`~lpcfg.Parse`, a :class:`~lpcfg.TextParse`, or many of them: a row for each
          labelled span, with the number of its sentence (from 0), its words, its probability, and
          whether it is a preterminal; parses of running text have the offsets of the span too;
        - the table of :meth:`Parser.marginals <lpcfg.BaseParser.marginals>`: a row for each row;
        - :class:`~lpcfg.Scores`, or the :class:`~lpcfg.Evaluation` of a parser: a row for each
          sentence, with counts and scores in percent;
        - ``scores.by_label`` or ``scores.by_length``: a row for each label or length.

    Examples
    --------
    >>> from lpcfg import Grammar, Parser
    >>> parser = Parser(Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'"))
    >>> frame = to_pandas(parser.analyze_many(words=[["it", "rained"], ["it", "rained"]]))
    >>> frame[frame.label == "NP"][["sentence", "start", "end", "text"]].values.tolist()
    [[0, 0, 1, 'it'], [1, 0, 1, 'it']]

    """
    pandas = _pandas()
    if isinstance(results, Evaluation):
        results = results.scores
    if isinstance(results, Scores):
        rows = (
            {"length": row.length, **row.to_dict(), "exact": row.exact}
            for row in results.by_sentence
        )
        return pandas.DataFrame(list(rows)).rename_axis("sentence")
    if isinstance(results, np.ndarray):
        return _table(pandas, results)
    if isinstance(results, Mapping):
        rows = (counts.to_dict() for counts in results.values())
        return pandas.DataFrame(list(rows), index=list(results))
    if isinstance(results, (Parse, TextParse)):
        results = [results]
    if not isinstance(results, Iterable):
        raise InputError(
            f"expected parses, marginals or scores, not {results!r}", argument="results"
        )
    return _spans(pandas, results)


def _table(pandas: Any, table: np.ndarray[Any, Any]) -> pandas.DataFrame:  # noqa: ANN401
    if table.dtype.names is None:
        raise InputError(
            "expected the table of Parser.marginals, not another array", argument="results"
        )
    frame: pandas.DataFrame = pandas.DataFrame({name: table[name] for name in table.dtype.names})
    return frame


def _spans(pandas: Any, parses: Iterable[Parse | TextParse]) -> pandas.DataFrame:  # noqa: ANN401
    rows: list[tuple[Any, ...]] = []
    offsets: list[tuple[int, int]] = []
    for number, result in enumerate(parses):
        if not isinstance(result, (Parse, TextParse)):
            raise InputError(
                f"expected parses, marginals or scores, not {result!r}", argument="results"
            )
        parse = result.parse if isinstance(result, TextParse) else result
        rows += ((number, *row) for row in _rows(parse))
        if isinstance(result, TextParse):
            tokens = result.tokens
            offsets += (
                (tokens[span.start].start, tokens[span.end - 1].end) for span in parse.spans
            )
    frame: pandas.DataFrame = pandas.DataFrame(rows, columns=list(_SPAN_COLUMNS))
    if offsets and len(offsets) == len(rows):
        frame["text_start"], frame["text_end"] = zip(*offsets, strict=True)
    return frame


def _rows(parse: Parse) -> Iterator[tuple[str, int, int, float, bool, str]]:
    words = parse.tree.words()
    for span, node in zip(parse.spans, parse.tree.nodes(), strict=True):
        yield *span, node.is_preterminal, " ".join(words[span.start : span.end])


def _pandas() -> Any:  # noqa: ANN401 - pandas has no types
    try:
        import pandas
    except ImportError as error:
        raise MissingPackageError(
            "a table of parses or scores", package="pandas", extra="pandas"
        ) from error
    return pandas
