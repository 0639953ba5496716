"""Kneser-Ney n-gram models against their definition, written as plainly as possible."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lpcfg import InputError
from lpcfg.lm import KneserNey

TEXT = [
    "the",
    "dog",
    "saw",
    "the",
    "cat",
    "and",
    "the",
    "cat",
    "saw",
    "the",
    "bird",
    "and",
    "the",
    "bird",
    "sang",
    "to",
    "the",
    "cat",
]
texts = st.lists(st.lists(st.sampled_from("abcd"), min_size=3, max_size=30), min_size=1, max_size=3)


def plain_probability(texts, vocabulary, history, word):
    """P(word | history) by the recursive definition; texts and words have UNK already."""
    order = len(history) + 1

    def count(gram):
        """The number of occurrences, or of different words before it."""
        if len(gram) == len(history) + 1 and len(gram) == plain_probability.order:
            return sum(
                tuple(text[i : i + len(gram)]) == gram
                for text in texts
                for i in range(len(text) - len(gram) + 1)
            )
        longer = Counter(
            tuple(text[i : i + plain_probability.order])
            for text in texts
            for i in range(len(text) - plain_probability.order + 1)
        )
        types = set(longer)
        for _ in range(plain_probability.order - len(gram) - 1):
            types = {gram[1:] for gram in types}
        return sum(other[1:] == gram for other in types)

    grams = {
        tuple(gram)
        for text in texts
        for i in range(len(text) - order + 1)
        for gram in [text[i : i + order]]
    }
    counts = {gram: count(gram) for gram in grams}
    counts = {gram: number for gram, number in counts.items() if number}
    lower = (
        plain_probability(texts, vocabulary, history[1:], word) if history else 1 / len(vocabulary)
    )
    after = {gram: number for gram, number in counts.items() if gram[:-1] == tuple(history)}
    if not after:
        return lower
    ones = sum(number == 1 for number in counts.values())
    twos = sum(number == 2 for number in counts.values())
    discount = ones / (ones + 2 * twos) if ones else 0
    total = sum(after.values())
    left = sum(min(number, discount) for number in after.values())
    return (max(after.get((*history, word), 0) - discount, 0) + left * lower) / total


@pytest.mark.parametrize("order", [1, 2, 3])
@given(corpus=texts)
def test_probabilities_are_those_of_the_definition(order, corpus):
    model = KneserNey(order, min_count=2).fit(corpus)
    words = ("UNK", *model.vocabulary_.words)
    known = [[word if word in words else "UNK" for word in text] for text in corpus]
    plain_probability.order = order
    for history in [["a", "b"], ["UNK", "a"], ["d", "d"]]:
        own = [word if word in words else "UNK" for word in history][len(history) - order + 1 :]
        own = own if order > 1 else []
        found = model.probabilities(own, words)
        expected = [plain_probability(known, words, own, word) for word in words]
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert found.sum() == pytest.approx(1)


def test_perplexity_is_that_of_the_probabilities():
    model = KneserNey(3, min_count=1).fit([TEXT])
    text = ["the", "dog", "saw", "the", "giraffe", "and", "the", "cat"]
    logarithms = [
        np.log(model.probabilities(text[max(0, place - 2) : place], [text[place]])[0])
        for place in range(1, len(text))
        if text[place] != "giraffe"
    ]
    assert model.score([text]) == pytest.approx(np.mean(logarithms))
    assert model.perplexity([text]) == pytest.approx(np.exp(-np.mean(logarithms)))


def test_smoothing_helps_on_other_text():
    generator = np.random.default_rng(0)
    transitions = generator.dirichlet(np.full(20, 0.1), size=20)

    def sample(length):
        words = [0]
        while len(words) < length:
            words.append(int(generator.choice(20, p=transitions[words[-1]])))
        return [str(word) for word in words]

    train, test = sample(5000), sample(1000)
    perplexities = [KneserNey(order).fit([train]).perplexity([test]) for order in (1, 2, 3)]
    assert perplexities[1] < 0.6 * perplexities[0]
    # The second word back says nothing.
    assert perplexities[2] < 1.05 * perplexities[1]


def test_bad_input_is_an_error():
    with pytest.raises(InputError, match="order"):
        KneserNey(0).fit([TEXT])
    with pytest.raises(InputError, match="no text has 2 words"):
        KneserNey(2).fit([["word"]])
    with pytest.raises(InputError, match="no known word"):
        KneserNey(2).fit([TEXT]).perplexity([["unheard", "of"]])
    with pytest.raises(InputError, match="too high"):
        KneserNey(60).fit([TEXT])
