"""Log-probabilities are finite or None, and statuses tell which."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lpcfg
from lpcfg import Ensemble, Grammar, Parse, Parser, Treebank, embedded_trees
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.parsing.base import BaseParser
from support.grammars import vocabulary_sentences

WITHOUT_SENTENCE = {"fragments", "split", "negative"}
WITHOUT_TREE = {*WITHOUT_SENTENCE, "inconsistent", "combined"}


def check(parse: Parse) -> None:
    tree, sentence = parse.log_probability, parse.sentence_log_probability
    assert (tree is None) == (parse.status in WITHOUT_TREE)
    assert (sentence is None) == (parse.status in WITHOUT_SENTENCE)
    for _, own in parse.candidates:
        assert own is None or sentence is not None
        assert own is None or own <= sentence
        assert own is None or np.isfinite(own)


@pytest.fixture(scope="module")
def parsers() -> list[BaseParser]:
    trees = list(embedded_trees(150))
    right = Treebank.from_trees(trees)
    left = Treebank.from_trees(trees, transform=lpcfg.Transform(binarize="left"))
    spectral, other = (lpcfg.SpectralEstimator().fit(bank).grammar_ for bank in (right, left))
    merged = lpcfg.SplitMergeEstimator(cycles=2).fit(left).grammar_
    crf = lpcfg.CRFEstimator(bits=12, epochs=1).fit(right).grammar_
    alone = [Parser(grammar) for grammar in (spectral, merged, crf)]
    members = [spectral, other, merged, crf]
    return [*alone, Ensemble(members), Ensemble(members[:2]), Ensemble(members, combine="trees")]


@pytest.mark.parametrize("candidates", [1, 5])
def test_numbers_are_finite_or_none(parsers: list[BaseParser], candidates: int) -> None:
    sentences = vocabulary_sentences([1, 2, 3, 5, 8, 12] * 12)
    statuses = set()
    for parser in parsers:
        for parse in parser.analyze_many(words=sentences, candidates=candidates):
            check(parse)
            statuses.add(parse.status)
    assert {"parsed", "combined"} <= statuses


def two_trees(factor: float) -> Parse:
    """The parse of a sentence with two trees; the value of the second one is multiplied.

    Spectral estimates may have any value there.
    """
    backbone = Grammar.from_string("S -> X Y | Y X \n X -> 'a' \n Y -> 'a'")
    binary = backbone.binary_probabilities.astype(np.float32) * np.array([1, factor], np.float32)
    symbols = len(backbone.symbols)
    own, entries = np.unique(backbone.lexicon.symbols, return_inverse=True)
    latent = LatentStates(
        kind="linear",
        states=np.ones(symbols, dtype=np.uint32),
        roots=backbone.roots.astype(np.float32),
        binary=binary,
        binary_counts=np.ones(len(binary), dtype=np.uint32),
        binary_positions=np.zeros(0, dtype=np.uint32),
        emission_ratios=np.ones(len(own), dtype=np.float32),
        ratio_symbols=own.astype(np.uint32),
        entry_ratios=entries.astype(np.uint32),
        tag_emissions=np.ones(symbols, dtype=np.float32),
    )
    return Parser(replace(backbone, latent=latent), prune=None).analyze(words=["a", "a"])


@pytest.mark.parametrize(
    ("factor", "status", "tree", "sentence"),
    [
        (1, "parsed", 0.5, 1.0),
        (0, "parsed", 0.5, 0.5),
        # The first tree is more probable than both together.
        (-0.2, "inconsistent", None, 0.4),
        (-0.999, "inconsistent", None, 0.0005),
        (-3, "negative", None, None),
    ],
)
def test_values_of_linear_models_that_are_no_probabilities(
    factor: float, status: str, tree: float | None, sentence: float | None
) -> None:
    parse = two_trees(factor)
    assert parse.status == status
    for found, expected in (
        (parse.log_probability, tree),
        (parse.sentence_log_probability, sentence),
    ):
        assert (found is None) == (expected is None)
        if found is not None:
            assert found == pytest.approx(np.log(expected), abs=1e-3)
    assert ("log_probability=None" in repr(parse)) == (tree is None)
    check(parse)


def test_a_tree_of_a_crf_is_no_more_probable_than_its_sentence(parsers: list[BaseParser]) -> None:
    """Its probability is conditional on the sentence, unlike those of other members."""
    words = vocabulary_sentences([6])[0]
    for parse in Ensemble([parsers[2], parsers[1]]).analyze_many(words=[words], candidates=4):
        check(parse)
        assert not parse.conditional
