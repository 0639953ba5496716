"""The invariants of results, whatever the input and the model."""

import io
import math

from lpcfg import read_trees
from lpcfg.parsing.parse import STATUSES
from lpcfg.treebank.escaping import escape_brackets


def check_printed(trees):
    """Each tree is printed as one line, and read back as it was. A call for many is cheapest."""
    texts = [str(tree) for tree in trees]
    for text in texts:
        assert len(text.splitlines()) == 1, f"a tree takes several lines: {text!r}"
    read = list(read_trees(io.BytesIO("\n".join(texts).encode())))
    assert len(read) == len(texts), "the number of trees that are read back differs"
    for tree, text, other in zip(trees, texts, read, strict=True):
        # Brackets of labels are read as they are written.
        assert other == tree or "RB-" in text, f"not read back: {text!r}"
        assert str(other) == text, f"written in another way: {text!r}"


def check_probability(value, largest=1 + 1e-6):
    assert 0 <= value <= largest, f"{value} is not a probability"


def check_log_probability(value):
    """None stands for no probability in parses, minus infinity in models of sequences."""
    assert value is None or value < math.inf, f"{value} is not a log-probability"


def check_finite(value):
    assert value is None or math.isfinite(value), f"{value} is neither finite nor None"


def check_parse(parse, words, candidates=1):
    """A parse has all words, a status and numbers that are numbers; returns its tree."""
    expected = [escape_brackets(word) for word in words]
    assert parse.status in STATUSES
    assert 1 <= len(parse.candidates) <= candidates
    assert parse.candidates[0][0] == parse.tree
    for tree, log_probability in parse.candidates:
        assert tree.words() == expected, f"the words of the tree {tree} are not {expected}"
        check_finite(log_probability)
    check_finite(parse.log_probability)
    check_finite(parse.sentence_log_probability)
    assert len(parse.spans) == len(parse.span_probabilities)
    for span in parse.spans:
        check_probability(span.probability)
    if parse.marginals is not None:
        for probability in parse.marginals["probability"].tolist():
            check_probability(probability)
    return parse.tree


def check_message(error):
    """An error says what is wrong."""
    assert str(error).strip(), f"a {type(error).__name__} without a message"


def check_kind_of_file(error):
    """The error of a reader that skips malformed trees is about the whole file."""
    assert error.line is None, "a malformed tree was not skipped"
