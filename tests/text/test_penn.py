"""Tokens in the spelling of a treebank."""

import pytest

from lpcfg.text.penn import penn_words


@pytest.mark.parametrize(
    ("tokens", "known", "expected"),
    [
        ("( a )", "a", "-LRB- a -RRB-"),
        ("“ a ”", "`` ''", "`` a ''"),
        ("“ a ”", "“ ” `` ''", "“ a ”"),
        ('" a " "', "`` ''", "`` a '' ``"),
        ('" a "', "“ ”", "“ a ”"),
        ('" a "', '" ``', '" a "'),
        ("a — b …", "-- ...", "a -- b ..."),
        ("do n\u2019t", "n't", "do n't"),
        ("do n\u2019t", "n\u2019t n't", "do n\u2019t"),
        ("“ x\u2019y ”", "", "“ x\u2019y ”"),
    ],
)
def test_words_are_spelt_as_the_grammar_knows_them(tokens, known, expected):
    assert penn_words(tokens.split(), set(known.split())) == expected.split()
