"""Grammars with latent states, from arrays to parses and back from files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import (
    Grammar,
    GrammarError,
    InputError,
    ModelFileError,
    Parser,
    PCFGEstimator,
    Treebank,
    embedded_trees,
    load,
    save,
)
from lpcfg.grammar.latent_states import LatentStates
from lpcfg.inspection.annotation import probabilistic_states
from lpcfg.io.model_file import ModelFile, write_model_file

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

    lexicon_symbols, entry_ratios = np.unique(backbone.lexicon.symbols, return_inverse=True)
    return replace(
        backbone,
        latent=LatentStates(
            kind=kind,
            states=states,
            roots=spread(backbone.roots, count, count),
            binary=spread(backbone.binary_probabilities, count**3, count**2),
            binary_counts=np.full(len(backbone.binary_rules), count**3, dtype=np.uint32),
            binary_positions=np.zeros(0, dtype=np.uint32),
            emission_ratios=np.ones(len(lexicon_symbols) * count, dtype=np.float32),
            ratio_symbols=lexicon_symbols.astype(np.uint32),
            entry_ratios=entry_ratios.astype(np.uint32),
            tag_emissions=spread(preterminal, count),
            unary=spread(backbone.unary_probabilities, count**2, count),
        ),
    )


def with_unary_rules() -> Grammar:
    return Grammar.from_string(
        """
        S -> NP VP [0.7] | VP [0.3]
        NP -> N [0.6] | D N [0.4]
        VP -> V [0.5] | V NP [0.5]
        D -> 'the' [1.0]
        N -> 'dogs' [0.5] | 'saw' [0.5]
        V -> 'saw' [0.8] | 'dogs' [0.2]
        """
    )


def with_tensors(grammar: Grammar, binary) -> Grammar:
    return replace(grammar, latent=replace(grammar.latent, binary=binary.astype(np.float32)))


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


@pytest.mark.parametrize("kind", ["linear", "probabilistic"])
def test_sparse_tensors_parse_as_dense_ones(backbone, kind):
    words = [tree.words() for tree in TREES[100:]]
    grammar = with_states(backbone, 3, kind)
    generator = np.random.default_rng(0)
    noise = generator.uniform(0 if kind == "probabilistic" else -0.2, 2, len(grammar.latent.binary))
    kept = generator.random(len(noise)) < 0.4
    dense = with_tensors(grammar, grammar.latent.binary * noise * kept)
    sparse = replace(dense, latent=dense.latent.sparse(dense.binary_rules, density=0.45))
    # Some of the rules are sparse, and some dense.
    assert 0 < np.mean(sparse.latent.binary_counts < 27) < 1
    pairs = zip(
        *(list(Parser(g, prune=None).analyze_many(words=words)) for g in (dense, sparse)),
        strict=True,
    )
    for first, second in pairs:
        assert first.status == second.status
        assert first.tree == second.tree
        probabilities = ([span.probability for span in parse.spans] for parse in (first, second))
        np.testing.assert_allclose(*probabilities, rtol=1e-3, atol=1e-3)


@st.composite
def tensors(draw):
    """Rules with latent states, and dense tensors with zeros."""
    states = np.array(draw(st.lists(st.integers(1, 3), min_size=1, max_size=4)), dtype=np.uint32)
    symbol = st.integers(0, len(states) - 1)
    rows = draw(st.lists(st.tuples(symbol, symbol, symbol), max_size=5))
    rules = np.array(rows, dtype=np.uint32).reshape(-1, 3)
    sizes = states[rules].prod(axis=1).astype(np.uint32)
    value = st.sampled_from([0.0, 0.0, 1.5, -2.0])
    values = draw(st.lists(value, min_size=int(sizes.sum()), max_size=int(sizes.sum())))
    none = np.zeros(0, dtype=np.float32)
    binary = np.array(values, dtype=np.float32)
    latent = LatentStates(
        "linear", states, none, binary, sizes, none.astype(np.uint32), none, none, none, none
    )
    return rules, latent


@given(tensors(), st.sampled_from([0.0, 0.25, 0.5, 1.0]))
def test_sparse_and_dense_are_inverses(case, density):
    rules, dense = case
    sparse = dense.sparse(rules, density)
    back = sparse.dense(rules)
    again = back.sparse(rules, density)
    for name in ("binary", "binary_counts", "binary_positions"):
        assert getattr(back, name).dtype == getattr(dense, name).dtype
        np.testing.assert_array_equal(getattr(back, name), getattr(dense, name))
        np.testing.assert_array_equal(getattr(again, name), getattr(sparse, name))
    offsets = dense.tensor_offsets(rules)
    thin = 0
    for rule, count in enumerate(sparse.binary_counts.tolist()):
        tensor = dense.binary[offsets[rule] : offsets[rule + 1]]
        small = (tensor == 0).sum() > 0 and np.count_nonzero(tensor) <= density * len(tensor)
        assert count == (np.count_nonzero(tensor) if small else len(tensor))
        thin += count if small else 0
    assert len(sparse.binary_positions) == thin


def test_tensors_of_other_rules_are_refused(backbone):
    latent = with_states(backbone, 2).latent
    with pytest.raises(GrammarError, match="do not belong to these rules"):
        latent.sparse(backbone.binary_rules[:-1])


@pytest.mark.parametrize("decoder", ["max-rule", "max-recall", "max-f1"])
def test_states_of_unary_rules_that_do_the_same_change_nothing(decoder, tmp_path):
    backbone = with_unary_rules()
    save(with_states(backbone, 3), tmp_path / "unary.lpcfg")
    latent = Parser(load(tmp_path / "unary.lpcfg"), decoder=decoder, prune=None)
    plain = Parser(backbone, decoder=decoder, prune=None)
    for words in ("dogs saw", "the dogs saw", "saw the dogs", "dogs saw dogs", "saw"):
        found = latent.analyze(words=words.split())
        wanted = plain.analyze(words=words.split())
        assert (str(found.tree), found.status) == (str(wanted.tree), wanted.status)
        assert found.log_probability == pytest.approx(wanted.log_probability, abs=1e-5)


def test_states_of_unary_rules_cannot_be_explained():
    with pytest.raises(GrammarError, match="unary rules cannot be annotated"):
        probabilistic_states(with_states(with_unary_rules(), 2))


def test_a_file_keeps_the_latent_states(backbone, tmp_path):
    grammar = with_states(backbone, 2)
    values = grammar.latent.binary.copy()
    values[3::4] = 0
    grammar = with_tensors(grammar, values)
    grammar = replace(grammar, latent=grammar.latent.sparse(grammar.binary_rules, density=0.8))
    assert len(grammar.latent.binary_positions)
    save(grammar, tmp_path / "latent.lpcfg")
    loaded = load(tmp_path / "latent.lpcfg")
    assert loaded.latent.kind == "probabilistic"
    for name, array in grammar.latent.arrays.items():
        np.testing.assert_array_equal(loaded.latent.arrays[name], array)


def test_a_file_without_one_of_the_arrays_is_refused(backbone, tmp_path):
    path = tmp_path / "old.lpcfg"
    save(with_states(backbone, 2), path)
    file = ModelFile(path)
    kinds = {name: file.dtype(name) for name in file.names()}
    arrays = {
        name: file.array(name, kind, (None, 3) if name == "binary_rules" else (None,))
        for name, kind in kinds.items()
        if name != "unary_rules"
    }
    arrays["latent.emissions"] = arrays.pop("latent.emission_ratios")
    arrays["unary_rules"] = backbone.unary_rules
    write_model_file(path, arrays, json.loads(file.json))
    with pytest.raises(ModelFileError, match=r'has no array "latent\.emission_ratios"'):
        load(path)


def test_sizes_are_checked(backbone):
    grammar = with_states(backbone, 2)
    short = replace(grammar.latent, binary=grammar.latent.binary[:-1])
    with pytest.raises(GrammarError, match="latent binary rules"):
        Parser(replace(grammar, latent=short))
    long = replace(grammar.latent, unary=np.ones(1, dtype=np.float32))
    with pytest.raises(GrammarError, match="latent unary rules"):
        Parser(replace(grammar, latent=long))


def test_viterbi_needs_a_grammar_without_states(backbone):
    with pytest.raises(InputError, match="viterbi"):
        Parser(with_states(backbone, 2), decoder="viterbi")


def test_infinities_that_cancel_are_refused_without_a_warning():
    none = np.zeros(0, dtype=np.float32)
    roots = np.array([np.inf, -np.inf], dtype=np.float32)
    with pytest.raises(GrammarError, match="roots must be a flat array of finite numbers"):
        LatentStates("linear", none, roots, *[none] * 7)
