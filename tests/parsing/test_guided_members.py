"""Members of an ensemble whose spans the first member closes."""

from __future__ import annotations

import itertools

import pytest

import lpcfg
from lpcfg import Ensemble, Grammar, Parser, Pruning, Transform, Treebank
from lpcfg.parsing._sentences import Sentence
from lpcfg.parsing.marginals import span_probabilities
from lpcfg.parsing.member_columns import MemberColumns, Outcome, SpanColumns

#: Nothing is pruned, and the spans of the first member replace the coarse pass of the others.
EXACT = Pruning(0.0, 0.0, 1.0, 1e-300)

WORDS = [tree.words() for tree in lpcfg.embedded_trees()][:40]


def grammar(binarize: str, horizontal: int | None, vertical: int = 0) -> Grammar:
    transform = Transform(binarize=binarize, horizontal=horizontal, vertical=vertical)
    treebank = Treebank.from_trees(lpcfg.embedded_trees(), transform=transform)
    return lpcfg.PCFGEstimator().fit(treebank).grammar_


@pytest.fixture(scope="module")
def short() -> list[Grammar]:
    """Four backbones that give trees other probabilities."""
    return [grammar(side, 1, vertical) for side in ("right", "left") for vertical in (0, 1)]


def every_span(grammar: Grammar, sentence: Sentence) -> MemberColumns:
    """A member that considers every label possible over every span."""
    spans = itertools.combinations(range(len(sentence.tokens) + 1), 2)
    rows = [
        (label, start, end, 0.5)
        for start, end in spans
        for label in range(len(grammar.node_labels))
    ]
    columns = SpanColumns.concatenated([rows])
    outcome = Outcome("parsed", None, None, False)
    return MemberColumns(grammar.node_labels, columns, columns, [outcome], list)


@pytest.mark.parametrize("horizontal", [0, 1, None])
@pytest.mark.parametrize("side", ["right", "left"])
def test_spans_that_are_all_open_close_nothing(side: str, horizontal: int | None) -> None:
    own = grammar(side, horizontal)
    parser = Parser(own, prune=EXACT)
    for words in WORDS[:12]:
        sentence = Sentence(None, words)
        others = every_span(own, sentence)
        guided = parser.analyze_columns([sentence], 1, others, guides=False).make_parses()
        alone = parser.analyze(words=words, marginals=True)
        found, expected = (span_probabilities(own.marginals) for own in (guided[0], alone))
        # Single precision of the coarse pass loses what is less probable.
        for span in found.keys() | expected.keys():
            assert found.get(span, 0) == pytest.approx(expected.get(span, 0), abs=1e-6)


@pytest.mark.parametrize("threshold", [1e-4, 0.05])
def test_labelled_spans_are_those_of_the_first_member(
    short: list[Grammar], threshold: float
) -> None:
    prune = Pruning(members=threshold)
    parsers = [Parser(own, prune=prune) for own in short]
    guided = 0
    for first, *others, _ in Ensemble(parsers).analyze_with_members(words=WORDS):
        known = span_probabilities(first.marginals)
        open_spans = {span for span, probability in known.items() if probability >= threshold}
        for other in others:
            if first.status == other.status == "parsed":
                guided += span_probabilities(other.marginals).keys() <= open_spans
    # Where the spans of the first member leave no tree, members parse on their own.
    assert guided > 2 * len(WORDS)


def test_members_may_be_independent(short: list[Grammar]) -> None:
    prune = Pruning(members=0.0)
    parsers = [Parser(own, prune=prune) for own in short]
    for *members, _ in Ensemble(parsers).analyze_with_members(words=WORDS[:10]):
        for parser, member in zip(parsers, members, strict=True):
            assert member == parser.analyze(words=member.tree.words())


def test_by_default_members_depend_on_a_network_alone(short: list[Grammar]) -> None:
    network = lpcfg.load("english", Grammar)

    def log_probabilities(first: Grammar, members: float | None) -> list[float | None]:
        parsers = [Parser(own, prune=Pruning(members=members)) for own in (first, short[0])]
        found = Ensemble(parsers).analyze_with_members(words=WORDS)
        return [second.log_probability for _, second, _ in found]

    for first, threshold, other in ((network, 3e-3, 0.0), (short[1], 0.0, 3e-3)):
        expected = log_probabilities(first, threshold)
        assert log_probabilities(first, None) == expected != log_probabilities(first, other)


def test_labels_that_the_first_member_lacks_stay_open() -> None:
    one = Grammar.from_string("S -> NP VP \n NP -> 'it' \n VP -> 'rained'")
    two = Grammar.from_string("S -> NX VP \n NX -> 'it' \n VP -> 'rained'")
    found = list(Ensemble([one, two]).analyze_with_members(words=[["it", "rained"]]))
    assert [str(parse.tree) for parse in found[0][:2]] == [
        "(S (NP it) (VP rained))",
        "(S (NX it) (VP rained))",
    ]


def test_a_member_without_a_tree_in_these_spans_parses_on_its_own() -> None:
    one = Grammar.from_string("S -> X X \n S -> X S \n X -> 'a' \n T -> X X")
    two = Grammar.from_string("S -> T X \n T -> X X \n X -> 'a'")
    first, second, _ = next(
        iter(Ensemble([one, two], prune=EXACT).analyze_with_members(words=[["a", "a", "a"]]))
    )
    assert str(first.tree) == "(S (X a) (S (X a) (X a)))"
    assert (str(second.tree), second.status) == ("(S (T (X a) (X a)) (X a))", "parsed")


@pytest.mark.parametrize("combine", ["posteriors", "trees"])
def test_text_is_that_of_parses(short: list[Grammar], combine: str) -> None:
    ensemble = Ensemble(short, combine=combine, n_jobs=1)
    unknown = [["qwerty", "asdf", "."], ["yes"], *(words[::-1] for words in WORDS[:8])]
    sentences = [*WORDS, *unknown]
    parses = list(ensemble.analyze_many(words=sentences))
    expected = [(str(parse.tree), parse.status) for parse in parses]
    assert list(ensemble.analyze_to_brackets(words=sentences)) == expected
    other = Ensemble(short, combine=combine, n_jobs=2)
    assert list(other.analyze_to_brackets(words=sentences, batch_size=5)) == expected


def test_dependencies_are_read_for_text_too(short: list[Grammar]) -> None:
    words = ["The", "dog", "saw", "him", "."]
    tags = ("DT", "NN", "VBD", "PRP", ".")
    tree = lpcfg.formats.dependencies.DependencyTree(tags, (1, 1, 0, -1, -2), ("dep",) * 5)
    known = lpcfg.formats.dependencies.Dependencies([(words, tree)])
    parser = Parser(short[0], dependencies=known)
    assert list(parser.parse_to_brackets(words=[words])) == [str(parser.parse(words=words))]
