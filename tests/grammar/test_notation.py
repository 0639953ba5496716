import itertools
import math
from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lpcfg.errors import GrammarError
from lpcfg.grammar._flat_rules import flatten_rules
from lpcfg.grammar.notation import Rule, RuleSet, Word, read_rules

# Figure 5 of Matejovicova (2018), an incomplete grammar.
JAM = """
S    -> VP [0.05]
VP   -> Verb NP [0.20] | Verb NP NP [0.10]
NP   -> Det Nom [0.20] | Nom [0.15]
Nom  -> Nom Noun [0.20] | Noun [0.75]
Verb -> 'Give' [0.30]
Det  -> 'the' [0.60]
Noun -> 'strawberry' [0.10] | 'jam' [0.40]
"""


def derivations(rules, words):
    """Bracketings of a sentence with the probability of each, straight from the rules."""
    labels = rules.word_labels()
    by_left = defaultdict(list)
    for rule in rules.rules:
        by_left[rule.left].append(rule)

    def of_symbol(name, begin, end, chain=()):
        found = defaultdict(float)
        if name in chain:
            return found
        for rule in by_left[name]:
            if len(rule.right) == 1 and isinstance(rule.right[0], Word):
                if words[begin:end] == (rule.right[0].text,):
                    found[name, words[begin]] += rule.probability
                continue
            inner = (*chain, name) if len(rule.right) == 1 else ()
            for trees, probability in of_items(rule.right, begin, end, inner):
                found[(name, *trees)] += rule.probability * probability
        return found

    def of_items(items, begin, end, chain):
        first, *rest = items
        for middle in [end] if not rest else range(begin + 1, end - len(rest) + 1):
            if isinstance(first, Word):
                match = words[begin:middle] == (first.text,)
                options = {(labels[first.text], first.text): 1.0} if match else {}
            else:
                options = of_symbol(first, begin, middle, chain)
            for tree, probability in options.items():
                if not rest:
                    yield (tree,), probability
                else:
                    for trees, other in of_items(rest, middle, end, ()):
                        yield (tree, *trees), probability * other

    return dict(of_symbol(rules.start, 0, len(words)))


def flat_derivations(flat, words):
    """The same from flat rules; the list shows twins, which a dictionary would hide."""
    lexical, unary, binary = defaultdict(list), defaultdict(list), defaultdict(list)
    for symbol, word, probability in flat.lexical_rules:
        lexical[symbol].append((word, probability))
    for (parent, child), probability in zip(
        flat.unary_rules.tolist(), flat.unary_probabilities, strict=True
    ):
        unary[parent].append((child, probability))
    for (parent, left, right), probability in zip(
        flat.binary_rules.tolist(), flat.binary_probabilities, strict=True
    ):
        binary[parent].append((left, right, probability))

    def restore(symbol, children):
        if symbol.siblings is not None:
            return children
        for label in reversed(symbol.labels):
            children = ((label, *children),)
        return children

    def of_symbol(identity, begin, end, chain=()):
        symbol = flat.symbols[identity]
        for word, probability in lexical[identity]:
            if words[begin:end] == (word,):
                yield restore(symbol, (word,)), probability
        for child, probability in unary[identity]:
            if child not in chain:
                for trees, other in of_symbol(child, begin, end, (*chain, identity)):
                    yield restore(symbol, trees), probability * other
        for left, right, probability in binary[identity]:
            for middle in range(begin + 1, end):
                for one, two in itertools.product(
                    of_symbol(left, begin, middle), of_symbol(right, middle, end)
                ):
                    yield restore(symbol, one[0] + two[0]), probability * one[1] * two[1]

    return [
        (tree, share * probability)
        for identity, share in enumerate(flat.root)
        if share > 0
        for (tree,), probability in of_symbol(identity, 0, len(words))
    ]


def assert_same_derivations(rules, words, **options):
    expected = derivations(rules, words)
    found = flat_derivations(flatten_rules(rules, **options), words)
    assert len(found) == len(expected)
    assert dict(found) == pytest.approx(expected)


@pytest.mark.parametrize("collapse_unary", [False, True])
def test_figure_of_matejovicova(collapse_unary):
    flat = flatten_rules(read_rules(JAM), collapse_unary=collapse_unary)
    found = flat_derivations(flat, ("Give", "the", "strawberry", "jam"))
    assert sorted(probability for _, probability in found) == pytest.approx([6.075e-7, 2.16e-6])
    assert_same_derivations(
        read_rules(JAM), ("Give", "the", "strawberry", "jam"), collapse_unary=collapse_unary
    )


def test_nltk_agrees_on_notation():
    nltk = pytest.importorskip("nltk")
    text = (
        "S -> NP VP [0.8] | VP [0.2]\nNP -> 'she' [1.0]\nVP -> \"sees\" NP [0.25] | 'sees' [0.75]"
    )
    theirs = nltk.PCFG.fromstring(text)
    ours = read_rules(text)
    assert ours.start == str(theirs.start())
    assert [str(rule) for rule in ours.rules] == [str(rule) for rule in theirs.productions()]


def test_everything_the_notation_allows():
    rules = read_rules(
        """
        # A comment, then a start symbol that is not the first left side.
        %start S
        NP→'the dog' | "it's"   # quotes of both kinds, no spaces around the arrow
        S -> NP VP '.' [0.5] \\
             | VP [.25]
        S -> '#' [2e-1]
           | PRP$ [0.05]
        VP -> 'runs'
        PRP$ -> 'its'
        """
    )
    assert rules.start == "S"
    assert rules.rules == (
        Rule("NP", (Word("the dog"),), 0.5),
        Rule("NP", (Word("it's"),), 0.5),
        Rule("S", ("NP", "VP", Word(".")), 0.5),
        Rule("S", ("VP",), 0.25),
        Rule("S", (Word("#"),), 0.2),
        Rule("S", ("PRP$",), 0.05),
        Rule("VP", (Word("runs"),), 1.0),
        Rule("PRP$", (Word("its"),), 1.0),
    )
    assert read_rules("A -> B \n B -> 'b'", start="B").start == "B"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rules"),
        ("# nothing", "no rules"),
        ("S NP VP", "line 1, column 3: expected -> after the left side S, found 'NP'"),
        ("S", "line 1, column 1: expected ->"),
        ("\n\n -> 'a'", "line 3, column 2: expected a nonterminal as left side"),
        ("'a' -> S", "line 1, column 1: expected a nonterminal as left side"),
        ("S -> 'a' [0,5]", "line 1, column 10: '0,5' is not a number"),
        ("S -> 'a' [1.5]", "column 10: the probability 1.5 is not"),
        ("S -> 'a' [0]", "column 10: the probability 0 is not"),
        ("S -> 'a' [nan]", "column 10: the probability nan is not"),
        ("S -> 'a' [0.5", "column 10: a probability is not closed"),
        ("S -> 'a' 0.5]", "column 13: ] without"),
        ("S -> 'a", "line 1, column 6: the quote ' is not closed"),
        ("S -> ''", "column 6: an empty word"),
        ("S -> 'a'\nS -> NP", "line 2, column 6: no rule rewrites the nonterminal NP"),
        ("S -> ", "line 1, column 5: an alternative of S is empty"),
        ("S -> 'a' | | 'b'", "column 12: an alternative of S is empty"),
        ("S -> 'a' -> 'b'", "column 10: a second arrow"),
        ("S -> 'a' [0.5] 'b'", "column 16: expected |"),
        ("S -> 'a' [0.5] | 'b'", "column 18: this alternative of S has no probability"),
        ("S -> 'a' [0.5]\nS -> 'b' [0.6]", "line 2, column 10: .* add up to 1.1"),
        ("%start\nS -> 'a'", "line 1, column 1: %start must"),
        ("%start NP\nS -> 'a'", "line 1, column 8: the start symbol NP"),
    ],
)
def test_errors_say_where_and_why(text, message):
    with pytest.raises(GrammarError, match=message.replace("|", r"\|").replace("[", r"\[")):
        read_rules(text)


def test_start_without_rules():
    with pytest.raises(GrammarError, match="start symbol X"):
        read_rules("S -> 'a'", start="X")


def test_probabilities_may_be_rounded():
    assert len(read_rules("S -> 'a' [0.3333334] | 'b' [0.3333334] | 'c' [0.3333334]").rules) == 3


NAMES = st.sampled_from(["A", "B", "C", "a", "PRP$", "-LRB-", "."])


@st.composite
def rule_sets(draw, proper=True):
    """Random grammars of any arity, with words beside nonterminals and mixed left sides."""
    names = draw(st.lists(NAMES, min_size=1, max_size=4, unique=True))
    words = st.sampled_from(["a", "b", "B", "."]).map(Word)
    rules = []
    for name in names:
        rights = draw(
            st.lists(
                st.lists(st.sampled_from(names) | words, min_size=1, max_size=4).map(tuple),
                min_size=1,
                max_size=4,
            )
        )
        weights = [draw(st.integers(1, 9)) for _ in rights]
        total = sum(weights) + (0 if proper else draw(st.integers(0, 9)))
        rules += [
            Rule(name, right, weight / total) for right, weight in zip(rights, weights, strict=True)
        ]
    return RuleSet(names[0], tuple(rules))


@given(rule_sets(proper=False))
def test_printing_and_reading_are_inverse(rules):
    assert read_rules(str(rules)) == rules


@given(st.text(max_size=40) | st.text("S->'|[0.5] \n\\#%", max_size=40))
def test_any_text_is_read_or_refused(text):
    try:
        rules = read_rules(text)
    except GrammarError:
        return
    assert all(0 < total <= 1 + 1e-5 for total in rules.totals().values())


def without_cycles(rules):
    """The rules less those unary ones that go to the same or an earlier left side."""
    order = list(rules.totals())
    kept = tuple(
        rule
        for rule in rules.rules
        if len(rule.right) > 1
        or isinstance(rule.right[0], Word)
        or order.index(rule.left) < order.index(rule.right[0])
    )
    lost = set(order) - {rule.left for rule in kept}
    return RuleSet(rules.start, kept + tuple(Rule(name, (Word("a"),), 0.5) for name in lost))


@given(
    rule_sets(proper=False).map(without_cycles),
    st.lists(st.sampled_from(["a", "b", "B", "."]), min_size=1, max_size=4).map(tuple),
    st.booleans(),
)
@settings(deadline=None, max_examples=60)
def test_flattening_keeps_every_derivation_once(rules, words, collapse_unary):
    assert_same_derivations(rules, words, collapse_unary=collapse_unary)


@given(rule_sets())
def test_flat_rules_of_proper_grammars_are_proper(rules):
    flat = flatten_rules(rules)
    sums = np.zeros(len(flat.symbols))
    np.add.at(sums, flat.binary_rules[:, 0], flat.binary_probabilities)
    np.add.at(sums, flat.unary_rules[:, 0], flat.unary_probabilities)
    for symbol, _, probability in flat.lexical_rules:
        sums[symbol] += probability
    np.testing.assert_allclose(sums, 1)
    assert math.isclose(flat.root.sum(), 1)
    for symbol in flat.symbols:
        assert symbol.siblings is None or not symbol.preterminal


def test_a_nonterminal_of_words_and_phrases_becomes_two_symbols():
    rules = read_rules("N -> 'dog' [0.6] | 'cat' [0.2] | N N [0.2]")
    assert_same_derivations(rules, ("dog", "cat", "dog"))
    assert len(derivations(rules, ("dog", "cat", "dog"))) == 2
    flat = flatten_rules(rules)
    assert [(str(symbol), symbol.preterminal) for symbol in flat.symbols] == [
        ("N", False),
        ("N", True),
    ]
    assert len(flat.binary_rules) == 4


def test_cycles_of_unary_rules_cannot_be_collapsed():
    rules = read_rules("A -> B | 'a' \n B -> A")
    assert flatten_rules(rules).unary_rules.tolist() != []
    with pytest.raises(GrammarError, match="A -> B -> A form a cycle"):
        flatten_rules(rules, collapse_unary=True)


def test_words_with_both_quotes_cannot_be_printed():
    with pytest.raises(GrammarError, match="cannot be written"):
        str(Rule("A", (Word("'\""),), 1.0))
