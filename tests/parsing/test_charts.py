"""Parsers that share pruned charts, and the profile of their phases."""

import pickle

import pytest

from lpcfg import ChartCache, Parser, Profile, SpectralEstimator, Treebank, embedded_trees
from lpcfg.errors import InputError


@pytest.fixture(scope="module")
def grammars():
    treebank = Treebank.from_trees(embedded_trees()[:200])
    decomposition = SpectralEstimator().decompose(treebank)
    return [decomposition.grammar(ridge=ridge) for ridge in (0.1, 0.4)]


@pytest.fixture(scope="module")
def sentences():
    return [tree.words() for tree in embedded_trees()[200:220]]


def trees(parser, sentences):
    return [(parse.tree, parse.log_probability) for parse in parser.analyze_many(words=sentences)]


def test_shared_charts_do_not_change_results(grammars, sentences):
    charts = ChartCache()
    for grammar in grammars:
        shared = trees(Parser(grammar, charts=charts), sentences)
        assert shared == trees(Parser(grammar), sentences)
    # Other thresholds have charts of their own.
    exact = Parser(grammars[0], charts=charts, prune=None)
    assert trees(exact, sentences) == trees(Parser(grammars[0], prune=None), sentences)


def test_the_second_parser_runs_no_pruning_passes(grammars, sentences):
    charts = ChartCache()
    profiles = []
    for grammar in grammars:
        with Profile() as profile:
            trees(Parser(grammar, charts=charts), sentences)
        profiles.append(profile)
    first, second = profiles
    assert first.phases["PCFG pass"].cpu > 0
    assert second.phases["PCFG pass"].cpu == second.phases["coarse pass"].cpu == 0
    assert second.phases["latent passes"].cpu > 0
    assert second.reused >= first.phases["PCFG pass"].cpu


def test_a_pickled_cache_is_empty(grammars, sentences):
    charts = ChartCache(memory=10**6, replace=True)
    trees(Parser(grammars[0], charts=charts), sentences)
    copy = pickle.loads(pickle.dumps(charts))
    assert len(charts) > len(copy) == 0
    assert (copy.memory, copy.replace) == (10**6, True)


def test_new_charts_replace_the_oldest_ones(grammars, sentences):
    whole = ChartCache()
    trees(Parser(grammars[0], charts=whole), sentences)
    for replace in (False, True):
        charts = ChartCache(memory=whole.core.bytes // 2, replace=replace)
        trees(Parser(grammars[0], charts=charts), sentences)
        with Profile() as profile:
            trees(Parser(grammars[1], charts=charts), sentences[-3:])
        assert (profile.phases["PCFG pass"].cpu == 0) == replace


def test_the_memory_of_a_cache_is_checked():
    with pytest.raises(InputError, match="memory"):
        ChartCache(memory=-1)


def test_phases_sum_to_the_whole():
    with Profile() as profile:
        with profile.phase("outer"):
            sum(range(10_000))
            with profile.phase("inner"):
                sum(range(10_000))
        sum(range(10_000))
    assert set(profile.phases) == {"outer", "inner", "other"}
    assert profile.total.cpu == pytest.approx(sum(c.cpu for c in profile.phases.values()))
    assert all(cost.wall > 0 for cost in profile.phases.values())
