"""Grammars with latent states, from arrays to parses and back from files."""

from dataclasses import replace

import numpy as np
import pytest

from lpcfg import (
    Grammar,
    GrammarError,
    InputError,
    Parser,
    PCFGEstimator,
    Treebank,
    embedded_trees,
    load,
    save,
)
from lpcfg.latent import LatentStates

TREES = embedded_trees(120)


@pytest.fixture(scope="module")
def backbone() -> Grammar:
    return PCFGEstimator().fit(Treebank.from_trees(TREES[:100])).grammar_


def with_states(backbone: Grammar, count: int, kind="probabilistic") -> Grammar:
    """A latent model in which all states of a symbol do the same as its backbone."""
    symbols = len(backbone.symbols)
    states = np.full(symbols, count, dtype=np.uint32)
    preterminal = [symbol.preterminal for symbol in backbone.symbols]

    def spread(values, times, divide=1):
        return np.repeat(np.asarray(values, dtype=np.float32) / divide, times)

    return replace(
        backbone,
        latent=LatentStates(
            kind=kind,
            states=states,
            roots=spread(backbone.roots, count, count),
            binary=spread(backbone.binary_probabilities, count**3, count**2),
            unary=np.zeros(0, dtype=np.float32),
            emissions=spread(backbone.lexicon.probabilities, count),
            tag_emissions=spread(preterminal, count),
        ),
    )


@pytest.mark.parametrize("count", [1, 2, 9])
def test_states_that_do_the_same_change_nothing(backbone, count):
    words = [tree.words() for tree in TREES[100:]]
    expected = list(Parser(backbone, prune=None).analyze_many(words=words))
    found = list(Parser(with_states(backbone, count), prune=None).analyze_many(words=words))
    assert [parse.tree for parse in found] == [parse.tree for parse in expected]
    assert [p.sentence_log_probability for p in found] == pytest.approx(
        [p.sentence_log_probability for p in expected], abs=1e-3
    )
    assert [p.log_probability for p in found] == pytest.approx(
        [p.log_probability for p in expected], abs=1e-3
    )


def test_tags_alone(backbone):
    tags = TREES[100].tags()
    expected = Parser(backbone, prune=None).analyze(tags)
    found = Parser(with_states(backbone, 3), prune=None).analyze(tags)
    assert found.tree == expected.tree
    assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-3)


@pytest.mark.parametrize(("factor", "status"), [(-1, "negative"), (0, "backbone")])
def test_a_linear_model_without_a_positive_probability(backbone, factor, status):
    grammar = with_states(backbone, 2, kind="linear")
    latent = replace(grammar.latent, roots=factor * grammar.latent.roots)
    words = TREES[100].words()
    parse = Parser(replace(grammar, latent=latent)).analyze(words=words)
    assert parse.status == status
    assert parse.tree == Parser(backbone).parse(words=words)


def test_a_file_keeps_the_latent_states(backbone, tmp_path):
    grammar = with_states(backbone, 2)
    save(grammar, tmp_path / "latent.lpcfg")
    loaded = load(tmp_path / "latent.lpcfg")
    assert loaded.latent.kind == "probabilistic"
    for name, array in grammar.latent.arrays.items():
        np.testing.assert_array_equal(loaded.latent.arrays[name], array)


def test_sizes_are_checked(backbone):
    grammar = with_states(backbone, 2)
    short = replace(grammar.latent, binary=grammar.latent.binary[:-1])
    with pytest.raises(GrammarError, match="binary parameters"):
        Parser(replace(grammar, latent=short))


def test_viterbi_needs_a_grammar_without_states(backbone):
    with pytest.raises(InputError, match="viterbi"):
        Parser(with_states(backbone, 2), decoder="viterbi")
