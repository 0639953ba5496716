"""The time limit of neural networks."""

import pytest

from lpcfg import InputError, Parser, embedded_trees, load
from lpcfg.cli.main import main

SENTENCES = [tree.words() for tree in embedded_trees(40, seed=8)]
LONG = [word for words in SENTENCES for word in words][:150]


@pytest.fixture(scope="module")
def network():
    return load("english")


def test_a_late_sentence_gets_a_flat_tree_with_the_tags_that_are_given(network):
    parser = Parser(network, timeout=1e-9, n_jobs=1)
    tags = ["NN"] + [None] * (len(LONG) - 1)
    parse = parser.analyze(tags, words=LONG, marginals=True)
    assert (parse.status, parse.log_probability) == ("timeout", None)
    assert parse.tree.words() == LONG
    assert (parse.tree.label, parse.tree.height) == ("ROOT", 2)
    assert parse.tree[0].label == "NN"
    assert len(parse.marginals) == len(LONG)
    assert {status for _, status in parser.analyze_to_brackets(words=SENTENCES)} == {"timeout"}


def test_with_less_time_there_is_still_a_tree(network):
    expected = Parser(network).analyze(words=LONG)
    for exponent in range(-6, 3):
        parse = Parser(network, timeout=10.0**exponent, n_jobs=1).analyze(words=LONG)
        assert parse.status in ("timeout", "parsed")
        assert parse.tree.words() == LONG
        assert all(0 <= probability <= 1 for probability in parse.span_probabilities)
    assert parse == expected


def test_enough_time_changes_nothing(network):
    for options in ({}, {"max_length": 5}):
        parsers = [Parser(network, timeout=timeout, **options) for timeout in (None, 1000)]
        first, second = (list(parser.analyze_many(words=SENTENCES)) for parser in parsers)
        assert first == second


def test_decoders_that_networks_do_not_have_are_refused(network, capsys):
    for decoder in ("viterbi", "max-rule"):
        with pytest.raises(InputError, match="decoder: a neural network has max-f1 and max-recall"):
            Parser(network, decoder=decoder)
    with pytest.raises(InputError, match="decoder"):
        Parser.load("english", decoder="viterbi")
    assert main(["parse", "--decoder", "max-rule", "-i", "/dev/null"]) == 1
    assert "--decoder: a neural network has" in capsys.readouterr().err
