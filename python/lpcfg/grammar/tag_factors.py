"""What the spelling of unknown words says of their tags, as factors of emission probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lpcfg.grammar.grammar import Grammar
from lpcfg.lexicon.spelling_features import SpeltWord

__all__ = ["tag_factors"]

#: The row of a word without tag factors.
_NO_FACTORS = np.iinfo(np.uint32).max


def tag_factors(
    grammar: Grammar,
    words: Sequence[str],
    offsets: NDArray[np.int64],
    emissions: NDArray[np.int32],
) -> tuple[NDArray[np.uint32], NDArray[np.float32]] | None:
    """For each word a row of a table of factors, and the table, with a column for each tag.

    ``words``, ``offsets``: the words of all sentences, and where sentences begin.
    ``emissions``: the ids of the words in the lexicon of the grammar.

    Words that are known have the largest number instead of a row. None without a model of tags.

    >>> grammar = Grammar.from_string("S -> 'a'")
    >>> offsets = np.array([0, 1])
    >>> tag_factors(grammar, ["b"], offsets, grammar.lexicon.encode_all(["b"], offsets)) is None
    True
    """
    lexicon = grammar.lexicon
    model = lexicon.tag_model
    if model is None or grammar.neural_weights is not None:
        return None
    numbers: dict[tuple[SpeltWord, int], int] = {}
    rows = np.full(len(words), _NO_FACTORS, dtype=np.uint32)
    for position, word, word_class in lexicon.unknown_words(words, emissions, offsets):
        rows[position] = numbers.setdefault((word, word_class), len(numbers))
    table = np.ones((len(numbers), len(grammar.tags)), dtype=np.float32)
    if numbers:
        spelt, classes = zip(*numbers, strict=True)
        table[:, grammar.tag_model_columns] = model.factors(spelt, classes)
    return rows, table
